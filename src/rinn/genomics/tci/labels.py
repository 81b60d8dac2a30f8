"""Read one label for each sample, such as its tissue, from a table of text."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rinn.data.cells import check_names, is_id_header
from rinn.errors import InputError, find_repeated, quote, quote_some
from rinn.files import read_file, unguard_formula, unpack_gzip, within_memory

COLUMN = "tissue"
SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "<na>"})


@dataclass(frozen=True)
class Labels:
    """One label for each sample; `samples` holds the ids, or is None where there were none."""

    words: tuple[str, ...]
    samples: tuple[str, ...] | None = None


def load_labels(path: str | os.PathLike[str], column: str = COLUMN) -> Labels:
    r"""Read the labels of samples from a .csv, .tsv or .txt file with a header, also gzipped.

    A first column called sample, id, barcode and the like holds the sample ids. The labels are in
    the column of the given name, or in the only other one.

    Args:
        path: the file; fields of .csv are separated by commas, those of the others by tabs.
        column: the name of the column.

    Raises:
        InputError: the file cannot be read, or has no such column, a label that is missing or a
            sample twice.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "tissue.csv"
        >>> _ = path.write_text("sample,sex,tissue\na,f,lung\nb,m,skin\n")
        >>> load_labels(path)
        Labels(words=('lung', 'skin'), samples=('a', 'b'))
    """
    path = Path(path)
    frame = _read_frame(path)
    names = [unguard_formula(str(name).strip()) for name in frame.columns]
    samples = None
    if len(names) > 1 and is_id_header(names[0]):
        samples = tuple(unguard_formula(text.strip()) for text in frame.iloc[:, 0])
        names, frame = names[1:], frame.iloc[:, 1:]
    if column not in names and len(names) != 1:
        raise InputError(
            f"{path} must have a column {quote(column)}, but it has {quote_some(names)}; rename one"
        )
    place = names.index(column) if column in names else 0
    words = tuple(unguard_formula(text.strip()) for text in frame.iloc[:, place])
    check_names(words, str(path), "label")
    _check_labels(words, samples, path)
    return Labels(words, samples)


def _read_frame(path: Path) -> pd.DataFrame:
    """Read all cells as text."""
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in SEPARATORS:
        raise InputError(
            f"the table of labels must be a file that ends in one of {', '.join(SEPARATORS)} (also "
            f"with .gz), but it is called {quote(path.name)}; save it as .csv"
        )
    source = f"the table of labels ({path})"
    with within_memory(source):
        content = read_file(path, source)
        content = unpack_gzip(content, source) if name.endswith(".gz") else content
        try:
            return pd.read_csv(
                io.BytesIO(content),
                sep=SEPARATORS[suffix],
                dtype=str,
                keep_default_na=False,
                encoding="utf-8-sig",
                index_col=False,
            )
        except (ValueError, pd.errors.ParserWarning) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{source} must be text in UTF-8 with a header, but it cannot be read ({reason}); "
                f"check the file"
            ) from error


def _check_labels(words: tuple[str, ...], samples: tuple[str, ...] | None, path: Path) -> None:
    missing = [row for row, word in enumerate(words) if word.lower() in MISSING]
    if missing:
        name = f"row {missing[0] + 1}" if samples is None else quote(samples[missing[0]])
        raise InputError(
            f"{path} must have a label for each sample, but {name} has none, the first of "
            f"{len(missing)} in all; write 'unknown', or remove the rows"
        )
    repeated = find_repeated(samples or ())
    if repeated:
        raise InputError(
            f"{path} must have each sample once, but repeats {quote_some(repeated)}; keep one row "
            f"of each"
        )
