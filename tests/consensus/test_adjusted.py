from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from rinn.confounding import CovariateTable, code_covariates
from rinn.consensus import regress_effects
from rinn.consensus.adjusted import find_adjusted_errors, find_basis, find_variances, project
from rinn.problem import make_problem
from rinn.records import Data


def confounded(seed, *, binary, samples=1500, inputs=20, outputs=10):
    """Inputs and outputs that depend on five tissues and on nothing else."""
    rng = np.random.default_rng(seed)
    tissue = rng.integers(5, size=samples)
    x = (rng.random((samples, inputs)) < rng.beta(0.5, 0.8, (5, inputs))[tissue]).astype(float)
    levels = rng.normal(size=(5, outputs)) * 2
    if binary:
        y = (rng.random((samples, outputs)) < expit(levels[tissue])).astype(float)
    else:
        noise = rng.uniform(0.2, 2, (5, outputs))[tissue]
        y = levels[tissue] + noise * rng.normal(size=(samples, outputs))
    words = np.array([f"t{k}" for k in tissue], dtype=object)
    coded, _ = code_covariates(CovariateTable({"tissue": words}))
    names = [tuple(f"{c}{i}" for i in range(n)) for c, n in (("x", inputs), ("y", outputs))]
    return Data(x, y, *names, covariates=coded)


@pytest.mark.parametrize("binary", [False, True])
def test_regressed_effects_of_nothing_are_standard_normal(binary):
    found = []
    for seed in range(6):
        data = confounded(seed, binary=binary)
        found.append(regress_effects(make_problem(data)).all.ravel())
    found = np.concatenate(found)
    assert found.std() == pytest.approx(1, abs=0.06)
    assert (np.abs(found) > 3).mean() < 0.008
    bare = make_problem(replace(data, covariates=None))
    assert regress_effects(bare).all.std() > 1.5


@pytest.mark.parametrize("binary", [False, True])
def test_errors_of_networks_are_those_of_their_first_step(binary):
    """What a linear network would find, sum x r / sum w x^2, scatters as the errors say."""
    scores = []
    for seed in range(20):
        problem = make_problem(confounded(seed, binary=binary))
        rows = np.sort(problem.splits[0].train)
        adjustment = problem.adjustment
        x = problem.x[:, rows].astype(float)
        expected = adjustment.expected[0][:, rows]
        weight = expected * (1 - expected) if binary else np.ones_like(expected)
        left = problem.y[:, rows] - expected
        mean = (x @ weight.T) / weight.sum(axis=1)
        moments = x**2 @ weight.T - mean**2 * weight.sum(axis=1)
        slope = (x @ left.T) / moments * x.std(axis=1)[:, None]
        scores.append(slope / find_adjusted_errors(problem, adjustment, rows))
    assert np.std(scores) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("binary", [False, True])
def test_covariates_that_do_nothing_leave_the_usual_error(binary):
    rng = np.random.default_rng(5)
    x = (rng.random((4000, 6)) < 0.4).astype(float)
    y = rng.normal(size=(4000, 4))
    y = (y > 0.3).astype(float) if binary else y
    words = np.array([f"t{k}" for k in rng.integers(3, size=4000)], dtype=object)
    coded, _ = code_covariates(CovariateTable({"tissue": words}))
    data = Data(x, y, tuple("abcdef"), tuple("ghij"), covariates=coded)
    problem = make_problem(data)
    rows = problem.seen
    share = problem.y[:, rows].mean(axis=1)
    usual = 1 / np.sqrt(len(rows) * (share * (1 - share) if binary else np.ones(4)))
    found = find_adjusted_errors(problem, problem.adjustment, rows)
    np.testing.assert_allclose(found, np.broadcast_to(usual, (6, 4)), rtol=0.03)


def test_an_input_that_is_the_tissue_has_no_effect_of_its_own():
    data = confounded(7, binary=True)
    tissue = data.covariates.numbers[:, 0]
    x = np.column_stack([tissue, data.x[:, 1:]])
    same = Data(x, data.y, data.inputs, data.outputs, covariates=data.covariates)
    problem = make_problem(same)
    effects = regress_effects(problem)
    assert np.isfinite(effects.all).all()
    assert np.abs(effects.all[0]).max() < 1e-3
    errors = find_adjusted_errors(problem, problem.adjustment, problem.seen)
    assert np.isfinite(errors).all()
    assert (errors > 0).all()


def test_variances_are_above_zero_and_those_of_levels():
    problem = make_problem(confounded(8, binary=False))
    rows = np.sort(problem.seen)
    found = find_variances(problem, problem.adjustment, rows)
    assert (found > 0).all()
    first = problem.adjustment.design[0, rows] == 1
    left = (problem.y[:, rows] - problem.adjustment.expected.mean(axis=0)[:, rows])[:, first]
    np.testing.assert_allclose(found[:, first][:, 0], (left**2).mean(axis=1), rtol=1e-4)


def test_repeated_covariates_add_no_direction():
    design = np.array([[0.0, 1, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1]])
    assert find_basis(design).shape == (4, 1)
    values = np.array([[1.0, -1, 1, -1]])
    np.testing.assert_allclose(project(design, values), values)
