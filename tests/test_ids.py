"""The ids of tests are the same in every process, or xdist refuses to run them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COLLECTIONS = 20


def collect(folder=ROOT, **env):
    """Collect tests in a process of its own; returns what it printed."""
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300
    )
    return done.stdout + done.stderr


def find_ids(printed):
    return [line for line in printed.splitlines() if "::" in line]


@pytest.fixture
def collect_text(tmp_path):
    """Collect a file of tests under the rules of this suite."""

    def collect_it(text):
        (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "test_it.py").write_text("import pytest\n" + textwrap.dedent(text))
        return collect(tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

    return collect_it


def test_bytes_are_named_by_their_argument(collect_text):
    printed = collect_text(
        r"""
        import gzip

        @pytest.mark.parametrize(("content", "word"), [(gzip.compress(b""), "a"), (b"\xff", "b")])
        def test_one(content, word): ...

        @pytest.mark.parametrize("content", [b"a", b"b"])
        def test_two(content): ...
        """
    )
    assert find_ids(printed) == [
        "test_it.py::test_one[content-a]",
        "test_it.py::test_one[content-b]",
        "test_it.py::test_two[content0]",
        "test_it.py::test_two[content1]",
    ]


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('parametrize("word", {"a", "b"})', "test_one is parametrised by a set; sort it"),
        ('parametrize("word", argvalues={"a"})', "test_one is parametrised by a set; sort it"),
        ('parametrize("word", [object()], ids=repr)', "holds an address; pass ids="),
    ],
)
def test_what_differs_between_processes_is_refused(collect_text, mark, message):
    printed = collect_text(f"@pytest.mark.{mark}\ndef test_one(word): ...\n")
    assert message in printed
    assert "1 test" not in printed


@pytest.mark.slow
def test_all_files_collect_alike():
    """In processes with other hashes, and each seconds after the one before."""
    first = find_ids(collect(PYTHONHASHSEED="0"))
    assert len(first) > 3000
    for seed in range(1, COLLECTIONS):
        assert find_ids(collect(PYTHONHASHSEED=f"{seed}")) == first
