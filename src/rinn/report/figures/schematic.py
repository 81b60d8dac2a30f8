"""What a redundant-input network is: every hidden layer reads the inputs again."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rinn.report.figures import canvas

COLUMN, ROW = 1.15, 0.3  # inches
SHOWN = 4  # nodes of a layer; dots stand for the others
MAX_LAYERS = 4  # of more layers, the last stands for the rest


@dataclass(frozen=True)
class SchematicInfo:
    """The numbers of inputs, hidden layers, nodes of a hidden layer, and outputs."""

    inputs: int
    layers: int
    width: int
    outputs: int


def plot_schematic(info: SchematicInfo, *, title: str = "") -> Figure:
    """Draw the layers from left to right, and below each hidden layer the inputs it reads again."""
    layers = min(info.layers, MAX_LAYERS)
    names = [*(f"hidden {n}" for n in range(1, layers)), f"hidden {info.layers}"][-layers:]
    width = 2 * canvas.MARGIN + COLUMN * (layers + 1) + 1.6
    top = 0.55 + canvas.TITLE * bool(title)
    notes = canvas.wrap_text(
        "Each hidden layer reads the layer before it and all inputs again, so that an input can "
        "act on a latent at any depth. An L1 penalty on the weights leaves few edges; hidden nodes "
        "with the same effects on the outputs are candidates for one latent.",
        width - 3 * canvas.MARGIN,
    )
    height = top + ROW * (2 * SHOWN + 2) + 0.35 + canvas.NOTE_LINE * (len(notes) + 1)
    figure, axes = canvas.make_sheet(width, height)
    canvas.write_title(axes, title, width)
    sheet = _Sheet(axes, top, top + ROW * (SHOWN + 1.6))
    xs = [canvas.MARGIN + 0.8 + COLUMN * number for number in range(layers + 2)]
    sheet.draw_column(xs[0], "inputs", info.inputs, "s")
    before = info.inputs
    for number, name in enumerate(names, 1):
        sheet.draw_column(xs[number], name, info.width, "o")
        sheet.connect((xs[number - 1], before), (xs[number], info.width))
        before = info.width
        if number > 1:
            x = xs[number] - 0.62 * COLUMN
            sheet.draw_copy(x, info.inputs)
            sheet.connect((x, info.inputs), (xs[number], info.width), copied=True)
    if info.layers > layers:
        canvas.write(axes, (xs[-3] + xs[-2]) / 2, top - 0.3, "…", canvas.LARGE, ha="center")
    sheet.draw_column(xs[-1], "outputs", info.outputs, "D")
    sheet.connect((xs[-2], info.width), (xs[-1], info.outputs))
    corner = (canvas.MARGIN / width, (0.2 + canvas.NOTE_LINE * len(notes)) / height)
    canvas.add_legend(figure, _list_handles(), loc="lower left", ncols=3, bbox_to_anchor=corner)
    canvas.write_lines(axes, canvas.MARGIN, height - canvas.NOTE_LINE * len(notes), notes)
    return figure


class _Sheet:
    """Columns of nodes; copies of the inputs are below."""

    def __init__(self, axes: Axes, top: float, below: float) -> None:
        self.axes, self.top, self.below = axes, top, below

    def _find_heights(self, first: float) -> list[float]:
        return [first + ROW * (number + (number == SHOWN - 1)) for number in range(SHOWN)]

    def draw_column(self, x: float, name: str, size: int, marker: str) -> None:
        canvas.write(self.axes, x, self.top - 0.3, name, canvas.NORMAL, ha="center")
        canvas.write(self.axes, x, self.top - 0.16, f"{size:,}", canvas.SMALL, ha="center",
                     color=canvas.GREY)  # fmt: skip
        self._draw_nodes(x, self._find_heights(self.top), size, marker, canvas.INK)

    def draw_copy(self, x: float, size: int) -> None:
        self._draw_nodes(x, self._find_heights(self.below), size, "s", canvas.BLUE)

    def _draw_nodes(self, x: float, ys: list[float], size: int, marker: str, colour: str) -> None:
        shown = ys if size > SHOWN else ys[:size]
        self.axes.plot([x] * len(shown), shown, marker, markersize=6, color=colour, zorder=3)
        if size > SHOWN:
            middle = (ys[-2] + ys[-1]) / 2
            canvas.write(self.axes, x, middle, "⋮", canvas.LARGE, ha="center", color=canvas.GREY)

    def connect(
        self, left: tuple[float, int], right: tuple[float, int], *, copied: bool = False
    ) -> None:
        (x0, starts), (x1, ends) = left, right  # where, and of how many nodes
        above = self._find_heights(self.below if copied else self.top)[:starts]
        beside = self._find_heights(self.top)[:ends]
        lines = [[(x0, a), (x1, b)] for a in above for b in beside]
        colour = canvas.BLUE if copied else canvas.GREY
        self.axes.add_collection(LineCollection(lines, linewidths=0.5, colors=colour, alpha=0.55,
                                                zorder=1))  # fmt: skip


def _list_handles() -> list[Line2D]:
    return [
        Line2D([], [], marker="s", linestyle="none", color=canvas.INK, label="input"),
        Line2D([], [], marker="s", linestyle="none", color=canvas.BLUE, label="input, read again"),
        Line2D([], [], marker="o", linestyle="none", color=canvas.INK, label="hidden node"),
    ]
