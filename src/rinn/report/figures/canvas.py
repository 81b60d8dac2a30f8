"""What all figures share: colours, text that stays text, sheets in inches, files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.textpath import TextToPath

from rinn.config import check_choice
from rinn.errors import InputError
from rinn.files import check_target, replace_file

# The palette of Okabe and Ito (2008), distinct for every common colour blindness.
BLUE, ORANGE, GREEN, SKY = "#0072B2", "#E69F00", "#009E73", "#56B4E9"
VERMILION, PURPLE = "#D55E00", "#CC79A7"
INK, GREY, PALE, WHITE = "#222222", "#7a7a7a", "#d4d4d4", "#ffffff"

FONT = "DejaVu Sans"  # comes with Matplotlib, so figures look the same on every machine
SMALL, NORMAL, LARGE = 6.5, 8.0, 9.5  # points
DPI = 300
MAX_LETTERS = 120
POINTS = 72.0
MARGIN = 0.15  # inches
TITLE, NOTE_LINE = 0.3, 0.15  # inches that a title and a line of a note take

FORMATS = ("svg", "png", "pdf")

# What would differ from one second or release to the next.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def make_figure(width: float, height: float) -> Figure:
    """Make an empty white figure outside of pyplot's state."""
    figure = Figure(figsize=(width, height), dpi=DPI)
    figure.set_layout_engine("none")  # whatever the user's style asks for
    figure.set_facecolor(WHITE)
    return figure


def make_sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure with one set of axes over all of it: units are inches, y runs down."""
    figure = make_figure(width, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(height, 0.0)
    axes.set_axis_off()
    return figure, axes


def dress_axes(axes: Axes, x_label: str = "", y_label: str = "") -> None:
    """Give axes the look of all figures, whatever the user's style is."""
    axes.set_facecolor(WHITE)
    axes.grid(False)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
        spine.set_linewidth(0.8)
    axes.tick_params(which="both", labelsize=SMALL + 0.5, labelcolor=INK, labelfontfamily=FONT,
                     color=GREY, direction="out", top=False, right=False)  # fmt: skip
    style: dict[str, Any] = {"fontfamily": FONT, "fontsize": NORMAL, "color": INK}
    axes.set_xlabel(x_label, **style)
    axes.set_ylabel(y_label, **style)


def write(axes: Axes, x: float, y: float, text: str, size: float = NORMAL, **changes: Any) -> Text:
    """Write text as it is: no mathematics, no markup, one line."""
    style: dict[str, Any] = {"color": INK, "va": "center", "fontfamily": fonts()} | changes
    return axes.text(x, y, text, fontsize=size, parse_math=False, usetex=False, **style)


def add_legend(parent: Axes | Figure, handles: Sequence[Any], **changes: Any) -> None:
    """Add a legend without a frame in the font of the figures."""
    style: dict[str, Any] = {
        "frameon": False,
        "prop": FontProperties(family=fonts(), size=SMALL + 0.5),
        "labelcolor": INK,
        "handlelength": 2.4,
        "columnspacing": 1.6,
        "borderaxespad": 0.0,
        "borderpad": 0.2,
    }
    legend = parent.legend(handles=list(handles), **style | changes)
    for text in legend.get_texts():
        text.set_parse_math(False)


def fit_text(text: str, width: float, size: float = NORMAL) -> str:
    """Spell out what the font cannot show, and shorten the text to a width."""
    line = spell(text)
    if measure(line, size) <= width:
        return line
    low, high = 0, len(line)
    while high - low > 1:
        middle = (low + high) // 2
        fits = measure(f"{line[:middle]}…", size) <= width
        low, high = (middle, high) if fits else (low, middle)
    return f"{line[:low].rstrip()}…"


def wrap_text(text: str, width: float, size: float = SMALL) -> list[str]:
    """Break a sentence into lines of a width in inches."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(fit_text(word, width, size))
    return lines


def label(axes: Axes, x: float, y: float, text: str, size: float = NORMAL) -> None:
    """Write a grey label from its left end."""
    write(axes, x, y, text, size, ha="left", color=GREY)


def write_lines(axes: Axes, x: float, y: float, lines: Sequence[str]) -> None:
    """Write the lines of a note, one below the other."""
    for number, line in enumerate(lines):
        label(axes, x, y + NOTE_LINE * number, line, SMALL)


def write_title(axes: Axes, title: str, width: float) -> None:
    """Write the title of a sheet; an empty one takes no room."""
    if title:
        line = fit_text(title, width - 2 * MARGIN, LARGE)
        write(axes, MARGIN, 0.2, line, LARGE, ha="left", fontweight="bold")


def title_figure(figure: Figure, title: str) -> None:
    """Write the title of a figure that is not a sheet; an empty one takes no room."""
    width, height = figure.get_size_inches()
    line = fit_text(title, width - 2 * MARGIN, LARGE)
    figure.text(MARGIN / width, 1 - 0.2 / height, line, va="center", fontsize=LARGE,
                fontweight="bold", color=INK, fontfamily=fonts(), parse_math=False)  # fmt: skip


def spell(text: str) -> str:
    r"""Make one line of letters that the font has; others are spelled out, as `\U0001f9ec`."""
    if len(text) > MAX_LETTERS:
        text = text[: MAX_LETTERS - 1] + "…"
    available = _find_letters(tuple(fonts()))
    line = " ".join(text.split())
    return "".join(
        a if a.isprintable() and ord(a) in available else a.encode("unicode_escape").decode()
        for a in line
    )


def measure(text: str, size: float = NORMAL) -> float:
    """Measure a line of text in inches."""
    return _measure(text, size, tuple(fonts())) if text else 0.0


def find_widest(names: Iterable[str], width: float, size: float) -> float:
    """The widest of these names in inches, each shortened to a width."""
    return max((measure(fit_text(name, width, size), size) for name in names), default=0.0)


@lru_cache(maxsize=10_000)
def _measure(text: str, size: float, families: tuple[str, ...]) -> float:
    wanted = FontProperties(family=list(families), size=size)
    return float(TextToPath().get_text_width_height_descent(text, wanted, False)[0]) / POINTS


def fonts() -> list[str]:
    """List the families that letters are taken from: ours, then those of the user's rcParams."""
    return list(_installed(tuple(matplotlib.rcParams["font.family"])))


@lru_cache
def _installed(wanted: tuple[str, ...]) -> tuple[str, ...]:
    installed = set(font_manager.get_font_names())
    return (FONT, *(name for name in wanted if name in installed and name != FONT))


@lru_cache
def _find_letters(families: tuple[str, ...]) -> frozenset[int]:
    paths = [font_manager.findfont(FontProperties(family=name)) for name in families]
    return frozenset(code for path in paths for code in FT2Font(path).get_charmap())


def scale_figure(figure: Figure, width: float | None, font_size: float | None) -> None:
    """Give a figure a width in inches, and its usual text a size in points.

    With a font size alone, the figure grows with its text.
    """
    wide, high = figure.get_size_inches()
    text = (font_size or NORMAL) / NORMAL
    scale = width / wide if width else text
    text = text if font_size else scale
    figure.set_size_inches(wide * scale, high * scale)
    for artist in figure.findobj():
        if isinstance(artist, Text):
            artist.set_fontsize(float(artist.get_fontsize()) * text)
        elif isinstance(artist, Patch | Line2D):
            artist.set_linewidth(artist.get_linewidth() * scale)
        elif isinstance(artist, Collection):
            artist.set_linewidth([width * scale for width in np.atleast_1d(artist.get_linewidth())])
        if isinstance(artist, Line2D):
            artist.set_markersize(artist.get_markersize() * scale)


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = DPI) -> None:
    """Write a figure as .png, .svg or .pdf, drawn before the file is touched; bytes are stable."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(
            f"path must end in .svg, .png or .pdf, got {path.name!r}; name another file"
        )
    check_target(path)
    replace_file(path, encode_figure(figure, kind, dpi=dpi))


def encode_figure(figure: Figure, kind: str, *, dpi: float = DPI) -> bytes:
    """Turn a figure into the content of a file."""
    check_choice("format", kind, FORMATS)
    content = io.BytesIO()
    # Text stays text in SVG and PDF. Ids in an SVG are random without a salt; there is no other way
    # to give one. The user's settings are back when this ends.
    style: dict[Any, Any] = {"svg.hashsalt": "rinn", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(style):
        figure.savefig(content, format=kind, dpi=dpi, facecolor="white", metadata=_METADATA[kind])
    return content.getvalue()
