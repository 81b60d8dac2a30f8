"""Gene sets from files as they are, and as they should not be."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rinn.data.genesets import load_gmt
from rinn.errors import InputError


def write(folder, content, name="sets.gmt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_sets_in_the_order_of_the_file(tmp_path):
    found = load_gmt(write(tmp_path, "B\tsecond\tx\ty\nA\t\tz\n"))
    assert list(found.sets) == ["B", "A"]
    assert found.sets == {"B": {"x", "y"}, "A": {"z"}}
    assert found.descriptions == {"B": "second", "A": ""}
    assert found.sizes == {"B": 2, "A": 1}
    assert found.genes == {"x", "y", "z"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_gzip_and_a_byte_order_mark(tmp_path, end):
    text = end.join(["\ufeffS1\td\ta\tb", "S2\td\tc", ""])
    plain = load_gmt(write(tmp_path, text))
    packed = load_gmt(write(tmp_path, gzip.compress(text.encode()), "sets.gmt.gz"))
    assert plain.sets == packed.sets == {"S1": {"a", "b"}, "S2": {"c"}}


def test_only_some_genes(tmp_path):
    found = load_gmt(write(tmp_path, "S\td\ta\tb\tc\nT\td\tc\n"), genes=["a", "zz"])
    assert found.sets == {"S": {"a"}, "T": set()}
    assert found.sizes == {"S": 3, "T": 1}
    assert found.examples == ("a", "b", "c")


def test_what_is_mended_is_said(tmp_path):
    text = "# mine\nS\td\ta,1.0\tb,-2e-3\ta\t\t\n\nNONE\td\nNONE2\td\t\t\nS\tother\tb\ta\n"
    found = load_gmt(write(tmp_path, text))
    assert found.sets == {"S": {"a", "b"}}
    log = found.log
    assert log.count("dropped", "sets") == 2
    assert log.count("dropped", "lines") == 2
    assert log.count("merged", "sets") == 1
    assert log.count("merged", "genes") == 1
    assert log.count("repaired", "genes") == 2


def test_a_comma_that_is_no_weight(tmp_path):
    assert load_gmt(write(tmp_path, "S\td\tBC043421,x\n")).sets["S"] == {"BC043421,x"}


def test_not_utf8(tmp_path):
    found = load_gmt(write(tmp_path, b"S\xe9\td\ta\nT\td\tb\n"))
    assert list(found.sets) == ["S\u00e9", "T"]
    assert "not UTF-8, the first on line 1" in str(found.log)


def test_names_are_only_text(tmp_path):
    hostile = ["<script>alert(1)</script>", "=HYPERLINK(1)", "../../etc/passwd", "\x1b[2Jred", "''"]
    text = "".join(f"{name}\td\t{name}\tb\n" for name in hostile)
    found = load_gmt(write(tmp_path, text))
    assert list(found.sets) == hostile
    assert found.sets[hostile[2]] == {hostile[2], "b"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("S\td\ta\nalone\n", "line 2 has no tab ('alone')"),
        ("S one two\n", "line 1 has no tab"),
        ("S\td\ta\n\td\tb\n", "line 2 has none"),
        ("S\td\ta\tb\nT\td\tc\nS\td\ta\tc\n", "line 3 has 'S' again, with other genes than line 1"),
        ("", "at least one set"),
        ("# nothing\n\n", "at least one set"),
        ("S\td\n", "at least one set"),
        ("S\td\ta\n\0\n", "line 2 holds a zero byte"),
        (b"PK\x03\x04zip", "it is a zip or Excel file"),
        (gzip.compress(b"S\td\ta\n" * 1000, mtime=0)[:-20], "must be a whole gzip file"),
    ],
)
def test_malformed(tmp_path, content, said):
    with pytest.raises(InputError) as error:
        load_gmt(write(tmp_path, content))
    assert said in str(error.value)
    assert "GMT (" in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="must be an existing file"):
        load_gmt(tmp_path / "none.gmt")
    with pytest.raises(InputError, match="it is a folder"):
        load_gmt(tmp_path)


def test_a_long_line(tmp_path):
    genes = "\t".join(f"G{number}" for number in range(100_000))
    assert load_gmt(write(tmp_path, f"S\td\t{genes}\n")).sizes == {"S": 100_000}


@given(content=st.binary(max_size=200))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_give_sets_or_a_sentence(tmp_path, content):
    path = write(tmp_path, content)
    with contextlib.suppress(InputError):
        found = load_gmt(path)
        assert found.sets
        assert all(name and genes for name, genes in found.sets.items())
    assert path.read_bytes() == content
