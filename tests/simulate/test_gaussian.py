import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.simulate.gaussian import sample_gaussian
from rinn.simulate.graphs import paper_graph


def chain():
    graph = nx.DiGraph()
    for node, role in (("x0", "input"), ("h0", "latent"), ("y0", "output")):
        graph.add_node(node, role=role)
    nx.add_path(graph, ["x0", "h0", "y0"])
    return graph


def test_without_noise_below_the_weights_multiply_along_the_chain():
    sampled = sample_gaussian(
        np.random.default_rng(0), chain(), 50_000, noise=(2, 2), weight=(1, 1)
    )
    slope = sampled.graph["x0"]["h0"]["weight"] * sampled.graph["h0"]["y0"]["weight"]
    x, y = sampled.x[:, 0], sampled.y[:, 0]
    assert abs(slope) == 1
    assert np.cov(x, y)[0, 1] / x.var() == pytest.approx(slope, abs=0.03)
    assert y.var() == pytest.approx(6, rel=0.03)  # three noises of variance 2


def test_drawn_equations_lie_in_their_ranges():
    truth = sample_gaussian(np.random.default_rng(0), paper_graph(), 2).graph
    sizes = np.array([weight for _, _, weight in truth.edges(data="weight")])
    variances = np.array([variance for _, variance in truth.nodes(data="variance")])
    assert ((np.abs(sizes) >= 0.5) & (np.abs(sizes) <= 1.5)).all()
    assert (sizes > 0).any()
    assert (sizes < 0).any()
    assert ((variances >= 1) & (variances <= 3)).all()


def test_inputs_have_their_drawn_variance():
    sampled = sample_gaussian(np.random.default_rng(3), paper_graph(), 40_000)
    drawn = [sampled.graph.nodes[f"x{i}"]["variance"] for i in range(16)]
    np.testing.assert_allclose(sampled.x.var(axis=0), drawn, rtol=0.05)


def test_ranges_are_checked():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"noise must be two numbers .* got \(3, 1\)"):
        sample_gaussian(rng, paper_graph(), 3, noise=(3, 1))
    with pytest.raises(InputError, match=r"weight must be two numbers .* got \(0, 1\)"):
        sample_gaussian(rng, paper_graph(), 3, weight=(0, 1))
