"""Readers of cancer-genomics files: one file per format, one line in this registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rinn.data.log import Account, Entry, Reading, account_from_dict
from rinn.genomics.align import Matched, match_readings, split_normals
from rinn.genomics.barcodes import Barcode, load_samples, parse_barcode
from rinn.genomics.perturbations import encode_labels
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.cbioportal_study import Profile, list_profiles, load_clinical
from rinn.genomics.readers.gct import load_gct
from rinn.genomics.readers.gistic import load_gistic
from rinn.genomics.readers.h5ad import load_h5ad
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.mutations import CLASS_LISTS, NON_SILENT, ClassList
from rinn.genomics.readers.table import load_table
from rinn.genomics.readers.xena import load_xena
from rinn.genomics.symbols import ALIASES, AS_WRITTEN, SymbolRules, clean_symbol, load_gene_names

__all__ = [
    "ALIASES",
    "AS_WRITTEN",
    "CLASS_LISTS",
    "NON_SILENT",
    "READERS",
    "Account",
    "Barcode",
    "ClassList",
    "Entry",
    "Matched",
    "Profile",
    "Reader",
    "Reading",
    "SymbolRules",
    "account_from_dict",
    "clean_symbol",
    "encode_labels",
    "list_profiles",
    "load_cbioportal",
    "load_clinical",
    "load_gct",
    "load_gene_names",
    "load_gistic",
    "load_h5ad",
    "load_maf",
    "load_samples",
    "load_table",
    "load_xena",
    "match_readings",
    "parse_barcode",
    "split_normals",
]


@dataclass(frozen=True)
class Reader:
    """A format: its name, what its files are, and the function that reads them."""

    name: str
    about: str
    load: Callable[..., Reading]


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("maf", "mutations, one line each: GDC, MC3, maftools", load_maf),
        Reader("cbioportal", "a study folder with its meta files", load_cbioportal),
        Reader("xena", "UCSC Xena: genes by samples, or mutations", load_xena),
        Reader("gistic", "GISTIC2 copy number by gene", load_gistic),
        Reader("gct", "GCT 1.2 and 1.3: genes by samples", load_gct),
        Reader("h5ad", "AnnData: samples by genes, HDF5", load_h5ad),
        Reader("table", "CSV, TSV, Parquet, NPZ: samples by genes", load_table),
    )
}
