import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_smallest import effects_of, noisy_effects

from rinn.consensus import find_smallest, make_prior
from rinn.consensus.board import Board
from rinn.consensus.informed import InformedBoard
from rinn.consensus.prior import MUST, NEVER
from rinn.consensus.smallest import join_latents, list_outputs
from rinn.simulation import make_random_graph

STRONG = 10.0


def reach_of(found, outputs):
    """Which outputs each input reaches."""
    reached = np.zeros((len(found.parents), outputs), bool)
    for i, latents in enumerate(found.parents):
        for k in latents:
            reached[i, list_outputs(found.latents[k])] = True
    return reached


def levels_of(found):
    levels = [0] * len(found.latents)
    for k in reversed(range(len(levels))):
        levels[k] = 1 + max((levels[child] for child in found.children[k]), default=0)
    return levels


@pytest.mark.parametrize("seed", range(6))
def test_a_prior_that_says_nothing_changes_nothing(seed):
    effects = noisy_effects(seed)
    assert find_smallest(effects, prior=make_prior(*effects.shape)) == find_smallest(effects)


def test_a_board_that_knows_nothing_is_a_board():
    rng = np.random.default_rng(0)
    for _ in range(20):
        evidence = 4 * rng.standard_normal((9, 7))
        patterns = rng.choice(np.arange(1, 2**7), 6, replace=False).tolist()
        plain, informed = Board(evidence, 2.0), InformedBoard(evidence, 2.0, make_prior(9, 7))
        gain, chosen = informed.attach(patterns)
        assert chosen == plain.attach(patterns)[1]
        np.testing.assert_allclose(gain, plain.attach(patterns)[0])
        assert informed.value(patterns) == pytest.approx(plain.value(patterns))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 300))
def test_what_must_not_be_is_never_there(seed):
    effects = noisy_effects(seed)
    prior = make_prior(*effects.shape)
    prior.order[np.random.default_rng(seed).random(effects.shape) < 0.2] = -1
    prior.inputs_alike[:6, :6] = 5.0
    np.fill_diagonal(prior.inputs_alike, 0.0)
    found = find_smallest(effects, prior=prior)
    assert not (reach_of(found, effects.shape[1]) & (prior.order < 0)).any()


def test_a_faint_effect_is_drawn_where_it_must_be():
    effects = np.full((3, 6), 0.2)
    effects[:2, :4] = STRONG
    effects[2, :4] = 10, 10, 10, 1.0
    effects[:, 4:] = 0.1
    prior = make_prior(3, 6)
    prior.order[2, 3] = 1
    assert reach_of(find_smallest(effects, prior=prior), 6)[2].tolist() == [True] * 4 + [False] * 2


def test_log_odds_add_to_those_of_the_data():
    prior = make_prior(2, 2)
    prior.odds[:] = [[1, -1], [0, 3]]
    prior.order[1] = [1, -1]
    evidence = np.array([[0.5, 0.5], [-9.0, 9.0]])
    assert prior.add(evidence).tolist() == [[1.5, -0.5], [MUST, NEVER]]
    assert evidence.tolist() == [[0.5, 0.5], [-9.0, 9.0]]


def test_faint_effects_are_drawn_where_they_are_likely():
    effects = np.zeros((2, 5))
    effects[:, :4] = 1.7
    assert not find_smallest(effects, noise=1.0).latents
    prior = make_prior(2, 5)
    prior.odds[:, :4] = 3.0
    assert find_smallest(effects, noise=1.0, prior=prior).latents == (0b1111,)


def weak_partner():
    """Two strong inputs of one latent, and one too weak to join it by itself."""
    effects = np.zeros((3, 6))
    effects[:2, :4] = STRONG
    effects[2, :4] = 2.2, 2.2, 1.0, 1.0
    return effects


def test_a_partner_is_drawn_into_company():
    effects, prior = weak_partner(), make_prior(3, 6)
    assert find_smallest(effects, noise=1.0).parents == ((0,), (0,), ())
    prior.inputs_alike[[0, 2], [2, 0]] = 8.0
    assert find_smallest(effects, noise=1.0, prior=prior).parents == ((0,), (0,), (0,))


def test_company_counts_once_however_many_partners():
    prior = make_prior(3, 4)
    evidence = np.array([[9.0] * 4, [9.0] * 4, [-0.4, -0.4, -0.4, -0.3]])
    prior.inputs_alike[2, :2] = prior.inputs_alike[:2, 2] = 6.0
    board = InformedBoard(evidence, 2.0, prior)
    gain, chosen = board.attach([0b1111])
    assert chosen == [(0,), (0,), ()]  # 6 / 2 - 1.5 - 2 < 0; twice 3 would have paid
    prior.inputs_alike[2, 0] = prior.inputs_alike[0, 2] = 7.2
    gain, chosen = InformedBoard(evidence, 2.0, prior).attach([0b1111])
    assert chosen[2] == (0,)
    assert gain[2] == pytest.approx(3.6 - 1.5 - 2)


def test_two_weak_inputs_find_each_other():
    prior = make_prior(2, 4)
    prior.inputs_alike[[0, 1], [1, 0]] = 4.0
    evidence = np.full((2, 4), 0.4)
    assert Board(evidence, 2.0).attach([0b1111])[1] == [(), ()]
    gain, chosen = InformedBoard(evidence, 2.0, prior).attach([0b1111])
    assert chosen == [(0,), (0,)]
    assert gain == pytest.approx(1.6)


def test_the_weaker_of_two_that_keep_apart_leaves():
    prior = make_prior(3, 4)
    prior.inputs_alike[[0, 1], [1, 0]] = -100.0
    evidence = np.array([[9.0] * 4, [8.0] * 4, [7.0] * 4])
    assert InformedBoard(evidence, 2.0, prior).attach([0b1111])[1] == [(0,), (), (0,)]


def test_outputs_in_company_cost_less_but_never_less_than_half():
    prior = make_prior(2, 4)
    prior.outputs_alike[[0, 1], [1, 0]] = 1.0
    board = InformedBoard(np.ones((2, 4)), 2.0, prior)
    assert board.discount(0b0011) == pytest.approx(1.0)
    assert board.discount(0b1101) == 0
    prior.outputs_alike[[0, 1], [1, 0]] = 50
    assert InformedBoard(np.ones((2, 4)), 2.0, prior).discount(0b1111) == pytest.approx(2.0)
    prior.outputs_alike[[0, 1], [1, 0]] = -50
    assert InformedBoard(np.ones((2, 4)), 2.0, prior).discount(0b1111) == pytest.approx(-2.0)


@pytest.fixture
def two_levels():
    """Two inputs on a latent above another, two on the one below."""
    effects = np.zeros((4, 8))
    effects[:2, :7], effects[2:, :4] = STRONG, STRONG
    assert levels_of(find_smallest(effects)) == [2, 1]
    return effects


def test_an_input_keeps_to_its_levels(two_levels):
    prior = make_prior(4, 8)
    prior.highest[0] = 1
    found = find_smallest(two_levels, prior=prior)
    assert [levels_of(found)[k] for k in found.parents[0]] == [1, 1]  # two latents say the same
    np.testing.assert_array_equal(reach_of(found, 8), two_levels > 0)
    prior = make_prior(4, 8)
    prior.lowest[3] = 2
    found = find_smallest(two_levels, prior=prior)
    assert all(levels_of(found)[k] >= 2 for k in found.parents[3])
    assert found.parents[2] == (1,)


@pytest.mark.parametrize("seed", range(5))
def test_levels_hold_in_every_graph(seed):
    rng = np.random.default_rng(seed)
    truth = make_random_graph(rng, 16, 12, levels=3, latents=6)
    effects = effects_of(truth) + rng.standard_normal((16, 12))
    prior = make_prior(16, 12)
    prior.highest[:5], prior.lowest[5:8] = 1, 2
    found = find_smallest(effects, prior=prior)
    again = join_latents(effects, found.latents, prior)
    for one in (found, again):
        levels = levels_of(one)
        assert all(levels[k] == 1 for own in one.parents[:5] for k in own)
        assert all(levels[k] >= 2 for own in one.parents[5:8] for k in own)


def test_a_part_of_a_large_table_takes_its_part_of_the_prior():
    rng = np.random.default_rng(1)
    effects = rng.standard_normal((90, 50))
    effects[10:14, 20:26] += 8
    effects[40:44, 5:9] += 8
    prior = make_prior(90, 50)
    prior.order[11, 22] = -1
    prior.highest[41] = 1
    prior.inputs_alike[[40, 42], [42, 40]] = 2.0
    reached = reach_of(find_smallest(effects, prior=prior), 50)
    assert reached[10, 20:26].all()
    assert not reached[11, 22]
    assert reached[40:44, 5:9].all()
