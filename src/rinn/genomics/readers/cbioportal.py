"""Profiles of a cBioPortal study folder, found by its meta files."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_names
from rinn.data.text import Lines
from rinn.errors import InputError, quote, suggest
from rinn.genomics.barcodes import load_samples
from rinn.genomics.readers.cbioportal_study import (
    Profile,
    find_sequenced,
    list_profiles,
    load_clinical,
    load_panel_use,
    load_panels,
)
from rinn.genomics.readers.longtables import read_long_values
from rinn.genomics.readers.maf import COLUMNS
from rinn.genomics.readers.matrices import (
    LEADS,
    GeneTable,
    Kind,
    Matrix,
    Options,
    make_gene_table,
    read_matrix,
    split_header,
)
from rinn.genomics.readers.mutations import ClassList, Rules, Sequenced, read_mutations
from rinn.genomics.symbols import SymbolRules, clean_symbols

_KINDS: dict[str, tuple[Kind, str]] = {
    "copy_number": ("copy number", "levels"),
    "log2_copy_number": ("copy number", "log2 ratio"),
    "expression": ("expression", "as written"),
    "z_scores": ("expression", "z-score"),
    "other": ("other", "as written"),
}


def load_cbioportal(
    folder: str | os.PathLike[str],
    profile: str = "mutations",
    *,
    sequenced: Sequenced = None,
    classes: str | Collection[str] | ClassList = "maftools",
    filters: Collection[str] | None = None,
    panels: Mapping[str, Collection[str]] | None = None,
    log: bool | None = None,
    duplicates: str | None = None,
    symbols: SymbolRules | None = None,
    aliquots: Literal["first", "merge"] = "first",
    dtype: str = "float64",
) -> GeneTable:
    r"""Read one profile of a study folder.

    Args:
        folder: the study, with its meta files.
        profile: "mutations", "copy_number" (levels), "log2_copy_number", "expression", "z_scores",
            a stable_id, or the name of a data file that no meta file describes.
        sequenced: the samples that were looked at for mutations; by default the study's case
            list, else its gene panel matrix.
        classes: which mutations count, as in `load_maf`.
        filters: the words of FILTER that are let through; by default all, as studies are curated.
        panels: the genes of gene panels that are not in the folder.
        log: take log2(x + 1) of expression; by default where no value is below 0 and some are
            above 50, as in RSEM files. Never for z-scores.
        duplicates: how the rows of one gene are merged; by default "strongest" for copy number,
            "mean" for expression.
        symbols: how gene symbols are cleaned.
        aliquots: of several aliquots of one sample take the "first", or "merge" them.
        dtype: "float64", or "float32" for half the memory.

    Returns:
        Samples by genes, NaN where a sample was not measured for a gene; `annotation` has the
        clinical table of the samples, if there is one.

    Raises:
        InputError: there is no such profile or there are several, or a file cannot be read.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> kind = "genetic_alteration_type: COPY_NUMBER_ALTERATION\ndatatype: DISCRETE\n"
        >>> meta = kind + "stable_id: gistic\ndata_filename: data_cna.txt\n"
        >>> _ = (folder / "meta_cna.txt").write_text(meta)
        >>> _ = (folder / "data_cna.txt").write_text("Hugo_Symbol\tMB-0362\nEGFR\t2\n")
        >>> load_cbioportal(folder, "copy_number").table.to_dict("index")
        {'MB-0362': {'EGFR': 2.0}}
    """
    folder = Path(folder)
    found = _find_profile(folder, profile)
    options = Options(
        symbols, duplicates, aliquots, False if found.word == "z_scores" else log, dtype
    )
    if found.word == "mutations":
        rules = Rules(classes, filters, sequenced, symbols, aliquots)
        reading = _read_mutations(folder, found, rules, panels or {})
    else:
        reading = _read_values(found, options)
    if not found.has_meta:
        entry = LogEntry(
            "noted", "files", 1, "no meta file describes it: read by its name and header"
        )
        reading = _add_entries(reading, [entry])
    return _annotate(reading, load_clinical(folder))


def _find_profile(folder: Path, word: str) -> Profile:
    """Find a profile by its word, its stable_id or its data file."""
    profiles = list_profiles(folder)
    found = [each for each in profiles if each.stable_id == word]
    found = found or [each for each in profiles if each.word == word]
    found = found or [each for each in profiles if each.path.name == word]
    if len(found) == 1:
        return found[0]
    if not found and Path(word).name == word and (folder / word).is_file():
        name = word.lower()
        cna = "log2_copy_number" if "log2" in name else "copy_number"
        kind = "mutations" if "mutation" in name else cna if "cna" in name else "expression"
        kind = "z_scores" if kind == "expression" and "zscores" in name else kind
        return Profile(Path(word).stem, kind, "", folder / word, has_meta=False)
    if not profiles:
        raise InputError(
            f"study ({folder}) must have meta files with a data_filename, but has none; name a "
            f"data file of it instead of {word!r}"
        )
    ids = [each.stable_id for each in found or profiles]
    count = "several" if found else "none"
    raise InputError(
        f"profile must be one of the study {folder}, but {count} match {word!r}"
        + (f"; name one of {', '.join(ids)}" if found else suggest(word, ids))
    )


def _read_mutations(
    folder: Path, profile: Profile, rules: Rules, panels: Mapping[str, Collection[str]]
) -> GeneTable:
    """Read a MAF, and set apart what was not looked at."""
    use = load_panel_use(folder, profile)
    listed: tuple[str, ...] | None = None
    if rules.sequenced is not None:
        listed = load_samples(rules.sequenced, "sequenced")
    else:
        listed = find_sequenced(folder)
        if listed is None and use is not None:
            listed = tuple(sample for sample, panel in use.items() if panel is not None) or None
    lines = Lines(profile.path, "MAF")
    reading = read_mutations(lines, "cBioPortal MAF", COLUMNS, replace(rules, sequenced=listed))
    if profile.panel and not use:
        use = dict.fromkeys((str(name) for name in reading.table.index), profile.panel)
    if not use or not any(use.get(str(name)) for name in reading.table.index):
        return reading
    known = {**load_panels(folder), **panels}
    return _blank_unmeasured(reading, use, known, rules.symbols)


def _blank_unmeasured(
    reading: GeneTable,
    use: Mapping[str, str | None],
    panels: Mapping[str, Collection[str]],
    symbols: SymbolRules | None,
) -> GeneTable:
    """Make each 0 missing where the panel of the sample does not have the gene."""
    values = reading.table.to_numpy(dtype=np.float64, copy=True)
    of_panel: dict[str, list[int]] = {}
    for row, name in enumerate(reading.table.index):
        panel = use.get(str(name))
        if panel:
            of_panel.setdefault(panel, []).append(row)
    entries = []
    for panel, rows in of_panel.items():
        genes = clean_symbols(list(panels.get(panel, ())), symbols, "any").names
        outside = ~reading.table.columns.isin(genes)
        cells = np.ix_(np.array(rows), np.flatnonzero(outside))
        values[cells] = np.where(values[cells] == 0, np.nan, values[cells])
        about = f"{len(genes):,} genes" if panel in panels else "genes unknown: pass panels="
        reason = f"measured by the panel {panel} ({about}): other genes without mutation are NaN"
        entries += log_names(
            "noted", "samples", reason, [str(reading.table.index[r]) for r in rows]
        )
    table = pd.DataFrame(values, reading.table.index, reading.table.columns)
    return _add_entries(replace(reading, table=table), entries)


def _read_values(profile: Profile, options: Options) -> GeneTable:
    """Read copy number or expression, wide or long."""
    kind, scale = _KINDS[profile.word]
    lines = Lines(profile.path, profile.stable_id)
    rows = iter(lines)
    line = next(rows, "")
    while line.startswith("#"):
        line = next(rows, "")
    header = split_header(line)
    lower = [name.lower() for name in header]
    if "sample_id" in lower and "value" in lower:
        layout, matrix = (
            "long",
            read_long_values(Lines(profile.path, profile.stable_id), options.dtype),
        )
    else:
        lead = next((n for n, name in enumerate(lower) if name not in LEADS), len(lower))
        if not lead:
            raise lines.reject(
                "begin with the column Hugo_Symbol or Entrez_Gene_Id",
                f"begins with {quote(header[0]) if header else 'nothing'}",
                "check the data file",
            )
        order = _order_names(lower[:lead])
        layout = "wide"
        matrix = read_matrix(
            lines,
            rows,
            header,
            lead,
            lambda cells: next((cells[n] for n in order if cells[n].strip()), ""),
            options.dtype,
        )
    log = ReadLog(str(profile.path), f"cBioPortal {profile.stable_id}, {layout}")
    if profile.word == "copy_number":
        _check_levels(matrix, lines.source)
    return make_gene_table(matrix, kind, log, options, scale)


def _order_names(lead: list[str]) -> list[int]:
    """Which of the first columns name the gene: the symbol, else the Entrez id, else the first."""
    words = ("hugo_symbol", "entrez_gene_id", "composite.element.ref")
    return [lead.index(word) for word in words if word in lead] or [0]


def _check_levels(matrix: Matrix, source: str) -> None:
    """Refuse values that are no levels; -1.5 is one in some studies."""
    values = np.asarray(matrix.values)
    wrong = (values < -2) | (values > 2)
    if wrong.any():
        gene, sample = (int(place) for place in np.argwhere(wrong)[0])
        raise InputError(
            f"{source} must hold levels from -2 to 2, but has {values[gene, sample]:g} for "
            f"{quote(matrix.genes[gene])} in {quote(matrix.samples[sample])}; read it as the "
            f"profile log2_copy_number if these are log2 ratios"
        )


def _annotate(reading: GeneTable, clinical: pd.DataFrame | None) -> GeneTable:
    """Put the clinical table in the order of the samples."""
    if clinical is None:
        return reading
    known = reading.table.index.isin(clinical.index)
    strangers = [str(name) for name in reading.table.index[~known]]
    entries = log_names("noted", "samples", "not in the clinical table", strangers)
    annotation = clinical.reindex(reading.table.index)
    return _add_entries(replace(reading, annotation=annotation), entries)


def _add_entries(reading: GeneTable, entries: list[LogEntry]) -> GeneTable:
    log = replace(reading.log, entries=(*reading.log.entries, *entries))
    return replace(reading, log=log)
