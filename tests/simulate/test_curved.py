import numpy as np
import pytest

from rinn.errors import InputError
from rinn.graphs.basics import by_role, reach
from rinn.simulate.curved import CURVES, SHAPES, sample_curved, sample_mixed
from rinn.simulate.graphs import make_random_graph, paper_graph


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
