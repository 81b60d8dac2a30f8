"""The picture of the packages is that of the imports in the source."""

import importlib.util
import re
from pathlib import Path

import networkx as nx
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "draw_architecture.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("draw_architecture", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_import_is_drawn_or_follows_from_those_that_are(script):
    drawn = nx.DiGraph(re.findall(r'data-from="(\w+)" data-to="(\w+)"', script.PICTURE.read_text()))
    imports = script.read_imports()
    upper = imports.subgraph(set(imports) - set(script.BASE))
    assert set(drawn.edges) <= set(upper.edges)
    assert set(upper.edges) <= set(nx.transitive_closure(drawn).edges)
    assert set(drawn) == set(upper) == set(script.PLACES)


def test_the_picture_is_what_the_script_draws(script):
    assert script.PICTURE.read_text() == script.draw(script.reduce_imports(script.read_imports()))


def test_all_packages_are_on_the_map(script):
    words = (SCRIPT.parents[1] / "CONTRIBUTING.md").read_text()
    rows = "".join(line for line in words.splitlines() if line.startswith("| `"))
    assert set(script.read_imports()) <= set(re.findall(r"`(\w+)/?`", rows))
