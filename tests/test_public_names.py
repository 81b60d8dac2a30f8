"""The names that `rinn` itself holds: few, documented, and loaded when they are asked for."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import rinn

NAMES = [name for name in rinn.__all__ if name != "__version__"]
METHODS = [
    "fit",
    "predict",
    "transform",
    "score",
    "get_feature_names_out",
    "save",
    "load",
    "report",
]
METHODS += ["plot", "export"]


def test_every_public_name_resolves_once():
    assert len(rinn.__all__) == len(set(rinn.__all__))
    for name in rinn.__all__:
        assert getattr(rinn, name) is not None
    assert dir(rinn) == sorted(rinn.__all__)
    with pytest.raises(AttributeError, match="module 'rinn' has no attribute 'DBM'"):
        _ = rinn.DBM


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(rinn.__file__).with_suffix(".pyi").read_text())
    imports = [part for part in tree.body if isinstance(part, ast.ImportFrom)]
    seen = [alias.asname for part in imports for alias in part.names]
    assert rinn.__all__ == ["__version__", *seen]


def test_importing_the_package_leaves_jax_alone():
    code = "import sys, rinn; print([m for m in ('jax', 'sklearn', 'pandas') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_top_level_holds_what_users_call():
    assert len(NAMES) <= 30


def find_sections(thing):
    """The sections that the documentation of a function must have."""
    signature = inspect.signature(thing)
    has_arguments = any(name not in ("self", "cls") for name in signature.parameters)
    gives = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    return ["Args:"] * has_arguments + ["Returns:"] * gives


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    thing = getattr(rinn, name)
    words = inspect.getdoc(thing)
    assert "Example" in words
    assert ">>> " in words  # which doctest runs
    if inspect.isfunction(thing):
        assert "Raises:" in words
        assert [section for section in find_sections(thing) if section not in words] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_an_estimator_has_an_example(name):
    method = getattr(rinn.RINN, name)
    words = inspect.getdoc(method)
    assert ">>> " in words
    assert [section for section in find_sections(method) if section not in words] == []


def test_all_methods_are_those():
    found = {name for name, thing in inspect.getmembers(rinn.RINN, inspect.isroutine)
             if not name.startswith("_") and thing.__module__.startswith("rinn.")}  # fmt: skip
    assert found == set(METHODS)


def test_types_are_shipped():
    assert Path(rinn.__file__).with_name("py.typed").is_file()


def test_the_package_runs_as_a_command():
    command = [sys.executable, "-m", "rinn", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"rinn {rinn.__version__}\n"
