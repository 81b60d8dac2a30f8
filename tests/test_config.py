import pytest

from rinn.config import NetSettings, RunSettings, check_device
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
        (lambda: RunSettings(loss="mae"), "loss must be one of auto, bce, mse, got 'mae'"),
        (lambda: check_device("tpu"), "device must be one of auto, cpu, gpu, got 'tpu'"),
    ],
)
def test_wrong_settings_are_named(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(message)
