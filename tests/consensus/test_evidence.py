import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rinn.consensus import find_noise, pool_effects, weigh_effects
from rinn.consensus.evidence import FAINTEST, MOST

SIZES = st.floats(-60, 60, allow_nan=False).map(lambda value: round(value, 3))
TABLES = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=SIZES)
ROWS = arrays(float, st.tuples(st.just(1), st.integers(1, 6)), elements=SIZES)


@given(ROWS, st.floats(1, 5))
def test_a_larger_effect_is_no_less_likely(others, noise):
    """Whatever the input's other effects are; below a third of the noise size says nothing."""
    sizes = noise * np.concatenate([np.arange(FAINTEST, 12, 0.1), np.arange(12, 200, 5.0)])
    odds = [weigh_effects(np.append(others, [[size]], axis=1), noise)[0, -1] for size in sizes]
    assert (np.diff(odds) >= -1e-9).all()
    assert odds[0] < 0 < odds[-1]


@given(TABLES, st.floats(1, 5), st.randoms())
def test_signs_do_not_matter(effects, noise, random):
    signs = np.array([random.choice((-1, 1)) for _ in range(effects.size)]).reshape(effects.shape)
    odds = weigh_effects(effects, noise)
    np.testing.assert_array_equal(odds, weigh_effects(effects * signs, noise))
    assert (np.abs(odds) <= MOST).all()


@given(TABLES, st.floats(1, 5))
def test_inputs_are_weighed_by_themselves(effects, noise):
    alone = np.concatenate([weigh_effects(row[None], noise) for row in effects])
    np.testing.assert_array_equal(weigh_effects(effects, noise), alone)


@given(TABLES, st.floats(1, 5), st.floats(1, 10))
def test_only_effects_relative_to_the_noise_count(effects, noise, factor):
    np.testing.assert_allclose(
        weigh_effects(effects * factor, noise * factor),
        weigh_effects(effects, noise),
        atol=1e-6 + 1e-6 * MOST,
    )


@settings(deadline=None)
@given(TABLES)
def test_noise_is_within_its_limits_whatever_the_signs(effects):
    noise = find_noise(effects)
    assert 1 <= noise <= 3
    assert noise == find_noise(-effects)


@pytest.mark.parametrize("noise", [1.0, 1.4, 2.2])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_noise_is_that_of_the_pairs_without_effect(noise, share):
    """However many they are, as long as the others stand out."""
    rng = np.random.default_rng(0)
    effects = np.exp(rng.normal(np.log(20), 0.3, (40, 40)))
    none = rng.random(effects.shape) < share
    effects[none] = noise * rng.standard_normal(none.sum())
    assert find_noise(effects) == pytest.approx(noise, rel=0.1)


def test_weak_effects_among_noise_are_not_taken_for_it():
    """Where the two are one heap, the lowest quarter says what the noise is."""
    rng = np.random.default_rng(0)
    effects = rng.standard_normal((40, 40))
    effects[:, :20] += 3
    assert find_noise(effects) < 1.1


def test_noise_without_effects_or_pairs():
    assert find_noise(np.random.default_rng(0).standard_normal((50, 40))) == 1.0
    assert find_noise(np.zeros((0, 3))) == 1.0


def test_a_strong_input_asks_more_of_an_effect_than_a_weak_one():
    weak, strong = weigh_effects(np.array([[3.0, 3.0, 2.2], [30.0, 30.0, 2.2]]), 1.0)[:, 2]
    assert weak > 0 > strong


@given(st.integers(2, 12), st.floats(1.0, 2.4), st.floats(1, 1.8))
def test_what_is_weak_in_each_is_clear_in_all(inputs, size, noise):
    effects = np.tile([size, -size, size, 0.0, 0.0], (inputs, 1)) * noise
    alone, together = weigh_effects(effects, noise)[0], pool_effects(effects, noise)
    assert (together[:3] > alone[:3]).all()
    assert (together[3:] < 0).all()


@given(arrays(float, (4, 6), elements=SIZES), st.floats(1, 3), st.integers(0, 3))
def test_an_input_may_lower_what_the_others_raise(noise_of_table, noise, turned):
    strength = np.array([3.0, 2.0, 4.0, 2.5])
    effects = np.outer(strength, [2.0, -2.0, 3.0, 1.0, 0.0, 0.0]) + 0.01 * noise_of_table
    other = effects.copy()
    other[turned] *= -1
    np.testing.assert_allclose(
        pool_effects(other, noise), pool_effects(effects, noise), atol=1e-6 * MOST
    )


@given(st.integers(2, 6))
def test_order_of_the_inputs_does_not_matter(inputs):
    effects = np.random.default_rng(inputs).normal(2.0, 1.0, (inputs, 5))
    np.testing.assert_allclose(pool_effects(effects[::-1], 1.5), pool_effects(effects, 1.5))


def test_one_input_is_pooled_with_nobody():
    effects = np.array([[4.0, -2.0, 0.3]])
    np.testing.assert_array_equal(pool_effects(effects, 1.3), weigh_effects(effects, 1.3)[0])


def test_noise_of_the_networks_does_not_even_out():
    """Where noise is far above the sampling error, many inputs hardly say more than one."""
    gains = []
    for noise in (1.0, 1.5, 8.0):
        effects = noise * np.tile([[2.0, 2.0, 0.0]], (50, 1))
        gains.append(pool_effects(effects, noise)[0] - weigh_effects(effects, noise)[0, 0])
    assert gains[0] > 5 > gains[1] > 1 > 0.1 > gains[2] > 0


def test_effects_are_left_alone():
    effects = np.random.default_rng(0).normal(size=(5, 4))
    before = effects.copy()
    weigh_effects(effects, 1.0)
    pool_effects(effects, 1.0)
    find_noise(effects)
    np.testing.assert_array_equal(effects, before)
