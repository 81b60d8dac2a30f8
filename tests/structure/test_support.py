"""No effect of noise passes: few carriers, heavy tails, networks that fit noise."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

from linear_graphs import make_effects
from rinn.config import NetSettings, Trial
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.nets.groups import TrainedNet
from rinn.nets.redundant import Weights
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.held_out import HeldOutTest
from rinn.structure.prior.log_odds import make_prior
from rinn.structure.records import GraphSettings
from rinn.structure.regression import Sample
from rinn.structure.support import (
    MIN_CARRIERS,
    ProductTest,
    SetTest,
    SupportTest,
    make_support_test,
)

LEVEL = 0.01 / 16


def name(letter, count):
    return tuple(f"{letter}{number}" for number in range(count))


def make_data(x, y):
    return Data(x, y, name("x", x.shape[1]), name("y", y.shape[1]))


def make_net(inputs, output, split=0, bias=None):
    """A network of one layer of rectifiers."""
    hidden = len(inputs)
    weights = Weights(
        inputs=np.asarray(inputs, np.float32)[None],
        hidden=np.zeros((0, hidden, hidden), np.float32),
        output=np.asarray(output, np.float32),
        bias=np.zeros((1, hidden), np.float32) if bias is None else np.float32(bias)[None],
        output_bias=np.zeros(len(output), np.float32),
    )
    net = NetSettings(layers=1, width=hidden, activation="relu")
    return TrainedNet(Trial(split, 0, split, net), weights, "finished", 1, 0.0, 0.0, 0.0)


def draw_carriers(rng, carriers, samples=500, inputs=4):
    x = np.zeros((samples, inputs))
    for column in x.T:
        column[rng.choice(samples, carriers, replace=False)] = 1.0
    return x


@pytest.mark.parametrize("carriers", [1, 4, 30])
@pytest.mark.parametrize("tails", ["coins", "heavy"])
def test_permuted_samples_hold_for_few_carriers_and_heavy_tails(carriers, tails):
    """Of 16 inputs that do nothing hardly one is below the level of a whole table."""
    rng = np.random.default_rng([carriers, len(tails)])
    found = []
    for _ in range(4):
        x = draw_carriers(rng, carriers)
        y = rng.standard_t(1.5, (500, 8)) if tails == "heavy" else rng.random((500, 8)) < 0.5
        test = SetTest(x.T, y.T.astype(float))
        found += [test.find_p(row, np.argsort(-test._squares[row])[:4]) for row in range(4)]
    assert min(found) > LEVEL
    assert np.mean(np.array(found) < 0.05) < 0.15


def test_permuted_correlations_of_many_carriers_are_normal():
    """The shortcut for inputs with many carriers gives what permutations give."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 2 * MIN_CARRIERS))
    y = rng.normal(size=(5, 2 * MIN_CARRIERS)) + rng.normal(size=2 * MIN_CARRIERS)
    test = SetTest(x, y)
    normal, permuted = test._draw_normal(), test._permute(0)
    np.testing.assert_allclose(normal.mean(axis=0), permuted.mean(axis=0), rtol=0.15)
    both = [np.quantile(part.sum(axis=1), 0.95) for part in (normal, permuted)]
    assert both[0] == pytest.approx(both[1], rel=0.15)


def test_other_inputs_are_held_fixed():
    """An idle input that goes with a cause correlates with the outputs, but not beside it."""
    rng = np.random.default_rng(1)
    cause = rng.normal(size=400)
    x = np.vstack([cause, cause + 0.5 * rng.normal(size=400)])
    y = cause + rng.normal(size=(4, 400))
    test = SetTest(x, y)
    assert test.find_p(0, range(4)) < 1e-6
    assert test.find_p(1, range(4)) > 0.01


def test_collinear_inputs_share_what_they_do():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    test = SetTest(np.vstack([x, x, rng.normal(size=300)]), x + rng.normal(size=(3, 300)))
    assert test.find_p(0, range(3)) < 1e-6
    assert test.find_p(1, range(3)) < 1e-6
    assert test.find_p(2, range(3)) > 0.01


def make_xor(rng, samples=600):
    x = (rng.random((samples, 3)) < 0.5).astype(float)
    flips = rng.random((samples, 4)) < 0.1
    y = ((x[:, :1] != x[:, 1:2]) != flips).astype(float)
    nets = [make_net([[1, -1, 0], [-1, 1, 0]], np.full((4, 2), 2.0), split) for split in (0, 1)]
    return make_problem(make_data(x, y)), nets


def test_networks_show_effects_that_depend_on_other_inputs():
    problem, nets = make_xor(np.random.default_rng(3))
    test = make_support_test(problem, nets)
    assert test.sets.find_p(0, range(4)) > LEVEL
    assert test.held_out.find_p(0, range(4)) < 1e-6
    assert test.find_p(0, range(4), LEVEL) < 1e-6
    assert test.held_out.find_p(2, range(4)) == 1.0  # no network uses it
    assert make_support_test(problem).held_out is None


def draw_xor(rng, samples=1000):
    """x0 and x1 act on six outputs by their XOR alone, x2 on six others by itself."""
    x = (rng.random((samples, 6)) < 0.5).astype(float)
    both = (x[:, 0] != x[:, 1])[:, None], 2 * x[:, [2]]
    y = np.hstack([part + rng.normal(size=(samples, 6)) for part in both])
    return make_problem(make_data(x, y))


@pytest.mark.parametrize("seed", range(2))
def test_products_show_effects_that_depend_on_other_inputs_without_networks(seed):
    problem = draw_xor(np.random.default_rng(seed))
    effects = estimate_effects(problem)
    assert make_support_test(problem).find_p(0, range(6)) > LEVEL
    test = make_support_test(problem, (), effects.sample)
    assert max(test.find_p(row, range(6), LEVEL) for row in (0, 1)) < 1e-6
    assert min(test.find_p(row, range(6)) for row in (3, 4, 5)) > LEVEL
    effects = dataclasses.replace(effects, test=test)
    settings = GraphSettings(bootstraps=5)
    graph = learn_graph(effects, name("x", 6), name("y", 12), settings=settings).graph
    causes = {frozenset(graph.predecessors(h)) for h in graph if graph.nodes[h]["role"] == "latent"}
    assert causes == {frozenset({"x0", "x1"}), frozenset({"x2"})}


@pytest.mark.parametrize("tails", ["coins", "heavy"])
def test_products_that_noise_brings_hold_the_level(tails):
    """Every product is taken for one that was found: the p-value allows for the choice."""
    rng = np.random.default_rng(len(tails))
    found = []
    for _ in range(25):
        x = (rng.random((300, 4)) < 0.15).astype(float)
        y = rng.standard_t(1.5, (300, 8)) if tails == "heavy" else rng.random((300, 8)) < 0.5
        x, y = (table - table.mean(axis=0) for table in (x, y.astype(float)))
        pairs = [(i, j) for i in range(4) for j in range(i)]
        columns = np.hstack([x, *(x[:, [i]] * x[:, [j]] for i, j in pairs)])
        owners = tuple((i,) for i in range(4)) + tuple(pairs)
        test = SupportTest(
            SetTest(x.T, y.T), products=ProductTest(Sample(columns, y, None, 0, owners))
        )
        found += [test.find_p(row, range(8)) for row in range(4)]
    assert min(found) > LEVEL / 10
    assert np.mean(np.array(found) < 0.05) < 0.1


def test_products_have_a_share_of_the_level_where_they_are_looked_for():
    first, second = Fixed(1e-4, 0.4), Fixed(0.0, 1e-6)
    test = SupportTest(first, products=second)
    assert test.find_p(0, [0], 1e-3) == pytest.approx(1e-4 / 0.9)
    assert second.asked == set()
    assert test.find_p(1, [0], 1e-3) == pytest.approx(1e-5)
    few = make_problem(make_data(*np.random.default_rng(0).normal(size=(2, 50, 3))))
    assert make_support_test(few, (), estimate_effects(few).sample).products is None


def test_inputs_that_are_numbers_are_moved_over_several_values():
    """|x| has no linear effect; a network with a kink knows it."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(600, 2))
    y = np.abs(x[:, :1]) + 0.5 * rng.normal(size=(600, 3))
    problem = make_problem(make_data(x, y))
    scale = 1 / problem.y_scale.std[:, None]
    net = make_net([[1, 0], [-1, 0]], np.ones((3, 2)) * scale)
    test = HeldOutTest([net], problem)
    assert test.find_p(0, range(3)) < 1e-3
    assert test.find_p(1, range(3)) == 1.0


@pytest.mark.parametrize("carriers", [1, 4, 200])
def test_networks_that_fit_noise_do_not_predict_other_samples(carriers):
    """Any weights, noise for outputs: the p-value is not too small, whatever the carriers."""
    rng = np.random.default_rng(carriers)
    found = []
    for _ in range(20):
        x, y = draw_carriers(rng, carriers), rng.standard_t(2, (500, 6))
        nets = [make_net(rng.normal(size=(3, 4)), rng.normal(size=(6, 3)), s) for s in (0, 1)]
        test = HeldOutTest(nets, make_problem(make_data(x, y)))
        found += [test.find_p(row, range(6)) for row in range(4)]
    assert min(found) > LEVEL / 10
    assert np.mean(np.array(found) < 0.05) < 0.1


def test_skewed_residuals_do_not_look_like_effects():
    """Rare ones: most often no carrier of 20 has one, whatever the network says of it."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(60):
        x = draw_carriers(rng, 50, inputs=2)
        y = (rng.random((500, 2)) < 0.1).astype(float)
        net = make_net([[1, 0]], [[-1.0], [0.0]], bias=[0.0])
        problem = make_problem(make_data(x, y))
        found.append(HeldOutTest([net], problem).find_p(0, [0]))
    assert min(found) > LEVEL


def test_a_wrong_intercept_is_no_effect():
    """An input without carriers among the samples a network is asked of has no effect there."""
    rng = np.random.default_rng(6)
    x, y = (rng.random((500, 2)) < 0.5).astype(float), rng.normal(size=(500, 6))
    problem = make_problem(make_data(x, y))
    problem.x[1] = 0.0
    problem.x[1, problem.splits[0].train[:2]] = 1.0
    problem.y[:, problem.splits[0].train] += 1.0
    test = HeldOutTest([make_net([[0, 1]], np.full((6, 1), 2.0))], problem)
    assert test.find_p(1, range(6)) > 0.1


def test_covariates_and_gaps_are_allowed_for():
    rng = np.random.default_rng(5)
    x = (rng.random((300, 2)) < 0.5).astype(float)
    y = 2 * x[:, :1] + rng.normal(size=(300, 3))
    y[rng.random(y.shape) < 0.2] = np.nan
    problem = make_problem(make_data(x, y))
    test = HeldOutTest([make_net([[1, 0]], np.full((3, 1), 1.0))], problem)
    assert test.find_p(0, range(3)) < 1e-6


class Fixed:
    """A test whose p-values are given, by input."""

    def __init__(self, *p):
        self.p, self.asked = p, set()

    def find_p(self, row, outputs, level=0.0, beside=None):
        self.asked.add(row)
        return self.p[row]


def read(p, prior=None):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(400, 3))
    common = x.sum(axis=1, keepdims=True) + rng.normal(size=(400, 1))
    y = common + rng.normal(size=(400, 6))
    effects = make_effects(x, y, Fixed(*p))
    settings = GraphSettings(bootstraps=5)
    return learn_graph(effects, name("x", 3), name("y", 6), prior=prior, settings=settings)


def test_a_latent_needs_one_input_beyond_chance_and_keeps_the_others_that_may_be():
    assert read([1e-4, 1e-4, 1e-4]).graph.number_of_edges() == 3 + 6
    assert read([1e-4, 0.04, 0.2]).graph.number_of_edges() == 2 + 6
    assert set(read([1e-4, 0.04, 0.2]).graph.predecessors("L1")) == {"x0", "x1"}


def test_inputs_that_act_are_not_allowed_for_when_the_next_is_tested():
    """Direct edges at 0.01 / 3, 0.01 / 2 and 0.01 (Holm 1979)."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(400, 3))
    effects = make_effects(x, x + rng.normal(size=(400, 3)))
    for p, count in (
        ((0.003, 0.0045, 0.009), 3),
        ((0.009, 0.003, 0.006), 1),
        ((0.004, 0.004, 0.004), 0),
    ):
        tested = dataclasses.replace(effects, test=Fixed(*p))
        settings = GraphSettings(bootstraps=2)
        found = learn_graph(tested, name("x", 3), name("y", 3), settings=settings).graph
        assert found.number_of_edges() == count


def test_without_one_there_is_no_latent_but_a_candidate():
    found = read([0.02, 0.04, 0.2])
    assert found.graph.number_of_edges() == 0
    assert [role for _, role in found.graph.nodes(data="role")].count("latent") == 0
    assert set(found.candidates.predecessors("U1")) == set(name("x", 3))
    assert set(found.candidates.successors("U1")) == set(name("y", 6))
    assert nx.get_node_attributes(found.candidates, "frequency") == {"U1": 1.0}


def test_inputs_that_the_prior_speaks_for_are_not_tested():
    prior = make_prior(3, 6)
    prior.odds[1] = 2.0
    assert set(read([1.0, 1.0, 0.2], prior).graph.predecessors("L1")) == {"x1"}
    assert prior.speaks_for(1, [0])
    assert not prior.speaks_for(0, [0])


@pytest.mark.parametrize("kind", ["plain", "few carriers", "heavy tails", "factors"])
def test_noise_gives_no_graph(kind):
    edges = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 9])
        x = draw_carriers(rng, 5) if kind == "few carriers" else rng.normal(size=(500, 4))
        y = rng.normal(size=(500, 8))
        if kind == "heavy tails":
            y = rng.standard_t(1.5, size=(500, 8))
        if kind == "factors":
            y += 2 * rng.normal(size=(500, 2)) @ rng.normal(size=(2, 8))
        problem = make_problem(make_data(x, y))
        effects = estimate_effects(problem)
        test = make_support_test(problem, (), effects.sample)
        effects = dataclasses.replace(effects, test=test)
        settings = GraphSettings(bootstraps=3)
        found = learn_graph(effects, name("x", 4), name("y", 8), settings=settings)
        edges += found.graph.number_of_edges()
    assert edges == 0


def test_the_second_test_is_left_out_where_the_first_decides():
    first, second = Fixed(1e-9, 0.4), Fixed(0.0, 1e-9)
    test = SupportTest(first, second)
    assert test.find_p(0, [0], 1e-3) == 2e-9
    assert second.asked == set()
    assert test.find_p(1, [0], 1e-3) == 2e-9
