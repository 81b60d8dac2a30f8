"""The test of few samples: exact with normal errors, whatever the outputs share."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rinn.data.least_squares import regress
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.structure.effects import estimate_effects
from rinn.structure.regression import Sample, resample_residuals
from rinn.structure.support import RotationTest, make_set_test

SAMPLES, INPUTS, OUTPUTS = 15, 4, 12
NOTHING = np.zeros((0, SAMPLES))


def draw_knock_downs():
    """Three controls, then two to three arrays for each of four knock-downs."""
    x = np.zeros((INPUTS, SAMPLES))
    for row in range(INPUTS):
        x[row, 3 * row + 3 : 3 * row + 6] = 1.0
    return x


def draw_outputs(rng):
    """Outputs that share most of their noise."""
    shared = rng.normal(size=(2, SAMPLES))
    return rng.normal(size=(OUTPUTS, 2)) @ shared + 0.5 * rng.normal(size=(OUTPUTS, SAMPLES))


def test_p_values_of_noise_are_uniform():
    rng, x = np.random.default_rng(0), draw_knock_downs()
    p = [
        RotationTest(x, draw_outputs(rng), NOTHING).find_p(number % INPUTS, range(OUTPUTS))
        for number in range(150)
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) < 0.05) < 0.1


def test_one_output_is_the_t_test():
    rng, x = np.random.default_rng(1), draw_knock_downs()
    y = draw_outputs(rng)[:1] + 0.8 * x[1]
    design = np.vstack([np.ones(SAMPLES), x]).T
    slopes, inverse = regress(design, y.T)
    free = SAMPLES - INPUTS - 1
    variance = ((y.T - design @ slopes) ** 2).sum() / free
    t = float(slopes[2, 0] / np.sqrt(inverse[2, 2] * variance))
    expected = 2 * stats.t.sf(abs(t), free)
    assert RotationTest(x, y, NOTHING).find_p(1, [0]) == pytest.approx(expected, abs=0.01)


def test_a_clear_effect_passes_where_no_permutation_could():
    rng, x = np.random.default_rng(2), draw_knock_downs()
    y = draw_outputs(rng) + 9.0 * x[2]
    test = RotationTest(x, y, NOTHING)
    assert test.find_p(2, range(OUTPUTS)) < 0.01 / INPUTS
    assert test.find_p(0, range(OUTPUTS)) > 0.01
    assert test.find_p(2, []) == 1.0


def test_what_covariates_explain_is_no_effect():
    rng, x = np.random.default_rng(3), draw_knock_downs()
    batch = np.arange(SAMPLES) % 2 - 0.5
    y = draw_outputs(rng) + 50.0 * batch
    alone = RotationTest(x, y - y.mean(axis=1, keepdims=True), batch[None])
    assert alone.find_p(1, range(OUTPUTS)) > 0.01
    y = y + 9.0 * x[1]
    assert RotationTest(x, y, batch[None]).find_p(1, range(OUTPUTS)) < 0.01 / INPUTS


def test_residuals_are_drawn_anew_and_the_design_stays():
    rng, x = np.random.default_rng(4), draw_knock_downs().T
    x = x - x.mean(axis=0)
    y = x @ rng.normal(size=(INPUTS, OUTPUTS)) + rng.normal(size=(SAMPLES, OUTPUTS))
    y = y - y.mean(axis=0)
    sample = Sample(x, y, None, 0, tuple((i,) for i in range(INPUTS)))
    drawn = [resample_residuals(sample, rng) for _ in range(400)]
    assert all(one.x is x for one in drawn)
    slopes = np.array([regress(one.x, one.y)[0] for one in drawn])
    expected, inverse = regress(x, y)
    free = SAMPLES - 1 - INPUTS
    variance = ((y - x @ expected) ** 2).sum(axis=0) / free
    errors = np.sqrt(np.outer(np.diag(inverse), variance))
    assert (np.abs(slopes.mean(axis=0) - expected) < 5 * errors / np.sqrt(400)).all()
    assert np.median(slopes.std(axis=0) / errors) == pytest.approx(1.0, abs=0.1)


def test_nothing_passes_where_no_sample_is_left():
    rng, x = np.random.default_rng(5), draw_knock_downs()
    fixed = rng.normal(size=(SAMPLES - INPUTS - 1, SAMPLES))
    for used in (len(fixed), len(fixed) + 1):
        test = RotationTest(x, draw_outputs(rng), rng.normal(size=(used, SAMPLES)))
        assert all(test.find_p(row, range(OUTPUTS)) > 0.9 for row in range(INPUTS))
    constant = np.tile(rng.normal(size=(OUTPUTS, 1)), SAMPLES)
    assert RotationTest(x, constant, NOTHING).find_p(0, range(OUTPUTS)) == 1.0


def test_without_controls_an_input_is_compared_with_the_mean_of_all():
    rng, x = np.random.default_rng(6), np.kron(np.eye(INPUTS), np.ones(4))
    noise = rng.normal(size=(OUTPUTS, 4 * INPUTS))
    test = RotationTest(x, noise + 9.0 * x[2], np.zeros((0, 4 * INPUTS)))
    assert test.find_p(2, range(OUTPUTS)) < 0.01 / INPUTS
    p = [
        RotationTest(x, rng.normal(size=noise.shape), x[:0]).find_p(row % INPUTS, range(OUTPUTS))
        for row in range(200)
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("tested", [(0, 0), (500, 0), (20, 10 * OUTPUTS)])
def test_a_clear_effect_can_pass_after_a_screening(tested):
    rng, x = np.random.default_rng(7), draw_knock_downs()
    names = tuple("abcd"), tuple(f"g{o}" for o in range(OUTPUTS))
    problem = make_problem(Data(x.T, (draw_outputs(rng) + 30.0 * x[2]).T, *names))
    test = make_set_test(replace(problem, tested=tested))
    level = 0.01 / max(tested[0], INPUTS) / max(tested[1] / OUTPUTS, 1)
    assert test.find_p(2, range(OUTPUTS)) <= level


def test_covariates_take_no_freedom_from_new_residuals():
    rng, x = np.random.default_rng(8), draw_knock_downs().T
    x, y = x - x.mean(axis=0), rng.normal(size=(SAMPLES, OUTPUTS))
    owners = tuple((i,) for i in range(INPUTS))
    sample = Sample(x, y - y.mean(axis=0), None, 3, owners)
    fitted = x @ regress(x, sample.y)[0]
    drawn = [resample_residuals(sample, rng) for _ in range(400)]
    variance = np.mean([((one.y - fitted).var(axis=0, ddof=1)) for one in drawn], axis=0)
    expected = ((sample.y - fitted) ** 2).sum(axis=0) / (SAMPLES - 1 - INPUTS - 3)
    np.testing.assert_allclose(variance, expected, rtol=0.1)
    assert {one.covariates for one in drawn} == {0}


def test_rows_are_resampled_where_samples_are_held_out():
    rng = np.random.default_rng(9)
    for samples, is_small in ((49, True), (52, False)):
        x, y = rng.normal(size=(samples, 2)), rng.normal(size=(samples, 3))
        problem = make_problem(Data(x, y, ("a", "b"), ("u", "v", "w")))
        assert estimate_effects(problem).sample.is_small == is_small
