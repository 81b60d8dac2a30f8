"""What must be said beside the tables: how they were made, and how to read them."""

from __future__ import annotations

from rinn.paper.cells import STRATEGIES, Cell
from rinn.paper.tables import Comparison

TITLE = "The paper's Tables 1, 2 and 3 beside ours"
REFERENCE = (
    "Young, Andrews, Cooper, Lu: Learning Latent Causal Structures with a Redundant Input Neural "
    "Network, 2020"
)
ORACLE = (
    "the figures of Tables 1 and 2 are for the ten best models by d_x, under one threshold for "
    "each cell and table that was chosen with sight of the truth, as in the paper; DM's setting "
    "was chosen so too. They are not what a user gets."
)
PROTOCOL = (
    "The protocol is the paper's. Of all networks of a strategy the ten best are scored: those "
    "with the smallest distance d_x, which weighs validation loss against the sum of absolute "
    "weights. A search of fewer networks may keep fewer than ten.",
    "Each cell has one threshold for Table 1 and one for Table 2, the same for its ten models. "
    "Both are oracles: they are chosen with sight of the truth, by the best mean F1. The figures "
    "say what the networks hold. They are not what a user gets, who has no truth.",
    "DM has no ten models. The setting of its grid with the best F1 against the truth is taken, "
    "an oracle again, as in the paper.",
    "The paper leaves open how to count false positives that resemble each other: here those that "
    "differ in at most one output count once.",
    "The data are drawn anew by the paper's description; they are not the authors' files, and in "
    "data 5 and 6 generated tumours stand in for TCGA. A difference smaller than the spread over "
    "models or over data seeds says little.",
)
GRAPH_NOTE = (
    "F1 of the latents and edges of the one graph that is read out of the kept networks without "
    "sight of the truth: this is what a user gets."
)
SETS_NOTE = (
    "A set is one choice of hyper-parameters; it may be trained on more than one split. The paper "
    "does not publish the spaces that its DNN and DBN were searched in."
)
TEST_NOTE = (
    "Test error: mean squared error in data 1 and 2, cross-entropy in data 3 to 6; less is better."
)
COST_TITLE = "Time, device, networks and thresholds, cell by cell"
COST_HEADERS = ("data", "strategy", "data seed", "networks", "time", "thresholds", "device")
NOTES = {"input": TEST_NOTE, "hidden": "", "sets": SETS_NOTE, "graph": GRAPH_NOTE}


def say_setup(comparison: Comparison) -> str:
    """Say what was run."""
    setup = comparison.setup
    size = {"quick": "the strategies' default search", "paper": "searches of the paper's size"}
    words = f"Budget {setup.budget} ({size.get(setup.budget, 'as named')})"
    if setup.trials is not None:
        words = (
            f"Smoke run of {setup.trials} networks for each cell, which is no reproduction "
            f"(budget {setup.budget})"
        )
    return f"{words}; {setup.samples:,} samples for each draw of the data; rinn {setup.rinn}."


def say_spreads(comparison: Comparison) -> str:
    """Say what stands behind the ± of the figures."""
    ten = "ten best models" if comparison.setup.trials is None else "best models, at most ten"
    paper = "The paper's: mean ± standard deviation over its ten best models, on one draw."
    if not comparison.several:
        return f"Ours: mean ± standard deviation over the {ten}, on one draw of the data. {paper}"
    return (
        f"Ours: mean over data seeds of the mean over the {ten}; ± the standard deviation over "
        f"these models (mean over data seeds); in brackets (±) the standard deviation over data "
        f"seeds. {paper}"
    )


def say_difference() -> str:
    """Say how differences are made."""
    return (
        "Difference: ours minus the paper's, once ours is rounded to the digits that the paper "
        "prints. NA: the strategy has no such figure, or the paper does not report it."
    )


def say_ours(comparison: Comparison) -> str:
    """The head of a column of ours."""
    return "ours ± models (± data seeds)" if comparison.several else "ours ± models"


def list_costs(comparison: Comparison) -> list[tuple[str, ...]]:
    """One row of `COST_HEADERS` for each cell."""
    return [
        (
            cell.dataset,
            STRATEGIES[cell.strategy],
            str(cell.seed),
            f"{cell.networks:,}",
            say_time(cell.seconds),
            _say_thresholds(cell),
            cell.device,
        )
        for cell in comparison.cells
    ]


def say_time(seconds: float) -> str:
    """Write a time in words.

    Example:
        >>> say_time(4.2), say_time(252), say_time(3900)
        ('4.2 s', '4 min 12 s', '1 h 05 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _say_thresholds(cell: Cell) -> str:
    parts = [
        f"{name} {scores.threshold:.3g}"
        for name, scores in (("hidden", cell.hidden), ("input", cell.input))
        if scores is not None and scores.threshold is not None
    ]
    parts += [f"{name} {value}" for name, value in (cell.chosen or {}).items()]
    return ", ".join(parts) or ("failed" if cell.status == "failed" else "none")
