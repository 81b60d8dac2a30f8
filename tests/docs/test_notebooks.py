"""Each notebook runs from its first cell to its last, and prints what it holds."""

import contextlib
import io
import json
import sys
import types

import pytest
from pages import ROOT

from rinn.strategies import STRATEGIES

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def own_strategies():
    """Strategies that a notebook adds are gone after it."""
    before = dict(STRATEGIES)
    yield
    STRATEGIES.clear()
    STRATEGIES.update(before)


def read_printed(cell):
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_prints_what_it_holds(notebook, tmp_path, monkeypatch, own_strategies):
    display = types.ModuleType("IPython.display")
    display.Image = lambda path: open(path, "rb").close()  # the picture is there
    shell = types.ModuleType("IPython")
    shell.version_info, shell.get_ipython = (9, 0), lambda: None  # matplotlib asks
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    names = {"__name__": "notebook"}
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    with contextlib.chdir(tmp_path):
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    code = compile("".join(cell["source"]), f"{notebook.name}:{number}", "exec")
                    exec(code, names)
                assert printed.getvalue() == read_printed(cell), f"cell {number}"


def test_there_are_notebooks_without_errors():
    assert len(NOTEBOOKS) >= 3
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        outputs = [each for cell in cells for each in cell.get("outputs", ())]
        assert all(each["output_type"] != "error" for each in outputs)
        assert notebook.stat().st_size < 200_000
