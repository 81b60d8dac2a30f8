"""The same run on workers: its bytes, also after workers are killed, its overhead and its scaling.

    python benchmarks/bench_cluster.py equality --out FILE
    python benchmarks/bench_cluster.py overhead
    python benchmarks/bench_cluster.py throughput
    python benchmarks/bench_cluster.py scaling

`scaling` is a simulation where the machine has too few cores: groups of networks are trained once
to measure how long each takes, and workers then sleep for a fraction of this time. Scheduling,
messages and the waiting for the last worker are real; competition for memory and caches is not in
it. With --real the workers train.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from rinn.cluster.connect import start_processes
from rinn.cluster.dask_workers import DaskWorkers, find_cpu
from rinn.config import RunSettings, count_cores
from rinn.data.align import as_data
from rinn.data.problem import make_problem
from rinn.fit import fit_run
from rinn.nets.groups import CompileGroup, plan_groups
from rinn.nets.search import DESCENT, train_part
from rinn.runs.manifest import load_manifest
from rinn.simulate.datasets import make_dataset
from rinn.simulate.writing import write_simulation
from rinn.strategies import plan_trials

RESULTS = ("trials.csv", "graph.json", "edges.csv", "weights.safetensors", "null.json")
KILLS = 10
SLEPT = 0.2  # of the seconds that a group takes
WORKERS = (1, 2, 4, 8, 16)
NETWORKS = 512


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one measurement and print its record, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("--out", type=Path, help="file to which the record is appended")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="scaling: train instead of sleeping")
    options = parser.parse_args(arguments)
    record = {"what": options.what, "cpu": find_cpu(), "cores": count_cores()}
    with tempfile.TemporaryDirectory() as folder:
        record |= MEASUREMENTS[options.what](Path(folder), options)
    text = json.dumps(record)
    print(text)
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(text + "\n")


@contextmanager
def start_workers(count: int) -> Iterator[tuple[DaskWorkers, str]]:
    """Workers that get every task, and the address of their scheduler."""
    with start_processes([{}] * count) as cluster, Client(cluster, set_as_default=False) as client:
        yield DaskWorkers(lambda: client, "cpu", min_seconds=0.0), cluster.scheduler_address


def fit(folder: Path, name: str, cluster: Any = None, **changes: Any) -> tuple[float, str]:
    """Fit the paper's OR data: the seconds, and a hash of all results."""
    data = folder / "data"
    if not data.exists():
        write_simulation(make_dataset("or", seed=0), data)
    settings = RunSettings(**changes)
    started = time.monotonic()
    fit_run(data / "x.csv", data / "y.csv", folder / name, settings, device="cpu", quiet=True,
            cluster=cluster)  # fmt: skip
    seconds = time.monotonic() - started
    files = [folder / name / file for file in RESULTS if (folder / name / file).exists()]
    content = b"".join(file.name.encode() + file.read_bytes() for file in files)
    return seconds, hashlib.sha256(content).hexdigest()[:16]


def measure_equality(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One process, two and four workers, and workers that are killed at random moments."""
    changes = {"effects": "corrected", "trials": 64, "epochs": 100, "null": 4}
    hashes = {"one process": fit(folder, "serial", **changes)[1]}
    for count in (2, 4):
        with start_workers(count) as (workers, _):
            hashes[f"local:{count}"] = fit(folder, f"local{count}", workers, **changes)[1]
    killed: list[float] = []
    number = 0
    with start_workers(2) as (workers, address), Client(address, set_as_default=False) as other:
        stop, rng = threading.Event(), random.Random(0)

        def kill() -> None:
            # Not so often that one task is lost four times: Dask gives up then.
            while len(killed) < KILLS and not stop.wait(rng.uniform(2, 12)):
                found = sorted(other.run(os.getpid, on_error="ignore").values())
                if found:
                    os.kill(rng.choice(found), signal.SIGKILL)
                    killed.append(round(time.monotonic() - started, 1))

        started = time.monotonic()
        thread = threading.Thread(target=kill)
        thread.start()
        while len(killed) < KILLS:
            number += 1
            hashes[f"killed, run {number}"] = fit(folder, f"killed{number}", workers, **changes)[1]
        stop.set()
        thread.join()
    return {"hashes": hashes, "equal": len(set(hashes.values())) == 1, "killed_at": killed}


def measure_overhead(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """A default fit, and one with networks, in one process and on local:2, in turn.

    Each is a fresh `rinn fit`; the first of all, which compiles, is not counted.
    """
    write_simulation(make_dataset("or", seed=0), folder / "data")
    tables = [str(folder / "data" / name) for name in ("x.csv", "y.csv")]
    command = [sys.executable, "-m", "rinn", "fit", *tables, "--quiet", "--out"]
    result: dict[str, Any] = {}
    for name, more in {"default": [], "corrected": ["--effects", "corrected"]}.items():
        subprocess.run([*command, str(folder / f"{name}-warm"), *more], check=True)
        times: dict[str, list[float]] = {"one process": [], "local:2": []}
        for repeat in range(options.repeats):
            for label, cluster in (("one process", []), ("local:2", ["--cluster", "local:2"])):
                out = str(folder / f"{name}-{len(cluster)}-{repeat}")
                started = time.monotonic()
                subprocess.run([*command, out, *more, *cluster], check=True)
                times[label].append(round(time.monotonic() - started, 2))
        middle = {label: statistics.median(each) for label, each in times.items()}
        result[name] = times | {"ratio": round(middle["local:2"] / middle["one process"], 3)}
    return result


def measure_throughput(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """1,000 bootstraps and 100 null rounds on four workers."""
    with start_workers(4) as (workers, _):
        boot, _ = fit(folder, "bootstraps", workers, bootstraps=1000)
        null, _ = fit(folder, "null", workers, null=100)
    listed = load_manifest(folder / "null").workers or ()
    return {
        "bootstraps": 1000,
        "seconds_with_bootstraps": round(boot, 1),
        "null_rounds": 100,
        "seconds_with_null_rounds": round(null, 1),
        "tasks": [worker.tasks for worker in listed],
        "busy_seconds": [round(worker.seconds, 1) for worker in listed],
    }


def measure_scaling(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """512 networks on 1 to 16 workers."""
    made = make_dataset("or", seed=0)
    problem = make_problem(as_data(made.x, made.y))
    trials = plan_trials(RunSettings(effects="corrected", trials=NETWORKS), problem)
    groups = plan_groups(trials, problem, "cpu")
    seconds, batch = _time_groups(groups, problem)
    rng = np.random.default_rng(0)
    durations = SLEPT * rng.choice(seconds, len(groups))
    times = {}
    for count in WORKERS:
        with start_workers(count) as (workers, _):
            _run_all(workers, [0.0] * count, batch)  # connects all
            started = time.monotonic()
            if options.real:
                shared = problem, DESCENT, 0, "cpu", 1e9
                with workers.open(train_part, *shared) as tasks:
                    for group in groups:
                        tasks.add(group.number, group, None)
                    list(tasks)
            else:
                _run_all(workers, durations, batch)
            times[count] = time.monotonic() - started
    return {
        "networks": NETWORKS,
        "groups": len(groups),
        "simulated": not options.real,
        "seconds_of_a_group": [round(each, 1) for each in seconds],
        "seconds": {count: round(each, 2) for count, each in times.items()},
        "efficiency": {count: round(times[1] / count / times[count], 3) for count in WORKERS},
    }


def _time_groups(groups: Sequence[CompileGroup], problem: Any) -> tuple[list[float], Any]:
    """Seconds of the first four groups, compiled, and one of their states as it is sent."""
    state = train_part(groups[0], None, problem, DESCENT, 0, "cpu", 0.0)[0]
    seconds = []
    for group in groups[:4]:
        train_part(group, None, problem, DESCENT, 0, "cpu", 0.0)  # compiles
        started = time.monotonic()
        train_part(group, None, problem, DESCENT, 0, "cpu", 1e9)
        seconds.append(time.monotonic() - started)
    return seconds, state


def _run_all(workers: DaskWorkers, durations: Sequence[float], state: Any) -> None:
    """Send a state, sleep, and get it back; a second task for the last part, as training has."""
    with workers.open(sleep_with) as tasks:
        for number, seconds in enumerate(durations):
            tasks.add((number, False), float(seconds) / 2, state)
        for done in tasks:
            number, is_last = done.name
            if not is_last:
                tasks.add((number, True), durations[number] / 2, done.result, near=done.worker)


def sleep_with(seconds: float, state: Any) -> Any:
    """Stand for the training of a group."""
    time.sleep(seconds)
    return state


MEASUREMENTS = {
    "equality": measure_equality,
    "overhead": measure_overhead,
    "throughput": measure_throughput,
    "scaling": measure_scaling,
}

if __name__ == "__main__":
    main()
