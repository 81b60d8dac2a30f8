import json
import shutil
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.config import NetSettings, RunSettings
from rinn.errors import InputError
from rinn.graphfiles import load_graph, write_graph
from rinn.graphs import by_role
from rinn.report import write_report
from rinn.report.answer import answer_info
from rinn.report.contents import load_contents
from rinn.report.graphdrawing import draw_graph
from rinn.report.heatmaps import describe_effects, draw_effects, draw_layer
from rinn.report.layout import layout_info
from rinn.report.markup import Markup, clip, element, escape, list_names
from rinn.report.scatter import draw_scatter, scatter_info
from rinn.report.sections import describe_net, latent_effects, list_sections
from rinn.runs import fit_run

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" 'twice' & <b>",
    "two\nlines",
    "long " * 60,
    "emoji 🧬\x00\u202e",
]
INPUTS = HOSTILE[:4]
OUTPUTS = ["</title><img src=x onerror=1>", "y & z", "]]>", "ж" * 300, "y4"]
VOID = {"meta"}


class Reader(HTMLParser):
    """Collects what a browser would see, and notices elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.headings, self.text, self._open = [], [], [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self._open and self._open[-1] in ("h1", "h2"):
            self.headings.append(data)

    def count(self, tag, word=None):
        return sum(
            name == tag and (word is None or word in (attrs.get("class") or "").split())
            for name, attrs in self.tags
        )

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run on tiny tables."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(80, 4))
    y = x @ rng.normal(size=(4, 5)) + 0.1 * rng.normal(size=(80, 5))
    pd.DataFrame(x, columns=list("abcd")).to_csv(folder / "x.csv", index=False)
    pd.DataFrame(y, columns=list("vwxyz")).to_csv(folder / "y.csv", index=False)
    settings = RunSettings(trials=4, epochs=2, keep=2)
    fit_run(folder / "x.csv", folder / "y.csv", folder / "run", settings, device="cpu", quiet=True)
    return folder / "run"


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def hostile(run):
    """The same run, with names that try to become markup."""
    graph = make_latent_graph(INPUTS, OUTPUTS, HOSTILE[4])
    write_graph(graph, run / "graph.json")
    tables = {
        "x": "<script>x</script>.csv",
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "dropped": [{"table": "X", "name": name, "reason": "constant <1>"} for name in HOSTILE],
    }
    change_manifest(run, lambda m: m | {"tables": m["tables"] | tables, "command": HOSTILE})
    return run


def make_latent_graph(inputs, outputs, top="L1"):
    """A latent above another one; the last input acts on nothing."""
    graph = nx.DiGraph()
    graph.add_nodes_from(inputs, role="input")
    graph.add_nodes_from([top, "L2"], role="latent", frequency=0.5)
    graph.add_nodes_from(outputs, role="output")
    graph.add_edge(inputs[0], top, weight=1.0, frequency=1.0)
    graph.add_edge(inputs[1], "L2", weight=-0.5, frequency=0.5)
    graph.add_edge(top, "L2", weight=0.7, frequency=0.5)
    graph.add_edge(top, outputs[0], weight=-2.0, frequency=1.0)
    graph.add_edges_from((("L2", name) for name in outputs[1:4]), weight=1.0, frequency=1.0)
    return graph


def change_manifest(folder, change):
    path = folder / "manifest.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def read(path):
    return Reader(path.read_text(encoding="utf-8"))


def test_every_section_is_there_without_truth(run):
    page = read(write_report(run))
    sections = list_sections(load_contents(run))
    assert page.headings == ["Latent graph between x.csv and y.csv", *sections]
    assert "Which networks were kept" in sections
    assert "No truth was given" in page.words
    assert "4 networks were trained, and the 2 " in page.words


def fit_as(strategy, made, folder):
    x, y = made.parent / "x.csv", made.parent / "y.csv"
    small = {} if strategy == "dm" else {"trials": 4, "epochs": 2, "keep": 2}
    settings = RunSettings(strategy=strategy, **small)
    fit_run(x, y, folder / "run", settings, device="cpu", quiet=True)
    return read(folder / "run" / "report.html")


def test_a_run_without_networks(made, tmp_path):
    page = fit_as("dm", made, tmp_path)
    assert "Which graph was chosen" in page.headings
    assert "Which networks were kept" not in page.headings
    assert "Detect MIMIC tried 12 pairs of significance levels" in page.words
    assert "nothing says how well the graph would predict" in page.words
    assert page.words.count("chosen") >= 2
    assert "acts on effects on the outputs" not in page.words


def test_a_run_that_knows_nothing_of_the_inputs(made, tmp_path):
    page = fit_as("dbn", made, tmp_path)
    assert "Deep belief networks look at the outputs alone" in page.words
    assert "an autoencoder of the outputs with" in page.words


def test_a_run_that_evolved(made, tmp_path):
    page = fit_as("esc", made, tmp_path)
    assert "the fittest of 201 after 2 generations" in page.words


def test_networks_in_words():
    said = describe_net(NetSettings(kind="belief", width=5, layers=3, sizes=(5, 2, 5)))
    assert "3 hidden layers of 5-2-5 nodes, of which those from the middle on are shown" in said


def test_names_stay_text(hostile):
    path = write_report(hostile)
    page = read(path)
    text = path.read_text(encoding="utf-8").lower()
    assert "<script" not in text
    assert "<img" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3"),
        *("p", "div", "figure", "figcaption", "span", "strong", "code", "ul", "li", "details"),
        *("summary", "table", "thead", "tbody", "tr", "th", "td"),
        *("svg", "g", "rect", "circle", "path", "text"),
    }
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.words


def test_page_asks_for_nothing(hostile):
    text = write_report(hostile).read_text(encoding="utf-8")
    assert not [word for word in ("http:", "https:", "//", "url(", "@import") if word in text]
    assert "default-src 'none'" in text


def test_drawing_holds_the_whole_graph(hostile):
    page, graph = read(write_report(hostile)), load_graph(hostile / "graph.json")
    assert page.count("path", "edge") == graph.number_of_edges()
    assert page.count("g", "node") == graph.number_of_nodes()
    for role in ("input", "latent", "output"):
        assert page.count("g", role) == len(by_role(graph, role))
    assert page.count("g", "lone") == 3


def test_every_picture_has_words(hostile):
    page = read(write_report(hostile))
    pictures = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert pictures
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)


def test_page_is_replaced_whole(run):
    first = write_report(run).read_bytes()
    (run / "report.html").write_text("old")
    assert write_report(run).read_bytes() == first
    assert not list(run.glob(".*part"))


def test_scores_say_what_has_seen_the_truth(run):
    score = {"precision": 1.0, "recall": 0.5, "f1": 0.67}
    scores = {
        "paper": {"hidden": score, "input": None, "threshold": 0.1},
        "graph": {"latents": score, "edges": score, "shd": 1, "order_errors": 0},
    }
    change_manifest(run, lambda m: m | {"scores": scores})
    write_graph(make_latent_graph(list("abcd"), list("vwxyz")), run / "truth.json")
    words = read(write_report(run)).words
    assert "threshold chosen with sight of the truth" in words
    assert "The truth has 2 latents" in words
    assert "edges that differ (SHD): 1" in words


def test_answer_in_three_sentences(hostile):
    contents = load_contents(hostile)
    trained, found, test = answer_info(contents)
    assert trained.startswith("4 networks were trained, and the 2 ")
    assert found.startswith("2 latents were found, each present in 50 % of the searches with ")
    assert "mean squared error" in test
    assert "guessing each output's mean" in test


def test_no_latent_is_said(run):
    graph = nx.DiGraph()
    graph.add_nodes_from("abcd", role="input")
    graph.add_nodes_from("vwxyz", role="output")
    write_graph(graph, run / "graph.json")
    words = read(write_report(run)).words
    assert "No latent was found often enough to be drawn" in words
    assert "There is no latent to list." in words


def test_unfinished_run_is_refused(run):
    change_manifest(run, lambda m: m | {"status": "running"})
    with pytest.raises(InputError, match="RUN must be a finished run"):
        write_report(run)
    assert json.loads((run / "manifest.json").read_text())["status"] == "running"


def test_missing_table_is_refused(run):
    (run / "trials.csv").unlink()
    with pytest.raises(InputError, match=r"trials\.csv in .* is missing or damaged"):
        write_report(run)


def test_big_graph_leaves_out_inputs_without_an_edge():
    graph = make_latent_graph([f"x{i}" for i in range(650)], list("vwxyz"))
    layout = layout_info(graph)
    assert layout.without_edge == {"input": 648}
    assert not layout.weaker
    assert Reader(draw_graph(graph)).count("g", "input") == 2


def test_crowded_graph_draws_the_strongest_inputs():
    names = [f"x{i}" for i in range(300)]
    graph = make_latent_graph(names, list("vwxyz"))
    for i, name in enumerate(names):
        graph.add_edge(name, "L2", weight=float(i), frequency=1.0)
    layout = layout_info(graph)
    assert layout.weaker == {"input": 180}
    assert "x299" in layout.places
    assert "x2" not in layout.places


def test_layout_runs_from_causes_to_effects():
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    places = layout_info(graph).places
    assert all(places[source][0] < places[target][0] for source, target in graph.edges)
    assert len(set(places.values())) == len(graph)


def test_latent_effects_are_in_the_order_of_the_outputs():
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    graph.nodes["L1"]["effects"] = {"z": -2.0, "v": 1.0}
    effects = latent_effects(graph, list("vwxyz"))
    np.testing.assert_array_equal(effects["L1"], [1.0, 0.0, 0.0, 0.0, -2.0])
    np.testing.assert_array_equal(effects["L2"], np.zeros(5))


def test_effects_have_sign_and_shade():
    page = Reader(draw_effects(np.array([1.0, -0.5, 0.0]), 1.0, "label"))
    shades = {attrs["class"]: attrs["fill-opacity"] for tag, attrs in page.tags if tag == "path"}
    assert shades == {"plus": "1", "minus": "0.5"}


def test_nodes_near_zero_are_pale():
    maps = np.array([[1.0, 0.0], [0.04, -0.04]])
    page = Reader(draw_layer(maps, 1.0, ["a", "b"], "label"))
    assert (page.count("g", "hidden"), page.count("g", "pale")) == (2, 1)
    assert page.count("path") == 1


def test_effects_in_words():
    values = np.array([1.0, -2.0, 0.0, 0.0, 0.01])
    assert describe_effects(values, list("abcde")) == "raises a; lowers b"
    assert describe_effects(np.zeros(2), ["a", "b"]) == "no effect"


@pytest.mark.parametrize("loss", [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]])
def test_scatter_draws_every_network_in_the_choice(loss):
    trials = pd.DataFrame(
        {
            "sum_abs_weights": [1.0, 2.0, 3.0, 99.0, np.nan],
            "validation_loss": [*loss, 0.1, np.nan],
            "distance": [0.0, 0.5, 1.0, np.nan, np.nan],
            "kept": [True, False, False, False, False],
        }
    )
    info = scatter_info(trials)
    page = Reader(draw_scatter(info))
    assert (info.beyond, info.diverged) == (1, 1)
    assert (page.count("circle", "kept"), page.count("circle", "other")) == (1, 2)


def test_markup_escapes_once():
    assert element("p", escape("<"), "<", title='"') == '<p title="&quot;">&lt;&lt;</p>'
    assert isinstance(element("p"), Markup)


def test_names_are_shortened_and_counted():
    assert clip("a\nb") == "a b"
    assert clip(" ") == "(no name)"
    assert "and 3 more" in list_names([str(i) for i in range(15)])
    assert list_names([]) == "none"
