"""The kernel for GPUs, compiled for this CPU: threads of a block are coroutines (host_warp.h)."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from rinn.nets.kernel import THREADS_PER_WARP, WARPS, Program, make_source

POINTERS = (
    "const uint4*", "const float*", "const int*", "const uint4*", "const float*", "const float*",
    "const Rates*", "const Sizes*", "Losses*", "Counts*", "float*", "float*", "float*", "float*",
    "float*",
)  # fmt: skip
NUMBERS = 5
SPREAD = 16  # bytes at the end of a row that only spread the rows over the banks


def compile_on_host(shape):
    """The kernel for a shape, as `compile_kernel` returns it for a GPU."""
    if shutil.which("g++") is None:
        pytest.skip("this machine has no C++ compiler to compile the kernel with")
    run = _compile(make_source(shape))

    def launch(blocks, arguments):
        given = [ctypes.c_uint64(int(a)) for a in arguments[: len(POINTERS)]]
        given += [ctypes.c_int(int(a)) for a in arguments[len(POINTERS) :]]
        used = run(blocks, THREADS_PER_WARP * WARPS, *given)
        assert shape.shared_bytes - SPREAD <= used <= shape.shared_bytes

    return Program(launch, lambda: None)


@functools.cache
def _compile(source):
    names = [f"a{i}" for i in range(len(POINTERS) + NUMBERS)]
    kinds = [*POINTERS, *["int"] * NUMBERS]
    taken = ", ".join(f"{kind} {name}" for kind, name in zip(kinds, names, strict=True))
    call = (
        f'extern "C" int launch(int blocks, int threads, {taken}) {{ return run_blocks('
        f"blocks, threads, [&] {{ train_segment({', '.join(names)}); }}); }}"
    )
    header = Path(__file__).with_name("host_warp.h").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        source = source.replace("__expf", "fast_exp").replace("__logf", "fast_log")
        code.write_text("\n".join([header, source, call]), encoding="utf-8")
        command = ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-o", library, code]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library)).launch
