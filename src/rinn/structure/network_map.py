"""Which node of a network an input or output is: as a user's map says, or by careful spelling."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import pandas as pd

from rinn.data.text import Lines, read_records
from rinn.errors import InputError, quote, suggest
from rinn.graphs.basics import by_role
from rinn.structure.enrichment import name_genes

FIELDS = ("name", "node", "action")
MORE_FIELDS = ("role", "match")  # rinn writes these, so that what it wrote can be read again
ACTIONS = ("inhibits", "activates")
MISSING = "not in the network"
_PREFIX = re.compile(r"(?:p[_-]|phospho[_-]?)(?=\w)", re.IGNORECASE)


@dataclass(frozen=True)
class MappedNodes:
    """What a user's map says of one name: several nodes for a family, none to leave it out."""

    nodes: tuple[str, ...]
    action: str = ""


@dataclass(frozen=True)
class NodeMatch:
    """The nodes that an input or output stands for, and how they were found.

    `action` is empty where the name is the node itself; an input that inhibits or activates a node
    is not the node, which may then be what a latent is.
    """

    name: str
    role: str
    nodes: tuple[str, ...]
    action: str
    match: str


def load_map(path: str | os.PathLike[str]) -> dict[str, MappedNodes]:
    """Read the columns name, node and, optionally, action (inhibits or activates).

    A name on several lines stands for several nodes; one without a node is left out.
    """
    lines = Lines(path, "--map")
    records = read_records(lines, comments=True)
    header = [name.strip().lower() for name in next(records, [])]
    if not {*FIELDS[:2]} <= {*header} <= {*FIELDS, *MORE_FIELDS} or len({*header}) < len(header):
        raise lines.reject(
            "begin with the column names name, node and, optionally, action",
            f"has {quote(','.join(header))}",
            "mend that line",
        )
    result: dict[str, MappedNodes] = {}
    for fields in records:
        if len(fields) > len(header):
            raise lines.reject(f"have {len(header)} fields", f"has {len(fields)}", "mend it")
        row = dict(zip(header, map(str.strip, fields), strict=False))
        name, node, action = row["name"], row.get("node", ""), row.get("action", "").lower()
        if not name:
            raise lines.reject("have a name on each line", "has none", "write one")
        if action not in ("", *ACTIONS):
            must = f"have {' or '.join(ACTIONS)} as action, or nothing"
            raise lines.reject(must, f"has {quote(action)}", "mend it")
        before = result.get(name, MappedNodes((), action))
        if before.action != action:
            raise lines.reject(
                "give each name one action", f"has another for {quote(name)}", "mend it"
            )
        nodes = dict.fromkeys((*before.nodes, node) if node else before.nodes)
        result[name] = MappedNodes(tuple(nodes), action)
    return result


def match_names(
    graph: nx.DiGraph, nodes: Sequence[str], given: Mapping[str, MappedNodes] | None = None
) -> tuple[NodeMatch, ...]:
    """Match inputs and outputs with nodes: by the map, else by their spelling.

    The same name comes first, then the same letters and digits whatever their case, then those
    without p_ or phospho. Where several nodes fit, none is taken. Inhibitors are never guessed.
    """
    given, known = given or {}, {*nodes}
    genes, ends = name_genes(graph), [*by_role(graph, "input"), *by_role(graph, "output")]
    _check_nodes(given, known)
    spelling = Counter(map(_reduce, nodes))
    single = {_reduce(node): node for node in nodes if spelling[_reduce(node)] == 1}
    result = []
    for name in ends:
        role, gene = graph.nodes[name]["role"], genes[name]
        mapped = given.get(name, given.get(gene))
        if mapped is not None:
            how = "map" if mapped.nodes else "left out by the map"
            result.append(NodeMatch(name, role, mapped.nodes, mapped.action, how))
            continue
        node, how = _find_node(gene, known, single, spelling)
        result.append(NodeMatch(name, role, (node,) if node else (), "", how))
    return tuple(result)


def _find_node(
    gene: str, known: set[str], single: Mapping[str, str], spelling: Mapping[str, int]
) -> tuple[str | None, str]:
    if gene in known:
        return gene, "same name"
    for spelt, how in ((gene, "but for case"), (_PREFIX.sub("", gene, count=1), "without prefix")):
        key = _reduce(spelt)
        if key in single:
            return single[key], how
        if spelling[key] > 1:
            return None, "several nodes fit"
    return None, MISSING


def find_hints(
    matches: Sequence[NodeMatch],
    nodes: Sequence[str],
    given: Mapping[str, MappedNodes] | None = None,
) -> list[str]:
    """Names of the map that the graph lacks, and inputs that may be inhibitors: a node and an i."""
    names = {one.name for one in matches}
    hints = [
        f"--map names {quote(name)}, which is no input or output of the graph"
        f"{suggest(name, sorted(names), listed=False)}"
        for name in given or {}
        if name not in names and not names & {f"{name}_x", f"{name}_y"}
    ]
    spelling = {_reduce(node): node for node in nodes}
    for one in matches:
        node = spelling.get(_reduce(one.name)[:-1])
        if one.role == "input" and one.match == MISSING and one.name.endswith("i") and node:
            hints.append(
                f"{quote(one.name)} is not in the network, but {quote(node)} is; if it inhibits "
                f"it, write '{one.name},{node},inhibits' into the file of --map"
            )
    return hints


def tabulate_matches(matches: Sequence[NodeMatch]) -> pd.DataFrame:
    """One row for each name and node, in the form of a map."""
    rows = [
        (one.name, node, one.action, one.role, one.match)
        for one in matches
        for node in one.nodes or ("",)
    ]
    return pd.DataFrame(rows, columns=[*FIELDS, *MORE_FIELDS])


def _check_nodes(given: Mapping[str, MappedNodes], known: set[str]) -> None:
    for name, mapped in given.items():
        for node in mapped.nodes:
            if node not in known:
                raise InputError(
                    f"--map must name nodes of the network, but {quote(node)} (for {quote(name)}) "
                    f"is none{suggest(node, sorted(known), listed=False)}"
                )


def _reduce(name: str) -> str:
    """Letters and digits alone, in one case."""
    return re.sub(r"[\W_]+", "", name).casefold()
