"""The contents of a cBioPortal study folder: profiles, case lists, panels, clinical tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rinn.data.tables import read_frame
from rinn.data.text import Lines, check_unique
from rinn.errors import InputError, quote
from rinn.genomics.barcodes import load_samples, parse_barcode

_WHOLE_EXOME = frozenset({"WES", "WXS", "WGS", "WHOLE_EXOME", "WHOLE_GENOME"})
_NAMES = {
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
    for path, meta in _read_metas(folder).items():
        kind = meta.get("genetic_alteration_type", "").upper()
        if "data_filename" not in meta or kind in ("", "CLINICAL", "GENE_PANEL_MATRIX"):
            continue
        name = _NAMES.get((kind, meta.get("datatype", "").upper()), "other")
        profiles.append(
            Profile(
                meta.get("stable_id", path.stem.removeprefix("meta_")),
                "mutations" if kind == "MUTATION_EXTENDED" else name,
                _find_data(folder, meta["data_filename"], path),
                meta.get("gene_panel"),
            )
        )
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
            genes = map(str.strip, fields["gene_list"].split("\t"))
            panels[fields["stable_id"]] = frozenset(filter(None, genes))
    return panels


def load_panel_use(folder: Path, profile: Profile) -> dict[str, str | None] | None:
    """Read which gene panel each sample was measured with."""
    names = _find_names(folder, "genetic_alteration_type", "GENE_PANEL_MATRIX")
    path = _find_data(folder, [*names, "data_gene_panel_matrix.txt"][0], folder)
    if not path.is_file():
        return None
    frame = read_frame(Lines(path, "gene panel matrix"), comments=True, pad=True)
    if profile.stable_id not in frame or frame.columns[0].upper() != "SAMPLE_ID":
        return None
    use: dict[str, str | None] = {}
    for name, cell in zip(frame.iloc[:, 0], frame[profile.stable_id], strict=True):
        panel = "" if cell.upper() in _WHOLE_EXOME else cell
        use[parse_barcode(name).sample] = None if cell.upper() in ("NA", "") else panel
    return use


def load_clinical(folder: str | os.PathLike[str]) -> pd.DataFrame | None:
    """Read the clinical table of the samples, joined with that of their patients."""
    samples = _load_attributes(Path(folder), "sample")
    patients = _load_attributes(Path(folder), "patient")
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
    frame = read_frame(lines, comments=True, pad=True).rename(columns=str.upper)
    key = f"{level.upper()}_ID"
    if key not in frame:
        raise lines.reject(f"have a column {key}", "has none", "add it", line=1)
    check_unique(list(frame.columns), lines.source, "column")
    ids = [parse_barcode(name).sample for name in frame[key]]
    check_unique(ids, lines.source, level)
    return frame.drop(columns=key).set_axis(pd.Index(ids, name=level), axis=0)


def read_fields(path: Path) -> dict[str, str]:
    """Read a file of lines such as `stable_id: mutations`."""
    fields: dict[str, str] = {}
    for line in Lines(path, "meta file"):
        key, colon, value = line.partition(":")
        if colon and not line.startswith("#"):
            fields.setdefault(key.strip().lower(), value.strip())
    return fields


def _read_metas(folder: Path) -> dict[Path, dict[str, str]]:
    return {path: read_fields(path) for path in sorted(folder.glob("meta_*.txt"))}


def _find_names(folder: Path, key: str, value: str) -> list[str]:
    """The data files of the meta files with this value."""
    metas = _read_metas(folder).values()
    return [m["data_filename"] for m in metas if m.get(key) == value and "data_filename" in m]


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
