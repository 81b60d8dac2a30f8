"""A package imports only what stands to its left, so that each can be read without those above."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rinn

ORDER = (
    "errors < files < config < data, graphs < cluster < nets, simulate < strategies "
    "< structure, refit < pipeline < runs < report < fit < estimators, genomics "
    "< compare, paper < cli"
)
LAYERS = [[name.strip() for name in layer.split(",")] for layer in ORDER.split("<")]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
SOURCE = Path(rinn.__file__).parent


def list_imports(text):
    """The packages of rinn that a module imports, anywhere in it, with the line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where a name is from"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for first, _, rest in (name.partition(".") for name in names):
            if first == "rinn":
                yield rest.partition(".")[0], node.lineno


def find_violations(package, text):
    return [
        f"line {line}: {package} imports {other}"
        for other, line in list_imports(text)
        if other != package and not RANK.get(other, len(LAYERS)) < RANK[package]
    ]


def test_every_package_and_module_has_its_place():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert packages | modules == set(RANK)


@pytest.mark.parametrize("package", RANK)
def test_imports_point_to_the_left(package):
    home = SOURCE / package
    files = sorted(home.rglob("*.py")) or [home.with_suffix(".py")]
    found = [f"{file.relative_to(SOURCE)}, {v}" for file in files
             for v in find_violations(package, file.read_text())]  # fmt: skip
    assert found == []


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("data", "from rinn.graphs.basics import by_role"),
        ("nets", "def f():\n    import rinn.runs.folder"),
        ("structure", "from rinn import pipeline"),
        ("config", "from rinn.unheard_of import name"),
        ("report", "from rinn import RINN"),
        ("cli", "import rinn"),
    ],
)
def test_a_violation_is_seen(package, text):
    assert len(find_violations(package, text)) == 1


def list_loaded(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_pipeline_needs_nothing_above_it():
    loaded = {name.split(".")[1] for name in list_loaded("import rinn.pipeline")
              if name.startswith("rinn.")}  # fmt: skip
    assert loaded <= {name for name in RANK if RANK[name] <= RANK["pipeline"]}


def test_an_estimator_waits_for_jax_until_it_is_fitted():
    assert "jax" not in list_loaded("from rinn import RINN")
