import re

import numpy as np
import pandas as pd
import pytest

from rinn.data.tables import convert_array, convert_frame
from rinn.errors import InputError


def test_index_gives_ids_unless_default():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert convert_frame(frame, "X", "x").samples is None
    assert convert_frame(frame.iloc[::-1], "X", "x").samples == ("1", "0")
    assert convert_frame(frame.set_index([["s", "t"]]), "X", "x").samples == ("s", "t")


@pytest.mark.parametrize("ids", [["s1", "s2"], pd.Categorical(["s1", "s2"])])
def test_first_column_of_text_gives_ids(ids):
    cells = convert_frame(pd.DataFrame({"who": ids, "a": [1, 2]}), "X", "x")
    assert cells.samples == ("s1", "s2")
    assert cells.columns == ("a",)


def test_first_column_under_an_id_header_gives_ids():
    assert convert_frame(pd.DataFrame({"id": [7, 8], "a": [1, 2]}), "X", "x").samples == ("7", "8")


def test_missing_id_becomes_empty():
    frame = pd.DataFrame({"sample": ["s1", None], "a": [1, 2]})
    assert convert_frame(frame, "X", "x").samples == ("s1", "")


def test_dtypes():
    frame = pd.DataFrame(
        {
            "bool": [True, False],
            "small": np.array([1, 2], dtype=np.int8),
            "half": np.array([0.5, 1.5], dtype=np.float16),
            "nullable": pd.array([1, None], dtype="Int64"),
            "maybe": pd.array([True, None], dtype="boolean"),
            "text": ["TRUE", "0.5"],
            "object": np.array([True, None], dtype=object),
        }
    )
    expected = [[1, 1, 0.5, 1, 1, 1, 1], [0, 2, 1.5, np.nan, np.nan, 0.5, np.nan]]
    np.testing.assert_array_equal(convert_frame(frame, "X", "x").values, expected)


def test_numbered_columns_get_names():
    assert convert_frame(pd.DataFrame(np.eye(2)), "Y", "y").columns == ("y0", "y1")


@pytest.mark.parametrize("cells", [[1 + 2j, 3], ["0", "high"]])
def test_text_is_rejected_with_its_place(cells):
    frame = pd.DataFrame({"a": [1, 2], "b": cells}, index=["s", "t"])
    with pytest.raises(InputError, match=r"^X must hold only numbers in column 'b', but row \d \("):
        convert_frame(frame, "X", "x")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            np.zeros(3),
            "X must be a 2-D array [sample, column], but it has shape (3,); reshape it, with "
            "reshape(-1, 1) for a single column",
        ),
        (
            np.array([["a"]]),
            "X must be an array of numbers, but its dtype is <U1; convert it with astype(float)",
        ),
    ],
)
def test_wrong_arrays(values, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        convert_array(values, "X", "x")


def test_result_shares_no_memory():
    values = np.eye(3)
    frame = pd.DataFrame(values, columns=list("abc"))
    assert not np.shares_memory(convert_array(values, "X", "x").values, values)
    assert not np.shares_memory(convert_frame(frame, "X", "x").values, values)
