"""Matrices and mutation lists of UCSC Xena."""

from __future__ import annotations

import os
from typing import Unpack

from rinn.data.log import LogEntry, ReadLog
from rinn.data.text import Lines
from rinn.errors import quote
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.matrices import (
    GeneTable,
    count_gene_columns,
    make_gene_table,
    read_matrix,
    split_header,
)
from rinn.genomics.readers.mutations import read_mutations
from rinn.genomics.readers.options import Options, fill_options

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


def load_xena(path: str | os.PathLike[str], **options: Unpack[Options]) -> GeneTable:
    r"""Read a Xena file, plain or gzip: genes by samples, or one line for each mutation.

    A file with the columns `gene` and `effect` is a list of mutations, read as a MAF is. Any other
    must be a matrix whose header has the samples.

    Args:
        path: the file.
        **options: of `rinn.genomics.readers.options.Options`: all of them; `classes` is "xena" by
            default. For the GDC hub, which has Ensembl ids, give `symbols` as
            `SymbolRules(rename=load_gene_names(probe_map))`.

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
    filled = fill_options(options, classes="xena")
    lines = Lines(path, "Xena")
    rows = iter(lines)
    header = split_header(next(rows, ""))
    lower = {name.lower() for name in header}
    if "effect" in lower and lower & {"gene", "genes"}:
        return read_mutations(Lines(path, "Xena"), "Xena mutations", _LONG, filled)
    if not header or header[0].lower().lstrip("#") not in _CORNERS:
        raise lines.reject(
            "have 'sample' above its genes",
            f"begins with {quote(header[0]) if header else 'nothing'}",
            "read it in the format table, or check that it is a Xena matrix",
            line=1,
        )
    # a data file of cBioPortal also has Entrez ids
    lead = 1 + count_gene_columns(header[1:])
    matrix = read_matrix(lines, rows, header, lead, dtype=filled["dtype"])
    in_rows = sum(map(_is_tcga, matrix.genes[:20]))
    if 2 * in_rows > len(matrix.genes[:20]) and not any(map(_is_tcga, matrix.samples)):
        raise lines.reject(
            "have genes in rows and samples in columns",
            f"is the sample {quote(matrix.genes[0])}",
            "read it in the format table",
            line=2,
        )
    entries = [LogEntry("dropped", "columns", 1, f"{name}: no sample") for name in header[1:lead]]
    return make_gene_table(matrix, ReadLog(str(path), "Xena matrix", tuple(entries)), filled)


def _is_tcga(name: str) -> bool:
    return parse_barcode(name).patient.startswith("TCGA-")
