"""Where networks are trained: every core of the CPU as a device of its own, or the GPUs."""

from __future__ import annotations

import contextlib
import os
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
    if word == "cpu":
        return jax.devices("cpu")
    result: list[jax.Device] = []
    with contextlib.suppress(RuntimeError):
        result = jax.devices("gpu")
    if result:
        _keep_programs()
        return result
    if word == "gpu":
        raise InputError(
            "device must be one this machine has, got 'gpu' but JAX finds none; install "
            "'rinn[gpu]' on a machine with an NVIDIA GPU, or use --device cpu"
        )
    return jax.devices("cpu")


def _keep_programs() -> None:
    """Keep what was compiled for a GPU between runs: half a minute of a search otherwise."""
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        jax.config.update("jax_compilation_cache_dir", str(Path(base, "rinn", "programs")))
