import errno
import os
import resource

import pytest

from rinn.errors import InputError
from rinn.files import (
    LOCK,
    TEMPORARY,
    check_target,
    holds_manifest,
    lock_folder,
    make_folder,
    remove_files,
    replace_file,
)

PART = ".rinn-0123456789abcdef.part"
# Names that a user may give, and that a careless pattern for temporary files would match.
OWN = [".download.part", "notes.part", ".rinn-notes.part", ".rinn-0123.part", f"{PART}.part"]


def read_names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_own(folder):
    for name in OWN:
        (folder / name).write_text("mine")


class TestReplaceFile:
    def test_replaces_and_leaves_nothing_else(self, tmp_path):
        (tmp_path / "a.txt").write_text("old")
        replace_file(tmp_path / "a.txt", b"new")
        assert read_names(tmp_path) == ["a.txt"]
        assert (tmp_path / "a.txt").read_bytes() == b"new"

    def test_mode_follows_the_umask(self, tmp_path):
        replace_file(tmp_path / "a.txt", b"")
        (tmp_path / "b.txt").touch()
        assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode

    def test_a_temporary_name_that_is_taken_is_left_alone(self, tmp_path, monkeypatch):
        monkeypatch.setattr("secrets.token_hex", lambda size: "0123456789abcdef"[: 2 * size])
        (tmp_path / PART).write_text("mine")
        with pytest.raises(InputError, match=r"cannot write .*a\.txt: File exists"):
            replace_file(tmp_path / "a.txt", b"new")
        assert [path.name for path in tmp_path.iterdir()] == [PART]
        assert (tmp_path / PART).read_text() == "mine"

    @pytest.mark.parametrize("refused", ["fsync", "replace"])
    def test_a_full_disk_leaves_the_old_file(self, tmp_path, monkeypatch, refused):
        def refuse(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        (tmp_path / "a.txt").write_text("old")
        monkeypatch.setattr(os, refused, refuse)
        with pytest.raises(InputError, match=r"cannot write .*a\.txt: No space left on device"):
            replace_file(tmp_path / "a.txt", b"new")
        assert read_names(tmp_path) == ["a.txt"]
        assert (tmp_path / "a.txt").read_text() == "old"

    def test_a_file_that_is_too_large(self, tmp_path):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            with pytest.raises(InputError, match=r"cannot write .*a\.txt: File too large"):
                replace_file(tmp_path / "a.txt", bytes(2000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert read_names(tmp_path) == []

    def test_links_are_not_followed(self, tmp_path):
        (tmp_path / "mine.html").write_text("mine")
        (tmp_path / "report.html").symlink_to("mine.html")
        (tmp_path / "nowhere.html").symlink_to("none")
        for name in ("report.html", "nowhere.html"):
            with pytest.raises(InputError, match="it is a link or a device; name a plain file"):
                replace_file(tmp_path / name, b"new")
            assert (tmp_path / name).is_symlink()
        assert (tmp_path / "mine.html").read_text() == "mine"
        assert not (tmp_path / "none").exists()

    def test_what_no_file_can_take_the_place_of(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="pipe: it is a link or a device"):
            replace_file(tmp_path / "pipe", b"")
        with pytest.raises(InputError, match="it is a folder; name a file in it"):
            check_target(tmp_path)
        with pytest.raises(InputError, match=r"the folder .*none does not exist; make it"):
            check_target(tmp_path / "none" / "a.txt")
        with pytest.raises(InputError, match="File name too long"):
            replace_file(tmp_path / ("a" * 300), b"")

    def test_the_longest_name_can_be_written(self, tmp_path):
        replace_file(tmp_path / ("a" * 255), b"all")
        assert [path.name for path in tmp_path.iterdir()] == ["a" * 255]


class TestFolders:
    def test_new_and_empty_folders_have_no_manifest(self, tmp_path):
        assert not holds_manifest(tmp_path / "new", "manifest.json", "run")
        assert not holds_manifest(tmp_path, "manifest.json", "run")
        (tmp_path / LOCK).touch()
        (tmp_path / PART).touch()
        assert not holds_manifest(tmp_path, "manifest.json", "run")
        (tmp_path / "manifest.json").touch()
        assert holds_manifest(tmp_path, "manifest.json", "run")

    @pytest.mark.parametrize("name", [*OWN, ".lock", "work", "x.csv"])
    def test_anything_else_is_the_users(self, tmp_path, name):
        (tmp_path / name).mkdir()
        with pytest.raises(
            InputError, match=r"folder of this run, but .* holds other files \(such"
        ):
            holds_manifest(tmp_path, "manifest.json", "run")

    def test_a_file_is_no_folder(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match=r"--out must be a folder, but .* is a file"):
            holds_manifest(tmp_path / "file", "manifest.json", "run")

    def test_only_own_temporary_files_are_removed(self, tmp_path):
        write_own(tmp_path)
        (tmp_path / PART.replace("0", "a")).mkdir()
        (tmp_path / PART.replace("0", "b")).symlink_to("notes.part")
        before = read_names(tmp_path)
        (tmp_path / PART).touch()
        remove_files(tmp_path, TEMPORARY)
        assert read_names(tmp_path) == before
        remove_files(tmp_path / "none", TEMPORARY)

    def test_a_lock_keeps_the_content_of_its_file(self, tmp_path):
        (tmp_path / LOCK).write_text("mine")
        with lock_folder(tmp_path):
            assert (tmp_path / LOCK).read_text() == "mine"

    def test_a_linked_lock_is_refused(self, tmp_path):
        (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
        with (
            pytest.raises(InputError, match="--out must be a folder that can be written"),
            lock_folder(tmp_path),
        ):
            raise AssertionError("locked")
        assert not (tmp_path / "elsewhere").exists()

    def test_two_at_a_time(self, tmp_path):
        with (
            lock_folder(tmp_path / "out"),
            pytest.raises(InputError, match=r"no other process writes to, but .* is in use"),
            lock_folder(tmp_path / "out"),
        ):
            raise AssertionError("locked twice")

    @pytest.mark.parametrize(
        ("path", "why"),
        [("file/out", "Not a directory"), ("a" * 300, "File name too long"), ("link", "File exi")],
    )
    def test_a_folder_that_cannot_be_made(self, tmp_path, path, why):
        (tmp_path / "file").touch()
        (tmp_path / "link").symlink_to("none")
        with pytest.raises(InputError, match=rf"that can be written, but .* cannot \({why}"):
            make_folder(tmp_path / path)
