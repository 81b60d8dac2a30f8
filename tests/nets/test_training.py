import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rinn.nets.training import OPTIMISERS, descend, start_optimisers

NAMES = tuple(OPTIMISERS)
REFERENCE = {
    "adam": optax.adam(0.1),
    "rmsprop": optax.rmsprop(0.1, decay=0.9, eps=1e-8, initial_scale=1.0),
    "sgd": optax.sgd(0.1),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alone", [True, False])
def test_chosen_optimiser_is_optax_s_own(name, alone):
    names = (name,) if alone else NAMES
    which = jnp.int32(names.index(name))
    ours = theirs = jnp.asarray([1.0, -2.0, 3.0])
    memory, state = start_optimisers(names, ours), REFERENCE[name].init(theirs)
    for _ in range(5):
        ours, memory = descend(
            names, which, jnp.bool_(True), jnp.float32(0.1), 2 * ours, memory, ours
        )
        update, state = REFERENCE[name].update(2 * theirs, state, theirs)
        theirs = optax.apply_updates(theirs, update)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_nothing_moves_while_no_step_is_due():
    weights = jnp.asarray([1.0, 2.0])
    memory = start_optimisers(NAMES, weights)
    same, kept = descend(
        NAMES, jnp.int32(0), jnp.bool_(False), jnp.float32(0.1), weights, memory, weights
    )
    np.testing.assert_array_equal(same, weights)
    assert int(kept[0].count) == 0
