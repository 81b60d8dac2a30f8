import math
import re

import numpy as np
import pytest

from rinn.data.text import find_separator, is_id_header, parse_cell, read_delimited
from rinn.errors import InputError, quote, quote_some


def read(text, separator=",", prefix="x"):
    return read_delimited(text, separator, "X (x.csv)", prefix)


def reject(text, sentence, separator=","):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        read(text, separator)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "end", "end end"])
def test_line_endings(newline, end):
    text = newline.join(["a,b", "1,2", "3,4"]) + end.replace("end", newline).replace(" ", "")
    cells = read(text)
    assert cells.columns == ("a", "b")
    np.testing.assert_array_equal(cells.values, [[1, 2], [3, 4]])


def test_first_line_of_numbers_is_data():
    cells = read("1,2\n3,4\n", prefix="y")
    assert cells.columns == ("y0", "y1")
    assert cells.samples is None
    np.testing.assert_array_equal(cells.values, [[1, 2], [3, 4]])


def test_first_line_with_a_missing_number_is_data():
    cells = read("1.5,NA\n3,4\n")
    assert cells.columns == ("x0", "x1")
    assert np.isnan(cells.values[0, 1])


def test_numeric_gene_ids_under_an_id_header_are_names():
    cells = read("sample,7157,1956\ns1,0,1\n")
    assert cells.columns == ("7157", "1956")


def test_sample_then_numbers_is_rejected():
    reject(
        "s1,0.5,0.25\ns2,1,2\n",
        "X (x.csv) must begin with a line of column names, but its first line is 's1' followed by "
        "numbers only; add a line of names, with 'sample' above the sample ids",
    )


@pytest.mark.parametrize("header", ["", "sample", "ID", "Tumor_Sample_Barcode"])
def test_id_header_makes_ids_even_of_numbers(header):
    cells = read(f"{header},a\n007,1\n8,2\n")
    assert cells.samples == ("007", "8")
    assert cells.columns == ("a",)


def test_numbers_under_an_ordinary_header_are_data():
    cells = read("age,a\n7,1\n8,2\n")
    assert cells.samples is None
    assert cells.columns == ("age", "a")


def test_text_in_each_row_makes_ids():
    assert read("who,a\n s1 ,1\ns2,2\n").samples == ("s1", "s2")


def test_text_in_some_rows_makes_no_ids():
    reject(
        "who,a\ns1,1\n2,2\n",
        "X (x.csv) must hold only numbers in column 'who', but line 2 has 's1'; write a number "
        "there or remove the column",
    )


def test_booleans_in_the_first_column_are_data():
    cells = read("who,a\nTrue,FALSE\nfalse,true\n")
    np.testing.assert_array_equal(cells.values, [[1, 0], [0, 1]])
    assert cells.samples is None


def test_header_one_field_short_as_r_writes_it():
    cells = read('"a"\t"b"\n"s1"\t1\t2\n"s2"\t3\t4\n', "\t")
    assert cells.samples == ("s1", "s2")
    assert cells.columns == ("a", "b")


def test_numbers_that_only_the_careful_reader_takes():
    np.testing.assert_array_equal(read("a,b\n+1, 2\nTRUE,3\n").values, [[1, 2], [1, 3]])


def test_blank_lines_between_rows_are_skipped():
    np.testing.assert_array_equal(read("\na,b\n\n1,2\n\n3,4\n\n").values, [[1, 2], [3, 4]])


def test_blank_line_in_a_single_column_is_a_missing_cell():
    cells = read("a\n1\n\n3\n\n\n")
    np.testing.assert_array_equal(cells.values, [[1], [np.nan], [3]])
    assert cells.lines == (2, 3, 4)


def test_lines_count_newlines_in_quotes():
    reject(
        'sample,"TP53\nmutated",b\ns1,1,2\n\n"s\n2",0,high\n',
        "X (x.csv) must hold only numbers in column 'b', but line 5 (sample 's\\n2') has 'high'; "
        "write a number there or remove the column",
    )


@pytest.mark.parametrize(("row", "count"), [("1,2", 2), ("1,2,3,4", 4)])
def test_ragged_row(row, count):
    reject(
        f"a,b,c\n1,2,3\n{row}\n",
        f"X (x.csv) must have 3 fields in each row, but line 3 has {count}; correct that line, "
        f"with quotes around a field that holds the separator",
    )


def test_another_separator_with_decimal_commas():
    reject(
        "a;b\n1,5;2,5\n",
        "X (x.csv) must have 1 field in each row, but line 2 has 3; separate fields by commas "
        "(.csv) or tabs (.tsv), and use decimal points",
    )


def test_header_only():
    reject(
        "a,b\n",
        "X (x.csv) must have a row for each sample, but it has only a header; export it again "
        "with its rows",
    )


def test_blank_file():
    reject("\n\n", "X (x.csv) must hold a table, but the file is empty; export it again")


def test_field_beyond_all_measure():
    with pytest.raises(
        InputError, match=r"^X \(x.csv\) must be a table of text, but line 1 cannot"
    ):
        read('a,"b\n' + "1,2\n" * 50_000)


@pytest.mark.parametrize(
    ("text", "separator"),
    [("a\tb,c\n", "\t"), ("a,b,c\n", ","), ("a;b;c\n", ";"), ("a\n", "\t"), ("", "\t")],
)
def test_find_separator(text, separator):
    assert find_separator(text) == separator


def test_both_readers_agree():
    values = np.random.default_rng(0).normal(size=(40, 5))
    rows = "".join(
        f"s{row}," + ",".join(map(repr, line.tolist())) + "\n" for row, line in enumerate(values)
    )
    fast = read("sample,a,b,c,d,e\n" + rows)
    careful = read("sample,a,b,c,d,e,f\n" + rows.replace("\n", ",true\n"))
    np.testing.assert_array_equal(fast.values, values)
    np.testing.assert_array_equal(careful.values[:, :5], values)
    assert fast.samples == careful.samples


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
