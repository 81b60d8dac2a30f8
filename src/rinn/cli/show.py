"""Results as text on a terminal."""

from __future__ import annotations

from typing import Any

import networkx as nx
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rinn.graphs.assumptions import DataComparison, PairTest
from rinn.graphs.basics import by_role
from rinn.runs.check import CheckResult
from rinn.runs.sentences import LOSS_WORDS, NO_NETWORKS

MOST_NAMES = 12
MOST_PAIRS = 10
_STYLES = {"holds": "green", "broken": "red", "doubtful": "yellow", "open": "dim"}


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


def show_check(result: CheckResult, console: Console) -> None:
    """Print the findings: latents, then assumptions, then where data and graph differ.

    Args:
        result: the findings.
        console: where to print.
    """
    size = ", ".join(_count(number, name.removesuffix("s")) for name, number in result.size.items())
    known = sum(finding.identifiable for finding in result.latents)
    _say(console, f"If this graph is the truth ({size}), this much of it can be known:")
    _say(
        console,
        f"{_count(result.kept_latents, 'latent')} and {_count(result.kept_edges, 'edge')} lie "
        "between inputs and outputs (the modified graph); "
        f"{known} of the latents are identifiable.",
    )
    if result.latents:
        console.print(_list_latents(result))
    console.print(_list_assumptions(result))
    for about in (result.effects, result.fit):
        if about is not None:
            _say(console, about["sentence"])
    if result.data is not None:
        _show_data(result.data, console)


def _say(console: Console, sentence: str) -> None:
    console.print(sentence, highlight=False, markup=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _list_latents(result: CheckResult) -> Table:
    table = Table(title="Latents", title_justify="left")
    for column in ("latent", "identifiable", "why"):
        table.add_column(column)
    for finding in result.latents:
        word = "[green]yes[/]" if finding.identifiable else "[red]no[/]"
        word = "[yellow]yes, but[/]" if finding.spare else word
        table.add_row(escape(finding.name), word, escape(finding.reason))
    return table


def _list_assumptions(result: CheckResult) -> Table:
    table = Table(title="Assumptions (docs/assumptions.md)", title_justify="left")
    for column in ("", "assumes that", "here", "why"):
        table.add_column(column)
    for one in result.assumptions:
        style = _STYLES[one.status]
        table.add_row(one.name, one.says, f"[{style}]{one.status}[/]", escape(one.detail))
    return table


def _show_data(data: DataComparison, console: Console) -> None:
    held = ["all other inputs"] if data.given == "inputs" else []
    fixed = f"{' and '.join([*held, *data.covariates]) or 'nothing'} held fixed"
    _say(
        console,
        f"Data: {data.samples} samples, {data.pairs} pairs of input and output, {fixed}, "
        f"false discovery rate {data.level:g}.",
    )
    _list_pairs("in the data but not in the graph", data.unexplained, console)
    _list_pairs("in the graph but not seen in the data", data.silent, console)
    if data.untested:
        names = ", ".join(data.untested[:MOST_PAIRS])
        whose = "other inputs or covariates" if data.covariates else "other inputs"
        _say(console, f"Not tested, since {whose} repeat them ({len(data.untested)}): {names}")
    if data.few:
        names = ", ".join(data.few[:MOST_PAIRS])
        _say(console, f"Not tested, since too few values are known ({len(data.few)}): {names}")
    if data.unknown:
        names = ", ".join(data.unknown[:MOST_PAIRS])
        _say(console, f"Only in the graph or only in the tables ({len(data.unknown)}): {names}")


def _list_pairs(where: str, pairs: tuple[PairTest, ...], console: Console) -> None:
    _say(console, f"Dependent {where}: {_count(len(pairs), 'pair')}")
    for test in pairs[:MOST_PAIRS]:
        _say(
            console,
            f"  {test.x} and {test.y} (correlation {test.correlation:+.3f}, q = {test.q:.2g})",
        )
    if len(pairs) > MOST_PAIRS:
        _say(console, f"  and {len(pairs) - MOST_PAIRS} more")
