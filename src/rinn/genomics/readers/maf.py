"""Mutation annotation format (MAF) of GDC, MC3 and maftools: one line for each mutation."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Literal

from rinn.data.text import Lines
from rinn.genomics.readers.matrices import GeneTable
from rinn.genomics.readers.mutations import ClassList, Rules, Sequenced, read_mutations
from rinn.genomics.symbols import SymbolRules

COLUMNS = {
    "gene": ("hugo_symbol",),
    "sample": ("tumor_sample_barcode",),
    "effect": ("variant_classification",),
    "filter": ("filter",),
}


def load_maf(
    path: str | os.PathLike[str],
    *,
    sequenced: Sequenced = None,
    classes: str | Collection[str] | ClassList = "maftools",
    filters: Collection[str] | None = ("PASS",),
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
) -> GeneTable:
    r"""Read a MAF, plain or gzip, in one pass.

    A sample without mutations is in no MAF. With `sequenced` it gets a row of zeros; without, it
    is not in the table: whether it has mutations is unknown.

    Args:
        path: the file.
        sequenced: the samples that were sequenced: their barcodes, or a file (see
            `load_samples`).
        classes: which mutations count: the name of a list ("maftools", "xena", "cbioportal",
            "vep", "all") or the classes to keep.
        filters: the values of the FILTER column that pass, such as ("PASS", "wga") for MC3;
            empty cells pass too. None keeps all; a file without that column is not filtered.
        symbols: how gene symbols are cleaned.
        aliquots: of several aliquots of one sample take the "first" with a mutation that passes
            the filters, or "merge" them.

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
    rules = Rules(classes, filters, sequenced, symbols, aliquots)
    return read_mutations(Lines(path, "MAF"), "MAF", COLUMNS, rules)
