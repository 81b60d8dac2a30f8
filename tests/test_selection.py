import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rinn.selection import average_splits, select_nearest


def test_hand_worked_distances():
    # Of 21 networks the largest loss and the largest size lie beyond the 95 % quantile.
    loss = np.array([1.0, 2.0, 3.0, *[3.0] * 16, 3.0, 99.0])
    size = np.array([9.0, 5.0, 1.0, *[9.0] * 16, 99.0, 1.0])
    selection = select_nearest(loss, size, keep=2)
    assert selection.chosen == (1, 0)
    np.testing.assert_allclose(selection.distance[:3], [1.0, np.hypot(0.5, 0.5), 1.0])
    assert np.isinf(selection.distance[-2:]).all()


def test_diverged_networks_are_never_chosen():
    selection = select_nearest(np.array([np.nan, 1.0, np.inf]), np.array([1.0, 1.0, 1.0]))
    assert selection.chosen == (1,)


def test_nothing_to_choose_from():
    assert select_nearest(np.array([np.nan]), np.array([1.0])).chosen == ()


def test_equal_networks_keep_their_order():
    assert select_nearest(np.ones(5), np.ones(5), keep=3).chosen == (0, 1, 2)


def test_ten_by_default():
    rng = np.random.default_rng(0)
    assert len(select_nearest(rng.random(50), rng.random(50)).chosen) == 10


@given(
    arrays(float, 12, elements=st.integers(0, 1000).map(float)),
    st.sampled_from([0.25, 2.0, 8.0]),
    st.integers(-5, 5),
)
def test_units_do_not_matter(loss, factor, shift):
    size = np.arange(12.0)
    same = select_nearest(loss * factor + shift, size)
    np.testing.assert_allclose(
        same.distance, select_nearest(loss, size).distance, rtol=1e-3, atol=1e-6
    )


def test_one_diverged_split_spoils_its_setting():
    means = average_splits(np.array([1.0, np.nan, 2.0, 4.0]), np.array([5, 5, 7, 7]))
    assert np.isnan(means[:2]).all()
    assert means[2:].tolist() == [3.0, 3.0]
