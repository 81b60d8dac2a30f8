import dataclasses
import functools
import json

import jax
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks import small_data
from rinn.config import RunSettings
from rinn.data.align import fingerprint
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.pipeline import Fit, fit_data
from rinn.runs.sentences import summarise_null
from rinn.structure.null import add_decoys, fit_null, fit_round, permute_outputs
from rinn.structure.qvalues import DECOY_ROUND, Null, NullRound, q_values
from rinn.structure.records import LatentGraph

CPU = jax.devices("cpu")
TRAINED = {"effects": "corrected"}  # clear effects need no network
SEARCH = functools.partial(fit_data, refit=False)
SHARES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 1 / 3, 0.5, 0.7, 0.9, 1.0]), max_size=8)


def a_graph(edges):
    graph = nx.DiGraph()
    for (source, target), frequency in edges.items():
        graph.add_edge(source, target, frequency=frequency)
    return graph


def edges_of(*frequencies):
    return a_graph({(f"x{n}", "L1"): share for n, share in enumerate(frequencies)})


def a_null(*rounds, reported=(), networks=32, **decoyed):
    """A null whose permuted rounds found edges of these frequencies."""
    reported = reported or [0] * len(rounds)
    permuted = [
        NullRound(n, 100 + n, networks, tuple(sorted(shares)), reported[n], 16, 0)
        for n, shares in enumerate(rounds)
    ]
    about = {"inputs": 16, "connected_inputs": 16, "decoys": 16} | decoyed
    return Null(tuple(permuted), NullRound(DECOY_ROUND, 99, networks, (), 0, **about))


class FakeFit:
    """Remembers what it was called with; draws one edge from the first and the last input."""

    def __init__(self, stop_at=None):
        self.calls, self.stop_at = [], stop_at

    def __call__(self, data, settings, devices, *, report=None):
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        self.calls.append((data, settings))
        report([], 0.25, False)
        report([], 0.75, False)
        reported = a_graph({(data.inputs[0], "L1"): 0.75, (data.inputs[-1], "L1"): 0.5})
        candidates = a_graph({(data.inputs[1], "L1"): 0.125})
        candidates.update(reported)
        return Fit(data, None, LatentGraph(reported, candidates), None)


def test_permuted_rows_keep_everything_else():
    data = dataclasses.replace(small_data(), samples=tuple(f"s{n}" for n in range(200)))
    before = fingerprint(data)
    permuted = permute_outputs(data, np.random.default_rng(3))
    after = fingerprint(permuted)
    assert {part for part in before if before[part] != after[part]} == {"y"}
    assert sorted(map(tuple, permuted.y)) == sorted(map(tuple, data.y))
    assert (permuted.y != data.y).any(axis=1).mean() > 0.9
    assert fingerprint(data) == before


def test_the_rng_decides_the_order():
    data = small_data()
    first, again, other = (permute_outputs(data, np.random.default_rng(n)).y for n in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@given(
    names=st.lists(
        st.text("ab_decoy", min_size=1, max_size=8), unique=True, min_size=2, max_size=9
    ),
    outputs=st.integers(1, 3),
    most=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_decoys_are_permuted_copies_with_names_of_their_own(names, outputs, most, seed):
    outputs = min(outputs, len(names) - 1)
    inputs, outputs = tuple(names[outputs:]), tuple(names[:outputs])
    rng = np.random.default_rng(seed)
    x = np.arange(10.0)[:, None] + 100.0 * np.arange(len(inputs))  # each column by its hundreds
    data = Data(x, rng.normal(size=(10, len(outputs))), inputs, outputs)
    more, decoys = add_decoys(data, rng, most)
    assert len(decoys) == min(most, len(inputs))
    assert more.inputs == (*inputs, *decoys)
    assert len({*more.inputs, *outputs}) == len(more.inputs) + len(outputs)
    assert (more.x[:, : len(inputs)] == x).all()
    assert (more.y == data.y).all()
    copied = [int(column.min() // 100) for column in more.x[:, len(inputs) :].T]
    assert len(set(copied)) == len(copied)
    for name, column, source in zip(decoys, more.x[:, len(inputs) :].T, copied, strict=True):
        assert sorted(column) == sorted(x[:, source])
        assert name.startswith(f"{inputs[source]}_decoy")
    assert data.inputs == inputs


def test_decoys_go_together_as_their_inputs_do():
    data = small_data(inputs=60)
    data.x[:, 1] = 1 - data.x[:, 0]
    more, decoys = add_decoys(data, np.random.default_rng(0), 60)
    copies = more.x[:, 60:]
    assert len(decoys) == 60
    assert np.isin(copies, (0, 1)).all()
    assert (copies[:, 1] == 1 - copies[:, 0]).all()
    assert (copies[:, 0] != data.x[:, 0]).any()
    assert len(add_decoys(data, np.random.default_rng(0))[1]) == 50


def test_a_round_by_hand():
    data, fit = small_data(), FakeFit()
    found = fit_round(
        data, RunSettings(**TRAINED, seed=4), CPU, 0, networks=8, report=print_nothing, fit=fit
    )
    (seen, settings), *_ = fit.calls
    assert (seen.x == data.x).all()
    assert (seen.y != data.y).any()
    assert settings == RunSettings(**TRAINED, seed=found.seed, trials=8)
    assert found == NullRound(0, found.seed, 8, (0.125, 0.5, 0.75), 2, 4, 2)


def test_the_round_of_decoys_by_hand():
    data, fit = small_data(), FakeFit()
    found = fit_round(data, RunSettings(**TRAINED), CPU, DECOY_ROUND, report=print_nothing, fit=fit)
    (seen, settings), *_ = fit.calls
    assert (seen.y == data.y).all()
    assert seen.inputs == ("x0", "x1", "x2", "x3", "x0_decoy", "x1_decoy", "x2_decoy", "x3_decoy")
    assert settings.trials == 32
    assert (found.inputs, found.connected_inputs) == (4, 1)
    assert (found.decoys, found.connected_decoys) == (4, 1)


def print_nothing(nets, share, is_resumed):
    pass


@pytest.mark.parametrize(("own", "expected"), [(None, 32), (20, 20), (64, 32)])
def test_no_more_networks_than_the_search_has(own, expected):
    fit = FakeFit()
    null = fit_null(small_data(), RunSettings(**TRAINED, trials=own), CPU, 1, fit=fit)
    assert [settings.trials for _, settings in fit.calls] == [expected, expected]
    assert null.networks == expected


def test_a_budget_smaller_than_the_null():
    fit = FakeFit()
    null = fit_null(small_data(), RunSettings(strategy="esc"), CPU, 1, fit=fit)
    assert null.networks == 16  # as many populations as the default budget has


def test_rounds_are_different_and_the_same_again():
    data, settings = small_data(), RunSettings(**TRAINED, trials=4, seed=3)
    fit, again, other = FakeFit(), FakeFit(), FakeFit()
    null = fit_null(data, settings, CPU, 3, fit=fit)
    assert fit_null(data, settings, CPU, 3, fit=again) == null
    fit_null(data, dataclasses.replace(settings, seed=4), CPU, 3, fit=other)
    seeds = [settings.seed for _, settings in fit.calls + other.calls]
    assert len(set(seeds)) == 8
    for (one, _), (two, _) in zip(fit.calls, again.calls, strict=True):
        assert fingerprint(one) == fingerprint(two)
    prints = [fingerprint(seen)["y"] for seen, _ in fit.calls + other.calls]
    assert len(set(prints)) == 7  # three orders each, and Y itself twice


def test_more_rounds_begin_with_the_same_ones():
    data, settings = small_data(), RunSettings(**TRAINED, trials=4)
    few, many = (fit_null(data, settings, CPU, rounds, fit=FakeFit()) for rounds in (2, 5))
    assert many.permuted[:2] == few.permuted
    assert many.decoyed == few.decoyed


@pytest.mark.parametrize("stop_at", [0, 2, 3])
def test_an_interrupted_null_goes_on_where_it_was(stop_at):
    data, settings, done = small_data(), RunSettings(**TRAINED, trials=4), []
    with pytest.raises(KeyboardInterrupt):
        fit_null(data, settings, CPU, 3, save=done.append, fit=FakeFit(stop_at))
    assert [found.number for found in done] == list(range(stop_at))
    kept = [NullRound.from_json(json.loads(json.dumps(found.to_json()))) for found in done]
    rest = FakeFit()
    resumed = fit_null(data, settings, CPU, 3, done=kept, fit=rest)
    assert len(rest.calls) == 4 - stop_at
    assert resumed == fit_null(data, settings, CPU, 3, fit=FakeFit())


def test_rounds_beyond_those_asked_for_are_left_out():
    data, settings = small_data(), RunSettings(**TRAINED, trials=4)
    many = fit_null(data, settings, CPU, 4, fit=FakeFit())
    fit = FakeFit()
    few = fit_null(data, settings, CPU, 2, done=[many.decoyed, *many.permuted], fit=fit)
    assert not fit.calls
    assert few.permuted == many.permuted[:2]


def test_rounds_of_another_null_are_refused():
    data, done = small_data(), []
    fit_null(data, RunSettings(**TRAINED, trials=4), CPU, 1, save=done.append, fit=FakeFit())
    with pytest.raises(InputError, match=r"round 0 has 4 networks and the seed .* instead of 6"):
        fit_null(data, RunSettings(**TRAINED, trials=6), CPU, 1, done=done, fit=FakeFit())
    with pytest.raises(InputError, match="done must hold rounds of this null"):
        fit_null(data, RunSettings(**TRAINED, trials=4, seed=1), CPU, 1, done=done, fit=FakeFit())


def test_shares_of_the_work_add_up_to_one():
    data, settings, shares = small_data(), RunSettings(**TRAINED, trials=4), []
    null = fit_null(data, settings, CPU, 3, fit=FakeFit())
    fit_null(
        data,
        settings,
        CPU,
        3,
        done=null.permuted[:2],
        report=lambda nets, share, is_resumed: shares.append(share),
        fit=FakeFit(),
    )
    assert shares == [0.25, 0.25, 0.0625, 0.1875, 0.0625, 0.1875]


def test_what_cannot_be_asked():
    data, settings = small_data(), RunSettings(**TRAINED, trials=4)
    with pytest.raises(InputError, match="rounds must be a whole number of at least 1, got 0"):
        fit_null(data, settings, CPU, 0, fit=SEARCH)
    with pytest.raises(InputError, match="networks must be a whole number of at least 2, got 1"):
        fit_null(data, settings, CPU, 1, networks=1, fit=SEARCH)
    with pytest.raises(InputError, match="number must be a whole number of at least -1, got -2"):
        fit_round(data, settings, CPU, -2, fit=SEARCH)
    with pytest.raises(InputError, match="most must be a whole number of at least 1, got 0"):
        add_decoys(data, np.random.default_rng(0), 0)
    with pytest.raises(InputError, match=r"strategy must be one that looks at the inputs .*'dbn'"):
        fit_null(data, RunSettings(strategy="dbn"), CPU, 1, fit=SEARCH)


def test_a_null_as_json():
    null = a_null([0.1, 0.5], [], reported=[1, 0], connected_decoys=2)
    value = json.loads(json.dumps(null.to_json()))
    assert (value["rounds"], value["networks"]) == (2, 32)
    assert Null.from_json(value) == null


def test_q_values_by_hand():
    # Of two rounds, three edges in all: at 0.9 none, at 0.5 one, at 0.2 three.
    null = a_null([0.2, 0.5], [0.2])
    found = q_values([0.5, 0.9, 0.2, 0.9, 0.9], null)
    np.testing.assert_allclose(found, [2 / 2 / 4, 1 / 2 / 3, 4 / 2 / 5, 1 / 2 / 3, 1 / 2 / 3])


def test_a_lower_threshold_may_be_the_better_one():
    # At 0.9 one round of chance beside one real edge; at 0.8 the same beside ten.
    null = a_null([], [])
    np.testing.assert_allclose(q_values([0.9] + 9 * [0.8], null), 10 * [1 / 2 / 10])


@pytest.mark.parametrize("rounds", [1, 2, 20])
def test_q_is_never_zero(rounds):
    null = a_null(*[[]] * rounds)
    np.testing.assert_allclose(q_values(8 * [1.0], null), 1 / rounds / 8)
    assert q_values([], null).shape == (0,)


def test_nothing_but_chance_has_q_one():
    rounds = [[0.3, 0.4, 0.8]] * 4
    assert (q_values([0.3, 0.4, 0.8], a_null(*rounds)) == 1).all()


def test_frequencies_that_were_rounded_are_the_same():
    null = a_null([1 / 3], [0.1 + 0.2])
    np.testing.assert_allclose(q_values([0.3333333333333], null), 1.0)
    np.testing.assert_allclose(q_values([0.3, 0.1 * 3], null), 3 / 2 / 2)


@given(real=SHARES.filter(bool), rounds=st.lists(SHARES, min_size=1, max_size=4))
def test_q_values_are_the_definition(real, rounds):
    null = a_null(*rounds)
    found = q_values(real, null)
    for own, q in zip(real, found, strict=True):
        rates = [
            (sum(s >= level for shares in rounds for s in shares) + 1)
            / len(rounds)
            / sum(s >= level for s in real)
            for level in real
            if level <= own
        ]
        assert q == pytest.approx(min(1.0, *rates, 1.0))
    order = np.argsort(real)
    assert (np.diff(found[order]) <= 0).all()
    assert ((found > 0) & (found <= 1)).all()


@given(real=SHARES.filter(bool), rounds=st.lists(SHARES, min_size=1, max_size=4), more=SHARES)
def test_more_chance_never_lowers_q_and_more_edges_never_raise_it(real, rounds, more):
    found = q_values(real, a_null(*rounds))
    assert (q_values(real, a_null(rounds[0] + more, *rounds[1:])) >= found).all()
    assert (q_values(real + more, a_null(*rounds))[: len(real)] <= found).all()


def test_the_sentences_of_a_good_graph():
    null = a_null([0.3], [], [], [], [], reported=[1, 0, 0, 0, 0], connected_inputs=15)
    assert summarise_null(null, edges_of(*[0.9] * 45)) == (
        "With the rows of Y permuted (5 rounds of 32 networks), 0.2 edges were found per graph; "
        "all 45 edges of this graph have q at most 0.0045. Of 16 decoy inputs, permuted copies of "
        "real ones, none was connected; of the 16 real inputs next to them, 15 were."
    )


@pytest.mark.parametrize(
    ("null", "frequencies", "words"),
    [
        (a_null([]), [], "permuted (1 round of 32 networks), no edge was found; this graph has no"),
        (a_null([], networks=0), [], "permuted (1 round), no edge was found;"),
        (a_null([1.0], [], reported=[2, 0]), [], "1 edge was found per graph;"),
        (a_null([], reported=[3]), [], "3 edges were found;"),
        (a_null([], [], reported=[130, 117]), [], "124 edges were found per graph;"),
        (a_null(*[[]] * 20), [0.5], "; the only edge of this graph has q at most 0.05."),
        (a_null(*[[]] * 4), [0.5], "; the only edge of this graph has q = 0.25."),
        (a_null(*[[]] * 30), [1, 1], "; both edges of this graph have q at most 0.017."),
        (a_null([]), [1, 1], "; neither of the 2 edges of this graph has q at most 0.05, the low"),
        (a_null([]), [1] * 4, "; none of the 4 edges of this graph has q at most 0.05, the lowest"),
        (a_null([]), [1] * 4, "the lowest being 0.25."),
        (a_null(*[[]] * 9, [0.1] * 90), [1] * 4 + [0.1], "; 4 of the 5 edges of this graph have q"),
        (a_null(*[[]] * 9, [0.1] * 90), [1] * 4 + [0.1], "q at most 0.05, the highest being 1."),
        (a_null(*[[]] * 29, [0.1] * 90), [1, 0.1], "; 1 of the 2 edges of this graph has q at"),
    ],
)
def test_words_for_edges(null, frequencies, words):
    assert words in summarise_null(null, edges_of(*frequencies))


@pytest.mark.parametrize(
    ("decoyed", "words"),
    [
        ({"connected_decoys": 1}, "permuted copies of real ones, one was connected; of the 16"),
        (
            {"connected_decoys": 7},
            "ones, 7 were connected; of the 16 real inputs next to them, all",
        ),
        ({"connected_inputs": 0}, "none was connected; of the 16 real inputs next to them, none"),
        (
            {"decoys": 2, "connected_decoys": 2},
            "Of 2 decoy inputs, permuted copies of real ones, b",
        ),
        (
            {"decoys": 1, "inputs": 1, "connected_inputs": 1},
            "The one decoy input, a permuted copy of a real one, was not connected; the real one "
            "was.",
        ),
        (
            {"decoys": 1, "connected_decoys": 1, "inputs": 1, "connected_inputs": 0},
            "was connected; the real one was not.",
        ),
        (
            {"decoys": 1, "inputs": 2, "connected_inputs": 2},
            "of the 2 real inputs next to it, both",
        ),
    ],
)
def test_words_for_decoys(decoyed, words):
    assert words in summarise_null(a_null([], **decoyed), edges_of(1.0))


def test_a_strategy_without_networks():
    data = small_data(samples=300)
    settings = RunSettings(strategy="dm", alpha_pc=0.001, alpha_sober=0.05)
    null = fit_null(data, settings, CPU, 2, fit=SEARCH)
    assert null.networks == 0
    assert null.reported == 0
    assert null.decoyed.connected_inputs > 0
    assert set(null.decoyed.frequencies) == {1.0}


def test_a_small_search_for_real():
    """Eight small networks find inputs but not their copies, and the same when asked again."""
    data, settings = small_data(), RunSettings(**TRAINED, trials=8, epochs=60, bootstraps=3, seed=1)
    done, shares = [], []
    before = fingerprint(data)
    null = fit_null(
        data,
        settings,
        CPU,
        1,
        fit=SEARCH,
        save=done.append,
        report=lambda nets, share, is_resumed: shares.append(share),
    )
    assert fingerprint(data) == before
    assert sum(shares) == pytest.approx(1.0)
    assert done == [*null.permuted, null.decoyed]
    assert null.networks == 8
    assert null.decoyed.connected_inputs >= 2
    assert null.decoyed.connected_decoys == 0
    assert fit_round(data, settings, CPU, 0, fit=SEARCH) == null.permuted[0]
    assert "1 round of 8 networks" in summarise_null(null, edges_of(0.5))
