import base64
import hashlib
import json
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rinn.config import NetSettings, RunSettings
from rinn.data.records import Data
from rinn.errors import InputError, clip
from rinn.fit import fit_run
from rinn.graphs.basics import by_role
from rinn.graphs.files import load_graph, write_graph
from rinn.graphs.formats.tables import edges_table
from rinn.nets.predict import map_trained
from rinn.refit.effects import LatentEffect
from rinn.refit.refit import Refit
from rinn.report.html import origin
from rinn.report.html.answer import answer_info
from rinn.report.html.charts import (
    describe_effects,
    draw_effects,
    draw_layer,
    draw_scatter,
)
from rinn.report.html.document import write_policy
from rinn.report.html.graph import draw_graph, make_layouts
from rinn.report.html.heatmap import heatmap_info
from rinn.report.html.latents import describe_units, latent_effects
from rinn.report.html.layout import fit_label, layout_info
from rinn.report.html.markup import Markup, element, escape, list_names
from rinn.report.html.networks import describe_net
from rinn.report.html.null import steps_info
from rinn.report.html.origin import _format_time
from rinn.report.html.page import list_sections, write_report
from rinn.report.html.payload import activity_info, net_info, payload_info
from rinn.report.info import comparison_info, graph_info, selection_info, should_fold
from rinn.runs.check import check_file
from rinn.runs.read import add_weaker, load_run
from rinn.runs.sentences import EMPTY, describe_methods, describe_yardsticks, list_yardsticks
from rinn.runs.write import tabulate_activity
from run_folders import make_scores

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" 'twice' & <b>",
    "two\nlines",
    "long " * 60,
    "emoji 🧬\x00\u202e",
]
INPUTS = HOSTILE[:4]
OUTPUTS = ["</title><img src=x onerror=1>", "y & z", "]]>", "ж" * 300, "y4"]
VOID = {"meta", "input", "link"}


class Reader(HTMLParser):
    """Collects what a browser would see, and notices elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.headings, self.text, self._open = [], [], [], []
        self.scripts = []
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
        if self._open and self._open[-1] in ("script", "style"):
            self.scripts.append(data)
            return
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
    x = rng.integers(0, 2, size=(100, 4))
    y = x @ rng.normal(size=(4, 5)) + 0.1 * rng.normal(size=(100, 5))
    pd.DataFrame(x, columns=list("abcd")).to_csv(folder / "x.csv", index=False)
    pd.DataFrame(y, columns=list("vwxyz")).to_csv(folder / "y.csv", index=False)
    settings = RunSettings(trials=8, epochs=2, keep=2, bootstraps=3, effects="corrected")
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
    edges_table(graph, reported=graph).to_csv(run / "edges.csv", index=False)
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


def test_large_files_are_not_part_of_the_page(run, monkeypatch):
    monkeypatch.setattr(origin, "MAX_EMBEDDED", 1)
    words = read(write_report(run)).words
    assert "too large for this page: use 'rinn export RUN --format graphml'," in words


def test_warnings_beyond_three_are_folded(run):
    warnings = [f"Warning {number}: pass --null." for number in range(5)]
    change_manifest(run, lambda manifest: manifest | {"warnings": warnings})
    page = write_report(run).read_text(encoding="utf-8")
    folded = page[page.index("<details><summary>and 2 more warnings") :]
    assert "Warning 2:" not in folded
    assert 'Warning 4: pass <span class="option">--null</span>.' in folded


def test_without_truth_only_its_section_is_missing(run):
    page = read(write_report(run))
    sections = list_sections(load_run(run), heatmap_info(load_run(run)))
    assert page.headings == ["Latent graph between x.csv and y.csv", *sections]
    assert "Which networks were kept" in sections
    assert "Scores against the truth" not in page.words
    assert "8 networks were trained, and the 2 " in page.words


def fit_as(strategy, made, folder):
    x, y = made.parent / "x.csv", made.parent / "y.csv"
    small = (
        {}
        if strategy in ("dm", "regression")
        else {"trials": 4, "epochs": 2, "keep": 2, "bootstraps": 3}
    )
    settings = RunSettings(strategy=strategy, **small)
    fit_run(x, y, folder / "run", settings, device="cpu", quiet=True)
    return read(folder / "run" / "report.html")


def test_a_run_without_networks(made, tmp_path):
    page = fit_as("dm", made, tmp_path)
    assert "Which graph was chosen" in page.headings
    assert "Which networks were kept" not in page.headings
    assert "Detect MIMIC tried a grid of significance levels (pairs: 12)" in page.words
    assert "nothing says how well the graph would predict" in page.words
    assert page.words.count("chosen") >= 2
    assert "acts on effects on the outputs" not in page.words
    assert not [attrs for tag, attrs in page.tags if attrs.get("id") == "slider"]
    assert page.count("path", "plus") == page.count("path", "minus") == 0
    assert page.count("path", "unknown") > 0


def test_a_run_by_regression(made, tmp_path):
    page = fit_as("regression", made, tmp_path)
    assert "Each output was regressed on all inputs" in page.words
    assert "The regression is linear" in page.words
    assert "Detect MIMIC" not in page.words
    assert "Which graph was chosen" not in page.headings
    assert "nothing says how well the graph would predict" in page.words


def test_a_run_that_knows_nothing_of_the_inputs(made, tmp_path):
    page = fit_as("dbn", made, tmp_path)
    assert "Deep belief networks look at the outputs alone" in page.words
    assert "an autoencoder of the outputs with" in page.words


def test_a_run_that_evolved(made, tmp_path):
    page = fit_as("esc", made, tmp_path)
    assert "the fittest of 41 after 2 generations" in page.words


def test_networks_in_words():
    said = describe_net(NetSettings(kind="belief", width=5, layers=3, sizes=(5, 2, 5)))
    assert "3 hidden layers of 5-2-5 nodes, of which those from the middle on are shown" in said


def test_names_stay_text(hostile):
    path = write_report(hostile)
    page = read(path)
    text = path.read_text(encoding="utf-8").lower()
    assert text.count("<script") == text.count("</script") == 2
    assert "<img" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    assert {tag for tag, _ in page.tags} <= {
        *(
            "html",
            "head",
            "meta",
            "link",
            "title",
            "style",
            "script",
            "body",
            "header",
            "nav",
            "main",
        ),
        *("section", "footer", "h1", "h2", "h3", "h4", "p", "a", "div", "figure", "figcaption"),
        *("span", "strong", "code", "pre", "ul", "li", "details", "summary"),
        *("label", "input", "datalist", "option", "output", "button", "select", "optgroup"),
        *("table", "thead", "tbody", "tr", "th", "td", "svg", "g", "rect", "circle", "path"),
        "text",
    }
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert not [name for _, attrs in page.tags for name in attrs if name == "style"]
    assert "<script>alert(1)</script>" in page.words


def test_data_cannot_end_their_element(hostile):
    page = read(write_report(hostile))
    (text,) = [script for script in page.scripts if script.startswith('{"nodes"')]
    assert text.isascii()
    assert not set("<>&") & set(text)
    names = [name for name, _, _ in json.loads(text)["nodes"]]
    assert "<script>alert(1)</script>" in names
    assert "emoji 🧬\ufffd\ufffd" in names


def test_page_asks_for_nothing(hostile):
    page = read(write_report(hostile))
    shown = [value for _, attrs in page.tags for value in attrs.values() if value]
    links = [value for value in shown if value.startswith(("data:", "#"))]
    others = " ".join([value for value in shown if value not in links])
    assert not [word for word in ("http:", "https:", "//", "url(") if word in others]
    style, _, script = page.scripts
    assert not [word for word in ("http:", "https:", "url(", "@import") if word in style]
    assert script.count("http:") == 1  # the name of SVG, which nothing is asked for
    assert not [word for word in ("fetch(", "XMLHttp", "innerHTML", "eval(") if word in script]


def test_policy_allows_this_script_and_style_alone(run):
    page = read(write_report(run))
    (policy,) = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]
    style, _, script = page.scripts
    for text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_drawing_holds_the_whole_graph(hostile):
    page, graph = read(write_report(hostile)), load_graph(hostile / "graph.json")
    assert page.count("path", "edge") == graph.number_of_edges()
    assert page.count("g", "node") == graph.number_of_nodes()
    for role in ("input", "latent", "output"):
        assert page.count("g", role) == len(by_role(graph, role))
    assert page.count("g", "isolated") == 3


def test_every_picture_has_words(hostile):
    page = read(write_report(hostile))
    pictures = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert len(pictures) > 4
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)


def test_page_is_replaced_whole(run):
    first = write_report(run).read_bytes()
    (run / "report.html").write_text("old")
    assert write_report(run).read_bytes() == first
    assert not list(run.glob(".*part"))


def test_scores_say_what_has_seen_the_truth(run):
    change_manifest(run, lambda m: m | {"scores": make_scores()})
    write_graph(make_latent_graph(list("abcd"), list("vwxyz")), run / "truth.json")
    words = read(write_report(run)).words
    assert "threshold chosen with knowledge of the truth" in words
    assert "The truth has 2 latents" in words
    assert "Edges that differ (SHD): 3" in words


def test_answer_in_three_sentences(hostile):
    contents = load_run(hostile)
    found, trained, test = answer_info(contents)
    assert found == (
        "2 latents connect 2 of 4 inputs with 4 of 5 outputs; each was found in 50% of "
        "bootstrap resamples."
    )
    assert trained.startswith("8 networks were trained, and the 2 ")
    assert "mean squared error" in test
    assert "guessing each output's mean" in test


def test_no_latent_is_said(run):
    graph = nx.DiGraph()
    graph.add_nodes_from("abcd", role="input")
    graph.add_nodes_from("vwxyz", role="output")
    write_graph(graph, run / "graph.json")
    (run / "edges.csv").unlink()
    words = read(write_report(run)).words
    assert "No latent is reported: none was found often enough with effects beyond chance" in words
    assert "There is no latent to list." in words
    assert EMPTY in words


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
    assert graph_info(graph).without_edge == {"input": 648}
    assert Reader(draw_graph(graph, layout_info(graph))).count("g", "input") == 2


def test_inputs_with_the_same_edges_are_folded_where_they_are_many():
    names = [f"x{i}" for i in range(300)]
    graph = make_latent_graph(names, list("vwxyz"))
    for number, name in enumerate(names[2:]):
        graph.add_edge(name, "L2", weight=-1.0 if number < 9 else 1.0, frequency=1.0)
    assert should_fold(graph)
    assert not should_fold(make_latent_graph(list("abcd"), list("vwxyz")))
    layout, plain = layout_info(graph, folded=True), layout_info(graph)
    assert sorted(map(len, layout.info.folds.values())) == [3, 10, 289]  # outputs; inputs by sign
    assert len([name for name in names if name in layout.positions]) == 3
    assert len([name for name in names if name in plain.positions]) == 300
    assert layout.height < plain.height / 20
    others = set(plain.positions) - set(layout.positions)
    page = Reader(draw_graph(graph, layout, others=others, name="graph"))
    assert "x11 + 288 more" in page.words
    shown = [attrs for tag, attrs in page.tags if tag == "g" and "display" not in attrs]
    assert sum("input" in (attrs.get("class") or "").split() for attrs in shown) == 3
    drawn = [attrs for tag, attrs in page.tags if tag == "path" and "display" not in attrs]
    assert len(drawn) == graph.subgraph(layout.positions).number_of_edges()


def test_weaker_edges_stand_below_and_are_hidden():
    graph = make_latent_graph([f"x{i}" for i in range(50)], list("vwxyz"))
    rows = [("x7", "U1", "input", "latent", 0.25), ("U1", "v", "latent", "output", 0.5)]
    names = ["source", "target", "source_role", "target_role", "frequency"]
    found = add_weaker(graph, pd.DataFrame(rows, columns=names))
    layout = layout_info(graph, found)
    assert layout.positions["x7"][1] > layout.height - 20
    assert graph_info(found).without_edge == {"input": 47}
    page = Reader(draw_graph(found, layout, name="graph"))
    levels = [attrs for tag, attrs in page.tags if "level" in (attrs.get("class") or "").split()]
    hidden = {attrs["data-f"] for attrs in levels if attrs.get("display") == "none"}
    assert hidden == {"0.25", "0.5"}
    assert {attrs["data-f"] for attrs in levels if "display" not in attrs} == {"0.5", "1.0"}
    assert page.count("path", "edge") == found.number_of_edges()


def test_edges_pass_between_latents():
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    layout = layout_info(graph)
    assert len(layout.routes["b", "L2"]) == 1
    (x, y), (x1, y1) = layout.routes["b", "L2"][0], layout.positions["L1"]
    assert x == x1
    assert abs(y - y1) > 12


def test_layout_runs_from_causes_to_effects():
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    places = layout_info(graph).positions
    assert all(places[source][0] < places[target][0] for source, target in graph.edges)
    assert len(set(places.values())) == len(graph)


def test_latent_effects_are_in_the_order_of_the_outputs():
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    graph.nodes["L1"]["effects"] = {"z": -2.0, "v": 1.0}
    effects = latent_effects(graph, list("vwxyz"))
    np.testing.assert_array_equal(effects["L1"], [1.0, 0.0, 0.0, 0.0, -2.0])
    np.testing.assert_array_equal(effects["L2"], np.zeros(5))


@pytest.mark.parametrize(
    ("loss", "has_refit", "words"),
    [
        ("mse", True, " standard deviations of the output as the latent goes from one "),
        ("mse", False, " standard deviations of the output for one standard deviation of the lat"),
        ("bce", True, " on the scale of log odds as the latent goes from one "),
        ("mixed", True, " of the output, close to its mean, as the latent goes from "),
    ],
)
def test_the_scale_of_effects_is_that_of_the_edges(made, tmp_path, loss, has_refit, words):
    folder = made if has_refit else shutil.copytree(made, tmp_path / "run")
    if not has_refit:
        (folder / "refit.json").unlink()
    contents = load_run(folder)
    vars(contents)["scales"] = replace(contents.scales, loss=loss)
    assert words in describe_units(contents)
    alone = replace(contents.manifest, effects=None)
    bare = replace(contents, manifest=alone)
    vars(bare)["nets"] = ()
    assert describe_units(bare) == ""


def test_effects_have_sign_and_shade():
    page = Reader(draw_effects(np.array([1.0, -0.5, 0.0]), 1.0, "label"))
    shades = {attrs["class"]: attrs["fill-opacity"] for tag, attrs in page.tags if tag == "path"}
    assert shades == {"plus": "1", "minus": "0.5"}


def test_nodes_near_zero_are_left_out():
    maps = np.array([[1.0, 0.0], [0.04, -0.04]])
    page = Reader(draw_layer(maps, 1.0, ["a", "b"], "label"))
    assert page.count("g", "hidden") == 1
    assert page.count("path") == 1


def test_effects_in_words():
    values = np.array([1.0, -2.0, 0.0, 0.0, 0.01])
    assert describe_effects(values, list("abcde")) == "raises a; lowers b"
    assert describe_effects(np.zeros(2), ["a", "b"]) == "no effect"


@pytest.mark.parametrize("loss", [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]])
def test_scatter_draws_every_network_in_the_choice(loss):
    trials = pd.DataFrame(
        {
            "setting": range(5),
            "sum_abs_weights": [1.0, 2.0, 3.0, 99.0, np.nan],
            "validation_loss": [*loss, 0.1, np.nan],
            "distance": [0.0, 0.5, 1.0, np.nan, np.nan],
            "kept": [True, False, False, False, False],
        }
    )
    info = selection_info(trials)
    page = Reader(draw_scatter(info))
    assert (len(info.size), info.diverged) == (4, 1)
    assert (page.count("circle", "kept"), page.count("circle", "other")) == (1, 2)


def test_markup_escapes_once():
    assert element("p", escape("<"), "<", title='"') == '<p title="&#34;">&lt;&lt;</p>'
    assert isinstance(element("p"), Markup)


def test_names_are_shortened_and_counted():
    assert clip("a\nb") == "a b"
    assert clip(" ") == "(no name)"
    assert "and 3 more" in list_names([str(i) for i in range(15)])
    assert list_names([]) == "none"


def test_activity_is_written_with_sample_ids():
    values = np.array([[0.123456, -1.0], [2.0, -0.00001]])
    latents = (LatentEffect("L1", 0.0, 0.0, {}), LatentEffect("L2", 0.0, 0.0, {}))
    refit = Refit("mse", (), (), np.zeros((1, 2)), (), latents, values)
    data = Data(np.zeros((2, 1)), np.zeros((2, 1)), ("a",), ("b",))
    named = tabulate_activity(replace(data, samples=("s1", "s2")), refit)
    assert named.to_csv(index=False).split() == ["sample,L1,L2", "s1,0.1235,-1.0", "s2,2.0,0.0"]
    assert list(tabulate_activity(data, refit)["sample"]) == ["1", "2"]


def test_activity_is_summed_up(hostile):
    graph = load_graph(hostile / "graph.json")
    activity = pd.DataFrame({"sample": ["s1", "s2", "s3"], "L2": [-1.0, 0.0, np.nan]})
    activity.to_csv(hostile / "activity.csv", index=False)
    info = payload_info(load_run(hostile), make_layouts(load_run(hostile)))
    about = info["latents"][list(graph).index("L2")]["activity"]
    assert about["samples"] == sum(about["bins"]) == 2
    assert (about["low"], about["high"], about["quantiles"][2]) == (-1.0, 0.0, -0.5)
    assert info["latents"][list(graph).index(HOSTILE[4])]["activity"] is None


def test_every_fit_writes_activity(made):
    assert pd.read_csv(made / "activity.csv")["sample"].tolist() == list(range(1, 101))


def test_folders_of_older_releases_are_read(run):
    for name in ("activity.csv", "curves.csv", "edges.csv"):
        (run / name).unlink(missing_ok=True)
    contents = load_run(run)
    assert contents.activity is None
    assert contents.candidates.number_of_edges() == contents.graph.number_of_edges()
    page = read(write_report(run))
    assert page.count("path", "edge") == contents.graph.number_of_edges()
    assert page.count("path", "curve") == 0


def test_old_table_of_edges_without_a_word_on_drawn(run):
    edges = pd.read_csv(run / "edges.csv").drop(columns="reported")
    edges.to_csv(run / "edges.csv", index=False)
    assert load_run(run).candidates.number_of_edges() == len(edges)


def test_curves_are_drawn(run):
    rows = [(n, epoch, 1 / epoch, 2 / epoch) for n in (0, 1) for epoch in range(1, 400)]
    names = ["trial", "epoch", "train_loss", "validation_loss"]
    pd.DataFrame(rows, columns=names).to_csv(run / "curves.csv", index=False)
    page = read(write_report(run))
    lines = [attrs for tag, attrs in page.tags if attrs.get("class") == "curve"]
    assert [line["data-t"] for line in lines] == ["0", "1"]
    assert all(line["d"].count("L") == 119 for line in lines)


@pytest.mark.parametrize("name", ["edges.csv", "activity.csv", "curves.csv", "null.json"])
def test_damaged_files_are_named(run, name):
    (run / name).write_text("nothing,of\nthat,kind\n")
    with pytest.raises(InputError, match=rf"{name} in .* is missing or damaged"):
        write_report(run)


def test_unknown_role_is_refused(run):
    edges = pd.read_csv(run / "edges.csv").assign(source_role="cause")
    edges.to_csv(run / "edges.csv", index=False)
    with pytest.raises(InputError, match=r"edges\.csv in .* is missing or damaged"):
        write_report(run)


def test_chance_is_shown(run):
    about = {"networks": 4, "inputs": 4, "connected_inputs": 1, "seed": 1}
    rounds = [
        {"number": 0, "frequencies": [0.25, 0.5], "reported": 0, **about},
        {"number": 1, "frequencies": [0.25], "reported": 3, **about},
        {
            "number": -1,
            "frequencies": [],
            "reported": 0,
            **about,
            "decoys": 4,
            "connected_decoys": 2,
        },
    ]
    (run / "null.json").write_text(json.dumps({"rounds": rounds}))
    change_manifest(
        run, lambda m: m | {"null": {"sentence": "Said of chance.", "rounds": 2, "reported": 1.5}}
    )
    page = read(write_report(run))
    assert page.words.count("Said of chance.") == 3
    assert "rows of Y permuted, 2 3 edges 1 of 4" in page.words
    assert "2 of 4 decoys" in page.words
    assert page.count("path", "steps") == 2


def test_steps_fall_with_the_frequency():
    assert steps_info([0.5, 0.5, 1.0], 2) == [(0.0, 1.5), (0.5, 1.5), (0.5, 0.5), (1.0, 0.5)]
    assert steps_info([]) == [(0.0, 0.0), (1.0, 0.0)]


def test_columns_that_the_truth_does_not_know_are_not_judged():
    truth = make_latent_graph(list("abcd"), list("vwxyz"))
    found = nx.relabel_nodes(truth, {"L1": "L9"})
    found.add_node("e", role="input")
    found.add_edge("e", "L2")
    info = comparison_info(found, truth)
    assert info.graph.edges["e", "L2"]["kind"] == info.graph.nodes["e"]["kind"] == "unjudged"
    assert "e" not in info.judged
    taken = nx.relabel_nodes(truth, {"L1": "L2", "L2": "L1"})
    assert set(comparison_info(taken, truth).graph) == set(truth)


def test_differences_are_drawn_and_listed(run):
    change_manifest(run, lambda m: m | {"scores": make_scores()})
    truth = make_latent_graph(list("abcd"), list("vwxyz"))
    write_graph(truth, run / "truth.json")
    found = truth.copy()
    found.remove_edge("a", "L1")
    write_graph(found, run / "graph.json")
    page = read(write_report(run))
    assert page.count("path", "missed") == 1
    assert "Missed: 1 edge a → L1" in page.words


def test_maps_are_packed_and_found_again(run):
    net = load_run(run).nets[0]
    maps, info = map_trained(net).hidden, net_info(net)
    most = np.abs(maps).max()
    for layer, (total, living, packed) in zip(maps, info["layers"], strict=True):
        assert total == len(layer)
        cells = np.frombuffer(base64.b64decode(packed), np.int8).reshape(len(living), -1)
        np.testing.assert_allclose(cells / 127 * most, layer[living], atol=most / 250)


def test_assumptions_and_latents_that_cannot_be_known(run):
    graph = make_latent_graph(list("abcd"), list("vwxyz"))
    graph.add_edges_from([("b", "L3"), ("L3", "w"), ("L3", "x"), ("L3", "y")])
    graph.nodes["L3"]["role"] = "latent"
    write_graph(graph, run / "graph.json")
    words = read(write_report(run)).words
    assert "broken not identifiable: L2 and L3" in words
    assert "L3 reaches the same outputs" in words
    assert "no latent between" not in words
    graph.add_edge("a", "z")
    write_graph(graph, run / "graph.json")
    assert "broken no latent between: a -> z" in read(write_report(run)).words


def test_report_and_check_say_the_same_of_each_assumption(run):
    words = read(write_report(run)).words
    found = check_file(run).assumptions
    assert len(found) == 10
    for one in found:
        assert f"{one.name} {one.says} {one.status} {one.detail}" in words
    assert found[2].detail.startswith("not checked: ")


def test_files_are_in_the_page(run):
    page = read(write_report(run))
    files = {attrs["download"]: attrs["href"] for tag, attrs in page.tags if "download" in attrs}
    assert {"graph.graphml", "graph.cx2", "graph.nodes.tsv", "graph.json"} <= set(files)
    content = base64.b64decode(files["graph.json"].split(",")[1])
    assert content == (run / "graph.json").read_bytes()


def test_labels_fit_their_room():
    assert (fit_label("x" * 50), fit_label("x0")) == ("xxxxxxxxxxxxxxxxxxx…", "x0")


def test_the_policy_allows_this_style_alone():
    empty = "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert write_policy("", "").split("; ")[:2] == ["default-src 'none'", empty]


def test_durations_are_rounded():
    assert (_format_time(42.3), _format_time(372.0)) == ("42 s", "6 min 12 s")


def test_activity_has_a_range_and_bins():
    about = activity_info(np.array([0.0, 0.0, 1.0, 2.0]))
    assert (about["samples"], about["low"], about["high"]) == (4, 0.0, 2.0)
    assert sum(about["bins"]) == 4


def test_title_and_methods_are_those_of_the_run(run):
    change_manifest(run, lambda m: m | {"title": "Kinases <b>"})
    page = read(write_report(run))
    assert page.headings[0] == "Kinases <b>"
    assert read(write_report(run, title="Another")).headings[0] == "Another"
    assert "between 4 inputs (x.csv) and 5 outputs (y.csv) of 100 samples" in page.words
    assert "corrected by a regression of their residuals" in page.words
    assert "Young JD, Andrews B, Cooper GF, Lu X (2020)" in page.words
    assert "@software{rinn," in page.words


def test_heatmap_shows_inputs_with_edges_alone_where_they_are_many(run, monkeypatch):
    monkeypatch.setattr("rinn.report.info.ALL_DRAWN", 2)
    monkeypatch.setattr("rinn.report.html.heatmap.MAX_SHOWN", 2)
    graph = nx.DiGraph([("a", "L1"), ("L1", "w"), ("b", "L1"), ("c", "L1")])
    graph.add_nodes_from("abcdvwxyz")
    roles = dict.fromkeys("abcd", "input") | dict.fromkeys("vwxyz", "output") | {"L1": "latent"}
    nx.set_node_attributes(graph, roles, "role")
    write_graph(graph, run / "graph.json")
    (run / "edges.csv").unlink()
    info = heatmap_info(load_run(run))
    assert len(info.inputs) == 2
    assert "d" not in info.inputs
    assert info.outputs == ("w",)
    assert info.reached.all()
    words = read(write_report(run)).words
    assert "Shown: 2 of 4 inputs and 1 of 5 outputs" in words


def test_a_run_without_effects_has_no_heatmap(run):
    (run / "effects.csv").unlink()
    assert "Net effects" not in read(write_report(run)).headings


def test_predictions_have_yardsticks(run):
    losses = {"graph_loss": 0.3, "free_loss": 0.25, "difference": 0.05, "error": 0.1}
    more = {"mean_loss": 1.0, "regression_loss": 0.4, "network_loss": 0.25}
    change_manifest(run, lambda m: m | {"comparison": losses | more})
    contents = load_run(run)
    said = describe_yardsticks(contents.manifest)
    assert said == (
        "R² on held-out samples: guessing each output's mean 0.0%, linear regression on all "
        "inputs 60.0%, best free network 75.0%, network of the graph 70.0%."
    )
    words = read(write_report(run)).words
    assert "How well it predicts" in words
    assert "linear regression on all inputs 0.4000 60.0%" in words
    assert said in words  # in the methods
    change_manifest(run, lambda m: m | {"comparison": losses | more | {"graph_loss": 1.0001}})
    assert "network of the graph 0.0%" in describe_yardsticks(load_run(run).manifest)
    change_manifest(run, lambda m: m | {"comparison": losses | {"other": "each output's mean"}})
    manifest = load_run(run).manifest
    names = [name for name, *_ in list_yardsticks(manifest)]
    assert names == ["guessing each output's mean", "network of the graph"]
    assert "no regression on all inputs is shown" in read(write_report(run)).words
    change_manifest(run, lambda m: m | {"comparison": losses})
    assert describe_yardsticks(load_run(run).manifest) is None


def test_methods_say_what_a_screening_left_out(run):
    kept = "A screening for effects kept 4 of 90 inputs; the others count as having no effect."
    about = {"source": "regression", "sentence": f"{kept} The graph is read from a regression."}
    change_manifest(run, lambda m: m | {"effects": about})
    manifest = load_run(run).manifest
    methods = describe_methods(manifest, load_run(run).graph)
    assert f"{kept} 8 networks were trained" in methods
    assert "were estimated by linear regression" in methods
    assert "The graph is read from" not in methods
