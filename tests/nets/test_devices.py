import jax
import pytest

from rinn.errors import InputError
from rinn.nets import devices
from rinn.nets.devices import find_devices


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
