import json
import sys
from pathlib import Path

import networkx as nx
import pytest

from rinn.genomics.tci.calls import find_drivers, permute_events
from rinn.genomics.tci.events import as_events
from rinn.genomics.tci.settings import TciSettings
from rinn.graphs.basics import by_role
from rinn.simulate.datasets import make_dataset

SETTINGS = TciSettings(permutations=10)


def true_pairs(truth):
    outputs = set(by_role(truth, "output"))
    return {
        (name, effect)
        for name in by_role(truth, "input")
        for effect in nx.descendants(truth, name) & outputs
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_drivers_of_simulated_tumours_are_found(seed):
    simulation = make_dataset("or", samples=3000, seed=seed)
    events = as_events(simulation.x, simulation.y)
    found = find_drivers(events, SETTINGS)
    pairs = true_pairs(simulation.truth)
    causes = [sga for sga, _ in pairs]
    able = {sga for sga in causes if causes.count(sga) >= SETTINGS.min_degs}
    called = {events.sgas[number] for number in found.features.sgas}
    assert called <= able
    assert len(called) >= len(able) / 2
    rows = found.calls.targets[["sga", "deg"]].itertuples(index=False)
    targets = {(events.sgas[sga], events.degs[deg]) for sga, deg in rows}
    assert {pair for pair in pairs if pair[0] in called} <= targets
    assert len(targets & pairs) > 0.7 * len(targets)


def test_permuted_outputs_call_almost_nothing():
    simulation = make_dataset("or", samples=3000, seed=0)
    events = as_events(simulation.x, simulation.y)
    real = find_drivers(events, SETTINGS)
    permuted = [find_drivers(permute_events(events, "rows", s), SETTINGS) for s in range(5, 10)]
    assert all(found.features.sgas == () for found in permuted)
    calls = sum(len(found.calls.calls) for found in permuted) / len(permuted)
    assert calls < 0.05 * len(real.calls.calls)


def test_tissues_in_strata_call_no_sga_without_effect():
    simulation = make_dataset("tcga-or", samples=2500, seed=0)
    x, y, tissues = simulation.x, simulation.y, simulation.labels["tissue"]
    limits = {"permutations": 3, "min_rate": 0.3}
    blind = find_drivers(as_events(x, y), TciSettings(**limits))
    strata = TciSettings(tissue_model="strata", **limits)
    aware = find_drivers(as_events(x, y, tissues), strata)
    false = [
        [x.columns[number] for number in found.features.sgas if number < 634]
        for found in (blind, aware)
    ]
    assert len(false[0]) >= 3  # what tissue alone does
    assert false[1] == []
    assert len(aware.features.sgas) >= 3


def test_benchmark_runs(tmp_path, monkeypatch, capsys):
    folder = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "path", list(sys.path))
    import bench_tci

    small = "--samples 60 --sgas 20 --degs 5 --literal-samples 50 --permutations 1 --repeats 1"
    file = tmp_path / "bench.json"
    bench_tci.main([*small.split(), "--json", str(file)])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0]["furthest_posterior"] < 1e-6
    assert all(line["seconds"]["median"] > 0 for line in lines)
    bench_tci.main([*small.split(), "--recovery", "--seeds", "1", "--only", "or"])
    assert '"data": "or"' in capsys.readouterr().out
