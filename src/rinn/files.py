"""Files that appear whole or not at all, and output folders that hold nothing of the user's.

Temporary files and the lock have names that no one else gives to a file: `.rinn-`, 16 hexadecimal
digits, `.part`; and `.rinn.lock`. Whatever the disk refuses while something is written becomes an
InputError here.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rinn.errors import InputError

LOCK = ".rinn.lock"
_PART = re.compile(r"\.rinn-[0-9a-f]{16}\.part")


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file beside its place, then move it there.

    Args:
        path: the file, replaced where it exists; its folder must exist.
        content: all of it.

    Raises:
        InputError: see `check_target`, or the disk refuses it; what was there is then unchanged.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     replace_file(Path(folder, "a.txt"), b"all of it")
        ...     sorted(entry.name for entry in Path(folder).iterdir())
        ['a.txt']
    """
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
            f"cannot write {path}: {error.strerror}; mend this or write elsewhere, then repeat the "
            f"command"
        ) from error


def check_target(path: Path) -> None:
    """Check that a file can be put at a path, before it is made.

    Raises:
        InputError: there is a folder, a link or a device, or the folder of the path is missing.

    Example:
        >>> check_target(Path("/dev/null"))
        Traceback (most recent call last):
        rinn.errors.InputError: cannot write /dev/null: it is a link or a device; name a plain file
    """
    if os.path.isdir(path):
        raise InputError(f"cannot write {path}: it is a folder; name a file in it")
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise InputError(f"cannot write {path}: it is a link or a device; name a plain file")
    if not os.path.isdir(path.parent):
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; make it")


def make_folder(folder: Path) -> None:
    """Make an output folder, and those above it, where they are missing.

    Raises:
        InputError: the disk refuses it.
    """
    with _refuse_folder(folder):
        folder.mkdir(parents=True, exist_ok=True)


def holds_manifest(folder: Path, name: str, what: str) -> bool:
    """Say whether an output folder holds a manifest; without one it must be new or empty.

    Args:
        folder: need not exist.
        name: of the manifest, which is the first file that is written into the folder.
        what: what the folder is for, as "run", for errors.

    Returns:
        True where the manifest is there; False where the folder holds nothing, or only what a
        process left that was killed before it had written the manifest.

    Raises:
        InputError: the folder is a file, or holds other files and no manifest.
    """
    if not os.path.exists(folder):
        return False
    if not folder.is_dir():
        raise InputError(f"--out must be a folder, but {folder} is a file; choose another name")
    with _refuse_folder(folder):
        names = {entry.name for entry in folder.iterdir()}
    if name in names:
        return True
    others = {other for other in names if other != LOCK and not _PART.fullmatch(other)}
    if others:
        raise InputError(
            f"--out must be new, empty or a folder of this {what}, but {folder} holds other files "
            f"(such as {min(others)!r}); choose another"
        )
    return False


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make an output folder and lock it; remove what a killed process left half written.

    Args:
        folder: made where it is missing; to be checked by `holds_manifest` before.

    Raises:
        InputError: the folder cannot be written, or another process has locked it.
    """
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
        remove_parts(folder)
        yield


def remove_parts(folder: Path) -> None:
    """Remove the temporary files that a killed process left in a locked folder."""
    remove_files(folder, _PART)


def remove_files(folder: Path, names: re.Pattern[str]) -> None:
    """Remove the plain files of a folder whose whole name matches; a missing folder has none."""
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
    """Lock a file for this process; BlockingIOError if another process has locked it.

    Windows and some file systems of clusters have no such locks: there nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return
