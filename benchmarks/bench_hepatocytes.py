"""A real experiment with a partly known answer: stimuli and inhibitors of liver cells.

Every pair of input and output is known or not: the input, or what it inhibits, leads to the protein
of the output in the prior-knowledge network of the experiment's authors. The pairs that a graph
joins are compared with these, beside those of the plain baseline and beside the base rate: a graph
that joins pairs by chance has the share of known pairs for its precision. Of 22 pairs that are
textbook knowledge it is counted how many are found. Neither takes part in the fit.

The files are the user's (docs/real-data/hepatocytes.md says where they come from): x.csv with the
conditions as 0/1, y.csv with log2 of the phosphoproteins, covariates.csv with the type of the cells
in the column `cell`, and the network as SIF. The baseline takes no covariates: for it each output
is centred within each type.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pandas as pd
from scipy import stats

from pagetables import write_table
from rinn.config import DEVICES, RunSettings
from rinn.data.align import as_data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, reach
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data

# Columns as nodes of the network; the outputs p_STAT2 and p_Tyk2 are not in it.
INPUTS = {
    "IL1a": "il1a", "TGFa": "tgfa", "IL6": "il6", "INS": "ins", "TNFa": "tnfa", "PI3Ki": "pi3k",
    "MEK12i": "mek", "IKKi": "ikk",
}  # fmt: skip
OUTPUTS = {
    "p_AKT": "akt", "p_ERK12": "erk", "p_GSK3": "gsk3", "p_Ikb": "ikb", "p_JNK12": "jnk",
    "p_p38": "p38", "p_p70S6": "p70s6", "p_p90RSK": "p90rsk", "p_STAT3": "stat3", "p_cJUN": "cjun",
    "p_CREB": "creb", "p_HistH3": "histh3", "p_HSP27": "hsp27", "p_IRS1s": "irs1s",
    "p_MEK12": "mek", "p_p53": "p53",
}  # fmt: skip
CELL = "cell"
STRESS, GROWTH = (
    ("p_Ikb", "p_JNK12", "p_p38", "p_HSP27"),
    ("p_AKT", "p_GSK3", "p_ERK12", "p_p90RSK"),
)
TEXTBOOK = {
    "IL1a": STRESS,
    "TNFa": STRESS,
    "IL6": ("p_STAT3",),
    "INS": GROWTH,
    "TGFa": GROWTH,
    "PI3Ki": ("p_AKT", "p_GSK3", "p_p70S6"),
    "MEK12i": ("p_ERK12", "p_p90RSK"),
}
HEADERS = (
    "graph", "pairs", "right", "precision", "recall", "p", "of 22 textbook pairs",
    "inputs without an edge",
)  # fmt: skip

Pair = tuple[str, str]


@dataclass(frozen=True)
class Tables:
    """The experiment, and the pairs of it that are known."""

    x: pd.DataFrame
    y: pd.DataFrame
    covariates: pd.DataFrame
    known: frozenset[Pair]


@dataclass(frozen=True)
class Found:
    """A graph's pairs beside the known ones."""

    pairs: frozenset[Pair]
    known: frozenset[Pair]
    idle: tuple[str, ...]

    @property
    def right(self) -> frozenset[Pair]:
        """Pairs that are known."""
        return self.pairs & self.known

    @property
    def precision(self) -> float:
        """The share of the pairs that are known; 1 of none."""
        return len(self.right) / len(self.pairs) if self.pairs else 1.0

    @property
    def recall(self) -> float:
        """The share of known pairs that are found."""
        return len(self.right) / len(self.known)

    @property
    def p(self) -> float:
        """How probable as many right pairs are, were the pairs drawn at random (Fisher's test)."""
        total = len(INPUTS) * len(OUTPUTS)
        law = stats.hypergeom(total, len(self.known), len(self.pairs))
        return float(law.sf(len(self.right) - 1))

    @property
    def textbook(self) -> int:
        """How many pairs of textbook knowledge are found."""
        return sum((i, o) in self.pairs for i, names in TEXTBOOK.items() for o in names)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, what in (
        ("x", "conditions"),
        ("y", "phosphoproteins"),
        ("covariates", "types of cells"),
        ("network", "the authors' network, SIF"),
    ):
        parser.add_argument(f"--{name}", type=Path, required=True, help=what)
    parser.add_argument("--trials", type=int, help="networks, in place of the budget's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(arguments)
    try:
        tables = load_tables(options.x, options.y, options.covariates, options.network)
        settings = RunSettings(trials=options.trials, seed=options.seed)
        baseline = fit_baseline(tables, settings)
        graph = fit_rinn(tables, settings, options.device)
    except (InputError, OSError) as error:
        parser.error(str(error))
    found = {
        "regression, grouped": compare_pairs(baseline, tables.known),
        "rinn": compare_pairs(graph, tables.known),
    }
    print(make_table(found))
    print()
    print(_describe_graph(graph))
    print()
    print(_list_pairs(found["rinn"]))


def load_tables(x: Path, y: Path, covariates: Path, network: Path) -> Tables:
    """Read the files.

    Raises:
        InputError: a column is missing, or the network is no SIF file.
    """
    frames = [pd.read_csv(path, index_col=0) for path in (x, y, covariates)]
    for path, frame, names in zip(
        (x, y, covariates), frames, (INPUTS, OUTPUTS, (CELL,)), strict=True
    ):
        if missing := [name for name in names if name not in frame]:
            raise InputError(f"{path} must have the column {missing[0]!r}; give the file as it is")
    return Tables(*frames, find_known(network))


def find_known(network: Path) -> frozenset[Pair]:
    """The pairs whose output is reached from the input in a network of `source sign target`.

    Raises:
        InputError: a line has not three words, or a protein is not in the network.
    """
    graph: nx.DiGraph = nx.DiGraph()
    for number, line in enumerate(network.read_text().splitlines(), 1):
        words = line.split()
        if words and len(words) != 3:
            raise InputError(
                f"{network} must have three words a line, source, sign and target, but line "
                f"{number} has {len(words)}; give the network as SIF"
            )
        if words:
            graph.add_edge(words[0], words[2])
    if missing := [n for n in (*INPUTS.values(), *OUTPUTS.values()) if n not in graph]:
        raise InputError(f"{network} must have the protein {missing[0]!r}; give the whole network")
    return frozenset(
        (i, o)
        for i, source in INPUTS.items()
        for o, target in OUTPUTS.items()
        if target in nx.descendants(graph, source)
    )


def fit_rinn(tables: Tables, settings: RunSettings, device: str = "auto") -> nx.DiGraph:
    """The graph as a user gets it."""
    data = as_data(tables.x, tables.y, covariates=tables.covariates)
    return fit_data(data, settings, find_devices(device), refit=False).latent.graph


def fit_baseline(tables: Tables, settings: RunSettings) -> nx.DiGraph:
    """The graph of the strategy regression, each output centred within each type of cells."""
    cells = tables.covariates[CELL].reindex(tables.y.index)
    centred = tables.y - tables.y.groupby(cells).transform("mean")
    plain = RunSettings(strategy="regression", seed=settings.seed)
    return fit_data(as_data(tables.x, centred), plain, ()).latent.graph


def compare_pairs(graph: nx.DiGraph, known: frozenset[Pair]) -> Found:
    """Compare the pairs that a graph joins with the known ones."""
    reached = reach(graph)
    joined = {(i, o) for i in INPUTS for o in reached.get(i, ()) if o in OUTPUTS}
    idle = tuple(i for i in INPUTS if i not in graph or not graph.out_degree(i))
    return Found(frozenset(joined), known, idle)


def make_table(found: dict[str, Found]) -> str:
    """The graphs beside each other, and beside the base rate."""
    known = next(iter(found.values())).known
    total = len(INPUTS) * len(OUTPUTS)
    base = f"{len(known) / total:.2f}"
    rows = [("every pair", f"{total}", f"{len(known)}", base, "1.00", "", "22", "")]
    for name, one in found.items():
        counts = f"{len(one.pairs)}", f"{len(one.right)}"
        shares = f"{one.precision:.2f}", f"{one.recall:.2f}", f"{one.p:.2g}"
        rows.append((name, *counts, *shares, f"{one.textbook}", ", ".join(one.idle) or "none"))
    return write_table(HEADERS, rows)


def _describe_graph(graph: nx.DiGraph) -> str:
    """One line for each latent, and for each input with direct edges."""
    lines = []
    for latent in by_role(graph, "latent"):
        often = graph.nodes[latent].get("frequency", 1.0)
        above, below = graph.predecessors(latent), graph.successors(latent)
        lines.append(f"{latent} ({often:.2f}): {', '.join(above)} -> {', '.join(below)}")
    for name in by_role(graph, "input"):
        direct = [o for o in graph.successors(name) if graph.nodes[o]["role"] == "output"]
        if direct:
            lines.append(f"{name} -> {', '.join(direct)}")
    return "\n".join(lines)


def _list_pairs(found: Found) -> str:
    """Found, missed and extra pairs, input by input."""
    parts = {
        "found": found.right,
        "missed": found.known - found.pairs,
        "extra": found.pairs - found.known,
    }
    lines = []
    for word, pairs in parts.items():
        lines.append(f"{word}: {len(pairs)} pairs")
        for name in INPUTS:
            if own := [o.removeprefix("p_") for o in OUTPUTS if (name, o) in pairs]:
                lines.append(f"  {name}: {', '.join(own)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
