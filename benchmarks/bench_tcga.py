"""How long 5,000 generated tumours take, and how near they come to the published statistics.

The statistics are those of `check_block`, over seeds. The constants of the generator were chosen
on the same statistics: this describes a fit.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rinn.simulate.datasets import make_dataset
from rinn.simulate.tumours import DEGS, SGAS
from tcga_checks import TUMOURS, check_block

# Mean over the 68 DEGs of the AUROC of a linear model in 5 folds, published for the 500 tumours.
LINEAR_AUROC = 0.781


def main(arguments: Sequence[str] | None = None) -> None:
    """Time `make_dataset`, then compare `--seeds` blocks of 500 tumours with the published ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="tcga-or", choices=("tcga-or", "tcga-logic"))
    parser.add_argument("--samples", type=int, default=5000, help="rows of the timed call")
    parser.add_argument("--repeats", type=int, default=9, help="timed calls")
    parser.add_argument("--seeds", type=int, default=100, help="blocks to compare")
    parser.add_argument("--parents", type=int, default=0)
    parser.add_argument(
        "--auroc", type=int, default=0, help="blocks to predict linearly, some seconds each"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)

    make_dataset(options.dataset, samples=10)
    seconds = [_time(options.dataset, options.samples, seed) for seed in range(options.repeats)]
    checks = []
    scores = []
    for seed in range(options.seeds):
        simulation = make_dataset(
            options.dataset, samples=TUMOURS, seed=seed, parents=options.parents
        )
        checks.append(check_block(simulation.x, simulation.y))
        if seed < options.auroc:
            scores.append(_score_linear(simulation.x.iloc[:, :SGAS], simulation.y.iloc[:, :DEGS]))
    _print_table(checks)
    outside = collections.Counter(
        name for check in checks for name in check.loc[~check["ok"], "statistic"]
    )
    found = {
        "dataset": options.dataset,
        "samples": options.samples,
        "parents": options.parents,
        "seconds": statistics.median(seconds),
        "seconds_range": [min(seconds), max(seconds)],
        "repeats": options.repeats,
        "statistics": len(checks[0]),
        "seeds": options.seeds,
        "seeds_within_all": sum(bool(check["ok"].all()) for check in checks),
        "outside": dict(outside.most_common()),
        "linear_auroc": statistics.mean(scores) if scores else None,
        "linear_auroc_published": LINEAR_AUROC,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found) + "\n")


def _time(dataset: str, samples: int, seed: int) -> float:
    started = time.perf_counter()
    make_dataset(dataset, samples=samples, seed=seed)
    return time.perf_counter() - started


def _print_table(checks: list[pd.DataFrame]) -> None:
    """One line for each statistic: published, ours over the seeds, room, seeds within it."""
    values = np.array([check["value"] for check in checks])  # [seed, statistic]
    within = np.array([check["ok"] for check in checks]).sum(axis=0)
    print(f"{'statistic':34} | {'real':>8} | {'ours (mean, min..max)':>29} | {'room':>6} | ok")
    for row, (name, target, room) in enumerate(
        checks[0][["statistic", "target", "tolerance"]].itertuples(index=False)
    ):
        ours = values[:, row]
        spread = f"{ours.mean():9.4g} {ours.min():9.4g}..{ours.max():<8.4g}"
        print(f"{name:34} | {target:8.4g} | {spread} | {room:6.4g} | {within[row]}/{len(checks)}")


def _score_linear(x: pd.DataFrame, y: pd.DataFrame) -> float:
    """Mean AUROC over the DEGs of logistic regression on the alterations, C = 0.05, 5 folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    inputs = x.to_numpy(float)
    scores = []
    for _, output in y.items():
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(inputs, output):
            model = LogisticRegression(C=0.05, max_iter=500)
            model.fit(inputs[train], output.iloc[train])
            scores.append(roc_auc_score(output.iloc[test], model.decision_function(inputs[test])))
    return float(np.mean(scores))


if __name__ == "__main__":
    main()
