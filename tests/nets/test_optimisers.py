import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rinn.nets.optimisers import OPTIMISERS, descend, find_rates, start_moments

NAMES = tuple(OPTIMISERS)
REFERENCE = {
    "adam": optax.adam(0.1),
    "rmsprop": optax.rmsprop(0.1, decay=0.9, eps=1e-8, initial_scale=1.0),
    "sgd": optax.sgd(0.1),
}


def descend_once(names, which, due, gradient, moments, weights):
    rates = find_rates(names, jnp.int32(which), moments.steps, learning_rate=jnp.float32(0.1))
    return descend(rates, jnp.bool_(due), gradient, moments, weights)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alone", [True, False])
def test_chosen_optimiser_is_optax_s_own(name, alone):
    names = (name,) if alone else NAMES
    which = names.index(name)
    ours = theirs = jnp.asarray([1.0, -2.0, 3.0])
    moments, state = start_moments(names, jnp.int32(which), ours), REFERENCE[name].init(theirs)
    for _ in range(5):
        ours, moments = descend_once(names, which, True, 2 * ours, moments, ours)
        update, state = REFERENCE[name].update(2 * theirs, state, theirs)
        theirs = optax.apply_updates(theirs, update)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_without_a_gradient_stays(name):
    weights = jnp.asarray([1.0, 2.0])
    moments = start_moments((name,), jnp.int32(0), weights)
    after, _ = descend_once((name,), 0, True, jnp.asarray([0.0, 1.0]), moments, weights)
    assert after[0] == 1.0
    assert after[1] < 2.0


def test_nothing_moves_while_no_step_is_due():
    weights = jnp.asarray([1.0, 2.0])
    moments = start_moments(NAMES, jnp.int32(0), weights)
    same, kept = descend_once(NAMES, 0, False, weights, moments, weights)
    np.testing.assert_array_equal(same, weights)
    assert int(kept.steps) == 0
