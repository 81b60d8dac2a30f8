"""lavaan itself reads an exported model and fits it, where R has it."""

import shutil
import subprocess

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.graphs.export import export_graph

FIT = """
suppressMessages(library(lavaan))
fit <- sem(paste(readLines("graph.lavaan.txt"), collapse = "\\n"), read.csv("data.csv"))
stopifnot(lavInspect(fit, "converged"))
found <- parameterEstimates(fit)[, c("lhs", "op", "rhs", "est")]
write.csv(found[found$op %in% c("=~", "~"), ], "found.csv", row.names = FALSE)
"""
# Names that a model cannot have as they are, a latent that acts on a latent alone, a direct edge.
WEIGHTS = {("HLA-A", "L 1"): 2.0, ("TRUE", "L2"): 1.0, ("L 1", "L2"): 1.5, ("TRUE", "3'UTR"): 0.7,
           ("L2", "y1"): 1.0, ("L2", "y2"): -0.8, ("L2", "3'UTR"): 1.2}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def lavaan():
    words = ["Rscript", "-e", "library(lavaan)"]
    if shutil.which(words[0]) is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("R with lavaan is not installed")


def test_lavaan_finds_the_effects_of_an_exported_model(tmp_path):
    graph = nx.DiGraph(WEIGHTS.keys())
    roles = {"input": ("HLA-A", "TRUE"), "latent": ("L 1", "L2"), "output": ("y1", "y2", "3'UTR")}
    for role, names in roles.items():
        graph.add_nodes_from(names, role=role)
    export_graph(graph, tmp_path / "graph.lavaan.txt", "lavaan")
    rng, values = np.random.default_rng(0), {}
    for node in nx.topological_sort(graph):
        noise = rng.normal(size=2000) * (0.0 if node == "L 1" else 0.3)
        parts = [WEIGHTS[cause, node] * values[cause] for cause in graph.predecessors(node)]
        values[node] = sum(parts, noise if parts else rng.normal(size=2000))
    table = pd.read_csv(tmp_path / "graph.variables.tsv", sep="\t")
    words = dict(zip(table["name"], table["variable"], strict=True))
    measured = [*roles["input"], *roles["output"]]
    data = pd.DataFrame({words[name]: values[name] for name in measured})
    data.to_csv(tmp_path / "data.csv", index=False)
    done = subprocess.run(["Rscript", "-e", FIT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "found.csv").set_index(["lhs", "rhs"])["est"]
    loadings = [found[words["L2"], words[name]] for name in ("y1", "y2", "3'UTR")]
    np.testing.assert_allclose(np.array(loadings) / loadings[0], [1, -0.8, 1.2], atol=0.05)
    assert found[words["3'UTR"], words["TRUE"]] == pytest.approx(0.7, abs=0.05)
