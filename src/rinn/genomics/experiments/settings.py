"""Settings of `rinn experiment`, with their defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rinn.config import Settings, setting
from rinn.errors import InputError
from rinn.genomics.prepare.settings import LOGS

FILES, DESIGN, VALUES, TIMES = "Files", "Design and doses", "Measurements", "Time points"
PERTURB = "Perturb-seq"


@dataclass(frozen=True)
class ExperimentSources(Settings):
    """The files of an experiment: a design with measurements, a MIDAS file, or Perturb-seq.

    Example:
        >>> ExperimentSources(midas=Path("cells.csv")).midas.name
        'cells.csv'
    """

    design: Path | None = setting(
        None,
        "Design as CSV or TSV: a row for each sample and a column for each treatment, or rows of "
        "sample, treatment and dose.",
        group=FILES,
    )
    measurements: Path | None = setting(
        None, "Measurements of the samples of --design: a column for each output.", group=FILES
    )
    midas: Path | None = setting(
        None,
        "MIDAS file (CellNOpt): columns TR: (treatments), DA: (times), DV: (values).",
        group=FILES,
    )
    perturb_seq: Path | None = setting(
        None, "AnnData file (.h5ad) of cells, whose guides are in columns of obs.", group=FILES
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("design", "midas", "perturb_seq") if getattr(self, name)]
        if len(given) != 1:
            raise InputError(
                f"one of --design, --midas and --perturb-seq must be given, but {len(given)} were; "
                f"name one file"
            )
        if (self.design is None) != (self.measurements is None):
            raise InputError(
                "--design and --measurements must be given together, but one is missing; name "
                "what the samples were given with --design, and what was measured with "
                "--measurements"
            )


@dataclass(frozen=True)
class ExperimentSettings(Settings):
    """How X, Y and covariates of an experiment are made.

    Example:
        >>> ExperimentSettings(time="outputs").dose
        'linear'
    """

    covariate_columns: tuple[str, ...] = setting(
        (),
        "Columns for covariates.csv, such as block, batch or cell type, separated by commas.",
        group=VALUES,
    )
    controls: tuple[str, ...] = setting(
        (),
        "Further names that mean no treatment, besides control, DMSO, vehicle, non-targeting and "
        "the like.",
        group=DESIGN,
    )
    treatments: tuple[str, ...] = setting(
        (),
        "design: columns that are treatments; by default all columns of numbers that no other "
        "option names.",
        group=DESIGN,
    )
    treatment_column: str | None = setting(
        None,
        "design with one row for each treatment of a sample: the column with its name; by default "
        "one called treatment, perturbation, drug, compound or stimulus.",
        group=DESIGN,
    )
    dose_column: str | None = setting(
        None,
        "design with one row for each treatment of a sample: the column with its dose; by default "
        "one called dose or concentration, else every dose is 1.",
        group=DESIGN,
    )
    separators: str = setting(
        "+", "Characters between several treatments or guides in one cell of a table.", group=DESIGN
    )
    dose: str = setting(
        "linear",
        "Levels in X: linear (doses as written), log (log2(1 + dose / smallest dose), with the "
        "sign of the dose) or binary (0 and 1).",
        choices=("linear", "log", "binary"),
        group=DESIGN,
    )
    time_column: str | None = setting(
        None, "design, perturb-seq: column with the time of each sample, a number.", group=TIMES
    )
    time: str = setting(
        "covariate",
        "Time points: covariate (each is a sample, and the time a covariate) or outputs (one "
        "sample with outputs such as AKT@30).",
        choices=("covariate", "outputs"),
        group=TIMES,
    )
    time_unit: str = setting("", "Unit of the times, for names such as AKT@30min.", group=TIMES)
    baseline: str = setting(
        "none",
        "What is subtracted from Y: none, controls (mean of the samples without treatment and "
        "with the same covariates and time) or time-0 (the same treatments at time 0).",
        choices=("none", "controls", "time-0"),
        group=VALUES,
    )
    log: str = setting(
        "auto",
        "log2(x + 1) of the measurements: auto (values above 50 and none below 0), yes or no.",
        choices=tuple(LOGS),
        group=VALUES,
    )
    replicates: str = setting(
        "keep",
        "Samples with the same treatments, covariates and time: keep them all, or take their mean.",
        choices=("keep", "mean"),
        group=VALUES,
    )
    guides: tuple[str, ...] = setting(
        (),
        "perturb-seq: columns of obs with guides or perturbed genes, separated by commas.",
        group=PERTURB,
    )
    merge_guides: bool = setting(
        False,
        "perturb-seq: guides whose names differ in a final number (KLF1_1, KLF1_2) are one input, "
        "and separate samples.",
        group=PERTURB,
    )
    unit: str = setting(
        "pseudobulk",
        "perturb-seq: what a sample is: pseudobulk (all cells with the same guides and covariates) "
        "or cells.",
        choices=("pseudobulk", "cells"),
        group=PERTURB,
    )
    replicate_column: str | None = setting(
        None,
        "perturb-seq: column of obs with the replicate; each has its own pseudo-bulks.",
        group=PERTURB,
    )
    min_cells: int = setting(
        10, "perturb-seq: minimum number of cells of a pseudo-bulk.", minimum=1, group=PERTURB
    )
    layer: str | None = setting(
        None, "perturb-seq: layer with the counts, or raw; by default X of the file.", group=PERTURB
    )
    max_outputs: int | None = setting(
        None,
        "Maximum number of outputs; those with the largest variance are kept.",
        minimum=1,
        group=VALUES,
    )

    def to_json(self) -> dict[str, Any]:
        """Every setting by name."""
        lists = {name: list(each) for name, each in vars(self).items() if isinstance(each, tuple)}
        return super().to_json() | lists
