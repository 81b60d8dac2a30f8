"""Where the nodes of a latent graph stand: inputs left, latents by causal level, outputs right.

What is drawn fills the upper part. Below it stand the nodes that only weaker edges touch, so that
showing those moves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np

from rinn.errors import clip
from rinn.graphs.basics import by_role, latents_in_order

ALL_DRAWN = 40  # of a role with more nodes, those without an edge are left out
MAX_ROWS = 100  # of a role with more nodes, several stand in a row
ROW, COLUMN, TOP, BOTTOM = 24.0, 230.0, 40.0, 10.0
LABEL, LETTER, WIDE_LETTER = 140.0, 7.0, 12.0
PACKED_LABEL, PACKED_COLUMN = 84.0, 108.0
LATENT_WIDTH, LATENT_HEIGHT = 54.0, 24.0
MAX_SCALE = 2.6
PASSAGE, NARROW_PASSAGE = 0.5, 0.22  # room of a passing edge beside that of a latent
MAX_WIDE_PASSAGES = 12
WIDE = 1.7  # a drawing higher than usual is made so many times as wide
USUAL_HEIGHT = 700.0
SWEEPS = 12

Place = tuple[float, float]
Passage = tuple[str, str, int]


@dataclass(frozen=True)
class GraphLayout:
    """The place (x, y) of every node that stands in the drawing.

    Inputs stand up to `left`, outputs from `right` on. The drawn part ends at `height`, the nodes
    that only weaker edges touch at `whole`. An edge that passes columns of latents goes through
    the places of `ways`, so that it meets none. Latents are drawn `scale` times as large as usual.
    `packed` names the roles whose nodes stand several in a row; `without_edge` counts by role the
    nodes that are left out because no edge touches them.
    """

    places: dict[str, Place]
    ways: dict[tuple[str, str], list[Place]]
    left: float
    right: float
    width: float
    height: float
    whole: float
    scale: float
    packed: tuple[str, ...]
    without_edge: dict[str, int]


def layout_info(graph: nx.DiGraph, found: nx.DiGraph | None = None) -> GraphLayout:
    """Place the nodes of a graph in columns, with few crossings.

    Example:
        >>> graph = nx.DiGraph([("x", "h"), ("h", "y")])
        >>> nx.set_node_attributes(graph, dict(x="input", h="latent", y="output"), "role")
        >>> [x for x, y in layout_info(graph).places.values()]
        [27.0, 257.0, 487.0]
    """
    inputs, outputs = (_choose(graph, by_role(graph, role)) for role in ("input", "output"))
    levels = _levels(graph)
    passages = _find_passages(graph, [inputs, *levels, outputs])
    columns = _sort([inputs, *levels, outputs], graph, passages)
    across = [math.ceil(len(side) / MAX_ROWS) or 1 for side in (inputs, outputs)]
    rows = min(MAX_ROWS, max(len(inputs), len(outputs), 1))
    scale = min(MAX_SCALE, max(1.0, rows / ALL_DRAWN))
    most = max(sum(_rooms(column)) for column in columns[1:-1])
    height = TOP + ROW * max(rows, scale * 1.3 * most)
    xs = _columns_x([inputs, *levels, outputs], across, height)
    places: dict[str, Place] = {}
    through: dict[Passage, Place] = {}
    for number, column in enumerate(columns[1:-1], start=1):
        for item, place in _spread(column, xs[number][0], height):
            if isinstance(item, str):
                places[item] = place
            else:
                through[item] = place
    places = _stand(_names(columns[0]), xs[0], across[0], TOP, height - TOP, 0.5) | places
    places |= _stand(_names(columns[-1]), xs[-1], across[1], TOP, height - TOP, 0.5)
    below = _place_below(graph, found, places, xs, across, height, scale)
    everything = places | below
    missing = [n for n in graph if n not in everything]
    labels = outputs + [name for name, place in below.items() if place[0] >= xs[-1][0]]
    return GraphLayout(
        places=everything,
        ways={edge: [through[one] for one in way] for edge, way in passages.items()},
        left=xs[0][-1],
        right=xs[-1][0],
        width=xs[-1][-1] + _label_width(labels, across[1]),
        height=height + BOTTOM,
        whole=max([height, *(y + ROW for _, y in below.values())]) + BOTTOM,
        scale=scale,
        packed=tuple(
            role for role, wide in zip(("input", "output"), across, strict=True) if wide > 1
        ),
        without_edge=dict(Counter(graph.nodes[node]["role"] for node in missing)),
    )


def fit_label(name: str, room: float = LABEL) -> str:
    """Shorten a name to the room for a label; letters outside ASCII are taken as wide.

    Example:
        >>> fit_label("x" * 50), fit_label("x0")
        ('xxxxxxxxxxxxxxxxxxx…', 'x0')
    """
    length = min(len(name), int(room))
    while _width(clip(name, length)) > room:
        length -= 1
    return clip(name, length)


def _width(label: str) -> float:
    return sum(LETTER if letter.isascii() or letter == "…" else WIDE_LETTER for letter in label)


def _choose(graph: nx.DiGraph, names: list[str]) -> list[str]:
    """Leave out nodes without an edge where a role has many nodes."""
    return names if len(names) <= ALL_DRAWN else [name for name in names if graph.degree(name)]


def _columns_x(columns: list[list[str]], across: list[int], height: float) -> list[list[float]]:
    """The x of every column, several for a role whose nodes stand several in a row."""
    gaps, packed = len(columns) - 1, sum(across) - 2
    usual = COLUMN * gaps + PACKED_COLUMN * packed
    stretch = max(1.0, WIDE * height / usual) if height > USUAL_HEIGHT else 1.0
    pitch, step = COLUMN * stretch, PACKED_COLUMN * min(stretch, 1.6)
    pitch += (usual * stretch - pitch * gaps - step * packed) / gaps
    first = _label_width(columns[0], across[0])
    left = [first + step * number for number in range(across[0])]
    middle = [[left[-1] + pitch * (number + 1)] for number in range(gaps - 1)]
    start = left[-1] + pitch * gaps
    right = [start + step * number for number in range(across[1])]
    return [left, *middle, right]


def _stand(
    names: Sequence[str], xs: list[float], across: int, top: float, room: float, shift: float
) -> dict[str, Place]:
    """Spread nodes over a column, several in a row where it is wide."""
    rows = math.ceil(len(names) / across) or 1
    return {
        name: (xs[place % across], top + room * (place // across + shift) / rows)
        for place, name in enumerate(names)
    }


def _place_below(
    graph: nx.DiGraph,
    found: nx.DiGraph | None,
    places: dict[str, Place],
    xs: list[list[float]],
    across: list[int],
    top: float,
    scale: float,
) -> dict[str, Place]:
    """Place the nodes that only weaker edges touch, the firmest uppermost."""
    if found is None:
        return {}
    firm = {
        node: max((v.get("frequency", 0.0) for _, _, v in _edges_at(found, node)), default=0.0)
        for node in found
        if node not in places and found.degree(node)
    }
    order = sorted(firm, key=lambda node: -firm[node])
    below: dict[str, Place] = {}
    for role, side, wide in (("input", xs[0], across[0]), ("output", xs[-1], across[1])):
        names = [node for node in order if found.nodes[node]["role"] == role]
        rows = math.ceil(len(names) / wide)
        below |= _stand(names, side, wide, top, ROW * rows, 1.0)
    middle = [x for (x,) in xs[1:-1]]
    latents = [node for node in order if found.nodes[node]["role"] == "latent"]
    for place, node in enumerate(latents):
        row, column = divmod(place, len(middle))
        below[node] = middle[column], top + scale * ROW * 1.3 * (row + 1)
    return below


def _edges_at(graph: nx.DiGraph, node: str) -> list[tuple[str, str, dict[str, float]]]:
    return [*graph.in_edges(node, data=True), *graph.out_edges(node, data=True)]


def _label_width(names: list[str], across: int) -> float:
    room = LABEL if across == 1 else PACKED_LABEL
    return 20.0 + max((_width(fit_label(name, room)) for name in names), default=30.0)


def _levels(graph: nx.DiGraph) -> list[list[str]]:
    """Latents by the longest path of latents above them; one empty column where there is none."""
    level: dict[str, int] = {}
    for latent in latents_in_order(graph):
        above = [level[parent] for parent in graph.predecessors(latent) if parent in level]
        level[latent] = 1 + max(above, default=-1)
    count = 1 + max(level.values(), default=0)
    return [[name for name in level if level[name] == number] for number in range(count)]


def _find_passages(
    graph: nx.DiGraph, columns: list[list[str]]
) -> dict[tuple[str, str], list[Passage]]:
    """Say through which columns each edge passes; edges of one kind and end pass together."""
    column = {node: number for number, names in enumerate(columns) for node in names}
    role = dict(graph.nodes(data="role"))
    ways = {}
    for source, target in graph.edges:
        if source not in column or target not in column:
            continue
        bundle = ("", target) if role[source] == "input" else (source, target)
        bundle = (source, "") if role[source] == "latent" and role[target] == "output" else bundle
        passed = range(column[source] + 1, column[target])
        ways[source, target] = [(*bundle, number) for number in passed]
    return ways


def _sort(
    columns: list[list[str]], graph: nx.DiGraph, ways: dict[tuple[str, str], list[Passage]]
) -> list[list[str | Passage]]:
    """Order each column, passing edges too, by the mean place of the neighbours; others go last."""
    near: dict[str | Passage, list[str | Passage]] = {n: [] for names in columns for n in names}
    whole: list[list[str | Passage]] = [list(names) for names in columns]
    for (source, target), way in ways.items():
        chain: list[str | Passage] = [source, *way, target]
        for one, other in pairwise(chain):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    for passage in sorted({passage for way in ways.values() for passage in way}):
        whole[passage[2]].append(passage)
    place = {n: (i + 0.5) / len(column) for column in whole for i, n in enumerate(column)}
    for _ in range(SWEEPS):
        for number, column in enumerate(whole):
            column = sorted(column, key=lambda n: _middle(near[n], place))
            whole[number] = column
            place |= {n: (i + 0.5) / len(column) for i, n in enumerate(column)}
    return whole


def _middle(near: list[str | Passage], place: dict[str | Passage, float]) -> float:
    known = [place[other] for other in near if other in place]
    return float(np.mean(known)) if known else 2.0


def _rooms(column: list[str | Passage]) -> list[float]:
    """The room of every latent and passing edge of a column; many edges pass closely."""
    passing = sum(not isinstance(item, str) for item in column)
    narrow = PASSAGE if passing <= MAX_WIDE_PASSAGES else NARROW_PASSAGE
    return [1.0 if isinstance(item, str) else narrow for item in column]


def _spread(
    column: list[str | Passage], x: float, height: float
) -> Iterator[tuple[str | Passage, Place]]:
    """Spread latents and passing edges over the height of a column."""
    rooms = _rooms(column)
    total, passed = sum(rooms), 0.0
    for item, room in zip(column, rooms, strict=True):
        yield item, (x, TOP + (height - TOP) * (passed + room / 2) / total)
        passed += room


def _names(column: list[str | Passage]) -> list[str]:
    return [item for item in column if isinstance(item, str)]
