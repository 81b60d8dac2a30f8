"""The benchmark of names: one simulated network, and a run on files of the experiment's form."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_names as bench
from rinn.graphs.files import write_graph


def test_a_simulated_latent_is_between_its_inputs_and_outputs():
    case = bench.simulate(np.random.default_rng(0))
    network: nx.DiGraph = nx.DiGraph()
    for source, target in zip(case.network.sources, case.network.targets, strict=True):
        network.add_edge(case.network.names[source], case.network.names[target])
    node_of = {one.name: one.nodes[0] for one in case.matches}
    above, below = nx.ancestors(network, case.node), nx.descendants(network, case.node)
    assert {node_of[name] for name in case.graph.pred["L1"]} <= above | {case.node}
    assert {node_of[name] for name in case.graph.succ["L1"]} <= below
    assert case.node not in [node_of[name] for name in node_of if name.startswith("y")]


def test_simulated_networks_make_a_table(capsys):
    bench.main(["--networks", "2", "--permutations", "9"])
    said = capsys.readouterr().out
    assert "| score, decay 0.7, with p | " in said
    assert "| reachability (Fisher) | " in said


def test_the_arms_of_an_experiment(tmp_path, capsys):
    graph = nx.DiGraph([("INS", "L1"), ("PI3Ki", "L1"), ("L1", "p_AKT"), ("L1", "p_GSK3")])
    graph.add_edges_from([("IL6", "p_STAT3"), ("IL6", "p_CREB")])
    roles = {"INS": "input", "PI3Ki": "input", "IL6": "input", "L1": "latent"}
    nx.set_node_attributes(graph, "output", "role")
    nx.set_node_attributes(graph, roles, "role")
    write_graph(graph, tmp_path / "graph.json")
    chain = "ins 1 pi3k\npi3k 1 akt\npi3k 1 gsk3\nil6 1 jak2\njak2 1 stat3\njak2 1 creb\n"
    (tmp_path / "known.sif").write_text(f"{chain}other 1 creb\n")
    words = ["--run", str(tmp_path), "--network", str(tmp_path / "known.sif")]
    bench.main([*words, "--permutations", "99", "--permuted", "2"])
    said = capsys.readouterr().out
    assert "| L1 (latent) | INS, PI3Ki | p_AKT, p_GSK3 | PI3K | " in said
    assert "| IL6 (direct edges) | IL6 | p_CREB, p_STAT3 | STAT | " in said
    assert "2 permuted networks, names by score: " in said
    (tmp_path / "known.sif").write_text("a 1\n")
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "--network" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bench.main(words[:2])
    assert "come together" in capsys.readouterr().err
