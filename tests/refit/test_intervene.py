"""What-ifs on a linear network, whose answers can be worked out by hand.

y0 = 100 + 10 * 0.25 * L1, y1 = L1, L1 = a * A + 0.5 * (B - 10) / 2, a = 2 and 4 in the two models,
L2 = -L1 + 3 * TP53, y2 = 2 * L2, TP53_y = -L2; A is on in a quarter of the samples.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from linear_run import EDGES, INPUTS, make_model, make_table, write_linear_run
from rinn.errors import InputError
from rinn.refit.intervene import cut_edges, predict_do
from rinn.refit.model import run_model
from rinn.refit.samples import find_activity
from rinn.runs.model import load_model
from run_folders import make_comparison

SPREAD = np.sqrt(2) / 2  # standard deviation of two numbers, in units of their distance


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(write_linear_run(tmp_path_factory.mktemp("runs") / "run"))


def ask(model, **question):
    found = predict_do(model, make_table(), **question).to_frame()
    return found.loc[["y0", "y1", "y2", "TP53_y"]]


class TestInputs:
    def test_exact_change(self, model):
        found = ask(model, inputs={"A": 1})
        # A rises by 0.75 on average, L1 by 1.5 and 3, and the outputs follow.
        assert found["change"].tolist() == pytest.approx([5.625, 2.25, -4.5, 2.25])
        assert found["spread"].tolist() == pytest.approx(
            [SPREAD * 3.75, SPREAD * 1.5, SPREAD * 3, SPREAD * 1.5]
        )
        assert (found["after"] - found["before"]).tolist() == pytest.approx(found["change"])

    def test_before(self, model):
        # Means: A 0.25, B 10, TP53 0.5; L1 = 0.5 and 1, L2 = 1 and 0.5.
        found = ask(model, inputs={"A": 1})
        assert found["before"].tolist() == pytest.approx([101.875, 0.75, 1.5, -0.75])

    def test_free_networks_are_a_second_opinion(self, model):
        found = ask(model, inputs={"A": 1})
        assert found["free_change"].tolist() == pytest.approx([0.75 * 2, 0, 0, 0], abs=1e-5)
        assert found["free_spread"].tolist() == pytest.approx([SPREAD * 1.5, 0, 0, 0], abs=1e-5)

    def test_the_users_units(self, model):
        found = ask(model, inputs={"B": 14})  # B is 10 on average; one unit moves L1 by 0.25
        assert found["change"].tolist() == pytest.approx([2.5, 1.0, -2.0, 1.0])
        assert found["spread"].tolist() == pytest.approx([0.0] * 4, abs=1e-12)

    def test_words(self, model):
        assert ask(model, inputs={"B": "high"}).equals(ask(model, inputs={"B": 12.0}))
        assert ask(model, inputs={"A": "low"}).equals(ask(model, inputs={"A": 0}))
        assert ask(model, inputs={"B": "mean"})["change"].abs().max() < 1e-12

    def test_by_sample(self, model):
        found = predict_do(model, make_table(), inputs={"A": 1})
        assert found.samples == tuple(f"s{row}" for row in range(8))
        assert found.by_sample[:, 1].tolist() == pytest.approx([0, 0] + [3.0] * 6)

    def test_setting_what_is_set(self, model):
        one = make_table().head(2)  # A is on already
        found = predict_do(model, one, inputs={"A": 1})
        assert np.array_equal(found.change, np.zeros(4))


class TestLatents:
    def test_exact_change(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ask(model, latents={"L2": 2.0})
        # L2 is 1 on average in the first model and 0.5 in the second; nothing else moves.
        assert found["change"].tolist() == pytest.approx([0.0, 0.0, 2.5, -1.25])
        assert "free_change" not in found

    def test_what_lies_above_stays(self, model):
        found = ask(model, latents={"L2": 0.0})
        assert found["change"][["y0", "y1"]].tolist() == [0.0, 0.0]

    def test_a_set_latent_hides_its_causes(self, model):
        both = predict_do(model, make_table(), inputs={"A": 1}, latents={"L1": 0.0})
        alone = predict_do(model, make_table(), latents={"L1": 0.0})
        assert both.change.tolist() == pytest.approx(alone.change.tolist())

    def test_words(self, model):
        high = model.ranges["L2"].high
        assert ask(model, latents={"L2": "high"}).equals(ask(model, latents={"L2": high}))


class TestEdges:
    def test_the_only_edge(self, model):
        found = ask(model, inputs={"A": 1}, without=[("A", "L1")])
        assert found["change"].tolist() == [0.0] * 4

    def test_one_path_of_two(self, model):
        found = ask(model, inputs={"A": 1}, without=[("L1", "L2")])
        assert found["change"].tolist() == pytest.approx([5.625, 2.25, 0.0, 0.0])
        assert "free_change" not in found

    def test_edges_alone(self, model):
        # y1 then sees L1 at 0 instead of 0.5 and 1.
        found = ask(model, without=[("L1", "y1")])
        assert found["change"].tolist() == pytest.approx([0, -0.75, 0, 0])

    def test_what_evens_out_over_the_samples_has_a_size(self, model):
        found = predict_do(model, make_table(), without=[("TP53_x", "L2")])
        # TP53 counts as 0.5 where it is 0 or 1: L2 moves by 1.5 up and down.
        assert found.change.tolist() == pytest.approx([0.0] * 4)
        assert found.size.tolist() == pytest.approx([0.0, 0.0, 3.0, 1.5])

    def test_an_edge_from_an_input_is_held_at_the_mean_of_the_runs_table(self, model):
        on = make_table()[lambda t: t["A"] == 1]
        found = predict_do(model, on, without=[("A", "L1")])
        # A counts as 0.25 instead of 1.
        assert found.change[1] == pytest.approx(-0.75 * 3)

    def test_cutting_equals_a_graph_without_the_edge(self):
        model = make_model(2.0)
        x = np.random.default_rng(0).normal(size=(4, 30))
        cut = cut_edges(model, [("L1", "L2"), ("TP53_x", "L2")], {"TP53_x": 0.5})
        values = run_model(cut, x)
        assert values["L2"] == pytest.approx(np.full(30, 1.5))
        assert np.array_equal(values["y1"], run_model(model, x)["y1"])
        assert set(model.functions["L2"].parents) == {"L1", "TP53_x"}  # left as it was

    def test_curved_functions(self):
        """Cutting folds the mean into the curve too."""
        model = make_model(2.0)
        own = model.functions["L2"]
        rng = np.random.default_rng(1)
        curved = type(own)(
            own.parents, 0.3, own.weights, rng.normal(size=8), rng.normal(size=(8, 2)),
            rng.normal(size=8),
        )  # fmt: skip
        model = type(model)(model.inputs, model.outputs, model.functions | {"L2": curved})
        x = rng.normal(size=(4, 20))
        x[2] = 0.7
        expected = run_model(model, x)["L2"]
        found = run_model(cut_edges(model, [("TP53_x", "L2")], {"TP53_x": 0.7}), x)["L2"]
        assert found == pytest.approx(expected)


class TestBinaryOutputs:
    def test_probabilities(self, tmp_path):
        folder = write_linear_run(tmp_path / "run", notes={"loss": "bce"})
        model = load_model(folder)
        found = predict_do(model, make_table(), inputs={"A": 1})
        table = make_table()
        changes = []
        for strength in (2.0, 4.0):
            rest = 0.25 * (table["B"] - 10)
            changes.append((expit(strength + rest) - expit(strength * table["A"] + rest)).mean())
        assert found.change[1] == pytest.approx(np.mean(changes))
        assert found.spread[1] == pytest.approx(np.std(changes, ddof=1))
        assert ((found.after >= 0) & (found.after <= 1)).all()


class TestCautions:
    def test_outside_the_data(self, model):
        with pytest.warns(UserWarning, match=r"'B' = 99 lies outside .* from 3 to 17"):
            predict_do(model, make_table(), inputs={"B": 99})
        with pytest.warns(UserWarning, match="'L1' = 50 lies outside"):
            predict_do(model, make_table(), latents={"L1": 50})

    def test_half_of_a_mutation(self, model):
        with pytest.warns(UserWarning, match="it is 0 or 1 only"):
            predict_do(model, make_table(), inputs={"A": 0.5})

    def test_an_input_without_edges(self, model):
        with pytest.warns(UserWarning, match="'idle' has no edge in the graph"):
            found = predict_do(model, make_table(), inputs={"idle": 1})
        assert found.change.tolist() == [0.0] * 4

    def test_a_graph_that_does_not_carry_the_data(self, tmp_path):
        folder = write_linear_run(tmp_path / "run", comparison=make_comparison(False))
        with pytest.warns(UserWarning, match="misses something"):
            predict_do(load_model(folder), make_table(), inputs={"A": 1})

    def test_samples_outside_the_data(self, model):
        table = make_table().assign(B=40.0, TP53=0.5, more=1.0)
        with pytest.warns(UserWarning, match="X has") as caught:
            find_activity(model, table)
        said = [str(warning.message) for warning in caught]
        assert any("'B', 'TP53_x'" in words for words in said)
        assert any("left out: 'more'" in words for words in said)

    def test_one_model_has_no_spread(self, tmp_path):
        folder = write_linear_run(tmp_path / "run", strengths=(2.0,), slopes=())
        found = predict_do(load_model(folder), make_table(), inputs={"A": 1})
        assert np.isnan(found.spread).all()
        assert found.free_change is None


class TestWrongQuestions:
    @pytest.mark.parametrize(
        ("question", "said"),
        [
            ({}, "nothing was given"),
            ({"inputs": {"a": 1}}, r"got 'a'; did you mean 'A'\?"),
            ({"inputs": {"L1": 1}}, "inputs to set must be inputs"),
            ({"latents": {"L3": 1}}, "did you mean 'L"),
            ({"without": [("L1", "y3")]}, r"got 'L1:y3'; did you mean 'L1:y"),
            ({"without": [("nobody", "y3")]}, "got 'nobody:y3'$"),
            ({"inputs": {"A": float("nan")}}, "must be finite"),
            ({"inputs": {"A": "full"}}, "low, mean or high, got 'full'"),
        ],
    )
    def test_a_sentence(self, model, question, said):
        with pytest.raises(InputError, match=said):
            predict_do(model, make_table(), **question)

    def test_a_run_without_the_activity_of_its_latents(self, tmp_path):
        folder = write_linear_run(tmp_path / "run")
        (folder / "activity.csv").unlink()
        with pytest.raises(InputError, match=r"activity\.csv\) must be an existing file"):
            load_model(folder)


class TestSamples:
    def test_the_activity_of_the_runs_own_samples(self, model):
        found = find_activity(model, make_table())
        expected = 3 * make_table()["A"] + 0.25 * (make_table()["B"] - 10)
        assert found["L1"].tolist() == pytest.approx(expected.tolist())
        assert found.index.tolist() == make_table().index.tolist()

    def test_column_order_and_names_of_the_run(self, model):
        table = make_table()
        shuffled = table.rename(columns={"TP53": "TP53_x"})[["idle", "TP53_x", "B", "A"]]
        assert find_activity(model, shuffled).equals(find_activity(model, table))

    def test_an_array_is_in_the_order_of_the_run(self, model):
        found = find_activity(model, make_table().to_numpy())
        assert found["L1"].tolist() == find_activity(model, make_table())["L1"].tolist()
        assert found.index.tolist() == [str(row) for row in range(1, 9)]

    def test_a_file(self, model, tmp_path):
        make_table().to_csv(tmp_path / "x.csv", index_label="sample")
        found = find_activity(model, tmp_path / "x.csv")
        assert found.equals(find_activity(model, make_table()))

    def test_a_missing_input(self, model):
        table = make_table().drop(columns="A").rename(columns={"B": "b"})
        with pytest.raises(InputError, match=r"lacks 'A', 'B'"):
            find_activity(model, table)

    def test_missing_values(self, model):
        table = make_table()
        table.loc["s3", "B"] = np.nan
        with pytest.raises(InputError, match="no missing or infinite values"):
            find_activity(model, table)

    def test_the_table_is_left_as_it_is(self, model):
        table = make_table()
        predict_do(model, table, inputs={"A": 1})
        pd.testing.assert_frame_equal(table, make_table())


def test_edges_are_those_of_the_graph(model):
    assert set(model.edges) == {("A", "L1"), *EDGES}
    assert set(INPUTS) >= {source for source, _ in model.edges} - {"L1", "L2"}


def test_a_run_without_latents(tmp_path):
    folder = write_linear_run(tmp_path / "run")
    content = json.loads((folder / "refit.json").read_text())
    none = {
        "parents": [],
        "bias": 2.0,
        "weights": [],
        "output_weights": [],
        "hidden": [],
        "hidden_bias": [],
    }
    content["models"] = [dict.fromkeys(("y0", "y1", "y2", "TP53_y"), none)] * 2
    (folder / "refit.json").write_text(json.dumps(content))
    model = load_model(folder)
    assert find_activity(model, make_table()).shape == (8, 0)
    with pytest.warns(UserWarning, match="has no edge"):
        assert predict_do(model, make_table(), inputs={"A": 1}).change.tolist() == [0.0] * 4
