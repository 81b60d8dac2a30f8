"""Networks trained per second, beside PyTorch one at a time and a Keras model, in one run.

The work is one optimisation step of one network on one batch, with the data in memory. Ours runs
through the engine that a search uses, its validation check every epoch included; the baselines
train one network and never validate. Ours keeps every core busy, one small network hardly more
than one: divide by the cores to compare with one process per core. All take turns, so that a busy
machine slows all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import os
import platform
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata, util
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

from rinn.config import SPLITS, NetSettings, Trial
from rinn.data.problem import Problem, make_problem
from rinn.data.records import Data
from rinn.nets.devices import find_devices
from rinn.nets.groups import plan_groups
from rinn.nets.kernel_trainer import open_trainer
from rinn.nets.trainer import Trainer

SIZES = {"nets": 128, "width": 10, "layers": 8, "inputs": 16, "outputs": 16, "batch": 128}
SIZES |= {"samples": 5000, "repeats": 5, "epochs": 20}
PRESETS: dict[str, dict[str, Any]] = {
    "cpu": {},
    "gpu": {"nets": 880, "width": 12, "epochs": 200, "device": "gpu"},
    "tcga": {"width": 50, "inputs": 650, "outputs": 84, "device": "gpu"},
}
SQUARE = 8192  # rows and columns of the product that shows what the device can do
NEEDED = {"torch": ("torch",), "keras": ("keras", "tensorflow"), "xla": ()}
PACKAGES = ("rinn", "jax", "jaxlib", "torch", "keras", "tensorflow", "tensorflow-cpu")
LEARNING_RATE, L1 = 1e-3, 1e-4
FULL_TRAINING = 300  # epochs
WARM_UP = 2  # runs: JAX may compile once more for the arrays that the first segment returned
ENDLESS = 10**9


class Runner(NamedTuple):
    """Something that trains `nets` networks for a number of epochs and waits until it is done."""

    name: str
    nets: int
    train: Callable[[int], None]
    validate: Callable[[], float]


def main(words: list[str] | None = None) -> dict[str, Any]:
    """Measure, print, and return all numbers."""
    work, console, load = _parse(words), Console(), os.getloadavg()[0]
    # JAX would otherwise take most of a GPU's memory and leave the baselines none.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    devices, problem = find_devices(work.device), _make_data(work)
    steps, epochs = len(problem.splits[0].train) // work.batch, work.epochs
    baselines = _make_baselines(work, problem, devices, console)
    runners = [_make_ours(work, problem, devices), *baselines]
    clocks = [timeit.Timer(functools.partial(runner.train, epochs)) for runner in runners]
    runs = range(WARM_UP + work.repeats)
    walls = np.array([[clock.timeit(1) for clock in clocks] for _ in runs])  # [run, runner]
    seconds = walls[WARM_UP:] / (epochs * steps) / [runner.nets for runner in runners]
    ours = float(np.median(seconds[:, 0]))
    rows = [_make_row(*pair, ours) for pair in zip(runners, seconds.T.tolist(), strict=True)]
    result = {
        "work": {name: value for name, value in vars(work).items() if name != "json"}
        | {"steps_per_epoch": steps, "timed_steps_per_run": epochs * steps},
        "rows": rows,
        "compile_s": float(sum(walls[:WARM_UP, 0] - np.median(walls[WARM_UP:, 0]))),
        "step_of_all_ms": 1e3 * ours * work.nets,
        "networks_per_s": 1 / (ours * steps * FULL_TRAINING),
        "tflops": 1e-12 * _count_operations(work) / ours,
        "tflops_of_one_large_product": _measure_product(devices[0]),
        "epochs_trained": len(walls) * epochs,
        "hardware": _describe_hardware(devices),
        "load": [load, os.getloadavg()[0]],
        "versions": _find_versions(),
    }
    _print(result, console)
    if work.json:
        Path(work.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return result


def _parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="other defaults")
    for name, value in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"on a CPU {value}")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--baselines", default=",".join(NEEDED), help="torch,keras,xla or none")
    parser.add_argument("--json", metavar="FILE", help="write all numbers here")
    parser.set_defaults(**PRESETS[parser.parse_known_args(words)[0].preset])
    work = parser.parse_args(words)
    work.baselines = [] if work.baselines == "none" else work.baselines.split(",")
    for name in work.baselines:
        if name not in NEEDED:
            parser.error(f"--baselines must be of {', '.join(NEEDED)}, or none, got {name!r}")
    if work.batch > work.samples // 2 or min(getattr(work, name) for name in SIZES) < 1:
        parser.error("sizes must be at least 1, and --samples twice --batch; use larger ones")
    return work


def _make_data(work: argparse.Namespace) -> Problem:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(work.samples, work.inputs))
    hidden = np.maximum(x @ rng.normal(size=(work.inputs, 4)), 0.0)
    y = hidden @ rng.normal(size=(4, work.outputs)) + rng.normal(size=(work.samples, work.outputs))
    names = [tuple(f"{s}{i}" for i in range(v.shape[1])) for s, v in (("x", x), ("y", y))]
    return make_problem(Data(x, y, *names), loss="mse")


def _make_ours(
    work: argparse.Namespace, problem: Problem, devices: list[Any], *, kernel: bool = True
) -> Runner:
    """Every network at once, on every device at the same time, one thread for each."""
    net = {"width": work.width, "layers": work.layers, "batch_size": work.batch, "l1": L1}
    net |= {"learning_rate": LEARNING_RATE, "epochs": ENDLESS, "patience": ENDLESS}
    trials = [Trial(i, i, i % SPLITS, NetSettings(**net, seed=i)) for i in range(work.nets)]
    groups = plan_groups(trials, problem, devices[0].platform)
    start = open_trainer if kernel else Trainer
    lanes = [
        [start(group, problem, 0, device) for group in groups[i :: len(devices)]]
        for i, device in enumerate(devices)
    ]
    batches = {trainer: trainer.start() for lane in lanes for trainer in lane}

    def run_lane(lane: list[Trainer], epochs: int) -> None:
        for trainer in lane:
            for _ in range(math.ceil(epochs / trainer.epochs)):
                batches[trainer], finished = trainer.advance(batches[trainer])
                if finished:
                    raise RuntimeError(f"a network stopped while timed: {finished[0].status}")
            jax.block_until_ready(batches[trainer].state)

    def train(epochs: int) -> None:
        with ThreadPoolExecutor(len(lanes)) as pool:
            list(pool.map(lambda lane: run_lane(lane, epochs), lanes))

    def validate() -> float:
        last = [batch.curves[-1][-1, batch.members.ravel()] for batch in batches.values()]
        return float(np.median(np.concatenate(last)[:, 1]))

    name = f"rinn, {work.nets} nets, {len(devices)} x {devices[0].platform}"
    name += ", XLA alone" if not kernel else ""
    return Runner(name, work.nets, train, validate)


def _make_baselines(
    work: argparse.Namespace, problem: Problem, devices: list[Any], console: Console
) -> list[Runner]:
    made, where = [], devices[0].platform
    for name in work.baselines:
        if not all(util.find_spec(package) for package in NEEDED[name]):
            console.print(f"{name} is not measured: pip install 'rinn[bench]'", markup=False)
        elif name == "keras":
            made.append(_make_keras(work, problem))
        elif name == "xla":
            # On a CPU, and for shapes that the kernel does not take, this is what is measured.
            made += [_make_ours(work, problem, devices, kernel=False)] if where == "gpu" else []
        else:
            import torch

            made.append(_make_torch(work, problem, "cpu"))
            if where == "gpu" and torch.cuda.is_available():
                made.append(_make_torch(work, problem, "cuda"))
            elif where == "gpu":
                console.print("torch is not measured on the GPU: its build is without CUDA")
    return made


def _make_torch(work: argparse.Namespace, problem: Problem, device: str) -> Runner:
    """One network written plainly, eager."""
    import torch
    from torch import nn

    class RedundantNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            reads = [work.inputs] + [work.width + work.inputs] * (work.layers - 1)
            self.hidden = nn.ModuleList(nn.Linear(n, work.width) for n in reads)
            self.output = nn.Linear(work.width, work.outputs)
            for name, values in self.named_parameters():
                nn.init.zeros_(values) if "bias" in name else nn.init.kaiming_normal_(values)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = torch.relu(self.hidden[0](x))
            for layer in self.hidden[1:]:
                h = torch.relu(layer(torch.cat([h, x], dim=1)))
            return self.output(h)

    torch.manual_seed(0)
    if device == "cuda":  # TF32, as JAX multiplies on a GPU
        torch.set_float32_matmul_precision("high")
    net, mse = RedundantNet().to(device), nn.functional.mse_loss
    weights = [w for name, w in net.named_parameters() if name.endswith("weight")]
    optimiser = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    x, y, held_x, held_y = (torch.from_numpy(v).to(device) for v in _take_split(work, problem))

    def train(epochs: int) -> None:
        for _ in range(epochs):
            for rows in torch.randperm(len(x), device=device).split(work.batch):
                optimiser.zero_grad()
                loss = mse(net(x[rows]), y[rows]) + L1 * sum(w.abs().sum() for w in weights)
                loss.backward()
                optimiser.step()
        if device == "cuda":
            torch.cuda.synchronize()

    def validate() -> float:
        with torch.no_grad():
            return float(mse(net(held_x), held_y))

    where = device if device == "cuda" else f"{torch.get_num_threads()} x cpu"
    return Runner(f"PyTorch, 1 net, {where}", 1, train, validate)


def _make_keras(work: argparse.Namespace, problem: Problem) -> Runner:
    """One functional model of Dense and Concatenate, trained by `fit`."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    stderr = os.dup(2)  # TensorFlow greets from C++, past Python's stderr and its own settings
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        import keras
        import tensorflow as tf
        from keras import layers
    finally:
        os.dup2(stderr, 2)
    tf.config.set_visible_devices([], "GPU")  # the extra installs TensorFlow for the CPU
    keras.utils.set_random_seed(0)
    kept = {"kernel_initializer": "he_normal", "kernel_regularizer": keras.regularizers.L1(L1)}
    read = given = keras.Input((work.inputs,))
    for _ in range(work.layers):
        h = layers.Dense(work.width, activation="relu", **kept)(read)
        read = layers.Concatenate()([h, given])
    net = keras.Model(given, layers.Dense(work.outputs, **kept)(h))
    net.compile(optimizer=keras.optimizers.Adam(LEARNING_RATE), loss="mse")
    x, y, held_x, held_y = _take_split(work, problem)

    def train(epochs: int) -> None:
        net.fit(x, y, batch_size=work.batch, epochs=epochs, verbose=0)

    def validate() -> float:
        return float(np.mean((net.predict(held_x, verbose=0) - held_y) ** 2))

    return Runner("Keras, 1 net, cpu", 1, train, validate)


def _take_split(work: argparse.Namespace, problem: Problem) -> tuple[np.ndarray, ...]:
    """Our first split as [sample, column]; whole batches only, as our training takes them."""
    train, held = problem.splits[0].train, problem.splits[0].validation
    train = train[: len(train) // work.batch * work.batch]
    return tuple(v.T[rows].copy() for rows in (train, held) for v in (problem.x, problem.y))


def _count_operations(work: argparse.Namespace) -> int:
    """Additions and multiplications of one step of one network in its products alone.

    Forward, and backward to the weights; backward to the hidden nodes, but not to the inputs.
    """
    from_inputs = work.layers * work.width * work.inputs
    from_hidden = (work.layers - 1) * work.width**2 + work.outputs * work.width
    return 2 * work.batch * (2 * from_inputs + 3 * from_hidden)


def _measure_product(device: Any) -> float:
    """TFLOP/s of one large float32 product at the precision that training uses."""
    size = SQUARE if device.platform != "cpu" else SQUARE // 8
    one = jax.device_put(np.random.default_rng(0).normal(size=(size, size)), device)
    multiply = jax.jit(lambda a: a @ a)
    one = one.astype("float32")
    clock = timeit.Timer(lambda: jax.block_until_ready(multiply(one)))
    return 1e-12 * 2 * size**3 / min(clock.repeat(5, 1))


def _make_row(runner: Runner, seconds: list[float], ours: float) -> dict[str, Any]:
    step = float(np.median(seconds))
    row = {"what": runner.name, "per_network_step_s": step, "ratio_to_ours": step / ours}
    spread = {"min_s": min(seconds), "max_s": max(seconds), "runs_s": seconds}
    return {**row, **spread, "validation_mse": runner.validate()}


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


def _print(result: dict[str, Any], console: Console) -> None:
    table = Table("what", "per network and step", "ratio to ours", "spread", "MSE")
    for row in result["rows"]:
        times = [1e6 * row[key] for key in ("per_network_step_s", "min_s", "max_s")]
        step, least, most = (f"{us:.1f}" if us < 100 else f"{us:.0f}" for us in times)
        cells = (f"{step} us", f"{row['ratio_to_ours']:.1f}", f"{least}..{most} us")
        table.add_row(row["what"], *cells, f"{row['validation_mse']:.3f}")
    table.columns[0].no_wrap = table.columns[3].no_wrap = True
    console.print(table)
    w, load, peak = result["work"], result["load"], result["tflops_of_one_large_product"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    claim = f"""One step of all {w["nets"]} networks takes {result["step_of_all_ms"]:.2f} ms:
        {result["networks_per_s"]:.2f} networks of {FULL_TRAINING} epochs per second, after
        {result["compile_s"]:.1f} s to compile, which are not timed. The products run at
        {result["tflops"]:.3g} TFLOP/s, {100 * result["tflops"] / peak:.0f} % of the {peak:.3g}
        that one large product reaches here. Work: {w["inputs"]} ->
        {w["layers"]} x {w["width"]} -> {w["outputs"]}, batch {w["batch"]}, Adam, L1, MSE,
        {w["samples"]} samples; only ours validates. Quality: MSE on the validation samples
        after {result["epochs_trained"]} epochs, ours the median. Hardware:
        {result["hardware"]}, load {load[0]:.1f} before and {load[1]:.1f} after. Versions:
        {versions}. Median and least..most of {w["repeats"]} runs, in turn."""
    console.print(" ".join(claim.split()), highlight=False, markup=False)


if __name__ == "__main__":
    main()
