"""Settings of `rinn prepare`, with their defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rinn.config import Settings, check_choice, setting
from rinn.errors import InputError
from rinn.genomics.tci.settings import MAX_PERMUTATIONS

TABLES = {"mutations": "mutation", "copy_number": "copy number", "expression": "expression"}
LOGS = {"auto": None, "yes": True, "no": False}
# |z| from which a gene counts as changed: p = 0.005 on both sides of a normal, else the usual 2.
CUTOFFS = {"normals": 2.81}
USUAL_CUTOFF = 2.0
AUTO_OUTPUTS = 100
AUTO_SAMPLES_PER_INPUT = 4

# Headings in the help: what is not advanced stands first.
FILES, SAMPLES = "Advanced: further files and formats", "Advanced: samples"
INPUTS, OUTPUTS = "Advanced: inputs", "Advanced: outputs"
SELECTION = "Advanced: selection of columns"


@dataclass(frozen=True)
class Sources(Settings):
    """The files that X, Y and covariates are made of; None for those that are not given.

    A file that is named replaces the same part of the study folder. The formats are those of
    `rinn.genomics.readers.READERS`. The format "auto" goes by the first line, which tells GISTIC
    and GCT, and by the name: .csv, .parquet and .npz are tables with samples in rows, .gct and
    .h5ad these formats, and all others Xena's, with genes in rows.

    Example:
        >>> Sources(maf=Path("a.maf"), expression=Path("e.tsv")).expression_format
        'auto'
    """

    maf: Path | None = setting(None, "Mutations: a MAF file, plain or gzip.")
    mutations: Path | None = setting(
        None, "Mutations: a table of samples by genes, 0 and 1.", group=FILES
    )
    mutations_format: str = setting(
        "auto", "auto (by its first line and name), or one of the formats below.", group=FILES
    )
    copy_number: Path | None = setting(None, "Copy number: levels from -2 to 2 for each gene.")
    copy_number_format: str = setting("auto", "auto, or one of the formats below.", group=FILES)
    expression: Path | None = setting(
        None, "Expression of the tumours; the table may contain normal samples too."
    )
    expression_format: str = setting("auto", "auto, or one of the formats below.", group=FILES)
    normals: Path | None = setting(
        None, "Expression of normal samples, in the format of --expression.", group=FILES
    )
    study: Path | None = setting(
        None, "cBioPortal study folder, for everything that other options do not name."
    )
    expression_profile: str | None = setting(
        None, "Expression profile of --study, by its stable_id.", group=FILES
    )
    clinical: Path | None = setting(
        None, "Clinical table by sample or patient, separated by tabs or commas.", group=FILES
    )
    sequenced: Path | None = setting(
        None, "List of the sequenced samples. Those without mutations get zeros.", group=FILES
    )

    def __post_init__(self) -> None:
        from rinn.genomics.readers import READERS  # the command line needs no reader for its help

        super().__post_init__()
        for table, kind in TABLES.items():
            fitting = [name for name, reader in READERS.items() if kind in reader.holds]
            option = f"{table}_format"
            check_choice(option, getattr(self, option), ("auto", *fitting))
        if self.maf is not None and self.mutations is not None:
            raise InputError(
                "mutations must come from one file, but --maf and --mutations were both given; "
                "leave one out"
            )
        if self.study is None and self.expression is None:
            raise InputError(
                "Y must come from expression, but neither --expression nor --study was given; "
                "mutations alone say nothing about effects, so get the expression of the same "
                "tumours, such as the study's RNA-seq table"
            )
        if self.study is None and (self.maf, self.mutations, self.copy_number) == (None,) * 3:
            raise InputError(
                "X must come from mutations or copy number, but none of --maf, --mutations, "
                "--copy-number and --study was given; name one"
            )
        if self.study is None and self.expression_profile is not None:
            raise InputError(
                "--expression-profile needs --study, but got none; name the file with --expression"
            )


@dataclass(frozen=True)
class PrepareSettings(Settings):
    """How X, Y and covariates are made.

    Example:
        >>> PrepareSettings().z_cutoff, PrepareSettings(reference="normals").z_cutoff
        (2.0, 2.81)
        >>> PrepareSettings(y_kind="binry")
        Traceback (most recent call last):
        ...
        rinn.errors.InputError: y_kind must be one of binary, continuous, got 'binry'; did you \
mean 'binary'?
    """

    tissue_column: str | None = setting(
        None,
        "Clinical column with the tissue. Expression is then compared within tissues.",
        group=SAMPLES,
    )
    covariate_columns: tuple[str, ...] = setting(
        (), "Further clinical columns for covariates.csv, separated by commas.", group=SAMPLES
    )
    exclude: tuple[str, ...] = setting(
        (), "Genes to leave out of X and Y, separated by commas.", group=INPUTS
    )
    classes: str = setting(
        "maftools", "Mutations that count: maftools, xena, cbioportal, vep or all.", group=INPUTS
    )
    unsequenced: str = setting(
        "drop",
        "Tumours that were not sequenced: drop them, or use their copy-number alone.",
        choices=("drop", "copy-number"),
        group=SAMPLES,
    )
    all_samples: bool = setting(False, "Keep several tumours of one patient.", group=SAMPLES)
    min_frequency: float = setting(
        0.02, "Minimum fraction of tumours in which an input is altered.", maximum=1, group=INPUTS
    )
    min_carriers: int = setting(
        5,
        "Minimum number of tumours in which an input is altered. A binary output needs as many "
        "ones and zeros.",
        minimum=1,
        group=INPUTS,
    )
    max_missing: float = setting(
        0.1, "Maximum fraction of tumours in which a gene may be unknown.", maximum=1, group=INPUTS
    )
    reference: str = setting(
        "tissue",
        "What expression is compared with: tissue (tumours of the same tissue), normals, diploid "
        "(tumours in which the gene is diploid), or none (the values are z-scores).",
        choices=("tissue", "normals", "diploid", "none"),
        group=OUTPUTS,
    )
    robust: bool = setting(
        False,
        "For normals and diploid: median and MAD instead of mean and standard deviation.",
        group=OUTPUTS,
    )
    min_reference: int = setting(
        10, "Minimum number of samples of a reference.", minimum=3, group=OUTPUTS
    )
    log: str = setting(
        "auto", "log2(x + 1) of expression: auto, yes or no.", choices=tuple(LOGS), group=OUTPUTS
    )
    y_kind: str = setting(
        "continuous",
        "continuous (z) or binary (|z| of at least the cut-off).",
        choices=("binary", "continuous"),
        group=OUTPUTS,
    )
    cutoff: float | None = setting(
        None,
        "|z| from which a gene counts as changed. The default is 2.81 for normals, else 2.",
        above=True,
        example=2,
        group=OUTPUTS,
    )
    min_prevalence: float = setting(
        0.05,
        "binary: minimum fraction of tumours in which an output is 1.",
        maximum=1,
        group=OUTPUTS,
    )
    max_prevalence: float = setting(
        0.95,
        "binary: maximum fraction of tumours in which an output is 1.",
        maximum=1,
        group=OUTPUTS,
    )
    keep_cis: bool = setting(
        False, "Keep changes of genes whose own copy number is altered.", group=OUTPUTS
    )
    select: str = setting(
        "auto",
        "auto (one input for every 4 tumours, 100 outputs), none, variance:N, tci, or steps such "
        "as variance:2000+tci.",
        group=SELECTION,
    )
    max_inputs: int | None = setting(
        None, "Maximum number of inputs; the most frequent are kept.", minimum=1, group=INPUTS
    )
    max_outputs: int | None = setting(
        None, "Maximum number of outputs; the most variable are kept.", minimum=1, group=OUTPUTS
    )
    permutations: int = setting(
        100,
        "tci: number of runs on permuted Y.",
        minimum=0,
        maximum=MAX_PERMUTATIONS,
        group=SELECTION,
    )
    min_degs: int = setting(
        5,
        "tci: minimum number of DEGs that a driver explains in a tumour.",
        minimum=1,
        group=SELECTION,
    )
    min_tumours: int = setting(
        30,
        "tci: minimum number of tumours in which a driver is called.",
        minimum=1,
        group=SELECTION,
    )
    seed: int = setting(0, "tci: seed of the permutations.", minimum=0, group=SELECTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_prevalence >= self.max_prevalence:
            raise InputError(
                f"min_prevalence must be below max_prevalence, got {self.min_prevalence:g} and "
                f"{self.max_prevalence:g}; swap them"
            )
        self.steps  # noqa: B018 - checks `select`

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
        return super().to_json() | {
            "covariate_columns": list(self.covariate_columns),
            "exclude": list(self.exclude),
        }


def _read_step(word: str) -> tuple[str, int]:
    name, colon, number = word.strip().partition(":")
    if name == "tci" and not colon:
        return "tci", 0
    if name == "variance" and number.isascii() and number.isdigit() and int(number) > 0:
        return "variance", int(number)
    raise InputError(
        f"--select must be auto, none, variance:N, tci, or steps such as variance:2000+tci, got "
        f"{word!r}; choose for example variance:100"
    )
