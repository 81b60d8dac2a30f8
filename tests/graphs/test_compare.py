import json

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinn.errors import InputError
from rinn.graphs.basics import by_role, collapse, reach
from rinn.graphs.compare import match_latents, score_graph
from rinn.graphs.protocol import Score
from tiny_graphs import graphs, make_graph, paper_truth, same

PERFECT = (1.0, 1.0, 1.0)
OUTPUTS = ["y0", "y1", "y2"]
CHAIN = make_graph(
    [("x0", "a"), ("x1", "b"), ("a", "b"), ("a", "y3"), *(("b", y) for y in OUTPUTS)]
)


def figures(score):
    return score.precision, score.recall, score.f1


def test_collapsed_paper_graph_is_perfect():
    scores = score_graph(collapse(paper_truth()), paper_truth())
    assert (
        figures(scores.latents) == figures(scores.edges) == figures(scores.latent_edges) == PERFECT
    )
    assert (scores.edges.tp, scores.latent_edges.tp, scores.shd, scores.order_errors) == (
        45,
        4,
        0,
        0,
    )


def test_duplicates_in_the_found_graph_are_wrong():
    scores = score_graph(paper_truth(), paper_truth())
    assert (scores.latents.tp, scores.latents.fp, scores.latents.fn) == (7, 2, 0)
    # 18 and 16 stay unmatched, since 20 and 23 have the truth's outputs as children.
    assert sorted(found for found, _ in scores.pairs) == ["17", "19", *map(str, range(20, 25))]
    # x0 -> 16, 16 -> 20, x3 -> 18, 18 -> 23 are extra; x0 -> 20 and x3 -> 23 are missing.
    assert (scores.edges.tp, scores.edges.fp, scores.edges.fn, scores.shd) == (43, 4, 2, 6)


def test_an_empty_graph_finds_nothing():
    scores = score_graph(nx.DiGraph(), paper_truth())
    zero = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert scores.to_json() == {
        "latents": zero,
        "edges": zero,
        "latent_edges": zero,
        "shd": 45,
        "order_errors": 0,
        "twins": 0,
        "twins_found": 0,
    }
    json.dumps(scores.to_json())


def test_nothing_to_find_and_nothing_found_is_perfect():
    direct = make_graph([("x0", "y0")])
    scores = score_graph(direct, direct)
    assert scores.latents == scores.latent_edges == Score(1.0, 1.0, 1.0, tp=0, fp=0, fn=0)


def test_a_missing_and_an_extra_edge_on_a_chain():
    found = nx.relabel_nodes(CHAIN, {"a": "L2", "b": "L1"})
    found.remove_edge("x1", "L1")
    found.add_edge("x1", "L2")
    scores = score_graph(found, CHAIN)
    assert scores.pairs == (("L1", "b"), ("L2", "a"))
    assert (scores.edges.tp, scores.edges.fp, scores.edges.fn, scores.shd) == (6, 1, 1, 2)
    assert figures(scores.latent_edges) == PERFECT


def test_names_say_nothing_about_the_order():
    found = nx.relabel_nodes(CHAIN, {"a": "b", "b": "a"})
    scores = score_graph(found, CHAIN)
    assert scores.pairs == (("a", "b"), ("b", "a"))
    assert (scores.shd, scores.order_errors) == (0, 0)


def test_a_reversed_edge_counts_once_and_is_an_order_error():
    truth = make_graph([("a", "b"), ("a", "y3"), *(("b", y) for y in OUTPUTS)], outputs=["y4"])
    found = make_graph([("p", "q"), ("p", "y4"), *(("q", y) for y in OUTPUTS)])
    # p reaches y0 y1 y2 y4, one more than b; q reaches y0 y1 y2, one less than a.
    scores = score_graph(found, truth)
    assert dict(scores.pairs) == {"p": "b", "q": "a"}
    assert scores.order_errors == 1
    assert (scores.edges.tp, scores.edges.fp, scores.edges.fn) == (0, 5, 5)
    assert scores.shd == 9


def test_latents_match_within_one_output_if_half_is_shared():
    truth = make_graph([("a", "y0"), ("b", "y1"), ("b", "y2"), ("b", "y3")])
    assert match_latents(make_graph([("f", "y0"), ("f", "y9")]), truth) == [("f", "a")]
    assert match_latents(make_graph([("f", "y9")]), truth) == []
    assert match_latents(make_graph([("f", "y1"), ("f", "y2")]), truth) == [("f", "b")]
    assert match_latents(make_graph([("f", "y1")]), truth) == []


def test_equal_outputs_come_before_equal_inputs():
    truth = make_graph([("x0", "a"), *(("a", y) for y in OUTPUTS)])
    found = make_graph(
        [("x0", "f"), ("f", "y0"), ("f", "y1"), ("x1", "g"), *(("g", y) for y in OUTPUTS)]
    )
    assert match_latents(found, truth) == [("g", "a")]


def test_equal_inputs_decide_between_equal_outputs():
    truth = make_graph([("x0", "a"), *(("a", y) for y in OUTPUTS)])
    wide = [(latent, y) for latent in ("f", "g", "h") for y in OUTPUTS]
    found = make_graph([("x1", "f"), ("x0", "g"), ("x0", "h"), ("x1", "h"), *wide])
    assert match_latents(found, truth) == [("g", "a")]


def test_more_pairs_come_before_better_pairs():
    truth = make_graph([("a", "y0"), ("a", "y1"), ("b", "y0"), ("b", "y1"), ("b", "y2")])
    found = make_graph([("f", "y0"), ("f", "y1"), ("g", "y0")])
    assert dict(match_latents(found, truth)) == {"g": "a", "f": "b"}


def test_only_what_the_truth_knows_counts():
    found = nx.DiGraph(CHAIN)
    extra = [("x9", "a"), ("a", "gene"), ("x0", "m"), ("m", "gene"), ("x9", "gene"), ("a", "m")]
    found.add_node("gene", role="output")
    found.add_node("m", role="latent")
    found.add_node("x9", role="input")
    found.add_edges_from(extra)
    before = nx.DiGraph(found)
    scores = score_graph(found, CHAIN)
    assert figures(scores.latents) == figures(scores.edges) == PERFECT
    assert scores.shd == 0
    assert same(found, before)


def test_a_found_latent_may_bear_the_name_of_an_input():
    found = nx.relabel_nodes(CHAIN, {"x0": "gone", "a": "x0"})
    scores = score_graph(found, CHAIN)
    assert scores.pairs == (("b", "b"), ("x0", "a"))
    assert (scores.edges.fp, scores.edges.fn) == (0, 1)


def test_a_found_graph_may_have_a_cycle():
    found = nx.DiGraph(CHAIN)
    found.add_edge("b", "a")
    scores = score_graph(found, CHAIN)
    assert (scores.latents.tp, scores.shd, scores.order_errors) == (2, 1, 1)


def test_a_truth_with_a_cycle_is_refused():
    with pytest.raises(InputError, match="graph must have no cycle"):
        score_graph(CHAIN, make_graph([("a", "b"), ("b", "a")]))


@given(graphs())
def test_a_graph_equals_itself(truth):
    before = nx.DiGraph(truth)
    scores = score_graph(collapse(truth), truth)
    assert (
        figures(scores.latents) == figures(scores.edges) == figures(scores.latent_edges) == PERFECT
    )
    assert (scores.shd, scores.order_errors) == (0, 0)
    assert same(truth, before)


@given(graphs(), graphs(), st.permutations(range(5)), st.randoms())
def test_names_and_node_order_do_not_matter(found, truth, names, random):
    found = collapse(found)
    nodes, edges = list(found.nodes(data=True)), list(found.edges)
    random.shuffle(nodes)
    random.shuffle(edges)
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from(nodes)
    shuffled.add_edges_from(edges)
    renamed = nx.relabel_nodes(shuffled, {f"h{i}": f"latent {names[i]}" for i in range(5)})
    assert score_graph(renamed, truth).to_json() == score_graph(found, truth).to_json()


@given(graphs(), graphs())
def test_scores_agree_with_each_other(found, truth):
    scores = score_graph(found, truth)
    assert scores.edges.tp + scores.edges.fn >= collapse(truth).number_of_edges()  # more with twins
    assert max(scores.edges.fp, scores.edges.fn) <= scores.shd <= scores.edges.fp + scores.edges.fn
    assert scores.latents.tp == len({found for found, _ in scores.pairs})
    for name, true in scores.pairs:
        assert len(reach(found)[name] ^ reach(truth)[true]) <= 1
    assert scores.latents.tp + scores.latents.fn >= len(by_role(collapse(truth), "latent"))


def make_twins(*inputs, outputs=OUTPUTS):
    """Latents t0, t1 and so on with these inputs each, and all with the same outputs."""
    edges = [(f"x{i}", f"t{twin}") for twin, own in enumerate(inputs) for i in own]
    edges += [(f"t{twin}", output) for twin in range(len(inputs)) for output in outputs]
    return make_graph([*edges, ("x9", "h"), ("h", "y8"), ("h", "y9")])


TWINS = make_twins((0, 1), (2, 3, 4))


def test_twins_that_are_told_apart_are_right():
    scores = score_graph(nx.relabel_nodes(TWINS, {"t0": "L1", "t1": "L2"}), TWINS)
    assert figures(scores.latents) == figures(scores.edges) == PERFECT
    assert (scores.latents.tp, scores.shd, scores.twins, scores.twins_found) == (3, 0, 2, 2)
    assert {("L1", "t0"), ("L2", "t1")} < set(scores.pairs)


def test_twins_that_are_merged_are_scored_as_one():
    scores = score_graph(collapse(TWINS), TWINS)
    assert figures(scores.latents) == figures(scores.edges) == PERFECT
    assert (scores.latents.tp, scores.twins, scores.twins_found) == (2, 2, 0)


def test_one_twin_alone_is_found():
    found = nx.DiGraph(TWINS)
    found.remove_node("t0")
    scores = score_graph(found, TWINS)
    assert (scores.latents.f1, scores.twins, scores.twins_found) == (1, 2, 1)


def test_duplicates_with_the_wrong_inputs_are_no_twins():
    scores = score_graph(make_twins((0, 2), (1, 3, 4)), make_twins((0, 1), (2, 3, 4)))
    assert (scores.latents.tp, scores.latents.fp, scores.twins_found) == (2, 1, 0)


def test_two_of_three_twins():
    truth = make_twins((0, 1), (2, 3), (4, 5))
    found = make_twins((0, 1), (2, 3))
    scores = score_graph(found, truth)
    assert (scores.twins, scores.twins_found) == (3, 2)
    assert (scores.latents.tp, scores.latents.fp, scores.latents.fn) == (3, 0, 1)


def test_a_latent_above_another_with_the_same_outputs_is_no_twin():
    scores = score_graph(paper_truth(), paper_truth())
    assert (scores.twins, scores.twins_found) == (0, 0)


def test_only_the_twins_that_were_found_stay_apart():
    more = nx.relabel_nodes(
        make_twins((5, 6), (7, 8), outputs=["y4", "y5"]), {"t0": "u", "t1": "v"}
    )
    truth = nx.compose(TWINS, more)
    found = nx.contracted_nodes(truth, "u", "v")
    scores = score_graph(found, truth)
    assert figures(scores.latents) == figures(scores.edges) == PERFECT
    assert (scores.twins, scores.twins_found) == (4, 2)
