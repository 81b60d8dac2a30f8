"""Pairs against a known network: the rule, the counts, and one run on files of the same form."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_hepatocytes as bench

NAMES = [*bench.INPUTS.values(), *bench.OUTPUTS.values()]


def write_network(path, more=()):
    """Every protein, then edges: each cause of the textbook on its targets, through a middle."""
    lines = [f"{name} 1 {name}_end" for name in NAMES]
    for cause, targets in bench.TEXTBOOK.items():
        lines.append(f"{bench.INPUTS[cause]} 1 {cause}_middle")
        lines += [f"{cause}_middle -1 {bench.OUTPUTS[name]}" for name in targets]
    path.write_text("\n".join([*lines, *more]) + "\n")
    return path


def write_tables(folder, rows=160):
    rng = np.random.default_rng(0)
    ids = [f"s{row}" for row in range(rows)]
    x = pd.DataFrame(rng.integers(0, 2, (rows, 8)), ids, list(bench.INPUTS))
    cell = pd.DataFrame({"cell": ["a", "b"] * (rows // 2)}, ids)
    y = pd.DataFrame(rng.normal(size=(rows, 16)), ids, list(bench.OUTPUTS))
    y += 5.0 * (cell["cell"] == "a").to_numpy()[:, None]
    for cause, targets in bench.TEXTBOOK.items():
        y[list(targets)] += 2.0 * x[[cause]].to_numpy()
    words = []
    for name, table in (("x", x), ("y", y), ("covariates", cell)):
        table.to_csv(folder / f"{name}.csv", index_label="sample")
        words += [f"--{name}", str(folder / f"{name}.csv")]
    return [*words, "--network", str(write_network(folder / "known.sif"))]


def test_known_pairs_are_those_below_what_an_input_acts_on(tmp_path):
    known = bench.find_known(write_network(tmp_path / "known.sif"))
    # The inhibitor of MEK and the output MEK are one protein, which does not lead to itself.
    assert ("MEK12i", "p_MEK12") not in known
    assert {("MEK12i", name) for name in bench.TEXTBOOK["MEK12i"]} <= known
    assert len(known) == 22
    more = bench.find_known(write_network(tmp_path / "more.sif", ["ikk 1 il6"]))
    assert more - known == {("IKKi", "p_STAT3")}


def test_counts_are_worked_out_by_hand():
    known = frozenset((i, o) for i in ("IL1a", "TNFa") for o in bench.OUTPUTS)
    graph = nx.DiGraph([("IL1a", "L1"), ("L1", "p_Ikb"), ("L1", "p_AKT"), ("IL6", "p_STAT3")])
    graph.add_edge("L1", "p_Tyk2")  # not in the network: it does not count
    roles = {"IL1a": "input", "IL6": "input", "L1": "latent"}
    nx.set_node_attributes(graph, "output", "role")
    nx.set_node_attributes(graph, roles, "role")
    found = bench.compare_pairs(graph, known)
    assert found.pairs == {("IL1a", "p_Ikb"), ("IL1a", "p_AKT"), ("IL6", "p_STAT3")}
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 32))
    assert found.textbook == 2
    assert "INS" in found.idle
    assert "IL6" not in found.idle
    assert 0 < found.p < 0.2  # two or three of three, of 32 known ones of 128
    table = bench.make_table({"this": found})
    assert "| every pair | 128 | 32 | 0.25 | 1.00 |" in table
    assert "| this | 3 | 2 | 0.67 | 0.06 |" in table


def test_a_run_prints_the_table_the_graph_and_the_pairs(tmp_path, capsys):
    words = write_tables(tmp_path)
    bench.main([*words, "--trials", "2", "--device", "cpu"])
    said = capsys.readouterr().out
    rows = {line.split(" | ")[0][2:]: line.split(" | ") for line in said.splitlines()[:5]}
    for name in ("regression, grouped", "rinn"):
        assert float(rows[name][3]) > 0.8
        assert float(rows[name][4]) > 0.8
    assert "found: " in said
    assert "missed: " in said
    assert "p_STAT3" in said


def test_files_of_another_form_are_refused(tmp_path, capsys):
    words = write_tables(tmp_path)
    (tmp_path / "known.sif").write_text("il1a ikb\n")
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "must have three words a line" in capsys.readouterr().err
    (tmp_path / "known.sif").write_text("il1a 1 ikb\n")
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "must have the protein 'tgfa'" in capsys.readouterr().err
    pd.DataFrame({"sample": ["s0"], "IL1a": [0]}).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "x.csv must have the column 'TGFa'" in capsys.readouterr().err
