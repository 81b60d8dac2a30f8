"""Profiles of a cBioPortal study folder, found by its meta files."""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from rinn.data.log import LogEntry, ReadLog, log_count, log_names
from rinn.data.scaling import LARGEST
from rinn.data.text import Lines, parse_cell
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
    Matrix,
    count_gene_columns,
    make_gene_table,
    read_matrix,
    split_header,
)
from rinn.genomics.readers.mutations import LongTable, read_mutations
from rinn.genomics.readers.options import Kind, Options, fill_options
from rinn.genomics.symbols import SymbolRules, clean_symbols

_KINDS: dict[str, tuple[Kind, str]] = {
    "copy_number": ("copy number", "levels"),
    "log2_copy_number": ("copy number", "log2 ratio"),
    "expression": ("expression", "as written"),
    "z_scores": ("expression", "z-score"),
    "other": ("other", "as written"),
}
_LONG = {
    "hugo": ("hugo_symbol",),
    "entrez": ("entrez_gene_id",),
    "sample": ("sample_id",),
    "value": ("value",),
}
_MAX_CELLS = 1 << 30


def load_cbioportal(
    folder: str | os.PathLike[str],
    profile: str = "mutations",
    *,
    panels: Mapping[str, Collection[str]] | None = None,
    **options: Unpack[Options],
) -> GeneTable:
    r"""Read one profile of a study folder.

    Args:
        folder: the study, with its meta files.
        profile: "mutations", "copy_number" (levels), "log2_copy_number", "expression", "z_scores",
            a stable_id, or the name of a data file that no meta file describes.
        panels: the genes of gene panels that are not in the folder.
        **options: of `rinn.genomics.readers.options.Options`: all but `kind`. `sequenced` is by
            default the study's case list, else its gene panel matrix; `filters` passes all by
            default, as studies are curated; `log` does not hold for z-scores.

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
    filled = fill_options(options, filters=None)
    if chosen.name == "mutations":
        table = _read_mutations(folder, chosen, filled, panels or {})
    else:
        table = _read_values(chosen, filled)
    if not chosen.has_meta:
        reason = "no meta file describes it: read by its name and header"
        table = table.add_entries([LogEntry("noted", "files", 1, reason)])
    clinical = load_clinical(folder)
    if clinical is None:
        return table
    index = table.table.index
    unmatched = [str(name) for name in index[~index.isin(clinical.index)]]
    entries = log_names("noted", "samples", "not in the clinical table", unmatched)
    return replace(table, annotation=clinical.reindex(index)).add_entries(entries)


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
        values = "z_scores" if "zscores" in lower else "expression"
        name = "mutations" if "mutation" in lower else cna if "cna" in lower else values
        return Profile(Path(wanted).stem, name, folder / wanted, has_meta=False)
    if not profiles:
        raise InputError(
            f"study ({folder}) must have meta files with a data_filename, but has none; name a "
            f"data file of it instead of {wanted!r}"
        )
    ids = [each.stable_id for each in matches or profiles]
    raise InputError(
        f"profile must be one of the study {folder}, but {'several' if matches else 'none'} match "
        f"{wanted!r}" + (f"; name one of {', '.join(ids)}" if matches else suggest(wanted, ids))
    )


def _read_mutations(
    folder: Path, profile: Profile, options: Options, panels: Mapping[str, Collection[str]]
) -> GeneTable:
    """Read a MAF, and make cells that were not tested missing."""
    use = load_panel_use(folder, profile)
    given = options["sequenced"]
    listed = find_sequenced(folder) if given is None else load_samples(given, "sequenced")
    if listed is None and use:
        listed = tuple(sample for sample, panel in use.items() if panel is not None) or None
    lines = Lines(profile.path, "MAF")
    table = read_mutations(lines, "cBioPortal MAF", COLUMNS, {**options, "sequenced": listed})
    samples = [str(name) for name in table.table.index]
    if profile.panel and not use:
        use = dict.fromkeys(samples, profile.panel)
    if not use or not any(use.get(name) for name in samples):
        return table
    return _blank_untested(table, use, {**load_panels(folder), **panels}, options["symbols"])


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
        if panel := use.get(str(name)):
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
    return replace(table, table=blanked).add_entries(entries)


def _read_values(profile: Profile, options: Options) -> GeneTable:
    """Read copy number or expression, wide or long."""
    kind, scale = _KINDS[profile.name]
    log = False if profile.name == "z_scores" else options["log"]
    lines = Lines(profile.path, profile.stable_id)
    rows = iter(lines)
    header = split_header(next((line for line in rows if not line.startswith("#")), ""))
    lower = [name.lower() for name in header]
    lead = count_gene_columns(header)
    is_long = "sample_id" in lower and "value" in lower
    if is_long:
        matrix = _read_long(Lines(profile.path, profile.stable_id), options["dtype"])
    elif not lead:
        raise lines.reject(
            "begin with the column Hugo_Symbol or Entrez_Gene_Id",
            f"begins with {quote(header[0]) if header else 'nothing'}",
            "check the data file",
        )
    else:
        keys = ("hugo_symbol", "entrez_gene_id", "composite.element.ref")
        names = [lower.index(key) for key in keys if key in lower[:lead]] or [0]
        matrix = read_matrix(lines, rows, header, lead, names, options["dtype"])
    values = np.asarray(matrix.values)
    if profile.name == "copy_number" and (np.abs(values) > 2).any():  # some studies have -1.5
        gene, sample = map(int, np.argwhere(np.abs(values) > 2)[0])
        raise InputError(
            f"{lines.source} must hold levels from -2 to 2, but has {values[gene, sample]:g} for "
            f"{quote(matrix.genes[gene])} in {quote(matrix.samples[sample])}; read it as the "
            f"profile log2_copy_number if these are log2 ratios"
        )
    layout = "long" if is_long else "wide"
    read_log = ReadLog(str(profile.path), f"cBioPortal {profile.stable_id}, {layout}")
    return make_gene_table(matrix, read_log, {**options, "kind": kind, "log": log}, scale)


def _read_long(lines: Lines, dtype: str) -> Matrix:
    """Read values with one line per gene and sample; a pair without a line is missing."""
    table = LongTable(lines, _LONG, optional=("hugo", "entrez"))
    if not {"hugo", "entrez"} & set(table.columns):
        raise lines.reject(
            "have the column Hugo_Symbol or Entrez_Gene_Id", "has neither", "add one"
        )
    genes: dict[str, int] = {}
    samples: dict[str, int] = {}
    rows, columns, numbers = array("q"), array("q"), array("d")
    for *names, sample, text in table:
        value = parse_cell(text.strip('"'))
        if value is None or abs(value) > LARGEST:
            raise lines.reject("hold numbers", f"has the value {quote(text)}", "write one, or NA")
        gene = next((name for name in names if name.strip()), "")
        rows.append(genes.setdefault(gene, len(genes)))
        columns.append(samples.setdefault(sample.strip(), len(samples)))
        numbers.append(value)
    if not genes:
        raise InputError(f"{lines.source} must have rows, but has only a header; export it again")
    if "" in samples or len(genes) * len(samples) > _MAX_CELLS:
        raise InputError(
            f"{lines.source} must have a sample in each row and at most {_MAX_CELLS:,} cells, but "
            f"has {len(genes):,} genes and {len(samples):,} samples; check its columns"
        )
    at = np.array(rows), np.array(columns)
    written = np.array(numbers, dtype=dtype)
    values = np.full((len(genes), len(samples)), np.nan, dtype=dtype)
    values[at] = written
    clash = ~((values[at] == written) | (np.isnan(values[at]) & np.isnan(written)))
    if clash.any():
        first = int(clash.argmax())
        raise InputError(
            f"{lines.source} must have one value for each gene and sample, but has several for "
            f"{quote(list(genes)[rows[first]])} in {quote(list(samples)[columns[first]])}; keep "
            f"one row"
        )
    repeats = len(rows) - len(np.unique(at[0] * len(samples) + at[1]))
    merged = log_count("merged", "rows", repeats, "the same gene, sample and value again")
    return Matrix(list(genes), list(samples), values, table.entries + merged)
