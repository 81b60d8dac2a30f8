"""GISTIC2 copy number by gene: levels from -2 to 2, or log2 ratios."""

from __future__ import annotations

import os
from typing import Unpack

import numpy as np

from rinn.data.log import ReadLog
from rinn.data.text import Lines
from rinn.errors import quote_some
from rinn.genomics.readers.matrices import GeneTable, make_gene_table, read_matrix, split_header
from rinn.genomics.readers.options import Options, fill_options

_LEAD = (("gene symbol",), ("locus id", "gene id"), ("cytoband",))


def load_gistic(path: str | os.PathLike[str], **options: Unpack[Options]) -> GeneTable:
    r"""Read `all_thresholded.by_genes.txt` or `all_data_by_genes.txt`, plain or gzip.

    Args:
        path: the file.
        **options: of `rinn.genomics.readers.options.Options`: `duplicates` ("strongest" by
            default), `symbols`, `aliquots` and `dtype`.

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
    filled = fill_options(options, kind="copy number")
    lines = Lines(path, "GISTIC")
    rows = iter(lines)
    first = next(rows, "")
    header = split_header(first)
    if not is_gistic(first):
        raise lines.reject(
            "begin with the columns Gene Symbol, Locus ID (or Gene ID), Cytoband",
            f"begins with {quote_some(header) or 'nothing'}",
            "name all_thresholded.by_genes.txt or all_data_by_genes.txt",
            line=1,
        )
    matrix = read_matrix(lines, rows, header, len(_LEAD), dtype=filled["dtype"])
    is_level = bool(np.isin(matrix.values, (-2, -1, 0, 1, 2)).all())
    scale = "levels" if is_level else "log2 ratio"
    return make_gene_table(matrix, ReadLog(str(path), "GISTIC"), filled, scale)


def is_gistic(line: str) -> bool:
    """Whether a first line is that of GISTIC's tables by gene, whatever the file is called."""
    header = split_header(line)
    pairs = zip(header, _LEAD, strict=False)
    return len(header) >= len(_LEAD) and all(name.lower() in names for name, names in pairs)
