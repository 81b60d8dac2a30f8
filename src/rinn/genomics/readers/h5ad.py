"""AnnData files (.h5ad): samples (cells) by genes."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from rinn.data.log import LogEntry, ReadLog
from rinn.errors import InputError, quote_some, suggest
from rinn.genomics.readers.hdf import (
    get_node,
    open_hdf,
    read_annotation,
    read_column,
    read_index,
    read_values,
)
from rinn.genomics.readers.matrices import (
    LARGEST,
    GeneTable,
    Kind,
    Matrix,
    Options,
    find_endless,
    make_gene_table,
)
from rinn.genomics.symbols import SymbolRules, check_unique


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
    with open_hdf(Path(path)) as file:
        source = f"h5ad ({path})"
        place, var = _find_values(file, layer, source)
        samples = read_index(get_node(file, "obs", source), source)
        names = read_index(get_node(file, var, source), source)
        if symbol_column is not None:
            column = read_column(get_node(file, var, source), symbol_column, source)
            names = [str(name) for name in column]
        check_unique(samples, source, "sample")
        columns = _choose_genes(names, genes, source)
        values = read_values(
            get_node(file, place, source), (len(samples), len(names)), columns, source
        )
        annotation = read_annotation(get_node(file, "obs", source), samples, source)
    if find_endless(values) is not None:
        raise InputError(f"{source} must hold numbers up to {LARGEST:g}; write it again with NaN")
    chosen = [names[column] for column in columns]
    entries = [LogEntry("read", "samples", len(samples), f"values of {place}")]
    if len(chosen) < len(names):
        reason = "not among the genes that were asked for"
        entries.append(LogEntry("dropped", "genes", len(names) - len(chosen), reason))
    matrix = Matrix(chosen, samples, values.T.astype(dtype, copy=False), entries)
    return make_gene_table(matrix, kind, ReadLog(str(path), "h5ad"), options, annotation=annotation)


def _find_values(file: Any, layer: str | None, source: str) -> tuple[str, str]:
    """Where the values are, and where their genes are."""
    if layer is None:
        return "X", "var"
    if layer == "raw":
        return "raw/X", "raw/var"
    known = list(file["layers"]) if "layers" in file else []
    if layer not in known:
        raise InputError(
            f"layer must be in {source}, got {layer!r}{suggest(layer, [*known, 'raw'])}"
        )
    return f"layers/{layer}", "var"


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
