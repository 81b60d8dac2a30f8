"""A generation of the constrained evolutionary strategy: the call and a clock.

`--preset cpu` compares with a plain NumPy loop over the population in the same run, both taking
turns; every core runs populations of its own, as in a search, and a generation's seconds are those
of one population, amortised. `core_ms` is how long a core was busy with it, and `core_ratio` what
one core gains, whatever else the machine does. Data of two kinds: `continuous`, where no two
samples have the same inputs, and `binary` (a tenth are 1), where the engine merges those that do.

`--preset gpu` times 500 populations with either kernel and forecasts 7001 generations; `--tiles`
and `--warps` try other sizes of the kernel's tiles.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rinn.config import EvolutionSettings
from rinn.nets.devices import find_devices
from rinn.strategies.evolution import kernel as fused
from rinn.strategies.evolution.breeding import Populations, evolve_segment, start_populations
from rinn.strategies.evolution.fitness import Samples, group_samples, measure_fitness
from rinn.strategies.evolution.genes import (
    LEGAL,
    STEPS,
    ZEROS,
    EvolutionHyperparameters,
    EvolutionSpec,
    count_genes,
    count_mutations,
    make_hyper,
)

SIZES = {"sets": 2, "population": 201, "layers": 8, "width": 8, "inputs": 16, "outputs": 16}
SIZES |= {"samples": 800, "generations": 10, "repeats": 7}
PRESETS: dict[str, dict[str, Any]] = {
    "cpu": {"device": "cpu"},
    "gpu": {"device": "gpu", "sets": 500, "generations": 50, "repeats": 3},
}
KINDS = ("continuous", "binary")
ELITE_RATIO, MUTATION_RATE, L1 = 0.4, 0.003, 12.5
ELITE_RATIOS = (0.7, 0.5, 0.45, 0.4, 0.4, 0.4, 0.35, 0.3, 0.25, 0.2, 0.2, 0.15, 0.1)
MUTATION_RATES = (0.006, 0.005, 0.004, 0.003, 0.002, 0.001, 0.001)
ALL_GENERATIONS = 7001
PACKAGES = ("rinn", "jax", "jaxlib", "numpy")


def main(words: list[str] | None = None) -> dict[str, Any]:
    """Measure, print one JSON, and return it."""
    work, load = _parse(words), os.getloadavg()[0]
    devices = find_devices(work.device)
    on_gpu = devices[0].platform == "gpu"
    measure = _measure_gpu if on_gpu else _measure_cpu
    found = {
        "work": {name: getattr(work, name) for name in SIZES},
        "rows": [row for kind in work.kinds for row in measure(work, kind, devices)],
        "hardware": _describe_hardware(devices),
        "load": [load, os.getloadavg()[0]],
        "versions": _find_versions(),
    }
    print(json.dumps(found, indent=1))
    if work.json:
        Path(work.json).write_text(json.dumps(found) + "\n", encoding="utf-8")
    return found


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="other defaults")
    for name, value in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"on a CPU {value}")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--loss", choices=("mse", "bce"), default="mse")
    parser.add_argument("--kernels", nargs="+", default=["batched", "pallas"], help="on a GPU")
    parser.add_argument("--tiles", nargs="+", type=int, default=[], help="try these, on a GPU")
    parser.add_argument("--warps", nargs="+", type=int, default=[4], help="with these warps")
    parser.add_argument("--json", metavar="FILE", help="write all numbers here")
    parser.set_defaults(**PRESETS[parser.parse_known_args(words)[0].preset])
    return parser.parse_args(words)


def _make_data(work: argparse.Namespace, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(work.inputs, work.samples))
    if kind == "binary":
        x = (rng.random(x.shape) < 0.1).astype(float)
    hidden = np.maximum(rng.normal(size=(4, work.inputs)) @ x, 0.0)
    y = rng.normal(size=(work.outputs, 4)) @ hidden
    y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
    return x, y if work.loss == "mse" else (y > 0).astype(float)


def _make_spec(work: argparse.Namespace, kernel: str) -> EvolutionSpec:
    shape = {name: getattr(work, name) for name in ("layers", "width", "population")}
    spec = EvolutionSpec(work.loss, "relu", **shape, mutations=1, kernel=kernel)
    most = max((*MUTATION_RATES, MUTATION_RATE))
    genes = count_genes(spec, work.inputs, work.outputs)
    return dataclasses.replace(spec, mutations=count_mutations(most, genes))


def _measure_cpu(work: argparse.Namespace, kind: str, devices: list[Any]) -> list[dict[str, Any]]:
    x, y = _make_data(work, kind)
    runners = {
        "rinn": _make_ours(work, x, y, devices),
        "NumPy loop, float32": _make_loop(work, x, y, np.float32),
        "NumPy loop, float64": _make_loop(work, x, y, np.float64),
    }
    for run in runners.values():
        run()
    turns = [{name: run() for name, run in runners.items()} for _ in range(work.repeats)]
    rows = []
    for name in runners:
        seconds = [turn[name][0] for turn in turns]
        ratios = [turn[name][0] / turn["rinn"][0] for turn in turns]
        core_ratios = [turn[name][1] / turn["rinn"][1] for turn in turns]
        rows.append(
            {
                "data": kind,
                "what": name,
                "generation_ms": 1e3 * float(np.median(seconds)),
                "min_ms": 1e3 * min(seconds),
                "max_ms": 1e3 * max(seconds),
                "ratio_to_ours": float(np.median(ratios)),
                "ratio_least": min(ratios),
                "ratio_most": max(ratios),
                "core_ratio": float(np.median(core_ratios)),
                "core_ms": 1e3 * float(np.median([turn[name][1] for turn in turns])),
                "best_fitness": turns[-1][name][2],
                "distinct_samples": int(group_samples(x, y, work.loss).x.shape[1]),
            }
        )
    return rows


def _make_ours(
    work: argparse.Namespace, x: np.ndarray, y: np.ndarray, devices: list[Any]
) -> Callable[[], tuple[float, float, float]]:
    """Populations on every core at the same time, one thread for each."""
    spec, samples = _make_spec(work, "cached"), group_samples(x, y, work.loss)
    lanes = []
    for lane, device in enumerate(devices):
        seeds = [lane * work.sets + s for s in range(work.sets)]
        nets = [
            EvolutionSettings(
                elite_ratio=ELITE_RATIO, mutation_rate=MUTATION_RATE, l1=L1, seed=seed
            )
            for seed in seeds
        ]
        hyper = make_hyper(spec, work.inputs, work.outputs, nets)
        start = start_populations(spec, hyper, work.inputs, work.outputs)
        lanes.append(jax.device_put((start, hyper, samples), device))

    def run_lane(number: int) -> None:
        populations, hyper, samples = lanes[number]
        after = evolve_segment(spec, populations, hyper, samples, work.generations)
        lanes[number] = jax.block_until_ready((after, hyper, samples))

    pool = ThreadPoolExecutor(len(lanes))
    each = len(devices) * work.sets * work.generations

    def run() -> tuple[float, float, float]:
        began, used = time.perf_counter(), time.process_time()
        list(pool.map(run_lane, range(len(lanes))))
        wall, core = time.perf_counter() - began, time.process_time() - used
        best = float(np.median([lane[0].elite_fitness[:, 0] for lane in lanes]))
        return wall / each, core / each, best

    return run


def _make_loop(
    work: argparse.Namespace, x: np.ndarray, y: np.ndarray, kind: type
) -> Callable[[], tuple[float, float, float]]:
    """One population, one network at a time, as it is written down in the paper."""
    x, y = np.ascontiguousarray(x.T, kind), np.ascontiguousarray(y.T, kind)
    width, read = work.width, work.width + work.inputs
    shapes = [(work.inputs, width), *[(read, width)] * (work.layers - 1), (width, work.outputs)]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    biases = ends[-1] + np.cumsum([columns for _, columns in shapes])
    genes = int(biases[-1])
    steps = np.array([s * v for v in LEGAL["even"] for s in (1, -1)])
    legal = np.concatenate([np.zeros(ZEROS), steps * STEPS["even"]]).astype(kind)
    mutations, elites = count_mutations(MUTATION_RATE, genes), round(ELITE_RATIO * work.population)
    rng = np.random.default_rng(0)
    state = {
        "children": np.zeros((work.population, genes), kind),
        "elites": np.zeros((elites, genes), kind),
        "fitness": np.full(elites, -np.inf),
    }

    def find_fitness(row: np.ndarray) -> float:
        h = x
        for layer, (rows, columns) in enumerate(shapes):
            weights = row[ends[layer] - rows * columns : ends[layer]].reshape(rows, columns)
            bias = row[biases[layer] - columns : biases[layer]]
            if layer in (0, len(shapes) - 1):
                z = h @ weights + bias
            else:
                z = np.concatenate([h, x], axis=1) @ weights + bias
            h = np.maximum(z, 0)
        losses = (z - y) ** 2 if work.loss == "mse" else np.logaddexp(0, z) - y * z
        return float(-losses.sum() / len(x) - L1 * np.abs(row[: ends[-1]]).mean())

    def breed() -> np.ndarray:
        first, second = state["elites"][rng.integers(elites, size=2)]
        child = np.where(rng.random(genes) < 0.5, first, second)
        child[rng.integers(genes, size=mutations)] = rng.choice(legal, size=mutations)
        return child

    def live() -> None:
        fitness = np.array([find_fitness(row) for row in state["children"]])
        everyone = np.concatenate([state["children"], state["elites"]])
        everyones = np.concatenate([fitness, state["fitness"]])
        order = np.argsort(-everyones, kind="stable")[:elites]
        state["elites"], state["fitness"] = everyone[order], everyones[order]
        state["children"] = np.array([breed() for _ in range(work.population)])

    def run() -> tuple[float, float, float]:
        began, used = time.perf_counter(), time.process_time()
        for _ in range(work.generations):
            live()
        wall, core = time.perf_counter() - began, time.process_time() - used
        return wall / work.generations, core / work.generations, float(state["fitness"][0])

    return run


def _measure_gpu(work: argparse.Namespace, kind: str, devices: list[Any]) -> list[dict[str, Any]]:
    x, y = _make_data(work, kind)
    rng, sets = np.random.default_rng(1), work.sets
    spec = _make_spec(work, "batched")
    drawn = {
        "elite_ratio": rng.choice(ELITE_RATIOS, sets).tolist(),
        "mutation_rate": rng.choice(MUTATION_RATES, sets).tolist(),
        "l1": rng.uniform(5, 20, sets).tolist(),
        "legal": rng.choice(list(LEGAL), sets).tolist(),
        "seed": list(range(sets)),
    }
    nets = [
        EvolutionSettings(**dict(zip(drawn, row, strict=True)))
        for row in zip(*drawn.values(), strict=True)
    ]
    hyper = make_hyper(spec, work.inputs, work.outputs, nets)
    start = start_populations(spec, hyper, work.inputs, work.outputs)
    samples = group_samples(x, y, work.loss)
    hyper, samples = jax.device_put((hyper, samples), devices[0])
    rows, genes = [], None
    for kernel in work.kernels:
        spec = dataclasses.replace(spec, kernel=kernel)
        row, populations = _time_generations(work, spec, start, hyper, samples, devices[0])
        genes = populations.children if genes is None else genes
        fitness = _time_fitness(work, spec, genes, hyper, samples)
        rows.append({"data": kind, "kernel": kernel, **row, "fitness_ms": 1e3 * fitness[0]})
        rows[-1]["distinct_samples"] = int(samples.x.shape[1])
        rows[-1]["fitness_off_by"] = _compare(work, spec, genes, hyper, samples, fitness[1])
    for tile in work.tiles:
        for warps in work.warps:
            fused.TILE, fused.WARPS = tile, warps
            spec = dataclasses.replace(spec, kernel="pallas")
            seconds, _ = _time_fitness(work, spec, genes, hyper, samples)
            rows.append({"data": kind, "tile": tile, "warps": warps, "fitness_ms": 1e3 * seconds})
    return rows


def _time_generations(
    work: argparse.Namespace,
    spec: EvolutionSpec,
    start: Populations,
    hyper: EvolutionHyperparameters,
    samples: Samples,
    device: Any,
) -> tuple[dict[str, Any], Populations]:
    populations, seconds = jax.device_put(start, device), []
    for _ in range(1 + work.repeats):
        began = time.perf_counter()
        populations = evolve_segment(spec, populations, hyper, samples, work.generations)
        jax.block_until_ready(populations)
        seconds.append(time.perf_counter() - began)
    each = [wall / work.generations for wall in seconds[1:]]
    memory = (device.memory_stats() or {}).get("peak_bytes_in_use", 0)
    row = {
        "generation_ms": 1e3 * float(np.median(each)),
        "min_ms": 1e3 * min(each),
        "max_ms": 1e3 * max(each),
        "forecast_s": ALL_GENERATIONS * float(np.median(each)),
        "first_segment_s": seconds[0],
        "peak_gb": memory / 1e9,
        "best_fitness": float(np.median(populations.elite_fitness[:, 0])),
    }
    return row, populations


def _time_fitness(
    work: argparse.Namespace,
    spec: EvolutionSpec,
    genes: Any,
    hyper: EvolutionHyperparameters,
    samples: Samples,
) -> tuple[float, np.ndarray]:
    def measure(genes: Any, hyper: EvolutionHyperparameters, samples: Samples) -> Any:
        return measure_fitness(spec, genes, hyper, samples)

    compiled, seconds = jax.jit(measure), []
    for _ in range(2 + work.repeats):
        began = time.perf_counter()
        fitness = jax.block_until_ready(compiled(genes, hyper, samples))
        seconds.append(time.perf_counter() - began)
    return min(seconds[2:]), np.asarray(fitness)


def _compare(
    work: argparse.Namespace,
    spec: EvolutionSpec,
    genes: Any,
    hyper: EvolutionHyperparameters,
    samples: Samples,
    fitness: np.ndarray,
) -> dict[str, float]:
    """How far fitness is from that in full float32, and how often two neighbours swap ranks."""
    few = min(8, len(genes))
    head = jax.tree.map(lambda leaf: leaf[:few], hyper)
    exact = dataclasses.replace(spec, kernel="batched")
    with jax.default_matmul_precision("highest"):
        right = np.asarray(
            jax.jit(measure_fitness, static_argnums=0)(exact, genes[:few], head, samples)
        )
    off = np.abs(fitness[:few] / right - 1)
    count = max(1, round(ELITE_RATIO * work.population))
    chosen = [
        np.argsort(-part, axis=1, kind="stable")[:, :count] for part in (right, fitness[:few])
    ]
    same = [len(np.intersect1d(*pair)) / count for pair in zip(*chosen, strict=True)]
    return {"median": float(np.median(off)), "most": float(off.max()), "same_elites": min(same)}


def _describe_hardware(devices: list[Any]) -> str:
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        cpu = text.partition("model name\t: ")[2].partition("\n")[0] or cpu
    gpu = "" if devices[0].platform == "cpu" else f", {len(devices)} x {devices[0].device_kind}"
    return f"{cpu}, {os.cpu_count()} cores{gpu}"


def _find_versions() -> dict[str, str]:
    installed = {d.name.replace("_", "-"): d.version for d in metadata.distributions()}
    found = {name: installed[name] for name in PACKAGES if name in installed}
    return {"python": platform.python_version()} | found


if __name__ == "__main__":
    main()
