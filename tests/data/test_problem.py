import numpy as np
import pytest

from networks import small_data
from rinn.data.problem import make_problem, weigh_observed
from rinn.data.records import Data
from rinn.errors import InputError


def test_splits_are_those_of_the_appendix():
    problem = make_problem(small_data(samples=1000))
    first, second = problem.splits
    assert [len(problem.test), len(first.validation), len(first.train)] == [100, 150, 750]
    everything = np.concatenate([problem.test, first.validation, first.train])
    assert sorted(everything) == list(range(1000))
    assert not set(first.validation) & set(second.validation)
    assert set(first.train) | set(first.validation) == set(second.train) | set(second.validation)


def test_scales_know_no_test_sample():
    data = small_data(samples=300)
    problem = make_problem(data)
    data.y[problem.test] = 1e6  # would move every mean and spread
    again = make_problem(data)
    np.testing.assert_array_equal(again.y_scale.mean, problem.y_scale.mean)
    np.testing.assert_array_equal(again.y_scale.std, problem.y_scale.std)


def test_continuous_columns_are_standardised_and_binary_ones_left_alone():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.random(500) < 0.3, 1000 + 50 * rng.normal(size=500)]).astype(float)
    problem = make_problem(Data(x, 7 + 3 * rng.normal(size=(500, 1)), ("a", "b"), ("c",)))
    rest = np.concatenate([problem.splits[0].train, problem.splits[0].validation])
    assert set(np.unique(problem.x[0])) == {0.0, 1.0}
    assert problem.x[1, rest].mean() == pytest.approx(0, abs=1e-4)
    assert problem.x[1, rest].std() == pytest.approx(1, abs=1e-4)
    assert problem.y[0, rest].std() == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(problem.y_scale.undo(problem.y.T), problem.y_scale.undo(problem.y.T))


def test_scale_can_be_undone():
    data = small_data()
    problem = make_problem(data)
    np.testing.assert_allclose(problem.y_scale.undo(problem.y.T), data.y, atol=1e-5)


def test_loss_follows_the_outputs():
    assert make_problem(small_data(binary=True)).loss == "bce"
    assert make_problem(small_data()).loss == "mse"
    assert make_problem(small_data(binary=True), loss="mse").loss == "mse"


def test_cross_entropy_of_continuous_outputs():
    with pytest.raises(InputError, match="got 'bce' but Y holds values other than 0 and 1"):
        make_problem(small_data(), loss="bce")


def test_outputs_of_several_kinds_are_standardised():
    data = small_data()
    data.y[:, 0] = data.y[:, 0] > 0
    problem = make_problem(data)
    assert problem.loss == "mixed"
    assert problem.likelihood.kinds[:2] == ("binary", "number")
    np.testing.assert_allclose(problem.y[:, problem.seen].mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(problem.y[:, problem.seen].std(axis=1), 1, atol=1e-6)
    assert make_problem(data, loss="mse").loss == "mse"


def test_missing_outputs_are_zero_and_unknown():
    data = small_data(samples=300)
    whole = make_problem(data)
    data.y[::3, 0] = np.nan
    problem = make_problem(data)
    assert whole.observed is None
    assert (problem.observed == ~np.isnan(data.y.T)).all()
    assert (problem.y[0, ::3] == 0).all()
    assert (problem.y[1:] == whole.y[1:]).all()
    seen = problem.observed[0] & np.isin(np.arange(300), problem.seen)
    assert problem.y_scale.mean[0] == pytest.approx(data.y[seen, 0].mean())
    assert problem.y[0, seen].std() == pytest.approx(1, abs=1e-6)


def test_known_values_count_the_same():
    data = small_data(samples=300)
    assert weigh_observed(make_problem(data), np.arange(300)) == 1
    data.y[::3, 0] = np.nan
    problem = make_problem(data)
    weight = weigh_observed(problem, np.arange(300))
    assert weight.mean() == pytest.approx(1)
    assert (weight[~problem.observed] == 0).all()
    assert np.ptp(weight[problem.observed]) == 0


def test_the_price_does_not_see_missing_values():
    data = small_data(samples=300)
    before = make_problem(data).max_l1
    data.y[::3] = np.nan
    half = make_problem(data)
    x, y = half.x[:, half.seen], half.y[:, half.seen]
    known = half.observed[0, half.seen]
    x = (x - x.mean(axis=1, keepdims=True))[:, known]
    slopes = 2 * np.abs(x @ y[:, known].T) / known.sum() / len(y)
    assert half.max_l1 == pytest.approx(slopes.max(), rel=1e-5)
    assert half.max_l1 == pytest.approx(before, rel=0.3)


@pytest.mark.parametrize("floor", [0.0, 0.7, -9.9658])
def test_column_constant_outside_the_test_set(floor):
    data = small_data(samples=300)
    problem = make_problem(data)
    data.y[:, 0] = floor
    data.y[problem.test[0], 0] = floor + 5.0
    again = make_problem(data, loss="mse")
    assert np.abs(again.y[0]).max() == pytest.approx(5.0)
    assert not np.delete(again.y[0], problem.test).any()


def test_price_is_where_a_linear_network_stays_at_zero():
    """Above that rate the L1 subgradient outweighs every slope of the loss; below it does not."""
    for binary in (False, True):
        problem = make_problem(small_data(binary=binary, samples=400))
        rows = np.concatenate([problem.splits[0].train, problem.splits[0].validation])
        x, y = problem.x[:, rows].astype(float), problem.y[:, rows].astype(float)
        base = y.mean(axis=1, keepdims=True)  # the best prediction without weights
        factor = 1.0 if binary else 2.0
        slopes = factor * np.abs((y - base) @ x.T) / y.size
        assert problem.max_l1 == pytest.approx(slopes.max(), rel=1e-5)


def test_same_seed_same_splits():
    data = small_data()
    for seed in (0, 1):
        one, two = make_problem(data, seed=seed), make_problem(data, seed=seed)
        np.testing.assert_array_equal(one.test, two.test)
    assert (make_problem(data, seed=0).test != make_problem(data, seed=1).test).any()
