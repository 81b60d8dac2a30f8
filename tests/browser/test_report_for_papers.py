"""What a reader takes out of the report: pictures, tables, the heatmap, the methods."""

import csv
import io
import struct
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from hostile_names import HOSTILE, INPUTS, OUTPUTS
from rinn.report.html.page import write_report
from rinn.runs.read import load_effects

SVG = "{http://www.w3.org/2000/svg}"
LIT = """() => [...document.querySelectorAll("#graph .node.on")]
  .map((node) => node.querySelector("text").textContent)"""


def save(page, button, path):
    with page.expect_download() as waiting:
        button.click()
    waiting.value.save_as(path)
    return path.read_bytes()


def test_pictures_are_saved_as_svg_with_text_and_as_png_for_print(open_page, report, tmp_path):
    opened = open_page(report, accept_downloads=True, dark=True)
    tools = opened.page.locator("#controls")
    content = save(
        opened.page, tools.get_by_role("button", name="Save the picture as SVG"), tmp_path / "a"
    )
    root = ET.fromstring(content)
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {*INPUTS, *OUTPUTS, "L1", "L2"} <= texts
    assert "U1" not in texts  # found too rarely, and not shown
    paths = list(root.iter(f"{SVG}path"))
    assert len(paths) == 7
    assert all(path.get("stroke").startswith("rgb(") and not path.get("class") for path in paths)
    assert (
        next(root.iter(f"{SVG}rect")).get("fill") == "rgb(34, 48, 60)"
    )  # light, whatever the page
    assert root.get("font-family")
    assert not [e for e in root.iter() if e.get("style") or e.get("class") or e.get("id")]
    content = save(
        opened.page, tools.get_by_role("button", name="Save the picture as PNG"), tmp_path / "b"
    )
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", content[16:20])[0] >= 2126  # 180 mm at 300 dots per inch
    assert content[37:41] == b"pHYs"
    assert struct.unpack(">II", content[41:49]) == (11811, 11811)
    assert opened.page.evaluate("document.documentElement.dataset.theme") is None
    assert opened.errors == opened.requests == []


def test_tables_sort_filter_copy_and_download(open_page, run, report, tmp_path):
    opened = open_page(
        report, accept_downloads=True, permissions=["clipboard-read", "clipboard-write"]
    )
    page = opened.page
    edges = page.locator("#edges")
    column = """() => [...document.querySelectorAll("#edges tbody tr:not([hidden])")]
      .map((row) => Number(row.cells[2].textContent))"""
    first = page.evaluate(column)
    assert len(first) == 7
    edges.get_by_role("button", name="weight").click()
    assert page.evaluate(column) == sorted(first)
    assert edges.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    edges.get_by_role("button", name="weight").click()
    assert page.evaluate(column) == sorted(first, reverse=True)
    edges.get_by_role("button", name="weight").click()
    assert page.evaluate(column) == first
    rows = list(
        csv.reader(
            io.StringIO(
                save(page, edges.get_by_role("button", name="CSV"), tmp_path / "e").decode()
            )
        )
    )
    reported = pd.read_csv(run / "edges.csv").query("reported")
    assert rows[0][:3] == ["from", "to", "weight"]
    assert sorted((a, b) for a, b, *_ in rows[1:]) == sorted(
        zip(reported["source"], reported["target"], strict=True)
    )
    assert any(float(row[2]) < 0 for row in rows[1:])  # a number stays a number
    assumed = page.locator("#assumptions")
    assumed.get_by_role("searchbox").fill("cycles")
    assert assumed.locator("tbody tr:not([hidden])").count() == 1
    assert assumed.get_by_role("status").inner_text() == "1 of 10"
    assumed.get_by_role("button", name="Copy").click()
    page.wait_for_function(
        "document.querySelector('#assumptions .table-tools button').textContent === 'Copied'"
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[1].split("\t")[0] == "A1"
    assert len(copied.splitlines()) == 2
    assert opened.errors == []


def test_heatmap_names_every_row_and_column_and_is_linked_with_the_graph(
    open_page, run, report, tmp_path
):
    opened = open_page(report, accept_downloads=True)
    page = opened.page
    names = """(side) => [...document.querySelectorAll(`#heat .${side}-names text`)]
      .map((text) => text.textContent)"""
    rows, columns = page.evaluate(names, "row"), page.evaluate(names, "column")
    assert sorted(rows) == sorted(INPUTS)
    assert sorted(columns) == sorted(OUTPUTS)
    values, inputs = load_effects(run)
    strength = values[inputs.index("KRAS"), OUTPUTS.index("FOS")]
    page.locator("#heat").scroll_into_view_if_needed()
    left, top, side = (
        float(page.locator("#heat").get_attribute(f"data-{key}")) for key in ("left", "top", "cell")
    )
    at = {
        "x": left + side * (columns.index("FOS") + 0.5),
        "y": top + side * (rows.index("KRAS") + 0.5),
    }
    page.locator("#heat").hover(position=at)
    said = page.locator("#tip").inner_text().split("\n")
    assert said[0] == "KRAS → FOS"
    assert float(said[1].split()[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(
        strength, abs=0.02, rel=0.01
    )
    assert said[2] == "in the graph through L2"
    page.locator("#heat").click(position=at)
    assert set(page.evaluate(LIT)) == {"KRAS", "L2", "FOS"}
    assert page.locator("#heat text.on").all_text_contents() == ["FOS", "KRAS"]
    page.locator("#heat-box").focus()
    page.keyboard.press("ArrowRight")
    other = columns[min(columns.index("FOS") + 1, len(columns) - 1)]
    assert page.locator("#cell").inner_text().startswith(f"KRAS → {other}; ")
    page.locator("#search").fill("EGFR")
    assert page.locator("#heat text.on").all_text_contents() == ["EGFR"]
    table = pd.read_csv(
        io.BytesIO(
            save(page, page.get_by_role("button", name="Save as CSV", exact=True), tmp_path / "h")
        ),
        index_col=0,
    )
    assert table.loc["KRAS", "FOS"] == pytest.approx(strength, abs=0.01)
    assert opened.errors == opened.requests == []


def test_methods_and_references_are_copied(open_page, run):
    write_report(run, title="Kinases & what they do")
    opened = open_page(run / "report.html", permissions=["clipboard-read", "clipboard-write"])
    page = opened.page
    write_report(run)
    assert page.locator("h1").inner_text() == page.title() == "Kinases & what they do"
    page.get_by_role("button", name="Copy the methods").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "between 4 inputs (x.csv) and 6 outputs (y.csv) of 100 samples" in copied
    assert "random seed 0" in copied
    assert "8 networks were trained" in copied
    assert "3 bootstrap resamples" in copied
    assert "Young et al. 2020" in copied
    page.get_by_role("button", name="Copy the references").click()
    assert "PMLR 127:62-91" in page.evaluate("navigator.clipboard.readText()")
    assert opened.errors == []


def test_names_that_are_formulas_or_markup_stay_text_in_files(open_page, hostile, tmp_path):
    opened = open_page(hostile, accept_downloads=True)
    content = save(
        opened.page,
        opened.page.locator("#controls").get_by_role("button", name="SVG"),
        tmp_path / "a",
    )
    assert HOSTILE["BRAF"][:12] in "".join(ET.fromstring(content).itertext())
    assert opened.page.evaluate("""() => {
      document.querySelector("#edges td .name").textContent = "=HYPERLINK(1)";
      document.querySelector("#edges td .name").title = "";
      return true;
    }""")
    text = save(
        opened.page, opened.page.locator("#edges").get_by_role("button", name="CSV"), tmp_path / "e"
    ).decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1][0] == "'=HYPERLINK(1)"
    assert opened.errors == opened.requests == []
