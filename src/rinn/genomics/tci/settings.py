"""What TCI is asked to do, with its checks and defaults."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from rinn.config import MOST
from rinn.errors import InputError, suggest

PRIORS = ("frequency", "uniform")
PERMUTATIONS = ("rows", "columns")
TISSUE_MODELS = ("strata", "mixture")
OTHER_SHARE = 0.05
MAX_PERMUTATIONS = 100_000


@dataclass(frozen=True)
class TciSettings:
    """How causes are scored, how the null is made, and what is called.

    Attributes:
        direction: drop an SGA as cause of a DEG that is less frequent where the SGA is.
        tissue_model: what tissues do where they are known: strata (each has rates of its own) or
            mixture (half blind to them, half a mean over tissues that sets one apart).
        top: causes kept for each DEG of each tumour, the best first.
        permutations: runs on permuted Y that set the cut-offs; 0 calls every top cause.
        permute: rows (whole rows of Y change places) or columns (each DEG by itself).
        significance: share of an SGA's top posteriors under the null above its cut-off.
        min_cutoff: no cut-off is below this.
        max_cutoff: no cut-off is above this.
        min_degs: DEGs that an SGA must explain in a tumour to be a driver there.
        min_tumours: tumours in which a driver overall must be called.
        min_rate: share of its carriers in which a driver overall must be called.
        min_share: share of a driver's tumours in which a target must be linked to it.
        min_drivers: drivers that a selected DEG must be a target of.
        min_prevalence: selected DEGs are at least so frequent.
        max_prevalence: selected DEGs are at most so frequent.
        seed: decides the permutations.

    Example:
        >>> TciSettings(permutations=10).min_degs
        5
        >>> TciSettings(permute="row")
        Traceback (most recent call last):
        ...
        rinn.errors.InputError: permute must be one of its words, but 'row' was given; did you \
mean 'rows'? Known: rows, columns
    """

    direction: bool = True
    tissue_model: str = "strata"
    top: int = 1
    permutations: int = 100
    permute: str = "rows"
    significance: float = 0.001
    min_cutoff: float = 0.0
    max_cutoff: float = 1.0
    min_degs: int = 5
    min_tumours: int = 30
    min_rate: float = 0.5
    min_share: float = 0.2
    min_drivers: int = 1
    min_prevalence: float = 0.0
    max_prevalence: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name, least in (
            ("top", 1),
            ("min_degs", 1),
            ("min_tumours", 1),
            ("min_drivers", 0),
            ("seed", 0),
        ):
            _check_count(name, getattr(self, name), least)
        _check_count("permutations", self.permutations, 0, MAX_PERMUTATIONS)
        for name in ("min_cutoff", "max_cutoff", "min_rate", "min_share"):
            check_share(name, getattr(self, name))
        for name in ("min_prevalence", "max_prevalence"):
            check_share(name, getattr(self, name))
        for low, high in (
            ("min_cutoff", "max_cutoff"),
            ("min_prevalence", "max_prevalence"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise InputError(
                    f"{low} must not be above {high}, but {getattr(self, low)} and "
                    f"{getattr(self, high)} were given; exchange them"
                )
        if not _is_number(self.significance) or not 0 < self.significance < 0.5:
            raise InputError(
                f"significance must be above 0 and below 0.5, but {self.significance!r} was "
                f"given; choose for example 0.001 or 0.05"
            )
        check_word("permute", self.permute, PERMUTATIONS)
        check_word("tissue_model", self.tissue_model, TISSUE_MODELS)

    def to_json(self) -> dict[str, Any]:
        """Every setting by name."""
        return dataclasses.asdict(self)


def check_word(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse what is not one of the known words.

    Example:
        >>> check_word("permute", "rows", PERMUTATIONS)
    """
    if value not in known:
        raise InputError(
            f"{name} must be one of its words, but {value!r} was given{suggest(value, known)}"
        )


def check_share(name: str, value: Any, *, is_open: bool = False) -> float:
    """Return a number from 0 to 1; where `is_open`, neither of the two.

    Example:
        >>> check_share("min_rate", 0.5)
        0.5
    """
    fits = _is_number(value) and 0 <= value <= 1 and not (is_open and value in (0, 1))
    if not fits:
        ends = "above 0 and below 1" if is_open else "from 0 to 1"
        raise InputError(
            f"{name} must be a number {ends}, but {value!r} was given; choose for example 0.05"
        )
    return float(value)


def _check_count(name: str, value: Any, least: int, most: int = MOST) -> None:
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if is_count and value > most:
        raise InputError(
            f"{name} must be a whole number of at most {most}, but {value!r:.80} was given; choose "
            f"less"
        )
    if not is_count or value < least:
        raise InputError(
            f"{name} must be a whole number of at least {least}, but {value!r} was given; choose "
            f"{least} or more"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
