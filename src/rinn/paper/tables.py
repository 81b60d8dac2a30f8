"""From cells to tables: ours, the paper's, and the difference, row by row; what to say of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np

from rinn.paper.cells import DATASETS, DONE, FAILED, STRATEGIES, Cell, Job, Setup, load_published
from rinn.runs.manifest import Spread
from rinn.runs.progress import format_time

NA, NOT_RUN = "NA", "not run"
BETTER, WORSE, SAME = "better", "worse", "same"

_TEXTS = tomllib.loads(
    resources.files("rinn.paper").joinpath("texts.toml").read_text(encoding="utf-8")
)
TITLE, REFERENCE, ORACLE = _TEXTS["title"], _TEXTS["reference"], _TEXTS["oracle"]
PROTOCOL, NOTES = tuple(_TEXTS["protocol"]), _TEXTS["notes"]
DIFFERENCE, COST_TITLE = _TEXTS["difference"], _TEXTS["cost_title"]
COST_HEADERS = ("data", "strategy", "data seed", "networks", "time", "thresholds", "device")


@dataclass(frozen=True)
class Measure:
    """One column of a table; `better` is 1 or -1 where more or less is better, else 0."""

    key: str
    label: str
    better: int = 0
    digits: int = 2
    sd_digits: int = 2
    is_published: bool = True


@dataclass(frozen=True)
class Figure:
    """One measure of one dataset and strategy, over data seeds, and the paper's.

    `sd_models` is the mean of the cells' deviations over models, `sd_data` that over seeds.
    Where there is no figure of ours, `missing` says why.
    """

    measure: Measure
    seeds: int
    ours: float | None
    sd_models: float | None
    sd_data: float | None
    paper: Spread | None
    missing: str = NA

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper.mean

    @property
    def rounded(self) -> float | None:
        """The difference once ours is rounded to the digits that the paper prints."""
        if self.ours is None or self.paper is None:
            return None
        digits = self.measure.digits
        return round(round(self.ours, digits) - self.paper.mean, digits) + 0.0

    @property
    def verdict(self) -> str | None:
        """How ours compares at the digits that the paper prints; None where it cannot."""
        if self.rounded is None or not self.measure.better:
            return None
        if not self.rounded:
            return SAME
        return BETTER if self.rounded * self.measure.better > 0 else WORSE

    def format_ours(self) -> str:
        """Write ours: mean ± sd over models (± sd over data seeds); of a count just the mean."""
        if self.ours is None:
            return self.missing
        digits = self.measure.digits
        models = "" if self.sd_models is None else f" ± {self.sd_models:.{digits}f}"
        data = "" if self.sd_data is None or not digits else f" (± {self.sd_data:.{digits}f})"
        return f"{self.ours:,.{digits}f}{models}{data}"

    def format_paper(self) -> str:
        """Write the paper's figure as it is printed there."""
        if self.paper is None:
            return NA
        sd = "" if self.paper.sd is None else f" ± {self.paper.sd:.{self.measure.sd_digits}f}"
        return f"{self.paper.mean:,.{self.measure.digits}f}{sd}"

    def format_difference(self) -> str:
        """Write the difference of the figures as they are printed, with its sign."""
        if self.rounded is None:
            return NA
        text = f"{self.rounded:+,.{self.measure.digits}f}"
        return text if self.rounded else text[1:]


@dataclass(frozen=True)
class Row:
    """The figures of one dataset and strategy, and how many of its cells are done."""

    dataset: str
    strategy: str
    asked: int
    done: int
    figures: tuple[Figure, ...]

    @property
    def seeds(self) -> str:
        """How many data seeds are behind the figures."""
        return str(self.done) if self.done == self.asked else f"{self.done} of {self.asked}"


@dataclass(frozen=True)
class Table:
    """One of the paper's tables, or one of ours."""

    key: str
    title: str
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Comparison:
    """Everything that is shown: the cells so far, and the tables made of them."""

    setup: Setup
    jobs: tuple[Job, ...]
    cells: tuple[Cell, ...]

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The paper's three tables, and the graph's."""
        return tuple(self._make_table(*parts) for parts in TABLES)

    @cached_property
    def cost(self) -> Table:
        """Networks and seconds."""
        return self._make_table("cost", "Cost", COST)

    @property
    def failed(self) -> tuple[Cell, ...]:
        """The cells whose training failed."""
        return tuple(cell for cell in self.cells if cell.status == FAILED)

    @property
    def has_several_seeds(self) -> bool:
        """Whether any row has more than one data seed."""
        return any(job.seed != self.jobs[0].seed for job in self.jobs)

    @property
    def state(self) -> str:
        """How many cells are done."""
        done = f"{len(self.cells) - len(self.failed)} of {len(self.jobs)} cells done"
        return f"{done}, {len(self.failed)} failed" if self.failed else done

    @property
    def summary(self) -> tuple[str, ...]:
        """For each strategy, in how many F1 figures it is at or above the paper."""
        lines = []
        for strategy, label in STRATEGIES.items():
            verdicts = [
                figure.verdict
                for table in self.tables
                for row in table.rows
                for figure in row.figures
                if row.strategy == strategy and figure.measure.key in F1_KEYS and figure.verdict
            ]
            good = f"{sum(verdict != WORSE for verdict in verdicts)} of {len(verdicts)} F1 cells"
            lines += [f"{label}: at or above the paper in {good}"] if verdicts else []
        return tuple(lines)

    def _make_table(self, key: str, title: str, measures: tuple[Measure, ...]) -> Table:
        pairs = dict.fromkeys((job.dataset, job.strategy) for job in self.jobs)
        return Table(key, title, measures, tuple(self._make_row(*p, measures) for p in pairs))

    def _make_row(self, dataset: str, strategy: str, measures: tuple[Measure, ...]) -> Row:
        asked = [job for job in self.jobs if (job.dataset, job.strategy) == (dataset, strategy)]
        cells = [cell for cell in self.cells if cell.job in asked]
        done = [cell.figures for cell in cells if cell.status == DONE]
        missing = NA if done else FAILED if cells else NOT_RUN
        paper = load_published().get((dataset, strategy), {})
        figures = (_make_figure(measure, done, paper, missing) for measure in measures)
        return Row(dataset, strategy, len(asked), len(done), tuple(figures))


def compare(setup: Setup, jobs: Iterable[Job], cells: Mapping[Job, Cell]) -> Comparison:
    """Compare cells with the paper's figures."""
    datasets, strategies = list(DATASETS), list(STRATEGIES)

    def find_position(job: Job) -> tuple[int, int, int]:
        return datasets.index(job.dataset), strategies.index(job.strategy), job.seed

    order = tuple(sorted({*jobs, *cells}, key=find_position))
    return Comparison(setup, order, tuple(cells[job] for job in order if job in cells))


def list_figures(comparison: Comparison) -> list[dict[str, Any]]:
    """List every figure, one row for each dataset, strategy and measure; exact, not rounded."""
    return [
        {
            "dataset": row.dataset,
            "strategy": row.strategy,
            "measure": figure.measure.key,
            "ours_mean": figure.ours,
            "ours_sd_models": figure.sd_models,
            "ours_sd_data": figure.sd_data,
            "paper_mean": figure.paper and figure.paper.mean,
            "paper_sd": figure.paper and figure.paper.sd,
            "difference": figure.difference,
            "seeds": figure.seeds,
            "status": DONE if row.done else figure.missing,
        }
        for table in (*comparison.tables, comparison.cost)
        for row in table.rows
        for figure in row.figures
    ]


def _make_figure(
    measure: Measure,
    cells: Sequence[Mapping[str, Spread | None]],
    published: Mapping[str, Spread],
    missing: str,
) -> Figure:
    spreads = [spread for cell in cells if (spread := cell[measure.key]) is not None]
    paper = published.get(measure.key)
    if not spreads:
        return Figure(measure, 0, None, None, None, paper, missing)
    means = [spread.mean for spread in spreads]
    sds = [spread.sd for spread in spreads if spread.sd is not None]
    sd_models = float(np.mean(sds)) if sds else None
    sd_data = float(np.std(means, ddof=1)) if len(means) > 1 else None
    return Figure(measure, len(spreads), float(np.mean(means)), sd_models, sd_data, paper)


def describe_setup(comparison: Comparison) -> str:
    """Say what was run."""
    setup = comparison.setup
    size = {"quick": "the strategies' default search", "paper": "searches of the paper's size"}
    text = f"Budget {setup.budget} ({size.get(setup.budget, 'as named')})"
    if setup.trials is not None:
        text = (
            f"Smoke run of {setup.trials} networks for each cell, which is not a reproduction "
            f"(budget {setup.budget})"
        )
    return f"{text}; {setup.samples:,} samples for each draw of the data; rinn {setup.rinn}."


def describe_spreads(comparison: Comparison) -> str:
    """Say what the ± of the figures is."""
    ten = "ten best models" if comparison.setup.trials is None else "best models, at most ten"
    paper = "The paper's: mean ± standard deviation over its ten best models, on one draw."
    if not comparison.has_several_seeds:
        return f"Ours: mean ± standard deviation over the {ten}, on one draw of the data. {paper}"
    return (
        f"Ours: mean over data seeds of the mean over the {ten}; ± the standard deviation over "
        f"these models (mean over data seeds); in brackets (±) the standard deviation over data "
        f"seeds. {paper}"
    )


def label_ours(comparison: Comparison) -> str:
    """The header of a column of ours."""
    return "ours ± models (± data seeds)" if comparison.has_several_seeds else "ours ± models"


def list_costs(comparison: Comparison) -> list[tuple[str, ...]]:
    """One row of `COST_HEADERS` for each cell."""
    return [
        (cell.dataset, STRATEGIES[cell.strategy], str(cell.seed), f"{cell.networks:,}",
         format_time(cell.seconds), _describe_thresholds(cell), cell.device)
        for cell in comparison.cells
    ]  # fmt: skip


def _describe_thresholds(cell: Cell) -> str:
    parts = [
        f"{name} {scores.threshold:.3g}"
        for name, scores in (("hidden", cell.hidden), ("input", cell.input))
        if scores is not None and scores.threshold is not None
    ]
    parts += [f"{name} {value}" for name, value in (cell.chosen or {}).items()]
    return ", ".join(parts) or ("failed" if cell.status == FAILED else "none")


def _list_scores(kind: str, sd_digits: int) -> tuple[Measure, ...]:
    labels = {"precision": "precision", "recall": "recall", "f1": "F1"}
    return tuple(Measure(f"{kind}_{n}", label, 1, 2, sd_digits) for n, label in labels.items())


INPUT = (
    *_list_scores("input", 1),
    Measure("test_error", "test error", -1, sd_digits=1),
    Measure("auroc", "AUROC", 1, sd_digits=1),
)
HIDDEN = _list_scores("hidden", 2)
GRAPH = (
    Measure("graph_latents_f1", "latents F1", is_published=False),
    Measure("graph_edges_f1", "edges F1", is_published=False),
)
COST = (
    Measure("networks", "networks", digits=0, is_published=False),
    Measure("seconds", "seconds", digits=0, is_published=False),
)
TABLES = (
    ("input", "Table 1. Input mapping and test set", INPUT),
    ("hidden", "Table 2. Hidden mapping", HIDDEN),
    ("sets", "Table 3. Sets of hyper-parameters", (Measure("sets", "sets", digits=0),)),
    ("graph", "Not in the paper: the graph found without the truth", GRAPH),
)
F1_KEYS = ("input_f1", "hidden_f1")
