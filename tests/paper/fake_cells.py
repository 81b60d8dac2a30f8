"""Cells and runs that take no time and always come out the same."""

import importlib.metadata
import zlib

from rinn.errors import TrainingError
from rinn.paper.cells import Cell, GraphF1, Job, MapScores, Spread
from rinn.paper.published import find_published

RINN = importlib.metadata.version("rinn")


def make_scores(mean, sd=0.05, threshold=0.25):
    spread = Spread(mean, sd)
    return MapScores(spread, spread, spread, threshold)


def make_cell(dataset="matrix", strategy="rinn", seed=0, **changes):
    """A cell as the strategy would leave it: DBN without inputs, DM without predictions."""
    deep, inputs = strategy != "dm", strategy != "dbn"
    sd, threshold = (0.05, 0.25) if deep else (None, None)
    fields = {
        "dataset": dataset,
        "strategy": strategy,
        "seed": seed,
        "budget": "quick",
        "samples": 5000,
        "trials": None,
        "versions": {"rinn": RINN, "jax": "0.9"},
        "device": "2 x cpu",
        "seconds": 42.0,
        "sets": 48 if deep else 12,
        "networks": 96 if deep else 0,
        "hidden": make_scores(0.9, sd, threshold),
        "input": make_scores(0.95, sd, threshold) if inputs else None,
        "test_error": Spread(0.5, 0.01) if deep else None,
        "auroc": Spread(0.8, 0.01) if deep and dataset not in ("matrix", "gaussian") else None,
        "graph": GraphF1(1.0, 0.9) if deep else None,
        "chosen": None if deep else {"alpha_pc": 0.01, "alpha_sober": 0.1},
    }
    return Cell(**fields | changes)


def make_cells(*cells):
    return {cell.job: cell for cell in cells}


class FakeRuns:
    """A `run_cell` that notes its calls, and fails or stops where it is told to."""

    def __init__(self, failing=(), stopping=(), words="every network diverged"):
        self.failing, self.stopping, self.words = set(failing), set(stopping), words
        self.calls, self.arguments = [], []

    def __call__(
        self, dataset, strategy, budget, seed, folder, device, console, quiet, *, samples, trials
    ):
        job = Job(dataset, strategy, seed)
        self.calls.append(job.name)
        self.arguments.append((budget, folder, device, quiet, samples, trials))
        folder.mkdir(exist_ok=True)
        (folder / "manifest.json").write_text("{}")
        if job.name in self.stopping:
            raise KeyboardInterrupt
        if job.name in self.failing:
            raise TrainingError(self.words)
        return vary_cell(job, budget=budget, samples=samples, trials=trials)


def vary_cell(job, **changes):
    """A cell near the published figures, a little different for each job."""
    paper = find_published(job.dataset, job.strategy)
    shift = (zlib.crc32(job.name.encode()) % 15 - 6) / 100
    cell = make_cell(job.dataset, job.strategy, job.seed)

    def near(ours, published):
        if ours is None:
            return None
        moved = {
            name: Spread(
                min(max((getattr(published or ours, name).mean + shift), 0.0), 1.0),
                getattr(ours, name).sd,
            )
            for name in ("precision", "recall", "f1")
        }
        return MapScores(**moved, threshold=ours.threshold)

    found = {"hidden": near(cell.hidden, paper.hidden), "input": near(cell.input, paper.input)}
    if paper.test_error:
        found["test_error"] = Spread(max(paper.test_error.mean - shift, 0.0), 0.02)
    if paper.auroc:
        found["auroc"] = Spread(min(paper.auroc.mean + shift, 1.0), 0.01)
    return make_cell(job.dataset, job.strategy, job.seed, **found | changes)
