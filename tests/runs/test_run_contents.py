"""What a run folder says of its graph: where effects come from, test of fit, support of edges."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from rinn.cli import run as run_cli
from rinn.config import RunSettings
from rinn.fit import fit_run
from rinn.graphs.files import load_graph
from rinn.report.html.payload import payload_info
from rinn.runs.check import check_file
from rinn.runs.read import load_run
from rinn.runs.write import describe_effects, describe_fit

SMALL = {"trials": 4, "epochs": 2, "keep": 2}


def write_tables(folder, *, output_cause=False):
    """Inputs a and b act on u0 to u3 through a latent, or through u0; c acts on w alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 3))
    cause = x[:, 0] + x[:, 1] + 0.6 * rng.normal(size=800)
    y = cause[:, None] * [1.0, -1.0, 0.8, 1.2] + 0.7 * rng.normal(size=(800, 4))
    if output_cause:
        y[:, 0] = cause
    w = x[:, 2] + rng.normal(size=800)
    pd.DataFrame(x, columns=list("abc")).to_csv(folder / "x.csv", index=False)
    names = ["u0", "u1", "u2", "u3", "w"]
    pd.DataFrame(np.column_stack([y, w]), columns=names).to_csv(folder / "y.csv", index=False)
    return folder / "x.csv", folder / "y.csv"


def make_run(folder, *, output_cause=False, **changes):
    settings = RunSettings(**SMALL | {"effects": "regression", "bootstraps": 4} | changes)
    tables = write_tables(folder, output_cause=output_cause)
    return fit_run(*tables, folder / "run", settings, device="cpu", quiet=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("contents"))


@pytest.mark.parametrize(
    ("source", "asked", "samples", "inputs", "words"),
    [
        ("network", "network", 900, 10, "in the 20 kept networks, as requested."),
        ("corrected", "corrected", 900, 10, "a regression of their residuals, as requested."),
        ("corrected", "auto", 900, 10, "predict held-out samples better than a regression."),
        ("regression", "auto", 900, 10, "because its effects are clear or networks do not predict"),
        ("regression", "auto", 900, 200, "on all inputs, because there are more than 100 of them"),
        ("regression", "regression", 900, 10, "on all inputs, as requested; the networks only"),
        ("regression", "corrected", 15, 10, "because there are fewer than 2 samples for each"),
    ],
)
def test_where_the_effects_come_from_is_said(source, asked, samples, inputs, words):
    said = describe_effects(source, asked, kept=20, samples=samples, inputs=inputs)
    assert words in said
    assert said.startswith("The graph is read from")


@pytest.mark.parametrize(
    ("fit", "edges", "words"),
    [
        ({"chi2": 300.0, "df": 200, "p": 5e-6}, 9, "p < 0.0001: some effects are not explained"),
        ({"chi2": 250.0, "df": 200, "p": 0.012}, 9, "p = 0.012: some effects are not explained"),
        ({"chi2": 200.0, "df": 200, "p": 0.5}, 0, "p = 0.5: there is no effect to explain."),
        ({"chi2": 0.0, "df": 0, "p": 1.0}, 4, "not possible, because the graph has an edge for"),
    ],
)
def test_the_test_of_fit_is_said(fit, edges, words):
    assert words in describe_fit(fit, edges)


def test_the_manifest_has_source_and_test_of_fit(found):
    assert found.manifest.effects.source == "regression"
    fit = found.manifest.fit
    assert fit.sentence.startswith("Test of fit: chi-square")
    assert 0 <= fit.p <= 1
    assert fit.df > 0


def test_edges_say_what_supports_them(found):
    graph = load_graph(found.folder / "graph.json")
    words = {values["support"] for *_, values in graph.edges(data=True)}
    assert words <= {"effects", "covariance", "both", "neither"}
    edges = pd.read_csv(found.folder / "edges.csv").query("reported")
    assert dict(zip(zip(edges.source, edges.target, strict=True), edges.support, strict=True)) == {
        (source, target): word for source, target, word in graph.edges(data="support")
    }
    assert 'key="' in (text := (found.folder / "graph.graphml").read_text())
    assert 'attr.name="support"' in text


def test_a_direct_edge_is_drawn_and_told(found):
    contents = load_run(found.folder)
    assert contents.graph.has_edge("c", "w")
    page = (found.folder / "report.html").read_text()
    assert "in addition to 1 direct edge; it was found in" in page
    assert "of bootstrap resamples" in page
    assert "Test of fit: chi-square" in page
    about = payload_info(contents)
    assert about["repeats"] == "bootstrap resamples"
    names = [node[0] for node in about["nodes"]]
    told = {(names[edge[0]], names[edge[1]]): edge[9] for edge in about["edges"]}
    assert told["c", "w"] in {"effects", "both"}


def test_check_gives_the_test_of_fit_of_a_run(found, capsys):
    assert check_file(found.folder).fit == asdict(found.manifest.fit)
    assert check_file(found.folder / "graph.json").fit is None
    assert run_cli(["check", str(found.folder)]) == 0
    assert "Test of fit: chi-square" in capsys.readouterr().out
    assert run_cli(["check", str(found.folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fit"]["df"] == found.manifest.fit.df


def test_without_resamples_nothing_has_a_frequency(tmp_path):
    made = make_run(tmp_path, bootstraps=0, output_cause=True)
    graph = load_graph(made.folder / "graph.json")
    assert graph.number_of_edges()
    assert not any("frequency" in values for *_, values in graph.edges(data=True))
    assert pd.read_csv(made.folder / "edges.csv")["frequency"].isna().all()
    page = (made.folder / "report.html").read_text()
    assert "nan" not in page.split("</main>")[0].split("<main")[-1]
    warnings = " ".join(made.manifest.warnings)
    assert "given 'u0', the inputs of L1 have no effect on" in warnings
    assert "Outputs that may cause outputs" in page


def test_flags_of_the_command_line_reach_the_settings(tmp_path, capsys):
    x, y = write_tables(tmp_path)
    words = ["fit", str(x), str(y), "--out", str(tmp_path / "run"), "--trials", "2", "--epochs"]
    words += ["1", "--device", "cpu", "--effects", "regression", "--no-direct", "--effects-only"]
    assert run_cli([*words, "--bootstraps", "2", "--output-edges"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "on all inputs. No network was trained, as a regression was asked for; 'rinn fit" in said
    assert "Test of fit: chi-square" in said
    settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
    expected = {"effects": "regression", "direct": False, "effects_only": True, "bootstraps": 2}
    expected["output_edges"] = True
    assert {name: settings[name] for name in expected} == expected
    graph = load_graph(tmp_path / "run" / "graph.json")
    assert not graph.has_edge("c", "w")
