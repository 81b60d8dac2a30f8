"""Pairs against known ones: the rule of each study, the counts, and runs on files of their form."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_real as bench
import known_answers as answers

NAMES = [*answers.LIVER_INPUTS.values(), *answers.LIVER_OUTPUTS.values()]
LISTED = {"fly-rnai": answers.FLY, "melanoma": answers.MELANOMA, "tumours": answers.GLIOMA}
MARKS = "".join(f"<!-- begin {n} -->\n<!-- end {n} -->\n" for n in ("scores", "pairs", "graph"))


def write_network(path, more=()):
    """Every protein, then edges: each cause of the textbook on its targets, through a middle."""
    lines = [f"{name} 1 {name}_end" for name in NAMES]
    for cause, targets in answers.LIVER.items():
        lines.append(f"{answers.LIVER_INPUTS[cause]} 1 {cause}_middle")
        lines += [f"{cause}_middle -1 {answers.LIVER_OUTPUTS[name]}" for name in targets]
    path.write_text("\n".join([*lines, *more]) + "\n")
    return path


def write_study(folder, listed, inputs, outputs, shift=0.0, rows=160):
    """Tables in which each listed pair is an effect, and nothing else is."""
    rng = np.random.default_rng(0)
    ids = [f"s{row}" for row in range(rows)]
    x = pd.DataFrame(rng.integers(0, 2, (rows, len(inputs))), ids, list(inputs))
    y = pd.DataFrame(rng.normal(size=(rows, len(outputs))), ids, list(outputs))
    for cause, targets in listed.items():
        y[list(targets)] += 2.0 * x[[cause]].to_numpy()
    x.to_csv(folder / "x.csv", index_label="sample")
    cell = pd.DataFrame({"cell": ["a", "b"] * (rows // 2)}, ids)
    cell.to_csv(folder / "covariates.csv", index_label="sample")
    shifted = y + shift * (cell["cell"] == "a").to_numpy()[:, None]
    shifted.to_csv(folder / "y.csv", index_label="sample")
    return folder


def write_liver(folder):
    write_network(folder / "pkn.sif")
    return write_study(folder, answers.LIVER, answers.LIVER_INPUTS, answers.LIVER_OUTPUTS, 5.0)


def test_known_pairs_are_those_below_what_an_input_acts_on(tmp_path):
    sides = answers.LIVER_INPUTS, answers.LIVER_OUTPUTS
    known = answers.find_known(write_network(tmp_path / "known.sif"), *sides)
    # The inhibitor of MEK and the output MEK are one protein, which does not lead to itself.
    assert ("MEK12i", "p_MEK12") not in known
    assert known == answers.list_pairs(answers.LIVER)
    more = answers.find_known(write_network(tmp_path / "more.sif", ["ikk 1 il6"]), *sides)
    assert more - known == {("IKKi", "p_STAT3")}


def test_counts_are_worked_out_by_hand(tmp_path):
    study = answers.STUDIES["hepatocytes"].load(write_liver(tmp_path))
    graph = nx.DiGraph([("IL1a", "L1"), ("L1", "p_Ikb"), ("L1", "p_AKT"), ("IL6", "p_STAT3")])
    graph.add_edge("L1", "p_Tyk2")  # not in the network: it does not count
    roles = {"IL1a": "input", "IL6": "input", "L1": "latent"}
    nx.set_node_attributes(graph, "output", "role")
    nx.set_node_attributes(graph, roles, "role")
    found = bench.compare_pairs(graph, study)
    assert found.pairs == {("IL1a", "p_Ikb"), ("IL1a", "p_AKT"), ("IL6", "p_STAT3")}
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 22)
    assert found.f1 == pytest.approx(4 / 25)
    assert "INS" in found.idle
    assert "IL6" not in found.idle
    assert 0 < found.p < 0.1  # two or three of three, of 22 known ones of 128
    table = bench.make_table({"this": found})
    assert "| every pair | 128 | 22 | 0.17 | 1.00 | 0.29 |  | 22 of 22 |" in table
    assert "| this | 3 | 2 | 0.67 | 0.09 | 0.16 | " in table
    assert "| IL1a | 4 | Ikb | JNK12, p38, HSP27 | AKT |" in bench.list_pairs(found)
    assert "L1 (1.00): IL1a -> p_Ikb, p_AKT, p_Tyk2" in bench.describe_graph(graph)


def test_a_run_writes_its_tables_into_a_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS}after\n")
    words = ["hepatocytes", "--data", str(write_liver(tmp_path)), "--device", "cpu"]
    bench.main([*words, "--page", str(page)])
    said = page.read_text()
    rows = {line.split(" | ")[0][2:]: line.split(" | ") for line in said.splitlines()}
    for name in ("regression, grouped (`--strategy regression`)", "rinn"):
        assert float(rows[name][3]) > 0.8
        assert float(rows[name][4]) > 0.8
    assert rows["IL6"][2] == "STAT3"
    assert "L1 (" in said
    assert said.startswith("before")
    assert said.endswith("after\n")
    assert capsys.readouterr().out == ""


def test_errors_are_those_of_rows_that_were_not_seen(tmp_path, capsys):
    x = np.array([[-1.0], [1.0], [2.0]])
    seen = np.array([True, True, False])
    for pairs, error in ((True, 0.0), (False, 36.0)):
        assert bench.measure_errors(x, 3 * x, seen, np.array([[pairs]])) == pytest.approx(error)
    bench.main(["hepatocytes", "--data", str(write_liver(tmp_path)), "--folds", "2"])
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows[0] == ["no pair", "0", "1.000", rows[0][3]]
    assert all(float(row[2]) < 0.9 for row in rows[1:])


@pytest.mark.parametrize("name", LISTED)
def test_listed_studies_are_read_and_scored(tmp_path, name):
    listed = LISTED[name]
    outputs = dict.fromkeys(o for names in listed.values() for o in names)
    study = answers.STUDIES[name].load(write_study(tmp_path, listed, listed, outputs))
    assert study.known == study.textbook == answers.list_pairs(listed)
    assert set(study.inputs) == set(listed)
    graph = bench.fit_baseline(study, bench.RunSettings())
    assert bench.compare_pairs(graph, study).recall > 0.5


def test_tumours_without_a_known_pair_are_refused(tmp_path):
    write_study(tmp_path, {}, ["NF1"], ["CDKN1A"])
    with pytest.raises(answers.InputError, match="must have a pair of genes that is known"):
        answers.STUDIES["tumours"].load(tmp_path)


def test_files_of_another_form_are_refused(tmp_path, capsys):
    words = ["hepatocytes", "--data", str(write_liver(tmp_path))]
    (tmp_path / "pkn.sif").write_text("il1a ikb\n")
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "must have three words a line" in capsys.readouterr().err
    (tmp_path / "pkn.sif").write_text("il1a 1 ikb\n")
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "must have the protein 'tgfa'" in capsys.readouterr().err
    pd.DataFrame({"sample": ["s0"], "IL1a": [0]}).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(SystemExit):
        bench.main(words)
    assert "x.csv must have the column 'TGFa'" in capsys.readouterr().err
