import os

import pytest

from rinn.report.folders import (
    SERVED,
    find_runs,
    is_visible,
    open_file,
    read_address,
    write_address,
)


def touch(path, content=b"{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_runs_are_found_in_order_and_not_searched(tmp_path):
    for name in ("b/run", "a", "a/inner", ".hidden/run", "c/d/e/f/run", "c/d/e/f/g/too/deep"):
        touch(tmp_path / name / "manifest.json")
    touch(tmp_path / "data" / "x.csv")
    os.symlink(tmp_path / "a", tmp_path / "link")
    assert list(find_runs(tmp_path)) == [("a",), ("b", "run"), ("c", "d", "e", "f", "run")]
    assert list(find_runs(tmp_path / "a")) == [()]


def test_a_folder_that_may_not_be_read_has_no_runs(tmp_path, monkeypatch):
    touch(tmp_path / "a" / "manifest.json")

    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert list(find_runs(tmp_path)) == []


@pytest.mark.parametrize(
    "parts",
    [
        ("report.html",),
        ("a b", "report.html"),
        ("<script>", 'quo"te', "graph.json"),
        ("100%", "é😀", "edges.csv"),
        ("?a=b#c", "trials.csv"),
        (os.fsdecode(b"\xff\xfe"), "curves.csv"),
    ],
)
def test_addresses_come_back(parts):
    address = write_address(parts)
    assert address.isascii()
    assert not set(address) & set("<>\"'?# ")
    assert read_address(address) == parts


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/run",
        "/run/",
        "/run//report.html",
        "/run/../report.html",
        "/run/%2e%2e/report.html",
        "/run/..%2freport.html",
        "/run/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/run//etc/passwd",
        "/run/%2Fetc/report.html",
        "/run/a%00b/report.html",
        "/run/.hidden/report.html",
        "/run/.lock",
        "/run/weights.safetensors",
        "/run/work/0000.npz",
        "/run/a/b/c/d/e/f/report.html",
        "/other/report.html",
        "/asset/../server.py",
    ],
)
def test_other_addresses_are_none(path):
    assert read_address(path) is None


def test_hidden_names_and_paths_are_not_visible():
    assert is_visible("a b")
    assert not any(map(is_visible, ["", ".", "..", ".a", "a/b", "a\0b"]))


def test_plain_files_are_opened(tmp_path):
    touch(tmp_path / "run" / "graph.json", b"content")
    with open_file(tmp_path.resolve(), ["run", "graph.json"]) as file:
        assert file.read() == b"content"


@pytest.mark.parametrize("name", ["file", "folder", "way"])
def test_links_are_not_followed(tmp_path, name):
    root = tmp_path.resolve() / "root"
    touch(tmp_path / "outside" / "graph.json", b"secret")
    touch(root / "run" / "trials.csv")
    if name == "file":
        os.symlink(tmp_path / "outside" / "graph.json", root / "run" / "graph.json")
    elif name == "folder":
        os.symlink(tmp_path / "outside", root / "other")
    else:
        os.symlink(root / "run", root / "other")  # also not where they stay inside
        touch(root / "run" / "graph.json")
    parts = ["run" if name == "file" else "other", "graph.json"]
    assert root.joinpath(*parts).exists()
    assert open_file(root, parts) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_and_folders_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "graph.json")
    (tmp_path / "edges.csv").mkdir()
    assert open_file(tmp_path.resolve(), ["graph.json"]) is None
    assert open_file(tmp_path.resolve(), ["edges.csv"]) is None
    assert open_file(tmp_path.resolve(), ["missing.csv"]) is None


def test_weights_and_work_are_not_served():
    assert not {"weights.safetensors", ".lock", "work", "nets"} & set(SERVED)
