"""GCT 1.2 and 1.3 of the Broad Institute: genes by samples, with descriptions of both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Literal

import pandas as pd

from rinn.data.log import ReadLog
from rinn.data.text import Lines
from rinn.errors import InputError, quote, suggest
from rinn.genomics.readers.matrices import (
    GeneTable,
    Kind,
    Options,
    make_gene_table,
    read_matrix,
    split_header,
)
from rinn.genomics.symbols import SymbolRules

GCT_VERSIONS = ("#1.2", "#1.3")


def load_gct(
    path: str | os.PathLike[str],
    *,
    genes: str | None = None,
    kind: Kind = "expression",
    log: bool | None = None,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    dtype: str = "float64",
) -> GeneTable:
    r"""Read a GCT file of version 1.2 or 1.3, plain or gzip.

    Args:
        path: the file.
        genes: the column with the gene symbols, such as "Description" in files whose first column
            has Ensembl ids, or "pr_gene_symbol"; by default the first.
        kind: what the values are.
        log: take log2(x + 1); by default where no value is below 0 and some are above 50.
        duplicates: how the rows of one gene are merged; "mean" by default.
        symbols: how gene symbols are cleaned.
        aliquots: of several aliquots of one sample take the "first", or "merge" them.
        dtype: "float64", or "float32" for half the memory.

    Returns:
        Samples by genes; `annotation` holds what version 1.3 says of the samples, as text.

    Raises:
        InputError: the file is no GCT, or does not have the size that its second line gives.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.gct"
        >>> _ = path.write_text("#1.2\n1\t2\nNAME\tDescription\ts1\ts2\nTP53\tna\t0.5\t1.5\n")
        >>> load_gct(path).table["TP53"].to_dict()
        {'s1': 0.5, 's2': 1.5}
    """
    options = Options(symbols, duplicates, aliquots, log, dtype)
    lines = Lines(path, "GCT")
    rows = iter(lines)
    version = next(rows, "").strip().strip('"')
    if version not in GCT_VERSIONS:
        raise lines.reject(
            "begin with #1.2 or #1.3", f"is {quote(version)}", "check that it is GCT", line=1
        )
    size = _read_size(lines, next(rows, ""), version)
    expected, samples, gene_fields, sample_fields = size
    header = split_header(next(rows, ""))
    lead = 1 + gene_fields
    if len(header) != lead + samples:
        raise lines.reject(
            f"have {lead + samples} names in its header, as line 2 says",
            f"has {len(header)}",
            "export the file again",
            line=3,
        )
    annotation = _read_annotation(lines, rows, header, lead, sample_fields)
    column = _find_genes(lines, header[:lead], genes)
    matrix = read_matrix(lines, rows, header, lead, lambda cells: cells[column], dtype)
    if len(matrix.genes) != expected:
        raise InputError(
            f"{lines.source} must have {expected} genes, as line 2 says, but has "
            f"{len(matrix.genes)}; download or export it again"
        )
    read_log = ReadLog(str(path), f"GCT {version[1:]}")
    return make_gene_table(matrix, kind, read_log, options, annotation=annotation)


def _read_size(lines: Lines, line: str, version: str) -> tuple[int, int, int, int]:
    """The numbers of genes, samples, and fields of each: version 1.2 has the first two only."""
    cells = [cell.strip() for cell in line.rstrip("\t ").split("\t")]
    expected = 2 if version == "#1.2" else 4
    if len(cells) != expected or not all(re.fullmatch("[0-9]{1,9}", cell) for cell in cells):
        raise lines.reject(
            f"have {expected} whole numbers with tabs between on line 2",
            f"is {quote(line)}",
            "export the file again",
            line=2,
        )
    genes, samples, gene_fields, sample_fields = map(int, [*cells, "1", "0"][:4])
    return genes, samples, gene_fields, sample_fields


def _read_annotation(
    lines: Lines, rows: Iterator[str], header: list[str], lead: int, fields: int
) -> pd.DataFrame | None:
    """Read the lines about samples before those of genes."""
    columns: dict[str, list[str]] = {}
    for _ in range(fields):
        cells = next(rows, "").split("\t")
        if len(cells) < len(header):
            raise lines.reject(
                f"have {fields} lines about samples with {len(header)} fields each",
                f"has {len(cells)}",
                "export the file again",
            )
        columns[cells[0].strip()] = [cell.strip() for cell in cells[lead : len(header)]]
    return pd.DataFrame(columns, index=pd.Index(header[lead:])) if columns else None


def _find_genes(lines: Lines, header: list[str], genes: str | None) -> int:
    if genes is None:
        return 0
    lower = [name.lower() for name in header]
    if genes.lower() not in lower:
        raise InputError(
            f"genes must name a column before the samples of {lines.source}, got {genes!r}"
            f"{suggest(genes, header)}"
        )
    return lower.index(genes.lower())
