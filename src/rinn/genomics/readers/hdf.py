"""The parts of an AnnData file, read by h5py alone and never more than is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rinn.errors import InputError, quote, quote_some
from rinn.files import check_file

MAX_CELLS = 1 << 30
_MAX_NAMES = 50_000_000
_CHUNK = 1 << 24


@contextmanager
def open_hdf(path: Path) -> Iterator[Any]:
    """Open an HDF5 file; turn whatever a damaged one raises into one sentence."""
    try:
        import h5py
    except ImportError as error:
        raise InputError(
            f"h5ad ({path}) needs the package h5py, but it is not installed; run "
            f"pip install 'rinn[h5ad]'"
        ) from error
    check_file(path, f"h5ad ({path})")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except InputError:
        raise
    except (
        OSError,
        KeyError,
        ValueError,
        TypeError,
        RuntimeError,
        IndexError,
        AttributeError,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"h5ad ({path}) must be a whole AnnData file, but it cannot be read ({reason}); "
            f"download or write it again"
        ) from error


def get_node(file: Any, place: str, source: str) -> Any:
    """Find one part of the file."""
    if place not in file:
        raise InputError(
            f"{source} must have {place}, but has only {quote_some(list(file))}; write it with "
            f"anndata again"
        )
    return file[place]


def read_index(group: Any, source: str) -> list[str]:
    """Read the names of the samples or of the genes."""
    if hasattr(group, "dtype"):  # before anndata 0.7: a table of records
        fields = group.dtype.names or ("index",)
        return _decode(_bound(group, source)[fields[0]])
    key = group.attrs.get("_index", "_index")
    key = key.decode() if isinstance(key, bytes) else str(key)
    return [str(name) for name in read_column(group, key, source)]


def read_column(group: Any, name: str, source: str) -> list[Any]:
    """Read one column of obs or var: text, numbers, categories, or values with a mask."""
    if name not in group:
        raise InputError(
            f"{source} must have the column {quote(name)}, but has only {quote_some(list(group))}; "
            f"name one of these"
        )
    column = group[name]
    if hasattr(column, "dtype"):
        values = _decode(_bound(column, source)[()])
        categories = group.get("__categories", {})
        if name in categories:  # before anndata 0.8
            return _look_up(_decode(_bound(categories[name], source)[()]), column[()])
        return values
    if "categories" in column:
        labels = _decode(_bound(column["categories"], source)[()])
        return _look_up(labels, _bound(column["codes"], source)[()])
    values = _decode(_bound(column["values"], source)[()])
    mask = _bound(column["mask"], source)[()]
    return [None if is_missing else value for value, is_missing in zip(values, mask, strict=True)]


def _look_up(labels: list[Any], codes: np.ndarray) -> list[Any]:
    """The category of each code; a code below 0 is a missing value."""
    return [None if code < 0 else labels[code] for code in codes.astype(np.int64)]


def _bound(dataset: Any, source: str) -> Any:
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


def read_values(node: Any, shape: tuple[int, int], columns: list[int], source: str) -> np.ndarray:
    """Read the chosen columns, dense or sparse, some rows at a time."""
    if not shape[0] or not columns:
        raise InputError(f"{source} must have samples and genes, but has none; check the file")
    if shape[0] * len(columns) > MAX_CELLS:
        raise InputError(
            f"{source} must give a table of at most {MAX_CELLS:,} cells, but has {shape[0]:,} "
            f"samples and {len(columns):,} genes; name fewer with genes="
        )
    is_dense = hasattr(node, "dtype")
    found = tuple(node.shape) if is_dense else tuple(int(n) for n in _shape_of(node))
    if found != shape:
        raise InputError(
            f"{source} must have values of shape {shape}, as obs and var have names, but has "
            f"{found}; write the file again"
        )
    return _read_dense(node, columns) if is_dense else _read_sparse(node, shape, columns, source)


def _shape_of(node: Any) -> Any:
    return node.attrs["shape"] if "shape" in node.attrs else node.attrs["h5sparse_shape"]


def _read_dense(node: Any, columns: list[int]) -> np.ndarray:
    values = np.empty((node.shape[0], len(columns)), dtype=_keep_float(node.dtype))
    step = max(1, _CHUNK // max(1, node.shape[1]))
    for begin in range(0, node.shape[0], step):
        values[begin : begin + step] = node[begin : begin + step][:, columns]
    return values


def _read_sparse(node: Any, shape: tuple[int, int], columns: list[int], source: str) -> np.ndarray:
    """Scatter the stored values; those that are not stored are 0."""
    kind = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr"))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    by_rows = kind.startswith("csr")
    major, minor = shape if by_rows else shape[::-1]
    starts = (
        node["indptr"][()].astype(np.int64) if node["indptr"].size == major + 1 else np.zeros(0)
    )
    size = int(node["data"].size)
    sound = len(starts) == major + 1 and starts[0] == 0 and starts[-1] == size
    if not sound or (np.diff(starts) < 0).any() or node["indices"].size != size:
        raise InputError(f"{source} must hold a sound sparse matrix, but does not; write it again")
    values = np.zeros((shape[0], len(columns)), dtype=_keep_float(node["data"].dtype))
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


def _keep_float(dtype: np.dtype) -> np.dtype:
    if dtype.kind not in "biuf":
        raise ValueError(f"its values are of the type {dtype}, not numbers")
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)


def read_annotation(obs: Any, samples: list[str], source: str) -> pd.DataFrame | None:
    """Read the columns of obs that fit; what is no column is left out."""
    if hasattr(obs, "dtype"):
        return None
    skipped = {str(obs.attrs.get("_index", "_index")), "__categories", "_index"}
    columns = {
        str(name): read_column(obs, name, source) for name in obs if str(name) not in skipped
    }
    fitting = {name: cells for name, cells in columns.items() if len(cells) == len(samples)}
    return pd.DataFrame(fitting, index=pd.Index(samples)) if fitting else None
