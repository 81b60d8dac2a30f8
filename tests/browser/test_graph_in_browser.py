"""The graph of the report stays readable: sizes, the card, folds, the keyboard."""

import shutil

import pytest

from hostile_names import INPUTS, OUTPUTS
from rinn.graphs.files import load_graph, write_graph
from rinn.report import info
from rinn.report.html import layout
from rinn.report.html.page import write_report

BOXES = """() => Object.fromEntries([...document.querySelectorAll("#graph .node")]
  .filter((node) => node.getClientRects().length).map((node) => {
    const { x, y, width, height } = node.querySelector("circle, rect").getBoundingClientRect();
    const text = node.querySelector("text");
    return [text.textContent, { x: x + width / 2, y: y + height / 2,
      letters: text.getBoundingClientRect().height, shown: text.getClientRects().length > 0 }];
  }))"""


@pytest.fixture(scope="module")
def foldable(run, tmp_path_factory):
    """The run with two inputs that act on L1 alone, drawn folded, and no room for weaker nodes."""
    out = shutil.copytree(run, tmp_path_factory.mktemp("folds") / "run")
    graph = load_graph(out / "graph.json")
    graph.add_edge("TP53", "L1", weight=2.0, frequency=1.0)
    write_graph(graph, out / "graph.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(info, "MAX_OPEN", 1)
        patch.setattr(layout, "MAX_BELOW", 0)
        return write_report(out)


@pytest.mark.parametrize("width", [390, 600, 768])
def test_names_are_readable_and_the_card_covers_nothing(open_page, report, width):
    opened = open_page(report, width=width, height=844)
    page = opened.page
    nodes = page.evaluate(BOXES)
    assert {*INPUTS, *OUTPUTS} <= set(nodes)
    assert all(node["shown"] and node["letters"] >= 12 for node in nodes.values())
    frame = page.locator("#stage").bounding_box()
    assert all(frame["x"] < node["x"] < frame["x"] + frame["width"] for node in nodes.values())
    page.locator("#graph .node.latent", has_text="L2").click()
    card, frame = (page.locator(name).bounding_box() for name in ("#card", "#stage"))
    beside = card["x"] >= frame["x"] + frame["width"] - 1
    below = card["y"] >= frame["y"] + frame["height"] - 1
    assert beside or below
    assert below == (width < 832)
    assert opened.errors == []


def test_slider_and_card_change_neither_scale_nor_height(open_page, report):
    page = open_page(report).page
    before = page.evaluate(BOXES)
    page.locator("#slider").evaluate(
        "(slider) => { slider.value = 0; slider.dispatchEvent(new Event('input')); }"
    )
    after = page.evaluate(BOXES)
    assert {name: after[name] for name in before} == before
    assert "U1" in after
    page.locator("#graph .node.latent", has_text="L2").click()
    page.wait_for_timeout(100)  # the frame is laid out again after it has shrunk
    docked = page.evaluate(BOXES)
    assert all(docked[name]["y"] == after[name]["y"] for name in after)
    assert docked["MYC"]["x"] < after["MYC"]["x"] - 200
    card, frame = (page.locator(name).bounding_box() for name in ("#card", "#stage"))
    assert card["x"] >= frame["x"] + frame["width"] - 1


def test_edges_have_arrowheads_that_touch_their_targets(open_page, report):
    page = open_page(report).page
    ends = page.evaluate("""() => {
      const edge = document.querySelector("#e0");
      const box = document.querySelector("#n4 rect").getBoundingClientRect();
      const corners = edge.getAttribute("d").match(/M[^M]*$/)[0].match(/[-.\\d]+/g).map(Number);
      const tip = new DOMPoint(corners[2], corners[3]).matrixTransform(edge.getScreenCTM());
      return [Math.abs(box.left - tip.x), Math.abs(box.top + box.height / 2 - tip.y)];
    }""")
    assert max(ends) < 4


def test_inputs_with_the_same_edges_are_folded_and_unfolded(open_page, foldable):
    opened = open_page(foldable)
    page = opened.page
    assert "BRAF + 1 more" in page.evaluate(BOXES)
    assert "TP53" not in page.evaluate(BOXES)
    page.locator("#search").fill("TP53")
    lit = page.locator("#graph .node.picked text").all_text_contents()
    assert lit == ["BRAF + 1 more"]
    said = page.locator("#found").inner_text()
    assert said.startswith("TP53 acts through 2 latents (L1, L2) on 4 outputs")
    assert said.endswith("BRAF has the same edges.")
    edges = "document.querySelectorAll('#graph .edge.on').length"
    lines = page.evaluate(edges)
    page.locator("#fold").click()
    assert {"BRAF", "TP53"} <= set(page.evaluate(BOXES))
    assert page.evaluate(edges) == lines
    page.locator("#slider").evaluate(
        "(slider) => { slider.value = 0; slider.dispatchEvent(new Event('input')); }"
    )
    shown = "10 of 10 edges that were found; 2 of them are not drawn, edges.csv lists them"
    assert page.locator("#shown").inner_text() == shown
    assert opened.errors == []


def test_arrow_keys_reach_every_node(open_page, report):
    page = open_page(report).page
    focused = "document.activeElement.querySelector('text')?.textContent"
    page.locator("#graph .node.latent", has_text="L1").focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "BRAF"
    reached = {page.evaluate(focused)}
    for key in ("ArrowUp", "ArrowDown"):
        for _ in INPUTS:
            page.keyboard.press(key)
            reached.add(page.evaluate(focused))
    assert reached == set(INPUTS)
    page.locator("#graph .node.input", has_text="KRAS").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "L2"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "FOS"
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text().startswith("FOS is acted on by 2 inputs")
    labels = page.locator("#graph .node").evaluate_all(
        "all => all.map((node) => [node.getAttribute('role'), node.getAttribute('aria-label')])"
    )
    assert all(role == "button" and label for role, label in labels)


def test_search_moves_a_hidden_node_into_view(open_page, report):
    page = open_page(report, width=390, height=844).page
    for _ in range(5):
        page.locator('[data-zoom="in"]').click()
    page.evaluate("document.getElementById('stage').scrollTo(0, 0)")
    page.locator("#search").fill(OUTPUTS[-1])
    seen = page.evaluate("""() => {
      const node = document.querySelector("#graph .node.picked").getBoundingClientRect();
      const stage = document.getElementById("stage").getBoundingClientRect();
      return node.left < stage.right && node.right > stage.left
        && node.top < stage.bottom && node.bottom > stage.top;
    }""")
    assert seen
