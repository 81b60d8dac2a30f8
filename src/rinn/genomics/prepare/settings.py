"""What `rinn prepare` is asked to do, with its checks and defaults."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from rinn.config import MOST
from rinn.data.text import Lines
from rinn.errors import InputError, suggest
from rinn.genomics.readers.gct import GCT_VERSIONS
from rinn.genomics.readers.gistic import is_gistic
from rinn.genomics.readers.matrices import split_header

MUTATION_FORMATS = ("auto", "table", "xena")
COPY_NUMBER_FORMATS = ("auto", "gistic", "xena", "table")
EXPRESSION_FORMATS = ("auto", "xena", "gct", "h5ad", "table")
SUFFIXES = {".gct": "gct", ".h5ad": "h5ad", ".csv": "table", ".parquet": "table", ".npz": "table"}
REFERENCES = ("tissue", "normals", "diploid", "none")
Y_KINDS = ("binary", "continuous")
UNSEQUENCED = ("drop", "copy-number")
LOGS = {"auto": None, "yes": True, "no": False}
# |z| from which a gene counts as changed: p = 0.005 on both sides of a normal, else the usual 2.
CUTOFFS = {"normals": 2.81}
USUAL_CUTOFF = 2.0
AUTO_OUTPUTS = 100
AUTO_SAMPLES_PER_INPUT = 4
MAX_PERMUTATIONS = 100_000


@dataclass(frozen=True)
class Sources:
    """The files that X, Y and covariates are made of; None where there is none.

    A file that is named goes before the same part of the study folder. The format "auto" goes by
    the file's name: .csv, .parquet and .npz are tables with samples in rows, .gct and .h5ad what
    they say, `by_genes` GISTIC, and all others Xena's, with genes in rows.

    Attributes:
        maf: mutations, one line each.
        mutations: mutations as samples x genes, 0 and 1.
        mutations_format: auto, table (samples in rows) or xena (genes in rows).
        copy_number: levels from -2 to 2.
        copy_number_format: auto, gistic, xena or table.
        expression: expression of tumours, and of normals if you like.
        expression_format: auto, xena, gct, h5ad or table.
        normals: expression of normal samples, in a format of `expression`.
        study: a cBioPortal study folder.
        expression_profile: which of the study's profiles, by its stable_id.
        clinical: a table of text with the samples or patients in a column.
        sequenced: the samples that were looked at for mutations.

    Example:
        >>> Sources(maf=Path("a.maf"), expression=Path("e.tsv")).expression_format
        'auto'
    """

    maf: Path | None = None
    mutations: Path | None = None
    mutations_format: str = "auto"
    copy_number: Path | None = None
    copy_number_format: str = "auto"
    expression: Path | None = None
    expression_format: str = "auto"
    normals: Path | None = None
    study: Path | None = None
    expression_profile: str | None = None
    clinical: Path | None = None
    sequenced: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, and what says too little."""
        _check_word("--mutations-format", self.mutations_format, MUTATION_FORMATS)
        _check_word("--copy-number-format", self.copy_number_format, COPY_NUMBER_FORMATS)
        _check_word("--expression-format", self.expression_format, EXPRESSION_FORMATS)
        if self.maf is not None and self.mutations is not None:
            raise InputError(
                "mutations must come from one file, but --maf and --mutations were both given; "
                "leave one out"
            )
        if self.study is None and self.expression is None:
            raise InputError(
                "Y must come from expression, but neither --expression nor --study was given; "
                "mutations alone say nothing of effects, so get the expression of the same "
                "tumours, such as the study's RNA-seq table"
            )
        if self.study is None and (self.maf, self.mutations, self.copy_number) == (None,) * 3:
            raise InputError(
                "X must come from mutations or copy number, but none of --maf, --mutations, "
                "--copy-number and --study was given; name one"
            )
        if self.study is None and self.expression_profile is not None:
            raise InputError(
                "--expression-profile must go with --study, but there is none; name the file "
                "with --expression"
            )


@dataclass(frozen=True)
class PrepareSettings:
    """How X, Y and covariates are made.

    Attributes:
        tissue_column: the column of the clinical table with the tissue; None: all are one tissue.
        exclude: genes to leave out of X and Y.
        covariates: more columns of the clinical table to take along.
        classes: which mutations count, as in `load_maf`.
        unsequenced: tumours that no list or table of mutations has: drop them, or know them by
            their copy-number alone.
        all_samples: keep several tumours of one patient.
        min_frequency: share of tumours that an input must be altered in.
        min_carriers: tumours that an input must be altered in, and in which a binary output must
            be 1 and must be 0.
        max_missing: share of tumours in which a gene may be unknown.
        reference: what expression is compared with: the tumours of the same tissue, normals of
            that tissue, tumours of it whose gene is diploid, or none where the values are z-scores.
        robust: median and MAD in place of mean and standard deviation, for normals and diploid.
        min_reference: samples that a reference must have.
        log: log2(x + 1) of expression: auto, yes or no.
        y_kind: binary (|z| of at least the cut-off) or continuous (z).
        cutoff: None for 2.81 against normals (p = 0.005), else 2.
        min_prevalence: share of tumours in which a binary output must be 1.
        max_prevalence: share of tumours in which it may be 1.
        keep_cis: keep changes of genes whose own copy number is altered.
        select: auto, none, variance:N, tci, or several of them with + between, in their order.
        max_inputs: keep the most frequent inputs.
        max_outputs: keep the most variable outputs.
        permutations: of TCI.
        min_degs: of TCI: DEGs that a driver explains in a tumour.
        min_tumours: of TCI: tumours in which a driver is called.
        seed: decides the permutations of TCI.

    Example:
        >>> PrepareSettings().z_cutoff, PrepareSettings(reference="normals").z_cutoff
        (2.0, 2.81)
        >>> PrepareSettings(y_kind="binry")
        Traceback (most recent call last):
        ...
        rinn.errors.InputError: --y-kind must be one of its words, but 'binry' was given; did you \
mean 'binary'? Known: binary, continuous
    """

    tissue_column: str | None = None
    covariates: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    classes: str = "maftools"
    unsequenced: str = "drop"
    all_samples: bool = False
    min_frequency: float = 0.02
    min_carriers: int = 5
    max_missing: float = 0.1
    reference: str = "tissue"
    robust: bool = False
    min_reference: int = 10
    log: str = "auto"
    y_kind: str = "continuous"
    cutoff: float | None = None
    min_prevalence: float = 0.05
    max_prevalence: float = 0.95
    keep_cis: bool = False
    select: str = "auto"
    max_inputs: int | None = None
    max_outputs: int | None = None
    permutations: int = 100
    min_degs: int = 5
    min_tumours: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        _check_word("--unsequenced", self.unsequenced, UNSEQUENCED)
        _check_word("--reference", self.reference, REFERENCES)
        _check_word("--y-kind", self.y_kind, Y_KINDS)
        _check_word("--log", self.log, tuple(LOGS))
        for name in ("min_frequency", "max_missing", "min_prevalence", "max_prevalence"):
            _check_share(name, getattr(self, name))
        if self.min_prevalence >= self.max_prevalence:
            raise InputError(
                f"--min-prevalence must be below --max-prevalence, but {self.min_prevalence:g} and "
                f"{self.max_prevalence:g} were given; exchange them"
            )
        for name in ("min_carriers", "min_degs", "min_tumours"):
            _check_count(name, getattr(self, name), 1)
        for name in ("max_inputs", "max_outputs"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), 1)
        _check_count("min_reference", self.min_reference, 3)
        _check_count("permutations", self.permutations, 0, MAX_PERMUTATIONS)
        _check_count("seed", self.seed, 0)
        if self.cutoff is not None and not (_is_number(self.cutoff) and self.cutoff > 0):
            raise InputError(
                f"--cutoff must be a number above 0, but {self.cutoff!r} was given; choose for "
                f"example 2"
            )
        self.steps  # noqa: B018 - checks the words of `select`

    @property
    def z_cutoff(self) -> float:
        """The |z| from which a gene counts as changed."""
        return self.cutoff or CUTOFFS.get(self.reference, USUAL_CUTOFF)

    @property
    def steps(self) -> tuple[tuple[str, int], ...]:
        """The steps of `select`, each with its number (0 where it has none)."""
        if self.select in ("auto", "none"):
            return ()
        return tuple(_read_step(word) for word in self.select.split("+"))

    def to_json(self) -> dict[str, Any]:
        """Every setting by name."""
        return dataclasses.asdict(self) | {
            "covariates": list(self.covariates),
            "exclude": list(self.exclude),
        }


def find_format(path: Path, word: str) -> str:
    """Find the format of a table by its first line or its name, where the user leaves it open.

    Example:
        >>> find_format(Path("a.CSV.gz"), "auto"), find_format(Path("HiSeqV2.gz"), "auto")
        ('table', 'xena')
    """
    if word != "auto":
        return word
    name = path.name.lower().removesuffix(".gz")
    first = _read_first(path)
    if is_gistic(split_header(first)):
        return "gistic"
    if first.strip().strip('"') in GCT_VERSIONS:
        return "gct"
    return SUFFIXES.get(Path(name).suffix, "xena")


def _read_first(path: Path) -> str:
    """The first line of a text file; nothing where it is none, which its reader will say."""
    try:
        return next(iter(Lines(path, "table")), "")
    except InputError:
        return ""


def _read_step(word: str) -> tuple[str, int]:
    name, colon, number = word.strip().partition(":")
    if name == "tci" and not colon:
        return "tci", 0
    if name == "variance" and number.isascii() and number.isdigit() and int(number) > 0:
        return "variance", int(number)
    raise InputError(
        f"--select must be auto, none, variance:N, tci, or steps such as variance:2000+tci, but "
        f"{word!r} was given; choose for example variance:100"
    )


def _check_word(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(
            f"{option} must be one of its words, but {value!r} was given{suggest(value, known)}"
        )


def _check_share(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(
            f"{_as_option(name)} must be a number from 0 to 1, but {value!r} was given; choose for "
            f"example 0.05"
        )


def _check_count(name: str, value: Any, least: int, most: int = MOST) -> None:
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if is_count and value > most:
        raise InputError(
            f"{_as_option(name)} must be a whole number of at most {most}, but {value!r:.80} was "
            f"given; choose less"
        )
    if not is_count or value < least:
        raise InputError(
            f"{_as_option(name)} must be a whole number of at least {least}, but {value!r} was "
            f"given; choose {least} or more"
        )


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
