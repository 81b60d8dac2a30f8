import functools

import pytest
from rich.console import Console

import rinn.paper.reproduce
from rinn.config import RunSettings
from rinn.paper.cells import STRATEGIES, Job, Setup
from rinn.paper.reproduce import run_cell


def run_small(strategy, folder, trials=4):
    setup = Setup("quick", 150, trials, "0.1.0")
    return run_cell(Job("or", strategy, 0), setup, folder, "cpu", Console(quiet=True), True)


SLOW = ("esc", "dbn", "dnn")
EACH = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in STRATEGIES]


@pytest.mark.parametrize("strategy", EACH)
def test_a_cell_of_every_strategy(strategy, tmp_path, monkeypatch):
    small = {"bootstraps": 3} | ({} if strategy == "dm" else {"epochs": 60})
    settings = functools.partial(RunSettings, **small)
    monkeypatch.setattr(rinn.paper.reproduce, "RunSettings", settings)
    cell = run_small(strategy, tmp_path)
    assert (cell.dataset, cell.strategy, cell.seed, cell.samples) == ("or", strategy, 0, 150)
    assert 0 <= cell.hidden.f1.mean <= 1
    assert (cell.input is None) == (strategy == "dbn")
    networks = strategy != "dm"
    assert (cell.test_error is not None) == (cell.graph is not None) == networks
    assert cell.networks == (4 if networks else 0)
    assert (cell.chosen is None) == networks
    if networks:
        assert cell.sets == (4 if strategy == "esc" else 2)
        assert run_small(strategy, tmp_path) == cell
    else:
        assert cell.sets == 4
        assert set(cell.chosen) == {"alpha_pc", "alpha_sober"}
