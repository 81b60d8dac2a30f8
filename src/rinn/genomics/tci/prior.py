"""How likely each alteration is to be a cause before the expression is looked at."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from rinn.config import check_number
from rinn.data.tables import load_table
from rinn.errors import InputError, quote_some, suggest
from rinn.genomics.tci.events import OTHER, Events

PRIORS = ("frequency", "uniform")
UNMEASURED = 0.05  # prior of all causes that are not measured


@dataclass(frozen=True)
class Prior:
    """A weight for each SGA, [sga], and the probability of A0, all that is not measured.

    In tumour t the prior of SGA h is (1 - other) w_h / sum of w over the SGAs of t; over all
    tumours together the sum is over all SGAs.
    """

    name: str
    weights: np.ndarray
    other: float


def make_prior(
    events: Events, prior: str | os.PathLike[str] = "frequency", other: float | None = None
) -> Prior:
    """Make the prior of a name, or read it from a file."""
    if other is not None:
        check_number("other", other, maximum=1, above=True, below=True, example=UNMEASURED)
    probability = UNMEASURED if other is None else float(other)
    if prior == "frequency":
        # w_h = sum over its tumours of 1 / causes there, A0 among them: many at once count little
        burden = np.diff(events.altered.indptr)  # [tumour]
        weights = events.altered.astype(float).T @ (1.0 / (burden + 1))
        return Prior("frequency", weights, probability)
    if prior == "uniform":
        return Prior("uniform", np.ones(len(events.sgas)), probability)
    text = os.fspath(prior)
    if not os.path.exists(text) and "." not in text:
        raise InputError(
            f"prior must be {' or '.join(PRIORS)} or a file, but {text!r} is neither"
            f"{suggest(text, PRIORS)}"
        )
    return load_prior(text, events, other)


def load_prior(path: str | os.PathLike[str], events: Events, other: float | None = None) -> Prior:
    """Read weights from a table with one row for each SGA: its name, then a positive number.

    A row called A0 holds the prior of all that is not measured; it is divided by the sum of all
    rows. Genes that X does not have are ignored.
    """
    table = load_table(path, "prior")
    if table.samples is None or len(table.columns) != 1:
        raise InputError(
            f"prior ({path}) must have two columns, the name of an SGA and its prior, but has "
            f"{len(table.columns) + (table.samples is not None)}; remove the others"
        )
    values = dict(zip(table.samples, table.values[:, 0].tolist(), strict=True))
    wrong = [name for name, value in values.items() if value <= 0]
    if wrong:
        raise InputError(
            f"prior ({path}) must be above 0 for each SGA, but is not for {quote_some(wrong)}; "
            f"give them a small number, or remove their columns from X"
        )
    missing = [name for name in events.sgas if name not in values]
    if missing:
        raise InputError(
            f"prior ({path}) must have each SGA of X, but lacks {quote_some(missing)}; add them, "
            f"or remove their columns from X"
        )
    if other is None and OTHER in values:
        other = values[OTHER] / sum(values.values())
    weights = np.array([values[name] for name in events.sgas])
    return Prior("file", weights, UNMEASURED if other is None else other)
