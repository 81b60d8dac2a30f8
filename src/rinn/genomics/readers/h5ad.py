"""AnnData files (.h5ad): samples (cells) by genes, read by h5py a block at a time.

The package anndata is not used: it has no release for pandas 3. What is wrong with a file is raised
as a ValueError, which becomes one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count
from rinn.data.text import check_unique
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.files import check_file, import_extra
from rinn.genomics.readers.matrices import GeneTable, Matrix, make_gene_table
from rinn.genomics.readers.options import Options, fill_options

MAX_CELLS = 1 << 30
_MAX_NAMES = 50_000_000
_CHUNK = 1 << 24


def load_h5ad(
    path: str | os.PathLike[str],
    *,
    layer: str | None = None,
    genes: Collection[str] | None = None,
    symbol_column: str | None = None,
    groups: Sequence[str | None] | None = None,
    **options: Unpack[Options],
) -> GeneTable:
    """Read the values of an AnnData file; needs `pip install 'rinn[h5ad]'`.

    Args:
        path: the file.
        layer: which values: a name in `layers`, "raw" for `raw/X`, or None for `X`.
        genes: read only these genes, by their names in the file; the others are never in memory.
        symbol_column: the column of `var` with the gene symbols; by default its index.
        groups: the group of each cell, or None to leave it out: the samples are then the groups,
            with the sums of their cells, and single cells are never in memory.
        **options: of `rinn.genomics.readers.options.Options`: `kind` ("expression" by default),
            `log` (False by default), `duplicates`, `symbols`, `aliquots` and `dtype` ("float32" by
            default).

    Returns:
        Samples (cells) by genes; `annotation` holds the columns of `obs`.

    Raises:
        InputError: h5py is not installed, the file is no AnnData, there is no such layer, groups
            are not one for each cell, or the table would have more than about a billion cells.

    Example:
        >>> import tempfile, h5py
        >>> path = Path(tempfile.mkdtemp()) / "a.h5ad"
        >>> with h5py.File(path, "w") as file:
        ...     file["X"] = [[0.5, 2.0]]
        ...     file["obs/_index"] = ["cell 1"]
        ...     file["var/_index"] = ["TP53", "EGFR"]
        >>> load_h5ad(path).table.to_dict("index")
        {'cell 1': {'TP53': 0.5, 'EGFR': 2.0}}
    """
    filled = fill_options(options, kind="expression", log=False, dtype="float32")
    source = f"h5ad ({path})"
    with _open_hdf(Path(path), source) as file:
        key = {None: "X", "raw": "raw/X"}.get(layer, f"layers/{layer}")
        if layer is not None and key not in file:
            layers = [*file.get("layers", ()), "raw"]
            raise InputError(f"layer must be in {source}, got {layer!r}{suggest(layer, layers)}")
        obs, var = _get(file, "obs"), _get(file, "raw/var" if layer == "raw" else "var")
        samples, names = _read_index(obs), _read_index(var)
        if symbol_column is not None:
            if symbol_column not in var:
                hint = suggest(symbol_column, list(var))
                raise InputError(f"symbol_column must be in {source}, got {symbol_column!r}{hint}")
            names = [str(name) for name in _read_column(var, symbol_column)]
        check_unique(samples, source, "sample")
        wanted = set(names if genes is None else genes)
        if missing := sorted(wanted - set(names)):
            raise InputError(
                f"genes must be in {source}, but {quote_some(missing)} is not; check the spelling"
            )
        columns = [n for n, name in enumerate(names) if name in wanted]
        if not samples or not columns:
            raise InputError(f"{source} must have samples and genes, but has none; check the file")
        targets, kept = np.arange(len(samples)), samples
        if groups is not None:
            if len(groups) != len(samples):
                raise InputError(
                    f"groups must have an entry for each of the {len(samples):,} cells of "
                    f"{source}, got {len(groups):,}; give None for a cell to leave out"
                )
            targets, names_of = pd.factorize(np.array(groups, dtype=object))
            kept = [str(name) for name in names_of]
        if len(kept) * len(columns) > MAX_CELLS:
            raise InputError(
                f"{source} must give a table of at most {MAX_CELLS:,} cells, but has "
                f"{len(kept):,} samples and {len(columns):,} genes; name fewer with genes="
            )
        rows = targets, len(kept)
        values = _read_values(_get(file, key), (len(samples), len(names)), columns, rows)
        annotation = _read_annotation(obs, samples) if groups is None else None
    entries = [LogEntry("read", "samples", len(samples), f"values of {key}")]
    unused = len(names) - len(columns)
    entries += log_count("dropped", "genes", unused, "not among the genes that were asked for")
    chosen = [names[column] for column in columns]
    matrix = Matrix(chosen, kept, values.T.astype(filled["dtype"], copy=False), entries)
    return make_gene_table(matrix, ReadLog(str(path), "h5ad"), filled, annotation=annotation)


def load_obs(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the columns of `obs`, with the names of the samples (cells) as index."""
    source = f"h5ad ({path})"
    with _open_hdf(Path(path), source) as file:
        obs = _get(file, "obs")
        samples = _read_index(obs)
        annotation = _read_annotation(obs, samples)
    check_unique(samples, source, "sample")
    return pd.DataFrame(index=pd.Index(samples)) if annotation is None else annotation


@contextmanager
def _open_hdf(path: Path, source: str) -> Iterator[Any]:
    """Open an HDF5 file; whatever a damaged one raises becomes one sentence."""
    h5py = import_extra("h5py", "h5ad", source)
    check_file(path, source)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except InputError:
        raise
    except (OSError, LookupError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{source} must be a whole AnnData file, but it cannot be read ({reason}); "
            f"download or write it again"
        ) from error


def _get(group: Any, key: str) -> Any:
    if key not in group:
        raise ValueError(f"it has no {quote(key)}, only {quote_some(list(group))}")
    return group[key]


def _read_index(group: Any) -> list[str]:
    """The names of the samples or of the genes."""
    if hasattr(group, "dtype"):  # before anndata 0.7: a table of records
        return _read_list(group, (group.dtype.names or ("index",))[0])
    return [str(name) for name in _read_column(group, _index_key(group))]


def _index_key(group: Any) -> str:
    key = group.attrs.get("_index", "_index")
    return key.decode() if isinstance(key, bytes) else str(key)


def _read_column(group: Any, name: str) -> list[Any]:
    """One column of obs or var: text, numbers, categories, or values with a mask."""
    column = _get(group, name)
    if hasattr(column, "dtype"):
        older = group.get("__categories", {})  # before anndata 0.8
        values, labels = _read_list(column), _read_list(older[name]) if name in older else None
    elif "categories" in column:
        values, labels = _read_list(column["codes"]), _read_list(column["categories"])
    else:
        cells = zip(_read_list(column["values"]), _read_list(column["mask"]), strict=True)
        return [None if is_missing else value for value, is_missing in cells]
    return values if labels is None else [None if n < 0 else labels[int(n)] for n in values]


def _read_list(dataset: Any, key: Any = ()) -> list[Any]:
    """The values of an array, unless it claims to be larger than any table of names."""
    if dataset.size is None or dataset.size > _MAX_NAMES or dataset.ndim != 1:
        raise ValueError(
            f"{dataset.name} has the shape {dataset.shape}, and is not a list of names"
        )
    values = dataset[key].tolist()
    return [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in values]


def _read_values(
    node: Any, shape: tuple[int, int], columns: list[int], rows: tuple[np.ndarray, int]
) -> np.ndarray:
    """The chosen columns, dense or sparse, read a block at a time.

    `rows` says which row of the result each row is added to, -1 for none, and how many there are.
    """
    targets, number = rows
    is_dense = hasattr(node, "dtype")
    stored = node.shape if is_dense else node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    if tuple(map(int, stored)) != shape:
        raise ValueError(f"its values have the shape {stored}, but obs and var name {shape}")
    dtype = (node if is_dense else node["data"]).dtype
    if dtype.kind not in "biuf":
        raise ValueError(f"its values are of the type {dtype}, not numbers")
    dtype = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)
    is_sum = number < (targets >= 0).sum()  # of many cells: a float32 would lose counts
    values = np.zeros((number, len(columns)), np.float64 if is_sum else dtype)
    if not is_dense:
        _fill_sparse(values, node, shape, columns, targets)
        return values
    step = max(1, _CHUNK // max(1, shape[1]))
    for begin in range(0, shape[0], step):
        block, place = node[begin : begin + step][:, columns], targets[begin : begin + step]
        if is_sum:
            np.add.at(values, place[place >= 0], block[place >= 0])
        else:
            values[place[place >= 0]] = block[place >= 0]
    return values


def _fill_sparse(
    values: np.ndarray,
    node: Any,
    shape: tuple[int, int],
    columns: list[int],
    targets: np.ndarray,
) -> None:
    """Add the stored values to the rows of their targets; all others are 0."""
    format_name = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr"))
    by_rows = format_name in ("csr_matrix", "csr", b"csr_matrix", b"csr")
    major, minor = shape if by_rows else shape[::-1]
    size = int(node["data"].size)
    if (node["indptr"].size, node["indices"].size) != (major + 1, size):
        raise ValueError("its sparse matrix has lists of the wrong length")
    starts = node["indptr"][()].astype(np.int64)
    if starts[0] != 0 or starts[-1] != size or (np.diff(starts) < 0).any():
        raise ValueError("its sparse matrix has rows that overlap")
    target = np.full(shape[1], -1, dtype=np.int64)
    target[columns] = np.arange(len(columns))
    for begin in range(0, size, _CHUNK):
        end = min(begin + _CHUNK, size)
        inner = node["indices"][begin:end].astype(np.int64)
        if inner.min() < 0 or inner.max() >= minor:
            raise ValueError("its sparse matrix has indices outside its shape")
        outer = np.searchsorted(starts, np.arange(begin, end), side="right") - 1
        rows, genes = (outer, inner) if by_rows else (inner, outer)
        is_kept = (target[genes] >= 0) & (targets[rows] >= 0)
        places = targets[rows[is_kept]] * len(columns) + target[genes[is_kept]]
        np.add.at(values.reshape(-1), places, node["data"][begin:end][is_kept])


def _read_annotation(obs: Any, samples: list[str]) -> pd.DataFrame | None:
    """The columns of obs that have a value for each sample."""
    if hasattr(obs, "dtype"):
        return None
    skipped = {_index_key(obs), "__categories", "_index"}
    columns = {str(name): _read_column(obs, name) for name in obs if name not in skipped}
    fitting = {name: cells for name, cells in columns.items() if len(cells) == len(samples)}
    return pd.DataFrame(fitting, index=pd.Index(samples)) if fitting else None
