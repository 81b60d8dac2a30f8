"""One device, quickly compiled programs, and test ids that are equal in all processes."""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pandas as pd
import pytest

# Compiling is most of the time of the tests. A program is compiled for each device, so there is
# one; processes share what they compile. Both are set before JAX is imported, for children too.
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "1")
CACHE = Path(__file__).parents[1] / ".pytest_cache" / "programs"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# Of the tests that need not run the very programs that users run, nearly all CPU time is XLA's.
QUICK_COMPILATION = "--xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false"

# A busy machine is no error of the code.
hypothesis.settings.register_profile("rinn", deadline=None)
hypothesis.settings.load_profile("rinn")


def pytest_configure(config):
    """Where tests marked `exact` are left out, programs are compiled quickly, in children too."""
    flags = os.environ.get("XLA_FLAGS", "")
    if "not exact" in config.option.markexpr and QUICK_COMPILATION not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {QUICK_COMPILATION}".strip()


@pytest.fixture(scope="module", autouse=True)
def shallow_networks():
    """Networks of the default budget have two layers, unless a test asks for `deep_networks`."""
    from networks import shallow_networks

    with shallow_networks():
        yield


@pytest.fixture
def deep_networks():
    """Networks of the default budget as users have them."""
    from networks import deep_networks

    with deep_networks():
        yield


def pytest_make_parametrize_id(config, val, argname):
    """Bytes are named by their argument: compressed bytes, for one, hold the time."""
    return argname if isinstance(val, bytes) else None


def pytest_generate_tests(metafunc):
    """The order of a set differs between processes."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        values = mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]
        if isinstance(values, (set, frozenset)):
            pytest.fail(f"{metafunc.definition.nodeid} is parametrised by a set; sort it")


def pytest_itemcollected(item):
    """The address of an object differs between processes."""
    if " at 0x" in item.nodeid:
        raise pytest.UsageError(f"the id of {item.nodeid} holds an address; pass ids=")


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """A run on tiny tables that all tests of a process share: they copy what they change."""
    from hostile_names import INPUTS, OUTPUTS
    from networks import shallow_networks
    from rinn.config import RunSettings
    from rinn.fit import fit_run

    folder = tmp_path_factory.mktemp("tiny")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(100, len(INPUTS)))
    y = x @ rng.normal(size=(len(INPUTS), len(OUTPUTS)))
    y += 0.1 * rng.normal(size=y.shape)
    paths = folder / "x.csv", folder / "y.csv"
    for table, names, path in ((x, INPUTS, paths[0]), (y, OUTPUTS, paths[1])):
        pd.DataFrame(table, columns=names).to_csv(path, index=False)
    settings = RunSettings(trials=8, epochs=2, keep=2, bootstraps=3, effects="corrected")
    with shallow_networks():
        return fit_run(*paths, folder / "run", settings, device="cpu", quiet=True)
