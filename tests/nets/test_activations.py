import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rinn import config
from rinn.nets.activations import ACTIVATIONS, activate

EXPECTED = {
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "softplus": lambda z: np.log1p(np.exp(z)),
}


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_each_network_gets_its_own_function(name):
    names = tuple(ACTIVATIONS)
    z = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
    found = jax.jit(activate, static_argnums=0)(names, jnp.int32(names.index(name)), z)
    np.testing.assert_allclose(found, EXPECTED[name](z), rtol=1e-5, atol=1e-6)


def test_settings_know_the_same_names():
    assert set(config.ACTIVATIONS) == set(ACTIVATIONS)
