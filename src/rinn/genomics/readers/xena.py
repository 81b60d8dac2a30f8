"""Matrices and mutation lists of UCSC Xena."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Literal

from rinn.data.log import LogEntry, ReadLog
from rinn.data.text import Lines
from rinn.errors import quote
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.matrices import (
    SCALES,
    GeneTable,
    Kind,
    Matrix,
    Options,
    count_gene_columns,
    guess_kind,
    make_gene_table,
    mark_sequenced,
    read_matrix,
    split_header,
)
from rinn.genomics.readers.mutations import ClassList, Rules, Sequenced, read_mutations
from rinn.genomics.symbols import SymbolRules

_CORNERS = frozenset(
    {"", "sample", "samples", "sampleid", "gene", "genes", "gene_id", "ensembl_id", "id", "probe"}
    | {"xena_sample", "hugo_symbol", "gene_symbol", "attrib", "identifier", "symbol", "probeid"}
)
_LONG = {
    "gene": ("gene", "genes"),
    "sample": ("sample", "sample_id", "sampleid"),
    "effect": ("effect",),
    "filter": ("filter",),
}


def load_xena(
    path: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    log: bool | None = None,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    classes: str | Collection[str] | ClassList = "xena",
    filters: Collection[str] | None = ("PASS",),
    sequenced: Sequenced = None,
    dtype: str = "float64",
) -> GeneTable:
    r"""Read a Xena file, plain or gzip: genes by samples, or one line for each mutation.

    A file with the columns `gene` and `effect` is a list of mutations, read as a MAF is (`classes`,
    `filters` and `sequenced` are as in `load_maf`). Any other must be a matrix whose header has the
    samples.

    Args:
        path: the file.
        kind: what the values of a matrix are; by default guessed from them (0 and 1 mutation,
            whole numbers from -2 to 2 copy number, else expression).
        log: take log2(x + 1); by default where no value is below 0 and some are above 50, so that
            files that are logs already stay as they are.
        duplicates: how the rows of one gene are merged; by default "any" for mutations,
            "strongest" for copy number, "mean" for expression.
        symbols: how gene symbols are cleaned; for the GDC hub, which has Ensembl ids, give
            `SymbolRules(rename=load_gene_names(probe_map))`.
        aliquots: of several vials of one sample take the "first", or "merge" them.
        classes: which mutations of a list count.
        filters: the values of a list's FILTER column that pass.
        sequenced: for a list, the samples that were sequenced.
        dtype: "float64", or "float32" for half the memory.

    Returns:
        Samples by genes. Each sample of a matrix of mutations was sequenced.

    Raises:
        InputError: the file is neither, or it has samples in rows.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "HiSeqV2"
        >>> _ = path.write_text("sample\tTCGA-02-0001-01\nTP53\t9.5\n")
        >>> load_xena(path).table["TP53"].to_dict()
        {'TCGA-02-0001-01': 9.5}
    """
    options = Options(symbols, duplicates, aliquots, log, dtype)
    lines = Lines(path, "Xena")
    rows = iter(lines)
    header = split_header(next(rows, ""))
    lower = {name.lower() for name in header}
    if "effect" in lower and lower & {"gene", "genes"}:
        rules = Rules(classes, filters, sequenced, symbols, aliquots)
        return read_mutations(Lines(path, "Xena"), "Xena mutations", _LONG, rules)
    if not header or header[0].lower().lstrip("#") not in _CORNERS:
        raise lines.reject(
            "have 'sample' above its genes",
            f"begins with {quote(header[0]) if header else 'nothing'}",
            "read it in the format table, or check that it is a Xena matrix",
            line=1,
        )
    # a data file of cBioPortal also has Entrez ids
    lead = 1 + count_gene_columns(header[1:])
    matrix = read_matrix(lines, rows, header, lead, lambda cells: cells[0], dtype)
    _check_direction(lines, matrix)
    kind = kind or guess_kind(matrix.values)
    entries = [LogEntry("dropped", "columns", 1, f"{name}: no sample") for name in header[1:lead]]
    read_log = ReadLog(str(path), "Xena matrix", tuple(entries))
    scale = SCALES.get(kind, "as written")
    return mark_sequenced(make_gene_table(matrix, kind, read_log, options, scale))


def _check_direction(lines: Lines, matrix: Matrix) -> None:
    """Refuse a table of samples by genes: its genes would become samples."""
    first = matrix.genes[:20]
    in_rows = sum(parse_barcode(name).patient.startswith("TCGA-") for name in first)
    in_columns = any(parse_barcode(name).patient.startswith("TCGA-") for name in matrix.samples)
    if 2 * in_rows > len(first) and not in_columns:
        raise lines.reject(
            "have genes in rows and samples in columns",
            f"is the sample {quote(matrix.genes[0])}",
            "read it in the format table",
            line=2,
        )
