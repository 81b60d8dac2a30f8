"""Test ids that are the same in every process: xdist compares those that its workers collect."""

import hypothesis
import pytest

# A busy machine is no error of the code.
hypothesis.settings.register_profile("rinn", deadline=None)
hypothesis.settings.load_profile("rinn")


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
