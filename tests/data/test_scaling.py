import numpy as np
import pytest

from rinn.data.align import as_data
from rinn.data.covariates import code_covariates, make_covariates
from rinn.data.problem import make_problem
from rinn.data.scaling import check_range, fit_standardizer
from rinn.errors import InputError

X = np.random.default_rng(0).integers(0, 2, (60, 2)).astype(float)
Y = np.random.default_rng(1).normal(size=(60, 2))


@pytest.mark.parametrize("size", [1e160, 3e307, 2e30])
def test_values_that_are_too_large_are_refused(size):
    with pytest.raises(InputError, match=r"^Y must have values up to 1e\+30, but column 'y0' has "):
        as_data(X, Y * size)
    with pytest.raises(InputError, match=r"^X must have values up to 1e\+30, but column 'x0' has "):
        as_data(Y * size, X)


@pytest.mark.parametrize("size", [1e-170, 1e-320])
def test_values_that_hardly_differ_are_refused(size):
    message = r"^Y must have values that differ by at least 1e-30, but those of column 'y0' are "
    with pytest.raises(InputError, match=message):
        as_data(X, Y * size)


@pytest.mark.parametrize("size", [1e-300, 1e100])
def test_covariates_out_of_range_are_refused(size):
    table = make_covariates(np.arange(60.0) * size)
    with pytest.raises(InputError, match=r"^covariates must have values .* column 'z0'"):
        code_covariates(table)


@pytest.mark.parametrize("size", [1e-29, 1e29])
def test_values_within_the_range_are_scaled_as_others_are(size):
    expected = make_problem(as_data(X, Y))
    found = make_problem(as_data(X, Y * size))
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-5, atol=1e-6)


def test_missing_values_do_not_count():
    check_range(np.array([[np.nan, 1.0], [np.nan, np.nan], [2.0, 3.0]]), ["a", "b"], "Y")


def test_scale_of_a_column_without_values_and_of_a_constant_one():
    scale = fit_standardizer(np.array([[np.nan, 5.0], [np.nan, 5.0]]))
    assert scale.mean.tolist() == [0.0, 5.0]
    assert scale.std.tolist() == [1.0, 1.0]
