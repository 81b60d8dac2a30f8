import jax
import numpy as np
import pandas as pd
import pytest

import rinn.nets.search
from networks import make_trials, small_data, small_problem
from rinn.config import RunSettings
from rinn.fit import fit_run
from rinn.nets.curves import COLUMNS, NO_CURVE, tabulate_curves
from rinn.nets.search import run_search
from rinn.pipeline import tabulate_trials
from rinn.runs.checkpoint import Checkpoints
from rinn.runs.folder import RUN, open_output

CPU = jax.devices("cpu")[:1]
MANIFEST = {"format": 1, "settings": {}, "data": {}, "created": "now"}


def some_that_stop():
    """Networks of one group that stop one after the other, so that the batch shrinks."""
    alike = {"width": 4, "batch_size": 32, "activation": "tanh", "optimiser": "adam"}
    trials = make_trials(settings=6, **alike)
    return [
        type(trial)(
            trial.number,
            trial.setting,
            trial.split,
            type(trial.net)(**trial.net.__dict__ | {"epochs": 9 + 11 * trial.setting}),
        )
        for trial in trials
    ]


@pytest.fixture(scope="module")
def whole():
    return run_search(small_problem(), some_that_stop(), CPU)


def test_a_row_for_every_epoch_and_the_last_is_the_result(whole):
    assert len({net.epochs for net in whole}) > 3
    for net in whole:
        assert net.curve.shape == (net.epochs, 2)
        assert net.curve[-1].tolist() == [net.train_loss, net.validation_loss]
        assert np.isfinite(net.curve).all()
        assert (np.diff(net.curve, axis=0) != 0).any(axis=1).all()


def test_alone_or_together(whole):
    for trial in (some_that_stop()[i] for i in (0, 5, 11)):
        (alone,) = run_search(small_problem(), [trial], CPU)
        np.testing.assert_array_equal(alone.curve, whole[trial.number].curve)


def test_shorter_training_is_the_beginning_of_longer():
    problem = small_problem()
    long, short = (
        run_search(problem, make_trials(settings=1, epochs=epochs), CPU)[0] for epochs in (30, 12)
    )
    np.testing.assert_array_equal(long.curve[:12], short.curve)


def test_a_diverged_network_ends_where_it_diverged():
    trials = make_trials(settings=1, optimiser="sgd", learning_rate=1e20, epochs=30)
    net = run_search(small_problem(), trials, CPU)[0]
    assert net.status == "diverged"
    assert net.curve.shape == (net.epochs, 2)
    assert not np.isfinite(net.curve[-1]).all()


def stop_after(saves, run, monkeypatch):
    """Pull the plug after so many saves."""
    save, left = run.save_batch, saves

    def save_and_stop(*args):
        nonlocal left
        save(*args)
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(rinn.nets.search, "SECONDS_BETWEEN_SAVES", -1.0)
    monkeypatch.setattr(rinn.nets.search, "SAVE_RATIO", -1)
    monkeypatch.setattr(run, "save_batch", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        run_search(small_problem(), some_that_stop(), CPU, saver=run)
    monkeypatch.undo()


@pytest.mark.parametrize("saves", [1, 2, 5])
def test_resumed_equals_uninterrupted(whole, saves, tmp_path, monkeypatch):
    trials = some_that_stop()
    with open_output(tmp_path / "run", MANIFEST, RUN):
        run = Checkpoints(tmp_path / "run", trials)
        stop_after(saves, run, monkeypatch)
        resumed = run_search(small_problem(), trials, CPU, saver=run)
        again = run_search(small_problem(), trials, CPU, saver=run)
    for one, other, read in zip(resumed, whole, again, strict=True):
        assert one.curve.dtype == read.curve.dtype == np.float32
        np.testing.assert_array_equal(one.curve, other.curve)
        np.testing.assert_array_equal(read.curve, other.curve)


def test_work_of_a_release_without_curves_goes_on(whole, tmp_path, monkeypatch):
    trials = some_that_stop()
    with open_output(tmp_path / "run", MANIFEST, RUN):
        run = Checkpoints(tmp_path / "run", trials)
        stop_after(1, run, monkeypatch)
        for path in (run.folder / "work").iterdir():
            arrays = dict(np.load(path))
            kept = {name: arrays[name] for name in arrays if "curve" not in name}
            assert len(kept) < len(arrays)
            np.savez(path, **kept)
        resumed = run_search(small_problem(), trials, CPU, saver=run)
    assert any(np.isnan(net.curve).any() or not len(net.curve) for net in resumed)
    table = tabulate_curves({net.trial.number: net.curve for net in resumed})
    assert table.notna().all(axis=None)
    for net, other in zip(resumed, whole, strict=True):
        assert net.validation_loss == other.validation_loss
        rows = table[table["trial"] == net.trial.number]
        if len(rows):
            assert rows["epoch"].max() == net.epochs
            known = other.curve[rows["epoch"].to_numpy() - 1]
            np.testing.assert_array_equal(rows[list(COLUMNS[2:])].to_numpy(), known)


def write_tables(folder, **changes):
    data = small_data(**changes)
    for name, values, columns in (("x", data.x, data.inputs), ("y", data.y, data.outputs)):
        pd.DataFrame(values, columns=list(columns)).to_csv(folder / f"{name}.csv", index=False)
    return folder / "x.csv", folder / "y.csv"


def fit(folder, **settings):
    fit_run(
        *write_tables(folder), folder / "run", RunSettings(**settings), device="cpu", quiet=True
    )
    return folder / "run"


@pytest.mark.parametrize("strategy", ["rinn", "dbn"])
def test_a_run_writes_the_curves_of_the_kept_networks(tmp_path, strategy):
    run = fit(tmp_path, strategy=strategy, trials=6, epochs=8, effects="corrected")
    curves, trials = (pd.read_csv(run / name) for name in ("curves.csv", "trials.csv"))
    assert tuple(curves.columns) == COLUMNS
    kept = trials[trials["kept"] | trials["nearest"]].set_index("trial")
    assert sorted(kept.index) == curves["trial"].unique().tolist()
    for number, rows in curves.groupby("trial"):
        net = kept.loc[number]
        assert rows["epoch"].tolist() == list(range(1, int(net["epochs"]) + 1))
        last = rows.iloc[-1]
        assert last["train_loss"] == net["train_loss"]
        assert last["validation_loss"] == net["validation_loss"]


def test_strategies_without_epochs_write_none(tmp_path):
    run = fit(tmp_path, strategy="dm")
    assert (run / "report.html").exists()
    assert not (run / "curves.csv").exists()


def test_curves_are_no_part_of_what_trials_says(whole):
    assert "curve" not in tabulate_trials(whole).columns


def test_nothing_recorded_is_an_empty_table():
    table = tabulate_curves({1: NO_CURVE})
    assert tuple(table.columns) == COLUMNS
    assert table.empty
