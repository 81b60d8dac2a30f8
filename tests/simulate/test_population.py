"""What tumours are drawn from: frequencies, blocks, prevalences."""

import numpy as np
import pytest
from scipy.special import expit

from rinn.simulate.tumours import (
    BLOCKS,
    DEGS,
    FRACTIONS,
    RARE,
    SCATTER,
    SGAS,
    TOP,
    TOP_FREQUENCIES,
    draw_population,
    sample_tumours,
)


@pytest.fixture(scope="module")
def population():
    return draw_population(np.random.default_rng(0))


def test_shapes(population):
    assert population.sga_rates.shape == (len(FRACTIONS), SGAS)
    assert population.block_rates.shape == (len(FRACTIONS), len(BLOCKS))
    assert population.deg_logits.shape == (len(FRACTIONS), DEGS)
    for name in ("frequencies", "block", "positions", "follows"):
        assert getattr(population, name).shape == (SGAS,)
    assert (population.sga_rates > 0).all()


def test_same_seed_same_population(population):
    again, other = (draw_population(np.random.default_rng(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(again.deg_logits, population.deg_logits)
    assert not np.array_equal(other.deg_logits, population.deg_logits)


def test_frequencies_are_the_published_ones(population):
    ordered = np.sort(population.frequencies)[::-1]
    np.testing.assert_array_equal(ordered[: len(TOP_FREQUENCIES)], TOP_FREQUENCIES)
    assert np.median(ordered) == pytest.approx(0.014, abs=0.001)
    assert ordered.mean() == pytest.approx(0.0239, abs=0.0005)


def test_blocks_are_whole_adjacent_and_of_like_genes(population):
    ranks = np.argsort(np.argsort(population.frequencies, kind="stable"), kind="stable")
    for number, size in enumerate(BLOCKS):
        genes = np.flatnonzero(population.block == number)
        assert len(genes) == genes[-1] - genes[0] + 1 == size
        assert np.ptp(population.frequencies[genes]) < 0.05
    of_blocks = ranks[population.block >= 0]
    assert of_blocks.min() >= RARE
    assert of_blocks.max() < SGAS - TOP


def test_tumours_have_the_frequencies():
    found, wanted = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        wanted.append(draw_population(np.random.default_rng(seed).spawn(4)[0]).frequencies)
        found.append(sample_tumours(rng, 5000).x.mean().to_numpy())
    ratio = np.sum(found, axis=0) / np.sum(wanted, axis=0)
    assert np.mean(ratio) == pytest.approx(1, abs=0.05)


def test_degs_have_their_prevalence(population):
    scatter = np.random.default_rng(0).standard_normal((2000, 1, len(population.deg_loadings)))
    chances = expit(population.deg_logits + SCATTER * scatter @ population.deg_loadings)
    prevalences = np.sort(FRACTIONS @ chances.mean(axis=0))
    assert prevalences[[0, -1]] == pytest.approx([0.17, 0.69], abs=0.03)
    assert np.median(prevalences) == pytest.approx(0.398, abs=0.03)
