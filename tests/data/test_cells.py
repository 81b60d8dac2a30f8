import math

import pytest

from rinn.data.text import is_id_header, parse_cell
from rinn.errors import quote, quote_some


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), (" -2.5e3 ", -2500), ("+4", 4), ("TRUE", 1), ("False", 0), ("-inf", -math.inf)],
)
def test_parse_cell_numbers(text, number):
    assert parse_cell(text) == number


@pytest.mark.parametrize("text", ["", " ", "NA", "n/a", "NaN", "NULL", "None", "#N/A", "<NA>"])
def test_parse_cell_missing(text):
    assert math.isnan(parse_cell(text))


@pytest.mark.parametrize("text", ["high", "1_000", "٣", "0x1F", "1,5", "1 2", "-", "yes"])
def test_parse_cell_text(text):
    assert parse_cell(text) is None


@pytest.mark.parametrize(
    "name", ["", " ", "sample", "Sample ID", "ID", "Tumor_Sample_Barcode", "row.names", "sample-id"]
)
def test_id_headers(name):
    assert is_id_header(name)


@pytest.mark.parametrize("name", ["TP53", "ID1", "x0", "age", "sampled"])
def test_ordinary_headers(name):
    assert not is_id_header(name)


def test_quote_keeps_one_short_line():
    shown = quote("a\n" + "b" * 300)
    assert "\n" not in shown
    assert len(shown) < 70
    assert quote_some(["a"]) == "'a'"
    assert quote_some(["a", "b", "c", "d", "e"]) == "'a', 'b', 'c' and 2 more"
