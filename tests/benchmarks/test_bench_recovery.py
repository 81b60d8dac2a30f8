import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from rich.console import Console

from rinn.graphs.basics import by_role, collapse, find_twins
from rinn.refit.compare import Comparison
from rinn.simulate.datasets import make_dataset
from rinn.simulate.graphs import paper_graph

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import bench_recovery as bench

STRATEGIES = ("rinn", "regression")


def make_true_graph():
    return collapse(paper_graph())


def make_empty_graph():
    graph = paper_graph()
    graph.remove_nodes_from(by_role(graph, "latent"))
    return graph


def make_fit(graph, **parts):
    return SimpleNamespace(latent=SimpleNamespace(graph=graph), **parts)


@pytest.fixture
def fits(monkeypatch):
    """No training: the true graph, and a list of the settings with which it was asked for."""
    asked = []

    def fit_data(data, settings, devices, *, refit=True):
        asked.append((data, settings))
        return make_fit(make_true_graph())

    monkeypatch.setattr(bench, "fit_data", fit_data)
    return asked


def make_record(suite="paper", dataset="or", seed=10, *, f1=1.0, edges=40, case=(), **more):
    named = {"suite": suite, "dataset": dataset, "n": 5000, "seed": seed} | dict(case)
    score = {"precision": f1, "recall": f1, "f1": f1}
    return {
        "case": asdict(bench.Case(**named)),
        "versions": {"source": "abc"},
        "scores": {"latents": score, "edges": score, "order_errors": 0},
        "counts": {"latents": {"tp": 4, "fp": 0, "fn": 0}},
        "found": {"latents": 4, "edges": edges},
        "latents": {"L1": ["y0", "y1"]},
        "seconds": 2.0,
    } | more


def find_verdicts(records, budget="default"):
    by_suite = bench.group_by(records, lambda record: record["case"]["suite"])
    checked = (bench.check_bar(b, by_suite.get(b.suite, [])) for b in bench.list_bars(budget))
    return {(suite, meaning): rest for suite, meaning, *rest in checked}


def print_report(records):
    console = Console(width=240, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    bench.report(records, console)
    console.file.close()
    return console.export_text()


def test_plan_is_complete_and_always_the_same():
    cases = bench.plan_cases(bench.SUITES)
    assert cases == bench.plan_cases(bench.SUITES)
    assert len(cases) == len(set(cases))
    counts = {suite: sum(case.suite == suite for case in cases) for suite in bench.SUITES}
    assert counts == {
        "paper": 4 * 5, "samples": 3 * 5 * 5, "tcga": 2 * 5, "random": 30, "null": 3 * 2 * 5,
        "seeds": 2 * 5, "random60": 60, "orphans60": 60,
    } | dict.fromkeys(bench.WORLDS_OF_20, 20) | dict.fromkeys(bench.WORLDS_OF_10, 10)  # fmt: skip
    seeds = {case.seed for case in cases if case.suite in ("paper", "samples", "tcga", "null")}
    assert seeds == {10, 11, 12, 13, 14}
    assert {case.search_seed for case in cases if case.suite == "seeds"} == set(range(5))


def test_seeds_and_budget_are_those_asked_for():
    cases = bench.plan_cases(["paper", "tcga"], [3], "paper", 4, 2)
    assert [case.dataset for case in cases] == [*bench.PAPER, *bench.TCGA]
    assert {case.seed for case in cases} == {3}
    settings = cases[0].settings
    assert (settings.budget, settings.trials, settings.epochs) == ("paper", 4, 2)
    assert cases[0].label == "budget paper, 4 networks, 2 epochs"


@pytest.mark.slow
def test_random_graphs_keep_their_ranges():
    drawn = [bench.draw_random(number, 60) for number in range(8)]
    for number, (simulation, notes) in enumerate(drawn):
        found = simulation.parameters
        assert found["mechanism"] == ("gaussian" if number % 2 else "or")
        assert 2 <= found["levels"] <= 3
        assert 4 <= found["latents"] <= 12
        assert 10 <= found["inputs"] <= 30
        assert 16 <= found["outputs"] <= 30
        assert notes["attempt"] >= 0
    assert sum(simulation.parameters["orphans"] == 0.3 for simulation, _ in drawn) == 4
    again, _ = bench.draw_random(7, 60)
    assert again.y.equals(drawn[7][0].y)
    assert nx.utils.graphs_equal(again.truth, drawn[7][0].truth)


QUICK = ("logic20", "curved20", "twins20", "mixed10")
SUITES = [pytest.param(s, marks=[pytest.mark.slow] * (s not in QUICK)) for s in bench.WORLDS]


@pytest.mark.parametrize("suite", SUITES)
def test_worlds_keep_their_ranges(suite):
    world, found = bench.WORLDS[suite], []
    for number in (500, 501):
        simulation, truth, notes = bench.draw_world(suite, number, 60)
        assert len(simulation.x) == len(simulation.y) == 60
        assert truth is simulation.truth
        for name in ("levels", "latents", "inputs", "outputs"):
            low, high = getattr(world, name)
            assert low <= notes[name] <= high
        assert notes.items() >= dict(world.fixed).items()
        faintest = bench.draw_world(suite, number, bench.SAMPLES)[2]["faintest"]
        assert faintest >= (bench.FAINT if world.visible else 0)
        assert notes["faintest"] == pytest.approx(faintest * np.sqrt(60 / 5000), abs=0.01)
        found.append(notes["mechanism"])
    assert found == [world.mechanisms[number % len(world.mechanisms)] for number in (0, 1)]
    again, _, _ = bench.draw_world(suite, 501, 60)
    assert again.y.equals(simulation.y)


def test_worlds_have_seeds_of_their_own():
    starts = sorted(world.seed for world in bench.WORLDS.values())
    assert starts[0] > bench.FRESH + 10_000
    assert min(np.diff(starts)) > 10_000


def test_worlds_are_what_their_suites_say():
    truth = bench.draw_world("direct20", 500, 60)[1]
    roles = [(truth.nodes[a]["role"], truth.nodes[b]["role"]) for a, b in truth.edges]
    assert roles.count(("input", "output")) == 5
    twins = bench.draw_world("twins20", 500, 60)[1]
    assert sum(len(parts) for parts in find_twins(twins).values()) == 4
    unequal = bench.draw_world("unequal20", 501, 60)[1]
    sizes = [abs(weight) for *_, weight in unequal.edges(data="weight")]
    assert max(sizes) / min(sizes) > 10


def test_smaller_suites_are_what_they_say():
    for suite, operator in (("and10", "and"), ("xor10", "xor")):
        truth = bench.draw_world(suite, 501, 60)[1]
        assert {truth.nodes[node]["operator"] for node in by_role(truth, "latent")} == {operator}
    truth = bench.draw_world("levels10", 500, 60)[1]
    assert nx.dag_longest_path_length(truth.subgraph(by_role(truth, "latent"))) == 3
    noisy = bench.draw_world("noisy10", 501, 2000)[0].x
    assert noisy.corr().to_numpy()[0, 1:].mean() == pytest.approx(0.5 / 1.1, abs=0.06)
    flips = bench.draw_world("flips10", 501, 2000)[0]
    assert flips.parameters["mechanism"] == "or"
    for suite in ("factor10", "shared10"):
        (mechanism,), strength = bench.WORLDS[suite].mechanisms, dict(bench.WORLDS[suite].fixed)
        with_factor, plain = (
            make_dataset("random", samples=2000, seed=3, mechanism=mechanism, **given).y
            for given in (strength, {})
        )
        assert not with_factor.equals(plain)


def test_rinn_draws_edges_between_outputs_where_the_world_has_them():
    case, other = (bench.Case("outputs10", "outputs10", 500, 500, strategy=s) for s in STRATEGIES)
    assert case.settings.output_edges
    assert not other.settings.output_edges
    assert not bench.Case("random60", "random60", 500, 500).settings.output_edges
    record = bench.measure(replace(other, n=2000), "cpu")
    assert "error" not in record, record["traceback"]
    assert record["counts"]["output_edges"] == {"tp": 0, "fp": 0, "fn": 5}


def test_old_random_graphs_are_a_world_too():
    simulation, truth, notes = bench.draw_world("random", 3, 60)
    assert simulation.y.equals(bench.draw_random(3, 60)[0].y)
    assert truth is simulation.truth
    assert notes["mechanism"] == "gaussian"


def test_first_number_and_strategy_are_those_asked_for():
    cases = bench.plan_cases(["random", "twins20", "paper"], first=500, strategies=["regression"])
    assert {case.strategy for case in cases} == {"regression"}
    numbers = {
        suite: [case.seed for case in cases if case.suite == suite] for suite in bench.SUITES
    }
    assert numbers["random"] == list(range(500, 530))
    assert numbers["twins20"] == list(range(500, 520))
    assert min(numbers["paper"]) == 10
    assert cases[0].settings.strategy == "regression"


def test_several_strategies_on_the_same_few_graphs():
    cases = bench.plan_cases(["curved20"], first=200, graphs=2, trials=8, strategies=["dnn", "nem"])
    assert [(case.seed, case.strategy, case.trials) for case in cases] == [
        (200, "dnn", 8), (200, "nem", None), (201, "dnn", 8), (201, "nem", None)
    ]  # fmt: skip


def test_a_case_that_takes_too_long_is_stopped_and_stays_so(tmp_path, capsys):
    out = tmp_path / "cases.jsonl"
    words = "--suite curved20 --first 200 --graphs 1 --strategy regression --case-limit 1"
    bench.main([*words.split(), "--device", "cpu", "--out", str(out)])
    (record,) = bench.load_records(out).values()
    assert record["stopped"] == 1
    assert "stopped at its limit of 1 s" in capsys.readouterr().out
    bench.main([*words.split(), "--device", "cpu", "--out", str(out)])
    assert "0 of 1 cases to run" in capsys.readouterr().out


@pytest.mark.slow
def test_a_case_within_its_limit_is_that_of_this_process(tmp_path):
    case = bench.Case("curved20", "curved20", 500, 200, strategy="regression")
    ours, theirs = bench.measure(case, "cpu"), bench.measure_limited(case, "cpu", 300)
    assert ours["edges"] == theirs["edges"]


def test_graphs_of_two_suites_are_no_twins():
    one, other = (bench.plan_cases([suite])[0] for suite in ("random60", "orphans60"))
    assert not one.is_like(other)


def test_baseline_through_the_same_cases(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(bench.WORLDS, "direct20", replace(bench.WORLDS["direct20"], graphs=2))
    out = tmp_path / "cases.jsonl"
    words = "--suite direct20 --first 500 --strategy regression --device cpu --out"
    bench.append_record(out, make_record("direct20", "direct20", 500))
    bench.main([*words.split(), str(out)])
    records = [r for r in bench.load_records(out).values() if r["case"]["strategy"] == "regression"]
    assert [record["case"]["seed"] for record in records] == [500, 501]
    for record in records:
        assert "error" not in record, record["traceback"]
        assert record["truth"]["direct"] == 5
        straight = [edge for edge in record["edges"] if edge[0][0] == "x" and edge[1][0] == "y"]
        assert len(straight) == record["found"]["direct"]
        assert 0 < record["scores"]["edges"]["precision"] <= 1
    said = capsys.readouterr().out
    assert "direct20 gaussian, regression" in said
    verdict = find_verdicts(list(bench.load_records(out).values()))["direct20", "latents' F1"]
    assert verdict[1:] == ["1", "1", "met so far"]


def test_refused_sizes_are_drawn_again(monkeypatch):
    real, refused = bench.make_dataset, []

    def make_dataset(name, **parameters):
        if len(refused) < 2:
            refused.append(parameters)
            raise bench.InputError("no graph was found")
        return real(name, **parameters)

    monkeypatch.setattr(bench, "make_dataset", make_dataset)
    simulation, notes = bench.draw_random(0, 60)
    assert notes["attempt"] == 2
    for parameters in refused:
        assert parameters["outputs"] != simulation.parameters["outputs"]


def test_generator_that_refuses_everything_is_an_error(monkeypatch):
    def refuse(*_, **__):
        raise bench.InputError("no graph was found")

    monkeypatch.setattr(bench, "make_dataset", refuse)
    with pytest.raises(bench.InputError, match="3 has none in 50 sizes"):
        bench.draw_random(3, 60)


def test_null_permutes_the_rows_of_y_together():
    null, truth, notes = bench.make_data(bench.Case("null", "or", 250, 10))
    plain, _, _ = bench.make_data(bench.Case("paper", "or", 250, 10))
    np.testing.assert_array_equal(null.x, plain.x)
    assert (null.y != plain.y).any()
    order = np.random.default_rng([bench.FRESH, 10]).permutation(250)
    np.testing.assert_array_equal(null.y, plain.y[order])
    assert truth.number_of_edges() == 0
    assert by_role(truth, "latent") == []
    assert notes["permuted"]


def test_run_goes_on_where_it_was_killed(fits, tmp_path, capsys):
    out = tmp_path / "deep" / "cases.jsonl"
    words = ["--suite", "paper", "--seeds", "10,11", "--device", "cpu", "--out", str(out)]
    bench.main(words)
    assert len(fits) == 8
    lines = out.read_text().splitlines()
    assert len(lines) == 8
    out.write_text("\n".join(lines[:5]) + "\n" + lines[5][:40])
    bench.main(words)
    assert len(fits) == 8 + 3
    records = bench.load_records(out)
    assert list(records) == bench.plan_cases(["paper"], [10, 11])
    bench.main(words)
    assert len(fits) == 8 + 3
    bench.main([*words, "--trials", "4"])
    assert len(fits) == 8 + 3 + 8
    assert "met" in capsys.readouterr().out


def test_record_holds_what_was_found(fits, monkeypatch):
    comparison = Comparison(0.5, 0.4, 0.1, 0.02)
    refit = SimpleNamespace(to_json=lambda: {"test_loss": 0.5, "models": [1] * 1000})
    fit = make_fit(make_true_graph(), refit=refit, comparison=comparison)
    monkeypatch.setattr(bench, "fit_data", lambda *_, **_more: fit)
    record = bench.measure(bench.Case("paper", "or", 250, 10), "cpu", jobs=2)
    assert record["scores"]["latents"]["f1"] == 1
    assert record["scores"]["shd"] == 0
    assert record["found"] == record["truth"]
    assert record["refit"] == {"test_loss": 0.5}
    assert record["comparison"]["difference"] == 0.1
    assert record["comparison"]["is_adequate"] is False
    assert record["settings"]["budget"] == "default"
    assert record["versions"]["jax"]
    assert record["jobs"] == 2
    assert "cpu" in record["device"]
    assert len(record["edges"]) == record["found"]["edges"]
    assert json.loads(json.dumps(record)) == record


def test_same_fit_is_not_made_twice(fits, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SIZES", (5000,))
    out = tmp_path / "cases.jsonl"
    words = ["--seeds", "10", "--device", "cpu", "--out", str(out)]
    bench.main([*words, "--suite", "paper,samples,null"])
    assert len(fits) == 4 + 0 + 6
    copied = [r for r in bench.load_records(out).values() if "copied_from" in r]
    assert {r["case"]["dataset"] for r in copied} == {"or", "gaussian", "logic"}
    assert {(r["case"]["suite"], r["copied_from"]) for r in copied} == {("samples", "paper")}


def test_raising_case_is_recorded_and_run_again(fits, tmp_path, monkeypatch, capsys):
    good = bench.fit_data

    def fit_data(data, settings, devices, *, refit=True):
        if len(fits) == 1:
            fits.append("raises")
            raise RuntimeError("out of memory")
        return good(data, settings, devices)

    monkeypatch.setattr(bench, "fit_data", fit_data)
    out = tmp_path / "cases.jsonl"
    words = ["--suite", "paper", "--seeds", "10", "--device", "cpu", "--out", str(out)]
    bench.main(words)
    records = list(bench.load_records(out).values())
    assert [r.get("error") for r in records] == [None, "RuntimeError: out of memory", None, None]
    assert "fit_data" in records[1]["traceback"]
    assert "gaussian n=5000 seed 10 search 0: failed: RuntimeError" in capsys.readouterr().out
    bench.main(words)
    assert len(fits) == 5
    assert not any("error" in record for record in bench.load_records(out).values())


def test_limit_starts_no_further_case(fits, tmp_path, capsys):
    out = tmp_path / "cases.jsonl"
    words = ["--suite", "paper", "--device", "cpu", "--limit", "1e-9", "--out", str(out)]
    bench.main(words)
    assert fits == []
    assert "20 cases are left" in capsys.readouterr().out


def test_report_alone_fits_nothing(fits, tmp_path, capsys):
    out = tmp_path / "cases.jsonl"
    bench.append_record(out, make_record())
    bench.main(["--report", "--out", str(out)])
    assert fits == []
    assert "bars: budget default" in capsys.readouterr().out


def test_report_gives_means_and_spread():
    records = [make_record(seed=seed, f1=f1) for seed, f1 in ((10, 0.8), (11, 0.9), (12, 1.0))]
    records[0]["scores"]["order_errors"] = 2
    records[0]["comparison"] = {"difference": 0.1, "error": 0.2}
    records[1]["comparison"] = {"carries": False}
    (row,) = [line for line in print_report(records).splitlines() if "0.900 ± 0.100" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[:3] == ["or", "5000", "3"]
    assert cells[3:9] == ["0.900 ± 0.100"] * 6
    assert cells[9:12] == ["", "", "67%"]
    assert cells[13:] == ["40.0 ± 0.0", "50%", "", "2 ± 0"]


def test_empty_graph_draws_nothing_wrong(fits, monkeypatch):
    monkeypatch.setattr(bench, "fit_data", lambda *_, **_more: make_fit(make_empty_graph()))
    record = bench.measure(bench.Case("paper", "or", 250, 10), "cpu")
    assert record["scores"]["latents"] == {"precision": 0, "recall": 0, "f1": 0}
    assert bench.find_values([record], "precision") == [1]
    assert bench.find_values([record], "f1") == [0]
    null = bench.measure(bench.Case("null", "or", 250, 10), "cpu")
    assert null["scores"]["latents"]["f1"] == 1
    assert null["found"]["edges"] == null["truth"]["edges"] == 0


def test_bars_are_met_or_missed():
    f1 = {"matrix": 0.985, "gaussian": 0.96, "or": 0.97, "logic": 0.95}
    records = [make_record(dataset=name, f1=value) for name, value in f1.items()]
    records += [make_record("null", edges=edges, seed=edges) for edges in (0, 1)]
    verdicts = find_verdicts(records)
    assert [verdicts["paper", f"latents' F1, {name}"][-1] for name in f1] == [
        "met so far", "met so far", "missed so far", "met so far",
    ]  # fmt: skip
    assert verdicts["paper", "latents' precision, each dataset"] == [
        ">= 0.98", "0.95 (logic)", "4", "missed so far",
    ]  # fmt: skip
    assert verdicts["paper", "share of runs without order errors"][-1] == "met so far"
    drawn = verdicts["null", "edges drawn where there is nothing"]
    assert drawn[1:] == ["0.5", "2", "missed so far"]
    assert verdicts["random", "latents' F1"][-1] == "open"
    stricter = find_verdicts(records, "paper")
    assert stricter["paper", "latents' F1, matrix"][-1] == "missed so far"


def test_bar_with_every_planned_run_is_settled():
    records = [make_record("random", "random", case.seed) for case in bench.plan_cases(["random"])]
    assert find_verdicts(records)["random", "latents' F1"][1:] == ["1", "30", "met"]


def test_samples_bar_looks_at_one_thousand_samples():
    case = {"n": 1000}
    records = [make_record("samples", f1=0.95, case=case), make_record("samples", f1=0.7)]
    verdicts = find_verdicts(records)
    assert verdicts["samples", "latents' F1 at n = 1000, each dataset"][-1] == "met so far"
    precision = verdicts["samples", "latents' precision, each dataset and n"]
    assert precision[1:] == ["0.7 (or, 5000)", "2", "missed so far"]


@pytest.mark.parametrize(("right", "verdict"), [(19, "met"), (18, "missed")])
def test_paper_bar_counts_true_graphs(right, verdict):
    cases = bench.plan_cases(["paper"])
    records = [make_record(dataset=case.dataset, seed=case.seed) for case in cases]
    for number, record in enumerate(records):
        record["scores"]["shd"] = 0 if number < right else 2
    assert (
        find_verdicts(records)["paper", "share of runs with the true graph, SHD 0"][-1] == verdict
    )


def test_failed_run_keeps_a_bar_from_being_met():
    failed = make_record(seed=11) | {"error": "RuntimeError: out of memory"}
    verdicts = find_verdicts([make_record(), failed])
    assert verdicts["paper", "latents' F1, or"][1:] == ["1", "1 + 1 failed", "missed so far"]
    assert "out of memory" in print_report([make_record(), failed])


@pytest.mark.parametrize(("others", "verdict"), [(1, "met"), (2, "missed")])
def test_search_seeds_agree_with_the_majority(others, verdict):
    records = [make_record("seeds", case={"search_seed": seed}) for seed in range(5)]
    for record in records[:others]:
        record["latents"] = {"L1": ["y0", "y2"]}
    records[4]["latents"] = {"other name": ["y0", "y1"]}
    verdict += " so far"  # the other dataset is missing
    assert bench.count_identical(records) == 5 - others
    found = find_verdicts(records)["seeds", "search seeds of 5 with the same latents, each dataset"]
    assert found[1:] == [f"{5 - others} (or)", "5", verdict]
    assert f"{5 - others} of 5" in print_report(records)


def test_seeds_bar_is_open_before_all_five():
    records = [make_record("seeds", case={"search_seed": seed}) for seed in range(4)]
    verdicts = find_verdicts(records)
    assert verdicts["seeds", "search seeds of 5 with the same latents, each dataset"][-1] == "open"


def test_runs_of_other_source_are_told():
    other = make_record(seed=11, versions={"source": "xyz"})
    assert "2 states of the source: ['abc', 'xyz']" in print_report([make_record(), other])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suite", "papers"], "--suite must be of paper, samples"),
        (["--first", "-1"], "--first must be at least 0, got -1"),
        (["--strategy", "rin"], "got 'rin'; did you mean 'rinn'"),
        (["--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["--trials", "1"], "trials must be a whole number from 2 to 100000, got 1"),
        (["--seeds", "ten"], "invalid literal"),
        (["--report"], "there is no"),
    ],
)
def test_wrong_options_are_refused(words, message, tmp_path, capsys):
    with pytest.raises(SystemExit):
        bench.main([*words, "--out", str(tmp_path / "none.jsonl")])
    assert message in capsys.readouterr().err


def answer_or_die(case):
    if case.seed == 0:
        os._exit(3)
    return {"case": asdict(case), "pid": os.getpid()}


@pytest.mark.slow  # of the benchmark, not of what users run
def test_dead_process_is_recorded_and_replaced():
    cases = iter([bench.Case("paper", "or", 250, seed) for seed in range(3)])
    records = list(bench.run_spawned(answer_or_die, cases, 1))
    assert [record["case"]["seed"] for record in records] == [0, 1, 2]
    assert "its process died" in records[0]["error"]
    assert records[1]["pid"] == records[2]["pid"] != os.getpid()
    assert next(cases, None) is None


@pytest.mark.slow  # of the benchmark, not of what users run
def test_tiny_run_from_data_to_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "SIZES", (250,))
    monkeypatch.setattr(bench, "FEWER", ("or",))
    out = tmp_path / "cases.jsonl"
    words = "--suite samples --seeds 10 --trials 4 --epochs 2 --device cpu --out"
    bench.main([*words.split(), str(out)])
    (record,) = bench.load_records(out).values()
    assert "error" not in record, record["traceback"]
    assert record["case"]["n"] == 250
    assert record["settings"]["trials"] == 4
    assert 0 <= record["scores"]["latents"]["f1"] <= 1
    assert record["seconds"] > 0
    assert "samples: budget default, 4 networks, 2 epochs" in capsys.readouterr().out
