from dataclasses import replace

import numpy as np
import pytest

from linear_graphs import (
    CHAIN,
    DIRECT,
    FORK,
    GRAPHS,
    draw_rows,
    draw_structure,
    find_exact_moments,
    make_sample,
)
from rinn.structure.constants import RMSEA
from rinn.structure.moves import set_edges
from rinn.structure.regression import estimate_moments
from rinn.structure.score import Misfit


def shake(structure, seed=1, size=0.2):
    rng = np.random.default_rng(seed)
    weights = structure.weights * np.exp(size * rng.normal(size=structure.weights.shape))
    noise = structure.noise * np.exp(size * rng.normal(size=structure.noise.shape))
    return replace(structure, weights=weights, noise=noise)


def estimate(edges, samples=5000, seed=0, **changes):
    structure, *_ = draw_structure(edges, seed, **changes)
    return structure, estimate_moments(make_sample(*draw_rows(structure, samples, seed)))


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_totals_are_the_inverse(edges):
    structure, *_ = draw_structure(edges)
    expected = np.linalg.inv(np.eye(len(structure.weights)) - structure.weights)
    np.testing.assert_allclose(structure.totals, expected, atol=1e-12)
    np.testing.assert_array_equal(structure.reach, np.abs(expected) > 1e-12)
    first, last = structure.inputs, structure.first_output
    np.testing.assert_allclose(structure.loadings, expected[first:last, last:], atol=1e-12)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_the_truth_has_no_misfit_with_endless_data(edges):
    structure, *_ = draw_structure(edges)
    moments = find_exact_moments(structure)
    for effects_only in (False, True):
        misfit = Misfit(moments, effects_only=effects_only)
        fitted, value = misfit.fit(shake(structure), 60)
        assert value == pytest.approx(0, abs=0.2)
        first, last = structure.inputs, structure.first_output
        np.testing.assert_allclose(fitted.totals[:first, last:], moments.effects, atol=0.01)


def test_the_score_is_the_formula():
    structure, *_ = draw_structure(CHAIN)
    other = shake(structure)
    moments = find_exact_moments(structure, samples=300)
    first, last = other.inputs, other.first_output
    off = moments.effects - other.totals[:first, last:]
    chi2 = 300 * np.trace(off.T @ moments.inputs @ off @ np.linalg.inv(moments.residual))
    below = other.totals[first:, last:]
    implied = below.T @ np.diag(other.noise) @ below
    ratio = np.linalg.slogdet(implied)[1] - np.linalg.slogdet(moments.residual)[1]
    ratio = 300 * (ratio + np.trace(np.linalg.solve(implied, moments.residual)) - other.outputs)
    misfit = Misfit(moments)
    assert misfit.measure_effects(other) == pytest.approx(chi2)
    assert misfit.measure_covariance(other) == pytest.approx(ratio)
    assert misfit.measure(other) == pytest.approx(chi2 + ratio / (1 + (300 * RMSEA**2) ** 2))
    assert Misfit(moments, effects_only=True).measure(other) == pytest.approx(chi2)


@pytest.mark.parametrize("effects_only", [False, True])
@pytest.mark.parametrize("edges", [CHAIN, FORK, DIRECT], ids=["chain", "fork", "direct"])
def test_the_gradient_is_that_of_finite_differences(edges, effects_only):
    structure, moments = estimate(edges, samples=500)
    misfit = Misfit(moments, effects_only=effects_only)
    graph = shake(structure)
    system = misfit.linearise(graph)
    slope, _ = system.system
    sources, targets = system.edges
    step = 1e-5

    def differ(change):
        return (misfit.measure(change(step)) - misfit.measure(change(-step))) / (2 * step)

    def move_edge(u, v):
        return lambda by: set_edges(graph, u, v, graph.weights[u, v] + by)

    def move_noise(place):
        def change(by):
            noise = graph.noise.copy()
            noise[place] *= np.exp(by)
            return replace(graph, noise=noise)

        return change

    moves = [move_edge(u, v) for u, v in zip(sources, targets, strict=True)]
    if not effects_only:
        moves += [move_noise(place) for place in range(len(graph.noise))]
    found = np.array([differ(move) for move in moves])
    np.testing.assert_allclose(slope, found, rtol=1e-4, atol=1e-3 * np.abs(found).max())


@pytest.mark.parametrize("effects_only", [False, True])
def test_the_information_is_the_curvature_at_the_truth(effects_only):
    """With endless data the second derivatives at the truth are the Fisher information."""
    structure, *_ = draw_structure(CHAIN)
    moments = find_exact_moments(structure)
    misfit = Misfit(moments, effects_only=effects_only)
    graph = misfit.fit(structure, 100)[0]
    system = misfit.linearise(graph)
    sources, targets = system.edges
    _, information = system.system
    count = len(sources)

    def move(steps):
        weights, noise = graph.weights.copy(), graph.noise.copy()
        weights[sources, targets] += steps[:count]
        if not effects_only:
            noise = noise * np.exp(steps[count:])
        return replace(graph, weights=weights, noise=noise)

    size, step = len(information), 1e-4
    found = np.zeros((size, size))
    for row in range(size):
        by = np.zeros(size)
        by[row] = step
        up, down = (misfit.linearise(move(sign * by)).system[0] for sign in (1, -1))
        found[row] = (up - down) / (2 * step)
    np.testing.assert_allclose(information, found, atol=0.01 * np.abs(found).max())
    np.testing.assert_allclose(information, information.T, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("effects_only", [False, True])
@pytest.mark.parametrize("edges", [CHAIN, FORK, DIRECT], ids=["chain", "fork", "direct"])
def test_gains_are_those_of_fitting_again(edges, effects_only):
    """Edges with weights of a few standard errors: there the score test is sharp."""
    structure, moments = estimate(edges, samples=500)
    misfit = Misfit(moments, effects_only=effects_only)
    graph, before = misfit.fit(structure, 60)
    allowed = ~graph.edges & ~graph.reach.T
    allowed[:, : graph.inputs] = allowed[graph.first_output :] = False
    (u, v), gains, weights = misfit.linearise(graph).find_gains(allowed, 300)
    best = np.argsort(-gains)[:6]
    for place in best:
        after, value = misfit.fit(set_edges(graph, u[place], v[place], weights[place]), 60)
        assert before - value == pytest.approx(gains[place], rel=0.2, abs=0.3)
        assert after.weights[u[place], v[place]] * weights[place] > 0


@pytest.mark.parametrize("effects_only", [False, True])
@pytest.mark.parametrize("edges", [CHAIN, DIRECT], ids=["chain", "direct"])
def test_losses_are_those_of_fitting_again(edges, effects_only):
    """Of edges that are not needed: there the Wald test is sharp."""
    structure, moments = estimate(edges, samples=500)
    misfit = Misfit(moments, effects_only=effects_only)
    first = structure.first_output
    extra = [(0, first + structure.outputs - 1), (structure.inputs - 1, first)]
    for edge in extra:
        more, before = misfit.fit(set_edges(structure, *edge, 0.01), 60)
        system = misfit.linearise(more)
        loss = system.find_losses()[list(zip(*system.edges, strict=True)).index(edge)]
        after = misfit.fit(set_edges(more, *edge, None), 60)[1]
        assert after - before == pytest.approx(loss, rel=0.2, abs=0.3)


def test_an_edge_that_is_needed_has_a_large_loss():
    structure, moments = estimate(CHAIN)
    misfit = Misfit(moments, effects_only=True)
    system = misfit.linearise(misfit.fit(structure, 60)[0])
    assert system.find_losses().min() > 100


def test_the_chi_square_of_the_truth_is_about_its_degrees_of_freedom():
    found, free = [], 0
    for seed in range(20):
        structure, moments = estimate(CHAIN, seed=seed)
        free = moments.effects.size - int(structure.edges.sum()) + structure.latents
        found.append(Misfit(moments, effects_only=True).fit(structure, 60)[1])
    # The mean of 20 chi-squares with this many degrees of freedom.
    assert np.mean(found) == pytest.approx(free, abs=3.5 * np.sqrt(2 * free / 20))


def test_a_wrong_graph_misfits():
    structure, moments = estimate(CHAIN)
    misfit = Misfit(moments, effects_only=True)
    right = misfit.fit(structure, 60)[1]
    source, target = structure.inputs, structure.inputs + 1  # h -> k
    assert structure.edges[source, target]
    assert misfit.fit(set_edges(structure, source, target, None), 60)[1] > right + 500


def test_effects_only_does_not_read_the_covariance():
    """Only the whitening reads it: other noise in the graph changes nothing."""
    structure, moments = estimate(CHAIN)
    misfit = Misfit(moments, effects_only=True)
    other = replace(structure, noise=structure.noise * 7)
    assert misfit.measure(structure) == misfit.measure(other)
    assert misfit.measure_covariance(structure) == 0
    assert Misfit(moments).measure(structure) != Misfit(moments).measure(other)


def test_fitting_never_raises_the_misfit_and_leaves_the_graph_alone():
    structure, moments = estimate(FORK, samples=300)
    for effects_only in (False, True):
        misfit = Misfit(moments, effects_only=effects_only)
        graph = shake(structure, size=1.0)
        before = graph.weights.copy(), graph.noise.copy()
        fitted, value = misfit.fit(graph)
        assert value <= misfit.measure(graph)
        assert misfit.measure(fitted) == pytest.approx(value, rel=1e-6)
        np.testing.assert_array_equal(fitted.edges, graph.edges)
        np.testing.assert_array_equal(graph.weights, before[0])
        np.testing.assert_array_equal(graph.noise, before[1])
        assert (fitted.noise > 0).all()


def test_latents_have_loadings_of_length_one():
    structure, moments = estimate(FORK)
    fitted = Misfit(moments).fit(structure)[0]
    np.testing.assert_allclose(np.linalg.norm(fitted.loadings, axis=1), 1)
