import numpy as np
import pytest

from linear_graphs import CHAIN, DIRECT, FORK, GRAPHS, ORPHAN, draw_structure, find_exact_moments
from rinn.structure.moves import (
    bypass_latent,
    contract_latent,
    insert_latent,
    is_acyclic,
    merge_latents,
    pool_edges,
    propose_targets,
    remove_latent,
    remove_unreached,
    set_edges,
    split_latent,
)

EVERY = {**GRAPHS, "orphan": ORPHAN}


def find_effects(structure):
    return structure.totals[: structure.inputs, structure.first_output :]


def check(structure):
    assert is_acyclic(structure)
    size = structure.inputs + structure.latents + structure.outputs
    assert structure.edges.shape == structure.weights.shape == (size, size)
    assert len(structure.noise) == structure.latents + structure.outputs
    assert (structure.weights[~structure.edges] == 0).all()
    assert not structure.edges[:, : structure.inputs].any()
    assert not structure.edges[structure.first_output :].any()


@pytest.mark.parametrize("edges", EVERY.values(), ids=EVERY)
def test_a_contracted_latent_leaves_all_effects(edges):
    structure, *_ = draw_structure(edges)
    before = structure.weights.copy(), structure.edges.copy()
    for node in structure.latent_nodes:
        found = contract_latent(structure, node)
        check(found)
        assert found.latents == structure.latents - 1
        np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)
    np.testing.assert_array_equal(structure.weights, before[0])
    np.testing.assert_array_equal(structure.edges, before[1])


@pytest.mark.parametrize("edges", EVERY.values(), ids=EVERY)
def test_a_bypassed_latent_leaves_all_effects(edges):
    structure, *_ = draw_structure(edges)
    for node in structure.latent_nodes:
        for child in np.flatnonzero(structure.edges[node]):
            found = bypass_latent(structure, node, child)
            check(found)
            assert not found.edges[node, child]
            assert found.latents == structure.latents
            np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)


def test_a_removed_latent_takes_its_paths_with_it():
    structure, *_ = draw_structure(CHAIN)
    found = remove_latent(structure, structure.inputs + 1)  # k
    check(found)
    expected = find_effects(structure).copy()
    expected[:, 3:] = 0
    np.testing.assert_allclose(find_effects(found), expected, atol=1e-12)
    assert found.noise.tolist() == np.delete(structure.noise, 1).tolist()


def test_a_pooled_latent_of_proportional_effects_leaves_them():
    """h with its inputs contracted, and pooled again."""
    structure, *_ = draw_structure(DIRECT)
    flat = contract_latent(structure, structure.inputs)
    children = np.flatnonzero(flat.edges[0])
    found = pool_edges(flat, [0, 1], children)
    check(found)
    assert found.latents == 1
    np.testing.assert_array_equal(found.edges, structure.edges)
    np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)


def test_an_inserted_latent_adds_the_product_of_its_weights():
    structure, *_ = draw_structure(CHAIN)
    first = structure.first_output
    weights_in, weights_out = np.array([2.0, -1.0]), np.array([0.5, 1.0, 3.0])
    found = insert_latent(structure, [0, 3], [first, first + 2, first + 5], weights_in, weights_out)
    check(found)
    expected = find_effects(structure).copy()
    expected[np.ix_([0, 3], [0, 2, 5])] += np.outer(weights_in, weights_out)
    np.testing.assert_allclose(find_effects(found), expected, atol=1e-12)
    again = remove_latent(found, found.first_output - 1)
    np.testing.assert_array_equal(again.edges, structure.edges)
    np.testing.assert_array_equal(again.noise, structure.noise)


def test_a_latent_inserted_between_latents_keeps_their_places():
    structure, *_ = draw_structure(CHAIN)
    h, k = structure.latent_nodes
    bare = set_edges(structure, h, k, None)
    found = insert_latent(bare, [h], [k], np.array([structure.weights[h, k]]), np.ones(1))
    check(found)
    np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)


def test_latents_with_proportional_loadings_merge_without_loss():
    structure, *_ = draw_structure(DIRECT)
    node = structure.inputs
    parts = split_latent(structure, node, np.array([1]))
    check(parts)
    assert parts.latents == 2
    np.testing.assert_allclose(find_effects(parts), find_effects(structure), atol=1e-12)
    kept, other = parts.latent_nodes
    merged = merge_latents(parts, kept, other)
    assert len(merged) == 2
    for found in merged:
        check(found)
        np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)
        np.testing.assert_array_equal(found.edges, structure.edges)


@pytest.mark.parametrize("edges", EVERY.values(), ids=EVERY)
def test_merged_latents_never_make_a_cycle(edges):
    structure, *_ = draw_structure(edges)
    for kept in structure.latent_nodes:
        for other in structure.latent_nodes:
            if kept == other:
                continue
            for found in merge_latents(structure, kept, other):
                check_shape = found.inputs + found.latents + found.outputs
                assert found.latents == structure.latents - 1
                assert len(found.edges) == check_shape
                assert is_acyclic(found)
                reached = found.reach[: found.inputs, found.first_output :]
                before = structure.reach[: structure.inputs, structure.first_output :]
                assert reached.any(axis=1)[before.any(axis=1)].any()


def test_a_merge_around_a_third_latent_is_refused():
    """h -> k -> l: h and l as one would lead to k and back."""
    structure, *_ = draw_structure(["a h", "h k", "k l", "l u", "l v", "h w", "k x"])
    h, _, last = structure.latent_nodes
    for found in (*merge_latents(structure, h, last), *merge_latents(structure, last, h)):
        assert is_acyclic(found)


def test_a_loop_is_no_graph():
    structure, *_ = draw_structure(FORK)
    h, k, _ = structure.latent_nodes
    assert is_acyclic(structure)
    assert not is_acyclic(set_edges(structure, k, h, 1.0))
    assert not is_acyclic(set_edges(structure, h, h, 1.0))


def test_edges_are_set_and_taken_out():
    structure, *_ = draw_structure(CHAIN)
    more = set_edges(structure, 0, structure.first_output, 0.0)
    assert more.edges.sum() == structure.edges.sum() + 1  # an edge may have the weight 0
    less = set_edges(more, 0, structure.first_output, None)
    np.testing.assert_array_equal(less.edges, structure.edges)
    assert more.is_direct.sum() == 1
    assert less.is_direct.sum() == 0


def test_latents_that_no_input_reaches_or_that_reach_no_output_go():
    structure, *_ = draw_structure(["a h", "b h", "h u", "h v", "a i", "i j", "k u", "k l", "l v"])
    found = remove_unreached(structure)
    check(found)
    assert found.latents == 1
    np.testing.assert_allclose(find_effects(found), find_effects(structure), atol=1e-12)


SHARED = ["a h", "b h", "c k", "d k", "e h", "e k"]
SHARED += [f"h {o}" for o in "uvw"] + [f"k {o}" for o in "xyz"]


def find_targets(structure, inputs, name):
    return set(np.flatnonzero(structure.edges[inputs.index(name)]) - structure.inputs)


def test_an_input_of_its_own_latent_is_offered_those_that_explain_it():
    truth, inputs, _ = draw_structure(SHARED)
    outputs = truth.first_output + np.arange(6)
    row = inputs.index("e")
    lonely = insert_latent(truth, [row], outputs, np.ones(1), truth.totals[row, outputs])
    lonely = set_edges(lonely, [row, row], [5, 6], None)
    (found,) = propose_targets(lonely, row, find_exact_moments(truth), 5.0)
    check(found)
    assert find_targets(lonely, inputs, "e") == {2}
    assert find_targets(found, inputs, "e") == {0, 1}


def test_an_input_is_offered_the_parents_of_its_latents():
    edges = ["a i", "b i", "c j", "d j", "i h", "j k", "i z", "j z", "e h", "e k"]
    edges += [f"h {o}" for o in "uv"] + [f"k {o}" for o in "xy"]
    structure, inputs, _ = draw_structure(edges)  # latents h, i, j, k
    proposed = propose_targets(structure, inputs.index("e"), find_exact_moments(structure), 5.0)
    assert [find_targets(one, inputs, "e") for one in proposed] == [{1, 2}]
