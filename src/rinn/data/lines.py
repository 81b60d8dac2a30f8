"""The lines of a text file of any size, plain or gzip, one after the other."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rinn.data.log import LogEntry
from rinn.errors import InputError
from rinn.files import BLOCK, check_file, unpack_blocks

MAX_LINE = 1 << 26  # 64 MiB: a row of a million samples has some 10 MB
_FOREIGN = {
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"PK\x03\x04": "a zip or Excel file; unpack it, or save the sheet as text",
    b"BZh": "compressed by bzip2; unpack it or compress it by gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it or compress it by gzip",
    b"\x89HDF": "an HDF5 file; read it with load_h5ad",
    b"PAR1": "a Parquet file; read it with load_table",
}
_END_NAMES = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR"}


class Lines:
    r"""One pass over a text file, in bounded memory.

    LF, CRLF and CR each end a line, also where a file mixes them. Gzip is known by its first
    bytes, not by the name. A line that is not UTF-8 is read as Latin-1. `number` is the line that
    was given last, counted from 1; `entries` says afterwards what was mended.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "a.txt"
        >>> _ = path.write_bytes(b"a\r\nb\nc")
        >>> list(Lines(path, "TEXT"))
        ['a', 'b', 'c']
    """

    def __init__(self, path: str | os.PathLike[str], label: str) -> None:
        self.path = Path(path)
        self.source = f"{label} ({self.path})"
        self.number = 0
        self.is_cut = False  # the last line had no line end
        self._ends: Counter[bytes] = Counter()
        self._foreign: list[int] = []
        self._is_misnamed = False

    def __iter__(self) -> Iterator[str]:
        """Yield each line without its end."""
        carry: list[bytes] = []  # the line that is not yet whole
        size, held = 0, b""
        for block in self._read_blocks():
            block = held + block
            # a CR at the very end may be the first half of a CRLF
            held, block = (b"\r", block[:-1]) if block.endswith(b"\r") else (b"", block)
            whole, end, rest = self._unify_ends(block).rpartition(b"\n")
            if end:
                yield from self._decode(b"".join([*carry, whole]))
                carry, size = [], 0
            carry.append(rest)
            size += len(rest)
            if size > MAX_LINE:
                must = f"have lines of at most {MAX_LINE >> 20} MiB"
                advice = "check that it is a table of text"
                raise self.reject(must, "is longer", advice, line=self.number + 1)
        last = b"".join(carry)
        if last or held:
            self.is_cut = not held
            self._unify_ends(held)
            yield from self._decode(last)

    @property
    def entries(self) -> list[LogEntry]:
        """What had to be mended in the lines given so far."""
        entries = []
        if self._is_misnamed:
            reason = "the name ends in .gz, but the file is not compressed: read as plain text"
            entries.append(LogEntry("repaired", "files", 1, reason))
        if len(self._ends) > 1:
            ends = ", ".join(f"{_END_NAMES[end]} {count:,}" for end, count in self._ends.items())
            reason = f"mixed line ends ({ends}): each is taken for the end of a line"
            entries.append(LogEntry("repaired", "lines", sum(self._ends.values()), reason))
        if self._foreign:
            first = self._foreign[0]
            reason = f"not UTF-8, the first on line {first}: read as Latin-1"
            entries.append(LogEntry("repaired", "lines", len(self._foreign), reason))
        return entries

    def reject(self, must: str, but: str, advice: str, *, line: int | None = None) -> InputError:
        """Make the error for one line of the file."""
        place = max(self.number, 1) if line is None else line  # an empty file has a line 1 to write
        return InputError(f"{self.source} must {must}, but line {place} {but}; {advice}")

    def _unify_ends(self, block: bytes) -> bytes:
        """Count the line ends of each kind, and make each LF."""
        both = block.count(b"\r\n")
        counts = {
            b"\n": block.count(b"\n") - both,
            b"\r\n": both,
            b"\r": block.count(b"\r") - both,
        }
        self._ends.update({end: count for end, count in counts.items() if count})
        if counts[b"\r"] or both:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return block

    def _decode(self, block: bytes) -> Iterator[str]:
        """Yield the lines of a block whose line ends are all LF."""
        if b"\0" in block:
            line = self.number + 1 + block[: block.index(b"\0")].count(b"\n")
            raise self.reject(
                "be text",
                "holds a zero byte",
                "save it as UTF-8 text, or check the file",
                line=line,
            )
        try:
            texts = block.decode().split("\n")
        except UnicodeDecodeError:
            texts = [self._decode_line(line, n) for n, line in enumerate(block.split(b"\n"), 1)]
        if self.number == 0:
            texts[0] = texts[0].removeprefix("\ufeff")
        for text in texts:
            self.number += 1
            yield text

    def _decode_line(self, line: bytes, offset: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self._foreign.append(self.number + offset)
            return line.decode("latin-1")

    def _read_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, unpacked."""
        size = check_file(self.path, self.source)
        try:
            with self.path.open("rb") as file:
                begin = file.read(8)
                file.seek(0)
                for mark, meaning in _FOREIGN.items():
                    if begin.startswith(mark):
                        raise InputError(f"{self.source} must be text, but it is {meaning}")
                blocks = iter(lambda: file.read(BLOCK), b"")
                is_gzip = begin.startswith(b"\x1f\x8b")
                self._is_misnamed = self.path.suffix.lower() == ".gz" and not is_gzip
                yield from self._unpack(blocks, size) if is_gzip else blocks
        except OSError as error:
            raise InputError(
                f"{self.source} must be a file you may read, but reading it failed ({error}); "
                f"check its name and its permissions"
            ) from error

    def _unpack(self, blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
        try:
            yield from unpack_blocks(blocks, size, self.source)
        except zlib.error as error:
            raise InputError(
                f"{self.source} must be a whole gzip file, but it cannot be unpacked after line "
                f"{self.number} ({error}); compress or download it again"
            ) from error
