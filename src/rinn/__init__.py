"""Learn the hidden causal graph between known causes (X) and known effects (Y)."""

import importlib
import re
from pathlib import Path

# The public names are listed in the stub, which type checkers read. Each is imported when it is
# first asked for, so that `rinn --help` does not wait for JAX.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = {
    name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", _STUB, re.M)
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> object:
    if name == "__version__":
        value = importlib.import_module("importlib.metadata").version("rinn")
    elif name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'rinn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
