import base64
import json
import math
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from cohort_files import write_cohort
from hostile_names import HOSTILE, INPUTS, OUTPUTS
from rinn.genomics.prepare.run import prepare
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.graphs.files import load_graph, write_graph
from rinn.report.html.page import write_report
from rinn.report.index import read_card, render_index
from rinn.structure.enrichment import COLUMNS

SHOWN = """() => [...document.querySelectorAll("#graph .edge")]
  .filter((edge) => edge.getClientRects().length && edge.checkVisibility()).length"""
LIT = """() => [...document.querySelectorAll("#graph .node.on")]
  .map((node) => node.querySelector("text").textContent)"""


def slide(page, value):
    page.locator("#slider").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
        value,
    )


def test_page_asks_for_nothing_and_logs_no_error(open_page, report):
    opened = open_page(report)
    opened.page.wait_for_timeout(200)
    assert opened.requests == []
    assert opened.errors == []
    assert opened.page.locator("#controls").is_visible()
    assert opened.page.locator("h1").inner_text() == "Latent graph between x.csv and y.csv"


def test_page_opens_with_the_graph_as_drawn(open_page, run, report):
    page = open_page(report).page
    edges = pd.read_csv(run / "edges.csv")
    assert page.evaluate(SHOWN) == edges["reported"].sum() == 7
    assert page.locator("#slider").input_value() == "50"
    assert page.locator("#shown").inner_text() == "7 edges, the reported graph"


def test_slider_shows_what_edges_csv_says(open_page, run, report):
    opened = open_page(report)
    edges = pd.read_csv(run / "edges.csv")
    for value in (100, 94, 93, 81, 60, 50, 38, 37, 12, 0):
        slide(opened.page, value)
        expected = int((edges["frequency"] >= value / 100).sum())
        assert opened.page.evaluate(SHOWN) == expected, value
        said = opened.page.locator("#shown").inner_text()
        assert said == f"{expected} of 10 edges that were found"
    assert opened.page.locator("#graph .node.weak").is_visible()
    opened.page.locator("#reset").click()
    assert opened.page.evaluate(SHOWN) == 7
    assert not opened.page.locator("#graph .node.weak").is_visible()
    assert opened.errors == []


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("BRAF", {"BRAF", "L1", "L2", "MYC", "JUN", "FOS", "CCND1"}),
        ("kras", {"KRAS", "L2", "FOS", "CCND1"}),
        ("FOS", {"FOS", "L2", "L1", "BRAF", "KRAS"}),
        ("EGFR", {"EGFR"}),
    ],
)
def test_search_highlights_all_paths(open_page, report, name, paths):
    page = open_page(report).page
    page.locator("#search").fill(name)
    assert set(page.evaluate(LIT)) == paths
    said = page.locator("#found").inner_text()
    assert all(other in said for other in paths)
    page.keyboard.press("Escape")
    assert page.evaluate(LIT) == []


def test_paths_are_described(open_page, report):
    page = open_page(report).page
    page.locator("#search").fill("KRAS")
    said = page.locator("#found").inner_text()
    assert said == "KRAS acts through 1 latent (L2) on 2 outputs (FOS, CCND1)."
    page.locator("#graph .node", has_text="CDKN1A").locator("circle").click()
    assert page.locator("#found").inner_text() == "CDKN1A has no edge that is shown."


def test_search_for_a_part_of_a_name(open_page, report):
    page = open_page(report).page
    page.locator("#search").fill("R")
    assert page.evaluate(LIT) == []
    assert "3 names contain this" in page.locator("#found").inner_text()
    page.keyboard.press("Enter")
    assert "BRAF" in page.evaluate(LIT)
    page.locator("#search").fill("nothing of that")
    assert page.locator("#found").inner_text() == "No input or output has this name."


def test_search_follows_the_slider(open_page, report):
    page = open_page(report).page
    slide(page, 0)
    page.locator("#search").fill("EGFR")
    assert set(page.evaluate(LIT)) == {"EGFR", "U1", "VEGFA"}


def test_click_opens_the_card_of_the_latent(open_page, report):
    page = open_page(report).page
    page.locator("#graph .node.latent", has_text="L2").click()
    card = page.locator("#card")
    assert card.locator("h2").inner_text() == "L2"
    assert "Found in 94% of bootstrap resamples" in card.inner_text()
    above, below = (card.locator(f".card-{side} .chip") for side in ("up", "down"))
    assert [text.split()[0] for text in above.all_inner_texts()] == ["KRAS", "L1"]
    assert [text.endswith("by covariance") for text in above.all_inner_texts()] == [False, True]
    assert [text.split()[0] for text in below.all_inner_texts()] == ["FOS", "CCND1"]
    assert card.locator(".histogram").is_visible()
    assert card.locator("svg.small path").count() == 2
    card.get_by_role("button", name="L1").click()
    assert card.locator("h2").inner_text() == "L1"
    card.get_by_role("button", name="Close the card").click()
    assert not card.is_visible()


@pytest.mark.parametrize("latent", ["L1", "L2"])
def test_number_and_colour_of_an_effect_are_those_of_its_edge(open_page, report, latent):
    """The chip, its colour, the cell of the heatmap and the words that stand for it."""
    page = open_page(report).page
    page.locator("#graph .node.latent", has_text=latent).click()
    card = page.locator("#card")
    heat = card.locator("svg.small")
    raised, lowered = re.findall(r"(?:raises|lowers) ([^;]+)", heat.get_attribute("aria-label"))
    columns = math.ceil(math.sqrt(len(OUTPUTS)))
    chips = card.locator(".card-down .chip:not(button)").all()
    assert chips
    for chip in chips:
        name, number = chip.inner_text().split()
        kind = "plus" if number[0] == "+" else "minus"
        assert kind in chip.get_attribute("class").split()
        assert name in (raised if kind == "plus" else lowered).split(", ")
        row, column = divmod(OUTPUTS.index(name), columns)
        corner = f"M{20 * column + 1} {20 * row + 1}h"
        cells = heat.locator(f"path.{kind}").evaluate_all(
            "all => all.map((p) => p.getAttribute('d'))"
        )
        assert corner in "".join(cells)


def test_list_of_latents_opens_cards(open_page, report):
    page = open_page(report).page
    page.locator("#latents").get_by_role("button", name="L1").click()
    assert page.locator("#card h2").inner_text() == "L1"


def test_keyboard_alone(open_page, report):
    page = open_page(report).page
    latent = page.locator("#graph .node.latent").first
    latent.focus()
    page.keyboard.press("Enter")
    assert page.locator("#card h2").inner_text() == "L1"
    assert page.evaluate("document.activeElement.className") == "close"
    page.keyboard.press("Escape")
    assert not page.locator("#card").is_visible()
    assert page.evaluate("document.activeElement.id") == latent.get_attribute("id")
    page.locator("#stage").focus()
    page.keyboard.press("+")
    assert page.locator("#graph").get_attribute("data-scale") == "1.50"
    page.keyboard.press("0")
    assert page.locator("#graph").get_attribute("data-scale") == "1.00"
    page.locator("#slider").focus()
    page.keyboard.press("End")
    assert page.evaluate(SHOWN) == 3


def test_every_control_can_be_reached_by_tab(open_page, report):
    page = open_page(report).page
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"theme", "search", "slider", "stage", "n4", "n5"} <= reached


def test_wheel_zooms_with_control_alone(open_page, report):
    page = open_page(report).page
    picture = page.locator("#graph")
    picture.scroll_into_view_if_needed()
    page.locator("#graph .node.latent").first.hover()
    page.mouse.wheel(0, -20)
    assert picture.get_attribute("data-scale") == "1.00"
    page.locator("#graph .node.latent").first.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function("Number(document.querySelector('#graph').dataset.scale) > 1.5")
    page.get_by_role("button", name="Fit the graph to the frame").click()
    assert picture.get_attribute("data-scale") == "1.00"


def test_pointer_is_told_names_and_numbers(open_page, report):
    page = open_page(report).page
    page.locator("#graph .node", has_text="KRAS").locator("circle").hover()
    page.wait_for_selector("#tip:not([hidden])")
    assert page.locator("#tip").inner_text().split("\n") == ["KRAS", "input", "1 edge"]


def test_a_network_is_looked_into(open_page, report, run):
    opened = open_page(report)
    trials = pd.read_csv(run / "trials.csv")
    kept = json.loads((run / "manifest.json").read_text())["networks"]
    stored = {*kept["kept"], *kept["paper"]}
    assert stored <= set(trials["trial"])
    for number in trials["trial"]:
        opened.page.locator("#net").select_option(str(number))
        body = opened.page.locator("#net-body")
        assert body.locator("h3").inner_text() == f"Network {number}"
        assert bool(body.locator(".layer svg").count()) == (number in stored)
        loss = trials.loc[trials["trial"] == number, "validation_loss"].item()
        assert f"{loss:.4g}" in body.text_content()
    circle = opened.page.locator("#scatter circle").first
    number = circle.get_attribute("data-t")
    circle.dispatch_event("click")
    assert opened.page.locator("#net").input_value() == number
    assert opened.errors == []


def test_files_come_out_of_the_page(open_page, run, report, tmp_path):
    opened = open_page(report, accept_downloads=True)
    links = opened.page.locator("a[download]")
    assert links.count() >= 9
    with opened.page.expect_download() as waiting:
        opened.page.locator("a[download='graph.json']").click()
    path = tmp_path / "graph.json"
    waiting.value.save_as(path)
    assert sorted(load_graph(path).edges) == sorted(load_graph(run / "graph.json").edges)
    href = opened.page.locator("a[download='graph.json']").get_attribute("href")
    assert base64.b64decode(href.split(",")[1]) == path.read_bytes()


def test_hostile_names_stay_text_everywhere(open_page, hostile):
    opened = open_page(hostile)
    page = opened.page
    slide(page, 0)
    for name in HOSTILE.values():
        page.locator("#search").fill(name)
        assert page.evaluate(LIT), name
        assert page.locator("#graph .picked").count() == 1
    for latent in page.locator("#graph .node.latent").all():
        latent.focus()
        page.keyboard.press("Enter")
        page.locator("#card").wait_for()
    for node in page.locator("#graph .node").all():
        node.hover(force=True)
    page.locator("#net").select_option(index=0)
    page.wait_for_timeout(100)
    assert opened.errors == []
    assert opened.requests == []
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    names = page.evaluate("() => [...document.querySelectorAll('#names option')].map(o => o.value)")
    assert names == [HOSTILE.get(name, name) for name in [*INPUTS, *OUTPUTS]]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("which", ["report", "hostile"])
def test_page_never_scrolls_sideways(open_page, request, which, width, dark):
    opened = open_page(request.getfixturevalue(which), width=width, height=844, dark=dark)
    page = opened.page
    wide = "document.documentElement.scrollWidth"
    assert page.evaluate(wide) <= width
    page.locator("#graph .node.latent").first.focus()
    page.keyboard.press("Enter")
    box = page.locator("#card").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate(wide) <= width
    assert opened.errors == []


def test_theme_follows_the_system_and_the_button(open_page, report):
    ground = "getComputedStyle(document.body).backgroundColor"
    page = open_page(report, dark=True).page
    dark = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Theme: light"
    light = page.evaluate(ground)
    assert light != dark
    page.locator("#theme").click()
    assert page.evaluate(ground) == dark
    assert open_page(report).page.evaluate(ground) == light


def test_page_is_whole_without_a_script(open_page, run, report):
    page = open_page(report, java_script_enabled=False).page
    assert not page.locator("#controls").is_visible()
    assert page.locator("#graph .level:not(.weak) .edge").count() == 7
    assert page.locator("#graph .level.weak").first.get_attribute("display") == "none"
    assert page.locator("main > section > h2").count() == 11
    assert page.locator("#net-body svg").count() >= 1
    assert page.locator("a[download]").count() >= 9


def test_print_leaves_out_what_only_works_on_a_screen(open_page, report):
    page = open_page(report, dark=True).page
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert page.locator("#graph").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


MIDDLE = """(edge) => {
  const point = edge.getPointAtLength(edge.getTotalLength() / 2);
  const { x, y } = point.matrixTransform(edge.getScreenCTM());
  return { x, y };
}"""


def test_edges_that_are_there_because_of_the_prior(open_page, informed):
    opened = open_page(informed, height=1400)
    page = opened.page
    assert page.locator("#graph .edge.from-prior").count() == 2
    assert page.locator(".legend .key.from-prior").is_visible()
    told = []
    for edge in page.locator("#graph .edge.from-prior").all():
        point = edge.evaluate(MIDDLE)
        page.mouse.move(point["x"] + 1, point["y"])
        page.mouse.move(point["x"], point["y"])
        page.wait_for_selector("#tip:not([hidden])")
        page.wait_for_timeout(50)
        told.append(page.locator("#tip").inner_text())
    assert any("there because of the prior" in text for text in told)
    assert any("there only because the prior says so" in text for text in told)
    assert all("supported by the effects of the inputs" in words for words in told)
    assert all("found in 25% of bootstrap resamples without the prior" in words for words in told)
    page.locator("#graph .node.latent", has_text="L1").click()
    assert "BRAF +1 forced" in page.locator("#card .card-up").inner_text()
    said = page.locator("#prior-knowledge").inner_text()
    assert "There because of the prior: KRAS \N{RIGHTWARDS ARROW} L2" in said
    assert "There only because the prior says so: BRAF \N{RIGHTWARDS ARROW} L1" in said
    assert "4 more are less clear" in said
    assert HOSTILE["BRAF"] in said
    assert opened.errors == []
    assert opened.requests == []


def test_gene_sets_are_on_the_card(open_page, informed, tmp_path):
    folder = shutil.copytree(informed.parent, tmp_path / "run")
    rows = [("L1", "both", HOSTILE["MYC"], 3, 5, 9, 20, "MYC JUN", 0.001, 0.01)]
    pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(folder / "names.csv", index=False)
    opened = open_page(write_report(folder))
    opened.page.locator("#graph .node.latent", has_text="L1").click()
    words = f"{HOSTILE['MYC']} (both: 3 of 5 genes, q = 0.01)"
    assert opened.page.locator("#card .sets").inner_text() == words
    assert words in opened.page.locator("#latents").inner_text()
    assert opened.errors == []


def test_an_edge_past_all_latents_is_direct(open_page, informed, tmp_path):
    folder = shutil.copytree(informed.parent, tmp_path / "run")
    graph = load_graph(folder / "graph.json")
    graph.add_edge("EGFR", "VEGFA", frequency=1.0, origin="forced")
    write_graph(graph, folder / "graph.json")
    page = open_page(write_report(folder)).page
    page.locator("#search").fill("EGFR")
    said = page.locator("#found").inner_text()
    assert said == "EGFR acts directly on 1 output (VEGFA)."


@pytest.mark.parametrize("dark", [False, True])
def test_prior_knowledge_fits_a_phone(open_page, informed, dark):
    page = open_page(informed, width=390, dark=dark).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#prior-knowledge table").is_visible()


def test_no_edge_owes_anything_without_prior_knowledge(open_page, report):
    page = open_page(report).page
    assert not page.locator(".from-prior").count()
    assert not page.locator("#prior-knowledge").count()


@pytest.mark.parametrize("width", [390, 1280])
def test_summary_of_prepared_tables_never_scrolls_sideways(open_page, tmp_path, width):
    files = write_cohort(tmp_path / "files")
    prepare(Sources(**files), tmp_path / "out", PrepareSettings(tissue_column="site"))
    opened = open_page(tmp_path / "out" / "summary.html", width=width)
    assert opened.page.locator("svg.chart").count() == 2
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.errors == opened.requests == []


def test_two_runs_of_the_index_are_picked(open_page, run, tmp_path):
    cards = [read_card(run.parent, ("run",)), read_card(run.parent, ("run",))]
    cards.append(replace(cards[0], name="third"))
    path = tmp_path / "index.html"
    path.write_text(render_index("runs", cards), encoding="utf-8")
    page = open_page(path).page
    picks, compare = page.locator(".pick"), page.locator("#compare")
    picks.nth(0).check()
    assert not compare.is_visible()
    picks.nth(2).check()
    assert compare.is_visible()
    assert picks.nth(1).is_disabled()
    picks.nth(0).uncheck()
    assert not compare.is_visible()
    assert not picks.nth(1).is_disabled()
