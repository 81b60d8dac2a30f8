import io
import sys

import networkx as nx
import pytest
from rich.markup import escape
from rich.table import Table

from rinn.cli import run
from rinn.cli.options import print_line
from rinn.cli.show import list_dropped, show_graph
from rinn.data.records import Dropped
from rinn.runs.terminal import Terminal, make_visible

UNSEEN = "a\x1b[31m\x9b\u202e\u2066\x07\rb\udcff"
SEEN = r"a\u001b[31m\u009b\u202e\u2066\u0007\u000db\udcff"


def show(*printed, **how):
    console = Terminal(file=io.StringIO(), width=200, force_terminal=False)
    for each in printed:
        console.print(each, **how)
    return console.file.getvalue()


def test_text_is_made_visible():
    assert make_visible(UNSEEN) == SEEN
    assert make_visible("two\nlines \U000e0041") == r"two\u000alines \U000e0041"
    assert make_visible("TP53 µ 🧬") == "TP53 µ 🧬"


def test_strings_and_cells_are_made_visible_and_own_newlines_stay():
    assert show(f"one\n{UNSEEN}", markup=False) == f"one\n{SEEN}\n"
    table = Table(title=UNSEEN)
    table.add_column(UNSEEN)
    table.add_row(escape(UNSEEN))
    assert show(table).count(SEEN) == 3


def test_a_name_that_spells_an_emoji_stays():
    assert show(":dna: [red]", markup=False) == ":dna: [red]\n"


def test_names_of_a_graph_are_made_visible():
    graph = nx.DiGraph()
    for name, role in ((f"x{UNSEEN}", "input"), ("L1", "latent"), (f"y{UNSEEN}", "output")):
        graph.add_node(name, role=role)
    nx.add_path(graph, list(graph))
    console = Terminal(file=io.StringIO(), width=300)
    show_graph(graph, console)
    for words in list_dropped([Dropped("X", UNSEEN, "constant")]):
        console.print(words, markup=False, highlight=False)
    shown = console.file.getvalue()
    assert f"x{SEEN}" in shown
    assert f"y{SEEN}" in shown
    assert f"left out {SEEN} of X" in shown
    assert "\x1b" not in shown


def test_paths_in_sentences_and_errors_are_made_visible(capsys):
    print_line(f"open {UNSEEN}")
    assert capsys.readouterr().out == f"open {SEEN}\n"
    assert run(["fit", f"{UNSEEN}.csv", "y.csv", "--out", "out"]) == 2
    written = capsys.readouterr().err
    assert f"({SEEN}.csv)" in written
    assert written.isascii()
    assert written.count("\n") == 1


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_consoles_write_to_the_streams_of_the_moment(stream, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, stream, file)
    Terminal(stderr=stream == "stderr").print("here")
    assert file.getvalue() == "here\n"
