"""Draw the packages of rinn and what they import, read from the source: images/architecture.svg.

An import that follows from others is not drawn: where a imports b and b imports c, a may import c
too. Nor are errors, files and config, which every package may import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/rinn"
PICTURE = ROOT / "docs/images/architecture.svg"

BASE = ("errors", "files", "config")
# Column and row of each box, the row counted from below.
PLACES = {
    "data": (1, 0), "graphs": (2, 0), "nets": (1, 1), "simulate": (3, 1), "strategies": (1, 2),
    "structure": (1, 3), "refit": (2, 2), "pipeline": (1, 4), "runs": (1, 5), "report": (1, 6),
    "cluster": (0, 0), "fit": (2, 7), "estimators": (0, 8), "genomics": (1, 8), "compare": (2, 9),
    "paper": (3, 9), "cli": (1, 10),
}  # fmt: skip
BOX, GAP = (112, 30), (60, 34)
MARGIN = 16
HEAD = 7  # of an arrow


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(reduce_imports(read_imports())))


def read_imports() -> nx.DiGraph:
    """Which package or loose module of rinn imports which, anywhere in its files."""
    graph = nx.DiGraph()
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if name.startswith("__"):  # of rinn itself: the public names, and the command
            continue
        graph.add_node(name)
        others = {other.split(".")[1] for other in _list_imports(path) if other.startswith("rinn.")}
        graph.add_edges_from((name, other) for other in sorted(others - {name}))
    return graph


def _list_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def reduce_imports(graph: nx.DiGraph) -> nx.DiGraph:
    """The imports that are drawn: without those that follow from others."""
    upper = graph.subgraph([name for name in graph if name not in BASE])
    return nx.transitive_reduction(upper)


def draw(graph: nx.DiGraph) -> str:
    """The picture as SVG; every arrow carries the two names that it joins."""
    columns = 1 + max(column for column, _ in PLACES.values())
    rows = 2 + max(row for _, row in PLACES.values())  # one more for the modules below
    width = 2 * MARGIN + columns * BOX[0] + (columns - 1) * GAP[0]
    height = 2 * MARGIN + rows * BOX[1] + (rows - 1) * GAP[1]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="14">',
        "<title>The packages of rinn: an arrow points to what is imported</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    lines += [_draw_arrow(source, target) for source, target in sorted(graph.edges)]
    lines += [_draw_box(name, *_find_corner(*PLACES[name]), BOX[0]) for name in sorted(graph)]
    lines.append(_draw_box(" · ".join(BASE), *_find_corner(0, -1), width - 2 * MARGIN))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _find_corner(column: int, row: int) -> tuple[int, int]:
    top = max(row for _, row in PLACES.values())
    return (
        MARGIN + column * (BOX[0] + GAP[0]),
        MARGIN + (top - row) * (BOX[1] + GAP[1]),
    )


def _draw_box(name: str, x: int, y: int, width: int) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{BOX[1]}" rx="5" fill="#eef3f8" '
        f'stroke="#41678a"/><text x="{x + width // 2}" y="{y + BOX[1] // 2 + 5}" '
        f'text-anchor="middle">{name}</text>'
    )


def _draw_arrow(source: str, target: str) -> str:
    """From the lower edge of one box to the upper edge of another."""
    (x0, y0), (x1, y1) = (_find_corner(*PLACES[name]) for name in (source, target))
    x0, y0, x1 = x0 + BOX[0] // 2, y0 + BOX[1], x1 + BOX[0] // 2
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / long * HEAD, (y1 - y0) / long * HEAD
    left, right = (x1 - dx - dy / 2, y1 - dy + dx / 2), (x1 - dx + dy / 2, y1 - dy - dx / 2)
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in ((x1, y1), left, right))
    return (
        f'<g data-from="{source}" data-to="{target}"><line x1="{x0}" y1="{y0}" x2="{x1}" '
        f'y2="{y1}" stroke="#777"/><polygon points="{head}" fill="#777"/></g>'
    )


if __name__ == "__main__":
    main()
