"""Real experiments with partly known answers: pairs found, missed and extra, beside a regression.

Every pair of input and output of a study is known or not (`known_answers.py`). The pairs that a
graph joins are compared with these, beside those of the plain baseline and beside the base rate: a
graph that joins pairs by chance has the fraction of known pairs as its precision. What is known
takes no part in a fit, and a pair that is not known may still be real.

The files are the user's: `--data` is a folder with x.csv and y.csv, and for liver cells
covariates.csv (column `cell`) and pkn.sif. The pages of docs/real-data name their sources. The
baseline takes no covariates: for it each output is centred within each of their levels. With
`--page` the tables are written into a page.

What is known is not complete. `--folds` asks of the rows themselves which pairs are real: graphs
are learned from the other folds, each output is regressed on the inputs that a graph joins with it,
and the error is measured in the rows that took no part. Pairs without effects raise it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from known_answers import STUDIES, Pair, Study
from pagetables import replace_table, write_table
from rinn.config import DEVICES, RunSettings
from rinn.data.align import as_data
from rinn.errors import InputError
from rinn.graphs.basics import by_role, reach
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data

HEADERS = (
    "graph", "pairs", "right", "precision", "recall", "F1", "p", "textbook pairs",
    "inputs without an edge",
)  # fmt: skip
FOLD_HEADERS = ("pairs of", "pairs", "held-out error", "less than the regression's")
PAIR_HEADERS = ("input", "known", "found", "missed", "extra")


@dataclass(frozen=True)
class Found:
    """A graph's pairs beside the known ones."""

    pairs: frozenset[Pair]
    study: Study
    idle: tuple[str, ...]

    @property
    def right(self) -> frozenset[Pair]:
        """Pairs that are known."""
        return self.pairs & self.study.known

    @property
    def precision(self) -> float:
        """The fraction of the pairs that are known; 1 of none."""
        return len(self.right) / len(self.pairs) if self.pairs else 1.0

    @property
    def recall(self) -> float:
        """The fraction of known pairs that are found."""
        return len(self.right) / len(self.study.known)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * len(self.right) / (len(self.pairs) + len(self.study.known))

    @property
    def p(self) -> float:
        """How probable as many right pairs are, were the pairs drawn at random (Fisher's test)."""
        total = len(self.study.inputs) * len(self.study.outputs)
        law = stats.hypergeom(total, len(self.study.known), len(self.pairs))
        return float(law.sf(len(self.right) - 1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, compare, and print or write into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    titles = "; ".join(f"{name}: {kind.title}" for name, kind in STUDIES.items())
    parser.add_argument("study", choices=list(STUDIES), help=titles)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files")
    parser.add_argument("--page", type=Path, help="page whose tables are replaced")
    parser.add_argument("--folds", type=int, help="compare held-out errors alone, in as many folds")
    parser.add_argument("--trials", type=int, help="networks, in place of the budget's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(arguments)
    kind = STUDIES[options.study]
    try:
        study = kind.load(options.data)
        settings = RunSettings(trials=options.trials, seed=options.seed)
        if options.folds:
            table = compare_held_out(study, settings, options.folds)
            if options.page:
                replace_table(options.page, "folds", table)
            else:
                print(table)
            return
        graphs = {
            "regression, grouped (`--strategy regression`)": fit_baseline(study, settings),
            "rinn": fit_rinn(study, settings, options.device),
        }
    except (InputError, OSError) as error:
        parser.error(str(error))
    found = {name: compare_pairs(graph, study) for name, graph in graphs.items()}
    tables = {"scores": make_table(found), "pairs": list_pairs(found["rinn"])}
    graph = f"```\n{describe_graph(graphs['rinn']) or 'no edge'}\n```"
    if options.page:
        has_graph = "<!-- begin graph -->" in options.page.read_text(encoding="utf-8")
        for name, table in {**tables, **({"graph": graph} if has_graph else {})}.items():
            replace_table(options.page, name, table)
        return
    print("\n\n".join([*tables.values(), graph]))


def fit_rinn(study: Study, settings: RunSettings, device: str = "auto") -> nx.DiGraph:
    """The graph as a user gets it."""
    data = as_data(study.x, study.y, covariates=study.covariates)
    return fit_data(data, settings, find_devices(device), refit=False).latent.graph


def fit_baseline(study: Study, settings: RunSettings) -> nx.DiGraph:
    """The graph of the strategy regression, each output centred within the covariates' levels."""
    plain = RunSettings(strategy="regression", seed=settings.seed)
    return fit_data(as_data(study.x, centre_levels(study)), plain, ()).latent.graph


def centre_levels(study: Study) -> pd.DataFrame:
    """The outputs, each centred within the covariates' levels."""
    if study.covariates is None:
        return study.y
    levels = study.covariates.reindex(study.y.index)
    return study.y - study.y.groupby([levels[name] for name in levels]).transform("mean")


def compare_held_out(study: Study, settings: RunSettings, folds: int) -> str:
    """Held-out errors of regressions on the pairs of each graph, all inputs and outputs."""
    rng = np.random.default_rng(settings.seed)
    fold = rng.permutation(len(study.x)) % folds
    x, y = study.x.to_numpy(float), centre_levels(study).to_numpy(float)
    y = y / y.std(axis=0)
    sizes: dict[str, list[int]] = {}
    errors: dict[str, list[np.ndarray]] = {}
    plain = replace(settings, trials=2, bootstraps=0)  # for time: no networks, no resamples
    for number in range(folds):
        seen = fold != number
        covariates = None if study.covariates is None else study.covariates.loc[seen]
        part = replace(study, x=study.x[seen], y=study.y[seen], covariates=covariates)
        graphs = fit_baseline(part, settings), fit_rinn(part, plain)
        regression, rinn = (mark_pairs(graph, study) for graph in graphs)
        every, more = np.ones_like(rinn), rinn & ~regression
        chosen = rng.choice(np.flatnonzero(~regression), more.sum(), replace=False)
        random = regression.copy()
        random.flat[chosen] = True
        for name, pairs in {
            "no pair": ~every,
            "regression": regression,
            "rinn": rinn,
            "regression, and those of rinn alone": regression | rinn,
            "regression, and as many at random": random,
            "every pair": every,
        }.items():
            sizes.setdefault(name, []).append(pairs.sum())
            errors.setdefault(name, []).append(measure_errors(x, y, seen, pairs))
    total = {name: np.concatenate(parts) for name, parts in errors.items()}
    whole = total["no pair"].sum()
    rows = []
    for name, values in total.items():
        less = total["regression"] - values
        spread = less.std(ddof=1) * np.sqrt(len(less)) / whole
        gain = "" if name == "regression" else f"{less.sum() / whole:.3f} ± {spread:.3f}"
        rows.append((name, f"{np.mean(sizes[name]):.0f}", f"{values.sum() / whole:.3f}", gain))
    return write_table(FOLD_HEADERS, rows)


def mark_pairs(graph: nx.DiGraph, study: Study) -> np.ndarray:
    """Which inputs a graph joins with which outputs, [input, output]."""
    reached = reach(graph)
    return np.array([[o in reached.get(i, ()) for o in study.y] for i in study.x])


def measure_errors(x: np.ndarray, y: np.ndarray, seen: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Squared errors of the rows that are not seen, summed over the outputs, [row]."""
    x, y = x - x[seen].mean(axis=0), y - y[seen].mean(axis=0)
    result = np.zeros(np.count_nonzero(~seen))
    for o, joined in enumerate(pairs.T):
        slopes = np.linalg.lstsq(x[seen][:, joined], y[seen, o], rcond=None)[0]
        result += (y[~seen, o] - x[~seen][:, joined] @ slopes) ** 2
    return result


def compare_pairs(graph: nx.DiGraph, study: Study) -> Found:
    """Compare the pairs that a graph joins with the known ones."""
    reached, counted = reach(graph), set(study.outputs)
    joined = {(i, o) for i in study.inputs for o in reached.get(i, ()) if o in counted}
    idle = tuple(i for i in study.inputs if i not in graph or not graph.out_degree(i))
    return Found(frozenset(joined), study, idle)


def make_table(found: Mapping[str, Found]) -> str:
    """The graphs beside each other, and beside the base rate."""
    study = next(iter(found.values())).study
    total, known = len(study.inputs) * len(study.outputs), len(study.known)
    sure = f"{len(study.textbook)}"
    base = f"{known / total:.2f}", "1.00", f"{2 * known / (total + known):.2f}"
    rows = [("every pair", f"{total}", f"{known}", *base, "", f"{sure} of {sure}", "")]
    for name, one in found.items():
        counts = f"{len(one.pairs)}", f"{len(one.right)}"
        shares = (f"{value:.2f}" for value in (one.precision, one.recall, one.f1))
        clear = f"{len(one.pairs & study.textbook)} of {sure}"
        idle = ", ".join(one.idle) or "none"
        rows.append((name, *counts, *shares, f"{one.p:.2g}", clear, idle))
    return write_table(HEADERS, rows)


def describe_graph(graph: nx.DiGraph) -> str:
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


def list_pairs(found: Found) -> str:
    """Known, found, missed and extra pairs, input by input."""
    known = found.study.known
    parts = known, found.right, known - found.pairs, found.pairs - known
    rows = []
    for name in found.study.inputs:
        own = [[o for o in found.study.outputs if (name, o) in part] for part in parts]
        cells = [", ".join(o.removeprefix("p_") for o in each) or "none" for each in own[1:]]
        rows.append((name, f"{len(own[0])}", *cells))
    return write_table(PAIR_HEADERS, rows)


if __name__ == "__main__":
    main()
