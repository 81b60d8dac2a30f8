from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from linear_graphs import (
    CHAIN,
    DIRECT,
    FORK,
    ORPHAN,
    describe,
    describe_named,
    draw_rows,
    draw_structure,
    make_effects,
)
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.graphs.basics import by_role, check_graph
from rinn.structure.consensus import _resolve_products as resolve_products
from rinn.structure.consensus import learn_graph, match_latents
from rinn.structure.constants import MIN_FREQUENCY
from rinn.structure.effects import estimate_effects
from rinn.structure.moves import remove_latent, set_edges, split_latent
from rinn.structure.records import GraphSettings
from rinn.structure.reported import from_graph
from rinn.structure.reported import test_fit as find_fit
from rinn.structure.support import make_support_test

FEW = GraphSettings(bootstraps=8)
WORDS = {"effects", "covariance", "both", "neither"}


def simulate(edges, samples=1000, seed=0, **changes):
    structure, inputs, outputs = draw_structure(edges, seed, **changes)
    return structure, make_effects(*draw_rows(structure, samples, seed)), inputs, outputs


def same(one, other):
    return all(
        list(a.nodes(data=True)) == list(b.nodes(data=True))
        and list(a.edges(data=True)) == list(b.edges(data=True))
        for a, b in ((one.graph, other.graph), (one.candidates, other.candidates))
    )


def check(found, inputs, outputs):
    """What holds of any graph."""
    graph = found.graph
    check_graph(graph)
    assert by_role(graph, "input") == list(inputs)
    assert by_role(graph, "output") == list(outputs)
    for latent in by_role(graph, "latent"):
        assert graph.in_degree(latent)
        assert graph.out_degree(latent)
        assert nx.ancestors(graph, latent) & set(inputs)
        assert nx.descendants(graph, latent) & set(outputs)
        assert MIN_FREQUENCY <= graph.nodes[latent]["frequency"] <= 1
    for values in (v for *_, v in graph.edges(data=True)):
        assert 0 <= values["frequency"] <= 1
        assert values["support"] in WORDS
    every = [*found.candidates.nodes(data="frequency"), *(
        (edge, share) for *edge, share in found.candidates.edges(data="frequency")
    )]  # fmt: skip
    assert all(share is None or 0 <= share <= 1 for _, share in every)
    assert set(graph.nodes) <= set(found.candidates.nodes)
    assert set(graph.edges) <= set(found.candidates.edges)
    fit = found.fit or {"p": 1.0, "chi2": 0.0, "df": 0}  # none with few samples
    assert 0 <= fit["p"] <= 1
    assert fit["chi2"] >= 0
    assert fit["df"] >= 0


@pytest.mark.parametrize("edges", [CHAIN, FORK, ORPHAN], ids=["chain", "fork", "two"])
def test_a_clear_graph_is_found_in_every_resample(edges):
    structure, effects, inputs, outputs = simulate(edges)
    found = learn_graph(effects, inputs, outputs, settings=FEW)
    check(found, inputs, outputs)
    assert set(describe(structure, inputs, outputs)) <= set(describe_named(found.graph))
    latents = by_role(found.graph, "latent")
    assert latents == [f"L{n + 1}" for n in range(structure.latents)]
    assert {found.graph.nodes[latent]["frequency"] for latent in latents} == {1.0}
    for source, target in found.graph.edges:
        if source in latents or target in latents:
            values = found.graph.edges[source, target]
            assert values["frequency"] >= 0.5
            assert values["support"] in WORDS - {"neither"}
    assert (np.array(list((found.fit or {}).values())) >= 0).all()


def test_causes_come_before_effects():
    _, effects, inputs, outputs = simulate(CHAIN)
    graph = learn_graph(effects, inputs, outputs, settings=FEW).graph
    assert graph.has_edge("L1", "L2")


def test_a_seed_gives_one_result():
    _, effects, inputs, outputs = simulate(CHAIN, samples=150)
    found = [learn_graph(effects, inputs, outputs, seed=s, settings=FEW) for s in (3, 3, 4)]
    assert same(found[0], found[1])
    assert not same(found[0], found[2])
    assert describe_named(found[0].graph) == describe_named(found[2].graph)


def test_effects_are_left_as_they_are():
    _, effects, inputs, outputs = simulate(CHAIN, samples=150)
    before = effects.z.copy(), effects.sample.x.copy(), effects.moments.effects.copy()
    learn_graph(effects, inputs, outputs, settings=FEW)
    after = effects.z, effects.sample.x, effects.moments.effects
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_resamples_every_share_is_one():
    structure, effects, inputs, outputs = simulate(CHAIN)
    found = learn_graph(effects, inputs, outputs, settings=GraphSettings(bootstraps=0))
    check(found, inputs, outputs)
    assert set(describe(structure, inputs, outputs)) <= set(describe_named(found.graph))
    assert {share for *_, share in found.graph.edges(data="frequency")} == {1.0}
    assert set(found.candidates.edges) == set(found.graph.edges)


def test_the_share_of_a_candidate_is_its_own():
    """Not that of ways by other edges, which every resample has."""
    _, effects, inputs, outputs = simulate(ORPHAN, samples=100)
    found = learn_graph(effects, inputs, outputs, settings=GraphSettings(bootstraps=30))
    others = set(found.candidates.edges) - set(found.graph.edges)
    pairs = [(i, o) for i in inputs for o in outputs if (i, o) in others]
    assert pairs
    assert max(found.candidates.edges[pair]["frequency"] for pair in pairs) < 0.7


def test_shares_count_resamples():
    _, effects, inputs, outputs = simulate(CHAIN, samples=60, seed=2)
    found = learn_graph(effects, inputs, outputs, settings=FEW)
    shares = [share for *_, share in found.candidates.edges(data="frequency")]
    assert len(set(shares)) > 2
    assert all((8 * share).is_integer() for share in shares)


@pytest.mark.parametrize("taken", [("L1", "L2"), ("U1", "L1")])
def test_names_do_not_clash(taken):
    structure, effects, inputs, outputs = simulate(ORPHAN, samples=100)
    inputs = (*taken, *inputs[2:])
    found = learn_graph(effects, inputs, outputs, settings=FEW)
    check(found, inputs, outputs)
    assert len(by_role(found.graph, "latent")) == structure.latents
    nodes = list(found.candidates.nodes)
    assert len(nodes) == len(set(nodes))


def test_a_strong_effect_on_one_output_is_a_direct_edge():
    structure, effects, inputs, outputs = simulate(DIRECT)
    found = learn_graph(effects, inputs, outputs, settings=FEW)
    check(found, inputs, outputs)
    assert found.graph.edges["c", "y"]["frequency"] == 1.0
    assert found.graph.edges["c", "y"]["support"] in ("effects", "both")
    assert set(describe(structure, inputs, outputs)) <= set(describe_named(found.graph))
    bare = learn_graph(effects, inputs, outputs, settings=replace(FEW, direct=False))
    check(bare, inputs, outputs)
    assert {bare.graph.nodes[node]["role"] for node in bare.graph["c"]} <= {"latent"}


def test_effects_alone_support_edges_without_the_covariance():
    structure, effects, inputs, outputs = simulate(CHAIN)
    found = learn_graph(effects, inputs, outputs, settings=replace(FEW, effects_only=True))
    check(found, inputs, outputs)
    assert set(describe(structure, inputs, outputs)) <= set(describe_named(found.graph))
    assert {word for *_, word in found.graph.edges(data="support")} <= {"effects", "neither"}


def test_a_factor_that_no_input_touches_is_not_reported():
    _, effects, inputs, outputs = simulate([*ORPHAN, "l s", "l t", "l r", "l q"])
    found = learn_graph(effects, inputs, outputs, settings=FEW)
    check(found, inputs, outputs)
    assert len(by_role(found.graph, "latent")) == 2
    assert not any(found.graph.in_degree(name) for name in "qrst")


def test_an_edge_from_a_product_is_one_from_each_of_its_inputs():
    rng = np.random.default_rng(0)
    x = (rng.random((1500, 4)) < 0.5).astype(float)
    z = x[:, :1] != x[:, 1:2]
    y = z + 0.5 * rng.normal(size=(1500, 1)) * np.ones(5) + 0.4 * rng.normal(size=(1500, 5))
    names = tuple("abcd"), tuple("vwxyz")
    problem = make_problem(Data(x, y, *names))
    effects = estimate_effects(problem)
    assert effects.sample.owners[4:] == ((0, 1),)
    found = learn_graph(effects, *names, settings=FEW)
    check(found, *names)
    assert set(found.graph.predecessors("L1")) == {"a", "b"}
    assert set(found.graph.successors("L1")) == set("vwxyz")


def test_products_are_resolved():
    structure, *_ = draw_structure(["a h", "b h", "c k", "h u", "h v", "k w", "k x"])
    found = resolve_products(structure, ((0,), (1,), (0, 1)), 2)
    assert found.inputs == 2
    assert found.latents == 2
    assert found.edges[:2, 2:4].tolist() == [[True, True], [True, True]]
    np.testing.assert_array_equal(
        resolve_products(structure, ((0,), (1,), (2,)), 3).edges, structure.edges
    )


def test_latents_are_matched_by_their_outputs():
    structure, *_ = draw_structure(ORPHAN)
    h, k = structure.latent_nodes
    assert match_latents(structure, structure) == {h: h, k: k}
    less = remove_latent(structure, h)
    assert match_latents(structure, less) == {h: k}
    assert match_latents(less, structure) == {k: h}
    bare = remove_latent(less, h)
    assert match_latents(structure, bare) == match_latents(bare, structure) == {}
    # Of two with the same outputs, the one with the same inputs is the one.
    parts = split_latent(structure, h, np.array([1]))
    first = parts.inputs
    found = match_latents(parts, structure)
    assert found[h] in (first, first + 2)
    assert found[k] == first + 1
    # One of three outputs is too few.
    two = structure.first_output + np.arange(2)
    thin = set_edges(structure, h, two, None)
    assert match_latents(structure, thin) == {k: k}


def test_named_graphs_are_structures():
    _, effects, inputs, outputs = simulate(CHAIN)
    graph = learn_graph(effects, inputs, outputs, settings=GraphSettings(bootstraps=0)).graph
    again = from_graph(graph, inputs, outputs)
    assert describe(again, inputs, outputs) == describe_named(graph)


def test_p_of_true_graphs_is_even():
    found = []
    for seed in range(20):
        structure, effects, *_ = simulate(CHAIN, samples=400, seed=seed, extra_inputs=2)
        fit = find_fit(structure, effects)
        assert fit["df"] == structure.inputs * structure.outputs - structure.edges.sum() + 2
        found.append(fit["p"])
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert min(found) > 1e-3


def test_p_of_a_wrong_graph_is_small():
    for seed in range(4):
        structure, effects, *_ = simulate(CHAIN, samples=400, seed=seed)
        h, k = structure.latent_nodes
        for wrong in (set_edges(structure, h, k, None), remove_latent(structure, k)):
            assert find_fit(wrong, effects)["p"] < 1e-6


def test_more_outputs_than_degrees_of_freedom_have_no_test():
    few = [f"h y{n}" for n in range(6)]
    structure, effects, *_ = simulate(["a h", "b h", *few], samples=12)
    assert find_fit(structure, effects) is not None  # 9 degrees of freedom, 6 outputs
    structure, effects, *_ = simulate(["a h", "b h", *few], samples=10)
    assert find_fit(structure, effects) is None


def test_a_graph_with_an_edge_for_each_pair_has_no_test():
    structure, effects, *_ = simulate(["a x", "b x", "a y", "b y"])
    assert find_fit(structure, effects) == {"chi2": pytest.approx(0, abs=0.1), "df": 0, "p": 1.0}


KINDS = st.sampled_from(["normal", "binary", "rare", "constant", "copy"])


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(12, 40),
    KINDS,
    KINDS,
    st.booleans(),
    st.booleans(),
)
@example(0, 2, 1, 31, "copy", "normal", True, False)  # an exact fit
def test_any_table_gives_a_graph(seed, inputs, outputs, samples, one, other, direct, only):
    rng = np.random.default_rng(seed)

    def draw(count, kind):
        table = rng.normal(size=(samples, count))
        if kind == "binary":
            table = (table > 0).astype(float)
        if kind == "rare":
            table = np.zeros((samples, count))
            table[rng.integers(samples, size=count), np.arange(count)] = 1.0
        if kind == "constant":
            table[:, -1] = 2.5
        if kind == "copy":
            table[:, -1] = table[:, 0]
        return table

    x, y = draw(inputs, one), draw(outputs, other)
    y[:, : outputs // 2 + 1] += 2 * x[:, :1]
    names = tuple(f"x{n}" for n in range(inputs)), tuple(f"y{n}" for n in range(outputs))
    problem = make_problem(Data(x, y, *names))
    effects = estimate_effects(problem, test=make_support_test(problem))
    how = GraphSettings(bootstraps=2, direct=direct, effects_only=only)
    found = learn_graph(effects, *names, settings=how)
    check(found, *names)
    if not direct:
        assert not any(u in names[0] and v in names[1] for u, v in found.graph.edges)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.05, 0.8))
def test_gaps_give_a_graph(seed, share):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 4))
    y = x[:, :1] + 0.3 * rng.normal(size=(60, 5))
    y[rng.random(y.shape) < share] = np.nan
    y[:4] = rng.normal(size=(4, 5))
    names = tuple("abcd"), tuple("vwxyz")
    problem = make_problem(Data(x, y, *names))
    effects = estimate_effects(problem, test=make_support_test(problem))
    check(learn_graph(effects, *names, settings=GraphSettings(bootstraps=2)), *names)
