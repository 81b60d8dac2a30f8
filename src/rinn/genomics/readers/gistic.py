"""GISTIC2 copy number by gene: levels from -2 to 2, or log2 ratios."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np

from rinn.data.log import ReadLog
from rinn.data.text import Lines
from rinn.errors import quote_some
from rinn.genomics.readers.matrices import (
    GeneTable,
    Options,
    make_gene_table,
    read_matrix,
    split_header,
)
from rinn.genomics.symbols import SymbolRules

_LEAD = (("gene symbol",), ("locus id", "gene id"), ("cytoband",))


def load_gistic(
    path: str | os.PathLike[str],
    *,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    dtype: str = "float64",
) -> GeneTable:
    r"""Read `all_thresholded.by_genes.txt` or `all_data_by_genes.txt`, plain or gzip.

    Args:
        path: the file.
        duplicates: how the rows of one gene are merged, such as "strongest" (the default), "mean"
            or "first".
        symbols: how gene symbols are cleaned; `MIR3115|chr1` becomes MIR3115.
        aliquots: of several aliquots of one sample take the "first", or "merge" them.
        dtype: "float64", or "float32" for half the memory.

    Returns:
        Samples by genes. The scale is "levels" where all values are -2, -1, 0, 1 or 2; 2 and -2
        are beyond what the whole arms of that sample reach.

    Raises:
        InputError: the file is no such table.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "all_thresholded.by_genes.txt"
        >>> header = "Gene Symbol\tLocus ID\tCytoband\tTCGA-02-0001-01C-01D-0182-01\n"
        >>> _ = path.write_text(header + "EGFR\t1956\t7p11.2\t2\n")
        >>> load_gistic(path).table["EGFR"].to_dict()
        {'TCGA-02-0001-01': 2.0}
    """
    options = Options(symbols, duplicates, aliquots, dtype=dtype)
    lines = Lines(path, "GISTIC")
    rows = iter(lines)
    header = split_header(next(rows, ""))
    if not is_gistic(header):
        raise lines.reject(
            "begin with the columns Gene Symbol, Locus ID (or Gene ID), Cytoband",
            f"begins with {quote_some(header) or 'nothing'}",
            "name all_thresholded.by_genes.txt or all_data_by_genes.txt",
            line=1,
        )
    matrix = read_matrix(lines, rows, header, len(_LEAD), lambda cells: cells[0], dtype)
    is_level = bool(np.isin(matrix.values, (-2, -1, 0, 1, 2)).all())
    scale = "levels" if is_level else "log2 ratio"
    return make_gene_table(matrix, "copy number", ReadLog(str(path), "GISTIC"), options, scale)


def is_gistic(header: Sequence[str]) -> bool:
    """Whether a header is that of GISTIC's tables by gene, whatever the file is called."""
    pairs = zip(header, _LEAD, strict=False)
    return len(header) >= len(_LEAD) and all(name.lower() in names for name, names in pairs)
