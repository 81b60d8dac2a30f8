import hashlib
import math
import os
import re
import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.graphs.compare import score_graph
from rinn.report.figures.canvas import encode_figure
from rinn.report.figures.comparison import comparison_info, plot_comparison
from rinn.report.figures.graph import graph_info, plot_graph
from rinn.report.figures.layers import layer_nodes
from rinn.report.figures.ordering import count_crossings, order_columns
from rinn.report.figures.patterns import patterns_info, plot_patterns
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


def test_width_is_effect_colour_is_sign_opacity_is_frequency():
    graph = make_graph(CHAIN)
    graph.edges["x0", "h"].update(weight=-2.0, frequency=0.5)
    graph.edges["h", "y0"].update(weight=0.5, frequency=1.0)
    edges = {(edge.source, edge.target): edge for edge in graph_info(graph).edges}
    assert (edges["x0", "h"].width, edges["x0", "h"].sign, edges["x0", "h"].opacity) == (1, -1, 0.5)
    assert (edges["h", "y0"].width, edges["h", "y0"].sign, edges["h", "y0"].opacity) == (0.25, 1, 1)
    assert (edges["h", "y1"].weight, edges["h", "y1"].sign) == (None, 0)


def test_thicker_lines_and_dashes_in_the_figure():
    graph = make_graph(CHAIN)
    nx.set_edge_attributes(graph, {("x0", "h"): -2.0, ("h", "y0"): 0.5, ("h", "y1"): 2.0}, "weight")
    patches = [p for p in plot_graph(graph).axes[0].patches if not p.get_fill()]
    widths = sorted(round(patch.get_linewidth(), 3) for patch in patches)
    assert widths[0] < widths[1] == widths[2]
    assert sum(patch.get_linestyle() not in ("-", "solid") for patch in patches) == 1


def test_numbers_that_are_not_finite_count_as_unknown():
    graph = make_graph(CHAIN)
    graph.edges["x0", "h"].update(weight=math.nan, frequency=math.inf)
    edge = graph_info(graph).edges[0]
    assert (edge.weight, edge.frequency, edge.sign, edge.opacity) == (None, None, 0, 1.0)


def test_latents_stand_by_causal_level():
    layers = graph_info(paper_truth()).layers
    assert [len(column) for column in layers.columns] == [16, 4, 5, 16]
    assert set(layers.columns[1]) == {"16", "17", "18", "19"}


def test_edges_pass_between_the_nodes_of_a_column():
    layers = layer_nodes(paper_truth())
    for route in layers.routes.values():
        for column, row in route[1:-1]:
            others = [layers.places[node][1] for node in layers.columns[round(column)]]
            assert min(abs(row - other) for other in others) > 0.5
    assert len(layers.routes["x6", "21"]) == 3


@given(graphs())
@settings(max_examples=40, deadline=None)
def test_layout_holds_for_any_graph(graph):
    layers = layer_nodes(graph)
    assert set(layers.places) == set(graph)
    assert set(layers.routes) == set(graph.edges)
    for column in layers.columns:
        rows = [layers.places[node][1] for node in column]
        assert all(later - earlier > 0.9 for earlier, later in pairwise(rows))
        assert all(0 <= row <= layers.rows for row in rows)
    for (source, target), route in layers.routes.items():
        assert route[0] == layers.places[source]
        assert route[-1] == layers.places[target]
        assert [round(place[0]) for place in route] == list(
            range(round(route[0][0]), round(route[-1][0]) + 1)
        )


def test_ordering_takes_crossings_away():
    graph = nx.DiGraph((f"a{i}", f"b{7 - i}") for i in range(8))
    columns = [[f"a{i}" for i in range(8)], [f"b{i}" for i in range(8)]]
    assert count_crossings(columns, graph) == 28
    assert count_crossings(order_columns(columns, graph), graph) == 0
    assert columns[1][0] == "b0"  # the argument is as it was


def test_a_large_graph_says_what_is_not_drawn():
    graph = large_graph()
    info = graph_info(graph)
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
    figure = plot_graph(graph)
    assert info.note in " ".join(texts(figure))


def test_limits_are_checked():
    with pytest.raises(InputError, match="max_drawn must be a whole number of at least 1, got 0"):
        graph_info(make_graph(CHAIN), max_drawn=0)
    with pytest.raises(InputError, match="unknown role"):
        plot_graph(_with_role("cause"))


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
    assert encode_figure(plot_graph(graph), "png")


def test_an_argument_stays_as_it_is():
    graph, truth = make_graph(CHAIN), paper_truth()
    before = nx.node_link_data(graph), nx.node_link_data(truth)
    plot_graph(graph)
    plot_comparison(graph, truth)
    plot_patterns(truth)
    assert (nx.node_link_data(graph), nx.node_link_data(truth)) == before


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name):
    graph = make_graph(CHAIN)
    graph = nx.relabel_nodes(graph, {"x0": name, "h": f"latent {name}", "y0": f"output {name}"})
    for figure in (
        plot_graph(graph, title=name),
        plot_comparison(graph, graph),
        plot_patterns(graph),
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
    found = [text for text in plot_graph(graph).findobj(matplotlib.text.Text)
             if text.get_text() == "$x_1$"]  # fmt: skip
    assert len(found) == 1
    assert not found[0].get_parse_math()


def test_emoji_that_the_font_lacks_are_spelled_out():
    graph = nx.relabel_nodes(make_graph(CHAIN), {"x0": "gene \U0001f9ec"})
    assert r"gene \U0001f9ec" in texts(plot_graph(graph))


def test_the_users_own_font_is_asked_for_letters_that_ours_lacks():
    letter = "\U0001d49c"  # a script A, in STIX alone of the fonts that come with Matplotlib
    graph = nx.relabel_nodes(make_graph(CHAIN), {"x0": letter})
    assert r"\U0001d49c" in texts(plot_graph(graph))
    with matplotlib.rc_context({"font.family": ["STIXGeneral"]}):
        figure = plot_graph(graph)
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
    patches = plot_comparison(found, truth).axes[0].patches
    edges = [patch for patch in patches if not patch.get_fill()]
    styles = {(str(patch.get_linestyle()), patch.get_edgecolor()) for patch in edges}
    assert len(styles) == 3


@given(graphs(), graphs())
@settings(max_examples=25, deadline=None)
def test_comparison_of_any_two_graphs(found, truth):
    info, scores = comparison_info(found, truth), score_graph(found, truth)
    counts = [info.count_edges(kind) for kind in ("right", "extra", "missed")]
    assert counts == [scores.edges.tp, scores.edges.fp, scores.edges.fn]
    assert set(info.layers.routes) == set(info.edges)


def test_an_edge_found_the_wrong_way_round_is_missed_and_extra():
    outputs = [f"y{i}" for i in range(6)]
    edges = [("x0", "a"), ("x1", "b"), ("a", "b"), *(("b", y) for y in outputs[:5]), ("a", "y5")]
    truth = make_graph(edges, "ab")
    turned = [edge for edge in edges if edge != ("a", "b")] + [("b", "a")]
    turned += [("a", y) for y in outputs[:5]]
    found = make_graph(turned, "ab")
    info = comparison_info(found, truth)
    assert info.edges["a", "b"] == "missed"
    assert info.edges["b", "a"] == "extra"
    assert encode_figure(plot_comparison(found, truth), "png")


def test_patterns_of_the_paper():
    info = patterns_info(paper_truth())
    by_name = dict(zip(info.names, info.latents.tolist(), strict=True))
    assert len(info.names) == 7
    assert ("16", "20") in by_name
    assert np.flatnonzero(by_name["24",]).tolist() == [5, 8, 9, 10, 13]
    assert info.inputs.shape == (16, 16)
    assert info.inputs[6].tolist() == by_name["21",]
    axes = plot_patterns(paper_truth()).axes[0]
    cells = next(c for c in axes.collections if c.get_array() is not None)
    assert len(cells.get_array()) == int(info.latents.sum() + info.inputs.sum())


def test_patterns_of_many_inputs_leave_out_those_without():
    info = patterns_info(large_graph())
    assert info.inputs.any(axis=1).all()
    assert info.inputs_without + len(info.input_names) == 650
    words = " ".join(texts(plot_patterns(large_graph())))
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
        "from tiny_graphs import paper_truth\n"
        "truth = paper_truth()\n"
        "found = nx.relabel_nodes(truth, {'24': 'L1'})\n"
        "figures = plot_graph(truth, max_drawn=15), plot_comparison(found, truth)\n"
        "print(*(hashlib.sha256(encode_figure(f, 'svg')).hexdigest() for f in figures))\n"
    )
    surroundings = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=surroundings, capture_output=True, text=True, check=True
    )
    figures = plot_graph(paper_truth(), max_drawn=15), plot_comparison(found, paper_truth())
    ours = [hashlib.sha256(encode_figure(figure, "svg")).hexdigest() for figure in figures]
    assert done.stdout.split() == ours


def test_global_state_stays_as_it_was():
    before = dict(matplotlib.rcParams)
    encode_figure(plot_graph(make_graph(CHAIN)), "svg")
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_a_style_of_the_users_does_not_change_the_figure():
    plain = encode_figure(plot_graph(make_graph(CHAIN)), "png")
    changes = {"lines.linewidth": 9, "text.color": "red", "figure.facecolor": "black",
               "figure.constrained_layout.use": True}  # fmt: skip
    with matplotlib.rc_context(changes):
        assert encode_figure(plot_graph(make_graph(CHAIN)), "png") == plain
