"""Output folders: new, empty or of the same command; nothing of the user's is touched."""

import contextlib
import json
import os

import pytest

from rinn.errors import InputError
from rinn.runs.folder import RUN, OutputFolder, open_output

MANIFEST = {
    "format": 1,
    "settings": {"seed": 0, "trials": 4},
    "data": {"x": "a", "y": "b"},
    "created": "now",
}


def load(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_work_is_discarded(tmp_path):
    with open_output(tmp_path / "run", MANIFEST, RUN) as run:
        (run.path / "nets" / "0000.npz").touch()
        run.discard_work()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        ".rinn.lock",
        "manifest.json",
    ]


def test_only_files_of_the_run_are_discarded(tmp_path):
    own = ["notes.part", "work/thesis.txt", "nets/mine.txt", "nets/1.npz", "work/.download.part"]
    with open_output(tmp_path, MANIFEST, RUN) as run:
        (run.path / "nets" / "0000.npz").touch()
        (tmp_path / "nets" / ".rinn-0123456789abcdef.part").touch()
        for name in own:
            (tmp_path / name).write_text("mine")
        run.discard_work()
    left = {f"{path.relative_to(tmp_path)}" for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {".rinn.lock", "manifest.json", *own}


@pytest.mark.parametrize("name", ["work", "nets"])
def test_work_elsewhere_is_left_alone(tmp_path, name):
    with open_output(tmp_path / "run", MANIFEST, RUN) as run:
        run.discard_work()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "0000.npz").write_text("mine")
    (tmp_path / "run" / name).symlink_to(tmp_path / "mine")
    refuse(tmp_path / "run", MANIFEST, f"{name} in .* is a link; remove it")
    assert (tmp_path / "mine" / "0000.npz").read_text() == "mine"


def test_manifest_comes_back(tmp_path):
    with open_output(tmp_path / "a" / "run", MANIFEST, RUN):
        assert load(tmp_path / "a" / "run") == MANIFEST
    assert json.loads((tmp_path / "a" / "run" / "manifest.json").read_text()) == MANIFEST


def refuse(folder, manifest, match):
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    with pytest.raises(InputError, match=match), open_output(folder, manifest, RUN):
        raise AssertionError("opened")
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"settings": {"seed": 1, "trials": 4}}, r"other seed \(0, now 1\);"),
        ({"settings": {"seed": 1, "trials": 5}}, r"seed \(0, now 1\), trials \(4, now 5\);"),
        ({"settings": {"seed": 0}}, r"trials \(4, now None\);"),
        ({"data": {"x": "a", "y": "c"}}, r"other data \(y\);"),
        ({"format": 2}, r"other format \(1, now 2\);"),
        ({"data": None}, r"other data \(.*, now None\);"),
    ],
)
def test_differences_are_named(tmp_path, changes, named):
    folder = tmp_path / "run"
    with open_output(folder, MANIFEST, RUN):
        pass
    refuse(folder, MANIFEST | changes, named)
    assert load(folder) == MANIFEST


def test_other_notes_are_the_same_run(tmp_path):
    for created in ("now", "later"):
        with open_output(tmp_path / "run", MANIFEST | {"created": created}, RUN):
            pass
    assert load(tmp_path / "run")["created"] == "now"


def test_begun_on_another_platform(tmp_path):
    folder = tmp_path / "run"
    with open_output(folder, MANIFEST | {"device": {"platform": "gpu"}}, RUN) as run:
        refuse(folder, MANIFEST | {"device": {"platform": "cpu"}}, "pass --device gpu")
        run.write_json(
            "manifest.json", MANIFEST | {"device": {"platform": "gpu"}, "status": "complete"}
        )
    with open_output(folder, MANIFEST | {"device": {"platform": "cpu"}}, RUN):
        pass


def test_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    refuse(tmp_path, MANIFEST, "holds other files \\(such as 'thesis.txt'\\)")


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"3", b"{}", b'{"format": 1}', b"\xff\xfe", b"[" * 100_000]
    + [json.dumps(MANIFEST | {key: [1]}).encode() for key in ("versions", "device")],
)
def test_a_manifest_that_cannot_be_read(tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content)
    refuse(tmp_path, MANIFEST, r"has no readable manifest\.json; choose another")


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
    with pytest.raises(KeyboardInterrupt), open_output(tmp_path, MANIFEST, RUN):
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
        open_output(tmp_path, MANIFEST, RUN),
    ):
        raise AssertionError("opened")


def test_a_path_that_is_not_utf8_stands_in_the_manifest(tmp_path):
    manifest = MANIFEST | {"command": ["rinn", os.fsdecode(b"x\xff.csv")]}
    with open_output(tmp_path, manifest, RUN):
        assert load(tmp_path) == manifest


def test_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("mine")
    with (
        pytest.raises(InputError, match="is a file; choose another name"),
        open_output(tmp_path / "run", MANIFEST, RUN),
    ):
        raise AssertionError("opened")
    with (
        pytest.raises(InputError, match=r"cannot \(Not a directory\); choose another"),
        open_output(tmp_path / "run" / "below", MANIFEST, RUN),
    ):
        raise AssertionError("opened")
    assert (tmp_path / "run").read_text() == "mine"


def test_killed_before_the_manifest(tmp_path):
    (tmp_path / ".rinn-0123456789abcdef.part").write_text('{"form')
    (tmp_path / ".rinn.lock").touch()
    with open_output(tmp_path, MANIFEST, RUN) as run:
        assert load(run.path) == MANIFEST
    assert not list(tmp_path.glob(".*.part"))


def test_numbers_that_json_lacks_are_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        OutputFolder(tmp_path, RUN, MANIFEST).write_json("scores.json", {"loss": float("nan")})
    assert not (tmp_path / "scores.json").exists()


def test_json_keeps_bytes_of_a_path_that_are_no_text(tmp_path):
    value = {"command": ["fit", "bad\udcff.csv", "µ"]}
    OutputFolder(tmp_path, RUN, {}).write_json("manifest.json", value)
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8")) == value
