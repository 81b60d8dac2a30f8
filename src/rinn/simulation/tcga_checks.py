"""Whether tumours are like those of TCGA: statistics beside their published values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rinn.errors import InputError
from rinn.simulation.tcga import DEGS, SGAS

# The published values were measured on so many tumours; correlations by chance depend on it.
TUMOURS = 500
# Genes altered less often have no correlation worth the name.
LEAST_EVENTS = 5

# Statistic: published value, and how far a generated block may lie from it. The room is for what
# changes from one draw of 500 tumours and 14 tissues to the next, and for where the generator is
# off by itself: too few pairs of alterations have a phi of 0.3 to 0.5, so q99 comes out near 0.22.
# Of 200 seeds, 180 met all of them.
TARGETS: dict[str, tuple[float, float]] = {
    "sga density": (0.0239, 0.003),
    "sga frequency q50": (0.014, 0.004),
    "sga frequency q90": (0.0514, 0.01),
    "sga frequency q99": (0.160, 0.04),
    "sga frequency max": (0.490, 0.1),
    "sga with 5 events": (443, 60),
    "burden q5": (2, 2),
    "burden q25": (6, 3),
    "burden q50": (13.5, 3),
    "burden q75": (23, 4),
    "burden q95": (33, 6),
    "burden sd": (10.2, 2),
    "sga-sga phi q50": (-0.015, 0.01),
    "sga-sga phi q95": (0.132, 0.03),
    "sga-sga phi q99": (0.300, 0.1),
    "sga-sga phi > 0.5": (0.0044, 0.003),
    "deg prevalence q10": (0.195, 0.05),
    "deg prevalence q50": (0.398, 0.06),
    "deg prevalence q90": (0.557, 0.06),
    "deg count mean": (25.3, 2),
    "deg count sd": (8.7, 2.5),
    "deg-deg phi q5": (-0.391, 0.12),
    "deg-deg phi q25": (-0.139, 0.09),
    "deg-deg phi q50": (0.050, 0.08),
    "deg-deg phi q75": (0.258, 0.06),
    "deg-deg phi q95": (0.526, 0.08),
    "deg eigenvalue 1": (13.9, 4),
    "deg eigenvalue 2": (9.6, 2.5),
    "deg eigenvalue 3": (7.9, 2),
    "deg eigenvalue 4": (7.1, 3),
    "sga-deg max phi q5": (0.199, 0.05),
    "sga-deg max phi q50": (0.244, 0.06),
    "sga-deg max phi q95": (0.399, 0.1),
    "sga-deg phi > 0.15": (0.029, 0.015),
}


def check_block(x: pd.DataFrame, y: pd.DataFrame) -> pd.DataFrame:
    """Compare tumours with the published summary statistics of the TCGA block.

    The statistics are those of the first 500 rows, since the published ones come from as many
    tumours, and of the first 634 and 68 columns, where the tumours of a dataset are. phi is the
    correlation of two columns of zeros and ones.

    Args:
        x: alterations, zeros and ones.
        y: expression changes, zeros and ones.

    Returns:
        One row for each statistic: `statistic`, `value`, `target`, `tolerance`, `ok`.

    Raises:
        InputError: a table has too few rows or columns.

    Example:
        >>> from rinn.simulation.tcga import sample_tumours
        >>> x, y, _ = sample_tumours(np.random.default_rng(0), 500)
        >>> check_block(x, y).columns.tolist()
        ['statistic', 'value', 'target', 'tolerance', 'ok']
    """
    values = _measure(_take("x", x, SGAS), _take("y", y, DEGS))
    table = pd.DataFrame(
        [(name, values[name], *aim) for name, aim in TARGETS.items()],
        columns=["statistic", "value", "target", "tolerance"],
    )
    return table.assign(ok=(table["value"] - table["target"]).abs() <= table["tolerance"])


def _take(name: str, table: pd.DataFrame, columns: int) -> np.ndarray:
    """The part of a table that is checked."""
    if table.shape[0] < TUMOURS or table.shape[1] < columns:
        raise InputError(
            f"{name} must have at least {TUMOURS} rows and {columns} columns, but {table.shape[0]} "
            f"rows and {table.shape[1]} columns were given; draw more samples"
        )
    return table.iloc[:TUMOURS, :columns].to_numpy(float)


def _measure(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    frequency, burden = x.mean(axis=0), x.sum(axis=1)
    common = x[:, x.sum(axis=0) >= LEAST_EVENTS]
    among_sgas = _pairs(_correlate(common, common))
    among_degs = _correlate(y, y)
    between = np.abs(_correlate(common, y))  # [sga, deg]
    eigenvalues = np.linalg.eigvalsh(among_degs)[::-1]
    return {
        "sga density": float(x.mean()),
        "sga frequency max": float(frequency.max()),
        "sga with 5 events": float(common.shape[1]),
        "burden sd": float(burden.std()),
        "sga-sga phi > 0.5": float((among_sgas > 0.5).mean()),
        "deg count mean": float(y.sum(axis=1).mean()),
        "deg count sd": float(y.sum(axis=1).std()),
        "sga-deg phi > 0.15": float((between > 0.15).mean()),
        **{f"deg eigenvalue {i + 1}": float(eigenvalues[i]) for i in range(4)},
        **_quantiles("sga frequency", frequency, (50, 90, 99)),
        **_quantiles("burden", burden, (5, 25, 50, 75, 95)),
        **_quantiles("sga-sga phi", among_sgas, (50, 95, 99)),
        **_quantiles("deg prevalence", y.mean(axis=0), (10, 50, 90)),
        **_quantiles("deg-deg phi", _pairs(among_degs), (5, 25, 50, 75, 95)),
        **_quantiles("sga-deg max phi", between.max(axis=0), (5, 50, 95)),
    }


def _correlate(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Correlate each column of one with each of the other; 0 where a column never changes."""
    parts = []
    for values in (one, other):
        centred = values - values.mean(axis=0)
        parts.append(centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-9))
    return parts[0].T @ parts[1]


def _pairs(square: np.ndarray) -> np.ndarray:
    return square[np.triu_indices(len(square), 1)]


def _quantiles(name: str, values: np.ndarray, levels: tuple[int, ...]) -> dict[str, float]:
    found = np.percentile(values, levels)
    return {f"{name} q{level}": float(at) for level, at in zip(levels, found, strict=True)}
