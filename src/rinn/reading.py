"""Files that users give: regular ones, read whole, with bounds on what is read."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from rinn.errors import InputError

BLOCK = 1 << 20
LEAST_UNPACKED = 1 << 30  # a gzip file may always grow to 1 GiB
MOST_GROWTH = 200  # times its own size; tables of zeros and ones grow about a hundredfold
COPIES = 4  # of a text table that its readers hold at the same time


def check_file(path: Path, source: str) -> int:
    """Refuse a path that does not lead to a regular file: pipes and devices need not end.

    Args:
        path: the file.
        source: how errors call it.

    Returns:
        Its size in bytes.

    Raises:
        InputError: there is no such file, or it is a folder, a pipe, a device or a socket.

    Example:
        >>> check_file(Path("/dev/zero"), "X (/dev/zero)")
        Traceback (most recent call last):
        rinn.errors.InputError: X (/dev/zero) must be a regular file, but it is a device; save its \
content to a file first, and give that file
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise InputError(
            f"{source} must be an existing file, but there is none; check the spelling and the "
            f"folder"
        ) from None
    except (OSError, ValueError) as error:
        raise _reject_unreadable(source, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{source} must be a file, but it is a folder; name one file inside it")
    if not stat.S_ISREG(found.st_mode):
        kind = "a pipe" if stat.S_ISFIFO(found.st_mode) else "a device"
        kind = "a socket" if stat.S_ISSOCK(found.st_mode) else kind
        raise InputError(
            f"{source} must be a regular file, but it is {kind}; save its content to a file "
            f"first, and give that file"
        )
    return found.st_size


def read_file(path: Path, source: str) -> bytes:
    """Read a whole file.

    Args:
        path: the file.
        source: how errors call it.

    Returns:
        Its content.

    Raises:
        InputError: it is no regular file, may not be read, or does not fit in memory.

    Example:
        >>> read_file(Path("none.csv"), "Y (none.csv)")
        Traceback (most recent call last):
        rinn.errors.InputError: Y (none.csv) must be an existing file, but there is none; check \
the spelling and the folder
    """
    check_memory(check_file(path, source), source)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _reject_unreadable(source, error) from None


def unpack_gzip(content: bytes, source: str) -> bytes:
    """Unpack a whole gzip file.

    Args:
        content: the file's.
        source: how errors call it.

    Returns:
        What it was made from.

    Raises:
        InputError: it is damaged, or what it holds is too large.

    Example:
        >>> unpack_gzip(b"no gzip", "X")
        Traceback (most recent call last):
        rinn.errors.InputError: X must be a whole gzip file, but it cannot be unpacked (Error -3 \
while decompressing data: incorrect header check); compress or download it again
    """
    blocks: list[bytes] = []
    size = 0
    try:
        for block in unpack_blocks(iter([content]), len(content), source):
            blocks.append(block)
            size += len(block)
            check_memory(size, source)
    except zlib.error as error:
        raise InputError(
            f"{source} must be a whole gzip file, but it cannot be unpacked ({error}); compress "
            f"or download it again"
        ) from None
    return b"".join(blocks)


def unpack_blocks(blocks: Iterator[bytes], size: int, source: str) -> Iterator[bytes]:
    """Unpack gzip of one or more members, never more than a block at a time.

    Args:
        blocks: the file's content, in parts.
        size: of the file, in bytes.
        source: how errors call it.

    Yields:
        What it was made from, in parts.

    Raises:
        zlib.error: it is damaged.
        InputError: it holds more than any table would.
    """
    most, count = max(LEAST_UNPACKED, MOST_GROWTH * size), 0
    unpacker = None
    for block in blocks:
        rest = block if unpacker else block.lstrip(b"\0")
        while rest:
            unpacker = unpacker or zlib.decompressobj(31)
            part = unpacker.decompress(rest, BLOCK)
            count += len(part)
            if count > most:
                raise InputError(
                    f"{source} must be a gzip file that grows to at most {MOST_GROWTH} times its "
                    f"size, or 1 GiB, but it grows beyond {most:,} bytes; unpack it if it is right"
                )
            yield part
            rest = unpacker.unconsumed_tail
            if unpacker.eof:  # another member may follow, or zeros that fill a tape
                rest, unpacker = unpacker.unused_data.lstrip(b"\0"), None
    if unpacker:
        yield unpacker.flush()
        raise zlib.error("it is cut off")


def check_memory(size: int, source: str, copies: int = COPIES) -> None:
    """Refuse what is too large for this machine before it is read.

    Args:
        size: in bytes.
        source: how errors call it.
        copies: how many of them are held at the same time.

    Raises:
        InputError: they do not fit in memory.

    Example:
        >>> check_memory(1 << 60, "X")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        rinn.errors.InputError: X must fit in memory, but has 1,073,741,824.0 GiB, and this \
machine can take ... GiB; leave out rows or columns, or use a larger machine
    """
    most = _find_memory() // copies
    if size > most:
        raise InputError(
            f"{source} must fit in memory, but has {size / (1 << 30):,.1f} GiB, and this machine "
            f"can take {most / (1 << 30):,.1f} GiB; leave out rows or columns, or use a larger "
            f"machine"
        )


@contextlib.contextmanager
def within_memory(source: str) -> Iterator[None]:
    """Turn the lack of memory while a file is read into an error of the user's.

    Args:
        source: how errors call the file.

    Raises:
        InputError: the memory does not suffice.

    Example:
        >>> with within_memory("X"):
        ...     raise MemoryError
        Traceback (most recent call last):
        rinn.errors.InputError: X must fit in memory, but it does not; leave out rows or columns, \
or use a larger machine
    """
    try:
        yield
    except MemoryError:
        raise InputError(
            f"{source} must fit in memory, but it does not; leave out rows or columns, or use a "
            f"larger machine"
        ) from None


def _find_memory() -> int:
    """The machine's memory in bytes; no bound where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize


def _reject_unreadable(source: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(
        f"{source} must be a file you may read, but opening it failed ({reason}); check its name "
        f"and its permissions"
    )
