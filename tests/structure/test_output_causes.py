import networkx as nx
import numpy as np
import pytest

from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.output_causes import find_output_causes, regress_outputs
from rinn.structure.records import GraphSettings

INPUTS, OUTPUTS = ("a", "b", "c"), ("y0", "y1", "y2", "y3", "z0", "z1")
SENTENCE = (
    "Outputs that may cause outputs: given 'y0', the inputs of L1 have no effect on 'y1', 'y2', "
    "'y3'; L1 may be 'y0' itself."
)


def make_effects(seed, *, latent, rows=2000, missing=0.0):
    """Inputs a and b act on y0 to y3, through y0 or through a latent; c acts on z0 and z1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    cause = x[:, 0] - 0.7 * x[:, 1] + rng.normal(size=rows)
    y = rng.normal(size=(rows, 6))
    y[:, 1:4] += cause[:, None] * [1.0, -0.8, 1.2]
    y[:, 0] = cause + 0.8 * y[:, 0] if latent else cause
    y[:, 4:] += x[:, 2:]
    y[rng.random(y.shape) < missing] = np.nan
    return estimate_effects(make_problem(Data(x, y, INPUTS, OUTPUTS)))


def make_graph(edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(INPUTS, role="input")
    graph.add_nodes_from(["L1", "L2"], role="latent")
    graph.add_nodes_from(OUTPUTS, role="output")
    graph.add_edges_from(edges)
    return graph


GRAPH = make_graph(
    [("a", "L1"), ("b", "L1"), ("c", "L2")]
    + [("L1", name) for name in OUTPUTS[:4]]
    + [("L2", name) for name in OUTPUTS[4:]]
)


@pytest.mark.parametrize("seed", range(3))
def test_an_output_that_causes_others_is_named(seed):
    effects = make_effects(seed, latent=False)
    assert find_output_causes(GRAPH, effects, INPUTS, OUTPUTS) == (SENTENCE,)


@pytest.mark.parametrize("seed", range(5))
def test_a_true_latent_is_not_taken_for_an_output(seed):
    effects = make_effects(seed, latent=True)
    assert find_output_causes(GRAPH, effects, INPUTS, OUTPUTS) == ()


def test_the_learned_graph_gives_the_same_sentence():
    effects = make_effects(0, latent=False)
    graph = learn_graph(effects, INPUTS, OUTPUTS, settings=GraphSettings(bootstraps=4)).graph
    assert find_output_causes(graph, effects, INPUTS, OUTPUTS) == (SENTENCE,)


def test_missing_outputs_leave_the_samples_that_have_all_of_them():
    effects = make_effects(0, latent=False, missing=0.1)
    assert find_output_causes(GRAPH, effects, INPUTS, OUTPUTS) == (SENTENCE,)


def test_nothing_is_said_without_inputs_children_or_samples():
    effects = make_effects(0, latent=False)
    without_inputs = make_graph([("L1", name) for name in OUTPUTS])
    one_child = make_graph([("a", "L1"), ("L1", "y0")])
    for graph in (without_inputs, one_child):
        assert find_output_causes(graph, effects, INPUTS, OUTPUTS) == ()
    few = make_effects(0, latent=False, rows=20)
    assert find_output_causes(GRAPH, few, INPUTS, OUTPUTS) == ()


def test_p_values_are_uniform_where_there_is_no_effect():
    """Inputs act on y1 through y0 alone: given y0, small p-values are as rare as they should be."""
    found = []
    for seed in range(300):
        effects = make_effects(seed, latent=False, rows=100)
        regression = regress_outputs(effects.sample, [0, 1, 2])
        found.append(regression.make_test([0, 1]).find_p([1, 2], [0]))
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.05)
