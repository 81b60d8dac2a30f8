import matplotlib
import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.graphs.protocol import reach_vectors, score_hidden, truth_patterns
from rinn.nets.maps import NetMaps, map_net
from rinn.nets.redundant import Weights, draw_weights
from rinn.nets.selection import average_splits, select_nearest
from rinn.report.figures.architecture import architecture_info, plot_architecture
from rinn.report.figures.canvas import encode_figure
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.schematic import SchematicInfo, plot_schematic
from rinn.report.figures.selection import find_arcs, find_limits, plot_selection
from rinn.report.figures.strips import plot_strips, strips_info
from rinn.report.info import curves_info, selection_info
from tiny_graphs import PAPER_LATENTS, make_graph, paper_truth

INPUTS, OUTPUTS = [f"x{i}" for i in range(16)], [f"y{i}" for i in range(16)]


def texts(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


def tiny_net():
    """Two hidden layers of two; input b enters the second; one edge leads nowhere."""
    into = np.zeros((2, 2, 2))
    into[0, 0, 0] = 1.0  # a to hidden 1.1
    into[0, 1, 1] = 1.0  # b to hidden 1.2, which nothing reads
    into[1, 1, 1] = -2.0  # b to hidden 2.2
    hidden = np.array([[[1.5, 0.0], [0.01, 0.0]]])  # 1.1 to 2.1, and a weight near zero
    output = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    return Weights(into, hidden, output, np.zeros((2, 2)), np.zeros(3))


def test_active_edges_are_on_a_path_from_an_input_to_an_output():
    info = architecture_info(tiny_net(), ["a", "b"], ["p", "q", "r"])
    found = {(e.row, e.source, e.target, e.weight, e.redundant) for e in info.edges}
    assert found == {
        (0, 0, 0, 1.0, True),
        (1, 0, 0, 1.5, False),
        (1, 1, 1, -2.0, True),
        (2, 0, 0, 2.0, False),
        (2, 1, 1, 1.0, False),
    }
    assert info.hidden.tolist() == [[True, False], [True, True]]
    assert info.inputs.tolist() == [[True, False], [False, True]]
    assert info.outputs.tolist() == [True, True, False]
    assert info.weights == 8 + 4 + 6
    assert "5 of 18 weights are active" in info.note


def test_a_fraction_of_zero_keeps_every_weight_on_a_path():
    weights = draw_weights(np.random.default_rng(0), "he", 3, 4, 5, 6)
    info = architecture_info(weights, INPUTS[:5], OUTPUTS[:6], fraction=0.0)
    assert len(info.edges) == info.weights


@pytest.mark.parametrize(
    ("inputs", "outputs", "redundant"), [(3, 2, True), (90, 84, True), (30, 5, False)]
)
def test_architectures_are_drawn(inputs, outputs, redundant):
    weights = draw_weights(
        np.random.default_rng(0), "he", 3, 8, inputs, outputs, redundant=redundant
    )
    names = [f"gene {i}" for i in range(inputs)], [f"$y_{i}$" for i in range(outputs)]
    figure = plot_architecture(architecture_info(weights, *names, fraction=0.3), title="a net")
    assert encode_figure(figure, "png")
    assert ("only" in " ".join(texts(figure))) == (inputs > 24)


def test_names_must_fit_the_network():
    with pytest.raises(InputError, match="must name the 2 inputs and 3 outputs"):
        architecture_info(tiny_net(), ["a"], ["p"])
    with pytest.raises(InputError, match="fraction must be a number of at least 0 and below 1"):
        architecture_info(tiny_net(), ["a", "b"], ["p", "q", "r"], fraction=1.0)
    with pytest.raises(InputError, match="must name the rows and columns of the maps, 2 and 3"):
        strips_info(map_net(tiny_net()), ["a"], ["p"])


def paper_maps(noise=0.05, sign=1.0):
    """A net whose second layer shows every latent of the paper, whose first shows nothing."""
    rng = np.random.default_rng(0)
    truth = paper_truth()
    hidden = np.zeros((2, 12, 16))
    latents = ["16", "17", "18", "19", "21", "22", "24"]
    hidden[1, :7] = sign * reach_vectors(truth, latents, OUTPUTS)
    hidden[1] += noise * rng.normal(size=(12, 16))
    hidden[1, 8, :3] = 1.0  # matches nothing
    inputs = reach_vectors(truth, INPUTS, OUTPUTS).astype(float)
    inputs[0] = 0.0
    return NetMaps(hidden, inputs, np.stack([np.zeros_like(inputs), inputs])), truth


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_nodes_that_show_a_true_pattern_are_marked(sign):
    maps, truth = paper_maps(sign=sign)
    info = strips_info(maps, INPUTS, OUTPUTS, truth=truth, thresholds=(0.5, 0.5))
    marks = [node.match for node in info.strips[1].hidden]
    assert marks == ["20", "17", "23", "19", "21", "22", "24", "", "", "", "", ""]
    assert (info.found, info.patterns) == (7, 7)
    bits = np.abs(maps.nodes) > 0.5
    assert score_hidden(bits, truth_patterns(truth, OUTPUTS, INPUTS)).tp == info.found
    assert [strip.label for strip in info.strips] == ["h₁", "h₂", "sum"]
    assert info.strips[0].hidden == ()
    assert [bool(node.match) for node in info.strips[2].inputs] == [False] + 15 * [True]


def test_without_a_truth_nothing_is_marked():
    maps, _ = paper_maps()
    info = strips_info(maps, INPUTS, OUTPUTS)
    assert info.thresholds is None
    assert not any(node.match for strip in info.strips for node in (*strip.hidden, *strip.inputs))
    assert info.notes == ()


def test_thresholds_chosen_with_sight_of_the_truth_are_said_to_be():
    maps, truth = paper_maps()
    figure = plot_strips(strips_info(maps, INPUTS, OUTPUTS, truth=truth), title="strips")
    assert "chosen with knowledge of the truth" in " ".join(texts(figure))
    assert set(PAPER_LATENTS) - {"16", "18"} <= set(texts(figure))
    assert encode_figure(figure, "png")
    assert strips_info(maps, INPUTS, OUTPUTS, truth=truth).found == 7


def test_negative_cells_have_a_dash():
    maps, _ = paper_maps(sign=-1.0)
    axes = plot_strips(strips_info(maps, INPUTS, OUTPUTS)).axes[0]
    dashes = [c for c in axes.collections if type(c).__name__ == "LineCollection"]
    expected = int((maps.hidden < -0.5).sum())
    assert expected > 30
    assert sum(len(c.get_segments()) for c in dashes) == expected


def test_many_inputs_leave_room_for_those_of_the_truth():
    truth = make_graph([("x599", "h"), ("h", "y0"), ("h", "y1"), ("h", "y2")], "h")
    rng = np.random.default_rng(0)
    inputs, outputs = [f"x{i}" for i in range(600)], [f"y{i}" for i in range(40)]
    by_layer = rng.normal(size=(2, 600, 40))
    by_layer[:, 599] *= 0.001
    maps = NetMaps(rng.normal(size=(2, 30, 40)), by_layer.sum(axis=0), by_layer)
    info = strips_info(maps, inputs, outputs, truth=truth, thresholds=(1.0, 1.0))
    assert info.strips[0].inputs[-1].name == "x599"
    assert info.inputs_left_out == 594
    assert "594 more inputs are not drawn." in info.notes
    figure = plot_strips(info)
    assert figure.get_size_inches()[0] < 9  # a cell is a millimetre on a page
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {*outputs, "which cell is which output"} <= set(words)  # the key
    assert encode_figure(figure, "svg")


def test_schematic_reads_inputs_again_at_every_hidden_layer_but_the_first():
    for layers, copies in ((1, 0), (2, 1), (3, 2), (8, 3)):
        axes = plot_schematic(SchematicInfo(650, layers, 12, 3)).axes[0]
        squares = [line for line in axes.lines if line.get_marker() == "s"]
        assert len(squares) == 1 + copies
        words = [text.get_text() for text in axes.texts]
        assert {"650", "12", "3", f"hidden {layers}"} <= set(words)
        assert ("…" in words) == (layers > 4)
    outputs = next(line for line in axes.lines if line.get_marker() == "D")
    assert len(outputs.get_xdata()) == 3


def test_decoders_and_plain_nets_have_strips():
    nothing = np.zeros((0, 16))
    decoder = NetMaps(paper_maps()[0].hidden, nothing, nothing[None])
    assert [s.label for s in strips_info(decoder, INPUTS, OUTPUTS).strips] == ["h₁", "h₂"]
    info = strips_info(decoder, INPUTS, OUTPUTS, truth=paper_truth())
    assert encode_figure(plot_strips(info), "png")
    weights = draw_weights(np.random.default_rng(0), "he", 2, 4, 16, 16, redundant=False)
    info = strips_info(map_net(weights), INPUTS, OUTPUTS, truth=paper_truth())
    assert [len(strip.inputs) for strip in info.strips] == [16, 0]


def trials_table(settings=30, kept="accurate"):
    rng = np.random.default_rng(0)
    setting = np.repeat(np.arange(settings), 2)
    loss = rng.uniform(0.5, 0.8, 2 * settings)
    size = rng.uniform(20, 200, 2 * settings)
    loss[4] = np.nan
    chosen = select_nearest(average_splits(loss, setting), size)
    table = pd.DataFrame({
        "setting": setting, "sum_abs_weights": size, "validation_loss": loss,
        "distance": np.where(np.isfinite(chosen.distance), chosen.distance, np.nan),
    })  # fmt: skip
    best = np.argsort(average_splits(loss, setting))[:20]
    table["kept"] = np.isin(np.arange(len(table)), chosen.chosen if kept == "paper" else best)
    return table, chosen


@pytest.mark.parametrize("kept", ["accurate", "paper"])
def test_selection_marks_the_kept_and_the_nearest(kept):
    table, chosen = trials_table(kept=kept)
    info = selection_info(table)
    assert info.diverged == 2  # both networks of the setting
    assert len(info.size) == 58
    assert info.kept.sum() == (10 if kept == "paper" else 20)
    places = np.flatnonzero(np.isfinite(average_splits(table["validation_loss"].to_numpy(),
                                                       table["setting"].to_numpy())))  # fmt: skip
    assert set(places[info.nearest]) == set(chosen.chosen)
    assert info.same == (kept == "paper")
    figure = plot_selection(info, title="$selection$")
    assert encode_figure(figure, "png")
    words = texts(figure)
    assert any("kept for the graph" in text for text in words)
    assert any("nearest" in text for text in words) == (kept == "accurate")
    assert "2 diverged, not drawn" in words


def test_distance_arcs_pass_through_the_networks_at_their_distance():
    info = selection_info(trials_table()[0])
    near = np.isfinite(info.distance)
    x = (info.size[near] - info.origin[0]) / info.scale[0]
    y = (info.loss[near] - info.origin[1]) / info.scale[1]
    np.testing.assert_allclose(np.hypot(x, y), info.distance[near], rtol=1e-9)
    assert find_arcs(info)[2] == info.distance[info.nearest].max()
    x0, x1, y0, y1 = find_limits(info)
    marked = info.kept | info.nearest
    assert ((info.size[marked] > x0) & (info.size[marked] < x1)).all()
    assert ((info.loss[marked] > y0) & (info.loss[marked] < y1)).all()


def test_selection_bears_outliers_one_network_and_no_distance():
    table, _ = trials_table()
    table.loc[10, "sum_abs_weights"] = 1e7
    figure = plot_selection(selection_info(table))
    assert figure.axes[0].get_xscale() == "log"
    assert encode_figure(figure, "png")
    assert encode_figure(plot_selection(selection_info(table.iloc[:1])), "png")
    info = selection_info(table.assign(distance=np.nan, kept=False))
    assert encode_figure(plot_selection(info), "png")


def test_selection_refuses_other_tables():
    table, _ = trials_table()
    with pytest.raises(InputError, match="'distance' is missing"):
        selection_info(table.drop(columns="distance"))
    with pytest.raises(InputError, match="all did"):
        selection_info(table.assign(validation_loss=np.nan))


def curves_table():
    rows = [(trial, epoch, 3.0 / epoch, 3.0 / epoch + trial)
            for trial in (3, 5) for epoch in range(1, 4 + trial)]  # fmt: skip
    return pd.DataFrame(rows, columns=["trial", "epoch", "train_loss", "validation_loss"])


def test_curves_are_read_and_summed_up():
    table = curves_table().sample(frac=1, random_state=0)
    info = curves_info(table)
    assert [curve.trial for curve in info.curves] == [3, 5]
    assert info.curves[0].epoch.tolist() == [1, 2, 3, 4, 5, 6]
    assert info.validation[0] == 3.0 + 4.0
    # Trial 3 stopped after six epochs and stays at 0.5 + 3.
    assert info.validation[-1] == pytest.approx((3.5 + 3.0 / 8 + 5) / 2)
    assert info.logarithmic
    figure = plot_curves(info, title="curves")
    assert len(figure.axes[0].lines) == 2 * 2 + 2
    assert encode_figure(figure, "pdf")


def test_curves_bear_losses_that_are_missing_and_single_epochs():
    table = curves_table()
    table.loc[0, "train_loss"] = np.nan
    table.loc[table["trial"] == 5, "validation_loss"] = np.inf
    assert [curve.trial for curve in curves_info(table).curves] == [3]
    assert encode_figure(plot_curves(curves_info(table[table["epoch"] == 1])), "png")


def test_curves_refuse_other_tables():
    with pytest.raises(InputError, match="'epoch' is missing"):
        curves_info(curves_table().drop(columns="epoch"))
    with pytest.raises(InputError, match="there is none in it"):
        curves_info(curves_table().assign(validation_loss=np.nan))
