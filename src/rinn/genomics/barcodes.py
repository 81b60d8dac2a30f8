"""Sample barcodes: what patient and what tissue they name, and which of several to keep."""

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
    """What a barcode says.

    `patient` is the first 12 characters of a TCGA barcode and `sample` the first 15. `code` is the
    kind of tissue (1 primary, 2 recurrent, 3 blood, 6 metastasis, 10 to 14 normal), None where the
    barcode names a patient only. Ids of other projects are patient and sample at once.
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
        """Whether it says no more than who the patient is."""
        return self.code is None

    @property
    def rank(self) -> tuple[int, str, str]:
        """Which of a patient's samples to keep: the lowest is the first."""
        return (-1 if self.code is None else self.code, self.vial, self.text)


def parse_barcode(text: str) -> Barcode:
    """Read a barcode; dots and underscores count as dashes, as R and other programs write them.

    Example:
        >>> barcode = parse_barcode("TCGA.AB.2988.03A.01D.0739.09")
        >>> barcode.patient, barcode.sample, barcode.code
        ('TCGA-AB-2988', 'TCGA-AB-2988-03', 3)
        >>> parse_barcode("MB-0362").sample
        'MB-0362'
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
    names: Sequence[str], poor: Collection[int] = ()
) -> tuple[list[str], list[int], list[LogEntry]]:
    """Find one row for each sample: the first vial, then the first barcode in the alphabet.

    Example:
        >>> names = ["TCGA-AB-2988-03B-01D", "TCGA-AB-2988-03A-01D", "MB-0362"]
        >>> samples, rows, entries = choose_aliquots(names)
        >>> samples, rows
        (['TCGA-AB-2988-03', 'TCGA-AB-2988-03', 'MB-0362'], [1, 2])
    """
    barcodes = [parse_barcode(name) for name in names]
    best: dict[str, int] = {}
    for row, barcode in enumerate(barcodes):
        other = best.setdefault(barcode.sample, row)
        if (row in poor, barcode.rank) < (other in poor, barcodes[other].rank):
            best[barcode.sample] = row
    rows = sorted(best.values())
    kept = set(rows)
    others = [names[row] for row in range(len(names)) if row not in kept]
    reason = "another aliquot of the same sample is kept, the first by vial and barcode"
    entries = log_names("dropped", "aliquots", reason, others)
    return [barcode.sample for barcode in barcodes], rows, entries


def note_shortened(names: Sequence[str], samples: Sequence[str]) -> list[LogEntry]:
    """Say how many barcodes are written in another way in the table.

    Example:
        >>> [entry.count for entry in note_shortened(["TCGA.02.0001", "a"], ["TCGA-02-0001", "a"])]
        [1]
    """
    changed = [
        f"{name} -> {sample}" for name, sample in zip(names, samples, strict=True) if name != sample
    ]
    reason = f"cut to the sample, with dashes, as {changed[0]}" if changed else ""
    return log_names("renamed", "barcodes", reason, changed, keep=False)


def load_samples(source: str | os.PathLike[str] | Iterable[str], label: str) -> tuple[str, ...]:
    """Read a list of samples: from memory, or from a file.

    The file is a cBioPortal case list, a table (tabs or commas) with a column called sample,
    barcode or the like, or has one sample in each line.

    Example:
        >>> load_samples(["TCGA-AB-2988-03A-01D", "TCGA-AB-2988-11A-01D", "MB-0362"], "sequenced")
        ('TCGA-AB-2988-03', 'MB-0362')
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
    """Take the samples from a case list, from the sample column of a table, or line by line."""
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    for row in rows:
        key, _, value = row.partition(":")
        if key.strip().lower() == "case_list_ids":
            return value.split("\t")
    if not rows:
        return []
    separator = "\t" if "\t" in rows[0] else ","
    header = [cell.strip().strip('"') for cell in rows[0].split(separator)]
    named = [place for place, cell in enumerate(header) if cell and is_id_header(cell)]
    sampled = [place for place in named if "patient" not in header[place].lower()]
    place = (sampled or named or [0])[0]
    cells = [row.split(separator) for row in rows[bool(named) :]]
    texts = [row[place] for row in cells if len(row) > place]
    # a sample sheet names the tumour and its normal in one cell
    return [name for text in texts for name in (text.split(", ") if "\t" in rows[0] else [text])]
