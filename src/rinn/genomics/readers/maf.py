"""Mutation annotation format (MAF) of GDC, MC3 and maftools: one line for each mutation."""

from __future__ import annotations

import os
from typing import Unpack

from rinn.data.text import Lines
from rinn.genomics.readers.matrices import GeneTable
from rinn.genomics.readers.mutations import read_mutations
from rinn.genomics.readers.options import Options, fill_options

COLUMNS = {
    "gene": ("hugo_symbol",),
    "sample": ("tumor_sample_barcode",),
    "effect": ("variant_classification",),
    "filter": ("filter",),
}


def load_maf(path: str | os.PathLike[str], **options: Unpack[Options]) -> GeneTable:
    r"""Read a MAF, plain or gzip, in one pass.

    A sample without mutations is in no MAF. With `sequenced` it gets a row of zeros; without, it
    is not in the table: whether it has mutations is unknown.

    Args:
        path: the file.
        **options: of `rinn.genomics.readers.options.Options`: `sequenced`, `classes` ("maftools"
            by default), `filters` (("PASS",) by default), `symbols` and `aliquots`; the "first"
            aliquot is the first with a mutation that passes the filters.

    Returns:
        Samples by genes, 1 where mutated, else 0; the log has a tally of all classes.

    Raises:
        InputError: the file is no MAF, or no mutation is left.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.maf"
        >>> header = "Hugo_Symbol\tVariant_Classification\tTumor_Sample_Barcode\n"
        >>> rows = "TP53\tMissense_Mutation\tTCGA-AB-2988-03A\nTP53\tSilent\tTCGA-AB-2869-03A\n"
        >>> _ = path.write_text(header + rows)
        >>> load_maf(path).table["TP53"].to_dict()
        {'TCGA-AB-2869-03': 0, 'TCGA-AB-2988-03': 1}
    """
    return read_mutations(Lines(path, "MAF"), "MAF", COLUMNS, fill_options(options))
