"""How long a whole search takes: the call and a clock.

The search runs twice in one process; the second time every program is already compiled.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
from pathlib import Path

import jax

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.nets.devices import find_devices
from rinn.nets.search import run_search
from rinn.pipeline import plan_run
from rinn.simulate.datasets import make_dataset


def main() -> None:
    """Time `--budget` on `--dataset`, compilation first included, then not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="matrix")
    parser.add_argument("--budget", default="paper")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    devices = find_devices(options.device)
    simulation = make_dataset(options.dataset, seed=0)
    settings = RunSettings(
        budget=options.budget,
        trials=options.trials,
        epochs=options.epochs,
        effects="corrected",
    )
    plan = plan_run(as_data(simulation.x, simulation.y), settings)
    problem, trials = plan.problem, list(plan.trials)
    seconds = []
    for repeat in range(options.repeats):
        started = time.perf_counter()
        nets = run_search(problem, trials, devices)
        seconds.append(time.perf_counter() - started)
        print(f"{options.dataset}: run {repeat + 1}: {seconds[-1]:.1f} s", flush=True)
    found = {
        "dataset": options.dataset,
        "budget": options.budget,
        "networks": len(nets),
        "mean_epochs": sum(net.epochs for net in nets) / len(nets),
        "status": collections.Counter(net.status for net in nets),
        "seconds": seconds,
        "device": f"{len(devices)} x {devices[0].device_kind}",
        "jax": jax.__version__,
    }
    print(json.dumps(found))
    if options.json:
        options.json.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
