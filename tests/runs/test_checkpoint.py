"""Networks in files: what was saved comes back, and damaged files are noticed."""

import jax
import numpy as np
import pytest

import rinn.nets.search
from networks import make_trials, small_problem
from rinn.errors import InputError
from rinn.nets.groups import plan_groups, store_batch
from rinn.nets.search import run_search
from rinn.nets.trainer import Trainer
from rinn.runs.checkpoint import Checkpoints, load_kept, save_kept
from rinn.runs.folder import RUN, open_output

MANIFEST = {"format": 1, "settings": {}, "data": {}}


@pytest.fixture(scope="module")
def searched():
    """A problem, its trials, and the networks they become."""
    problem, trials = small_problem(samples=80), make_trials(settings=1, batch_size=64)
    return problem, trials, run_search(problem, trials, jax.devices("cpu")[:1])


def assert_same_nets(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.trial, one.status, one.epochs) == (other.trial, other.status, other.epochs)
        for name in ("train_loss", "validation_loss", "validation_error"):
            np.testing.assert_equal(getattr(one, name), getattr(other, name))
        for ours, theirs in zip(one.weights, other.weights, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


def test_finished_networks_come_back(searched, tmp_path):
    _, trials, nets = searched
    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, trials)
        assert run.load_finished(0) is None
        run.save_finished(0, nets)
        assert_same_nets(run.load_finished(0), nets)
        assert run.load_finished(1) is None


def test_diverged_networks_come_back(searched, tmp_path):
    _, trials, nets = searched
    odd = type(nets[0])(
        **{**nets[0].__dict__, "status": "diverged", "validation_loss": float("nan")}
    )
    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, trials)
        run.save_finished(0, [odd])
        assert_same_nets(run.load_finished(0), [odd])


def test_batch_comes_back_and_leaves_when_done(searched, tmp_path):
    problem, trials, nets = searched
    group = plan_groups(trials, problem, "cpu")[0]
    trainer = Trainer(group, problem, 0, jax.devices("cpu")[0])
    batch = trainer.start()
    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, trials)
        assert run.load_batch(0) is None
        run.save_batch(0, store_batch(batch), nets[:1])
        saved, finished = run.load_batch(0)
        assert_same_nets(finished, nets[:1])
        restored = trainer.restore(saved)
        assert restored.epoch == batch.epoch
        np.testing.assert_array_equal(restored.members, batch.members)
        assert jax.tree.structure(restored.state) == jax.tree.structure(batch.state)
        for ours, theirs in zip(
            jax.tree.leaves(restored.state), jax.tree.leaves(batch.state), strict=True
        ):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        run.save_finished(0, nets)
        assert run.load_batch(0) is None


def test_search_goes_on_from_a_saved_batch(searched, tmp_path, monkeypatch):
    problem, _, _ = searched
    trials = make_trials(settings=1, batch_size=64, epochs=30)
    expected = run_search(problem, trials, jax.devices("cpu")[:1])
    monkeypatch.setattr(rinn.nets.search, "SECONDS_BETWEEN_SAVES", 0.0)

    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, trials)
        save = run.save_batch

        def save_and_stop(*args):
            save(*args)
            raise KeyboardInterrupt

        monkeypatch.setattr(run, "save_batch", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            run_search(problem, trials, jax.devices("cpu")[:1], saver=run)
        monkeypatch.undo()
        assert run.load_batch(0)[0].epoch == 20
        assert_same_nets(run_search(problem, trials, jax.devices("cpu")[:1], saver=run), expected)


def test_missing_arrays_count_as_none(tmp_path):
    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, [])
        for kind in ("work", "nets"):
            np.savez(run.folder / kind / "0000.npz", other=np.zeros(3))
            (run.folder / kind / "0001.npz").mkdir()
        assert [run.load_batch(number) for number in (0, 1)] == [None, None]
        assert [run.load_finished(number) for number in (0, 1)] == [None, None]


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04garbage", b"\x93NUMPY\x01\x00"])
def test_damaged_networks_count_as_none(tmp_path, content):
    with open_output(tmp_path / "run", MANIFEST, RUN) as output:
        run = Checkpoints(output.path, [])
        (run.folder / "work" / "0000.npz").write_bytes(content)
        (run.folder / "nets" / "0000.npz").write_bytes(content)
        assert run.load_batch(0) is None
        assert run.load_finished(0) is None


def test_kept_networks_come_back(searched, tmp_path):
    _, _, nets = searched
    notes = {"loss": "mse", "x_centre": [0.1, 1 / 3]}
    save_kept(tmp_path / "kept.safetensors", nets[::-1], notes)
    found, found_notes = load_kept(tmp_path / "kept.safetensors")
    assert_same_nets(found, nets[::-1])
    assert found_notes == notes


def test_kept_networks_are_the_same_bytes_each_time(searched, tmp_path):
    _, _, nets = searched
    contents = set()
    for number in range(20):
        save_kept(tmp_path / f"{number}.safetensors", nets, {"loss": "mse"})
        contents.add((tmp_path / f"{number}.safetensors").read_bytes())
    assert len(contents) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: None,
        lambda content: b"",
        lambda content: b"garbage",
        lambda content: content[:100],
        lambda content: content[:-1],
        lambda content: content.replace(b"notes", b"nodes"),
        lambda content: content.replace(b"width", b"witdh"),
    ],
    ids=["missing", "empty", "garbage", "start", "cut", "other words", "other settings"],
)
def test_damaged_kept_networks_are_refused(searched, tmp_path, damage):
    path = tmp_path / "weights.safetensors"
    save_kept(path, searched[2], {"loss": "mse"})
    content = damage(path.read_bytes())
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"weights\.safetensors is missing or damaged"):
        load_kept(path)
