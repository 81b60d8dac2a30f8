"""The figure of a reproduction, ours beside the paper's, and `rinn draw` of its folder."""

import json
import math

import pytest

from rinn.cli import run
from rinn.errors import InputError
from rinn.paper.cells import Cell, GraphF1, MapScores, load_published
from rinn.paper.figure import draw_folder, list_dots, load_comparison, plot_reproduction
from rinn.runs.manifest import Spread


def cell(dataset="or", strategy="rinn", seed=0, f1=0.5):
    scores = MapScores(Spread(0.9, 0.1), Spread(0.4, 0.0), Spread(f1, 0.05), 0.3)
    return Cell(
        dataset=dataset, strategy=strategy, seed=seed, budget="quick", samples=5000, trials=None,
        versions={"rinn": "0.1.0"}, device="1 x CPU", seconds=1.0, sets=4, networks=8,
        hidden=scores, input=scores, test_error=Spread(0.5, 0.0), auroc=Spread(0.7, 0.01),
        graph=GraphF1(1.0, 1.0),
    )  # fmt: skip


@pytest.fixture
def reproduced(tmp_path):
    folder = tmp_path / "reproduced"
    (folder / "cells").mkdir(parents=True)
    (folder / "reproduction.json").write_text("{}")
    for one in (cell(), cell(seed=1, f1=0.7), cell(strategy="dm")):
        path = folder / "cells" / f"{one.job.name}.json"
        path.write_text(json.dumps(one.to_json()))
    return folder


def test_a_reproduction_is_drawn(reproduced, tmp_path, capsys):
    words = ["draw", str(reproduced), "--out", str(tmp_path / "out"), "--format", "png"]
    assert run(words) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["reproduction.png"]
    drawn = list(draw_folder(reproduced, tmp_path / "other", only="graph"))
    assert drawn[0].reason == "the folder is a reproduction's, not a run's"


def test_dots_are_ours_and_the_papers(reproduced):
    table = list_dots(load_comparison(reproduced))
    dots = {(dot.strategy, dot.measure): dot for dot in table.itertuples()}
    paper = load_published()["or", "rinn"]
    assert dots["rinn", "hidden_f1"].ours_mean == pytest.approx(0.6)
    assert dots["rinn", "hidden_f1"].ours_sd_models == pytest.approx(0.05)
    assert dots["rinn", "hidden_f1"].paper_mean == paper["hidden_f1"].mean
    assert dots["rinn", "auroc"].paper_mean == paper["auroc"].mean
    assert math.isnan(dots["dm", "auroc"].paper_mean)
    assert list(table["strategy"].unique()) == ["rinn", "dm"]
    figure = plot_reproduction(load_comparison(reproduced))
    assert len(figure.axes) == 7
    marks = [line.get_marker() for line in figure.axes[0].lines]
    assert (marks.count("o"), marks.count("D")) == (2, 2)


def test_reproductions_without_cells_are_refused(tmp_path):
    with pytest.raises(InputError, match="must hold a reproduction's cells"):
        load_comparison(tmp_path)
