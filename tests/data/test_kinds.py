import gzip

import numpy as np
import pandas as pd
import pytest

from networks import mixed_data, small_data
from rinn.data.kinds import check_kinds, describe_outputs, find_kinds, load_kinds
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.errors import InputError


def make_data(columns, kinds=()):
    y = np.array(columns, float).T
    names = tuple(f"y{n}" for n in range(y.shape[1]))
    return Data(y, y, tuple(f"x{n}" for n in range(y.shape[1])), names, kinds=kinds)


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ([[0, 1], [1, 1]], ("binary", "binary")),
        ([[0, 1, 2, 3], [1, 2, 0, 1]], ("number", "number")),
        ([[0, 1, 2, 3], [1, 1, 0, 1]], ("number", "number")),  # counts, one of them small
        ([[0.5, 1], [-1, 1]], ("number", "number")),
        ([[0, 1, 0], [0.5, 1, 2]], ("binary", "number")),
        ([[0, np.nan, 1], [0.5, 1, np.nan]], ("binary", "number")),
    ],
)
def test_kinds_of_values(columns, kinds):
    assert find_kinds(make_data(columns), "auto") == kinds


def test_kinds_that_are_named_count_before_values():
    columns = [[0, 1, 0], [3, 0, 7], [0, 1, 1]]
    told = (("y1", "count"), ("y2", "number"))
    assert find_kinds(make_data(columns, told), "auto") == ("binary", "count", "number")
    assert find_kinds(make_data([[0, 4], [0, 1]]), "poisson") == ("count", "count")


@pytest.mark.parametrize(
    ("columns", "told", "loss", "said"),
    [
        ([[0, 2]], (("y0", "binary"),), "auto", "'y0' is said to be binary, which is 0 and 1, "),
        (
            [[0, 2.5]],
            (("y0", "count"),),
            "auto",
            "numbers from 0, and holds 2.5; correct its",
        ),
        ([[0, -1]], (("y0", "count"),), "auto", "and holds -1"),
        ([[0, 1.5]], (), "poisson", "'poisson' but Y holds values other than whole numbers from 0"),
        ([[0, 1]], (("y0", "count"),), "mse", "loss must be auto where the kinds of outputs are"),
    ],
)
def test_values_that_are_not_of_their_kind(columns, told, loss, said):
    with pytest.raises(InputError) as caught:
        find_kinds(make_data(columns, told), loss)
    assert said in str(caught.value)


def test_kinds_given_in_python():
    series = pd.Series({"a": "count", "b": "binary"})
    assert check_kinds(series, ["a", "b", "c"]) == {"a": "count", "b": "binary"}
    assert check_kinds(None, ["a"]) == {}
    with pytest.raises(
        InputError, match=r"kinds must name outputs, got 'reds'; did you mean 'reads'"
    ):
        check_kinds({"reds": "count"}, ["reads", "age"])
    with pytest.raises(InputError, match=r"one of number, binary, count, got 'counts' for 'a'; d"):
        check_kinds({"a": "counts"}, ["a"])
    with pytest.raises(InputError, match="must be a dictionary or Series"):
        check_kinds(["count"], ["a"])


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_kinds_of_a_file(tmp_path, separator):
    text = "\ufeffkind,note,Output\r\nCount,x,reads\r\n\r\nbinary,,dead\r\n"
    path = tmp_path / "kinds.csv.gz"
    path.write_bytes(gzip.compress(text.replace(",", separator).encode(), mtime=0))
    assert load_kinds(path) == {"reads": "count", "dead": "binary"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must hold a table, but is empty"),
        ("name,kind\na,count\n", "line 1 has 'name', 'kind'"),
        ("output,kind\na\n", "must have 2 fields in each line, but line 2 has 1"),
        ("output,kind\na,count\na,number\n", "must have each output once, but repeats 'a'"),
    ],
)
def test_files_that_are_not_kinds(tmp_path, text, said):
    path = tmp_path / "kinds.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_kinds(path)
    assert said in str(caught.value)


def test_outputs_in_words():
    assert describe_outputs(make_problem(small_data())) is None
    told = describe_outputs(make_problem(mixed_data()))
    assert told["kinds"] == {"number": 1, "binary": 1, "count": 2}
    assert told["sentence"].startswith("Outputs: 1 continuous, 1 of 0 and 1, 2 counted; 1")
    assert "missing by chance" in told["sentence"]
    assert describe_outputs(make_problem(mixed_data(missing=0)))["sentence"].endswith("2 counted.")
