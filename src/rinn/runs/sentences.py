"""The results of a run, in sentences that can go into a paper."""

from __future__ import annotations

import math

import networkx as nx

from rinn.errors import count
from rinn.runs.manifest import Manifest
from rinn.structure.qvalues import Null, assign_q

LEVEL = 0.05
NO_NETWORKS = (
    "Without networks all scores are the graph's: the paper's rule is applied to what its latents "
    "and inputs reach."
)
LOSS_LABELS = {"mse": "mean squared error", "bce": "cross-entropy", "mixed": "mean deviance"}


def describe_comparison(manifest: Manifest, graph: nx.DiGraph) -> str | None:
    """Say how the graph's network predicts, and what that means of a graph without any edge."""
    comparison = manifest.comparison
    if comparison is None:
        return None
    if graph.number_of_edges():
        return comparison.sentence
    guess = "each output by its covariates" if manifest.covariates else "each output's mean"
    others = ", and others do no better" if comparison.is_adequate else ""
    return f"{comparison.sentence} The graph has no edge: its network guesses {guess}{others}."


def summarise_null(null: Null, graph: nx.DiGraph) -> str:
    """Say in two sentences how much of a graph is chance, for a paper."""
    q = list(assign_q(graph, null).values())
    forced = ""
    if stated := graph.number_of_edges() - len(q):
        # Edges that are there because the prior says so are neither found nor chance.
        those = f"{'one' if stated == 1 else stated} that the prior states"
        forced = f", not counting {those}" if q else f" but {those}"
    return f"{_describe_edges(null)}; {_describe_q(q)}{forced}. {_describe_decoys(null)}."


def _describe_edges(null: Null) -> str:
    rounds = count(null.rounds, "round")
    networks = f" of {count(null.networks, 'network')}" if null.networks else ""
    each = "" if null.rounds == 1 else " per graph"
    edges = f"{null.reported:.2g} edges were drawn{each}"
    if null.reported == 0:
        edges = "no edge was drawn"
    elif null.reported == 1:
        edges = f"1 edge was drawn{each}"
    elif null.reported >= 10:
        edges = f"{null.reported:.0f} edges were drawn{each}"
    return f"With the rows of Y permuted ({rounds}{networks}), {edges}"


def _describe_q(q: list[float]) -> str:
    """How many edges are hardly chance; both ends of what is above the level."""
    if not q:
        return "this graph has no edge"
    low = sum(value <= LEVEL for value in q)
    if low == len(q) == 1:
        return f"the only edge of this graph has q at most {_round_up(q[0])}"
    if low == len(q):
        all_of_them = "both" if low == 2 else f"all {low}"
        return f"{all_of_them} edges of this graph have q at most {_round_up(max(q))}"
    if len(q) == 1:
        return f"the only edge of this graph has q = {q[0]:.2g}"
    if not low:
        none = "neither of the 2" if len(q) == 2 else f"none of the {len(q)}"
        return f"{none} edges of this graph has q at most {LEVEL}, the lowest being {min(q):.2g}"
    verb = "has" if low == 1 else "have"
    return (
        f"{low} of the {len(q)} edges of this graph {verb} q at most {LEVEL}, the highest being "
        f"{max(q):.2g}"
    )


def _describe_decoys(null: Null) -> str:
    seen = null.decoyed
    if seen.decoys == 1:
        decoys = "The one decoy input, a permuted copy of a real one, was "
        decoys += "connected" if seen.connected_decoys else "not connected"
    else:
        were = _describe_fraction(seen.connected_decoys, seen.decoys)
        decoys = f"Of {seen.decoys} decoy inputs, permuted copies of real ones, {were} connected"
    if seen.inputs == 1:
        return f"{decoys}; the real one was{'' if seen.connected_inputs else ' not'}"
    pronoun = "it" if seen.decoys == 1 else "them"
    were = _describe_fraction(seen.connected_inputs, seen.inputs)
    return f"{decoys}; of the {seen.inputs} real inputs next to {pronoun}, {were}"


def _describe_fraction(part: int, total: int) -> str:
    if part == total:
        return "both were" if total == 2 else "all were"
    return {0: "none was", 1: "one was"}.get(part, f"{part} were")


def _round_up(value: float) -> str:
    """Two digits, not below the value."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step - 1e-9) * step:.2g}"
