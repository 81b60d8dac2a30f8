"""Results as text on a terminal."""

from __future__ import annotations

from typing import Any

import networkx as nx
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rinn.graphs.basics import by_role

MOST_NAMES = 12
NO_NETWORKS = (
    "Without networks all scores are the graph's: the paper's rule is applied to what its latents "
    "and inputs reach."
)
LOSS_WORDS = {"mse": "mean squared error", "bce": "cross-entropy", "mixed": "mean deviance"}


def show_graph(graph: nx.DiGraph, console: Console) -> None:
    """Print the latents, one row each: what acts on them, what they act on."""
    table = Table(title="Latent graph", title_justify="left")
    for column in ("latent", "found in", "acted on by", "acts on"):
        table.add_column(column)
    for latent in by_role(graph, "latent"):
        frequency = graph.nodes[latent].get("frequency")
        table.add_row(
            escape(latent),
            "" if frequency is None else f"{100 * frequency:.0f} %",
            _names(sorted(graph.predecessors(latent), key=list(graph).index)),
            _names(sorted(graph.successors(latent), key=list(graph).index)),
        )
    if table.row_count:
        console.print(table)
    else:
        console.print("No latent was found.")


def say_comparison(manifest: dict[str, Any], graph: nx.DiGraph) -> str | None:
    """Say how the graph's network predicts, and what that means of a graph without any edge.

    Args:
        manifest: of a run.
        graph: its graph.

    Returns:
        One or two sentences; None where the strategy makes no predictions.

    Example:
        >>> said = {"sentence": "It predicts as well as others.", "carries": True}
        >>> say_comparison({"comparison": said}, nx.DiGraph()).partition(". ")[2]
        "The graph has no edge: its network guesses each output's mean, and others do no better."
    """
    about = manifest.get("comparison")
    if not about:
        return None
    if graph.number_of_edges():
        return str(about["sentence"])
    guess = "each output's mean"
    if manifest.get("covariates"):
        guess = "each output by its covariates"
    rest = ", and others do no better" if about["carries"] else ""
    return f"{about['sentence']} The graph has no edge: its network guesses {guess}{rest}."


def say_dropped(dropped: list[dict[str, str]]) -> list[str]:
    """Name what was left out of the tables: columns one by one, then how much more there is."""
    columns = [entry for entry in dropped if not entry["reason"].startswith("sample")]
    words = [f"left out {e['name']} of {e['table']}: {e['reason']}" for e in columns[:MOST_NAMES]]
    samples = len(dropped) - len(columns)
    if len(columns) > MOST_NAMES:
        words.append(f"left out {len(columns) - MOST_NAMES} more columns (see manifest.json)")
    if samples:
        words.append(f"left out {samples} samples that only one table has (see manifest.json)")
    return words


def show_scores(scores: dict[str, Any], console: Console) -> None:
    """Print scores against a truth, with what each of them has seen of it."""
    table = Table(title="Scores against the truth", title_justify="left")
    for column in ("what", "precision", "recall", "F1"):
        table.add_column(column, justify="left" if column == "what" else "right")
    paper, graph = scores["paper"], scores["graph"]
    by_networks = paper["threshold"] is not None
    whose = "paper's protocol, {}*" if by_networks else "paper's rule, {}"
    _score_row(table, whose.format("hidden nodes"), paper["hidden"])
    if paper["input"]:
        _score_row(table, whose.format("inputs"), paper["input"])
    _score_row(table, "graph, latents", graph["latents"])
    _score_row(table, "graph, edges", graph["edges"])
    console.print(table)
    console.print(
        f"graph: {graph['shd']} edges differ (SHD), {graph['order_errors']} order errors",
        highlight=False,
    )
    if graph.get("twins"):
        console.print(
            f"twins, latents of the truth that share their outputs: {graph['twins_found']} of "
            f"{graph['twins']} have a latent of their own",
            highlight=False,
        )
    note = "* threshold chosen with sight of the truth, as in the paper"
    console.print(note if by_networks else NO_NETWORKS, style="dim")


def show_test(test: dict[str, Any] | None, console: Console) -> None:
    """Print the error of what predicts on the samples that no network has seen."""
    if test is None:
        console.print("test set: not used, since the strategy makes no predictions")
        return
    words = LOSS_WORDS[test["loss"]]
    line = f"test set ({test['samples']} samples): {words} {_spread(test['error'])}"
    if test["auroc"]:
        line += f", AUROC {_spread(test['auroc'])}"
    console.print(line, highlight=False)


def _score_row(table: Table, name: str, score: dict[str, float]) -> None:
    table.add_row(name, *(f"{score[key]:.2f}" for key in ("precision", "recall", "f1")))


def _spread(value: dict[str, float]) -> str:
    return f"{value['mean']:.4g} ± {value['sd']:.2g}"


def _names(names: list[str]) -> str:
    shown = ", ".join(escape(name) for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
