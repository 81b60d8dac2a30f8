import subprocess
import sys
import threading

import jax
import pytest

from rinn.errors import InputError
from rinn.nets import devices
from rinn.nets.devices import borrow_device, find_devices, limit_cores


def test_cpu_can_always_be_asked_for():
    assert {device.platform for device in find_devices("cpu")} == {"cpu"}


def test_gpu_where_there_is_none(monkeypatch):
    def no_gpu(platform=None):
        raise RuntimeError("Unknown backend gpu")

    monkeypatch.setattr(jax, "devices", no_gpu)
    with pytest.raises(InputError, match="got 'gpu' but JAX finds none; install 'rinn\\[gpu\\]'"):
        find_devices("gpu")


def test_auto_prefers_a_gpu(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda platform: [f"{platform}:0"])
    monkeypatch.setattr(devices, "_keep_programs", lambda: None)
    assert find_devices("auto") == ["gpu:0"]
    assert find_devices("cpu") == ["cpu:0"]


def test_unknown_device():
    with pytest.raises(InputError, match="device must be one of auto, cpu, gpu"):
        find_devices("gpus")


COUNT = """
import jax, numpy, threadpoolctl
from rinn.nets.devices import find_devices, limit_cores
with limit_cores(3):
    find_devices("cpu")
    numpy.ones((2, 2)) @ numpy.ones((2, 2))
    pools = threadpoolctl.threadpool_info()
    threads = max(each["num_threads"] for each in pools if each["user_api"] == "blas")
    print(len(jax.devices("cpu")), threads)
"""


def test_cores_are_those_of_jax_and_blas(monkeypatch):
    monkeypatch.delenv("JAX_NUM_CPU_DEVICES", raising=False)
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    devices, threads = map(int, done.stdout.split())
    assert devices == 3
    assert threads <= 3


def test_cores_that_come_too_late_are_warned_of(monkeypatch):
    monkeypatch.setenv("NPROC", "1")  # restored in the end
    number = len(jax.devices("cpu")) + 1
    message = f"cores is {number}, but this process already uses JAX"
    with pytest.warns(UserWarning, match=message), limit_cores(number):
        pass


def test_cores_are_a_number():
    message = "cores must be a whole number from 1 to 1024, got 0"
    with pytest.raises(InputError, match=message), limit_cores(0):
        pass


def test_no_two_threads_have_the_same_device():
    taken = []

    def take():
        with borrow_device("cpu") as device:
            taken.append(device)
            assert taken.count(device) == 1
            taken.remove(device)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == []
