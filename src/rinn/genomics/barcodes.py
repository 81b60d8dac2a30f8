"""Sample barcodes: their patient and tissue, and which of several to keep."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rinn.data.log import LogEntry, log_names
from rinn.data.text import Lines, is_id_header
from rinn.errors import InputError

_TCGA = re.compile(
    r"TCGA[-._]([A-Z0-9]{2})[-._]([A-Z0-9]{4})(?:[-._](\d\d)([A-Z]?)(?:[-._](.*))?)?",
    re.IGNORECASE,
)
_NORMAL_CODES = range(10, 15)


@dataclass(frozen=True)
class Barcode:
    """The parts of a barcode.

    `patient` is the first 12 characters of a TCGA barcode and `sample` the first 15. `code` is the
    kind of tissue (1 primary, 2 recurrent, 3 blood, 6 metastasis, 10 to 14 normal), None where the
    barcode names a patient only. Ids of other projects are both patient and sample.
    """

    text: str
    patient: str
    sample: str
    code: int | None = None
    vial: str = ""

    @property
    def is_normal(self) -> bool:
        """Whether the tissue is normal."""
        return self.code in _NORMAL_CODES

    @property
    def is_patient(self) -> bool:
        """Whether it names a patient only."""
        return self.code is None

    @property
    def rank(self) -> tuple[int, str, str]:
        """The sample to keep of a patient's is the one of lowest rank."""
        return (-1 if self.code is None else self.code, self.vial, self.text)


def parse_barcode(text: str) -> Barcode:
    """Read a barcode; dots and underscores count as dashes, as R and other programs write them.

    >>> barcode = parse_barcode("TCGA.AB.2988.03A.01D.0739.09")
    >>> barcode.patient, barcode.sample, barcode.code
    ('TCGA-AB-2988', 'TCGA-AB-2988-03', 3)
    """
    text = text.strip().strip('"').strip()
    match = _TCGA.fullmatch(text)
    if match is None:
        return Barcode(text, text, text)
    site, participant, code, vial, _ = match.groups()
    patient = f"TCGA-{site}-{participant}".upper()
    if code is None:
        return Barcode(text, patient, patient)
    return Barcode(text, patient, f"{patient}-{code}", int(code), (vial or "").upper())


def choose_aliquots(
    names: Sequence[str], failed: Collection[int] = ()
) -> tuple[list[str], list[int], list[LogEntry]]:
    """The sample of each name, and one row for each sample: the first vial, then barcode."""
    barcodes = [parse_barcode(name) for name in names]
    best: dict[str, int] = {}
    for row, barcode in enumerate(barcodes):
        other = best.setdefault(barcode.sample, row)
        if (row in failed, barcode.rank) < (other in failed, barcodes[other].rank):
            best[barcode.sample] = row
    rows = sorted(best.values())
    kept = set(rows)
    others = [names[row] for row in range(len(names)) if row not in kept]
    reason = "another aliquot of the same sample is kept, the first by vial and barcode"
    entries = log_names("dropped", "aliquots", reason, others)
    return [barcode.sample for barcode in barcodes], rows, entries


def log_shortened(names: Sequence[str], samples: Sequence[str]) -> list[LogEntry]:
    """Log how many barcodes are written in another way in the table."""
    changed = [
        f"{name} -> {sample}" for name, sample in zip(names, samples, strict=True) if name != sample
    ]
    reason = f"cut to the sample, with dashes, as {changed[0]}" if changed else ""
    return log_names("renamed", "barcodes", reason, changed, keep=False)


def load_samples(source: str | os.PathLike[str] | Iterable[str], label: str) -> tuple[str, ...]:
    """Read a list of samples: from memory, or from a file.

    The file is a cBioPortal case list, a table (tabs or commas) with a column called sample,
    barcode or the like, or has one sample in each line. Normal samples are left out.
    """
    if isinstance(source, str | os.PathLike):
        names = _read_samples(Lines(source, label))
    else:
        names = [str(name) for name in source]
    barcodes = [parse_barcode(name) for name in names if name.strip()]
    samples = dict.fromkeys(
        barcode.sample for barcode in barcodes if barcode.sample and not barcode.is_normal
    )
    if not samples:
        raise InputError(
            f"{label} must name at least one tumour sample, but {len(names)} names give none; give "
            f"one sample in each line"
        )
    return tuple(samples)


def _read_samples(lines: Lines) -> list[str]:
    """The samples of a case list, of the sample column of a table, or of each line."""
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    for row in rows:
        key, _, value = row.partition(":")
        if key.strip().lower() == "case_list_ids":
            return value.split("\t")
    if not rows:
        return []
    separator = "\t" if "\t" in rows[0] else ","
    header = [cell.strip().strip('"') for cell in rows[0].split(separator)]
    ids = find_ids(header)
    cells = [row.split(separator) for row in rows[ids is not None :]]
    texts = [row[ids or 0] for row in cells if len(row) > (ids or 0)]
    # a sample sheet names the tumour and its normal in one cell
    return [name for text in texts for name in (text.split(", ") if "\t" in rows[0] else [text])]


def find_ids(header: Sequence[str]) -> int | None:
    """The column of sample ids, by its name; else that of patients."""
    named = [column for column, name in enumerate(header) if name and is_id_header(name)]
    sampled = [column for column in named if "patient" not in header[column].lower()]
    return next(iter(sampled or named), None)
