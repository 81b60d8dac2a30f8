"""Where networks are trained: every core of the CPU as a device of its own, or the GPUs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import queue
import warnings
from collections.abc import Iterator
from pathlib import Path

import jax
from threadpoolctl import threadpool_limits

from rinn.config import check_device, check_integer, count_cores
from rinn.errors import InputError, count

MAX_CORES = 1024


def find_devices(word: str = "auto") -> list[jax.Device]:
    """List the devices to train on.

    On a CPU each core becomes a device: two programs of sixteen networks on one core each take half
    the time of one on both. This must happen before JAX is first used.
    """
    check_device(word)
    with contextlib.suppress(RuntimeError):  # JAX is already in use
        if getattr(jax.config, "jax_num_cpu_devices", -1) < 0:
            jax.config.update("jax_num_cpu_devices", count_cores())
    _keep_programs()
    if word == "cpu":
        return jax.devices("cpu")
    result: list[jax.Device] = []
    with contextlib.suppress(RuntimeError):
        result = jax.devices("gpu")
    if result:
        return result
    if word == "gpu":
        raise InputError(
            "device must be one this machine has, got 'gpu' but JAX finds none; install "
            "'rinn[gpu]' on a machine with an NVIDIA GPU, or use --device cpu"
        )
    return jax.devices("cpu")


@contextlib.contextmanager
def limit_cores(number: int | None) -> Iterator[None]:
    """Use this many cores, in JAX and BLAS; None leaves it to them.

    JAX takes its threads when it is first used. It cannot be limited later, which a warning says.
    """
    if number is None:
        yield
        return
    check_integer("cores", number, 1, MAX_CORES)
    os.environ["NPROC"] = str(number)  # the size of XLA's thread pool, for child processes too
    with contextlib.suppress(RuntimeError):  # JAX is already in use
        jax.config.update("jax_num_cpu_devices", number)
    if (now := len(jax.devices("cpu"))) != number:
        warnings.warn(
            f"cores is {number}, but this process already uses JAX with {count(now, 'CPU device')}"
            f", which cannot be changed; set cores before anything else uses JAX",
            stacklevel=3,
        )
    with threadpool_limits(limits=number, user_api="blas"):
        yield


@contextlib.contextmanager
def borrow_device(word: str = "auto") -> Iterator[jax.Device]:
    """A device that no other thread of this process has borrowed."""
    free = _list_free_devices(word)
    device = free.get()
    try:
        yield device
    finally:
        free.put(device)


@functools.cache
def _list_free_devices(word: str) -> queue.SimpleQueue[jax.Device]:
    free: queue.SimpleQueue[jax.Device] = queue.SimpleQueue()
    for device in find_devices(word):
        free.put(device)
    return free


def find_platform(word: str = "auto") -> str:
    """What JAX calls the devices to train on: cpu or gpu."""
    return find_devices(word)[0].platform


def _keep_programs() -> None:
    """Keep compiled programs between runs: on a GPU half a minute of a search otherwise.

    Programs for a CPU run on CPUs with the same instructions only, and home folders are shared.
    """
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        kind = hashlib.sha256(_describe_cpu().encode()).hexdigest()[:16]
        jax.config.update("jax_compilation_cache_dir", str(Path(base, "rinn", "programs", kind)))


def _describe_cpu() -> str:
    """The model of the CPU, and on Linux its instructions."""
    text = f"{platform.machine()} {platform.processor()}"
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        text += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return text
