"""Where networks are trained: every core of the CPU as a device of its own, or the GPUs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from pathlib import Path

import jax

from rinn.config import check_device, count_cores
from rinn.errors import InputError


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
