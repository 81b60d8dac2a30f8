"""Labels of perturbations, such as `KLF1+BAK1`, as a table of 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd

from rinn.errors import InputError

CONTROLS = ("", "control", "ctrl", "non-targeting", "non_targeting", "nt", "safe-targeting")


def encode_labels(
    labels: Iterable[str], *, separators: str = "+", controls: Collection[str] = CONTROLS
) -> pd.DataFrame:
    """Turn labels of perturbations into a table of 0 and 1.

    >>> encode_labels(["KLF1+control", "control", "KLF1+BAK1"]).to_numpy().tolist()
    [[1, 0], [0, 0], [1, 1]]
    """
    index = labels.index if isinstance(labels, pd.Series) else None
    pattern = f"[{re.escape(separators)}]"
    parts = [
        [part.strip() for part in re.split(pattern, str(label))] if separators else [str(label)]
        for label in labels
    ]
    kept = [[part for part in row if part.lower() not in controls] for row in parts]
    genes = list(dict.fromkeys(part for row in kept for part in row))
    if not genes:
        raise InputError(
            "labels must name a perturbed gene, but all are controls; check the column"
        )
    values = np.zeros((len(kept), len(genes)), dtype=np.int8)
    column_of = {gene: column for column, gene in enumerate(genes)}
    for row, names in enumerate(kept):
        values[row, [column_of[name] for name in names]] = 1
    return pd.DataFrame(values, index=index, columns=genes)
