"""Data of some samples."""

import numpy as np
import pandas as pd
import pytest

from rinn.data.align import as_data
from rinn.data.subsets import find_levels, take_rows
from rinn.errors import InputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    ids = [f"s{n}" for n in range(180)]
    x = pd.DataFrame(rng.integers(0, 2, (180, 3)), ids, ["a", "b", "rare"])
    x["rare"] = [1] * 5 + [0] * 175
    y = pd.DataFrame(rng.normal(size=(180, 2)), ids, ["u", "v"])
    covariates = pd.DataFrame(
        {"cell": ["A", "B", "C"] * 60, "sex": [0, 1] * 90, "age": rng.normal(50, 9, 180)}, ids
    )
    return as_data(x, y, covariates=covariates, kinds={"u": "number"})


def test_all_rows_are_the_data(data):
    same = take_rows(data, np.arange(180))
    for name in ("x", "y"):
        np.testing.assert_array_equal(getattr(same, name), getattr(data, name))
    assert same.covariates.columns == data.covariates.columns
    np.testing.assert_allclose(same.covariates.numbers, data.covariates.numbers)
    assert (same.kinds, same.samples, same.inputs) == (data.kinds, data.samples, data.inputs)


@pytest.mark.parametrize("level", ["A", "B", "C"])
def test_a_level_that_is_gone_has_no_column(data, level):
    rows = np.flatnonzero(find_levels(data.covariates, "cell") != level)
    part = take_rows(data, rows)
    left = sorted({"A", "B", "C"} - {level})
    assert [name for name in part.covariates.columns if name[0] == "cell"] == [("cell", left[1])]
    assert sorted({*find_levels(part.covariates, "cell")}) == left
    assert np.linalg.matrix_rank(np.column_stack([np.ones(120), part.covariates.numbers])) == 4
    np.testing.assert_array_equal(part.y, data.y[rows])


def test_columns_that_no_longer_vary_are_dropped(data):
    part = take_rows(data, np.arange(30, 180))
    assert part.inputs == ("a", "b")
    assert part.samples[0] == "s30"
    one = take_rows(data, np.flatnonzero(find_levels(data.covariates, "sex") == "1"))
    assert one.covariates.names == ("cell", "age")


def test_wrong_covariates(data):
    with pytest.raises(InputError, match="--covariate must be one of the run's covariates, got 'c"):
        find_levels(data.covariates, "cel")
    with pytest.raises(InputError, match="got 'cell'; the run has none"):
        find_levels(None, "cell")
    with pytest.raises(InputError, match="'age' is a number"):
        find_levels(data.covariates, "age")
