"""From cells to tables: ours, the paper's, and the difference, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rinn.paper.cells import DATASETS, DONE, FAILED, STRATEGIES, Cell, Job, Setup, Spread, sample_sd
from rinn.paper.published import Published, find_published

NA, NOT_RUN = "NA", "not run"
BETTER, WORSE, SAME = "better", "worse", "same"


@dataclass(frozen=True)
class Measure:
    """One column of a table: how to read it from a cell and from the paper.

    `better` is 1 where more is better, -1 where less is, 0 where neither. The paper prints its
    standard deviations to `sd_digits`.
    """

    key: str
    label: str
    ours: Callable[[Cell], Spread | None]
    paper: Callable[[Published], Spread | None] | None = None
    better: int = 0
    digits: int = 2
    sd_digits: int = 2


@dataclass(frozen=True)
class Figure:
    """One measure of one dataset and strategy, over data seeds, beside the paper's.

    `ours` is the mean over data seeds; `sd_models` the mean of the cells' standard deviations over
    models, `sd_data` the standard deviation over data seeds (None for one). Where there is no
    figure of ours, `missing` says why.
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
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper.mean

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

    def say_ours(self) -> str:
        """Write ours: mean ± sd over models (± sd over data seeds); of a count just the mean."""
        if self.ours is None:
            return self.missing
        digits = self.measure.digits
        models = "" if self.sd_models is None else f" ± {self.sd_models:.{digits}f}"
        data = "" if self.sd_data is None or not digits else f" (± {self.sd_data:.{digits}f})"
        return f"{self.ours:,.{digits}f}{models}{data}"

    def say_paper(self) -> str:
        """Write the paper's figure as it is printed there."""
        if self.paper is None:
            return NA
        sd = "" if self.paper.sd is None else f" ± {self.paper.sd:.{self.measure.sd_digits}f}"
        return f"{self.paper.mean:,.{self.measure.digits}f}{sd}"

    def say_difference(self) -> str:
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

    @property
    def published(self) -> bool:
        """Whether the paper has figures of this kind."""
        return any(measure.paper for measure in self.measures)


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
        """The cells whose training came to nothing."""
        return tuple(cell for cell in self.cells if cell.status == FAILED)

    @property
    def several(self) -> bool:
        """Whether any row stands on more than one data seed."""
        return any(job.seed != self.jobs[0].seed for job in self.jobs)

    @property
    def state(self) -> str:
        """How many cells are done."""
        done = len(self.cells) - len(self.failed)
        words = f"{done} of {len(self.jobs)} cells done"
        return f"{words}, {len(self.failed)} failed" if self.failed else words

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
            good = sum(verdict != WORSE for verdict in verdicts)
            if verdicts:
                lines.append(
                    f"{label}: at or above the paper in {good} of {len(verdicts)} F1 cells"
                )
        return tuple(lines)

    def _make_table(self, key: str, title: str, measures: tuple[Measure, ...]) -> Table:
        pairs = dict.fromkeys((job.dataset, job.strategy) for job in self.jobs)
        return Table(key, title, measures, tuple(self._make_row(*p, measures) for p in pairs))

    def _make_row(self, dataset: str, strategy: str, measures: tuple[Measure, ...]) -> Row:
        asked = [job for job in self.jobs if (job.dataset, job.strategy) == (dataset, strategy)]
        cells = [cell for cell in self.cells if cell.job in asked]
        done = [cell for cell in cells if cell.status == DONE]
        missing = NA if done else FAILED if cells else NOT_RUN
        published = find_published(dataset, strategy)
        figures = (_make_figure(measure, done, published, missing) for measure in measures)
        return Row(dataset, strategy, len(asked), len(done), tuple(figures))


def compare(setup: Setup, jobs: Iterable[Job], cells: Mapping[Job, Cell]) -> Comparison:
    """Put cells beside the paper's figures."""
    order = tuple(sorted({*jobs, *cells}, key=_place))
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
    measure: Measure, cells: Sequence[Cell], published: Published, missing: str
) -> Figure:
    found = [spread for spread in map(measure.ours, cells) if spread is not None]
    paper = measure.paper(published) if measure.paper else None
    if not found:
        return Figure(measure, 0, None, None, None, paper, missing)
    means = [spread.mean for spread in found]
    sds = [spread.sd for spread in found if spread.sd is not None]
    return Figure(
        measure,
        len(found),
        float(np.mean(means)),
        float(np.mean(sds)) if sds else None,
        sample_sd(means) if len(means) > 1 else None,
        paper,
    )


def _place(job: Job) -> tuple[int, int, int]:
    return list(DATASETS).index(job.dataset), list(STRATEGIES).index(job.strategy), job.seed


def _mapping(kind: str, sd_digits: int) -> tuple[Measure, ...]:
    """Precision, recall and F1 of the hidden or the input mapping."""

    def reader(name: str) -> Callable[[Any], Spread | None]:
        def read(result: Any) -> Spread | None:
            scores = getattr(result, kind)
            return None if scores is None else getattr(scores, name)

        return read

    labels = {"precision": "precision", "recall": "recall", "f1": "F1"}
    return tuple(
        Measure(f"{kind}_{name}", label, reader(name), reader(name), 1, sd_digits=sd_digits)
        for name, label in labels.items()
    )


INPUT = (
    *_mapping("input", 1),
    Measure(
        "test_error",
        "test error",
        lambda cell: cell.test_error,
        lambda paper: paper.test_error,
        -1,
        sd_digits=1,
    ),
    Measure("auroc", "AUROC", lambda cell: cell.auroc, lambda paper: paper.auroc, 1, sd_digits=1),
)
HIDDEN = _mapping("hidden", 2)
SETS = (
    Measure(
        "sets",
        "sets",
        lambda cell: Spread(cell.sets),
        lambda paper: None if paper.sets is None else Spread(paper.sets),
        digits=0,
    ),
)
GRAPH = (
    Measure(
        "graph_latents_f1",
        "latents F1",
        lambda cell: None if cell.graph is None else Spread(cell.graph.latents),
    ),
    Measure(
        "graph_edges_f1",
        "edges F1",
        lambda cell: None if cell.graph is None else Spread(cell.graph.edges),
    ),
)
COST = (
    Measure("networks", "networks", lambda cell: Spread(cell.networks), digits=0),
    Measure("seconds", "seconds", lambda cell: Spread(cell.seconds), digits=0),
)
TABLES = (
    ("input", "Table 1. Input mapping and test set", INPUT),
    ("hidden", "Table 2. Hidden mapping", HIDDEN),
    ("sets", "Table 3. Sets of hyper-parameters", SETS),
    ("graph", "Not in the paper: the graph found without the truth", GRAPH),
)
F1_KEYS = ("input_f1", "hidden_f1")
