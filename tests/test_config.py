import json

import numpy as np
import pytest

from rinn.config import (
    MAX_INTEGER,
    EvolutionSettings,
    NetSettings,
    RunSettings,
    check_choices,
    check_device,
    check_integer,
    check_number,
    check_range,
    read_net,
)
from rinn.errors import InputError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NetSettings(width=0), "width must be a whole number of at least 1, got 0"),
        (lambda: NetSettings(layers=2.5), "layers must be a whole number of at least 1, got 2.5"),
        (lambda: NetSettings(seed=True), "seed must be a whole number of at least 0, got True"),
        (
            lambda: NetSettings(l1=-1.0),
            "l1 must be a number of at least 0, got -1.0; choose for example 0.1",
        ),
        (
            lambda: NetSettings(tolerance=2.0),
            "tolerance must be a number of at least 1e-12 and at most 1, got 2.0",
        ),
        (
            lambda: NetSettings(learning_rate=float("nan")),
            "learning_rate must be a number of at least 1e-12, got nan",
        ),
        (
            lambda: NetSettings(activation="rely"),
            "activation must be one of relu, sigmoid, tanh, softplus, got 'rely'; did you mean "
            "'relu'?",
        ),
        (lambda: NetSettings(initialiser="zeros"), "initialiser must be one of xavier, he, normal"),
        (lambda: NetSettings(optimiser="lbfgs"), "optimiser must be one of adam, rmsprop, sgd"),
        (lambda: RunSettings(trials=1), "trials must be a whole number from 2 to 100000, got 1"),
        (lambda: RunSettings(epochs=0), "epochs must be a whole number from 1 to 10000000, got 0"),
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
            "bootstraps must be a whole number from 0 to 10000, got 2.5; choose 0 to 10000",
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
        ({"elite_ratio": 1.5}, "elite_ratio must be a number of at least 0 and at most 1"),
        ({"mutation_rate": -0.1}, "mutation_rate must be a number of at least 0"),
        ({"rows": 0}, "rows must be a whole number of at least 1"),
    ],
)
def test_wrong_settings_of_a_population(wrong, said):
    with pytest.raises(InputError, match=said):
        EvolutionSettings(**wrong)


def test_settings_read_from_a_file_are_those_written():
    for net in (NetSettings(layers=3, width=5, sizes=(5, 2, 5)), EvolutionSettings(seed=3)):
        assert read_net(json.loads(json.dumps(net.__dict__))) == net


def test_numbers_of_numpy_become_those_of_python():
    settings = RunSettings(seed=np.int64(3), alpha_pc=np.float32(0.5))
    assert json.dumps(settings.to_json())
    assert settings == RunSettings(seed=3, alpha_pc=0.5)


def test_help_of_the_fields_documents_the_settings():
    assert "    seed: Seed of all random choices." in (RunSettings.__doc__ or "").splitlines()


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", None])
def test_integer_refuses_what_is_no_whole_number_from_one(value):
    with pytest.raises(InputError, match=r"samples must be a whole number of at least 1, got"):
        check_integer("samples", value)


def test_integer_with_an_upper_end():
    assert check_integer("parents", 3, 0, 3) == 3
    with pytest.raises(InputError, match=r"whole number from 0 to 3, got 4; choose 0 to 3"):
        check_integer("parents", 4, 0, 3)
    with pytest.raises(InputError, match=f"seed must be a whole number from 0 to {MAX_INTEGER}"):
        check_integer("seed", 2**40, 0)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.1", True])
def test_number_refuses_what_is_no_probability(value):
    with pytest.raises(InputError, match=r"p must be a number of at least 0 and at most 1, got"):
        check_number("p", value, maximum=1)


def test_number_with_open_ends_refuses_the_ends():
    assert check_number("noise", 0.49, maximum=0.5, below=True) == 0.49
    with pytest.raises(InputError, match=r"at least 0 and below 0\.5, got 0\.5; choose .* 0\.1"):
        check_number("noise", 0.5, maximum=0.5, below=True)
    with pytest.raises(InputError, match=r"cutoff must be a number above 0, got 0; choose"):
        check_number("cutoff", 0, above=True)


@pytest.mark.parametrize("value", [(3, 1), (-1, 2), (1,), (1, 2, 3), 2.0, ("a", "b"), "12"])
def test_range_refuses_what_is_no_pair_in_order(value):
    with pytest.raises(InputError, match=r"noise must be two numbers \(low, high\) with 0 <= low"):
        check_range("noise", value)


def test_range_above_zero():
    assert check_range("noise", [0, 1]) == (0.0, 1.0)
    with pytest.raises(InputError, match=r"weight must be two numbers .* 0 < low <= high"):
        check_range("weight", (0, 1), above=True)


def test_range_with_an_upper_end():
    assert check_range("strength", (0.2, 1), maximum=1) == (0.2, 1.0)
    with pytest.raises(InputError, match=r"strength must be .* <= high <= 1, got \(0\.2, 1\.1\)"):
        check_range("strength", (0.2, 1.1), maximum=1)


def test_choices_name_the_closest():
    assert check_choices("operators", "or", ("and", "or")) == ("or",)
    with pytest.raises(InputError, match=r"operators must be .* got 'xorr'; did you mean 'xor'"):
        check_choices("operators", ["xorr"], ("and", "or", "xor"))
    with pytest.raises(InputError, match=r"operators must name at least one of and, or, got \(\)"):
        check_choices("operators", (), ("and", "or"))
