"""The figures of the paper: its Tables 1, 2 and 3.

Reference: Young, Andrews, Cooper, Lu: Learning Latent Causal Structures with a Redundant Input
Neural Network, 2020. Means and standard deviations over the ten best models, as printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from rinn.paper.cells import DATASETS, STRATEGIES, MapScores, Spread


@dataclass(frozen=True)
class Published:
    """What the paper reports for one dataset and strategy; None where it reports nothing."""

    hidden: MapScores | None = None
    input: MapScores | None = None
    test_error: Spread | None = None
    auroc: Spread | None = None
    sets: int | None = None


def find_published(dataset: str, strategy: str) -> Published:
    """Look up what the paper reports; a strategy it did not run on a dataset has nothing.

    Example:
        >>> find_published("matrix", "rinn").hidden.f1
        Spread(mean=0.96, sd=0.04)
        >>> find_published("tcga-or", "dm")
        Published(hidden=None, input=None, test_error=None, auroc=None, sets=None)
    """
    return _PUBLISHED.get((dataset, strategy), Published())


_Pair = tuple[float, float | None] | None

# Table 1: input mapping (precision, recall, F1), test error, AUROC.
_INPUT: dict[tuple[str, str], tuple[_Pair, _Pair, _Pair, _Pair, _Pair]] = {
    ("matrix", "rinn"): ((1.00, 0.0), (1.00, 0.0), (1.00, 0.0), (0.00, 0.0), None),
    ("matrix", "dnn"): ((1.00, 0.0), (1.00, 0.0), (1.00, 0.0), (0.01, 0.0), None),
    ("matrix", "dbn"): (None, None, None, (0.05, 0.1), None),
    ("matrix", "esc"): ((0.95, 0.1), (1.00, 0.0), (0.97, 0.0), (0.03, 0.0), None),
    ("matrix", "dm"): ((0.31, None), (1.00, None), (0.48, None), None, None),
    ("gaussian", "rinn"): ((0.98, 0.0), (1.00, 0.0), (0.99, 0.0), (9.19, 0.1), None),
    ("gaussian", "dnn"): ((0.94, 0.1), (0.93, 0.0), (0.93, 0.1), (9.31, 0.2), None),
    ("gaussian", "dbn"): (None, None, None, (1.82, 0.1), None),
    ("gaussian", "esc"): ((0.91, 0.1), (0.91, 0.0), (0.90, 0.1), (10.12, 0.2), None),
    ("gaussian", "dm"): ((0.69, None), (1.00, None), (0.81, None), None, None),
    ("or", "rinn"): ((0.96, 0.1), (1.00, 0.0), (0.98, 0.0), (0.56, 0.0), (0.75, 0.0)),
    ("or", "dnn"): ((0.99, 0.0), (0.98, 0.1), (0.98, 0.0), (0.56, 0.0), (0.75, 0.0)),
    ("or", "dbn"): (None, None, None, (0.55, 0.2), (0.68, 0.2)),
    ("or", "esc"): ((0.81, 0.2), (0.95, 0.1), (0.87, 0.1), (0.57, 0.0), (0.74, 0.0)),
    ("or", "dm"): ((0.56, None), (1.00, None), (0.72, None), None, None),
    ("logic", "rinn"): ((0.92, 0.1), (0.91, 0.1), (0.91, 0.1), (0.45, 0.0), (0.84, 0.0)),
    ("logic", "dnn"): ((0.78, 0.2), (0.99, 0.0), (0.87, 0.1), (0.45, 0.0), (0.84, 0.0)),
    ("logic", "dbn"): (None, None, None, (0.58, 0.1), (0.57, 0.1)),
    ("logic", "esc"): ((0.46, 0.2), (0.65, 0.2), (0.53, 0.2), (0.41, 0.0), (0.87, 0.0)),
    ("logic", "dm"): ((0.44, None), (1.00, None), (0.61, None), None, None),
    ("tcga-or", "rinn"): ((0.95, 0.1), (0.98, 0.0), (0.96, 0.1), (0.40, 0.0), (0.87, 0.0)),
    ("tcga-or", "dnn"): ((0.90, 0.1), (0.86, 0.2), (0.88, 0.1), (0.42, 0.0), (0.86, 0.0)),
    ("tcga-or", "dbn"): (None, None, None, (0.34, 0.2), (0.88, 0.1)),
    ("tcga-logic", "rinn"): ((0.78, 0.1), (0.98, 0.0), (0.87, 0.0), (0.43, 0.0), (0.86, 0.0)),
    ("tcga-logic", "dnn"): ((0.79, 0.3), (0.90, 0.3), (0.84, 0.3), (0.42, 0.0), (0.86, 0.0)),
    ("tcga-logic", "dbn"): (None, None, None, (0.53, 0.2), (0.64, 0.2)),
}

# Table 2: hidden mapping (precision, recall, F1).
_HIDDEN: dict[tuple[str, str], tuple[_Pair, _Pair, _Pair]] = {
    ("matrix", "rinn"): ((1.00, 0.00), (0.93, 0.08), (0.96, 0.04)),
    ("matrix", "dnn"): ((0.97, 0.07), (0.80, 0.07), (0.87, 0.06)),
    ("matrix", "dbn"): ((0.73, 0.32), (0.61, 0.22), (0.66, 0.26)),
    ("matrix", "esc"): ((0.72, 0.08), (0.80, 0.13), (0.76, 0.08)),
    ("matrix", "dm"): ((0.33, None), (0.29, None), (0.31, None)),
    ("gaussian", "rinn"): ((0.65, 0.11), (0.87, 0.18), (0.74, 0.13)),
    ("gaussian", "dnn"): ((0.34, 0.30), (0.43, 0.24), (0.37, 0.26)),
    ("gaussian", "dbn"): ((0.35, 0.13), (0.57, 0.17), (0.43, 0.14)),
    ("gaussian", "esc"): ((0.41, 0.10), (0.54, 0.06), (0.46, 0.09)),
    ("gaussian", "dm"): ((0.33, None), (0.29, None), (0.31, None)),
    ("or", "rinn"): ((0.87, 0.19), (0.83, 0.13), (0.85, 0.15)),
    ("or", "dnn"): ((0.88, 0.17), (0.76, 0.15), (0.81, 0.14)),
    ("or", "dbn"): ((0.20, 0.30), (0.16, 0.23), (0.17, 0.25)),
    ("or", "esc"): ((0.71, 0.22), (0.57, 0.18), (0.63, 0.19)),
    ("or", "dm"): ((0.33, None), (0.29, None), (0.31, None)),
    ("logic", "rinn"): ((0.81, 0.17), (0.83, 0.11), (0.81, 0.11)),
    ("logic", "dnn"): ((0.87, 0.18), (0.79, 0.17), (0.82, 0.16)),
    ("logic", "dbn"): ((0.38, 0.22), (0.33, 0.19), (0.33, 0.17)),
    ("logic", "esc"): ((0.44, 0.09), (0.74, 0.16), (0.55, 0.10)),
    ("logic", "dm"): ((0.29, None), (0.29, None), (0.29, None)),
    ("tcga-or", "rinn"): ((0.37, 0.25), (0.63, 0.24), (0.41, 0.19)),
    ("tcga-or", "dnn"): ((0.29, 0.17), (0.59, 0.26), (0.33, 0.12)),
    ("tcga-or", "dbn"): ((0.08, 0.17), (0.06, 0.14), (0.08, 0.15)),
    ("tcga-logic", "rinn"): ((0.53, 0.24), (0.80, 0.10), (0.60, 0.17)),
    ("tcga-logic", "dnn"): ((0.57, 0.26), (0.74, 0.16), (0.61, 0.20)),
    ("tcga-logic", "dbn"): ((0.04, 0.08), (0.16, 0.22), (0.07, 0.12)),
}

# Table 3: sets of hyper-parameters, on data 1-4 and on data 5 and 6.
_SETS: dict[str, tuple[int, int | None]] = {
    "rinn": (440, 540),
    "dnn": (732, 832),
    "dbn": (940, 1040),
    "esc": (500, None),
}


def _spread(pair: _Pair) -> Spread | None:
    return None if pair is None else Spread(*pair)


def _scores(*pairs: _Pair) -> MapScores | None:
    precision, recall, f1 = map(_spread, pairs)
    return MapScores(precision, recall, f1) if precision and recall and f1 else None


def _collect(dataset: str, strategy: str) -> Published:
    *inputs, error, auroc = _INPUT[dataset, strategy]
    small, large = _SETS.get(strategy, (None, None))
    return Published(
        hidden=_scores(*_HIDDEN[dataset, strategy]),
        input=_scores(*inputs),
        test_error=_spread(error),
        auroc=_spread(auroc),
        sets=large if dataset.startswith("tcga") else small,
    )


_PUBLISHED = {
    (dataset, strategy): _collect(dataset, strategy)
    for dataset in DATASETS
    for strategy in STRATEGIES
    if (dataset, strategy) in _INPUT
}
