"""Gene sets in the report, and what its sentences mean of a graph without edges."""

import json
import shutil
from dataclasses import replace

import networkx as nx
import pandas as pd
import pytest

from hostile_names import INPUTS, OUTPUTS
from rinn.cli import run as run_words
from rinn.errors import InputError
from rinn.graphs.files import load_graph, write_graph
from rinn.report.html.page import write_report
from rinn.report.html.payload import payload_info
from rinn.runs.manifest import Manifest
from rinn.runs.names import read_names
from rinn.runs.read import load_run
from rinn.runs.sentences import describe_comparison
from rinn.structure.enrichment import COLUMNS
from rinn.structure.network_names import COLUMNS as NODE_COLUMNS
from run_folders import make_comparison, make_manifest

SETS = [*INPUTS[:2], *OUTPUTS[:3]], [*INPUTS[2:], *OUTPUTS[3:]]
COVARIATES = {"names": ["tissue"], "columns": [], "fraction": 0.1, "sentence": "", "notes": []}
HOSTILE = "<img src=x onerror=alert(1)> & 'sets'"


@pytest.fixture(scope="module")
def made(tiny_run, tmp_path_factory):
    """The tiny run with another graph, which has two latents."""
    out = shutil.copytree(tiny_run.folder, tmp_path_factory.mktemp("names") / "run")
    graph = load_graph(out / "graph.json")
    graph.remove_nodes_from([n for n, role in graph.nodes(data="role") if role == "latent"])
    graph.remove_edges_from(list(graph.edges))
    graph.add_nodes_from(["L1", "L2"], role="latent", frequency=0.9)
    for latent, names in zip(("L1", "L2"), SETS, strict=True):
        graph.add_edges_from((n, latent) if n in INPUTS else (latent, n) for n in names)
    for edge in graph.edges.values():
        edge |= {"weight": 1.0, "frequency": 0.9}
    write_graph(graph, out / "graph.json")
    for extra in ("edges.csv", "activity.csv"):
        (out / extra).unlink(missing_ok=True)
    return out


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def write_names(run, rows):
    filler = {"set_genes": 4, "background": 10, "genes": "MYC JUN FOS", "p": 0.001}
    table = pd.DataFrame([filler | row for row in rows], columns=list(COLUMNS))
    table.to_csv(run / "names.csv", index=False)


def name_row(latent, name, q, side="outputs", overlap=3):
    about = {"side": side, "overlap": overlap, "latent_genes": 3}
    return {"latent": latent, "set": name, "q": q} | about


def test_names_are_in_the_list_and_in_the_card(run):
    rows = [name_row("L1", HOSTILE, 0.002), name_row("L1", "OTHER", 0.03, "both")]
    rows += [name_row("L2", "WEAK", 0.2), name_row("gone", "NOBODY", 0.001)]
    write_names(run, rows)
    page = write_report(run).read_text()
    words = "&lt;img src=x onerror=alert(1)&gt; &amp; &#39;sets&#39; (outputs: 3 of 3 genes, "
    assert f"{words}q = 0.002)" in page
    assert "<img" not in page
    assert "none below q = 0.05" in page
    assert "WEAK" not in page
    contents = load_run(run)
    number = list(contents.candidates).index("L1")
    latents = payload_info(contents)["latents"]
    assert [words.partition(" (")[0] for words in latents[number]["names"]] == [HOSTILE, "OTHER"]
    assert latents[list(contents.candidates).index("L2")]["names"] == []


def test_a_run_without_names_says_nothing_of_them(run):
    page = write_report(run).read_text()
    assert "gene sets</th>" not in page
    assert all("names" not in about for about in payload_info(load_run(run))["latents"].values())


def test_the_best_of_each_set_and_no_more_than_three(run):
    rows = [name_row("L1", "A", 0.04), name_row("L1", "A", 0.01, "both")]
    rows += [name_row("L1", name, 0.03) for name in "BCDE"] + [name_row("L2", "NA", 0.01)]
    write_names(run, rows)
    found = read_names(run)
    assert [(one.name, one.q) for one in found["L1"]] == [("A", 0.01), ("B", 0.03), ("C", 0.03)]
    assert found["L1"][0].side == "both"
    assert found["L2"][0].name == "NA"


@pytest.mark.parametrize("text", ["", "mine", "latent,name\nL1,mine\n"])
def test_another_file_of_that_name_is_left_alone(run, text):
    (run / "names.csv").write_text(text)
    assert read_names(run) is None
    write_report(run)
    assert (run / "names.csv").read_text() == text


@pytest.mark.parametrize(
    "wrong", [{"q": "high"}, {"q": float("inf")}, {"overlap": None}, {"side": "left"}, {"set": ""}]
)
def test_damaged_names(run, wrong):
    write_names(run, [name_row("L1", "A", 0.01) | wrong])
    with pytest.raises(InputError, match=r"names\.csv in .* must be what 'rinn name' wrote"):
        write_report(run)


def test_from_gene_sets_to_the_report(run, tmp_path, capsys):
    sets = dict(zip(("FIRST", "SECOND"), SETS, strict=True))
    lines = [f"{name}\tmade up\t" + "\t".join(genes) for name, genes in sets.items()]
    (tmp_path / "sets.gmt").write_text("\n".join(lines) + "\n")
    words = ["name", str(run), "--gmt", str(tmp_path / "sets.gmt")]
    assert run_words(words) == 0
    assert f"'rinn report {run}' puts the names into the report" in capsys.readouterr().out
    assert run_words(["report", str(run)]) == 0
    page = (run / "report.html").read_text()
    assert "FIRST (both: 5 of 5 genes" in page
    assert "SECOND (both: 5 of 5 genes" in page


def write_node_names(run, rows):
    filler = {"kind": "latent", "rank": 1, "score": 0.7, "p": 0.001, "inputs": "", "outputs": ""}
    filler |= {"fisher_p": 0.1, "fisher_q": 0.2}
    table = pd.DataFrame([filler | row for row in rows], columns=list(NODE_COLUMNS))
    table.to_csv(run / "network_names.csv", index=False)


def test_known_nodes_are_in_the_list_and_in_the_card(run):
    rows = [
        {"latent": "L1", "node": HOSTILE, "q": 0.002},
        {"latent": "L1", "node": "b", "q": 0.002},
    ]
    rows += [{"latent": "L1", "node": "SECOND", "q": None, "rank": 3}]
    rows += [{"latent": "L2", "node": "WEAK", "q": 0.2}]
    rows += [{"latent": INPUTS[0], "kind": "direct edges", "node": "jak2", "q": 0.01}]
    write_node_names(run, rows)
    page = write_report(run).read_text()
    words = "&lt;img src=x onerror=alert(1)&gt; &amp; &#39;sets&#39;, b (score 0.70, p = 0.001, "
    assert f"{words}q = 0.002)" in page
    assert "<img" not in page
    assert "SECOND" not in page
    assert "WEAK" not in page
    assert "jak2 (score 0.70, p = 0.001, q = 0.01)" in page
    contents = load_run(run)
    latents, order = payload_info(contents)["latents"], list(contents.candidates)
    assert latents[order.index("L1")]["nodes"].startswith(HOSTILE)
    assert "nodes" not in latents[order.index("L2")]


@pytest.mark.parametrize("wrong", [{"score": "high"}, {"kind": "other"}, {"node": ""}])
def test_damaged_node_names(run, wrong):
    write_node_names(run, [{"latent": "L1", "node": "a", "q": 0.01} | wrong])
    with pytest.raises(
        InputError, match=r"network_names\.csv in .* must be what 'rinn name' wrote"
    ):
        write_report(run)


@pytest.mark.parametrize(
    ("is_adequate", "covariates", "end"),
    [
        (True, None, "its network guesses each output's mean, and others do no better."),
        (False, None, "its network guesses each output's mean."),
        (True, COVARIATES, "each output by its covariates, and others do no better."),
    ],
)
def test_a_graph_without_edges(is_adequate, covariates, end):
    comparison = make_comparison(is_adequate)
    manifest = Manifest.from_json(make_manifest(comparison=comparison, covariates=covariates))
    said = manifest.comparison.sentence
    empty = nx.DiGraph()
    empty.add_node("BRAF", role="input")
    assert describe_comparison(manifest, empty).startswith(f"{said} The graph has no edge: ")
    assert describe_comparison(manifest, empty).endswith(end)
    assert describe_comparison(manifest, nx.DiGraph([("a", "b")])) == said
    assert describe_comparison(replace(manifest, comparison=None), empty) is None


def test_the_report_says_what_no_edge_means(run):
    said = "The graph has no edge"
    assert said not in write_report(run).read_text()
    graph = load_graph(run / "graph.json")
    graph.remove_nodes_from(["L1", "L2"])
    write_graph(graph, run / "graph.json")
    assert "comparison" in json.loads((run / "manifest.json").read_text())
    assert said in write_report(run).read_text()
