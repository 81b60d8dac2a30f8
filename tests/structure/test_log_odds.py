import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from linear_graphs import (
    CHAIN,
    FORK,
    describe,
    draw_rows,
    draw_structure,
    find_exact_moments,
    make_sample,
)
from rinn.structure.constants import MUST, NEVER
from rinn.structure.moves import remove_unreached
from rinn.structure.prior.log_odds import make_prior
from rinn.structure.records import GraphSettings, Moments
from rinn.structure.regression import estimate_moments
from rinn.structure.search import find_structure


def simulate(edges, samples=400, seed=0, **changes):
    structure, inputs, outputs = draw_structure(edges, seed, **changes)
    moments = estimate_moments(make_sample(*draw_rows(structure, samples, seed)))
    return structure, moments, inputs, outputs


def find(moments, prior=None, **changes):
    with threadpool_limits(1, user_api="blas"):
        return remove_unreached(find_structure(moments, GraphSettings(**changes), prior))


def joined(found, inputs):
    return found.reach[:inputs, found.first_output :]


def find_levels(found):
    """The level of each latent: one above the highest that it acts on."""
    nodes = list(found.latent_nodes)
    inner = found.edges[np.ix_(nodes, nodes)]
    level = np.ones(len(nodes), int)
    for _ in nodes:
        level = np.array([1 + max([0, *level[below]]) for below in inner])
    return level


@pytest.mark.parametrize("edges", [CHAIN, FORK], ids=["chain", "fork"])
def test_a_prior_that_says_nothing_changes_nothing(edges):
    for seed in range(3):
        _, moments, inputs, outputs = simulate(edges, seed=seed, extra_inputs=2)
        plain, told = find(moments), find(moments, make_prior(len(inputs), len(outputs)))
        np.testing.assert_array_equal(plain.edges, told.edges)
        np.testing.assert_array_equal(plain.weights, told.weights)


def test_log_odds_of_pairs_that_a_graph_joins_add_up():
    structure, inputs, outputs = draw_structure(CHAIN)
    prior = make_prior(len(inputs), len(outputs))
    assert prior.count_log_odds(structure) == 0
    prior.odds[0, 0], prior.odds[0, 5], prior.odds[2, 0] = 2.0, 0.5, 9.0  # c does not reach u
    assert prior.count_log_odds(structure) == pytest.approx(2.5)
    prior.order[0, 0] = 1
    assert prior.count_log_odds(structure) == pytest.approx(MUST + 0.5)
    prior.order[0, 0] = -1
    assert prior.count_log_odds(structure) == pytest.approx(NEVER + 0.5)


def test_partners_count_once_and_those_apart_every_time():
    structure, inputs, outputs = draw_structure(
        ["a h", "b h", "c h", "d k", *["h u", "h v", "k w"]]
    )
    prior = make_prior(len(inputs), len(outputs))
    prior.input_pairs[[0, 1], [1, 0]] = 3.0
    assert prior.count_log_odds(structure) == pytest.approx(3.0)
    prior.input_pairs[[0, 2], [2, 0]] = 2.0
    # a has b as its best partner: b 3 / 2, a 3 / 2, c 2 / 2.
    assert prior.count_log_odds(structure) == pytest.approx(4.0)
    prior.input_pairs[[0, 3], [3, 0]] = 50.0  # they share no latent
    assert prior.count_log_odds(structure) == pytest.approx(4.0)
    prior.input_pairs[[1, 2], [2, 1]] = -7.0
    assert prior.count_log_odds(structure) == pytest.approx(-3.0)
    prior = make_prior(len(inputs), len(outputs))
    prior.output_pairs[[0, 1], [1, 0]] = 4.0
    prior.output_pairs[[0, 2], [2, 0]] = -4.0
    assert prior.count_log_odds(structure) == pytest.approx(4.0)


def test_inputs_outside_their_levels_cost_more_than_anything_pays():
    structure, inputs, outputs = draw_structure(CHAIN)  # h acts on k
    prior = make_prior(len(inputs), len(outputs))
    assert not prior.has_levels
    prior.highest[0] = 1
    assert prior.count_log_odds(structure) == NEVER
    prior.highest[0], prior.lowest[0] = 2, 2
    assert prior.count_log_odds(structure) == 0
    prior.lowest[2] = 2
    assert prior.count_log_odds(structure) == NEVER
    assert prior.has_levels
    assert not prior.is_empty


def test_edges_that_must_not_be_are_taken_out():
    structure, inputs, outputs = draw_structure([*CHAIN, "a z"])
    prior = make_prior(len(inputs), len(outputs))
    assert prior.obey(structure) is structure
    prior.order[0, -1] = -1  # a and z: by a -> h -> k -> z, and a -> z
    prior.lowest[2] = 2  # c acts on k, of level 1
    found = prior.obey(structure)
    gone = [(inputs[u], v) for u, v in np.argwhere(structure.edges & ~found.edges)]
    h, k = structure.latent_nodes
    assert gone == [("a", h), ("a", structure.first_output + 5), ("c", k)]
    assert (found.weights[~found.edges] == 0).all()
    assert prior.count_log_odds(found) == 0


@settings(max_examples=2)
@given(st.integers(0, 300))
def test_what_must_not_be_is_never_there(seed):
    _, moments, inputs, outputs = simulate(FORK, seed=seed, extra_inputs=1)
    shape = len(inputs), len(outputs)
    prior = make_prior(*shape)
    prior.order[np.random.default_rng(seed).random(shape) < 0.2] = -1
    prior.input_pairs[:3, :3] = 5.0
    np.fill_diagonal(prior.input_pairs, 0.0)
    for effects_only in (False, True):
        found = find(moments, prior, effects_only=effects_only)
        assert not (joined(found, len(inputs)) & (prior.order < 0)).any()


def make_faint(effects, samples=1000.0):
    """Moments of independent inputs and outputs with these effects, in standard errors."""
    found = np.asarray(effects, float) / np.sqrt(samples)
    outputs = found.shape[1]
    residual = np.diag(1 - (found**2).sum(axis=0))
    return Moments(samples, np.eye(len(found)), found, residual * np.eye(outputs))


def test_a_faint_effect_is_drawn_where_it_must_be():
    effects = np.zeros((3, 6))
    effects[:2, :4] = 12.0
    effects[2] = 12, 12, 12, 1, 0, 0
    moments = make_faint(effects)
    prior = make_prior(3, 6)
    assert not joined(find(moments), 3)[2, 3]
    prior.order[2, 3] = 1
    assert joined(find(moments, prior), 3)[2].tolist() == [True] * 4 + [False] * 2


def test_log_odds_tip_a_faint_effect():
    effects = np.zeros((2, 5))
    effects[0, 1] = 3.0  # a direct edge costs 1.3 (log 1000 + log 10) = 12
    moments = make_faint(effects)
    assert not find(moments).edges.any()
    prior = make_prior(2, 5)
    prior.odds[0, 1] = 0.5
    assert not find(moments, prior).edges.any()
    prior.odds[0, 1] = 3.0
    assert np.argwhere(joined(find(moments, prior), 2)).tolist() == [[0, 1]]


def test_log_odds_below_zero_take_an_effect_out():
    effects = np.zeros((2, 5))
    effects[0, 1] = 4.0
    moments = make_faint(effects)
    assert joined(find(moments), 2)[0, 1]
    prior = make_prior(2, 5)
    prior.odds[0, 1] = -6.0
    assert not find(moments, prior).edges.any()


def weak_partner():
    """Two strong inputs of one latent, and one too weak to join it by itself."""
    effects = np.zeros((3, 6))
    effects[:2, :4] = 12.0
    effects[2, :4] = 0.9
    return make_faint(effects)


def test_a_partner_is_drawn_into_company():
    moments, prior = weak_partner(), make_prior(3, 6)
    plain = find(moments)
    assert plain.edges[:3, 3].tolist() == [True, True, False]
    prior.input_pairs[[0, 2], [2, 0]] = 5.0
    found = find(moments, prior)
    assert found.latents == 1
    assert found.edges[:3, 3].tolist() == [True, True, True]


def test_inputs_that_keep_apart_share_no_latent():
    effects = np.zeros((3, 6))
    effects[:, :5] = 12.0
    moments, prior = make_faint(effects), make_prior(3, 6)
    assert find(moments).edges[:3, 3].all()
    prior.input_pairs[[0, 1], [1, 0]] = -100.0
    found = find(moments, prior)
    both = found.edges[0] & found.edges[1]
    assert not both[list(found.latent_nodes)].any()


def test_an_input_keeps_to_its_levels():
    structure, inputs, outputs = draw_structure(CHAIN)
    moments = find_exact_moments(structure)
    plain = find(moments)
    assert sorted(find_levels(plain)) == [1, 2]
    prior = make_prior(len(inputs), len(outputs))
    prior.highest[0] = 1
    found = find(moments, prior)
    assert (find_levels(found)[found.edges[0, list(found.latent_nodes)]] == 1).all()
    prior = make_prior(len(inputs), len(outputs))
    prior.lowest[3] = 2
    found = find(moments, prior)
    assert (find_levels(found)[found.edges[3, list(found.latent_nodes)]] >= 2).all()
    assert describe(plain, inputs, outputs) == describe(structure, inputs, outputs)


@pytest.mark.parametrize("seed", range(4))
def test_levels_hold_in_every_graph(seed):
    _, moments, inputs, outputs = simulate([*CHAIN, "e h", "f h", "g k"], seed=seed)
    prior = make_prior(len(inputs), len(outputs))
    prior.highest[:2], prior.lowest[2:4] = 1, 2
    found = find(moments, prior)
    levels, edges = find_levels(found), found.edges[:, list(found.latent_nodes)]
    assert all((levels[own] == 1).all() for own in edges[:2])
    assert all((levels[own] >= 2).all() for own in edges[2:4])


def test_products_come_after_the_inputs_that_the_prior_knows():
    structure, *_ = draw_structure(["a h", "b h", "c h", "h u", "h v"])
    prior = make_prior(2, 2)  # the third input is a product
    prior.odds[:] = 1.0
    assert prior.count_log_odds(structure) == pytest.approx(4.0)


def test_the_fingerprint_is_that_of_the_numbers():
    one, other = make_prior(3, 2), make_prior(3, 2)
    assert one.fingerprint() == other.fingerprint()
    other.odds[0, 1] = 1e-9
    assert one.fingerprint() != other.fingerprint()
    other.odds[0, 1] = -0.0
    assert one.fingerprint() == other.fingerprint()
    assert one.fingerprint() != make_prior(2, 3).fingerprint()
