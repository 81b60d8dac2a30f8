"""Idle inputs that correlate with inputs that act: do they get edges, and what is lost for it.

Four inputs act on ten of twelve outputs, through two latents and by one direct edge; eight others
do nothing and correlate with one of the four, or half of them with the sum of two ("mix"). Three
ways to decide which of the edges that the search finds are reported: all of them; those whose input
passes with all other inputs held fixed; and rinn's, beside those of the same outputs. With `--more`
as many independent inputs are added; with more than 88 a screening chooses among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from casefiles import Record, run_cases
from pagetables import write_table
from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.pipeline import plan_run
from rinn.structure import consensus
from rinn.structure.effects import Test, estimate_effects
from rinn.structure.records import GraphSettings
from rinn.structure.search import find_structure
from rinn.structure.support import make_support_test

KINDS = ("lin", "or", "curved01", "mix", "mix01")  # 01: inputs are 0/1
CORRELATIONS = (0.5, 0.7, 0.9, 0.95)
SIZES = ((200, 0.3), (200, 0.6), (1000, 0.12), (1000, 0.3))  # samples, and the size of effects
SIZES_OF_MORE = ((1000, 0.12), (1000, 0.2), (1000, 0.3))
SEEDS = tuple(range(900, 906))
ACTIVE, OUTPUTS = 4, 12
HEADERS = ("held fixed", "pairs found", "precision of pairs", "tables with an idle input's edge")
WAYS = ("no test", "all other inputs", "those of the same outputs")


@dataclass(frozen=True)
class AllHeldFixed:
    """A test that never heard which inputs act on the same outputs."""

    test: Test

    def find_p(
        self,
        row: int,
        outputs: Sequence[int],
        level: float = 0.0,
        beside: Sequence[int] | None = None,
    ) -> float:
        """The p-value with all other inputs held fixed."""
        return self.test.find_p(row, outputs, level)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every table, and print one row for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--more", type=int, default=0, help="further inputs that do nothing")
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts of all cases")
    parser.add_argument("--work", type=Path, required=True, help="folder for records")
    options = parser.parse_args(arguments)
    cases = [
        (kind, correlation, samples, size, int(seed), options.more)
        for seed in options.seeds.split(",")
        for kind in options.kinds.split(",")
        for correlation in CORRELATIONS
        for samples, size in (SIZES_OF_MORE if options.more else SIZES)
    ]
    print(make_table(run_cases(cases, options.part, options.work, measure)))


def measure(
    kind: str, correlation: float, samples: int, size: float, seed: int, more: int
) -> Record:
    """Pairs, right pairs and idle inputs with an edge in one table, by each way."""
    numbers = round(100 * correlation), samples, round(100 * size), len(kind)
    rng = np.random.default_rng([seed, *numbers, *([7] if more else [])])
    x, y, true = draw(rng, correlation, samples, kind, size)
    x = np.concatenate([x, rng.normal(size=(samples, more))], axis=1)
    names = tuple(f"x{i}" for i in range(x.shape[1])), tuple(f"y{o}" for o in range(OUTPUTS))
    plan = plan_run(Data(x, y, *names), RunSettings(effects="regression"))
    effects = estimate_effects(plan.problem)
    test = make_support_test(plan.problem, (), effects.sample)
    found = find_structure(effects.moments, GraphSettings(), starts=2)
    inputs = len(plan.data.inputs)
    found = consensus._resolve_products(found, effects.sample.owners, inputs)
    places = np.ix_(*([int(name[1:]) for name in side]
                      for side in (plan.data.inputs, plan.data.outputs)))  # fmt: skip
    true = np.concatenate([true, np.zeros((more, OUTPUTS), bool)])
    record: Record = {"true": int(true.sum())}
    for way, one in zip(WAYS, (None, AllHeldFixed(test), test), strict=True):
        graph = consensus._drop_unsupported(found, replace(effects, test=one), None)
        pairs = np.zeros_like(true)
        pairs[places] = graph.reach[:inputs, graph.first_output :]
        idle = int((pairs.any(axis=1) & ~true.any(axis=1)).sum())
        record[way] = {
            "pairs": int(pairs.sum()), "right": int((pairs & true).sum()), "idle": idle
        }  # fmt: skip
    return record


def draw(
    rng: np.random.Generator, correlation: float, samples: int, kind: str, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, Y and which input acts on which output; the columns of X are in random order."""
    shape, rest = (samples, ACTIVE), np.sqrt(1 - correlation**2)
    active = rng.normal(size=shape)
    near = [active, active]
    if kind.startswith("mix"):
        near[1] = (active + np.roll(active, 1, axis=1)) / np.sqrt(2)
    x = np.hstack([active, *(correlation * one + rest * rng.normal(size=shape) for one in near)])
    if kind.endswith("01"):
        x = (x > 0).astype(float)
    a = (x[:, :ACTIVE] - x[:, :ACTIVE].mean(axis=0)) / x[:, :ACTIVE].std(axis=0)
    first = size * (a[:, 0] + a[:, 1] + 0.5 * rng.normal(size=samples))
    second = size * (a[:, 1] + a[:, 2] + 0.5 * rng.normal(size=samples))
    y = rng.normal(size=(samples, OUTPUTS))
    if kind.startswith("curved"):
        first = size * (np.abs(a[:, 0] + 1) + a[:, 1])
        second = size * np.exp(0.5 * (a[:, 1] + a[:, 2]))
    y[:, :5] += first[:, None]
    y[:, 4:9] += second[:, None]
    y[:, 9] += 1.5 * size * a[:, 3]
    if kind.startswith("or"):
        high, step = a > 0.7, min(0.5, size)
        y = (rng.random(y.shape) < 0.3).astype(float)
        for outputs, causes in ((slice(0, 5), [0, 1]), (slice(4, 9), [1, 2]), (slice(9, 10), [3])):
            risk = 0.3 + step * high[:, causes].any(axis=1)[:, None]
            y[:, outputs] = rng.random(y[:, outputs].shape) < risk
    order = rng.permutation(x.shape[1])
    true = np.zeros((x.shape[1], OUTPUTS), bool)
    for cause, outputs in enumerate((slice(0, 5), slice(0, 9), slice(4, 9), slice(9, 10))):
        true[np.flatnonzero(order == cause)[0], outputs] = True
    return x[:, order], y, true


def make_table(records: Sequence[Record]) -> str:
    """One row for each way: mean recall over tables, precision of all pairs together."""
    rows = []
    for way in WAYS:
        own = [record[way] for record in records]
        recall = np.mean([one["right"] / r["true"] for one, r in zip(own, records, strict=True)])
        pairs, right = (sum(one[key] for one in own) for key in ("pairs", "right"))
        tables = f"{sum(one['idle'] > 0 for one in own)} of {len(own)}"
        rows.append((way, f"{recall:.2f}", f"{right / max(pairs, 1):.3f}", tables))
    return write_table(HEADERS, rows)


if __name__ == "__main__":
    main()
