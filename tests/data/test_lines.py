import gzip
import re
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gene_files import write
from rinn.data import text as module
from rinn.data.text import Lines, read_records
from rinn.errors import InputError


def read(path):
    lines = Lines(path, "TEXT")
    return list(lines), lines


@pytest.mark.parametrize("pack", [False, True])
def test_mixed_line_ends_are_stated(tmp_path, pack):
    texts, lines = read(write(tmp_path / "a", "a\r\nb\nc\rd", pack=pack))
    assert texts == ["a", "b", "c", "d"]
    assert [entry.reason for entry in lines.entries] == [
        "mixed line ends (LF 1, CRLF 1, CR 1): each counts as the end of a line"
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_kind_of_line_end_is_nothing_to_state(tmp_path, end):
    texts, lines = read(write(tmp_path / "a", end.join(["a", "", "b", ""])))
    assert texts == ["a", "", "b"]
    assert lines.entries == []
    assert not lines.is_cut


def test_byte_order_mark_is_cut(tmp_path):
    assert read(write(tmp_path / "a", b"\xef\xbb\xbfa\nb"))[0] == ["a", "b"]


def test_lines_that_are_not_utf8_are_read_as_latin_1(tmp_path):
    texts, lines = read(write(tmp_path / "a", "caf\u00e9\n".encode() + b"caf\xe9\n\xff\n"))
    assert texts == ["caf\u00e9", "caf\u00e9", "\u00ff"]
    entry = lines.entries[0]
    assert (entry.count, entry.reason) == (2, "not UTF-8, the first on line 2: read as Latin-1")


def test_plain_text_called_gz(tmp_path):
    texts, lines = read(write(tmp_path / "a.gz", "a\n"))
    assert texts == ["a"]
    assert "not compressed" in lines.entries[0].reason


def test_members_and_padding_of_gzip(tmp_path):
    content = gzip.compress(b"a\nb") + gzip.compress(b"c\n") + b"\0" * 100
    assert read(write(tmp_path / "a", content))[0] == ["a", "bc"]


def test_members_at_the_border_of_a_block(tmp_path, monkeypatch):
    first = gzip.compress(b"a\n", mtime=0)
    monkeypatch.setattr(module, "BLOCK", len(first))
    assert read(write(tmp_path / "a", first * 3))[0] == ["a", "a", "a"]


@settings(max_examples=100, deadline=10_000)
@given(
    parts=st.lists(st.sampled_from(["a", "\u00e9", "\n", "\r", "\r\n", "\t", "\u2028", "\x0b"])),
    block=st.integers(1, 7),
    pack=st.booleans(),
)
def test_any_blocks_give_the_same_lines(tmp_path_factory, parts, block, pack):
    text = "".join(parts)
    path = write(tmp_path_factory.mktemp("lines") / "a", text, pack=pack)
    expected = re.split("\r\n|\r|\n", text)
    expected = expected[:-1] if not expected[-1] else expected
    before = module.BLOCK
    module.BLOCK = block
    try:
        assert read(path)[0] == expected
    finally:
        module.BLOCK = before


@pytest.mark.parametrize("size", range(12, 60, 7))
def test_cut_gzip(tmp_path, size):
    path = write(tmp_path / "a", gzip.compress(bytes(range(10, 255)))[:size])
    with pytest.raises(InputError, match="must be a whole gzip file, but it cannot be unpacked"):
        read(path)


def test_damaged_gzip(tmp_path):
    content = bytearray(gzip.compress(b"some text\n" * 50))
    content[-6] ^= 1
    with pytest.raises(InputError, match="incorrect data check"):
        read(write(tmp_path / "a", bytes(content)))


@pytest.mark.parametrize(
    ("content", "meaning"),
    [
        ("a\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04rest", "zip or Excel"),
        (b"BZh91AY", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x89HDF\r\n\x1a\n", "load_h5ad"),
        (b"PAR1rest", "load_table"),
    ],
)
def test_other_kinds_of_file(tmp_path, content, meaning):
    with pytest.raises(InputError, match=rf"^TEXT \(.*\) must be text, but it is .*{meaning}"):
        read(write(tmp_path / "a", content))


def test_zero_byte(tmp_path):
    with pytest.raises(InputError, match="must be text, but line 2 holds a zero byte"):
        read(write(tmp_path / "a", b"a\nb\0\n"))


def test_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE", 1000)
    monkeypatch.setattr(module, "BLOCK", 100)
    with pytest.raises(InputError, match="but line 3 is longer; check"):
        read(write(tmp_path / "a", b"a\nb\n" + b"c" * 2000))


def test_a_small_file_that_unpacks_to_a_huge_line_needs_little_memory(tmp_path):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = b"x" * (1 << 20)
    content = b"".join(packer.compress(piece) for _ in range(300)) + packer.flush()
    path = write(tmp_path / "a", content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="must have lines of at most 64 MiB, but line 1"):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 << 20


def test_a_long_file_needs_little_memory(tmp_path):
    path = write(tmp_path / "a", b"some cells of text\n" * 400_000, pack=True)
    tracemalloc.start()
    try:
        assert sum(1 for _ in Lines(path, "TEXT")) == 400_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


def test_folder_and_missing_file(tmp_path):
    with pytest.raises(InputError, match="must be a file, but it is a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="must be an existing file, but does not exist"):
        read(tmp_path / "none")


def test_file_without_permission(tmp_path, monkeypatch):
    path = write(tmp_path / "a", "a")

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match=r"must be a file you may read, .*Permission denied"):
        read(path)


def records(tmp_path, text, **options):
    return list(read_records(Lines(write(tmp_path / "a", text), "TEXT"), **options))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a;"b;c"\n\n1;2\n', [["a", "b;c"], ["1", "2"]]),
        ('a,"b\nc"\n', [["a", "b\nc"]]),
        ('a\t"b"\n  \n"x\ty\n', [["a", "b"], ["x", "y"]]),
        ("", []),
    ],
)
def test_records(tmp_path, text, rows):
    assert records(tmp_path, text) == rows


def test_comments_among_records(tmp_path):
    assert records(tmp_path, "# a\nb,c\n#d\n", comments=True) == [["b", "c"]]
    with pytest.raises(InputError, match=r"line 4 cannot be split .*; look for a quote"):
        records(tmp_path, '# a\n\nb,c\n"d,e\nf,g\n', comments=True)
