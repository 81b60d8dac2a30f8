"""Edges that could be exchanged for others, on graphs with known answers."""

from dataclasses import replace

import numpy as np
import pytest

from linear_graphs import CHAIN, FORK, draw_rows, draw_structure, find_exact_moments, make_sample
from rinn.structure.regression import estimate_moments
from rinn.structure.reported import find_alternatives


@pytest.mark.parametrize("edges", [CHAIN, FORK])
def test_clear_graphs_have_hardly_an_exchangeable_edge(edges):
    structure, *_ = draw_structure(edges, 2)
    found = find_alternatives(structure, find_exact_moments(structure, 50_000))
    assert len(found) <= 1  # a chain of two latents may be turned where the inputs allow it


def test_an_input_of_two_latents_with_nearly_the_same_outputs_may_be_either_ones():
    """With few samples, which of two parallel latents a weak input acts on is not told."""
    both = [f"{latent} {o}" for latent in "hk" for o in "uvwx"]
    structure, inputs, _ = draw_structure(["a h", "b h", "c k", "d k", "e h", *both, "k y"], 4)
    source, h, k = inputs.index("e"), structure.inputs, structure.inputs + 1
    weights = structure.weights.copy()
    weights[k] = np.where(structure.edges[k], weights[h] + 0.02 * structure.edges[k], 0.0)
    structure = replace(structure, weights=weights)
    few = estimate_moments(make_sample(*draw_rows(structure, 150, 1)))
    found = find_alternatives(structure, few)
    assert found.get((source, h)) == (source, k)
    many = find_alternatives(structure, find_exact_moments(structure, 1_000_000))
    assert (source, h) not in many


def test_an_alternative_has_one_end_in_common_makes_no_cycle_and_costs_no_more():
    for seed in range(5):
        structure, *_ = draw_structure(CHAIN, seed, extra_inputs=2)
        moments = estimate_moments(make_sample(*draw_rows(structure, 60, seed)))
        for (u, v), (s, t) in find_alternatives(structure, moments).items():
            assert (u == s) != (v == t)
            assert not structure.edges[s, t]
            edges = structure.edges.copy()
            edges[u, v], edges[s, t] = False, True
            assert not np.trace(np.linalg.matrix_power(edges.astype(int), len(edges)))
            assert s >= structure.inputs or t < structure.first_output


def test_many_inputs_have_none():
    structure, *_ = draw_structure(CHAIN, 0, extra_inputs=120)
    assert find_alternatives(structure, find_exact_moments(structure)) == {}
