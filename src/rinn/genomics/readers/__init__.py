"""Readers of cancer-genomics files: one file per format, one line in this registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.gct import load_gct
from rinn.genomics.readers.gistic import load_gistic
from rinn.genomics.readers.h5ad import load_h5ad
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.matrices import GeneTable
from rinn.genomics.readers.table import load_table
from rinn.genomics.readers.xena import load_xena


@dataclass(frozen=True)
class Reader:
    """A format: its name, what its files are, and the function that reads them."""

    name: str
    about: str
    load: Callable[..., GeneTable]


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
