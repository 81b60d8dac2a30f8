"""Readers of cancer-genomics files: one file per format, one line in this registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rinn.data.text import Lines
from rinn.errors import InputError
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.gct import is_gct, load_gct
from rinn.genomics.readers.gistic import is_gistic, load_gistic
from rinn.genomics.readers.h5ad import load_h5ad
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.matrices import GeneTable
from rinn.genomics.readers.options import Kind
from rinn.genomics.readers.table import load_table
from rinn.genomics.readers.xena import load_xena


@dataclass(frozen=True)
class Reader:
    """A format: its name, what its files are, and the function that reads them.

    `rinn prepare` offers it for the tables that it `holds`. A file whose format is not named has
    this one if `begins` is true of its first line, else if its name ends in one of `suffixes`.
    """

    name: str
    about: str
    load: Callable[..., GeneTable]
    holds: tuple[Kind, ...] = ()
    suffixes: tuple[str, ...] = ()
    begins: Callable[[str], bool] = lambda line: False


_ALL: tuple[Kind, ...] = ("mutation", "copy number", "expression")
_TABLES = (".csv", ".parquet", ".npz")

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("maf", "mutations, one line each: GDC, MC3, maftools", load_maf),
        Reader("cbioportal", "a study folder with its meta files", load_cbioportal),
        Reader("xena", "UCSC Xena: genes by samples, or mutations", load_xena, _ALL),
        Reader("gistic", "GISTIC2 copy number by gene", load_gistic, _ALL[1:2], begins=is_gistic),
        Reader("gct", "GCT 1.2 and 1.3: genes by samples", load_gct, _ALL[2:], (".gct",), is_gct),
        Reader("h5ad", "AnnData: samples by genes, HDF5", load_h5ad, _ALL[2:], (".h5ad",)),
        Reader("table", "CSV, TSV, Parquet, NPZ: samples by genes", load_table, _ALL, _TABLES),
    )
}


def find_reader(path: Path, kind: Kind, option: str, named: str = "auto") -> Reader:
    """The reader of a table: the one named, or by the file's first line or name where `auto`."""
    if named != "auto":
        return READERS[named]
    try:
        first = next(iter(Lines(path, "table")), "")
    except InputError:  # the reader of the file will say more
        first = ""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    readers = [reader for reader in READERS.values() if reader.begins(first)]
    readers += [reader for reader in READERS.values() if suffix in reader.suffixes]
    found = [*readers, READERS["xena"]][0]
    if kind not in found.holds:
        raise InputError(
            f"--{option} ({path}) must hold {kind}, but its format is {found.name} "
            f"({found.about}); name it with another option, or pass --{option}-format"
        )
    return found
