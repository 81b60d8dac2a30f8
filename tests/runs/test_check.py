import io
import json
from itertools import pairwise

import pytest
from rich.console import Console

from rinn.cli.show import show_check
from rinn.data.align import as_data
from rinn.errors import InputError
from rinn.graphs.files import encode_json, write_graph
from rinn.runs.check import check_causality, check_file
from rinn.simulate.datasets import make_dataset
from rinn.simulate.graphs import paper_graph
from tiny_graphs import make_graph, same


def shown(result, width=200):
    console = Console(file=io.StringIO(), width=width)
    show_check(result, console)
    return console.file.getvalue()


@pytest.fixture
def files(tmp_path):
    data = make_dataset("or", samples=500, seed=0)
    write_graph(data.truth, tmp_path / "graph.json")
    data.x.to_csv(tmp_path / "x.csv", index=False)
    data.y.to_csv(tmp_path / "y.csv", index=False)
    return tmp_path


def test_the_papers_graph_as_json():
    graph = paper_graph()
    found = json.loads(json.dumps(check_causality(graph).to_json()))
    assert found["graph"] == {"inputs": 16, "latents": 9, "outputs": 16, "edges": 47}
    assert found["modified"] == {"latents": 9, "edges": 47}
    assert len(found["classes"]) == 7
    assert found["classes"][0] == {
        "outputs": ["y0", "y5", "y10", "y15"],
        "inputs": {"h16": ["x0"], "h20": ["x0", "x7"]},
    }
    assert found["latents"][0] == {
        "name": "h16",
        "identifiable": False,
        "spare": False,
        "reason": "reaches the same outputs as h20, so the two cannot be distinguished",
        "inputs": ["x0"],
        "outputs": ["y0", "y5", "y10", "y15"],
    }
    assert [one["name"] for one in found["assumptions"]] == [f"A{i}" for i in range(1, 11)]
    assert found["data"] is None
    assert same(graph, paper_graph())


def test_the_modified_graph_is_counted():
    graph = make_graph([("x0", "h"), ("h", "y0"), ("h", "dead"), ("u", "y0")])
    result = check_causality(graph)
    assert (result.kept_latents, result.kept_edges) == (1, 2)
    assert "1 latent and 2 edges are between inputs and outputs" in shown(result)


def test_the_text_names_latents_reasons_and_assumptions():
    lines = shown(check_causality(paper_graph())).splitlines()
    assert "16 inputs, 9 latents, 16 outputs, 47 edges" in lines[0]
    assert "5 of the latents are identifiable" in lines[1]
    row = next(line for line in lines if "h18 " in line and "│ no " in line)
    assert "reaches the same outputs as h23, so the two cannot be distinguished" in row
    assert any("│ A1 " in line and "broken" in line for line in lines)
    assert any("│ A8 " in line and "doubtful" in line for line in lines)
    assert not any(line.startswith("Data:") for line in lines)


def test_a_spare_latent_is_marked():
    text = shown(check_causality(make_graph([("x0", "h"), ("h", "y0"), ("h", "y1")])))
    assert "yes, but" in text
    assert "it has only one parent" in text


def test_a_graph_without_latents_has_no_table_of_them():
    text = shown(check_causality(make_graph([("x0", "y0")])))
    assert "Latents" not in text
    assert "no latent between: x0 -> y0" in text


def test_names_are_not_markup():
    graph = make_graph([("x[red]", "[bold]h"), ("[bold]h", "y0"), ("k[/]", "y0")])
    text = shown(check_causality(graph))
    assert "[bold]h" in text
    assert "k[/]" in text


def test_a_file_a_folder_and_tables(files):
    alone = check_file(files / "graph.json")
    assert alone == check_file(files)
    assert alone.data is None
    beside = check_file(str(files), files / "x.csv", files / "y.csv")
    assert beside.latents == alone.latents
    assert (beside.data.samples, beside.data.pairs) == (500, 256)
    json.dumps(beside.to_json())


def test_differences_between_graph_and_data_are_listed():
    data = make_dataset("or", samples=2000, seed=0)
    graph = data.truth.copy()
    graph.remove_edges_from(list(graph.in_edges("h17")))
    result = check_causality(graph, as_data(data.x, data.y))
    assert len(result.data.unexplained) >= 30  # 3 inputs, 12 outputs
    text = shown(result)
    assert "Data: 2000 samples, 256 pairs of input and output, all other inputs held fixed" in text
    pair = result.data.unexplained[0]
    assert f"  {pair.x} and {pair.y} (correlation {pair.correlation:+.3f}" in text
    assert f"  and {len(result.data.unexplained) - 10} more" in text
    assert "│ A6 " in text
    assert f"{len(result.data.unexplained)} of 256 pairs, such as {pair.x} and {pair.y}" in text


def test_names_that_do_not_match_and_inputs_that_repeat_are_named():
    data = make_dataset("or", samples=200, seed=0)
    x = data.x.rename(columns={"x3": "TP53"}).assign(x5=data.x["x4"])
    text = shown(check_causality(data.truth, as_data(x, data.y, as_is=True)))
    assert "Not tested, since other inputs repeat them (2): x4, x5" in text
    assert "Only in the graph or only in the tables (2): TP53, x3" in text


def test_tables_come_in_twos(files):
    with pytest.raises(InputError, match="given together, but y is missing"):
        check_file(files, x=files / "x.csv")
    with pytest.raises(InputError, match="given together, but x is missing"):
        check_file(files, y=files / "y.csv")


def test_a_file_may_break_what_other_commands_need(tmp_path):
    graph = make_graph([("x0", "x1"), ("x0", "y0"), ("u", "x0"), ("u", "y0")])
    (tmp_path / "graph.json").write_bytes(encode_json(graph))
    found = {one.name: one for one in check_file(tmp_path).assumptions}
    assert {name for name, one in found.items() if one.status == "broken"} == {"A2", "A3", "A4"}
    assert found["A2"].detail == "no latent between: x0 -> y0"
    assert found["A3"].detail == "acts on inputs and on outputs: u"
    assert found["A4"].detail == "an input acts on an input: x0 -> x1"


def test_three_thousand_latents_in_a_row():
    row = [f"h{i}" for i in range(3000)]
    result = check_causality(make_graph(list(pairwise(["x0", *row, "y0"]))))
    assert len(result.classes) == 1
    assert result.latents[0].reason == (
        "reaches the same outputs and is reached by the same inputs as h1, h2, h3, h4 and 2995 "
        "more, so they cannot be distinguished"
    )


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.json must be an existing file"):
        check_file(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"graph\.json must be an existing file"):
        check_file(tmp_path)
