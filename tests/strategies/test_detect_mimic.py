import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literal_dm import literal_dm, literal_link
from rinn.graphs.basics import by_role
from rinn.graphs.protocol import reach_vectors
from rinn.simulate.datasets import make_dataset
from rinn.strategies.detect_mimic import (
    ALPHAS_PC,
    ALPHAS_SOBER,
    Correlations,
    Latents,
    correlate,
    detect_from_correlations,
    link_latents,
    prune_edges,
)


def detect_latents(x, y, inputs, outputs, **alphas):
    return detect_from_correlations(correlate(x, y, inputs, outputs), **alphas)


def link(*sets):
    """The latents of these parent sets, one for each output."""
    height = max((max(members, default=0) for members in sets), default=0) + 1
    parents = np.zeros((height, len(sets)), dtype=bool)
    for output, members in enumerate(sets):
        parents[list(members), output] = True
    return link_latents(parents)


def goes_first(*sets):
    """The parent set that is visited first: it takes the union's inputs away from the other."""
    found = link(*sets, set().union(*sets))
    ((cause, effect),) = found.edges
    assert effect == len(sets)
    return sets[cause]


def from_weights(weights, noise=(1, 1, 1, 1), samples=1000):
    """Exact correlations of independent inputs and outputs that are sums of them and of noise."""
    weights = np.array(weights, dtype=float)  # [input, output]
    p, q = weights.shape
    covariance = np.eye(p + q)
    covariance[:p, p:], covariance[p:, :p] = weights, weights.T
    covariance[p:, p:] = weights.T @ weights + np.diag(noise[:q])
    sd = np.sqrt(np.diag(covariance))
    names = [f"x{i}" for i in range(p)], [f"y{j}" for j in range(q)]
    return Correlations(covariance / np.outer(sd, sd), samples, *map(tuple, names))


def number_edges(graph, inputs, outputs):
    """Edges as in the literal version, by number instead of name."""
    number = {name: ("X", i) for i, name in enumerate(inputs)}
    number |= {name: ("L", k) for k, name in enumerate(by_role(graph, "latent"))}
    number |= {name: ("Y", j) for j, name in enumerate(outputs)}
    return {(number[source], number[target]) for source, target in graph.edges}


def names_of(x, y):
    return [f"x{i}" for i in range(x.shape[1])], [f"y{j}" for j in range(y.shape[1])]


# Latents and their order


def test_outputs_with_the_same_parents_share_a_latent():
    found = link({0, 1}, {2}, {0, 1}, set(), {2})
    assert found == Latents((frozenset({0, 1}), frozenset({2})), ((0, 2), (1, 4)), ())


def test_output_without_parents_has_no_latent():
    assert link(set(), {1}).outputs == ((1,),)
    assert link(set(), set()) == Latents((), (), ())


def test_smaller_sets_are_causes_of_larger_ones():
    chain = link({0}, {0, 1}, {0, 1, 2})
    assert chain.edges == ((0, 1), (1, 2))
    assert chain.inputs == ({0}, {1}, {2})
    assert link({0, 1, 2}, {0, 1}, {0}).edges == ((1, 0), (2, 1))


def test_inputs_get_lost():
    found = link({1}, {1, 2}, {1, 3, 4})
    assert found.edges == ((0, 1),)
    assert found.inputs == ({1}, {2}, {3, 4})


def test_latents_may_be_on_a_cycle():
    found = link({4}, {1, 2}, {1, 2, 3}, {1, 3, 4})
    assert found.edges == ((0, 3), (1, 2), (2, 3), (3, 1))
    assert found.inputs == ({4}, {2}, {3}, {1})


def test_latents_with_equal_inputs_stay_apart():
    found = link({0}, {1}, {0, 1})
    assert found.edges == ((0, 2),)
    assert found.inputs == ({0}, {1}, {1})


def test_ties_go_by_hash_not_by_order_of_creation():
    assert goes_first({2, 3}, {0, 4}) == {0, 4}
    assert goes_first({0, 4}, {2, 3}) == {0, 4}


def test_fewer_members_of_two_digits_go_first():
    assert goes_first({0, 10}, {8, 9}) == {8, 9}


def test_digits_count_not_the_number():
    assert goes_first({0, 20}, {9, 19}) == {9, 19}


def test_members_of_three_digits_go_last():
    assert goes_first({100, 0}, {98, 99}) == {98, 99}


def test_hash_of_a_long_name_wraps():
    assert goes_first({9999}, {10000}) == {10000}


def test_of_colliding_sets_the_later_one_is_visited():
    rest = {0}, {0, 5}, {0, 2, 4, 6}
    unvisited = link({0, 2, 4}, {1, 2, 3}, *rest)
    assert unvisited.edges == ((2, 3),)
    assert unvisited.inputs == ({2, 4}, {1, 2, 3}, {0}, {5}, {2, 4, 6})  # it has lost 0
    visited = link({1, 2, 3}, {0, 2, 4}, *rest)
    assert visited.edges == ((1, 4), (2, 3))
    assert visited.inputs == ({1, 2, 3}, {2, 4}, {0}, {5}, {6})


def test_unvisited_latent_is_no_effect():
    assert link({0}, {0, 3}, {1, 2}).edges == ()
    assert link({0}, {1, 2}, {0, 3}).edges == ((0, 2),)


POOLS = st.sampled_from([range(6), range(14), range(7, 13), range(96, 104)])
PARENTS = POOLS.flatmap(lambda pool: st.lists(st.sets(st.sampled_from(pool)), max_size=14))


@settings(max_examples=200, deadline=None)
@given(PARENTS)
def test_linking_equals_the_literal_version(sets):
    found = link(*sets)
    inputs, outputs, effects = literal_link(sets)
    assert list(found.inputs) == inputs
    assert [set(group) for group in found.outputs] == outputs
    assert set(found.edges) == {(a, b) for a, below in enumerate(effects) for b in below}


def test_parents_stay_as_they_are():
    parents = np.array([[True, True], [False, True]])
    parents.flags.writeable = False
    link_latents(parents)
    assert parents.tolist() == [[True, True], [False, True]]


# Sober's criterion


def test_edge_between_outputs_that_only_share_inputs_becomes_inputs():
    data = from_weights([[1, 1], [0, 1]])
    found = prune_edges(link({0}, {0, 1}), data, 0.05)
    assert found.edges == ()
    assert found.inputs == ({0}, {0, 1})


def test_edge_between_outputs_that_share_more_stays():
    data = from_weights([[1, 1], [0, 1]])
    matrix = data.matrix.copy()
    matrix[2, 3] = matrix[3, 2] = matrix[2, 3] + 0.1
    chain = link({0}, {0, 1})
    assert prune_edges(chain, Correlations(matrix, 1000, data.inputs, data.outputs), 0.05) == chain


def test_grown_inputs_count_at_once():
    data = from_weights([[1, 1, 1], [0, 1, 1], [0, 0, 1]])
    chain = link({0}, {0, 1}, {0, 1, 2})
    assert chain.edges == ((0, 1), (1, 2))
    second = Latents(chain.inputs, chain.outputs, ((1, 2),))
    assert prune_edges(second, data, 0.05).edges == ((1, 2),)  # input 0 is not given
    both = prune_edges(chain, data, 0.05)
    assert both.edges == ()
    assert both.inputs == ({0}, {0, 1}, {0, 1, 2})


def test_first_output_of_a_latent_is_tested():
    weights = [[1, 1, 1, 1], [0, 0, 1, 1]]
    data = from_weights(weights)
    matrix = data.matrix.copy()
    matrix[3, 5] = matrix[5, 3] = matrix[3, 5] + 0.2  # the second outputs of both share more
    more = Correlations(matrix, 1000, data.inputs, data.outputs)
    latents = link({0}, {0}, {0, 1}, {0, 1})
    assert prune_edges(latents, more, 0.05).edges == ()


def test_edge_stays_where_inputs_are_copies():
    x = np.random.default_rng(0).normal(size=(1000, 2))
    noise = np.random.default_rng(1).normal(size=(1000, 2))
    y = x @ [[1, 1], [0, 1]] + noise
    alphas = {"alpha_pc": 0.001, "alpha_sober": 0.01}
    alone = detect_latents(x, y, ["a", "b"], ["c", "d"], **alphas)
    copied = detect_latents(x[:, [0, 0, 1]], y, ["a", "copy", "b"], ["c", "d"], **alphas)
    assert not alone.has_edge("L1", "L2")
    assert copied.has_edge("L1", "L2")


@pytest.mark.parametrize("noise", [[0, 1], [1, 0], [0, 0]])
def test_edge_stays_where_an_output_is_fixed_by_inputs(noise):
    latents = Latents((frozenset({0}), frozenset({1})), ((0,), (1,)), ((0, 1),))
    weights = [[1, 2], [0, noise[1]]]
    assert prune_edges(latents, from_weights(weights, noise), 0.05) == latents
    pruned = prune_edges(latents, from_weights(weights, [1, 1]), 0.05)
    assert pruned.edges == ()


@pytest.mark.parametrize(("samples", "kept"), [(3, 1), (4, 1), (5, 0)])
def test_edge_stays_where_no_test_is_possible(samples, kept):
    data = from_weights([[1, 1], [0, 1]], samples=samples)
    assert len(prune_edges(link({0}, {0, 1}), data, 0.05).edges) == kept


# The whole algorithm


def make_mimic(samples=2000):
    """Two latents, one the cause of the other, each with an input and two outputs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(samples, 2))
    first = x[:, 0] + rng.normal(size=samples)
    second = first + x[:, 1] + rng.normal(size=samples)
    y = np.stack([first, first, second, second], axis=1) + rng.normal(size=(samples, 4))
    return x, y


MIMIC = [("a", "L1"), ("b", "L2"), ("L1", "L2")]
MIMIC += [("L1", "c"), ("L1", "d"), ("L2", "e"), ("L2", "f")]


def test_mimic_is_recovered():
    graph = detect_latents(*make_mimic(), "ab", "cdef", alpha_pc=0.001, alpha_sober=0.05)
    assert sorted(graph.edges) == sorted(MIMIC)
    assert list(graph) == ["a", "b", "L1", "L2", "c", "d", "e", "f"]
    roles = ["input"] * 2 + ["latent"] * 2 + ["output"] * 4
    assert [graph.nodes[node]["role"] for node in graph] == roles
    assert {graph.nodes[latent]["frequency"] for latent in ("L1", "L2")} == {1.0}
    assert all(graph.edges[edge] == {"weight": 1.0, "frequency": 1.0} for edge in graph.edges)


def test_columns_keep_their_names():
    inputs, outputs = ["L1", "b"], ["L_2", "d", "e", "f"]
    graph = detect_latents(*make_mimic(), inputs, outputs, alpha_pc=0.001, alpha_sober=0.05)
    assert by_role(graph, "input") == inputs
    assert by_role(graph, "output") == outputs
    assert by_role(graph, "latent") == ["L__1", "L__2"]
    assert graph.has_edge("L1", "L__1")


def test_tables_stay_as_they_are():
    x, y = make_mimic(100)
    before = x.copy(), y.copy()
    x.flags.writeable = y.flags.writeable = False
    detect_latents(x, y, "ab", "cdef", alpha_pc=0.05, alpha_sober=0.05)
    assert (x == before[0]).all()
    assert (y == before[1]).all()


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_units_do_not_matter(size):
    x, y = make_mimic(200)
    expected = correlate(x, y, "ab", "cdef").matrix
    found = correlate(x * size, y / size, "ab", "cdef").matrix
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_tiny_alpha_leaves_no_latent():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 4)), rng.normal(size=(500, 3))
    graph = detect_latents(x, y, "abcd", "efg", alpha_pc=1e-12, alpha_sober=0.05)
    assert list(graph) == list("abcdefg")
    assert graph.number_of_edges() == 0
    assert list(detect_latents(x, y, "abcd", "efg", alpha_pc=0, alpha_sober=0)) == list("abcdefg")


def test_alpha_of_one_joins_everything_under_one_latent():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 4)), rng.normal(size=(500, 3))
    graph = detect_latents(x, y, "abcd", "efg", alpha_pc=1, alpha_sober=1)
    assert by_role(graph, "latent") == ["L1"]
    assert graph.degree("L1") == 7


def test_one_input_and_one_output_that_are_equal():
    x = np.arange(4.0)[:, None]
    graph = detect_latents(x, 1 - x, ["a"], ["b"], alpha_pc=0.05, alpha_sober=0.05)
    assert list(graph.edges) == [("a", "L1"), ("L1", "b")]


def test_vectors_of_a_graph_with_a_cycle():
    matrix = np.eye(9)  # inputs 0 to 4, then four outputs that share much
    matrix[5:, 5:] = np.where(np.eye(4, dtype=bool), 1, 0.8)
    for output, parents in enumerate([{4}, {1, 2}, {1, 2, 3}, {1, 3, 4}]):
        matrix[5 + output, list(parents)] = matrix[list(parents), 5 + output] = 0.3
    data = Correlations(matrix, 1000, tuple("abcde"), tuple("wxyz"))
    graph = detect_from_correlations(data, alpha_pc=0.01, alpha_sober=0.05)
    assert set(nx.find_cycle(graph)) == {("L2", "L3"), ("L3", "L4"), ("L4", "L2")}
    vectors = reach_vectors(graph, ["L1", "L2", "L3", "L4", "a", "b"], list("wxyz"))
    around = [0, 1, 1, 1]
    assert vectors.astype(int).tolist() == [[1, 1, 1, 1], *[around] * 3, [0] * 4, around]


@st.composite
def tables(draw):
    """Few samples of inputs and of outputs made from some of them; copies of columns at times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.one_of(st.integers(4, 15), st.integers(16, 300)))
    p, latents, q = draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 8))
    x = rng.normal(size=(n, p))
    hidden = x @ (rng.normal(size=(p, latents)) * (rng.random((p, latents)) < 0.4))
    hidden += 0.5 * rng.normal(size=hidden.shape)
    y = hidden @ (rng.random((latents, q)) < 0.5) + rng.normal(size=(n, q))
    if draw(st.booleans()):
        x, y = (x > 0.5).astype(float), (y > 0).astype(float)
        x[0], y[0] = 1 - x[1], 1 - y[1]  # no column is constant
    if draw(st.booleans()):
        x[:, -1] = x[:, 0]
    if draw(st.booleans()):
        y[:, -1] = 1 - y[:, 0]
    return x, y


ALPHA = st.sampled_from([0.5, *ALPHAS_SOBER, *ALPHAS_PC])


@settings(max_examples=200, deadline=None)
@given(tables(), ALPHA, ALPHA)
def test_dm_equals_the_literal_version(data, alpha_pc, alpha_sober):
    x, y = data
    names = names_of(x, y)
    graph = detect_latents(x, y, *names, alpha_pc=alpha_pc, alpha_sober=alpha_sober)
    with np.errstate(divide="ignore"):
        expected = literal_dm(x, y, alpha_pc, alpha_sober)
    assert number_edges(graph, *names) == expected
    for latent in by_role(graph, "latent"):
        assert {graph.nodes[node]["role"] for node in graph.predecessors(latent)} >= {"input"}
        assert {graph.nodes[node]["role"] for node in graph.successors(latent)} >= {"output"}


@pytest.mark.parametrize("dataset", ["matrix", "gaussian", "or", "logic"])
def test_grid_equals_the_literal_version(dataset):
    simulation = make_dataset(dataset, samples=1000, seed=1)
    x, y = simulation.x.to_numpy(float), simulation.y.to_numpy(float)
    names = names_of(x, y)
    data = correlate(x, y, *names)
    for alpha_pc in ALPHAS_PC:
        for alpha_sober in ALPHAS_SOBER:
            graph = detect_from_correlations(data, alpha_pc=alpha_pc, alpha_sober=alpha_sober)
            assert number_edges(graph, *names) == literal_dm(x, y, alpha_pc, alpha_sober)
