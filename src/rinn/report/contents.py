"""What the report reads from a finished run folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd

from rinn.chance import DECOY_ROUND, Null, NullRound
from rinn.cohorts import TrainedNet
from rinn.delimited import read_table
from rinn.errors import InputError
from rinn.graphfiles import EDGE_NUMBERS, MORE_NUMBERS, ORIGIN, load_graph
from rinn.graphs import ROLES
from rinn.report.names import GeneSetName, read_names
from rinn.store import WEIGHTS, load_kept, load_manifest

ENDS = ["source", "target", "source_role", "target_role"]
CURVES = ["trial", "epoch", "train_loss", "validation_loss"]


@dataclass(frozen=True)
class Contents:
    """What a run folder holds, read once; a run without networks has no `nets`.

    `graph` is the graph that is drawn; `found` holds every edge that was found, drawn or not, with
    the truth value `drawn` on nodes and edges. `activity`, `curves`, `null` and `names` (gene sets
    by latent) are None where the folder does not have them.
    """

    manifest: dict[str, Any]
    trials: pd.DataFrame
    graph: nx.DiGraph
    found: nx.DiGraph
    nets: tuple[TrainedNet, ...]
    notes: dict[str, Any]
    truth: nx.DiGraph | None = None
    activity: pd.DataFrame | None = None
    curves: pd.DataFrame | None = None
    null: Null | None = None
    names: Mapping[str, tuple[GeneSetName, ...]] | None = None


def load_contents(folder: Path) -> Contents:
    """Read what the report shows.

    Raises:
        InputError: see `write_report`.
    """
    manifest = load_manifest(folder)
    if manifest.get("status") != "complete":
        raise InputError(
            f"RUN must be a finished run, but {folder} is not; repeat its 'rinn fit' command to "
            f"let it go on"
        )
    nets, notes = load_kept(folder / WEIGHTS)
    graph = load_graph(folder / "graph.json")
    truth = folder / "truth.json"
    return Contents(
        manifest=manifest,
        trials=_read_table(folder, "trials.csv", "the table of its trials", ["kept"]),
        graph=graph,
        found=add_weaker(graph if nets else _forget(graph), _read_edges(folder)),
        nets=tuple(nets),
        notes=notes,
        truth=load_graph(truth) if truth.exists() else None,
        activity=_read_optional(
            folder, "activity.csv", "the activity of latents", ["sample"], dtype={"sample": str}
        ),
        curves=_read_optional(folder, "curves.csv", "learning curves", CURVES),
        null=_read_null(folder),
        names=read_names(folder),
    )


def add_weaker(graph: nx.DiGraph, edges: pd.DataFrame | None) -> nx.DiGraph:
    """Put the edges that were found too seldom to be drawn beside those of the graph.

    Args:
        graph: what is drawn; it is not changed.
        edges: the rows of edges.csv, or None where there is no such file.

    Returns:
        A new graph, in which a truth value `drawn` tells the two apart; it may have cycles.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_nodes_from([("x", {"role": "input"}), ("y", {"role": "output"})])
        >>> rows = [("x", "U1", "input", "latent", 0.25)]
        >>> found = add_weaker(graph, pd.DataFrame(rows, columns=[*ENDS, "frequency"]))
        >>> found.edges["x", "U1"], found.nodes["x"]["drawn"], found.nodes["U1"]["drawn"]
        ({'frequency': 0.25, 'drawn': False}, True, False)
    """
    found: nx.DiGraph = nx.DiGraph(graph)
    nx.set_node_attributes(found, dict.fromkeys(found, True), "drawn")
    nx.set_edge_attributes(found, dict.fromkeys(found.edges, True), "drawn")
    for row in [] if edges is None else edges.to_dict("records"):
        source, target = str(row["source"]), str(row["target"])
        if graph.has_edge(source, target):
            continue
        for node, role in ((source, row["source_role"]), (target, row["target_role"])):
            if node not in found:
                found.add_node(node, role=role, drawn=False)
        about: dict[str, Any] = {
            name: float(row[name])
            for name in (*EDGE_NUMBERS, *MORE_NUMBERS)
            if name in row and pd.notna(row[name])
        }
        if isinstance(row.get(ORIGIN), str):
            about[ORIGIN] = row[ORIGIN]
        found.add_edge(source, target, **about, drawn=False)
    return found


def _forget(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without strengths and frequencies, which mean nothing where no network is."""
    plain: nx.DiGraph = nx.DiGraph()
    plain.add_nodes_from((node, {"role": role}) for node, role in graph.nodes(data="role"))
    plain.add_edges_from(graph.edges)
    return plain


def _read_edges(folder: Path) -> pd.DataFrame | None:
    text = dict.fromkeys(ENDS, str)
    edges = _read_optional(folder, "edges.csv", "the table of edges", ENDS, dtype=text)
    if edges is not None and not edges[ENDS[2:]].isin(ROLES).all(axis=None):
        raise InputError(_say_damaged(folder, "edges.csv", "the table of edges"))
    return edges


def _read_optional(
    folder: Path, name: str, what: str, columns: list[str], **how: Any
) -> pd.DataFrame | None:
    """Read a table that folders of older releases, or of some strategies, do not have."""
    return _read_table(folder, name, what, columns, **how) if (folder / name).exists() else None


def _read_table(folder: Path, name: str, what: str, columns: list[str], **how: Any) -> pd.DataFrame:
    try:
        table = read_table(folder / name, **how)
        table[columns]
    except (OSError, ValueError, KeyError):
        raise InputError(_say_damaged(folder, name, what)) from None
    return table


def _say_damaged(folder: Path, name: str, what: str) -> str:
    return (
        f"RUN must hold {what}, but {name} in {folder} is missing or damaged; remove the folder "
        f"and make it anew"
    )


def _read_null(folder: Path) -> Null | None:
    path = folder / "null.json"
    if not path.exists():
        return None
    try:
        rounds = [NullRound.from_json(one) for one in json.loads(path.read_text())["rounds"]]
        decoyed = next(found for found in rounds if found.number == DECOY_ROUND)
        permuted = tuple(found for found in rounds if found.number != DECOY_ROUND)
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        raise InputError(_say_damaged(folder, path.name, "how much is chance")) from None
    return Null(permuted, decoyed) if permuted else None
