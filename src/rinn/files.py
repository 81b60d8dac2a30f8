"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file beside its place, then move it there.

    Args:
        path: the file, replaced where it exists; its folder must exist.
        content: all of it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     replace_file(Path(folder, "a.txt"), b"all of it")
        ...     sorted(entry.name for entry in Path(folder).iterdir())
        ['a.txt']
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave an empty file under the name
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
