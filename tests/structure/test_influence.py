import networkx as nx
import numpy as np
import pytest

from linear_graphs import CHAIN, draw_rows, draw_structure, make_effects
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.graphs.basics import check_graph
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import estimate_effects
from rinn.structure.prior.influence import learn_with_prior
from rinn.structure.prior.log_odds import make_prior
from rinn.structure.records import GraphSettings

FEW = GraphSettings(bootstraps=8)


def learn(effects, inputs, outputs, prior):
    return learn_with_prior(effects, inputs, outputs, prior, settings=FEW)


@pytest.fixture(scope="module")
def chain():
    structure, inputs, outputs = draw_structure(CHAIN, 2, extra_inputs=2, extra_outputs=1)
    return make_effects(*draw_rows(structure, 500, 2)), inputs, outputs


@pytest.fixture(scope="module")
def plain(chain):
    return learn_graph(*chain, settings=FEW).graph


def edges_of(graph):
    return {(a, b): v["frequency"] for a, b, v in graph.edges(data=True)}


def test_a_prior_that_says_nothing_leaves_the_graph_as_it_is(chain, plain):
    _, inputs, outputs = chain
    found, did = learn(*chain, make_prior(len(inputs), len(outputs)))
    assert edges_of(found.graph) == edges_of(plain)
    assert {v["origin"] for *_, v in found.graph.edges(data=True)} == {"data"}
    for *_, values in found.graph.edges(data=True):
        assert values["frequency_without"] == values["frequency"]
    counts = did.to_json()["counts"]
    assert counts.pop("edges") == plain.number_of_edges()
    assert not any(counts.values())
    assert did.sentence.startswith(f"Of {plain.number_of_edges()} edges, none is there because of")


def test_what_is_ordered_is_obeyed_and_named(chain, plain):
    effects, inputs, outputs = chain
    joined = {(i, o) for i in inputs for o in nx.descendants(plain, i) & set(outputs)}
    size = np.abs(effects.z)
    clear = max(joined, key=lambda p: size[inputs.index(p[0]), outputs.index(p[1])])
    apart = [(i, o) for i in inputs for o in outputs if (i, o) not in joined]
    faint = min(apart, key=lambda p: size[inputs.index(p[0]), outputs.index(p[1])])
    prior = make_prior(len(inputs), len(outputs))
    prior.order[inputs.index(clear[0]), outputs.index(clear[1])] = -1
    prior.order[inputs.index(faint[0]), outputs.index(faint[1])] = 1
    found, did = learn(*chain, prior)
    check_graph(found.graph)
    assert clear[1] not in nx.descendants(found.graph, clear[0])
    assert faint[1] in nx.descendants(found.graph, faint[0])
    assert clear in did.lost
    assert faint in did.gained
    said = {(c.input, c.output): c for c in did.contradictions}
    assert said.keys() == {clear, faint}
    assert said[clear].says == "mustnot"
    assert said[clear].evidence > 3
    assert said[clear].without == 1.0
    assert not said[clear].reported
    assert said[faint].says == "must"
    assert said[faint].evidence < -3
    assert said[faint].reported
    assert "2 firm statements go against the data" in did.sentence
    assert did.to_json()["counts"]["contradictions"] == 2


def make_quiet(inputs, outputs, samples=400, seed=0):
    """Effects of nothing, of inputs and outputs that are exactly uncorrelated."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(samples, inputs + outputs))
    table = np.linalg.qr(table - table.mean(axis=0))[0] * np.sqrt(samples)
    return table[:, :inputs], table[:, inputs:]


class Never:
    """A test that no input passes."""

    def find_p(self, row, outputs, level=0.0, beside=None):
        return 1.0


def test_an_order_is_an_edge_of_its_own():
    quiet = make_effects(*make_quiet(5, 5), Never())
    prior = make_prior(5, 5)
    prior.order[1, 3] = 1
    names = list("abcde"), list("vwxyz")
    found, did = learn(quiet, *names, prior)
    assert list(found.graph.edges) == [("b", "y")]
    about = found.graph.edges["b", "y"]
    assert about["frequency_without"] == 0
    assert about["origin"] in ("prior", "forced")
    assert found.candidates.has_edge("b", "y")
    assert {*did.forced, *did.prior_driven} == {("b", "y")}
    assert (did.contradictions[0].says, did.contradictions[0].reported) == ("must", True)
    assert "One firm statement goes against the data: must of 'b' and 'y'" in did.sentence
    assert "it connected 1 pair of input and output and disconnected none" in did.sentence


def test_an_order_that_no_search_follows_is_stated():
    """Without direct edges a single pair cannot be joined by a latent."""
    quiet = make_effects(*make_quiet(2, 5))
    prior = make_prior(2, 5)
    prior.order[1, 3] = 1
    settings = GraphSettings(bootstraps=4, direct=False)
    found, did = learn_with_prior(quiet, ["a", "b"], list("vwxyz"), prior, settings=settings)
    assert list(found.graph.edges) == [("b", "y")]
    assert found.graph.edges["b", "y"]["origin"] == "forced"
    assert did.forced == (("b", "y"),)
    assert "one is reported only because the prior says so" in did.sentence


def test_edges_that_the_prior_alone_shows_say_so():
    x, noise = make_quiet(4, 8)
    y = noise[:, :6].copy()
    y[:, :4] += 2 * x[:, :1] + 2 * x[:, 1:2] + noise[:, 6:7]
    y[:, 5] += 2.0 / np.sqrt(400) * x[:, 2]
    effects = make_effects(x, y)
    names = ["a", "b", "c", "d"], list("uvwxyz")
    prior = make_prior(4, 6)
    prior.odds[2, 5] = 8.0
    found, did = learn(effects, *names, prior)
    origin = {edge: found.graph.edges[edge]["origin"] for edge in found.graph.edges}
    assert origin.pop(("c", "z")) == "prior"
    assert set(origin.values()) == {"data"}
    assert did.prior_driven == did.gained == (("c", "z"),)
    assert found.graph.edges["c", "z"]["frequency_without"] < 0.6
    assert not did.contradictions


def test_an_input_that_no_latent_may_take_is_named():
    x, noise = make_quiet(3, 6)
    y = noise[:, :5].copy()
    y[:, :4] += x.sum(axis=1, keepdims=True) + noise[:, 5:]
    effects = make_effects(x, y)
    prior = make_prior(3, 5)
    prior.lowest[0] = 2
    settings = GraphSettings(bootstraps=4, direct=False)
    found, did = learn_with_prior(effects, ["a", "b", "c"], list("vwxyz"), prior, settings=settings)
    assert not found.graph.out_degree("a")
    assert did.dropped_inputs == ("a",)


def test_what_must_not_be_is_not_there_by_a_product_either():
    """XOR of a and b; a must not act on v."""
    rng = np.random.default_rng(0)
    x = (rng.random((1500, 3)) < 0.5).astype(float)
    z = x[:, :1] != x[:, 1:2]
    y = z + 0.5 * rng.normal(size=(1500, 1)) * np.ones(5) + 0.4 * rng.normal(size=(1500, 5))
    names = ("a", "b", "c"), tuple("vwxyz")
    effects = estimate_effects(make_problem(Data(x, y, *names)))
    assert effects.sample.owners[3:] == ((0, 1),)
    prior = make_prior(3, 5)
    prior.order[0, 0] = -1
    found, did = learn(effects, *names, prior)
    assert "v" not in nx.descendants(found.graph, "a")
    assert ("a", "v") in did.lost
