"""Files, read with bounds and written as a whole or not at all; output folders; tables as text."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pandas as pd

from rinn.errors import InputError

LOCK = ".rinn.lock"
TEMPORARY = re.compile(r"\.rinn-[0-9a-f]{16}\.part")

BLOCK = 1 << 20
MIN_UNPACKED = 1 << 30  # a gzip file may always grow to 1 GiB
MAX_GROWTH = 200  # times its own size; tables of zeros and ones grow about a hundredfold
COPIES = 4  # of a text table that its readers hold at the same time
_FORMULA_STARTS = frozenset("=+-@\t\r\uff1d\uff0b\uff0d\uff20")  # the last four are full-width
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file under a temporary name in the same folder, then rename it."""
    check_target(path)
    part = path.with_name(f".rinn-{secrets.token_hex(8)}.part")
    try:
        file = part.open("xb")
        try:
            with file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # or a power cut could leave an empty file under the name
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; solve this or write elsewhere, then "
            f"repeat the command"
        ) from error


def check_target(path: Path) -> None:
    """Check that a file can be put at a path, before it is made."""
    if os.path.isdir(path):
        raise InputError(f"cannot write {path}: it is a folder; name a file in it")
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise InputError(f"cannot write {path}: it is a link or a device; name a plain file")
    if not os.path.isdir(path.parent):
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; make it")


def make_folder(folder: Path) -> None:
    """Make an output folder, and those above it, where they are missing."""
    with _refuse_folder(folder):
        folder.mkdir(parents=True, exist_ok=True)


def holds_manifest(folder: Path, name: str, what: str) -> bool:
    """Whether an output folder holds a manifest; without one it must be new or empty."""
    if not os.path.exists(folder):
        return False
    if not folder.is_dir():
        raise InputError(f"--out must be a folder, but {folder} is a file; choose another name")
    with _refuse_folder(folder):
        names = {entry.name for entry in folder.iterdir()}
    if name in names:
        return True
    others = {other for other in names if other != LOCK and not TEMPORARY.fullmatch(other)}
    if others:
        raise InputError(
            f"--out must be new, empty or a folder of this {what}, but {folder} holds other files "
            f"(such as {min(others)!r}); choose another"
        )
    return False


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make an output folder and lock it; remove what a killed process left half written."""
    make_folder(folder)
    with _refuse_folder(folder):
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        lock = os.fdopen(os.open(folder / LOCK, flags, 0o666), "r+")
    with lock:
        try:
            _lock_file(lock)
        except BlockingIOError:
            raise InputError(
                f"--out must be a folder that no other process writes to, but {folder} is in use; "
                f"wait for it, or choose another"
            ) from None
        remove_files(folder, TEMPORARY)
        yield


def remove_files(folder: Path, names: re.Pattern[str]) -> None:
    """Remove the files of a folder whose names match; a missing folder has none."""
    with _refuse_folder(folder), contextlib.suppress(FileNotFoundError):
        for entry in list(os.scandir(folder)):
            if names.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry)


@contextlib.contextmanager
def _refuse_folder(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"--out must be a folder that can be written, but {folder} cannot ({error.strerror}); "
            f"choose another"
        ) from error


def _lock_file(file: IO[str]) -> None:
    """Lock a file, where the system has locks; BlockingIOError if another process has it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return


def import_extra(name: str, extra: str, source: str) -> Any:
    """Import a package that only an extra installs; `source` is what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{source} needs the package {name.split('.')[0]}, but it is not installed; run "
            f"pip install 'rinn[{extra}]'"
        ) from error


def check_file(path: Path, source: str) -> int:
    """The size of a regular file; pipes and devices, which need not end, are refused."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise InputError(
            f"{source} must be an existing file, but does not exist; check the spelling and the "
            f"folder"
        ) from None
    except (OSError, ValueError) as error:
        raise _reject_unreadable(source, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{source} must be a file, but it is a folder; name one file inside it")
    if not stat.S_ISREG(status.st_mode):
        kind = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device"
        kind = "a socket" if stat.S_ISSOCK(status.st_mode) else kind
        raise InputError(
            f"{source} must be a regular file, but it is {kind}; save its content to a file "
            f"first, and give that file"
        )
    return status.st_size


def read_file(path: Path, source: str) -> bytes:
    """Read a whole file."""
    check_memory(check_file(path, source), source)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _reject_unreadable(source, error) from None


def unpack_gzip(content: bytes, source: str) -> bytes:
    """Unpack a whole gzip file."""
    blocks = bytearray()
    try:
        for block in unpack_blocks(iter([content]), len(content), source):
            blocks += block
            check_memory(len(blocks), source)
    except zlib.error as error:
        raise InputError(
            f"{source} must be a whole gzip file, but it cannot be unpacked ({error}); compress "
            f"or download it again"
        ) from None
    return bytes(blocks)


def unpack_blocks(blocks: Iterator[bytes], size: int, source: str) -> Iterator[bytes]:
    """Unpack gzip of one or more members, never more than a block at a time."""
    limit, count = max(MIN_UNPACKED, MAX_GROWTH * size), 0
    unpacker = None
    for block in blocks:
        left = block if unpacker else block.lstrip(b"\0")
        while left:
            unpacker = unpacker or zlib.decompressobj(31)
            part = unpacker.decompress(left, BLOCK)
            count += len(part)
            if count > limit:
                raise InputError(
                    f"{source} must be a gzip file that grows to at most {MAX_GROWTH} times its "
                    f"size, or 1 GiB, but it grows beyond {limit:,} bytes; unpack it if it is right"
                )
            yield part
            left = unpacker.unconsumed_tail
            if unpacker.eof:  # another member may follow, or zeros that fill a tape
                left, unpacker = unpacker.unused_data.lstrip(b"\0"), None
    if unpacker:
        yield unpacker.flush()
        raise zlib.error("it is cut off")


def check_memory(size: int, source: str, copies: int = COPIES) -> None:
    """Refuse what is too large for this machine before it is read."""
    limit = _find_memory() // copies
    if size > limit:
        raise InputError(
            f"{source} must fit in memory, but has {size / (1 << 30):,.1f} GiB, and this machine "
            f"can take {limit / (1 << 30):,.1f} GiB; leave out rows or columns, or use a larger "
            f"machine"
        )


@contextlib.contextmanager
def within_memory(source: str) -> Iterator[None]:
    """Turn a lack of memory while a file is read into an InputError."""
    try:
        yield
    except MemoryError:
        raise InputError(
            f"{source} must fit in memory, but it does not; leave out rows or columns, or use a "
            f"larger machine"
        ) from None


def _find_memory() -> int:
    """The machine's memory in bytes; no bound where that is not known."""
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


def encode_table(table: pd.DataFrame, digits: str | None = None) -> bytes:
    """Write a table as text, so that spreadsheets take none of its text for a formula."""
    safe = map_text(table, guard_formula)
    text = safe.to_csv(index=False, float_format=digits, lineterminator="\n")
    return text.encode("utf-8", "backslashreplace")


def read_table(path: str | os.PathLike[str], **how: Any) -> pd.DataFrame:
    """Read what `encode_table` wrote; only empty cells are missing, NA is a name."""
    check_file(Path(path), f"{path}")
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], **how)
    return map_text(table, unguard_formula)


def map_text(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Change the text of a table: its cells and the names of its columns."""

    def change_text(cell: Any) -> Any:
        return change(cell) if isinstance(cell, str) else cell

    # neither `map` nor `isetitem`, which fail on long integers in older pandas
    columns = [
        column
        if pd.api.types.is_numeric_dtype(column)
        else pd.Series(list(map(change_text, column)), column.index, dtype=column.dtype)
        for _, column in table.items()
    ]
    changed = pd.concat(columns, axis=1) if columns else table
    return changed.set_axis([change_text(name) for name in table.columns], axis=1)


def guard_formula(text: str) -> str:
    """Write text so that no spreadsheet takes it for a formula: with a quote before it."""
    return f"'{text}" if _is_formula(text) else text


def unguard_formula(text: str) -> str:
    """Read what `guard_formula` wrote."""
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would evaluate the text, apart from quotes before it."""
    bare = text.lstrip("'")
    return len(bare) > 1 and bare[0] in _FORMULA_STARTS and not _NUMBER.fullmatch(bare)
