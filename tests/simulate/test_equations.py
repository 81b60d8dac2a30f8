import networkx as nx
import numpy as np
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import by_role, reach
from rinn.simulate.equations import CURVES, SHAPES, sample_curved, sample_gaussian, sample_mixed
from rinn.simulate.graphs import make_random_graph, paper_graph


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


def correlate(x, y):
    return np.corrcoef(x.T, y.T)[: x.shape[1], x.shape[1] :]


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_mean_0_and_variance_1(name):
    values = SHAPES[name](np.random.default_rng(0).standard_normal(200_000))
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.01


@pytest.mark.parametrize("sample", [sample_curved, sample_mixed])
@pytest.mark.parametrize("levels", [1, 2])
def test_effects_show_where_the_graph_has_them_and_nowhere_else(sample, levels):
    rng = np.random.default_rng(1)
    graph = make_random_graph(rng, 14, 16, levels=levels, latents=4)
    sampled = sample(rng, graph, 5000)
    reached = reach(graph)
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    true = np.array([[output in reached[name] for output in outputs] for name in inputs])
    size = np.abs(correlate(sampled.x, sampled.y)) * np.sqrt(5000)
    assert np.median(size[true]) > 6
    assert (size[true] > 3).mean() > 0.9
    assert size[~true].max() < 4.5


def test_curves_are_not_lines():
    sampled = sample_curved(np.random.default_rng(0), paper_graph(), 3)
    shapes = [shape for _, _, shape in sampled.graph.edges(data="shape")]
    assert set(shapes) == set(CURVES)


def test_mixed_has_lines_and_curves_numbers_and_thresholds():
    sampled = sample_mixed(np.random.default_rng(0), paper_graph(), 2000)
    shapes = [
        {sampled.graph[parent][latent]["shape"] for parent in sampled.graph.predecessors(latent)}
        for latent in by_role(sampled.graph, "latent")
    ]
    assert {"linear"} in shapes
    assert any(not found & {"linear"} for found in shapes)
    binary = np.isin(sampled.y, (0, 1)).all(axis=0)
    assert binary.sum() == 8
    shares = sampled.y[:, binary].mean(axis=0)
    assert 0.25 < shares.min() < shares.max() < 0.75


def test_numbers_out_of_range():
    with pytest.raises(InputError, match="weight must be two numbers"):
        sample_curved(np.random.default_rng(0), paper_graph(), 3, weight=(0, 1))
    with pytest.raises(InputError, match="correlated must be a number of at least 0 and below 1"):
        sample_mixed(np.random.default_rng(0), paper_graph(), 3, correlated=1)
