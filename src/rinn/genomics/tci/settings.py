"""Settings of TCI, with their defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass

from rinn.config import Settings, setting
from rinn.errors import InputError

TISSUE_MODELS = ("strata", "mixture")
MAX_PERMUTATIONS = 100_000


@dataclass(frozen=True)
class TciSettings(Settings):
    """How causes are scored, how the null is made, and what is called.

    An SGA is an alteration of a tumour, a DEG an expression change. With 0 permutations there are
    no cut-offs, and every top cause is called.

    Example:
        >>> TciSettings(permutations=10).min_degs
        5
        >>> TciSettings(permute="row")
        Traceback (most recent call last):
        ...
        rinn.errors.InputError: permute must be one of rows, columns, got 'row'; did you mean \
'rows'?
    """

    any_direction: bool = setting(
        False, "Also consider SGAs that make a DEG less frequent as its causes.", group="Scores"
    )
    tissue_model: str = setting(
        "strata",
        "How the likelihood allows for tissues: strata (each tissue has its own rates) or mixture "
        "(half without tissues, half a mean over models that set one tissue apart).",
        choices=TISSUE_MODELS,
        group="Scores",
    )
    top: int = setting(
        1, "Number of causes to write for each DEG of a tumour.", minimum=1, group="Scores"
    )
    permutations: int = setting(
        100,
        "Number of runs on permuted Y that set the cut-offs; 0 for no cut-offs.",
        minimum=0,
        maximum=MAX_PERMUTATIONS,
        group="Cut-offs",
    )
    permute: str = setting(
        "rows",
        "What is permuted: rows of Y, or each of its columns separately.",
        choices=("rows", "columns"),
        group="Cut-offs",
    )
    significance: float = setting(
        0.001,
        "Fraction of an SGA's top posteriors on permuted Y that are above its cut-off.",
        maximum=0.5,
        above=True,
        below=True,
        example=0.001,
        group="Cut-offs",
    )
    min_cutoff: float = setting(0.0, "Lower bound of the cut-offs.", maximum=1, group="Cut-offs")
    max_cutoff: float = setting(1.0, "Upper bound of the cut-offs.", maximum=1, group="Cut-offs")
    min_degs: int = setting(
        5,
        "Minimum number of DEGs that a driver explains in a tumour.",
        minimum=1,
        group="Drivers and targets",
    )
    min_tumours: int = setting(
        30,
        "Minimum number of tumours in which an overall driver is called.",
        minimum=1,
        group="Drivers and targets",
    )
    min_rate: float = setting(
        0.5,
        "Minimum fraction of its altered tumours in which an overall driver is called.",
        maximum=1,
        group="Drivers and targets",
    )
    min_target_rate: float = setting(
        0.2,
        "Minimum fraction of a driver's tumours in which a target is linked to it.",
        maximum=1,
        group="Drivers and targets",
    )
    min_drivers: int = setting(
        1,
        "Minimum number of drivers that a selected DEG is a target of.",
        minimum=0,
        group="Drivers and targets",
    )
    min_prevalence: float = setting(
        0.0,
        "Minimum fraction of tumours with a selected DEG.",
        maximum=1,
        group="Drivers and targets",
    )
    max_prevalence: float = setting(
        1.0,
        "Maximum fraction of tumours with a selected DEG.",
        maximum=1,
        group="Drivers and targets",
    )
    seed: int = setting(0, "Seed of the permutations.", minimum=0, group="Cut-offs")

    def __post_init__(self) -> None:
        super().__post_init__()
        for low, high in (("min_cutoff", "max_cutoff"), ("min_prevalence", "max_prevalence")):
            if getattr(self, low) > getattr(self, high):
                raise InputError(
                    f"{low} must not be above {high}, got {getattr(self, low)} and "
                    f"{getattr(self, high)}; swap them"
                )
