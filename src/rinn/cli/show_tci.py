"""A TCI result as text on a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rinn.files import read_table
from rinn.genomics.tci.run import TciResult

MOST_ROWS = 15


def show_tci(result: TciResult, console: Console) -> None:
    """Print what was found, and the drivers that are called most often."""
    summary = result.summary
    tissues = f", {summary['tissues']} tissues" if summary["tissues"] else ""
    for line in (
        f"{summary['tumours']} tumours, {summary['sgas']} SGAs, {summary['degs']} DEGs{tissues}",
        f"{summary['explained']} DEGs in tumours explained, "
        f"{100 * summary['unknown_share']:.1f} % of them best by no measured SGA",
        f"{summary['calls']} drivers called in {summary['tumours_with_calls']} tumours; "
        f"{summary['drivers']} SGAs are drivers overall, with {summary['targets']} targets",
        f"kept {summary['selected_sgas']} SGAs and {summary['selected_degs']} DEGs",
    ):
        console.print(line, highlight=False, soft_wrap=True)
    if summary["cutoff_of_one"]:
        console.print(
            f"{summary['cutoff_of_one']} SGAs that are not rare have the cut-off 1, as those that "
            f"permuted Y never puts on top: more --permutations or a lower --most-cutoff lets them "
            f"be called",
            highlight=False,
            soft_wrap=True,
        )
    if summary["drivers"]:
        console.print(_list_drivers(result.folder, summary["drivers"]))


def _list_drivers(folder: Path, count: int) -> Table:
    rows = read_table(folder / "drivers.csv", dtype={"sga": str})
    shown = f", the first {MOST_ROWS} of {count}" if count > MOST_ROWS else ""
    table = Table(title=f"Drivers overall{shown}", title_justify="left")
    for column in ("SGA", "carriers", "called in", "rate", "cut-off"):
        table.add_column(column, justify="left" if column == "SGA" else "right")
    for row in rows.head(min(count, MOST_ROWS)).itertuples():
        table.add_row(
            escape(str(row.sga)),
            str(row.carriers),
            str(row.called),
            f"{row.rate:.2f}",
            f"{row.cutoff:.3f}",
        )
    return table
