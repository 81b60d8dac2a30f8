import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rinn.nets.selection import average_splits, select_accurate, select_nearest


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


LOSSES = st.lists(
    st.one_of(st.integers(0, 20).map(float), st.sampled_from([np.nan, np.inf])), max_size=12
)


@given(LOSSES, st.integers(1, 6))
def test_the_max_accurate_are_chosen_best_first(loss, keep):
    chosen = select_accurate(np.array(loss), keep)
    usable = [place for place, value in enumerate(loss) if np.isfinite(value)]
    assert chosen == tuple(sorted(usable, key=lambda place: loss[place])[:keep])


@given(LOSSES, LOSSES, st.integers(1, 6))
def test_worse_networks_change_no_choice(loss, others, keep):
    chosen = select_accurate(np.array(loss), keep)
    worst = max((loss[place] for place in chosen), default=-np.inf)
    worse = [value for value in others if not value < worst]
    if len(chosen) < keep:
        worse = [value for value in worse if not np.isfinite(value)]
    assert select_accurate(np.array(loss + worse), keep) == chosen


def test_unlike_the_nearest_the_max_accurate_do_not_depend_on_the_worst():
    """A network that is bad in both respects draws the others together."""
    loss, size = np.array([1.0, 1.4, 2.0]), np.array([10.0, 5.0, 4.0])
    pool = np.append(loss, [9.0] * 3), np.append(size, [4.0] * 3)
    assert select_nearest(loss, size, 1).chosen != select_nearest(*pool, 1).chosen
    assert select_accurate(loss, 2) == select_accurate(pool[0], 2) == (0, 1)


def test_a_better_network_is_chosen_instead():
    assert select_accurate(np.array([2.0, 3.0, 4.0]), 2) == (0, 1)
    assert select_accurate(np.array([2.0, 3.0, 4.0, 1.0]), 2) == (3, 0)


def test_every_network_diverged():
    assert select_accurate(np.array([np.nan, np.inf]), 3) == ()
