import contextlib
import json
import os

import jax
import numpy as np
import pytest

import rinn.nets.search
from networks import make_trials, small_problem
from rinn.errors import InputError
from rinn.nets.groups import plan_groups
from rinn.nets.search import run_search
from rinn.nets.trainer import Trainer
from rinn.runs.folder import RunFolder, load_kept, load_manifest, open_run, save_kept

MANIFEST = {
    "format": 1,
    "settings": {"seed": 0, "trials": 4},
    "data": {"x": "a", "y": "b"},
    "created": "now",
}


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
    with open_run(tmp_path / "run", MANIFEST, trials) as run:
        assert run.load_finished(0) is None
        run.save_finished(0, nets)
        assert_same_nets(run.load_finished(0), nets)
        assert run.load_finished(1) is None


def test_diverged_networks_come_back(searched, tmp_path):
    _, trials, nets = searched
    odd = type(nets[0])(
        **{**nets[0].__dict__, "status": "diverged", "validation_loss": float("nan")}
    )
    with open_run(tmp_path / "run", MANIFEST, trials) as run:
        run.save_finished(0, [odd])
        assert_same_nets(run.load_finished(0), [odd])


def test_batch_comes_back_and_leaves_when_done(searched, tmp_path):
    problem, trials, nets = searched
    group = plan_groups(trials, problem, "cpu")[0]
    trainer = Trainer(group, problem, 0, jax.devices("cpu")[0])
    batch = trainer.start()
    with open_run(tmp_path / "run", MANIFEST, trials) as run:
        assert run.load_batch(0) is None
        run.save_batch(0, batch, nets[:1])
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

    with open_run(tmp_path / "run", MANIFEST, trials) as run:
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


def test_work_is_discarded(searched, tmp_path):
    _, trials, nets = searched
    with open_run(tmp_path / "run", MANIFEST, trials) as run:
        run.save_finished(0, nets)
        run.discard_work()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        ".rinn.lock",
        "manifest.json",
    ]


def test_only_files_of_the_run_are_discarded(searched, tmp_path):
    _, trials, nets = searched
    own = ["notes.part", "work/thesis.txt", "nets/mine.txt", "nets/1.npz", "work/.download.part"]
    with open_run(tmp_path, MANIFEST, trials) as run:
        run.save_finished(0, nets)
        (tmp_path / "nets" / ".rinn-0123456789abcdef.part").touch()
        for name in own:
            (tmp_path / name).write_text("mine")
        run.discard_work()
    left = {f"{path.relative_to(tmp_path)}" for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {".rinn.lock", "manifest.json", *own}


@pytest.mark.parametrize("name", ["work", "nets"])
def test_work_elsewhere_is_left_alone(tmp_path, name):
    with open_run(tmp_path / "run", MANIFEST, []) as run:
        run.discard_work()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "0000.npz").write_text("mine")
    (tmp_path / "run" / name).symlink_to(tmp_path / "mine")
    refuse(tmp_path / "run", MANIFEST, f"{name} in .* is a link; remove it")
    assert (tmp_path / "mine" / "0000.npz").read_text() == "mine"


def test_missing_arrays_count_as_none(tmp_path):
    with open_run(tmp_path / "run", MANIFEST, []) as run:
        for kind in ("work", "nets"):
            np.savez(run.folder / kind / "0000.npz", other=np.zeros(3))
            (run.folder / kind / "0001.npz").mkdir()
        assert [run.load_batch(number) for number in (0, 1)] == [None, None]
        assert [run.load_finished(number) for number in (0, 1)] == [None, None]


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04garbage", b"\x93NUMPY\x01\x00"])
def test_damaged_networks_count_as_none(tmp_path, content):
    with open_run(tmp_path / "run", MANIFEST, []) as run:
        (run.folder / "work" / "0000.npz").write_bytes(content)
        (run.folder / "nets" / "0000.npz").write_bytes(content)
        assert run.load_batch(0) is None
        assert run.load_finished(0) is None


def test_kept_networks_come_back(searched, tmp_path):
    _, _, nets = searched
    notes = {"loss": "mse", "x_scaling_mean": [0.1, 1 / 3]}
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


def test_manifest_comes_back(tmp_path):
    with open_run(tmp_path / "a" / "run", MANIFEST, []):
        assert load_manifest(tmp_path / "a" / "run") == MANIFEST
    assert json.loads((tmp_path / "a" / "run" / "manifest.json").read_text()) == MANIFEST


def test_manifest_of_no_folder(tmp_path):
    with pytest.raises(InputError, match=r"RUN must be a run folder, but .*none is not a folder"):
        load_manifest(tmp_path / "none")


@pytest.mark.parametrize(
    "content",
    [None, b"", b"[]", b"3", b"{}", b'{"format": 1}', b"\xff\xfe", b'{"format": 1']
    + [json.dumps(MANIFEST | {key: None}).encode() for key in ("settings", "data", "tables")]
    + [json.dumps(MANIFEST | {"seconds": float("nan")}).encode(), b"[" * 100_000],
)
def test_unreadable_manifest(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"has no readable manifest\.json"):
        load_manifest(tmp_path)


def refuse(folder, manifest, match):
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    with pytest.raises(InputError, match=match), open_run(folder, manifest, []):
        raise AssertionError("opened")
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"settings": {"seed": 1, "trials": 4}}, r"other seed \(0, now 1\);"),
        ({"settings": {"seed": 1, "trials": 5}}, r"seed \(0, now 1\), trials \(4, now 5\);"),
        ({"settings": {"seed": 0}}, r"trials \(4, now None\);"),
        ({"data": {"x": "a", "y": "c"}}, r"other data \(y\);"),
        ({"format": 2}, r"other format;"),
        ({"data": None}, r"other data;"),
    ],
)
def test_differences_are_named(tmp_path, changes, named):
    folder = tmp_path / "run"
    with open_run(folder, MANIFEST, []):
        pass
    refuse(folder, MANIFEST | changes, named)
    assert load_manifest(folder) == MANIFEST


def test_other_notes_are_the_same_run(tmp_path):
    for created in ("now", "later"):
        with open_run(tmp_path / "run", MANIFEST | {"created": created}, []):
            pass
    assert load_manifest(tmp_path / "run")["created"] == "now"


def test_begun_on_another_platform(tmp_path):
    folder = tmp_path / "run"
    with open_run(folder, MANIFEST | {"device": {"platform": "gpu"}}, []) as run:
        refuse(folder, MANIFEST | {"device": {"platform": "cpu"}}, "pass --device gpu")
        run.write_json(
            "manifest.json", MANIFEST | {"device": {"platform": "gpu"}, "status": "complete"}
        )
    with open_run(folder, MANIFEST | {"device": {"platform": "cpu"}}, []):
        pass


def test_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    refuse(tmp_path, MANIFEST, "holds other files \\(such as 'thesis.txt'\\)")
    (tmp_path / "manifest.json").write_text("{}")
    refuse(tmp_path, MANIFEST, "no readable manifest")


@pytest.mark.parametrize(
    "name", ["work/thesis.txt", "nets/0000.npz", ".download.part", "edges.csv", ".lock"]
)
def test_names_that_a_run_uses_are_the_users_without_a_manifest(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    refuse(tmp_path, MANIFEST, f"holds other files \\(such as '{name.split('/')[0]}'\\)")
    assert path.read_text() == "mine"


def test_the_manifest_is_written_first(tmp_path, monkeypatch):
    def stop(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr("rinn.runs.folder.make_folder", stop)
    with pytest.raises(KeyboardInterrupt), open_run(tmp_path, MANIFEST, []):
        raise AssertionError("opened")
    assert {path.name for path in tmp_path.iterdir()} == {".rinn.lock", "manifest.json"}


def test_begun_by_another_process_while_this_one_waited(tmp_path, monkeypatch):
    @contextlib.contextmanager
    def begin_another(folder):
        other = MANIFEST | {"settings": {"seed": 7}}
        (folder / "manifest.json").write_text(json.dumps(other))
        yield

    monkeypatch.setattr("rinn.runs.folder.lock_folder", begin_another)
    with (
        pytest.raises(InputError, match=r"made with other seed \(7, now 0\)"),
        open_run(tmp_path, MANIFEST, []),
    ):
        raise AssertionError("opened")


def test_a_path_that_is_not_utf8_stands_in_the_manifest(tmp_path):
    manifest = MANIFEST | {"command": ["rinn", os.fsdecode(b"x\xff.csv")]}
    with open_run(tmp_path, manifest, []):
        assert load_manifest(tmp_path) == manifest


def test_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with (
        pytest.raises(InputError, match="is a file; choose another name"),
        open_run(tmp_path / "run", MANIFEST, []),
    ):
        raise AssertionError("opened")
    with (
        pytest.raises(InputError, match=r"cannot \(Not a directory\); choose another"),
        open_run(tmp_path / "run" / "below", MANIFEST, []),
    ):
        raise AssertionError("opened")
    assert (tmp_path / "run").read_text() == "mine"


def test_killed_before_the_manifest(tmp_path):
    (tmp_path / ".rinn-0123456789abcdef.part").write_text('{"form')
    (tmp_path / ".rinn.lock").touch()
    with open_run(tmp_path, MANIFEST, []) as run:
        assert load_manifest(run.folder) == MANIFEST
    assert not list(tmp_path.glob(".*.part"))


def test_numbers_that_json_lacks_are_refused(tmp_path):
    with open_run(tmp_path / "run", MANIFEST, []) as run, pytest.raises(ValueError, match="JSON"):
        run.write_json("scores.json", {"loss": float("nan")})
    assert not (tmp_path / "run" / "scores.json").exists()


def test_json_keeps_bytes_of_a_path_that_are_no_text(tmp_path):
    value = {"command": ["fit", "bad\udcff.csv", "µ"]}
    RunFolder(tmp_path, []).write_json("manifest.json", value)
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8")) == value
