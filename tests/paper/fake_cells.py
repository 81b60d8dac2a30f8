"""Cells and runs that take no time and always come out the same."""

import importlib.metadata
import zlib

from rinn.errors import TrainingError
from rinn.paper.cells import Cell, GraphF1, MapScores, load_published
from rinn.runs.manifest import Spread

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

    def __init__(self, failing=(), stopping=(), message="every network diverged"):
        self.failing, self.stopping, self.message = set(failing), set(stopping), message
        self.calls, self.arguments = [], []

    def __call__(self, job, setup, folder, device, console, quiet):
        self.calls.append(job.name)
        self.arguments.append((setup, folder, device, quiet))
        folder.mkdir(exist_ok=True)
        (folder / "manifest.json").write_text("{}")
        if job.name in self.stopping:
            raise KeyboardInterrupt
        if job.name in self.failing:
            raise TrainingError(self.message)
        return vary_cell(job, budget=setup.budget, samples=setup.samples, trials=setup.trials)


def vary_cell(job, **changes):
    """A cell near the published figures, a little different for each job."""
    paper = load_published().get((job.dataset, job.strategy), {})
    shift = (zlib.crc32(job.name.encode()) % 15 - 6) / 100
    cell = make_cell(job.dataset, job.strategy, job.seed)

    def near(ours, kind):
        if ours is None:
            return None
        moved = {}
        for name in ("precision", "recall", "f1"):
            mean = paper.get(f"{kind}_{name}", getattr(ours, name)).mean + shift
            moved[name] = Spread(min(max(mean, 0.0), 1.0), getattr(ours, name).sd)
        return MapScores(**moved, threshold=ours.threshold)

    found = {"hidden": near(cell.hidden, "hidden"), "input": near(cell.input, "input")}
    if "test_error" in paper:
        found["test_error"] = Spread(max(paper["test_error"].mean - shift, 0.0), 0.02)
    if "auroc" in paper:
        found["auroc"] = Spread(min(paper["auroc"].mean + shift, 1.0), 0.01)
    return make_cell(job.dataset, job.strategy, job.seed, **found | changes)
