"""What the report reads from a finished run folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Float

from rinn.data.tables import load_table
from rinn.errors import InputError
from rinn.files import read_table
from rinn.graphs.basics import ROLES
from rinn.graphs.files import EDGE_NUMBERS, MORE_NUMBERS, ORIGIN, load_graph
from rinn.nets.groups import TrainedNet
from rinn.runs.folder import (
    MANIFEST,
    WEIGHTS,
    choose_nets,
    has_shape,
    load_kept,
    load_manifest,
    read_columns,
)
from rinn.runs.names import GeneSetName, read_names
from rinn.strategies import STRATEGIES
from rinn.strategies.base import Strategy
from rinn.structure.qvalues import DECOY_ROUND, Null, NullRound

EFFECTS = "effects.csv"

NULL = "null.json"
ENDS = ["source", "target", "source_role", "target_role"]
CURVES = ["trial", "epoch", "train_loss", "validation_loss"]
TRIALS = ["sum_abs_weights", "validation_loss", "distance"]
SCORE = {"precision": float, "recall": float, "f1": float}
# What the page cannot do without, beside what every manifest says.
NEEDED: dict[str, Any] = {
    "settings": {"select": str, "seed": int},
    "tables": {"x": str, "y": str, "samples": int, "inputs": list, "dropped": list},
    "networks": {"trained": int, "kept": list, "nearest": list},
    "device": {"count": int, "kind": str},
    "versions": dict,
    "command": list,
    "created": str,
    "seconds": float,
    "comparison?": {"sentence": str, "carries": bool},
    "scores?": {
        "paper": {"hidden": SCORE, "input?": (SCORE, None)},
        "graph": {
            "latents": SCORE,
            "edges": SCORE,
            "latent_edges?": (SCORE, None),
            "shd": int,
            "order_errors": int,
            "twins?": int,
            "twins_found?": int,
        },
    },
}
ROUND = {
    "number": int, "seed": int, "networks": int, "reported": int, "inputs": int,
    "connected_inputs": int, "decoys?": int, "connected_decoys?": int, "frequencies": [float],
    "prior_driven?": [float],
}  # fmt: skip


@dataclass(frozen=True)
class Contents:
    """What a run folder holds, read once; a run that trained no network has no `nets`.

    `graph` is the reported graph; `found` has all candidate edges, with the truth value `reported`
    on nodes and edges. `activity`, `curves`, `null` and `names` (gene sets by latent) are None if
    the folder does not have them.
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

    @property
    def strategy(self) -> Strategy:
        """What the graph was looked for with."""
        return STRATEGIES[self.manifest["settings"]["strategy"]]

    @property
    def is_measured(self) -> bool:
        """Whether strengths and frequencies are known, by networks or a regression."""
        return bool(self.nets) or has_effects(self.manifest)

    @property
    def repeats(self) -> str:
        """What a frequency is a share of."""
        by_vote = any(net.trial.net.kind == "belief" for net in self.nets)
        return "the kept networks" if by_vote else "bootstrap resamples"


def load_contents(folder: Path) -> Contents:
    """Read what the report shows."""
    manifest = load_manifest(folder)
    if manifest.get("status") != "complete":
        raise InputError(
            f"RUN must be a finished run, but {folder} is not; repeat its 'rinn fit' command to "
            f"let it go on"
        )
    if not has_shape(manifest, NEEDED):
        raise InputError(_say_damaged(folder, MANIFEST, "what was run, and how"))
    read_columns(manifest, folder)
    nets, notes = load_kept(folder / WEIGHTS)
    choose_nets(nets, manifest, "kept")
    choose_nets(nets, manifest, "nearest")
    if (nets or has_effects(manifest)) and not manifest.get("test"):
        raise InputError(_say_damaged(folder, MANIFEST, "how its networks predict"))
    graph = load_graph(folder / "graph.json")
    truth = folder / "truth.json"
    return Contents(
        manifest=manifest,
        trials=read_trials(folder, bool(nets)),
        graph=graph,
        found=add_weaker(
            graph if nets or has_effects(manifest) else _forget(graph), _read_edges(folder)
        ),
        nets=tuple(nets),
        notes=notes,
        truth=load_graph(truth) if truth.exists() else None,
        activity=_read_optional(
            folder, "activity.csv", "the activity of latents", ["sample"], dtype={"sample": str}
        ),
        curves=read_curves(folder) if (folder / "curves.csv").exists() else None,
        null=_read_null(folder),
        names=read_names(folder),
    )


def load_effects(
    run: str | os.PathLike[str],
) -> tuple[Float[np.ndarray, "input output"], tuple[str, ...]]:
    """Read what each input of a run does to each output.

    Args:
        run: a finished run folder.

    Returns:
        Effects in units of their sampling error, and the names of the inputs.

    Raises:
        InputError: it is not a run folder, or holds no effects.
    """
    folder = Path(run)
    inputs, outputs = read_columns(load_manifest(folder), folder)
    path = folder / EFFECTS
    if not path.exists():
        raise InputError(
            f"RUN must hold the effects of its inputs, but {folder} has no {EFFECTS}; the "
            f"strategies rinn, dnn and esc write it at the end of 'rinn fit'"
        )
    table = load_table(path, "effects")
    if table.samples != inputs or table.columns != outputs:
        raise InputError(
            f"RUN must hold the effects of its own inputs on its own outputs, but {path} has other "
            f"names; make the run again"
        )
    return table.values, inputs  # noqa: PD011


def has_effects(manifest: dict[str, Any]) -> bool:
    """Whether the graph of a run was read from effects, whose sizes and errors are known."""
    return "effects" in manifest


def add_weaker(graph: nx.DiGraph, edges: pd.DataFrame | None) -> nx.DiGraph:
    """Put the edges that were found too seldom to be drawn beside those of the graph.

    Example:
        >>> graph = nx.DiGraph()
        >>> graph.add_nodes_from([("x", {"role": "input"}), ("y", {"role": "output"})])
        >>> rows = [("x", "U1", "input", "latent", 0.25)]
        >>> found = add_weaker(graph, pd.DataFrame(rows, columns=[*ENDS, "frequency"]))
        >>> found.edges["x", "U1"], found.nodes["x"]["reported"], found.nodes["U1"]["reported"]
        ({'frequency': 0.25, 'reported': False}, True, False)
    """
    found: nx.DiGraph = nx.DiGraph(graph)
    nx.set_node_attributes(found, dict.fromkeys(found, True), "reported")
    nx.set_edge_attributes(found, dict.fromkeys(found.edges, True), "reported")
    for row in [] if edges is None else edges.to_dict("records"):
        source, target = str(row["source"]), str(row["target"])
        if graph.has_edge(source, target):
            continue
        for node, role in ((source, row["source_role"]), (target, row["target_role"])):
            if node not in found:
                found.add_node(node, role=role, reported=False)
        about: dict[str, Any] = {
            name: float(row[name])
            for name in (*EDGE_NUMBERS, *MORE_NUMBERS)
            if name in row and pd.notna(row[name])
        }
        if isinstance(row.get(ORIGIN), str):
            about[ORIGIN] = row[ORIGIN]
        found.add_edge(source, target, **about, reported=False)
    return found


def _forget(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without strengths and frequencies, which mean nothing where no effect is known."""
    plain: nx.DiGraph = nx.DiGraph()
    plain.add_nodes_from((node, {"role": role}) for node, role in graph.nodes(data="role"))
    plain.add_edges_from(graph.edges)
    return plain


def read_trials(folder: Path, has_networks: bool) -> pd.DataFrame:
    """Read trials.csv of a finished run."""
    what = "the table of its trials"
    trials = _read_table(folder, "trials.csv", what, ["kept"])
    numbers = TRIALS if has_networks else [str(name) for name in trials if name != "kept"]
    whole = [name for name in ("trial", "setting") if name in trials]
    if len(trials) and not (trials["kept"].dtype == bool and _are_whole(trials[whole])):
        raise InputError(_say_damaged(folder, "trials.csv", what))
    return _check_numbers(folder, "trials.csv", what, trials, numbers)


def read_curves(folder: Path) -> pd.DataFrame:
    """Read curves.csv of a finished run."""
    what = "learning curves"
    curves = _read_table(folder, "curves.csv", what, CURVES)
    if len(curves) and not _are_whole(curves[CURVES[:2]]):
        raise InputError(_say_damaged(folder, "curves.csv", what))
    return _check_numbers(folder, "curves.csv", what, curves, CURVES)


def _are_whole(table: pd.DataFrame) -> bool:
    return all(kind.kind in "iu" for kind in table.dtypes)


def _read_edges(folder: Path) -> pd.DataFrame | None:
    text, what = dict.fromkeys(ENDS, str), "the table of edges"
    edges = _read_optional(folder, "edges.csv", what, ENDS, dtype=text)
    if edges is None:
        return None
    roles = edges[ENDS[2:]].isin(ROLES).all(axis=None)
    if not roles or edges[ENDS[:2]].isna().any(axis=None):
        raise InputError(_say_damaged(folder, "edges.csv", what))
    numbers = [name for name in (*EDGE_NUMBERS, *MORE_NUMBERS) if name in edges]
    return _check_numbers(folder, "edges.csv", what, edges, numbers)


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


def _check_numbers(
    folder: Path, name: str, what: str, table: pd.DataFrame, numbers: list[str]
) -> pd.DataFrame:
    """The table, whose columns of numbers hold nothing else than finite and missing ones."""
    try:
        fits = not np.isinf(table[numbers].to_numpy(np.float64)).any()
    except (ValueError, KeyError):
        fits = False
    if not fits:
        raise InputError(_say_damaged(folder, name, what))
    return table


def _say_damaged(folder: Path, name: str, what: str) -> str:
    return (
        f"RUN must hold {what}, but {name} in {folder} is missing or damaged; remove the folder "
        f"and make it anew"
    )


def read_rounds(folder: Path) -> list[NullRound]:
    """Read null.json: the searches where there is nothing to find that are done so far."""
    try:
        found = json.loads((folder / NULL).read_text(encoding="utf-8"))
        if not has_shape(found, {"rounds": [ROUND]}):
            raise ValueError("a value is missing or of another type")
        return [NullRound.from_json(one) for one in found["rounds"]]
    except (OSError, ValueError, TypeError, RecursionError):
        raise InputError(_say_damaged(folder, NULL, "how much is chance")) from None


def _read_null(folder: Path) -> Null | None:
    if not (folder / NULL).exists():
        return None
    rounds = read_rounds(folder)
    permuted = tuple(one for one in rounds if one.number != DECOY_ROUND)
    decoyed = [one for one in rounds if one.number == DECOY_ROUND]
    if not decoyed:
        raise InputError(_say_damaged(folder, NULL, "how much is chance"))
    return Null(permuted, decoyed[0]) if permuted else None
