"""The one reader of a finished run folder, for reports, figures, scores and predictions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from rinn.runs.checkpoint import WEIGHTS, load_kept
from rinn.runs.manifest import (
    MANIFEST,
    Manifest,
    Scores,
    load_manifest,
    read_record,
)
from rinn.runs.names import (
    NAMES,
    NODE_MAP,
    NODE_NAMES,
    GeneSetName,
    NodeName,
    read_names,
    read_node_names,
)
from rinn.strategies import find_strategy
from rinn.strategies.base import Strategy
from rinn.structure.qvalues import DECOY_ROUND, Null, NullRound

EFFECTS = "effects.csv"
NULL = "null.json"
REFIT = "refit.json"
ENDS = ["source", "target", "source_role", "target_role"]
CURVES = ["trial", "epoch", "train_loss", "validation_loss"]
TRIALS = ["sum_abs_weights", "validation_loss", "distance"]
# All files that a run may have, but for its report, which is made from them.
FILES = (
    *(MANIFEST, WEIGHTS, EFFECTS, NULL, NAMES, NODE_NAMES, NODE_MAP, "graph.json", "edges.csv"),
    *("trials.csv", "curves.csv", "activity.csv", REFIT, "screening.csv", "covariates.csv"),
    *("graph.graphml", "prior.json", "scores.json", "truth.json"),
)


@dataclass(frozen=True)
class TableScales:
    """From the user's units to the networks', as weights.safetensors keeps it."""

    loss: str
    x_scaling_mean: tuple[float, ...]
    x_scaling_std: tuple[float, ...]
    y_scaling_mean: tuple[float, ...]
    y_scaling_std: tuple[float, ...]
    x_min: tuple[float, ...]
    x_max: tuple[float, ...]
    x_mean: tuple[float, ...]
    kinds: tuple[str, ...] | None = None
    y_top: tuple[float, ...] | None = None
    covariates: dict[str, Any] | None = None
    coding: tuple[float, ...] = (0.0, 1.0)


@dataclass(frozen=True)
class RunContents:
    """What a finished run folder holds, read when first asked for; None is what it may lack."""

    folder: Path
    manifest: Manifest

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return self.manifest.tables.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return self.manifest.tables.outputs

    @property
    def scores(self) -> Scores | None:
        """How the run compares with a truth, where one was given."""
        return self.manifest.scores

    @cached_property
    def full_graph(self) -> nx.DiGraph:
        """The graph that is reported, with all columns of the tables as nodes."""
        return load_graph(self.folder / "graph.json")

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph that is reported, without columns that a screening left out."""
        kept, graph = {*self.inputs, *self.outputs}, self.full_graph.copy()
        for node, role in list(graph.nodes(data="role")):
            if role != "latent" and node not in kept and not graph.degree(node):
                graph.remove_node(node)
        return graph

    @cached_property
    def truth(self) -> nx.DiGraph | None:
        """The graph that the run was scored against."""
        path = self.folder / "truth.json"
        return load_graph(path) if path.exists() else None

    @cached_property
    def candidates(self) -> nx.DiGraph:
        """The graph with all candidate edges; `reported` marks nodes and edges."""
        if self.is_measured:
            return add_weaker(self.graph, self._edges)
        # Strengths and frequencies mean nothing where no effect is known.
        bare: nx.DiGraph = nx.DiGraph()
        bare.add_nodes_from((node, {"role": role}) for node, role in self.graph.nodes(data="role"))
        bare.add_edges_from(self.graph.edges)
        return add_weaker(bare, self._edges)

    @property
    def strategy(self) -> Strategy:
        """What the graph was looked for with."""
        return find_strategy(self.manifest.settings)

    @property
    def is_measured(self) -> bool:
        """Whether strengths and frequencies are known, by networks or a regression."""
        return bool(self.nets) or self.manifest.effects is not None

    @property
    def repeats(self) -> str:
        """What a frequency is a fraction of."""
        by_vote = any(net.trial.net.kind == "belief" for net in self.nets)
        return "the kept networks" if by_vote else "bootstrap resamples"

    @cached_property
    def _kept(self) -> tuple[list[TrainedNet], dict[str, Any]]:
        return load_kept(self.folder / WEIGHTS)

    @cached_property
    def nets(self) -> tuple[TrainedNet, ...]:
        """All networks of the folder: the kept ones first, then the others of the paper's."""
        for choice in ("kept", "paper"):
            self.find_nets(choice)  # the folder must hold those that the manifest names
        return tuple(self._kept[0])

    @cached_property
    def scales(self) -> TableScales:
        """The units of the networks."""
        try:
            scales: TableScales = read_record(TableScales, self._kept[1])
        except ValueError:
            raise self.reject(WEIGHTS) from None
        return scales

    def find_nets(self, choice: str) -> list[TrainedNet]:
        """The networks that the manifest names as `kept`, or as those of the `paper`."""
        numbers = getattr(self.manifest.networks, choice, ())
        nets = {net.trial.number: net for net in self._kept[0] if self._fits(net)}
        if not nets.keys() >= set(numbers):
            raise self.reject(WEIGHTS)
        return [nets[number] for number in numbers]

    def _fits(self, net: TrainedNet) -> bool:
        """Whether a network has the run's inputs and outputs; a belief network reads outputs."""
        read = self.outputs if net.trial.net.kind == "belief" else self.inputs
        ends = net.weights.inputs.shape[-1], len(net.weights.output)
        return ends == (len(read), len(self.outputs))

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row for each trained network, or setting that was tried."""
        table = self._read_table("trials.csv", integers=("trial", "setting"))
        numbers = TRIALS if self.nets else [name for name in table if name != "kept"]
        if "kept" not in table or (len(table) and table["kept"].dtype != bool):
            raise self.reject("trials.csv")
        return self._check_numbers("trials.csv", table, numbers)

    @cached_property
    def curves(self) -> pd.DataFrame | None:
        """Losses of the kept networks by epoch."""
        if not (self.folder / "curves.csv").exists():
            return None
        table = self._read_table("curves.csv", integers=("trial", "epoch"))
        return self._check_numbers("curves.csv", table, CURVES)

    @cached_property
    def activity(self) -> pd.DataFrame | None:
        """The activity of each latent in each sample."""
        if not (self.folder / "activity.csv").exists():
            return None
        return self._read_table("activity.csv", text=("sample",))

    @cached_property
    def _edges(self) -> pd.DataFrame | None:
        if not (self.folder / "edges.csv").exists():
            return None
        table = self._read_table("edges.csv", text=ENDS)
        if not table[ENDS[2:]].isin(ROLES).all(axis=None) or table[ENDS].isna().any(axis=None):
            raise self.reject("edges.csv")
        numbers = [name for name in (*EDGE_NUMBERS, *MORE_NUMBERS) if name in table]
        return self._check_numbers("edges.csv", table, numbers)

    @cached_property
    def null(self) -> Null | None:
        """What searches found where there is nothing to find."""
        if not (self.folder / NULL).exists():
            return None
        rounds = read_rounds(self.folder)
        permuted = tuple(one for one in rounds if one.number != DECOY_ROUND)
        decoyed = [one for one in rounds if one.number == DECOY_ROUND]
        if not decoyed:
            raise self.reject(NULL)
        return Null(permuted, decoyed[0]) if permuted else None

    @cached_property
    def names(self) -> Mapping[str, tuple[GeneSetName, ...]] | None:
        """The best gene sets of each latent, where `rinn name` wrote them into the folder."""
        return read_names(self.folder)

    @cached_property
    def node_names(self) -> Mapping[str, NodeName] | None:
        """The known nodes between inputs and outputs of latents and of direct edges."""
        return read_node_names(self.folder)

    def _read_table(
        self, name: str, text: Sequence[str] = (), integers: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Read a table with columns of text, and of integers where it has these."""
        try:
            table = read_table(self.folder / name, dtype=dict.fromkeys(text, str))
        except (OSError, ValueError):
            raise self.reject(name) from None
        kinds = [table[column].dtype.kind for column in integers if column in table and len(table)]
        if not set(text) <= set(table) or not set(kinds) <= {"i", "u"}:
            raise self.reject(name)
        return table

    def _check_numbers(
        self, name: str, table: pd.DataFrame, numbers: Sequence[Any]
    ) -> pd.DataFrame:
        """The table, if these columns hold nothing but finite and missing numbers."""
        try:
            fits = not np.isinf(table[numbers].to_numpy(np.float64)).any()
        except (ValueError, KeyError):
            fits = False
        if not fits:
            raise self.reject(name)
        return table

    def reject(self, name: str) -> InputError:
        """The error of a file that is not what `rinn fit` wrote."""
        return reject_file(self.folder / name)


def load_run(run: str | os.PathLike[str]) -> RunContents:
    """Open a finished run folder."""
    folder = Path(run)
    manifest = load_manifest(folder)
    if not manifest.is_complete:
        raise InputError(
            f"RUN must be a finished run, but {folder} is not; repeat its 'rinn fit' command to "
            f"finish it"
        )
    return RunContents(folder, manifest)


def reject_file(path: Path) -> InputError:
    """The error of a file of a run folder that is not what rinn wrote."""
    return InputError(
        f"RUN must be a folder as rinn has written it, but {path.name} in {path.parent} is missing "
        f"or damaged; make the run again"
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

    Example:
        >>> import tempfile
        >>> from rinn import RINN, make_dataset
        >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
        >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
        >>> effects, inputs = load_effects(model.save(tempfile.mkdtemp()))
        >>> effects.shape, inputs[0]
        ((5, 6), 'x0')
    """
    contents = load_run(run)
    path = contents.folder / EFFECTS
    if not path.exists():
        raise InputError(
            f"RUN must hold the effects of its inputs, but {contents.folder} has no {EFFECTS}; the "
            f"strategies rinn, dnn and esc write it at the end of 'rinn fit'"
        )
    table = load_table(path, "effects")
    if table.samples != contents.inputs or table.columns != contents.outputs:
        raise contents.reject(EFFECTS)
    return table.values, contents.inputs  # noqa: PD011


def read_rounds(folder: Path) -> list[NullRound]:
    """Read null.json: the searches where there is nothing to find that are done so far."""
    try:
        content = json.loads((folder / NULL).read_text(encoding="utf-8"))
        return list(read_record(dict[str, tuple[NullRound, ...]], content)["rounds"])
    except (OSError, ValueError, KeyError, RecursionError):
        raise reject_file(folder / NULL) from None


def add_weaker(graph: nx.DiGraph, edges: pd.DataFrame | None) -> nx.DiGraph:
    """Add the candidate edges that are not reported to a graph; `reported` tells them apart."""
    result: nx.DiGraph = nx.DiGraph(graph)
    nx.set_node_attributes(result, dict.fromkeys(result, True), "reported")
    nx.set_edge_attributes(result, dict.fromkeys(result.edges, True), "reported")
    for row in [] if edges is None else edges.to_dict("records"):
        source, target = str(row["source"]), str(row["target"])
        if graph.has_edge(source, target):
            continue
        for node, role in ((source, row["source_role"]), (target, row["target_role"])):
            if node not in result:
                result.add_node(node, role=role, reported=False)
        values: dict[str, Any] = {
            name: float(row[name])
            for name in (*EDGE_NUMBERS, *MORE_NUMBERS)
            if name in row and pd.notna(row[name])
        }
        if isinstance(row.get(ORIGIN), str):
            values[ORIGIN] = row[ORIGIN]
        result.add_edge(source, target, **values, reported=False)
    return result
