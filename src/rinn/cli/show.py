"""Results as text on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import networkx as nx
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rinn.data.records import Dropped
from rinn.errors import count
from rinn.files import read_table
from rinn.genomics.prepare.run import Preparation
from rinn.genomics.tci.run import TciResult
from rinn.graphs.assumptions import DataComparison, PairTest
from rinn.graphs.basics import by_role
from rinn.paper.cells import DATASETS, STRATEGIES
from rinn.paper.tables import BETTER, WORSE, Comparison, Figure, describe_setup
from rinn.paper.tables import Table as Results
from rinn.runs.check import CheckResult
from rinn.runs.manifest import PredictionSummary, Scores, ScoreValues, Spread
from rinn.runs.progress import format_time
from rinn.runs.read import RunContents
from rinn.runs.sentences import (
    EMPTY,
    LOSS_LABELS,
    NO_NETWORKS,
    describe_comparison,
    describe_yardsticks,
)

MAX_NAMES = 12
MAX_PAIRS = 10
MAX_ROWS = 15
STATUS_STYLES = {"holds": "green", "broken": "red", "doubtful": "yellow", "open": "dim"}
FIGURE_STYLES = {BETTER: "bold blue", WORSE: "yellow"}
KEY = (
    "Ours, then the difference from the paper's figure; with spreads and the paper's own figures "
    "in the files. Tables 1 and 2: thresholds chosen with knowledge of the truth, as in the paper: "
    "users do not reach these scores."
)


def show_run(run: RunContents, console: Console, *, is_scored: bool) -> None:
    """Print what `fit` has found: warnings, the graph, sentences about it, and scores."""
    manifest = run.manifest
    prior, covariates = manifest.prior, manifest.covariates
    _print(console, *(manifest.warnings or ()), *list_dropped(manifest.tables.dropped))
    _print(console, *(covariates.notes if covariates else ()))
    show_graph(run.graph, console)
    show_test(manifest.test, console, is_measured=manifest.effects is not None)
    _print(console, *(prior.notes if prior else ()))
    for part in (manifest.effects, manifest.fit, manifest.outputs, covariates, prior):
        _print(console, *([part.sentence] if part else []))
    _print(console, *filter(None, [describe_comparison(manifest, run.graph)]))
    _print(console, *filter(None, [describe_yardsticks(manifest)]))
    _print(console, *([manifest.null.sentence] if manifest.null else []))
    if run.scores and is_scored:
        show_scores(run.scores, console)


def make_table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A table with these columns, aligned to the left and to the right."""
    table = Table(title=title, title_justify="left")
    for column in left:
        table.add_column(column)
    for column in right:
        table.add_column(column, justify="right")
    return table


def show_graph(graph: nx.DiGraph, console: Console) -> None:
    """Print the latents, one row each: what acts on them, what they act on."""
    table = make_table("Latent graph", ("latent", "frequency", "causes", "acts on"))
    for latent in by_role(graph, "latent"):
        frequency = graph.nodes[latent].get("frequency")
        table.add_row(
            escape(latent),
            "" if frequency is None else f"{100 * frequency:.0f}%",
            _names(sorted(graph.predecessors(latent), key=list(graph).index)),
            _names(sorted(graph.successors(latent), key=list(graph).index)),
        )
    if table.row_count:
        console.print(table)
    else:
        console.print("No latent was found.")
        if not graph.number_of_edges():
            console.print(EMPTY)


def list_dropped(dropped: Sequence[Dropped]) -> list[str]:
    """Name what was left out of the tables: columns one by one, then how much more there is."""
    columns = [entry for entry in dropped if not entry.reason.startswith("sample")]
    lines = [f"left out {e.name} of {e.table}: {e.reason}" for e in columns[:MAX_NAMES]]
    samples = len(dropped) - len(columns)
    if len(columns) > MAX_NAMES:
        lines.append(f"left out {len(columns) - MAX_NAMES} more columns (see manifest.json)")
    if samples:
        lines.append(f"left out {samples} samples that only one table has (see manifest.json)")
    return lines


def show_scores(scores: Scores, console: Console) -> None:
    """Print scores against a truth, with a note on what they know of it."""
    table = make_table("Scores against the truth", ("what",), ("precision", "recall", "F1"))
    paper, graph = scores["paper"], scores["graph"]
    by_networks = paper["threshold"] is not None
    whose = "paper's protocol, {}*" if by_networks else "paper's rule, {}"
    rows: dict[str, ScoreValues | None] = {
        whose.format("hidden nodes"): paper["hidden"],
        whose.format("inputs"): paper["input"],
        "graph, latents": graph["latents"],
        "graph, edges": graph["edges"],
    }
    for name, score in rows.items():
        if score:
            numbers = (score["precision"], score["recall"], score["f1"])
            table.add_row(name, *(f"{number:.2f}" for number in numbers))
    console.print(table)
    _print(
        console, f"graph: {graph['shd']} edges differ (SHD), {graph['order_errors']} order errors"
    )
    if graph["twins"]:
        _print(
            console,
            f"twins, latents of the truth that share their outputs: {graph['twins_found']} of "
            f"{graph['twins']} have their own latent",
        )
    note = "* threshold chosen with knowledge of the truth, as in the paper"
    console.print(note if by_networks else NO_NETWORKS, style="dim")


def show_test(test: PredictionSummary | None, console: Console, *, is_measured: bool) -> None:
    """Print the prediction error on the samples that no network has seen."""
    if test is None:
        why = "not used, since the strategy makes no predictions"
        console.print(f"test set: {'none, as samples are few' if is_measured else why}")
        return
    label = LOSS_LABELS[test.loss]
    unit = " in the units of Y" if test.loss == "mse" else ""
    line = f"test set ({test.samples} samples): {label} {_spread(test.error)}{unit}"
    if test.auroc:
        line += f", AUROC {_spread(test.auroc)}"
    console.print(line, highlight=False)


def _spread(value: Spread) -> str:
    return f"{value.mean:.4g} ± {value.sd or 0.0:.2g}"


def _names(names: list[str]) -> str:
    shown = ", ".join(escape(name) for name in names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def show_check(result: CheckResult, console: Console) -> None:
    """Print the findings: latents, then assumptions, then where data and graph differ."""
    size = ", ".join(count(number, name.removesuffix("s")) for name, number in result.size.items())
    identifiable = sum(finding.identifiable for finding in result.latents)
    _print(
        console,
        f"If this graph ({size}) is the true one, data can identify this much of it:",
        f"{count(result.kept_latents, 'latent')} and {count(result.kept_edges, 'edge')} are "
        f"between inputs and outputs (the modified graph); {identifiable} of the latents are "
        "identifiable.",
    )
    table = make_table("Latents", ("latent", "identifiable", "why"))
    for finding in result.latents:
        word = "[green]yes[/]" if finding.identifiable else "[red]no[/]"
        word = "[yellow]yes, but[/]" if finding.spare else word
        table.add_row(escape(finding.name), word, escape(finding.reason))
    if result.latents:
        console.print(table)
    table = make_table("Assumptions (docs/assumptions.md)", ("", "assumes that", "here", "why"))
    for one in result.assumptions:
        style = STATUS_STYLES[one.status]
        table.add_row(one.name, one.says, f"[{style}]{one.status}[/]", escape(one.detail))
    console.print(table)
    for about in (result.effects, result.fit):
        if about is not None:
            _print(console, about["sentence"])
    if result.data is not None:
        _show_data(result.data, console)


def _print(console: Console, *sentences: str) -> None:
    for sentence in sentences:
        console.print(sentence, highlight=False, markup=False)


def _show_data(data: DataComparison, console: Console) -> None:
    held = ["all other inputs"] if data.given == "inputs" else []
    fixed = f"{' and '.join([*held, *data.covariates]) or 'nothing'} held fixed"
    _print(
        console,
        f"Data: {data.samples} samples, {data.pairs} pairs of input and output, {fixed}, "
        f"false discovery rate {data.level:g}.",
    )
    _list_pairs("in the data but not in the graph", data.unexplained, console)
    _list_pairs("in the graph but not seen in the data", data.silent, console)
    others = "other inputs or covariates" if data.covariates else "other inputs"
    for what, names in (
        (f"Not tested, since {others} repeat them", data.untested),
        ("Not tested, since too few values are observed", data.few),
        ("Only in the graph or only in the tables", data.unknown),
    ):
        if names:
            _print(console, f"{what} ({len(names)}): {', '.join(names[:MAX_PAIRS])}")


def _list_pairs(where: str, pairs: tuple[PairTest, ...], console: Console) -> None:
    _print(console, f"Dependent {where}: {count(len(pairs), 'pair')}")
    for test in pairs[:MAX_PAIRS]:
        _print(
            console,
            f"  {test.x} and {test.y} (correlation {test.correlation:+.3f}, q = {test.q:.2g})",
        )
    if len(pairs) > MAX_PAIRS:
        _print(console, f"  and {len(pairs) - MAX_PAIRS} more")


def list_preparation(result: Preparation) -> list[str]:
    """Lines about the files and steps, the warnings, and what to do next."""
    folder, summary = result.folder, result.manifest["summary"]
    nouns = ("tumour", "sample", "input", "output")
    sizes = [count(summary[f"{noun}s"], noun) for noun in nouns if f"{noun}s" in summary]
    if len(summary.get("tissues", ())) > 1:
        sizes.append(count(len(summary["tissues"]), "tissue"))
    covariates = f" --covariates {folder / 'covariates.csv'}" if summary["covariates"] else ""
    return [
        *(map(str, result.prepared.logs) if result.prepared else ()),
        *summary["warnings"],
        f"{'wrote' if result.prepared else 'made before:'} {folder}: {', '.join(sizes)}",
        f"open {folder / 'summary.html'}",
        f"next: rinn fit {folder / 'x.csv'} {folder / 'y.csv'}{covariates} --out run",
    ]


def show_tci(result: TciResult, console: Console) -> None:
    """Print what was found, and the drivers that are called most often."""
    summary = result.manifest["summary"]
    tissues = f", {summary['tissues']} tissues" if summary["tissues"] else ""
    lines = [
        f"{summary['tumours']} tumours, {summary['sgas']} SGAs, {summary['degs']} DEGs{tissues}",
        f"{summary['explained']} DEGs in tumours explained, "
        f"{100 * summary['unknown_fraction']:.1f}% of them best explained by no measured SGA",
        f"{summary['calls']} drivers called in {summary['tumours_with_calls']} tumours; "
        f"{summary['drivers']} SGAs are overall drivers, with {summary['targets']} targets",
        f"kept {summary['selected_sgas']} SGAs and {summary['selected_degs']} DEGs",
    ]
    if summary["cutoff_of_one"]:
        lines.append(
            f"{summary['cutoff_of_one']} SGAs that are not rare have the cut-off 1, because they "
            f"are never the top cause on permuted Y: more --permutations or a lower --max-cutoff "
            f"allows calls"
        )
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)
    if not summary["drivers"]:
        return
    rows = read_table(result.folder / "drivers.csv", dtype={"sga": str})
    more = summary["drivers"] > MAX_ROWS
    shown = f", the first {MAX_ROWS} of {summary['drivers']}" if more else ""
    columns = ("carriers", "called in", "rate", "cut-off")
    table = make_table(f"Overall drivers{shown}", ("SGA",), columns)
    for row in rows.head(min(summary["drivers"], MAX_ROWS)).itertuples():
        numbers = str(row.carriers), str(row.called), f"{row.rate:.2f}", f"{row.cutoff:.3f}"
        table.add_row(escape(str(row.sga)), *numbers)
    console.print(table)


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print every table, and a summary below them."""
    for table in comparison.tables:
        console.print(_draw_table(table))
    console.print(KEY, style="dim", highlight=False)
    cells = comparison.cells
    networks, time = sum(cell.networks for cell in cells), sum(cell.seconds for cell in cells)
    devices = ", ".join(dict.fromkeys(cell.device for cell in cells)) or "no device"
    cost = f"{networks:,} networks in {format_time(time)} on {devices}."
    lines = [cost, describe_setup(comparison), f"{comparison.state}."]
    for line in (*lines, *(f"{line}." for line in comparison.summary)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _draw_table(table: Results) -> Table:
    grid = Table(
        title=table.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        collapse_padding=True,
    )  # fmt: skip
    grid.add_column("data", no_wrap=True)
    for measure in table.measures:
        grid.add_column(measure.label, no_wrap=True)
    for dataset, rows in groupby(table.rows, key=lambda row: row.dataset):
        grid.add_row(DATASETS[dataset], style="dim")
        for row in rows:
            grid.add_row(f"  {STRATEGIES[row.strategy]}", *map(_write_figure, row.figures))
    return grid


def _write_figure(figure: Figure) -> str:
    if figure.ours is None:
        return figure.missing
    ours = f"{figure.ours:,.{figure.measure.digits}f}"
    if figure.difference is None:
        return ours
    style = FIGURE_STYLES.get(figure.verdict or "", "default")
    return f"{ours} [{style}]{figure.format_difference()}[/]"
