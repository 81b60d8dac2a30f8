import numpy as np
import pytest
from scipy import stats

from networks import small_data
from rinn.data.covariates import CovariateTable, code_covariates
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.structure.support import SetTest, make_set_test


def draw_noise(rng, samples=84, outputs=60, factors=3):
    """Outputs most of whose noise is that of a few factors."""
    shared = rng.normal(size=(samples, factors)) @ rng.normal(size=(factors, outputs))
    return (shared + rng.normal(size=(samples, outputs))).T


def test_p_is_even_where_there_is_nothing_and_the_best_set_is_chosen():
    """The set is the one that the input correlates with best; outputs go together."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(80):
        x = (rng.random((1, 84)) < 0.15).astype(float)
        y = draw_noise(rng)
        r = np.abs(np.corrcoef(x, y)[0, 1:])
        found.append(SetTest(x, y).find_p(0, np.argsort(-r)[:20]))
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_p_of_any_other_set_is_larger():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(1, 84)), draw_noise(rng)
    test = SetTest(x, y)
    order = np.argsort(-np.abs(np.corrcoef(x, y)[0, 1:]))
    assert test.find_p(0, order[:20]) < test.find_p(0, order[10:30])
    assert test.find_p(0, []) == 1


def test_an_effect_on_many_outputs_is_no_chance():
    rng = np.random.default_rng(2)
    x = (rng.random((2, 84)) < 0.3).astype(float)
    y = draw_noise(rng)
    y[:20] += 2 * y.std(axis=1)[:20, None] * x[0]
    test = SetTest(x, y)
    assert test.find_p(0, range(20)) < 1e-4
    assert test.find_p(1, range(20)) > 0.01
    again = SetTest(x, y)
    assert again.find_p(1, range(20)) == test.find_p(1, range(20))  # whatever was asked before


def test_constant_columns_have_no_say():
    rng = np.random.default_rng(3)
    x = np.vstack([np.zeros(50), rng.normal(size=50)])
    y = np.vstack([rng.normal(size=(4, 50)), np.ones(50)])
    test = SetTest(x, y)
    assert test.find_p(0, [0, 1, 4]) > 0.1
    assert np.isfinite(test.find_p(1, [0, 1, 4]))


def test_covariates_are_held_fixed():
    """A tissue that raises both X and twenty outputs is no effect of X."""
    rng = np.random.default_rng(4)
    tissue = rng.integers(2, size=400)
    x = (rng.random((400, 3)) < 0.15 + 0.6 * tissue[:, None]).astype(float)
    y = rng.normal(size=(400, 30))
    y[:, :20] += 1.5 * tissue[:, None]
    words = np.array(["a", "b"], dtype=object)[tissue]
    coded, _ = code_covariates(CovariateTable({"tissue": words}))
    names = tuple(f"x{n}" for n in range(3)), tuple(f"y{n}" for n in range(30))
    bare, held = (
        make_set_test(make_problem(Data(x, y, *names, covariates=z))) for z in (None, coded)
    )
    assert bare.find_p(0, range(20)) < 1e-6
    assert held.find_p(0, range(20)) > 0.01


def test_gaps_are_left_out():
    data = small_data(samples=300)
    whole = make_set_test(make_problem(data)).find_p(0, [0, 1, 2])
    data.y[::5, 1] = np.nan
    some = make_set_test(make_problem(data)).find_p(0, [0, 1, 2])
    assert some == pytest.approx(whole, abs=0.05) or max(some, whole) < 1e-6


def test_an_effect_on_a_single_output_is_no_chance():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 200))
    test = SetTest(x, x[:1] + 0.5 * rng.normal(size=(1, 200)))
    assert test.find_p(0, [0]) < 1e-6
    assert test.find_p(1, [0]) > 0.01


def test_a_clear_effect_on_few_outputs_is_no_chance():
    """With two or three outputs too; of 400 inputs, the level of each is 2.5e-5."""
    rng = np.random.default_rng(6)
    for outputs in (2, 3):
        x = rng.normal(size=(4, 300))
        y = rng.normal(size=(outputs, 300))
        y[0] += 7 / np.sqrt(300) * x[0]  # seven standard errors
        test = SetTest(x, y)
        assert test.find_p(0, [0]) < 1e-6
        assert test.find_p(1, [0]) > 0.001


@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("tails", ["normal", "coins", "heavy", "outlier"])
@pytest.mark.parametrize("carriers", [1, 4, 40])
def test_few_outputs_hold_the_level(carriers, tails, outputs):
    """Also where the one carrier is the one outlier, which happens once in so many samples."""
    rng = np.random.default_rng([carriers, len(tails), outputs])
    found = []
    for _ in range(25):
        x = np.stack([rng.permutation(np.arange(200) < carriers) for _ in range(4)]).astype(float)
        y = {
            "normal": rng.normal(size=(outputs, 200)),
            "coins": rng.random((outputs, 200)) < 0.5,
            "heavy": rng.standard_t(1.5, (outputs, 200)),
            "outlier": rng.normal(size=(outputs, 200)) + 100 * (np.arange(200) == 7),
        }[tails]
        test = SetTest(x, y.astype(float))
        for row in range(4):
            order = np.argsort(-np.abs(np.corrcoef(x[row], y)[0, 1:]))
            found.append(min(test.find_p(row, order[:k]) for k in range(1, outputs + 1)))
    assert np.mean(np.array(found) < 0.01) < 0.06  # a carrier is the outlier in 2 % of the tables
    assert min(found) > 5e-4
