"""A method's row: how its run ended, what it found, and how close that is to a truth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from rinn.compare.worker import DONE, FAILED, REFUSED
from rinn.data.least_squares import regress
from rinn.data.problem import Problem
from rinn.data.records import Data
from rinn.graphs.basics import by_role, reach
from rinn.graphs.compare import GraphScores, keep_known, score_graph
from rinn.graphs.protocol import Score
from rinn.runs.manifest import read_record
from rinn.strategies import STRATEGIES

STOPPED, ABSENT = "stopped", "not installed"
STATUSES = (DONE, STOPPED, REFUSED, FAILED, ABSENT)

Pair = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """How a method ended: `seconds` are those of the fit, without the start of its process."""

    method: str
    status: str
    message: str
    limit: float
    seconds: float | None = None

    def is_final(self, limit: float) -> bool:
        """Whether it need not be run again: a stopped one may with a higher limit."""
        return self.status in (DONE, REFUSED) or (self.status == STOPPED and limit <= self.limit)


@dataclass(frozen=True)
class Row:
    """The outcome of a method and its graph, with scores where there is a truth."""

    outcome: Outcome
    graph: nx.DiGraph | None = None
    r2: float | None = None
    scores: GraphScores | None = None
    pairs: Score | None = None

    @property
    def method(self) -> str:
        """The name of the strategy."""
        return self.outcome.method

    @property
    def result(self) -> str:
        """How it ended, in a sentence."""
        status, message = self.outcome.status, self.outcome.message
        return f"{status}: {message}" if message else status

    def to_json(self) -> dict[str, Any]:
        """The row as one flat record, which is a row of the table too."""
        strategy, graph = STRATEGIES[self.method], self.graph
        values: dict[str, Any] = {
            "method": self.method,
            "status": self.outcome.status,
            "message": self.outcome.message,
            "seconds": self.outcome.seconds,
            "limit": self.outcome.limit,
            "latents": None if graph is None else len(by_role(graph, "latent")),
            "edges": None if graph is None else graph.number_of_edges(),
            "held_out_r2": self.r2,
        }
        parts = {"pairs": self.pairs}
        if self.scores:
            parts |= {"latents": self.scores.latents, "edges": self.scores.edges}
            values["shd"] = self.scores.shd
        for part, score in parts.items():
            for name in ("precision", "recall", "f1") if score else ():
                values[f"{part}_{name}"] = getattr(score, name)
        about = {name: getattr(strategy, name) for name in ("title", "setup", "assumes", "suits")}
        return values | about | {"cannot_take": ", ".join(strategy.refuses)}


def load_outcome(path: Path) -> Outcome | None:
    """Read a method's file; None where it is missing or damaged, to run it again."""
    try:
        outcome: Outcome = read_record(Outcome, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    is_known = outcome.method in STRATEGIES and outcome.status in STATUSES
    return outcome if is_known and outcome.method == path.stem else None


def make_row(
    outcome: Outcome,
    graph: nx.DiGraph | None,
    data: Data,
    problem: Problem,
    truth: nx.DiGraph | None,
) -> Row:
    """Measure the graph of a method."""
    if graph is None:
        return Row(outcome)
    r2 = find_r2(graph, data, problem)
    if truth is None:
        return Row(outcome, graph, r2)
    found = list_pairs(keep_known(graph, truth))
    return Row(outcome, graph, r2, score_graph(graph, truth), score_pairs(found, list_pairs(truth)))


def list_pairs(graph: nx.DiGraph) -> set[Pair]:
    """Every input with every output that it reaches."""
    reached = reach(graph)
    return {(name, output) for name in by_role(graph, "input") for output in reached[name]}


def score_pairs(found: set[Pair], true: set[Pair]) -> Score:
    """Compare which input acts on which output."""
    if not found | true:
        return Score(precision=1.0, recall=1.0, f1=1.0, tp=0, fp=0, fn=0)
    return Score.from_counts(len(found & true), len(found - true), len(true - found))


def find_r2(graph: nx.DiGraph, data: Data, problem: Problem) -> float:
    """R^2 on the test samples, mean over outputs, of a regression on the inputs that reach each.

    The slopes have not seen the test samples; a graph may have.
    """
    reached = reach(graph)
    found = []
    for o, output in enumerate(data.outputs):
        causes = [i for i, name in enumerate(data.inputs) if output in reached.get(name, ())]
        seen, test = (rows[~np.isnan(data.y[rows, o])] for rows in (problem.seen, problem.test))
        if not len(seen) or not len(test):
            continue
        x, y = data.x[:, causes].astype(float), data.y[:, o]
        x, y = x - x[seen].mean(axis=0), y - y[seen].mean()
        slopes, _ = regress(x[seen], y[seen, None])
        left = ((y[test] - x[test] @ slopes[:, 0]) ** 2).sum()
        found.append(1 - left / max((y[test] ** 2).sum(), 1e-12))
    return float(np.mean(found)) if found else 0.0


def find_agreement(rows: Sequence[Row]) -> pd.DataFrame:
    """The Jaccard overlap of which input acts on which output, for each two methods."""
    pairs: Mapping[str, set[Pair]] = {
        row.method: list_pairs(row.graph) for row in rows if row.graph is not None
    }
    table = pd.DataFrame(1.0, index=list(pairs), columns=list(pairs))
    for one, other in product(pairs, pairs):
        if either := pairs[one] | pairs[other]:
            table.loc[one, other] = len(pairs[one] & pairs[other]) / len(either)
    return table
