"""Functions that workers of the tests run."""

import os
import time


def square(number, *shared):
    return number**2 + sum(shared)


def mark_and_square(number, folder):
    """Leave a file for each call, and take a while."""
    name = f"{number}-{os.getpid()}-{time.time_ns()}"
    (folder / name).touch()
    time.sleep(0.3)
    return number**2


def fill_memory(size):
    blocks = []
    while True:
        blocks.append(bytearray(size))
        blocks[-1][::4096] = b"1" * len(blocks[-1][::4096])
        time.sleep(0.05)


def fail(error):
    raise error
