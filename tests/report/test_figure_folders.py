import json
import re
import shutil
from xml.etree import ElementTree as ET

import matplotlib
import pytest
from PIL import Image

from rinn.cli import run
from rinn.errors import InputError
from rinn.paper.figure import ALL_FIGURES
from rinn.report.figures.canvas import encode_figure, save_figure
from rinn.report.figures.folders import FIGURES
from rinn.report.figures.graph import plot_graph
from rinn.report.info import graph_info
from tiny_graphs import make_graph

GRAPH = make_graph([("x0", "h"), ("h", "y0"), ("h", "y1")])


def call(*words):
    return run([str(word) for word in words])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small finished run with a truth; tests only look at it."""
    folder = tmp_path_factory.mktemp("drawn")
    small = "--inputs", 6, "--outputs", 9, "--latents", 3, "--levels", 2, "--samples", 300
    data = folder / "data"
    assert call("simulate", "random", *small, "--mechanism", "gaussian", "--out", data) == 0
    words = (
        "--trials",
        8,
        "--epochs",
        15,
        "--bootstraps",
        3,
        "--effects",
        "corrected",
        "--device",
        "cpu",
        "--quiet",
    )
    places = "--truth", data / "truth.json", "--out", folder / "run"
    assert call("fit", data / "x.csv", data / "y.csv", *places, *words) == 0
    curves = "trial,epoch,train_loss,validation_loss\n0,1,2.0,3.0\n0,2,1.0,2.0\n"
    (folder / "run/curves.csv").write_text(curves)
    return folder / "run"


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_every_figure_of_a_run_is_written(finished, tmp_path, capsys, kind):
    assert call("draw", finished, "--out", tmp_path / "new/figures", "--format", kind) == 0
    expected = {f"{name}.{kind}" for name in FIGURES}
    assert {path.name for path in (tmp_path / "new/figures").iterdir()} == expected
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(expected)
    assert all(line.startswith("wrote ") for line in lines)


def test_the_same_run_gives_the_same_bytes(finished, tmp_path):
    for out in ("first", "second"):
        assert call("draw", finished, "--out", tmp_path / out) == 0
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_what_a_run_lacks_is_left_out_with_a_reason(finished, tmp_path, capsys):
    bare = tmp_path / "bare"
    shutil.copytree(finished, bare)
    for name in ("truth.json", "curves.csv"):
        (bare / name).unlink()
    (bare / "trials.csv").write_text("trial\n0\n")
    assert call("draw", bare, "--out", tmp_path / "out") == 0
    words = capsys.readouterr().out
    assert "left out comparison: no truth was given to 'rinn fit'" in words
    assert "left out curves: the run has no learning curves" in words
    assert (
        "left out selection: RUN must be a folder as rinn has written it, but trials.csv" in words
    )
    written = {path.stem for path in (tmp_path / "out").iterdir()}
    assert written == {"graph", "schematic", "strips", "architecture"}


def test_files_are_not_replaced_unless_asked(finished, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "strips.svg").write_text("mine")
    assert call("draw", finished, "--out", out) == 2
    assert "strips.svg: it exists" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["strips.svg"]
    assert (out / "strips.svg").read_text() == "mine"
    assert call("draw", finished, "--out", out, "--force", "--only", "strips") == 0
    assert (out / "strips.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "bmp"], "format must be one of svg, png, pdf, got 'bmp'"),
        (["--only", "grph"], "did you mean 'graph'"),
        (["--only", "reproduction"], "does not"),
    ],
)
def test_wrong_words_are_named(finished, tmp_path, capsys, words, message):
    assert call("draw", finished, "--out", tmp_path / "out", *words) == 2
    assert message in capsys.readouterr().err


def test_folders_that_are_no_run_are_refused(finished, tmp_path, capsys):
    assert call("draw", tmp_path, "--out", tmp_path / "out") == 2
    assert "no readable manifest.json" in capsys.readouterr().err
    unfinished = tmp_path / "unfinished"
    shutil.copytree(finished, unfinished)
    manifest = json.loads((unfinished / "manifest.json").read_text()) | {"status": "running"}
    (unfinished / "manifest.json").write_text(json.dumps(manifest))
    assert call("draw", unfinished, "--out", tmp_path / "out") == 2
    assert "must be a finished run" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    assert call("draw", finished, "--out", tmp_path / "file") == 2
    assert "--out must be a folder that can be written" in capsys.readouterr().err


def test_help_lists_the_figures(capsys):
    assert call("draw", "--help") == 0
    words = capsys.readouterr().out
    assert all(name in words for name in ALL_FIGURES)


def test_a_figure_that_cannot_be_drawn_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_text("old")
    figure = plot_graph(graph_info(GRAPH))

    def fail(*args, **kwargs):
        raise RuntimeError("no")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(RuntimeError):
        save_figure(figure, path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["figure.png"]


def test_save_figure_checks_the_path(tmp_path):
    figure = plot_graph(graph_info(GRAPH))
    with pytest.raises(InputError, match="folder"):
        save_figure(figure, tmp_path / "missing/figure.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        save_figure(figure, tmp_path / "folder.png")
    with pytest.raises(InputError, match="must end in"):
        save_figure(figure, tmp_path / "figure.bmp")
    with pytest.raises(InputError, match="format must be one of"):
        encode_figure(figure, "bmp")


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_saving_changes_no_settings(tmp_path, kind):
    before = dict(matplotlib.rcParams)
    save_figure(plot_graph(graph_info(GRAPH)), tmp_path / f"figure.{kind}")
    save_figure(plot_graph(graph_info(GRAPH)), tmp_path / f"again.{kind}")
    assert dict(matplotlib.rcParams) == before
    assert (tmp_path / f"figure.{kind}").read_bytes() == (tmp_path / f"again.{kind}").read_bytes()


def test_text_stays_text_and_fonts_are_embedded(finished, tmp_path):
    for kind in ("svg", "pdf"):
        assert call("draw", finished, "--out", tmp_path, "--format", kind, "--only", "graph") == 0
    texts = [element.text for element in ET.parse(tmp_path / "graph.svg").iter() if element.text]
    assert {"x0", "y0", "inputs", "outputs"} <= {text.strip() for text in texts}
    content = (tmp_path / "graph.pdf").read_bytes()
    assert b"/FontFile2" in content  # TrueType
    assert b"/Type3" not in content


def test_figures_have_the_width_the_font_and_the_title_asked_for(finished, tmp_path):
    looks = "--width", 85, "--font-size", 6, "--title", "Kinases", "--dpi", 100
    for kind in ("png", "svg"):
        assert call("draw", finished, "--out", tmp_path, "--format", kind, *looks) == 0
    for name in FIGURES:
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.size[0] == pytest.approx(85 / 25.4 * 100, abs=1)
            assert picture.info["dpi"][0] == pytest.approx(100, abs=0.1)
        text = (tmp_path / f"{name}.svg").read_text()
        assert "Kinases" in text
    assert re.search(r"\b6px[^>]*>outputs<", (tmp_path / "graph.svg").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dpi", 5), "dpi must be"),
        (("--width", 1), "width must be"),
        (("--font-size", 0), "font_size must be"),
    ],
)
def test_looks_out_of_range_are_refused(finished, tmp_path, capsys, words, message):
    assert call("draw", finished, "--out", tmp_path / "new", *words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
