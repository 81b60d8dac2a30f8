import json

import pytest

from rinn.config import EvolutionSettings, NetSettings, RunSettings, check_device, read_net
from rinn.errors import InputError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NetSettings(width=0), "width must be a whole number of at least 1, got 0"),
        (lambda: NetSettings(layers=2.5), "layers must be a whole number of at least 1, got 2.5"),
        (lambda: NetSettings(seed=True), "seed must be a whole number of at least 0, got True"),
        (lambda: NetSettings(l1=-1.0), "l1 must be a number at least 0, got -1.0"),
        (
            lambda: NetSettings(tolerance=2.0),
            "tolerance must be a number between 1e-12 and 1, got 2.0",
        ),
        (
            lambda: NetSettings(learning_rate=float("nan")),
            "learning_rate must be a number at least 1e-12, got nan",
        ),
        (
            lambda: NetSettings(activation="rely"),
            "activation must be one of relu, sigmoid, tanh, softplus, got 'rely'; did you mean "
            "'relu'?",
        ),
        (lambda: NetSettings(initialiser="zeros"), "initialiser must be one of xavier, he, normal"),
        (lambda: NetSettings(optimiser="lbfgs"), "optimiser must be one of adam, rmsprop, sgd"),
        (lambda: RunSettings(trials=1), "trials must be a whole number of at least 2, got 1"),
        (lambda: RunSettings(epochs=0), "epochs must be a whole number of at least 1, got 0"),
        (lambda: RunSettings(keep=0), "keep must be a whole number of at least 1, got 0"),
        (lambda: RunSettings(budget="papr"), "budget must be one of default, paper, got 'papr'"),
        (lambda: RunSettings(loss="mae"), "loss must be one of auto, bce, mse, poisson, got 'mae'"),
        (
            lambda: RunSettings(effects="networks"),
            "effects must be one of auto, network, regression, corrected, got 'networks'; did you "
            "mean 'network'",
        ),
        (lambda: RunSettings(direct="no"), "direct must be True or False, got 'no'"),
        (lambda: RunSettings(effects_only=None), "effects_only must be True or False, got None"),
        (lambda: RunSettings(output_edges=1), "output_edges must be True or False, got 1"),
        (
            lambda: RunSettings(bootstraps=2.5),
            "bootstraps must be a whole number of at least 0, got 2.5",
        ),
        (lambda: check_device("tpu"), "device must be one of auto, cpu, gpu, got 'tpu'"),
    ],
)
def test_wrong_settings_are_named(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_sizes_that_do_not_fit_the_layers():
    with pytest.raises(InputError, match="sizes must name the nodes of 3 layers, 5 in the widest"):
        NetSettings(layers=3, width=5, sizes=(5, 2))
    assert NetSettings(layers=3, width=5, sizes=(5, 2, 5)).widths == (5, 2, 5)
    assert NetSettings(layers=2, width=4).widths == (4, 4)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"legal": "odd"}, "legal must be one of even, uneven, got 'odd'"),
        ({"population": 1}, "population must be a whole number of at least 2"),
        ({"elite_ratio": 1.5}, "elite_ratio must be a number between 0 and 1"),
        ({"mutation_rate": -0.1}, "mutation_rate must be a number between 0 and 1"),
        ({"rows": 0}, "rows must be a whole number of at least 1"),
    ],
)
def test_wrong_settings_of_a_population(wrong, said):
    with pytest.raises(InputError, match=said):
        EvolutionSettings(**wrong)


def test_settings_read_from_a_file_are_those_written():
    for net in (NetSettings(layers=3, width=5, sizes=(5, 2, 5)), EvolutionSettings(seed=3)):
        assert read_net(json.loads(json.dumps(net.__dict__))) == net
