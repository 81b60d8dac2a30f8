"""AnnData files (.h5ad): samples (cells) by genes, read by h5py a block at a time.

The package anndata is not used: it has no release for pandas 3.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count
from rinn.data.text import check_unique
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.files import check_file
from rinn.genomics.readers.matrices import (
    GeneTable,
    Kind,
    Matrix,
    Options,
    check_finite,
    make_gene_table,
)
from rinn.genomics.symbols import SymbolRules

MAX_CELLS = 1 << 30
_MAX_NAMES = 50_000_000
_CHUNK = 1 << 24


def load_h5ad(
    path: str | os.PathLike[str],
    *,
    layer: str | None = None,
    genes: Collection[str] | None = None,
    symbol_column: str | None = None,
    kind: Kind = "expression",
    log: bool | None = False,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    dtype: str = "float32",
) -> GeneTable:
    """Read the values of an AnnData file; needs `pip install 'rinn[h5ad]'`.

    Args:
        path: the file.
        layer: which values: a name in `layers`, "raw" for `raw/X`, or None for `X`.
        genes: read only these genes, by their names in the file; the others are never in memory.
        symbol_column: the column of `var` with the gene symbols; by default its index.
        kind: what the values are.
        log: take log2(x + 1); None for where no value is below 0 and some are above 50.
        duplicates: how the columns of one gene are merged; "mean" by default.
        symbols: how gene symbols are cleaned.
        aliquots: of several aliquots of one sample take the "first", or "merge" them.
        dtype: "float32", or "float64" for twice the memory.

    Returns:
        Samples (cells) by genes; `annotation` holds the columns of `obs`.

    Raises:
        InputError: h5py is not installed, the file is no AnnData, there is no such layer, or the
            table would have more than about a billion cells.

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
    options = Options(symbols, duplicates, aliquots, log, dtype)
    source = f"h5ad ({path})"
    with _open_hdf(Path(path), source) as file:
        values_key, var_key = _find_values(file, layer, source)
        obs, var = _get(file, "obs", source), _get(file, var_key, source)
        samples = _read_index(obs, source)
        names = _read_index(var, source)
        if symbol_column is not None:
            names = [str(name) for name in _read_column(var, symbol_column, source)]
        check_unique(samples, source, "sample")
        columns = _choose_genes(names, genes, source)
        node = _get(file, values_key, source)
        values = _read_values(node, (len(samples), len(names)), columns, source)
        annotation = _read_annotation(obs, samples, source)
    check_finite(values, source)
    entries = [LogEntry("read", "samples", len(samples), f"values of {values_key}")]
    unused = len(names) - len(columns)
    entries += log_count("dropped", "genes", unused, "not among the genes that were asked for")
    chosen = [names[column] for column in columns]
    matrix = Matrix(chosen, samples, values.T.astype(dtype, copy=False), entries)
    return make_gene_table(matrix, kind, ReadLog(str(path), "h5ad"), options, annotation=annotation)


@contextmanager
def _open_hdf(path: Path, source: str) -> Iterator[Any]:
    """Open an HDF5 file; whatever a damaged one raises becomes one sentence."""
    try:
        import h5py
    except ImportError as error:
        raise InputError(
            f"{source} needs the package h5py, but it is not installed; run "
            f"pip install 'rinn[h5ad]'"
        ) from error
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


def _find_values(file: Any, layer: str | None, source: str) -> tuple[str, str]:
    """The keys of the values and of their genes."""
    if layer is None:
        return "X", "var"
    if layer == "raw":
        return "raw/X", "raw/var"
    layers = list(file["layers"]) if "layers" in file else []
    if layer not in layers:
        raise InputError(
            f"layer must be in {source}, got {layer!r}{suggest(layer, [*layers, 'raw'])}"
        )
    return f"layers/{layer}", "var"


def _get(file: Any, key: str, source: str) -> Any:
    if key not in file:
        raise InputError(
            f"{source} must have {key}, but has only {quote_some(list(file))}; write it with "
            f"anndata again"
        )
    return file[key]


def _choose_genes(names: list[str], genes: Collection[str] | None, source: str) -> list[int]:
    if genes is None:
        return list(range(len(names)))
    wanted = set(genes)
    missing = sorted(wanted - set(names))
    if missing:
        raise InputError(
            f"genes must be in {source}, but {quote_some(missing)} is not; check the spelling"
        )
    return [column for column, name in enumerate(names) if name in wanted]


def _read_index(group: Any, source: str) -> list[str]:
    """The names of the samples or of the genes."""
    if hasattr(group, "dtype"):  # before anndata 0.7: a table of records
        fields = group.dtype.names or ("index",)
        return _decode(_check_size(group, source)[fields[0]])
    return [str(name) for name in _read_column(group, _index_key(group), source)]


def _index_key(group: Any) -> str:
    key = group.attrs.get("_index", "_index")
    return key.decode() if isinstance(key, bytes) else str(key)


def _read_column(group: Any, name: str, source: str) -> list[Any]:
    """One column of obs or var: text, numbers, categories, or values with a mask."""
    if name not in group:
        raise InputError(
            f"{source} must have the column {quote(name)}, but has only {quote_some(list(group))}; "
            f"name one of these"
        )

    def read(dataset: Any) -> np.ndarray:
        return _check_size(dataset, source)[()]

    column = group[name]
    if hasattr(column, "dtype"):
        categories = group.get("__categories", {})
        if name in categories:  # before anndata 0.8
            return _look_up(_decode(read(categories[name])), read(column))
        return _decode(read(column))
    if "categories" in column:
        return _look_up(_decode(read(column["categories"])), read(column["codes"]))
    values, mask = _decode(read(column["values"])), read(column["mask"])
    return [None if is_missing else value for value, is_missing in zip(values, mask, strict=True)]


def _look_up(labels: list[Any], codes: np.ndarray) -> list[Any]:
    """The category of each code; a code below 0 is a missing value."""
    return [None if code < 0 else labels[code] for code in codes.astype(np.int64)]


def _check_size(dataset: Any, source: str) -> Any:
    """Refuse an array that claims to be larger than any table of names."""
    if dataset.size is None or dataset.size > _MAX_NAMES or dataset.ndim != 1:
        raise InputError(
            f"{source} must have lists of at most {_MAX_NAMES:,} names, but {dataset.name} has "
            f"the shape {dataset.shape}; write the file again"
        )
    return dataset


def _decode(values: np.ndarray) -> list[Any]:
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for value in values.tolist()
    ]


def _read_values(node: Any, shape: tuple[int, int], columns: list[int], source: str) -> np.ndarray:
    """The chosen columns, dense or sparse, read a block at a time."""
    if not shape[0] or not columns:
        raise InputError(f"{source} must have samples and genes, but has none; check the file")
    if shape[0] * len(columns) > MAX_CELLS:
        raise InputError(
            f"{source} must give a table of at most {MAX_CELLS:,} cells, but has {shape[0]:,} "
            f"samples and {len(columns):,} genes; name fewer with genes="
        )
    is_dense = hasattr(node, "dtype")
    stored = node.shape if is_dense else node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    stored = tuple(int(size) for size in stored)
    if stored != shape:
        raise InputError(
            f"{source} must have values of shape {shape}, as obs and var have names, but has "
            f"{stored}; write the file again"
        )
    return _read_dense(node, columns) if is_dense else _read_sparse(node, shape, columns, source)


def _read_dense(node: Any, columns: list[int]) -> np.ndarray:
    values = np.empty((node.shape[0], len(columns)), dtype=_as_float(node.dtype))
    step = max(1, _CHUNK // max(1, node.shape[1]))
    for begin in range(0, node.shape[0], step):
        values[begin : begin + step] = node[begin : begin + step][:, columns]
    return values


def _read_sparse(node: Any, shape: tuple[int, int], columns: list[int], source: str) -> np.ndarray:
    """Scatter the stored values; all others are 0."""
    format_name = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr"))
    by_rows = format_name in ("csr_matrix", "csr", b"csr_matrix", b"csr")
    major, minor = shape if by_rows else shape[::-1]
    size = int(node["data"].size)
    starts = np.zeros(0, np.int64)
    if node["indptr"].size == major + 1:
        starts = node["indptr"][()].astype(np.int64)
    is_valid = len(starts) == major + 1 and starts[0] == 0 and starts[-1] == size
    if not is_valid or (np.diff(starts) < 0).any() or node["indices"].size != size:
        raise InputError(f"{source} must hold a sound sparse matrix, but does not; write it again")
    values = np.zeros((shape[0], len(columns)), dtype=_as_float(node["data"].dtype))
    target = np.full(shape[1], -1, dtype=np.int64)
    target[columns] = np.arange(len(columns))
    for begin in range(0, size, _CHUNK):
        end = min(begin + _CHUNK, size)
        inner = node["indices"][begin:end].astype(np.int64)
        if len(inner) and (inner.min() < 0 or inner.max() >= minor):
            raise InputError(f"{source} must have indices within its shape; write it again")
        outer = np.searchsorted(starts, np.arange(begin, end), side="right") - 1
        rows, genes = (outer, inner) if by_rows else (inner, outer)
        is_kept = target[genes] >= 0
        values[rows[is_kept], target[genes[is_kept]]] = node["data"][begin:end][is_kept]
    return values


def _as_float(dtype: np.dtype) -> np.dtype:
    if dtype.kind not in "biuf":
        raise ValueError(f"its values are of the type {dtype}, not numbers")
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)


def _read_annotation(obs: Any, samples: list[str], source: str) -> pd.DataFrame | None:
    """The columns of obs that have a value for each sample."""
    if hasattr(obs, "dtype"):
        return None
    skipped = {_index_key(obs), "__categories", "_index"}
    columns = {str(name): _read_column(obs, name, source) for name in obs if name not in skipped}
    fitting = {name: cells for name, cells in columns.items() if len(cells) == len(samples)}
    return pd.DataFrame(fitting, index=pd.Index(samples)) if fitting else None
