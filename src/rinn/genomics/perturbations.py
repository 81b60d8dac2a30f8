"""Labels of perturbations, such as `KLF1+BAK1`, as a table of levels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from rinn.errors import InputError

CONTROLS = (
    "", "control", "ctrl", "non-targeting", "non_targeting", "nt", "ntc", "safe-targeting",
    "scrambled", "unperturbed", "untreated", "none", "vehicle", "dmso", "mock",
)  # fmt: skip


def encode_labels(
    labels: Iterable[str],
    *,
    doses: Sequence[Sequence[float]] | None = None,
    separators: str = "+",
    controls: Collection[str] = CONTROLS,
) -> pd.DataFrame:
    """Turn labels of perturbations into a table of 0 and 1, or of the doses of each label's parts.

    >>> encode_labels(["KLF1+control", "control", "KLF1+BAK1"]).to_numpy().tolist()
    [[1, 0], [0, 0], [1, 1]]
    """
    index = labels.index if isinstance(labels, pd.Series) else None
    parts = [split_label(label, separators) for label in labels]
    kept = [[part for part in row if part.lower() not in controls] for row in parts]
    genes = list(dict.fromkeys(part for row in kept for part in row))
    if not genes:
        raise InputError(
            "labels must name a perturbed gene, but all are controls; check the column"
        )
    values = np.zeros((len(kept), len(genes)), dtype=np.int8 if doses is None else np.float64)
    column_of = {gene: column for column, gene in enumerate(genes)}
    for row, names in enumerate(parts):
        for place, name in enumerate(names):
            if name in column_of:
                values[row, column_of[name]] = 1 if doses is None else doses[row][place]
    return pd.DataFrame(values, index=index, columns=genes)


def split_label(label: object, separators: str) -> list[str]:
    """The parts of a label, without space around them."""
    if not separators:
        return [str(label).strip()]
    return [part.strip() for part in re.split(f"[{re.escape(separators)}]", str(label))]
