"""The contents of a cBioPortal study folder: profiles, case lists, panels, clinical tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rinn.data.text import Lines, check_unique
from rinn.errors import InputError, quote
from rinn.genomics.barcodes import load_samples, parse_barcode
from rinn.genomics.readers.matrices import split_header

_WHOLE_EXOME = frozenset({"WES", "WXS", "WGS", "WHOLE_EXOME", "WHOLE_GENOME"})
_NAMES = {
    ("MUTATION_EXTENDED", None): "mutations",
    ("COPY_NUMBER_ALTERATION", "DISCRETE"): "copy_number",
    ("COPY_NUMBER_ALTERATION", "DISCRETE_LONG"): "copy_number",
    ("COPY_NUMBER_ALTERATION", "LOG2-VALUE"): "log2_copy_number",
    ("COPY_NUMBER_ALTERATION", "CONTINUOUS"): "log2_copy_number",
    ("MRNA_EXPRESSION", "CONTINUOUS"): "expression",
    ("MRNA_EXPRESSION", "Z-SCORE"): "z_scores",
}


@dataclass(frozen=True)
class Profile:
    """One kind of measurement of a study, as a meta file describes it.

    `name` is "mutations", "copy_number", "log2_copy_number", "expression", "z_scores" or "other".
    """

    stable_id: str
    name: str
    datatype: str
    path: Path
    panel: str | None = None
    has_meta: bool = True


def list_profiles(folder: str | os.PathLike[str]) -> tuple[Profile, ...]:
    """The profiles of genes that the meta files of a study describe."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"study ({folder}) must be a folder with meta files, but there is none; check the "
            f"spelling"
        )
    profiles = []
    for path, meta in _read_metas(folder):
        kind, datatype = meta.get("genetic_alteration_type", ""), meta.get("datatype", "")
        if "data_filename" not in meta or kind in ("", "CLINICAL", "GENE_PANEL_MATRIX"):
            continue
        name = _NAMES.get((kind.upper(), None)) or _NAMES.get((kind.upper(), datatype.upper()))
        data = _find_data(folder, meta["data_filename"], path)
        stable_id = meta.get("stable_id", path.stem.removeprefix("meta_"))
        panel = meta.get("gene_panel")
        profiles.append(Profile(stable_id, name or "other", datatype.upper(), data, panel))
    return tuple(profiles)


def find_sequenced(folder: Path) -> tuple[str, ...] | None:
    """The samples that were tested for mutations, by the study's case lists."""
    for path in sorted((folder / "case_lists").glob("*.txt")):
        fields = read_fields(path)
        is_listed = fields.get("case_list_category") == "all_cases_with_mutation_data"
        if fields.get("stable_id", "").endswith("_sequenced") or is_listed:
            return load_samples(path, "case list")
    return None


def load_panels(folder: Path) -> dict[str, frozenset[str]]:
    """Read the gene panels in a study folder."""
    panels = {}
    for path in sorted({*folder.glob("*gene_panel*.txt"), *folder.glob("gene_panels/*.txt")}):
        fields = read_fields(path)
        if "stable_id" in fields and "gene_list" in fields:
            genes = fields["gene_list"].split("\t")
            panels[fields["stable_id"]] = frozenset(gene.strip() for gene in genes if gene.strip())
    return panels


def load_panel_use(folder: Path, profile: Profile) -> dict[str, str | None] | None:
    """Read which gene panel each sample was measured with."""
    names = _find_names(folder, "genetic_alteration_type", "GENE_PANEL_MATRIX")
    path = _find_data(folder, (names or ["data_gene_panel_matrix.txt"])[0], folder)
    if not path.is_file():
        return None
    rows = list(_read_rows(Lines(path, "gene panel matrix")))
    header = rows[0] if rows else []
    if profile.stable_id not in header or header[0].upper() != "SAMPLE_ID":
        return None
    column = header.index(profile.stable_id)
    use: dict[str, str | None] = {}
    for row in rows[1:]:
        cell = row[column] if len(row) > column else ""
        panel = "" if cell.upper() in _WHOLE_EXOME else cell
        use[parse_barcode(row[0]).sample] = None if cell.upper() in ("NA", "") else panel
    return use


def load_clinical(folder: str | os.PathLike[str]) -> pd.DataFrame | None:
    """Read the clinical table of the samples, joined with that of their patients."""
    folder = Path(folder)
    samples = _load_attributes(folder, "sample")
    patients = _load_attributes(folder, "patient")
    if samples is None or patients is None or "PATIENT_ID" not in samples:
        return samples
    owners = [parse_barcode(name).patient for name in samples["PATIENT_ID"]]
    more = patients.drop(columns=[name for name in patients if name in samples])
    return samples.join(more.reindex(owners).set_axis(samples.index, axis=0))


def _load_attributes(folder: Path, level: str) -> pd.DataFrame | None:
    """Read the clinical table of samples or of patients."""
    names = _find_names(folder, "datatype", f"{level.upper()}_ATTRIBUTES")
    paths = [path for name in names if (path := _find_data(folder, name, folder)).is_file()]
    paths = paths or sorted(folder.glob(f"data_clinical_{level}*.txt"))
    if not paths:
        return None
    lines = Lines(paths[0], "clinical table")
    rows = _read_rows(lines)
    header = [name.upper() for name in next(rows, [])]
    key = f"{level.upper()}_ID"
    if key not in header:
        raise lines.reject(f"have a column {key}", "has none", "add it")
    check_unique(header, lines.source, "column")
    column = header.index(key)
    table: dict[str, list[str]] = {}
    for row in rows:
        cells = row + [""] * (len(header) - len(row))
        if len(cells) > len(header):
            raise lines.reject(
                f"have {len(header)} fields", f"has {len(cells)}", "correct that line"
            )
        if table.setdefault(parse_barcode(cells[column]).sample, cells) is not cells:
            raise lines.reject(
                f"have each {level} once", f"repeats {quote(cells[column])}", "keep one"
            )
    frame = pd.DataFrame.from_dict(table, orient="index", columns=header)
    return frame.drop(columns=key).rename_axis(level)


def read_fields(path: Path) -> dict[str, str]:
    """Read a file of lines such as `stable_id: mutations`."""
    fields: dict[str, str] = {}
    for line in Lines(path, "meta file"):
        key, colon, value = line.partition(":")
        if colon and not line.startswith("#"):
            fields.setdefault(key.strip().lower(), value.strip())
    return fields


def _find_names(folder: Path, key: str, value: str) -> list[str]:
    """The data files of the meta files with this value."""
    metas = (meta for _, meta in _read_metas(folder))
    return [m["data_filename"] for m in metas if m.get(key) == value and "data_filename" in m]


def _read_metas(folder: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    for path in sorted(folder.glob("meta_*.txt")):
        yield path, read_fields(path)


def _read_rows(lines: Lines) -> Iterator[list[str]]:
    """Yield the cells of each line that is not blank or a comment."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            yield split_header(line)


def _find_data(folder: Path, name: str, meta: Path) -> Path:
    """The data file that a meta file names, with .gz where only that is there."""
    path = folder / name
    if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            f"meta file ({meta}) must name a data file inside the study folder, but names "
            f"{quote(name)}; correct its data_filename"
        )
    packed = path.with_name(f"{path.name}.gz") if path.name else path
    return packed if packed.is_file() and not path.exists() else path
