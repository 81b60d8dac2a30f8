import dataclasses

import numpy as np
import pytest

from literal_tci import literal_calls, literal_cutoffs
from rinn.errors import InputError
from rinn.genomics.tci.calls import (
    call_drivers,
    find_cutoffs,
    find_drivers,
    permute_events,
    read_cutoffs,
    select_features,
)
from rinn.genomics.tci.events import as_events
from rinn.genomics.tci.inference import Causes, infer_causes
from rinn.genomics.tci.prior import make_prior
from rinn.genomics.tci.settings import TciSettings


def draw(seed=0, tumours=300, tissues=False):
    rng = np.random.default_rng(seed)
    x = (rng.random((tumours, 8)) < 0.25).astype(int)
    y = (rng.random((tumours, 10)) < 0.25).astype(int)
    y[:, :6] |= x[:, :1] & (rng.random((tumours, 6)) < 0.8)
    y[:, 4:] |= x[:, 1:2] & (rng.random((tumours, 6)) < 0.7)
    labels = rng.choice(["lung", "skin", "ovary"], tumours).tolist() if tissues else None
    return as_events(x, y, labels)


def list_tops(causes):
    tumour, deg = np.nonzero(causes.top[..., 0] > 0)
    sga = causes.top[tumour, deg, 0] - 1
    return tumour, deg, sga, causes.posterior[tumour, deg, 0]


@pytest.mark.parametrize("significance", [0.001, 0.05, 0.3])
def test_cutoffs_equal_literal(significance):
    events = permute_events(draw(), "rows", 3)
    causes = infer_causes(events, make_prior(events))
    _, _, sga, posterior = list_tops(causes)
    tops = list(zip(sga.tolist(), posterior.tolist(), strict=True))
    wanted = literal_cutoffs(tops, 9, significance)  # one SGA more, which nobody has
    found = read_cutoffs(causes, 9, significance)
    np.testing.assert_array_equal(found, wanted)
    assert np.isnan(found[8])
    assert len(set(found[:8])) > 3


def test_cutoffs_of_ends_of_the_bins():
    top = np.array([[[1], [1], [1], [0], [-1]]], np.int32)
    posterior = np.array([[[1.0], [0.0], [0.9995], [1.0], [0.0]]])
    causes = Causes(top, posterior, np.zeros((5, 2)), np.zeros((5, 2)))
    assert read_cutoffs(causes, 1, 0.001).tolist() == [1.0]
    assert read_cutoffs(causes, 1, 0.49).tolist() == [0.001]  # 1/3 is nearer to 0.51 than 1


def test_no_top_cause_gives_no_cutoff():
    causes = Causes(np.zeros((3, 2, 1), int), np.ones((3, 2, 1)), np.zeros((2, 2)), np.zeros(2))
    assert np.isnan(read_cutoffs(causes, 4, 0.01)).all()


def test_cutoffs_average_over_rounds_and_resume():
    events = draw()
    prior, settings = make_prior(events), TciSettings(permutations=4, significance=0.05)
    rounds = []
    cutoffs = find_cutoffs(events, prior, settings, save=rounds.append)
    assert len(rounds) == 4
    assert not np.array_equal(rounds[0], rounds[1])
    assert cutoffs == pytest.approx(np.nanmean(rounds, axis=0))
    later = []
    again = find_cutoffs(events, prior, settings, done=rounds[:3], save=later.append)
    np.testing.assert_array_equal(again, cutoffs)
    np.testing.assert_array_equal(later, rounds[3:])


def test_never_on_top_gets_one_and_bounds_hold():
    events = draw()
    prior = make_prior(events)
    some = np.full(8, 0.4)
    some[3] = np.nan
    done = [some, np.where(np.arange(8) == 2, 0.6, some)]
    settings = TciSettings(permutations=2)
    found = find_cutoffs(events, prior, settings, done=done)
    assert found[3] == 1
    assert found[2] == pytest.approx(0.5)
    bounded = dataclasses.replace(settings, min_cutoff=0.45, max_cutoff=0.9)
    found = find_cutoffs(events, prior, bounded, done=done)
    assert found[3] == 0.9
    assert found[0] == 0.45


def test_without_permutations_the_min_cutoff_holds():
    events = draw()
    settings = TciSettings(permutations=0, min_cutoff=0.3)
    assert (find_cutoffs(events, make_prior(events), settings) == 0.3).all()


@pytest.mark.parametrize("permute", ["rows", "columns"])
def test_permutation_stays_in_tissue(permute):
    events = draw(tissues=True)
    permuted = permute_events(events, permute, [1, 2])
    tissues = np.array(events.tissues)
    for name in set(events.tissues):
        before, after = (some.expressed[tissues == name] for some in (events, permuted))
        np.testing.assert_array_equal(before.sum(axis=0), after.sum(axis=0))
        assert (sorted(map(bytes, before)) == sorted(map(bytes, after))) == (permute == "rows")
    assert (permuted.expressed != events.expressed).any()
    assert permuted.altered is events.altered
    again = permute_events(events, permute, [1, 2])
    np.testing.assert_array_equal(again.expressed, permuted.expressed)


def test_calls_equal_literal():
    events = draw(tumours=200)
    causes = infer_causes(events, make_prior(events))
    cutoffs = np.linspace(0.3, 0.9, 8)
    tumour, deg, sga, posterior = list_tops(causes)
    tops = {
        (t, i): (h, p)
        for t, i, h, p in zip(
            tumour.tolist(), deg.tolist(), sga.tolist(), posterior.tolist(), strict=True
        )
    }
    limits = {"min_degs": 3, "min_tumours": 10, "min_rate": 0.3, "min_target_rate": 0.6}
    wanted = literal_calls(tops, events.altered.toarray().tolist(), cutoffs, **limits)
    found = call_drivers(events, causes, cutoffs, TciSettings(**limits))
    calls = set(zip(found.calls["tumour"], found.calls["sga"], strict=True))
    drivers = set(np.flatnonzero(found.drivers["driver"]).tolist())
    targets = set(zip(found.targets["sga"], found.targets["deg"], strict=True))
    assert (calls, drivers, targets) == wanted
    assert drivers == {0, 1}
    assert 0 < len(targets) < 20


def test_targets_count_only_tumours_with_a_call():
    x = np.ones((4, 1), int)
    y = np.ones((4, 3), int)
    events = as_events(x, y, min_samples=4)
    top = np.ones((4, 3, 1), np.int32)
    posterior = np.full((4, 3, 1), 0.9)
    posterior[2:, 0] = posterior[3, 1] = 0.1  # tumour 2 has two links, tumour 3 one
    causes = Causes(top, posterior, np.zeros((3, 2)), np.zeros((3, 2)))
    limits = {"min_tumours": 2, "min_rate": 0.5, "min_target_rate": 0.0}
    found = call_drivers(events, causes, np.array([0.9]), TciSettings(min_degs=3, **limits))
    assert found.targets.to_numpy().tolist() == [[0, 0, 2, 1], [0, 1, 2, 1], [0, 2, 2, 1]]
    found = call_drivers(events, causes, np.array([0.9]), TciSettings(min_degs=2, **limits))
    assert found.targets["tumours"].tolist() == [2, 3, 3]
    assert found.drivers["rate"].tolist() == [0.75]


def test_features_follow_thresholds():
    events = draw(tumours=600)
    found = find_drivers(events, TciSettings(permutations=5, min_degs=4))
    assert found.features.sgas == (0, 1)
    per_deg = np.bincount(found.calls.targets["deg"], minlength=10)
    settings = TciSettings(min_drivers=2)
    kept = select_features(events, found.calls, settings).degs
    assert kept == tuple(np.flatnonzero(per_deg >= 2))
    assert {4, 5} <= set(kept)
    prevalence = events.expressed.mean(axis=0)
    narrow = TciSettings(min_drivers=0, min_prevalence=float(np.median(prevalence)))
    kept = select_features(events, found.calls, narrow).degs
    assert kept == tuple(np.flatnonzero(prevalence >= np.median(prevalence)))


def test_no_call_is_an_answer():
    events = draw()
    found = find_drivers(events, TciSettings(permutations=1, min_degs=10**6))
    assert found.features.sgas == ()
    assert found.features.degs == ()
    summary = found.summarise()
    assert summary["calls"] == summary["drivers"] == summary["targets"] == 0
    assert summary["explained"] == int(events.expressed.sum())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"top": 0}, "top must be a whole number of at least 1, got 0"),
        ({"permutations": -1}, "permutations must be a whole number from 0 to 100000"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": 10**20}, "seed must be a whole number from 0 to 4294967295, got 1000"),
        ({"permutations": 10**20}, "permutations must be a whole number from 0 to 100000, got"),
        ({"min_rate": 1.2}, "min_rate must be a number of at least 0 and at most 1, got 1.2"),
        ({"min_target_rate": float("nan")}, "min_target_rate must be a number of at least 0 and"),
        ({"significance": 0.0}, "significance must be a number above 0 and below 0.5"),
        ({"permute": "cols"}, "permute must be one of rows, columns, got 'cols'"),
        ({"tissue_model": "none"}, "tissue_model must be one of strata, mixture"),
        ({"min_cutoff": 0.9, "max_cutoff": 0.1}, "min_cutoff must not be above max_cutoff"),
    ],
)
def test_wrong_settings_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        TciSettings(**given)
