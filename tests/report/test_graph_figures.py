import hashlib
import math
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.graphs.compare import score_graph
from rinn.graphs.layout import layer_nodes
from rinn.report.figures.canvas import encode_figure
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.graph import plot_graph
from rinn.report.figures.patterns import patterns_info, plot_patterns
from rinn.report.info import comparison_info, graph_info
from tiny_graphs import graphs, make_graph, paper_truth

CHAIN = [("x0", "h"), ("h", "y0"), ("h", "y1")]
HOSTILE = ["$x_1$", r"$\frac{", "<script>alert(1)</script>", "\U0001f9ec \U0001f600", "n" * 300,
           "two\nlines", "a --> b", "中文", "bell\x07"]  # fmt: skip


def texts(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


def large_graph(inputs=650, latents=60, outputs=84):
    rng = np.random.default_rng(0)
    edges = [(f"x{i}", f"h{rng.integers(latents)}") for i in range(300)]
    edges += [(f"h{i}", f"h{i + 20}") for i in range(latents - 20)]
    edges += [(f"h{rng.integers(latents)}", f"y{i}") for i in range(outputs) for _ in range(3)]
    graph = make_graph(
        sorted(set(edges)),
        [f"h{i}" for i in range(latents)],
        [f"x{i}" for i in range(inputs)],
        [f"y{i}" for i in range(outputs)],
    )
    for edge in graph.edges:
        graph.edges[edge]["weight"] = float(rng.normal())
    return graph


def test_width_is_the_effect_relative_to_its_kind():
    graph = make_graph(CHAIN)
    graph.edges["x0", "h"].update(weight=-2.0, frequency=0.5)
    graph.edges["h", "y0"].update(weight=0.5, frequency=1.0)
    edges = {(edge.source, edge.target): edge for edge in graph_info(graph).edges}
    first, second = edges["x0", "h"], edges["h", "y0"]
    assert (first.width, first.sign, first.frequency) == (1, -1, 0.5)
    assert (second.width, second.sign, second.frequency) == (1, 1, 1)
    assert (edges["h", "y1"].weight, edges["h", "y1"].sign) == (None, 0)


def test_thicker_lines_and_dashes_in_the_figure():
    graph = make_graph(CHAIN)
    nx.set_edge_attributes(graph, {("x0", "h"): -2.0, ("h", "y0"): 0.5, ("h", "y1"): 2.0}, "weight")
    patches = [p for p in plot_graph(graph_info(graph)).axes[0].patches if not p.get_fill()]
    widths = sorted(round(patch.get_linewidth(), 3) for patch in patches)
    assert widths[0] < widths[1] == widths[2]
    assert sum(patch.get_linestyle() not in ("-", "solid") for patch in patches) == 1


def test_numbers_that_are_not_finite_count_as_unknown():
    graph = make_graph(CHAIN)
    graph.edges["x0", "h"].update(weight=math.nan, frequency=math.inf)
    edge = graph_info(graph).edges[0]
    assert (edge.weight, edge.frequency, edge.sign) == (None, None, 0)


def test_a_large_graph_says_what_is_not_drawn():
    graph = large_graph()
    info = graph_info(graph, max_drawn=120)
    drawn = {role: len(by_role(info.graph, role)) for role in ("input", "latent", "output")}
    assert drawn["input"] == 120
    lone = sum(not graph.degree(node) for node in by_role(graph, "input"))
    assert info.without_edge["input"] == lone
    assert info.weaker["input"] == 650 - lone - 120
    strongest = {x: abs(graph.edges[e]["weight"]) for x in by_role(graph, "input")
                 for e in graph.out_edges(x)}  # fmt: skip
    kept = {x: strongest[x] for x in by_role(info.graph, "input")}
    assert min(kept.values()) >= max(v for x, v in strongest.items() if x not in kept)
    assert info.edges_left_out == graph.number_of_edges() - info.graph.number_of_edges()
    assert f"{lone} inputs without an edge" in info.note
    figure = plot_graph(info)
    assert info.note in " ".join(texts(figure))


def test_limits_are_checked():
    with pytest.raises(InputError, match="max_drawn must be a whole number of at least 1, got 0"):
        graph_info(make_graph(CHAIN), max_drawn=0)
    with pytest.raises(InputError, match="unknown role"):
        plot_graph(graph_info(_with_role("cause")))


def _with_role(role):
    graph = nx.DiGraph()
    graph.add_node("a", role=role)
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        nx.DiGraph(),
        make_graph([("h", "y0"), ("h", "y1")]),
        make_graph([("x0", "h")]),
        make_graph([], inputs=["x0"], outputs=["y0"]),
        make_graph([("x0", "y0")]),
    ],
    ids=["empty", "no input", "no output", "no edge", "no latent"],
)
def test_graphs_with_little_in_them_are_drawn(graph):
    assert encode_figure(plot_graph(graph_info(graph)), "png")


def test_an_argument_stays_as_it_is():
    graph, truth = make_graph(CHAIN), paper_truth()
    before = nx.node_link_data(graph), nx.node_link_data(truth)
    plot_graph(graph_info(graph))
    plot_comparison(comparison_info(graph, truth))
    plot_patterns(patterns_info(truth))
    assert (nx.node_link_data(graph), nx.node_link_data(truth)) == before


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name):
    graph = make_graph(CHAIN)
    graph = nx.relabel_nodes(graph, {"x0": name, "h": f"latent {name}", "y0": f"output {name}"})
    for figure in (
        plot_graph(graph_info(graph), title=name),
        plot_comparison(comparison_info(graph, graph)),
        plot_patterns(patterns_info(graph)),
    ):
        for kind in ("png", "svg", "pdf"):
            assert encode_figure(figure, kind)
        tree = ElementTree.fromstring(encode_figure(figure, "svg"))
        assert not [element for element in tree.iter() if "script" in element.tag.lower()]
        written = texts(figure)
        assert not any("\n" in text or "\x07" in text for text in written)
        assert (
            any(text.startswith(name[:2].rstrip("\n")) for text in written) or not name[0].isascii()
        )


def test_names_are_not_read_as_mathematics():
    graph = nx.relabel_nodes(make_graph(CHAIN), {"x0": "$x_1$"})
    found = [text for text in plot_graph(graph_info(graph)).findobj(matplotlib.text.Text)
             if text.get_text() == "$x_1$"]  # fmt: skip
    assert len(found) == 1
    assert not found[0].get_parse_math()


def test_emoji_that_the_font_lacks_are_spelled_out():
    graph = nx.relabel_nodes(make_graph(CHAIN), {"x0": "gene \U0001f9ec"})
    assert r"gene \U0001f9ec" in texts(plot_graph(graph_info(graph)))


def test_the_users_own_font_is_asked_for_letters_that_ours_lacks():
    letter = "\U0001d49c"  # a script A, in STIX alone of the fonts that come with Matplotlib
    graph = nx.relabel_nodes(make_graph(CHAIN), {"x0": letter})
    assert r"\U0001d49c" in texts(plot_graph(graph_info(graph)))
    with matplotlib.rc_context({"font.family": ["STIXGeneral"]}):
        figure = plot_graph(graph_info(graph))
        assert letter in texts(figure)
        assert encode_figure(figure, "png")


def test_comparison_counts_what_score_graph_counts():
    truth = paper_truth()
    found = nx.relabel_nodes(truth, {"24": "L1", "17": "L2"})
    found.remove_edges_from([("x1", "L2"), ("L1", "y5")])
    found.remove_node("20")
    found.add_edges_from([("x9", "23"), ("21", "22")])
    found.add_node("L9", role="latent")
    found.add_edges_from([("x0", "L9"), ("L9", "y3"), ("L9", "y9")])
    info, scores = comparison_info(found, truth), score_graph(found, truth)
    counts = [info.count_edges(kind) for kind in ("right", "extra", "missed")]
    assert counts == [scores.edges.tp, scores.edges.fp, scores.edges.fn]
    latents = [info.count_latents(kind) for kind in ("right", "extra", "missed")]
    assert latents == [scores.latents.tp, scores.latents.fp, scores.latents.fn]
    assert counts[1] > 0
    assert counts[2] > 0
    patches = plot_comparison(comparison_info(found, truth)).axes[0].patches
    edges = [patch for patch in patches if not patch.get_fill()]
    styles = {(str(patch.get_linestyle()), patch.get_edgecolor()) for patch in edges}
    assert len(styles) == 3


@given(graphs(), graphs())
@settings(max_examples=25, deadline=None)
def test_comparison_of_any_two_graphs(found, truth):
    info, scores = comparison_info(found, truth), score_graph(found, truth)
    counts = [info.count_edges(kind) for kind in ("right", "extra", "missed")]
    assert counts == [scores.edges.tp, scores.edges.fp, scores.edges.fn]
    routes = layer_nodes(info.graph, backward=info.backward).routes
    assert set(routes) == set(info.graph.edges)


def test_an_edge_found_the_wrong_way_round_is_missed_and_extra():
    outputs = [f"y{i}" for i in range(6)]
    edges = [("x0", "a"), ("x1", "b"), ("a", "b"), *(("b", y) for y in outputs[:5]), ("a", "y5")]
    truth = make_graph(edges, "ab")
    turned = [edge for edge in edges if edge != ("a", "b")] + [("b", "a")]
    turned += [("a", y) for y in outputs[:5]]
    found = make_graph(turned, "ab")
    info = comparison_info(found, truth)
    assert info.graph.edges["a", "b"]["kind"] == "missed"
    assert info.graph.edges["b", "a"]["kind"] == "extra"
    assert info.backward == {("b", "a")}
    assert encode_figure(plot_comparison(comparison_info(found, truth)), "png")


def test_patterns_of_the_paper():
    info = patterns_info(paper_truth())
    by_name = dict(zip(info.names, info.latents.tolist(), strict=True))
    assert len(info.names) == 7
    assert ("16", "20") in by_name
    assert np.flatnonzero(by_name["24",]).tolist() == [5, 8, 9, 10, 13]
    assert info.inputs.shape == (16, 16)
    assert info.inputs[6].tolist() == by_name["21",]
    axes = plot_patterns(patterns_info(paper_truth())).axes[0]
    cells = next(c for c in axes.collections if c.get_array() is not None)
    assert len(cells.get_array()) == int(info.latents.sum() + info.inputs.sum())


def test_patterns_of_many_inputs_leave_out_those_without():
    info = patterns_info(large_graph())
    assert info.inputs.any(axis=1).all()
    assert info.inputs_without + len(info.input_names) == 650
    words = " ".join(texts(plot_patterns(patterns_info(large_graph()))))
    assert re.search(rf"{info.inputs_without} inputs that reach no output", words)


def test_patterns_need_outputs():
    with pytest.raises(InputError, match="graph must have outputs"):
        patterns_info(make_graph([("x0", "h")]))


def test_every_process_draws_the_same_figure():
    """Sets of names are ordered anew in each process; figures must not be."""
    found = nx.relabel_nodes(paper_truth(), {"24": "L1"})
    script = (
        "import hashlib, networkx as nx\n"
        "from rinn.report.figures.canvas import encode_figure\n"
        "from rinn.report.figures.comparison import plot_comparison\n"
        "from rinn.report.figures.graph import plot_graph\n"
        "from rinn.report.info import comparison_info, graph_info\n"
        "from tiny_graphs import paper_truth\n"
        "truth = paper_truth()\n"
        "found = nx.relabel_nodes(truth, {'24': 'L1'})\n"
        "info = comparison_info(found, truth)\n"
        "figures = plot_graph(graph_info(truth, max_drawn=15)), plot_comparison(info)\n"
        "print(*(hashlib.sha256(encode_figure(f, 'svg')).hexdigest() for f in figures))\n"
    )
    surroundings = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=surroundings, capture_output=True, text=True, check=True
    )
    figures = (
        plot_graph(graph_info(paper_truth(), max_drawn=15)),
        plot_comparison(comparison_info(found, paper_truth())),
    )
    ours = [hashlib.sha256(encode_figure(figure, "svg")).hexdigest() for figure in figures]
    assert done.stdout.split() == ours


def test_global_state_stays_as_it_was():
    before = dict(matplotlib.rcParams)
    encode_figure(plot_graph(graph_info(make_graph(CHAIN))), "svg")
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_a_style_of_the_users_does_not_change_the_figure():
    plain = encode_figure(plot_graph(graph_info(make_graph(CHAIN))), "png")
    changes = {"lines.linewidth": 9, "text.color": "red", "figure.facecolor": "black",
               "figure.constrained_layout.use": True}  # fmt: skip
    with matplotlib.rc_context(changes):
        assert encode_figure(plot_graph(graph_info(make_graph(CHAIN))), "png") == plain
