"""The estimator: scikit-learn's own checks, and what they do not ask."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from rinn import RINN, InputError
from rinn.nets.predict import predict_samples
from rinn.refit.model import run_model

TINY = {"trials": 2, "epochs": 5, "bootstraps": 3, "device": "cpu"}
INPUTS, OUTPUTS = list("abcde"), list("pqrs")
ROWS = 100

# The checks that a fit on two tables cannot pass, each with its reason: none.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    # 200 epochs are enough for the score of 0.5 that one of the checks asks for.
    [RINN(trials=2, epochs=200, bootstraps=2, min_samples=10, device="cpu")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
    xfail_strict=True,
)
def test_scikit_learn_finds_nothing(estimator, check):
    check(estimator)


def make_tables(kind="continuous"):
    """Two latents: a and b act on p and q through one, c and d on r and s through the other."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (ROWS, 5)).astype(float)
    latents = np.stack([x[:, 0] + x[:, 1], x[:, 2] + x[:, 3]], axis=1)
    y = np.repeat(latents, 2, axis=1)
    y = 300 + 50 * y + rng.normal(size=y.shape) if kind == "continuous" else (y > 0).astype(float)
    ids = [f"s{row}" for row in range(ROWS)]
    return pd.DataFrame(x, ids, INPUTS), pd.DataFrame(y, ids, OUTPUTS)


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def trained(tables):
    """A fit that is long enough to find latents."""
    return RINN(trials=8, epochs=400, keep=5, bootstraps=5, effects="corrected", device="cpu").fit(
        *tables
    )


def test_parameters_are_stored_as_given_and_cloned():
    model = RINN(budget="paper", trials=6, random_state=3, verbose=True)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert set(model.get_params()) == {
        *("budget", "trials", "epochs", "keep", "select", "loss"),
        *("effects", "direct", "effects_only", "output_edges", "bootstraps", "null"),
        *("device", "random_state", "min_samples", "verbose", "prior", "n_jobs", "client"),
    }


def test_tags_say_what_it_takes():
    tags = get_tags(RINN())
    assert tags.target_tags.multi_output
    assert tags.target_tags.required
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.regressor_tags is not None
    assert tags.transformer_tags is not None


def test_attributes_tell_what_was_found(trained, tables):
    assert isinstance(trained.graph_, nx.DiGraph)
    assert (trained.inputs_, trained.outputs_) == (INPUTS, OUTPUTS)
    assert list(trained.feature_names_in_) == INPUTS
    assert trained.n_features_in_ == 5
    assert len(trained.networks_) == 5
    assert len(trained.trials_) == 8
    assert trained.trials_["kept"].sum() == 5
    assert trained.test_scores_.error.sd > 0
    assert trained.test_scores_.samples == 10
    assert trained.dropped_ == ()
    assert set(INPUTS + OUTPUTS + trained.latents_) == set(trained.graph_)
    places = {name: place for place, name in enumerate(trained.latents_)}
    edges = [edge for edge in trained.graph_.edges if set(edge) <= set(places)]
    assert all(places[cause] < places[effect] for cause, effect in edges)


def test_prediction_is_the_mean_over_the_kept_networks_in_the_users_units(trained, tables):
    x, y = tables
    assert trained.score(x, y) > 0.8
    scaled = trained.model_.x_scale.apply(x.to_numpy()).T.astype(np.float32)
    each = predict_samples(trained.networks_, scaled, trained.model_.likelihood)
    np.testing.assert_allclose(trained.predict(x), each.mean(axis=0), rtol=1e-4)


def test_prediction_follows_the_units_of_the_outputs(tables):
    x, y = tables
    plain = RINN(**TINY).fit(x, y).predict(x)
    scaled = RINN(**TINY).fit(x, 1000 * y - 7).predict(x)
    np.testing.assert_allclose(scaled, 1000 * plain - 7, rtol=1e-3)


def test_prediction_of_binary_outputs_is_a_probability():
    x, y = make_tables("binary")
    model = RINN(trials=2, epochs=400, bootstraps=3, device="cpu").fit(x, y)
    found = model.predict(x)
    assert found.shape == y.shape
    assert ((found > 0) & (found < 1)).all(axis=None)
    assert ((found > 0.5) == y.to_numpy()).mean(axis=None) > 0.9
    assert model.test_scores_.auroc is not None


def test_transform_has_one_named_column_for_each_latent(trained, tables):
    x, _ = tables
    assert trained.latents_, "the test needs a latent"
    assert trained.transform(x).shape == (ROWS, len(trained.latents_))
    assert trained.get_feature_names_out().tolist() == trained.latents_


def test_activity_is_that_of_the_graphs_own_network(trained, tables):
    x, _ = tables
    found = trained.transform(x)
    scaled = trained.model_.x_scale.apply(x.to_numpy()).T
    runs = [run_model(model, scaled) for model in trained.model_.models]
    for column, latent in zip(found.T, trained.latents_, strict=True):
        np.testing.assert_allclose(column, np.mean([run[latent] for run in runs], axis=0))
        assert abs(column.mean()) < 0.2
        assert 0.7 < column.std() < 1.2


def test_no_latent_gives_no_column(trained, tables):
    model = pickle.loads(pickle.dumps(trained))
    model.latents_ = []
    assert model.transform(tables[0]).shape == (ROWS, 0)
    assert model.get_feature_names_out().shape == (0,)


def test_set_output_gives_a_named_frame(trained, tables):
    x, _ = tables
    model = pickle.loads(pickle.dumps(trained)).set_output(transform="pandas")
    found = model.transform(x)
    assert list(found.columns) == model.latents_
    assert list(found.index) == list(x.index)


def test_the_same_random_state_gives_the_same_predictions(tables):
    x, y = tables
    found = [RINN(**TINY, random_state=seed).fit(x, y).predict(x) for seed in (4, np.int64(4), 5)]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[0] - found[2]).to_numpy().max() > 0


def test_a_random_state_object_is_drawn_from(tables):
    x, y = tables
    source = np.random.RandomState(0)
    model = RINN(**TINY, random_state=source)
    first, second = (model.fit(x, y).predict(x).to_numpy() for _ in range(2))
    assert np.abs(first - second).max() > 0
    model.set_params(random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(model.fit(x, y).predict(x), first)
    assert np.isfinite(RINN(**TINY, random_state=None).fit(x, y).predict(x)).all(axis=None)


def test_input_stays_as_it_is(tables):
    x, y = (table.copy() for table in tables)
    model = RINN(**TINY).fit(x, y)
    model.predict(x)
    model.transform(x)
    pd.testing.assert_frame_equal(x, tables[0])
    pd.testing.assert_frame_equal(y, tables[1])


def test_arrays_and_frames_give_the_same_numbers(tables):
    x, y = tables
    framed = RINN(**TINY).fit(x, y)
    plain = RINN(**TINY).fit(x.to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(framed.predict(x), plain.predict(x.to_numpy()))
    assert plain.inputs_ == [f"x{i}" for i in range(5)]
    assert plain.outputs_ == [f"y{i}" for i in range(4)]


def test_works_within_a_pipeline(tables):
    x, y = tables
    model = make_pipeline(StandardScaler(), RINN(**TINY)).fit(x, y)
    assert model.predict(x).shape == y.shape
    assert len(model.get_feature_names_out()) == model.transform(x).shape[1]


def test_works_within_a_grid_search(tables):
    x, y = tables
    grid = {"keep": np.array([1, 2])}
    model = GridSearchCV(RINN(**TINY, min_samples=20), grid, cv=2, refit=False).fit(x, y)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("as_array", [False, True])
def test_one_output_may_be_one_dimensional(tables, as_array):
    x, y = tables
    flat = RINN(**TINY).fit(x, y["p"].to_numpy() if as_array else y["p"])
    tall = RINN(**TINY).fit(x, y[["p"]])
    assert flat.outputs_ == ["y0" if as_array else "p"]
    assert flat.predict(x).shape == (ROWS,)
    np.testing.assert_array_equal(np.asarray(flat.predict(x))[:, None], tall.predict(x))


def test_constant_columns_are_left_out_and_put_back(tables):
    x, y = tables
    wide_x, wide_y = x.copy(), y.copy()
    wide_x.insert(2, "still", 1.0)
    wide_y.insert(1, "flat", 7.0)
    model = RINN(**TINY).fit(wide_x, wide_y)
    assert model.inputs_ == INPUTS
    assert [column.name for column in model.dropped_] == ["still", "flat"]
    found = model.predict(wide_x.assign(still=99.0))
    assert (found["flat"] == 7.0).all()
    expected = RINN(**TINY).fit(x, y).predict(x)
    pd.testing.assert_frame_equal(found.drop(columns="flat"), expected)
    assert np.isfinite(model.score(wide_x, wide_y))


def test_rows_are_matched_by_sample_id_where_the_indexes_differ(tables):
    x, y = tables
    expected = RINN(**TINY).fit(x, y).predict(x)
    np.testing.assert_array_equal(RINN(**TINY).fit(x, y[::-1]).predict(x), expected)
    more = pd.concat([y[::-1], y[:3].rename(index=lambda name: "other " + name)])
    with pytest.warns(UserWarning, match=r"3 rows of X and Y are left out.*100 samples are used"):
        model = RINN(**TINY).fit(x, more)
    np.testing.assert_array_equal(model.predict(x), expected)


def test_rows_go_by_their_order_where_the_indexes_say_nothing(tables):
    x, y = tables
    expected = RINN(**TINY).fit(x, y).predict(x)
    plain = y.reset_index(drop=True)
    np.testing.assert_array_equal(RINN(**TINY).fit(x, plain).predict(x), expected)
    repeated = [index // 2 for index in range(ROWS)]  # as a bootstrap has it
    model = RINN(**TINY).fit(x.set_axis(repeated), y.set_axis(repeated))
    np.testing.assert_array_equal(model.predict(x), expected)


def test_names_in_both_tables_are_told_apart(tables):
    x, y = tables
    model = RINN(**TINY).fit(x, y.rename(columns={"p": "a"}))
    assert (model.inputs_[0], model.outputs_[0]) == ("a_x", "a_y")
    assert model.predict(x).shape == y.shape


def test_verbose_shows_progress(tables, capsys):
    RINN(**TINY, effects="corrected", verbose=True).fit(*tables)
    assert "2/2 networks" in capsys.readouterr().err
    RINN(**TINY, verbose=True).fit(*tables)
    assert "No networks to train" in capsys.readouterr().err
    RINN(**TINY).fit(*tables)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": "papre"}, "budget must be one of default, paper, got 'papre'"),
        ({"trials": 1}, "trials must be a whole number from 2 to 100000, got 1"),
        ({"epochs": 0}, "epochs must be a whole number from 1 to 10000000, got 0"),
        ({"keep": 2.5}, "keep must be a whole number of at least 1, got 2.5"),
        ({"loss": "hinge"}, "loss must be one of auto, bce, mse, poisson, got 'hinge'"),
        ({"effects": "nets"}, "effects must be one of auto, network, regression, corrected, got"),
        ({"direct": 1}, "direct must be True or False, got 1"),
        ({"bootstraps": -1}, "bootstraps must be a whole number from 0 to 10000, got -1"),
        ({"device": "tpu"}, "device must be one of auto, cpu, gpu, got 'tpu'"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"min_samples": 9}, "min_samples must be a whole number of at least 10, got 9"),
        ({"min_samples": 2.5}, "min_samples must be a whole number of at least 10, got 2.5"),
    ],
)
def test_wrong_parameters_are_named(tables, parameters, message):
    with pytest.raises(InputError, match=f"^{message}"):
        RINN(**parameters).fit(*tables)


def test_wrong_tables_are_named(tables):
    x, y = tables
    with pytest.raises(InputError, match="Y must be a table of outputs"):
        RINN().fit(x, None)
    with pytest.raises(ValueError, match=r"9 sample\(s\).*minimum of 10 is required by RINN"):
        RINN().fit(x[:9], y[:9])
    with pytest.raises(InputError, match="at least 50 samples in common where outputs are 0/1"):
        RINN().fit(x[:40], (y[:40] > 300).astype(float))
    with pytest.raises(InputError, match="same number of rows unless both have sample ids"):
        RINN().fit(x, y[:60].to_numpy())
    with pytest.raises(InputError, match="Y must have a column that varies"):
        RINN().fit(x, np.ones(ROWS))
    with pytest.raises(InputError, match="X must have each column once, but repeats 'a'"):
        RINN().fit(x.rename(columns={"b": "a"}), y)
    with pytest.raises(InputError, match="its first column 'sample' seems to hold sample ids"):
        RINN().fit(x.rename(columns={"a": "sample"}), y)


def test_sample_ids_that_do_not_match_are_named(tables):
    x, y = tables
    with pytest.raises(InputError, match=r"no index entry of X \(such as 's0'\) is in Y"):
        RINN().fit(x, y.rename(index=lambda name: name.upper()))
    with pytest.raises(InputError, match=r"Y must have each sample once.*repeats 's0'"):
        RINN().fit(x, y.rename(index={"s1": "s0"}))


def test_a_failed_fit_is_not_a_fit(tables):
    x, _ = tables
    model = RINN()
    with pytest.raises(InputError):
        model.fit(x, np.ones(ROWS))
    with pytest.raises(NotFittedError):
        model.predict(x)


def test_fewer_samples_are_taken_where_allowed(tables):
    x, y = tables
    model = RINN(**TINY, min_samples=20).fit(x[:40], y[:40])
    assert model.predict(x).shape == y.shape
