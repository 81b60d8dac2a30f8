"""Figures to files: PNG, SVG and PDF that are the same to the byte each time."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from rinn.errors import InputError, suggest
from rinn.files import check_target, replace_file
from rinn.report.figures.canvas import DPI

FORMATS = ("svg", "png", "pdf")

# What would differ from one second or release to the next.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = DPI) -> None:
    """Write a figure as .png, .svg or .pdf; the suffix decides.

    The figure is drawn before the file is touched, so that a failure leaves an older file as it
    was. The same figure gives the same bytes.

    Args:
        figure: what one of the `plot_` functions returned.
        path: the file, replaced if it exists.
        dpi: dots per inch of a PNG, and of what is drawn as dots within the others.

    Raises:
        InputError: the suffix is unknown, the folder does not exist, or a folder, link or device
            has the name.

    Example:
        >>> save_figure(Figure(), "figure.bmp")
        Traceback (most recent call last):
        rinn.errors.InputError: path must end in .svg, .png or .pdf, got 'figure.bmp'; name \
another file
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(
            f"path must end in .svg, .png or .pdf, got {path.name!r}; name another file"
        )
    check_target(path)
    replace_file(path, encode_figure(figure, kind, dpi=dpi))


def encode_figure(figure: Figure, kind: str, *, dpi: float = DPI) -> bytes:
    """Turn a figure into the content of a file.

    Args:
        figure: what to draw; it is not changed.
        kind: svg, png or pdf.
        dpi: dots per inch.

    Returns:
        The bytes of the file.

    Raises:
        InputError: the format is unknown.

    Example:
        >>> encode_figure(Figure(figsize=(1, 1)), "png")[1:4]
        b'PNG'
    """
    if kind not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {kind!r}"
                         f"{suggest(kind, FORMATS, listed=False)}")  # fmt: skip
    content = io.BytesIO()
    # Ids in an SVG are random without a salt; there is no other way to give one. The user's
    # settings are back when this ends.
    with matplotlib.rc_context({"svg.hashsalt": "rinn", "svg.fonttype": "path"}):
        figure.savefig(content, format=kind, dpi=dpi, facecolor="white", metadata=_METADATA[kind])
    return content.getvalue()
