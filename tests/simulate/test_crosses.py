"""Crosses: linkage as in yeast, hotspots and single loci, and what they explain."""

import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.simulate.crosses import CHROMOSOMES, CM_PER_KB, draw_genotypes, place_markers
from rinn.simulate.datasets import make_dataset


def test_neighbours_are_linked_and_chromosomes_are_not():
    chromosome, place = place_markers(1200)  # 10 kb apart
    assert np.bincount(chromosome).tolist() == pytest.approx(np.array(CHROMOSOMES) / 10.06, abs=1.1)
    x = draw_genotypes(np.random.default_rng(0), chromosome, place, 4000)
    assert x.mean() == pytest.approx(0.5, abs=0.01)
    same = np.flatnonzero(np.diff(chromosome) == 0)
    changes = (x[:, same] != x[:, same + 1]).mean()
    assert changes == pytest.approx((1 - np.exp(-2 * 10.06 * CM_PER_KB / 100)) / 2, rel=0.02)
    ends = np.flatnonzero(np.diff(chromosome))
    assert (x[:, ends] != x[:, ends + 1]).mean() == pytest.approx(0.5, abs=0.01)


def test_more_offspring_begin_with_the_same():
    few, many = (make_dataset("cross", samples=n, markers=100) for n in (5, 2000))
    assert (few.x == many.x.iloc[:5]).all(axis=None)
    assert np.allclose(few.y, many.y.iloc[:5])


def test_the_graph_has_the_hotspots_and_loci_that_were_asked_for():
    cross = make_dataset(
        "cross", samples=3, markers=600, outputs=40, hotspots=3, shared=1, local=10
    )
    truth = cross.truth
    latents = by_role(truth, "latent")
    assert [truth.in_degree(name) for name in latents] == [2, 1, 1]
    assert all(4 <= truth.out_degree(name) <= 10 for name in latents)
    direct = [(a, b) for a, b in truth.edges if a.startswith("chr") and b.startswith("t")]
    assert len(direct) == 10
    assert len({b for _, b in direct}) == 10
    acting = [a for a in by_role(truth, "input") if truth.out_degree(a)]
    assert len(acting) <= 14  # of 600
    assert nx.is_directed_acyclic_graph(truth)


def test_an_effect_explains_the_fraction_that_was_asked_for():
    cross = make_dataset(
        "cross", samples=20_000, markers=50, outputs=60, hotspots=1, shared=0, local=0,
        explained=0.5,
    )  # fmt: skip
    (latent,) = by_role(cross.truth, "latent")
    (locus,) = cross.truth.predecessors(latent)
    weight = cross.truth.edges[locus, latent]["weight"]
    for output, edge in cross.truth.succ[latent].items():
        size = (weight * edge["weight"]) ** 2  # against 1 of a mean effect
        r = np.corrcoef(cross.x[locus], cross.y[output])[0, 1]
        assert r**2 == pytest.approx(size / (size + 1), abs=0.02)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"markers": 3}, "markers must be a whole number from 16"),
        ({"markers": 50_000}, "markers must be at least 1 kb apart, but 50000 are not"),
        ({"shared": 9}, "shared must be a whole number from 0 to 6, got 9"),
        ({"local": 999}, "local must be a whole number from 0 to 200, got 999"),
        ({"explained": 0}, "explained must be a number above 0"),
        ({"hotspots": 400, "shared": 0}, "must leave 150 kb between their loci"),
    ],
)
def test_crosses_that_cannot_be_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        make_dataset("cross", samples=2, **given)
