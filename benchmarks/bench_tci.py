"""How long TCI takes, how far it is from its literal version, and what it finds: call and clock.

Without options: the literal version of the tests beside ours on a small table, 5,000 generated
tumours with 634 SGAs and 68 DEGs, and 5,000 random ones with 20,000 SGAs and 2,000 DEGs. With
`--recovery`: how many of the true causes of simulated data are called, over seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy
from scipy import sparse

from rinn.genomics.tci.calls import Tci, find_drivers, permute_events
from rinn.genomics.tci.events import Events, as_events
from rinn.genomics.tci.inference import infer_causes
from rinn.genomics.tci.prior import make_prior
from rinn.genomics.tci.settings import TISSUE_MODELS, TciSettings
from rinn.graphs.basics import by_role
from rinn.simulate.datasets import make_dataset
from rinn.simulate.samples import Simulation
from rinn.simulate.tumours import DEGS, SGAS

TESTS = Path(__file__).resolve().parents[1] / "tests"

# Data, tissue model or none, whether the rows of Y are permuted, options of the simulation.
RECOVERIES: dict[str, tuple[str, str | None, bool, dict[str, Any]]] = {
    "or": ("or", None, False, {}),
    "or, Y permuted": ("or", None, True, {}),
    "tcga-or, blind": ("tcga-or", None, False, {}),
    "tcga-or, blind, Y permuted": ("tcga-or", None, True, {}),
    "tcga-or, mixture": ("tcga-or", "mixture", False, {}),
    "tcga-or, mixture, Y permuted": ("tcga-or", "mixture", True, {}),
    "tcga-or, strata": ("tcga-or", "strata", False, {}),
    "tcga-or, strata, Y permuted": ("tcga-or", "strata", True, {}),
    "tcga-or with parents, blind": ("tcga-or", None, False, {"parents": 3}),
    "tcga-or with parents, mixture": ("tcga-or", "mixture", False, {"parents": 3}),
    "tcga-or with parents, strata": ("tcga-or", "strata", False, {"parents": 3}),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Time TCI, or with `--recovery` score it; one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--sgas", type=int, default=20000, help="of the large table")
    parser.add_argument("--degs", type=int, default=2000, help="of the large table")
    parser.add_argument("--literal-samples", type=int, default=300)
    parser.add_argument("--permutations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cores", type=int, default=None)
    parser.add_argument("--recovery", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="recoveries whose name begins so")
    parser.add_argument("--json", type=Path, help="where to write the lines too")
    options = parser.parse_args(arguments)

    lines = []
    for found in _recover(options) if options.recovery else _time_all(options):
        lines.append(json.dumps(found))
        print(lines[-1], flush=True)
    if options.json:
        options.json.write_text("".join(line + "\n" for line in lines))


def _time_all(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    machine = {
        "cores": options.cores or os.cpu_count(),
        "machine": f"{platform.machine()}, {platform.system()}",
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    yield _compare_with_literal(options) | machine
    simulation = make_dataset("tcga-or", samples=options.samples, seed=0)
    tables = simulation.x.iloc[:, :SGAS], simulation.y.iloc[:, :DEGS]
    tissues = simulation.labels["tissue"]
    yield _time_inference("generated tumours", as_events(*tables), options) | machine
    events = as_events(*tables, tissues)
    for model in TISSUE_MODELS:
        name = f"generated tumours, {model}"
        yield _time_inference(name, events, options, tissue_model=model) | machine
    settings = TciSettings(permutations=options.permutations)
    events = as_events(*tables)
    yield {
        "what": f"generated tumours, {options.permutations} permutations, calls",
        "seconds": _clock(lambda: find_drivers(events, settings, cores=options.cores), 1),
        "peak_gib": _peak(),
    } | machine
    large = _draw_large(options.samples, options.sgas, options.degs)
    options.repeats = 1
    yield _time_inference("random tumours", large, options) | machine


def _compare_with_literal(options: argparse.Namespace) -> dict[str, Any]:
    """Time the literal version and ours on the same small table, and measure how far they are."""
    sys.path.insert(0, str(TESTS))
    from literal_tci import literal_tci

    simulation = make_dataset("tcga-or", samples=options.literal_samples, seed=0)
    x, y = simulation.x.iloc[:, :SGAS], simulation.y.iloc[:, :10]
    x = x.iloc[:, np.argsort(-x.to_numpy().mean(axis=0), kind="stable")[:60]]
    events = as_events(x, y)
    prior = make_prior(events)
    ours = _clock(lambda: infer_causes(events, prior, cores=options.cores), options.repeats)
    started = time.process_time()
    wanted, _ = literal_tci(
        x.to_numpy().tolist(), y.to_numpy().tolist(), prior.weights.tolist(), prior.other
    )
    literal = time.process_time() - started
    causes = infer_causes(events, prior, top=61)
    furthest = 0.0
    for (tumour, deg), shares in wanted.items():
        codes = causes.top[tumour, deg]
        found = dict(zip(codes.tolist(), causes.posterior[tumour, deg].tolist(), strict=True))
        furthest = max(furthest, *(abs(found.get(h, 0.0) - p) for h, p in shares.items()))
    return {
        "what": "literal version beside ours",
        "tumours": len(x),
        "sgas": x.shape[1],
        "degs": y.shape[1],
        "literal_processor_seconds": round(literal, 3),
        "seconds": ours,
        "ratio_of_processor_seconds": round(literal / ours["processor"]),
        "furthest_posterior": furthest,
    }


def _time_inference(
    name: str, events: Events, options: argparse.Namespace, **given: Any
) -> dict[str, Any]:
    prior = make_prior(events)

    def work() -> None:
        infer_causes(events, prior, cores=options.cores, **given)

    return {
        "what": name,
        "tumours": events.altered.shape[0],
        "sgas": len(events.sgas),
        "degs": len(events.degs),
        "tissues": len(set(events.tissues or ())),
        "density_of_sgas": round(events.altered.nnz / np.prod(events.altered.shape), 4),
        "density_of_degs": round(float(events.expressed.mean()), 4),
        "seconds": _clock(work, options.repeats),
        "peak_gib": _peak(),
    }


def _draw_large(tumours: int, sgas: int, degs: int) -> Events:
    """Random tumours; the frequencies of SGAs are lognormal as those of the generated ones."""
    rng = np.random.default_rng(0)
    frequencies = np.clip(np.exp(rng.normal(-4.16, 0.92, sgas)), 0.001, 0.5)
    parts = [
        sparse.csr_array((rng.random((min(500, tumours - s), sgas)) < frequencies).astype(np.int8))
        for s in range(0, tumours, 500)
    ]
    expressed = rng.random((tumours, degs)) < rng.uniform(0.1, 0.6, degs)
    names = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("sga", sgas), ("deg", degs)))
    return Events(sparse.csr_array(sparse.vstack(parts)), expressed, *names)


def _clock(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Seconds on the clock and, since other work slows that one, of the processor."""
    seconds, processor = [], time.process_time()
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return {
        "median": round(statistics.median(seconds), 4),
        "least": round(min(seconds), 4),
        "most": round(max(seconds), 4),
        "processor": round((time.process_time() - processor) / repeats, 4),
        "runs": repeats,
    }


def _peak() -> float:
    """The most memory that this process has held until now."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)


def _recover(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Score each kind of data over the seeds, then give mean and standard deviation."""
    for name, (dataset, model, is_permuted, given) in RECOVERIES.items():
        if not name.startswith(options.only):
            continue
        scores = []
        for seed in range(options.seeds):
            simulation = make_dataset(dataset, samples=options.samples, seed=seed, **given)
            labels = simulation.labels["tissue"] if model else None
            events = as_events(simulation.x, simulation.y, labels)
            if is_permuted:
                events = permute_events(events, "rows", [1, seed])
            settings = TciSettings(
                permutations=options.permutations, tissue_model=model or TISSUE_MODELS[0]
            )
            found = find_drivers(events, settings, cores=options.cores)
            scores.append(_score(found, [] if is_permuted else _list_true(simulation)))
        yield {
            "data": name,
            "seeds": options.seeds,
            "permutations": options.permutations,
            **{key: _spread([score[key] for score in scores]) for key in scores[0]},
        }


def _list_true(simulation: Simulation) -> list[tuple[str, str]]:
    """Which SGA causes which DEG, directly or through latents."""
    truth = simulation.truth
    outputs = set(by_role(truth, "output"))
    pairs = [
        (name, effect)
        for name in by_role(truth, "input")
        for effect in nx.descendants(truth, name) & outputs
    ]
    if simulation.parents is not None:
        rows = simulation.parents[["sga", "deg"]].itertuples(index=False)
        pairs += [(row.sga, row.deg) for row in rows]
    return pairs


def _score(found: Tci, pairs: list[tuple[str, str]]) -> dict[str, float]:
    """Count drivers and targets, and how many of them are true.

    Only an SGA that causes at least `min_degs` DEGs can be called: those are `callable`.
    """
    events, table = found.events, found.calls.targets
    causes = [sga for sga, _ in pairs]
    able = {sga for sga in causes if causes.count(sga) >= found.settings.min_degs}
    called = {events.sgas[number] for number in found.features.sgas}
    targets = {
        (events.sgas[sga], events.degs[deg])
        for sga, deg in table[["sga", "deg"]].itertuples(index=False)
    }
    return {
        "drivers": len(called),
        "true_drivers": len(called & set(causes)),
        "callable": len(able),
        "callable_found": len(called & able),
        "targets": len(targets),
        "true_targets": len(targets & set(pairs)),
        "calls_per_1000_tumours": 1000 * len(found.calls.calls) / events.altered.shape[0],
        "unknown_share": found.summarise()["unknown_fraction"],
    }


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "mean": round(statistics.mean(values), 3),
        "sd": round(statistics.stdev(values), 3) if len(values) > 1 else 0.0,
    }


if __name__ == "__main__":
    main()
