"""The kernel for GPUs, compiled for this CPU: threads of a block are coroutines (host_warp.h)."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from rinn.nets.kernel import Program, make_source

KERNEL = re.compile(
    r'extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\((.*?)\)', re.DOTALL
)


def compile_on_host(shape):
    """The kernels for a shape, as `compile_kernel` returns them for a GPU."""
    if shutil.which("g++") is None:
        pytest.skip("this machine has no C++ compiler to compile the kernel with")
    library, blocks_of = _compile(make_source(shape)), shape.find_blocks()

    def launch(name, blocks, arguments):
        kinds = {np.uint64: ctypes.c_uint64, np.int32: ctypes.c_int}
        given = [kinds[type(argument)](int(argument)) for argument in arguments]
        threads, shared = blocks_of[name]
        assert library[f"launch_{name}"](blocks, threads, *given) <= shared

    return Program(launch, lambda: None, multiprocessors=4)


@functools.cache
def _compile(source):
    source = source.replace("__expf", "fast_exp").replace("__logf", "fast_log")
    calls = []
    for name, taken in KERNEL.findall(source):
        names = ", ".join(part.split()[-1].lstrip("*") for part in taken.split(","))
        calls.append(
            f'extern "C" int launch_{name}(int blocks, int threads, {taken}) {{ return run_blocks('
            f"blocks, threads, [&] {{ {name}({names}); }}); }}"
        )
    header = Path(__file__).with_name("host_warp.h").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder, "kernel.cpp"), Path(folder, "kernel.so")
        code.write_text("\n".join([header, source, *calls]), encoding="utf-8")
        command = ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-o", library, code]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))
