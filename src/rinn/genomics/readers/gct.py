"""GCT 1.2 and 1.3 of the Broad Institute: genes by samples, with descriptions of both."""

from __future__ import annotations

import os
import re
from typing import Unpack

import pandas as pd

from rinn.data.log import ReadLog
from rinn.data.text import Lines
from rinn.errors import InputError, quote, suggest
from rinn.genomics.readers.matrices import GeneTable, make_gene_table, read_matrix, split_header
from rinn.genomics.readers.options import Options, fill_options


def load_gct(
    path: str | os.PathLike[str], *, genes: str | None = None, **options: Unpack[Options]
) -> GeneTable:
    r"""Read a GCT file of version 1.2 or 1.3, plain or gzip.

    Args:
        path: the file.
        genes: the column with the gene symbols, such as "Description" in files whose first column
            has Ensembl ids, or "pr_gene_symbol"; by default the first.
        **options: of `rinn.genomics.readers.options.Options`: `kind` ("expression" by default),
            `log`, `duplicates`, `symbols`, `aliquots` and `dtype`.

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
    filled = fill_options(options, kind="expression")
    lines = Lines(path, "GCT")
    rows = iter(lines)
    version = next(rows, "").strip().strip('"')
    if not is_gct(version):
        raise lines.reject(
            "begin with #1.2 or #1.3", f"is {quote(version)}", "check that it is GCT", line=1
        )
    expected, samples, gene_fields, sample_fields = _read_size(lines, next(rows, ""), version)
    header = split_header(next(rows, ""))
    lead = 1 + gene_fields
    if len(header) != lead + samples:
        raise lines.reject(
            f"have {lead + samples} names in its header, as line 2 says",
            f"has {len(header)}",
            "export the file again",
            line=3,
        )
    about: dict[str, list[str]] = {}  # the lines about samples come before those of genes
    for _ in range(sample_fields):
        cells = next(rows, "").split("\t")
        if len(cells) < len(header):
            raise lines.reject(
                f"have {sample_fields} lines about samples with {len(header)} fields each",
                f"has {len(cells)}",
                "export the file again",
            )
        about[cells[0].strip()] = [cell.strip() for cell in cells[lead : len(header)]]
    annotation = pd.DataFrame(about, index=pd.Index(header[lead:])) if about else None
    lower = [name.lower() for name in header[:lead]]
    if genes is not None and genes.lower() not in lower:
        raise InputError(
            f"genes must name a column before the samples of {lines.source}, got {genes!r}"
            f"{suggest(genes, header[:lead])}"
        )
    column = 0 if genes is None else lower.index(genes.lower())
    matrix = read_matrix(lines, rows, header, lead, [column], filled["dtype"])
    if len(matrix.genes) != expected:
        raise InputError(
            f"{lines.source} must have {expected} genes, as line 2 says, but has "
            f"{len(matrix.genes)}; download or export it again"
        )
    log = ReadLog(str(path), f"GCT {version[1:]}")
    return make_gene_table(matrix, log, filled, annotation=annotation)


def is_gct(line: str) -> bool:
    """Whether a first line is that of a GCT file, whatever it is called."""
    return line.strip().strip('"') in ("#1.2", "#1.3")


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
