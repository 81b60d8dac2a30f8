from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from linear_graphs import (
    CHAIN,
    DIRECT,
    FORK,
    GRAPHS,
    ORPHAN,
    UNEQUAL,
    describe,
    draw_rows,
    draw_structure,
    find_exact_moments,
    make_sample,
)
from rinn.structure.local_search import LocalSearch, _pick_apart
from rinn.structure.moves import is_acyclic, remove_unreached
from rinn.structure.records import GraphSettings, Moments
from rinn.structure.regression import estimate_moments
from rinn.structure.score import find_penalty
from rinn.structure.search import find_structure

TWINS = [f"{i} h" for i in "abc"] + [f"{i} k" for i in "def"]
TWINS += [f"{latent} {o}" for latent in "hk" for o in "uvwxyz"]
EVERY = {**GRAPHS, "two": ORPHAN, "twins": TWINS}


def find(moments, **settings):
    with threadpool_limits(1, user_api="blas"):
        return remove_unreached(find_structure(moments, GraphSettings(**settings)))


def permute(moments, inputs, outputs):
    return Moments(
        moments.samples,
        moments.inputs[np.ix_(inputs, inputs)],
        moments.effects[np.ix_(inputs, outputs)],
        moments.residual[np.ix_(outputs, outputs)],
    )


@pytest.mark.parametrize("effects_only", [False, True])
@pytest.mark.parametrize("edges", EVERY.values(), ids=EVERY)
def test_graphs_are_found_with_endless_data(edges, effects_only):
    structure, inputs, outputs = draw_structure(edges, extra_inputs=2, extra_outputs=1)
    found = find(find_exact_moments(structure), effects_only=effects_only)
    assert describe(found, inputs, outputs) == describe(structure, inputs, outputs)


@pytest.mark.parametrize("name", [*GRAPHS, "two"])
def test_graphs_are_found_with_5000_samples(name):
    """All of their edges, and hardly another: an edge of nothing pays in one graph of five."""
    exact = 0
    for seed in range(10):
        structure, inputs, outputs = draw_structure(EVERY[name], seed, extra_outputs=1)
        found = find(estimate_moments(make_sample(*draw_rows(structure, 5000, seed))))
        assert found.latents == structure.latents
        joined, right = (one.reach[: one.inputs, one.first_output :] for one in (found, structure))
        assert joined[right].all()
        assert int(found.edges.sum() - structure.edges.sum()) in range(3)
        exact += describe(found, inputs, outputs) == describe(structure, inputs, outputs)
    assert exact >= 6


@pytest.mark.parametrize("seed", [1, 2])
def test_twins_are_told_apart_with_5000_samples(seed):
    """Latents with the same outputs; that one acts on the other too would be no worse a graph."""
    structure, *_ = draw_structure(TWINS, seed, extra_outputs=1)
    found = find(estimate_moments(make_sample(*draw_rows(structure, 5000, seed))))
    assert found.latents == 2
    first = found.edges[: found.inputs, found.inputs]
    assert first.tolist() in ([True] * 3 + [False] * 3, [False] * 3 + [True] * 3)
    assert (found.edges[: found.inputs, found.inputs + 1] == ~first).all()
    assert found.reach[list(found.latent_nodes), found.first_output : -1].all()


def test_weights_are_found_too():
    structure, inputs, outputs = draw_structure(CHAIN)
    moments = find_exact_moments(structure)
    found = find(moments)
    assert describe(found, inputs, outputs) == describe(structure, inputs, outputs)
    effects = found.totals[: found.inputs, found.first_output :]
    np.testing.assert_allclose(effects, moments.effects, atol=0.01)


def test_a_factor_that_no_input_touches_explains_covariance_alone():
    structure, *_ = draw_structure([*ORPHAN, "l u", "l x", "l s", "l t"], seed=3)
    for samples in (1000, 5000):
        moments = estimate_moments(make_sample(*draw_rows(structure, samples, 3)))
        whole = find_structure(moments)
        assert remove_unreached(whole).latents == 2
        assert find_structure(moments, GraphSettings(effects_only=True)).latents == 2


@pytest.mark.parametrize("effects_only", [False, True])
def test_noise_gives_hardly_an_edge(effects_only):
    """A direct edge costs 1.3 x 2 log 42: of as many chi-squares of noise 0.08 are larger."""
    edges = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 3])
        y = rng.normal(size=(500, 7)) + rng.normal(size=(500, 1)) * (seed % 2)
        moments = estimate_moments(make_sample(rng.normal(size=(500, 6)), y))
        found = find(moments, effects_only=effects_only)
        edges += int(found.edges[:6].sum())
    assert edges <= 7


@pytest.mark.parametrize("edges", [CHAIN, FORK, UNEQUAL], ids=["chain", "fork", "unequal"])
def test_the_order_of_inputs_and_outputs_plays_no_part(edges):
    structure, inputs, outputs = draw_structure(edges, 4, extra_inputs=1)
    moments = estimate_moments(make_sample(*draw_rows(structure, 800, 4)))
    plain = describe(find(moments), inputs, outputs)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(len(inputs)), rng.permutation(len(outputs))
        found = find(permute(moments, rows, columns))
        names = [inputs[i] for i in rows], [outputs[o] for o in columns]
        assert describe(found, *names) == plain


def test_signs_of_columns_play_no_part():
    structure, inputs, outputs = draw_structure(FORK, 5)
    moments = estimate_moments(make_sample(*draw_rows(structure, 800, 5)))
    rng = np.random.default_rng(0)
    x, y = rng.choice([-1, 1], len(inputs)), rng.choice([-1, 1], len(outputs))
    turned = Moments(
        moments.samples,
        moments.inputs * np.outer(x, x),
        moments.effects * np.outer(x, y),
        moments.residual * np.outer(y, y),
    )
    assert describe(find(turned), inputs, outputs) == describe(find(moments), inputs, outputs)


def test_inputs_act_on_outputs_through_latents_alone_where_asked():
    structure, *_ = draw_structure(DIRECT)
    moments = find_exact_moments(structure)
    assert find(moments).is_direct.sum() == 1
    for effects_only in (False, True):
        found = find(moments, direct=False, effects_only=effects_only)
        assert found.is_direct.sum() == 0
        assert found.latents >= 1


def test_one_strong_effect_is_a_direct_edge():
    effects = np.zeros((3, 4))
    effects[1, 2] = 0.5
    found = find(Moments(1000.0, np.eye(3), effects, np.diag([1.0, 1.0, 0.75, 1.0])))
    assert np.argwhere(found.edges).tolist() == [[1, 3 + 2]]


def test_many_outputs_of_one_input_are_below_a_latent_and_few_are_not():
    for count, latents in ((2, 0), (6, 1)):
        effects = np.zeros((2, 8))
        effects[0, :count] = 0.4
        residual = np.eye(8) - effects.T @ effects * np.eye(8)
        found = find(Moments(2000.0, np.eye(2), effects, residual), effects_only=True)
        assert found.latents == latents
        assert found.reach[0, found.first_output :].sum() == count


def test_the_found_graph_scores_no_worse_than_the_truth():
    for seed in range(4):
        structure, *_ = draw_structure(FORK, seed, extra_inputs=2)
        moments = estimate_moments(make_sample(*draw_rows(structure, 300, seed)))
        search = LocalSearch(moments, GraphSettings(), None)
        truth = search.fit(structure, 60)[1]
        assert search.fit(find_structure(moments), 60)[1] <= truth + 0.5 * search.penalty


def test_the_penalty_grows_with_the_table():
    small, large = (Moments(9.0, np.eye(n), np.zeros((n, n)), np.eye(n)) for n in (1, 30))
    assert find_penalty(small) == pytest.approx(np.log(9) + np.log(8))
    assert find_penalty(large) == pytest.approx(np.log(9) + np.log(900))


def test_a_start_is_improved_and_left_as_it_is():
    structure, inputs, outputs = draw_structure(CHAIN)
    moments = find_exact_moments(structure)
    h, k = structure.latent_nodes
    marks = structure.edges.copy()
    marks[h, k] = False
    start = replace(structure, edges=marks, weights=np.where(marks, structure.weights, 0.0))
    before = start.edges.copy(), start.weights.copy()
    for sweeps in (0, 6):
        found = find_structure(moments, start=start, sweeps=sweeps)
        assert is_acyclic(found)
        assert describe(found, inputs, outputs) == describe(structure, inputs, outputs)
    np.testing.assert_array_equal(start.edges, before[0])
    np.testing.assert_array_equal(start.weights, before[1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (1, 2)])
def test_tiny_tables(shape):
    inputs, outputs = shape
    effects = np.full(shape, 0.5 / inputs)
    residual = np.eye(outputs) - np.eye(outputs) * inputs * (0.5 / inputs) ** 2
    found = find(Moments(3000.0, np.eye(inputs), effects, residual))
    assert is_acyclic(found)
    assert found.reach[:inputs, found.first_output :].all()


def test_more_starts_give_no_worse_graph_and_the_same_one_each_time():
    for seed in range(4):
        structure, *_ = draw_structure([*ORPHAN, "a y", "b z"], seed, extra_inputs=2)
        moments = estimate_moments(make_sample(*draw_rows(structure, 400, seed)))
        settings = GraphSettings(effects_only=True)
        search = LocalSearch(moments, settings, None)
        one, more, again = (find_structure(moments, settings, starts=k) for k in (0, 6, 6))
        assert (more.edges == again.edges).all()
        assert (more.weights == again.weights).all()
        scores = [search.score_edges(search.fit(graph, 30)) for graph in (one, more)]
        assert scores[1] <= scores[0] + 0.1


def test_an_input_that_does_not_pay_is_dropped_though_its_latent_has_no_other():
    """The penalty of a latent without inputs is no reason to keep an edge of nothing."""
    middle = ["a h", "b h", "c k", "d k", "h m", "k m", "h u", "h v", "k w", "k x"]
    structure, *_ = draw_structure([*middle, *(f"m {o}" for o in "pqrst")], 3, extra_inputs=1)
    moments = find_exact_moments(structure, 2000)
    without = [
        v for v in structure.latent_nodes if not structure.edges[: structure.inputs, v].any()
    ]
    edges = structure.edges.copy()
    edges[structure.inputs - 1, without[0]] = True
    search = LocalSearch(moments, GraphSettings(effects_only=True), None)
    found = search.prune(search.fit(replace(structure, edges=edges)))[0]
    assert not found.edges[: found.inputs, without[0]].any()


@pytest.mark.parametrize("effects_only", [False, True])
def test_an_edge_that_pays_by_a_variance_that_is_too_small_is_dropped(effects_only):
    structure, *_ = draw_structure(FORK)
    node = structure.latent_nodes[0]
    source = int(np.flatnonzero(structure.edges[: structure.inputs, node])[0])
    weak = structure.weights.copy()
    weak[source, node] *= 0.08
    moments = find_exact_moments(replace(structure, weights=weak), 1000)
    settings = GraphSettings(effects_only=effects_only)
    for inflation, is_kept in ((None, True), (1.0, True), (4.0, False)):
        left_out = None if inflation is None else inflation * moments.residual
        search = LocalSearch(replace(moments, left_out=left_out), settings, None)
        found = search.drop_unpaid(replace(structure, weights=weak))
        assert found.edges[source, node] == is_kept
        assert found.edges.sum() == structure.edges.sum() - (not is_kept)


def test_edges_that_are_added_together_make_no_cycle():
    structure, *_ = draw_structure(ORPHAN)
    h, k = structure.latent_nodes
    sources, targets = np.array([h, 0, k, 1]), np.array([k, structure.first_output, h, h])
    chosen = _pick_apart(structure, sources, targets, np.array([4.0, 3.0, 2.0, 1.0]))
    between = [place for place in chosen if sources[place] in (h, k)]
    assert between == [0]
