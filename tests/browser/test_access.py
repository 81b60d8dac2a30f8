"""Whether people who see badly, or use no mouse, can use every page: axe-core finds nothing."""

from dataclasses import replace
from importlib.resources import files
from itertools import product

import pytest

from rinn.compare.page import render_page, summarise
from rinn.compare.rows import Outcome, Row, find_agreement
from rinn.graphs.files import load_graph
from rinn.report.index import read_card, render_index
from rinn.report.pair import render_pair

FIND = """async () => (await axe.run()).violations.map(
  (it) => [it.impact, it.id, it.help, ...it.nodes.slice(0, 3).map((node) => node.html)])"""


@pytest.fixture(scope="module")
def pages(run, tmp_path_factory):
    """A page of each kind, with a damaged run and a method that was stopped."""
    card = read_card(run.parent, ("run",))
    other = replace(card, name="other")
    graph = load_graph(run / "graph.json")
    rows = [Row(Outcome("rinn", "done", "", 9.0, 1.5), graph),
            Row(Outcome("nem", "done", "", 9.0, 0.5), graph),
            Row(Outcome("gin", "stopped", "", 9.0))]  # fmt: skip
    texts = {
        "index": render_index("runs", [card, other, replace(card, problem="graph.json is empty")]),
        "pair": render_pair(run.parent, [card, other]),
        "comparison": render_page(rows, find_agreement(rows), list(summarise(rows)), "x and y"),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts} | {"report": run / "report.html"}


@pytest.mark.parametrize("name", ["report", "index", "pair", "comparison"])
def test_axe_finds_nothing(open_page, pages, name):
    axe = pytest.importorskip("axe_playwright_python", reason="the extra dev is not installed")
    # The page's own rules would not let another script in.
    page = open_page(pages[name], bypass_csp=True).page
    page.add_script_tag(path=files(axe) / "axe.min.js")
    if name == "report":  # with all edges, a card, and another network
        page.locator("#slider").fill("0")
        page.locator("#graph .node.latent").first.focus()
        page.keyboard.press("Enter")
        page.locator("#net").select_option(index=1)
    for scheme, width in product(("light", "dark"), (1280, 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(FIND) == [], (scheme, width)
