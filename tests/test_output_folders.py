"""Commands that write: what they do to a user's own files, and when the disk refuses."""

import errno
import os
import resource

import numpy as np
import pandas as pd
import pytest

import rinn.fit
from cohort_files import write_cohort
from rinn.cli import run

# Names that the command uses itself, which do not make a file the command's.
OWN = {
    "fit": ("work/thesis.txt", "nets/mine.txt", ".download.part"),
    "tci": ("work/thesis.txt", "nets/mine.txt", ".download.part"),
    "prepare": (".download.part",),
    "reproduce": (".download.part",),
    "demo": ("data/x.csv",),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two tables of zeros and ones, files to prepare, and gene sets."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    x = (rng.random((60, 3)) < 0.4).astype(int)
    y = np.hstack([x[:, :2], x[:, :1] | x[:, 1:2]])
    pd.DataFrame(x, columns=["a", "b", "c"]).to_csv(folder / "x.csv", index=False)
    pd.DataFrame(y, columns=["u", "v", "w"]).to_csv(folder / "y.csv", index=False)
    (folder / "sets.gmt").write_text("S\tfrom a book\tu\tv\n")
    files = write_cohort(folder / "files")
    return folder, files


def read_all(folder):
    return {
        f"{path.relative_to(folder)}": path.is_file() and path.read_bytes()
        for path in folder.rglob("*")
    }


def _option(name):
    return f"--{name.replace('_', '-')}"


def list_words(command, tables, out):
    folder, files = tables
    x, y = folder / "x.csv", folder / "y.csv"
    given = [word for name, path in files.items() for word in (_option(name), path)]
    words = {
        "fit": ("fit", x, y, "--out", out, "--strategy", "dm", "--device", "cpu"),
        "tci": ("tci", x, y, "--out", out, "--permutations", 1),
        "prepare": ("prepare", *given, "--out", out),
        "reproduce": ("reproduce", "--out", out, "--trials", 4),
        "demo": ("demo", "--out", out, "--trials", 2, "--device", "cpu"),
        "simulate": ("simulate", "or", "--out", out, "--samples", 20),
    }
    return [f"{word}" for word in words[command]]


def refuse(words, capsys):
    """Run a command that must be refused with one sentence; return the sentence."""
    capsys.readouterr()
    assert run(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("rinn: ")
    assert said.count("\n") == 1
    return said


class TestOwnFiles:
    @pytest.mark.parametrize("command", OWN)
    def test_stay_where_there_is_no_manifest(self, command, tables, tmp_path, capsys):
        for name in OWN[command]:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("mine")
        before = read_all(tmp_path)
        said = refuse(list_words(command, tables, tmp_path), capsys)
        assert "--out must be new, empty" in said or "data/x.csv is there" in said
        assert read_all(tmp_path) == before

    @pytest.mark.parametrize("name", ["x.csv", "y.csv", "truth.json"])
    def test_stay_where_a_dataset_would_go(self, name, tables, tmp_path, capsys):
        (tmp_path / name).write_text("mine")
        words = list_words("simulate", tables, tmp_path)
        assert f"{name} is there; choose another" in refuse(words, capsys)
        assert read_all(tmp_path) == {name: b"mine"}

    @pytest.mark.parametrize("name", ["x.csv", "truth.json"])
    def test_links_to_them_stay(self, name, tables, tmp_path, capsys):
        (tmp_path / "mine").write_text("mine")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
        words = list_words("simulate", tables, tmp_path / "out")
        assert f"{name} is there; choose another" in refuse(words, capsys)
        assert (tmp_path / "mine").read_text() == "mine"

    @pytest.mark.parametrize("command", ["tci", "prepare"])
    def test_stay_beside_a_manifest(self, command, tables, tmp_path):
        words = list_words(command, tables, tmp_path)
        assert run(words) == 0
        for name in ("notes.part", ".download.part", "work/thesis.txt", "nets/mine.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("mine")
        before = read_all(tmp_path)
        assert run(words) == 0
        assert read_all(tmp_path) == before

    def test_a_link_to_an_empty_folder_is_a_folder(self, tables, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "link").symlink_to("mine")
        assert run(list_words("simulate", tables, tmp_path / "link")) == 0
        assert (tmp_path / "link").is_symlink()
        assert set(read_all(tmp_path / "mine")) == {"truth.json", "x.csv", "y.csv"}


COMMANDS = ["fit", "tci", "prepare", "reproduce", "demo", "simulate"]


class TestDisk:
    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize(
        ("path", "why"), [("file/out", "Not a directory"), ("a" * 300, "File name too long")]
    )
    def test_a_place_that_cannot_be_made(self, command, path, why, tables, tmp_path, capsys):
        (tmp_path / "file").write_text("mine")
        said = refuse(list_words(command, tables, tmp_path / path), capsys)
        assert f"({why}); choose another" in said
        assert read_all(tmp_path) == {"file": b"mine"}

    @pytest.mark.parametrize("command", ["tci", "prepare", "demo", "simulate", "fit"])
    def test_full_disk_then_the_same_command_again(
        self, command, tables, tmp_path, capsys, monkeypatch
    ):
        """The disk is full at the first write; then at the second; and so on to the last."""
        words = list_words(command, tables, tmp_path / "out")
        if command == "demo":
            monkeypatch.setattr(rinn.fit, "fit_run", lambda *args, **more: 1 / 0)
            words += ["--quiet"]
        replace, left = os.replace, 0

        def fill(source, target):
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            replace(source, target)

        monkeypatch.setattr(os, "replace", fill)
        for number in range(40):
            left = number
            code = run(words)
            if code != 2:
                break
            said = capsys.readouterr().err
            assert "No space left on device; solve this or write elsewhere" in said
            assert not list(tmp_path.rglob("*.part"))
        assert code == (1 if command == "demo" else 0)  # the demo goes on to its (broken) fit
        assert 1 < number < 39

    def test_a_limit_on_the_size_of_files(self, tables, tmp_path, capsys):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            said = refuse(list_words("simulate", tables, tmp_path / "out"), capsys)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "x.csv: File too large" in said
        assert read_all(tmp_path / "out") == {}

    @pytest.mark.parametrize("command", ["tci", "simulate", "prepare"])
    def test_a_path_that_is_not_utf8(self, command, tables, tmp_path):
        assert run(list_words(command, tables, tmp_path / os.fsdecode(b"\xff"))) == 0

    @pytest.mark.parametrize(
        ("more", "said"),
        [(("--trials", "0"), "trials must be"), (("--device", "tpu"), "device must be one of")],
    )
    def test_a_demo_with_wrong_settings_writes_nothing(self, more, said, tmp_path, capsys):
        assert said in refuse(["demo", "--out", f"{tmp_path / 'out'}", *more], capsys)
        assert not (tmp_path / "out").exists()
