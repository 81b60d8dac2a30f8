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
from rinn.genomics.readers.maf import COLUMNS
from rinn.genomics.readers.matrices import (
    GeneTable,
    Kind,
    Matrix,
    Options,
    count_gene_columns,
    make_gene_table,
    read_long_values,
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
        sequenced: the samples that were tested for mutations; by default the study's case list,
            else its gene panel matrix.
        classes: which mutations count, as in `load_maf`.
        filters: the values of FILTER that pass; by default all, as studies are curated.
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
    chosen = _find_profile(folder, profile)
    log = False if chosen.name == "z_scores" else log
    options = Options(symbols, duplicates, aliquots, log, dtype)
    if chosen.name == "mutations":
        rules = Rules(classes, filters, sequenced, symbols, aliquots)
        table = _read_mutations(folder, chosen, rules, panels or {})
    else:
        table = _read_values(chosen, options)
    if not chosen.has_meta:
        reason = "no meta file describes it: read by its name and header"
        table = _add_entries(table, [LogEntry("noted", "files", 1, reason)])
    clinical = load_clinical(folder)
    if clinical is None:
        return table
    index = table.table.index
    unmatched = [str(name) for name in index[~index.isin(clinical.index)]]
    entries = log_names("noted", "samples", "not in the clinical table", unmatched)
    return _add_entries(replace(table, annotation=clinical.reindex(index)), entries)


def _find_profile(folder: Path, wanted: str) -> Profile:
    """Find a profile by its stable_id, its name or its data file."""
    profiles = list_profiles(folder)
    matches = [each for each in profiles if each.stable_id == wanted]
    matches = matches or [each for each in profiles if each.name == wanted]
    matches = matches or [each for each in profiles if each.path.name == wanted]
    if len(matches) == 1:
        return matches[0]
    if not matches and Path(wanted).name == wanted and (folder / wanted).is_file():
        lower = wanted.lower()
        cna = "log2_copy_number" if "log2" in lower else "copy_number"
        name = "mutations" if "mutation" in lower else cna if "cna" in lower else "expression"
        name = "z_scores" if name == "expression" and "zscores" in lower else name
        return Profile(Path(wanted).stem, name, "", folder / wanted, has_meta=False)
    if not profiles:
        raise InputError(
            f"study ({folder}) must have meta files with a data_filename, but has none; name a "
            f"data file of it instead of {wanted!r}"
        )
    ids = [each.stable_id for each in matches or profiles]
    number = "several" if matches else "none"
    raise InputError(
        f"profile must be one of the study {folder}, but {number} match {wanted!r}"
        + (f"; name one of {', '.join(ids)}" if matches else suggest(wanted, ids))
    )


def _read_mutations(
    folder: Path, profile: Profile, rules: Rules, panels: Mapping[str, Collection[str]]
) -> GeneTable:
    """Read a MAF, and make cells that were not tested missing."""
    use = load_panel_use(folder, profile)
    listed: tuple[str, ...] | None = None
    if rules.sequenced is not None:
        listed = load_samples(rules.sequenced, "sequenced")
    else:
        listed = find_sequenced(folder)
        if listed is None and use is not None:
            listed = tuple(sample for sample, panel in use.items() if panel is not None) or None
    lines = Lines(profile.path, "MAF")
    table = read_mutations(lines, "cBioPortal MAF", COLUMNS, replace(rules, sequenced=listed))
    samples = [str(name) for name in table.table.index]
    if profile.panel and not use:
        use = dict.fromkeys(samples, profile.panel)
    if not use or not any(use.get(name) for name in samples):
        return table
    return _blank_untested(table, use, {**load_panels(folder), **panels}, rules.symbols)


def _blank_untested(
    table: GeneTable,
    use: Mapping[str, str | None],
    panels: Mapping[str, Collection[str]],
    symbols: SymbolRules | None,
) -> GeneTable:
    """Make each 0 missing where the panel of the sample does not have the gene."""
    frame = table.table
    values = frame.to_numpy(dtype=np.float64, copy=True)
    of_panel: dict[str, list[int]] = {}
    for row, name in enumerate(frame.index):
        panel = use.get(str(name))
        if panel:
            of_panel.setdefault(panel, []).append(row)
    entries = []
    for panel, rows in of_panel.items():
        genes = clean_symbols(list(panels.get(panel, ())), symbols, "any").names
        cells = np.ix_(np.array(rows), np.flatnonzero(~frame.columns.isin(genes)))
        values[cells] = np.where(values[cells] == 0, np.nan, values[cells])
        about = f"{len(genes):,} genes" if panel in panels else "genes unknown: pass panels="
        reason = f"measured by the panel {panel} ({about}): other genes without mutation are NaN"
        entries += log_names("noted", "samples", reason, [str(frame.index[r]) for r in rows])
    blanked = pd.DataFrame(values, frame.index, frame.columns)
    return _add_entries(replace(table, table=blanked), entries)


def _read_values(profile: Profile, options: Options) -> GeneTable:
    """Read copy number or expression, wide or long."""
    kind, scale = _KINDS[profile.name]
    lines = Lines(profile.path, profile.stable_id)
    rows = iter(lines)
    header = split_header(next((line for line in rows if not line.startswith("#")), ""))
    lower = [name.lower() for name in header]
    if "sample_id" in lower and "value" in lower:
        layout = "long"
        matrix = read_long_values(Lines(profile.path, profile.stable_id), options.dtype)
    else:
        lead = count_gene_columns(header)
        if not lead:
            raise lines.reject(
                "begin with the column Hugo_Symbol or Entrez_Gene_Id",
                f"begins with {quote(header[0]) if header else 'nothing'}",
                "check the data file",
            )
        keys = ("hugo_symbol", "entrez_gene_id", "composite.element.ref")
        order = [lower.index(key) for key in keys if key in lower[:lead]] or [0]
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
    if profile.name == "copy_number":
        _check_levels(matrix, lines.source)
    return make_gene_table(matrix, kind, log, options, scale)


def _check_levels(matrix: Matrix, source: str) -> None:
    """Refuse values outside -2 to 2; some studies have the level -1.5."""
    values = np.asarray(matrix.values)
    wrong = np.argwhere(np.abs(values) > 2)
    if len(wrong):
        gene, sample = (int(index) for index in wrong[0])
        raise InputError(
            f"{source} must hold levels from -2 to 2, but has {values[gene, sample]:g} for "
            f"{quote(matrix.genes[gene])} in {quote(matrix.samples[sample])}; read it as the "
            f"profile log2_copy_number if these are log2 ratios"
        )


def _add_entries(table: GeneTable, entries: list[LogEntry]) -> GeneTable:
    return replace(table, log=replace(table.log, entries=(*table.log.entries, *entries)))
