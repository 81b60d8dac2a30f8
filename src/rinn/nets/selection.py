"""Which networks to keep, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

QUANTILE = 0.95


@dataclass(frozen=True)
class Selection:
    """The distance of every network (infinite where it was left out) and the nearest ones."""

    distance: Float[np.ndarray, " net"]
    chosen: tuple[int, ...]


def select_nearest(
    loss: Float[np.ndarray, " net"], l1_norm: Float[np.ndarray, " net"], keep: int = 10
) -> Selection:
    """Choose networks by the paper's distance d_x = sqrt(l1_norm^2 + loss^2).

    Values beyond the 95 % quantile of either axis are left out, then both axes are scaled to
    [0, 1]; the networks nearest the origin are kept. The scaling makes the choice depend on the
    worst networks of the pool too.

    Args:
        loss: mean validation loss of each network (`average_splits`); not finite where it
            diverged.
        l1_norm: sum of |w| of each network.
        keep: how many to choose.

    Returns:
        Distances, and the chosen ones from the nearest outwards; ties keep their order.

    Example:
        >>> select_nearest(np.array([1.0, 2.0, 3.0]), np.array([9.0, 5.0, 4.0]), keep=1).chosen
        (1,)
    """
    usable = np.isfinite(loss) & np.isfinite(l1_norm)
    distance = np.full(len(loss), np.inf)
    if usable.any():
        near = usable.copy()
        for axis in (loss, l1_norm):
            near &= np.where(usable, axis, np.inf) <= np.quantile(axis[usable], QUANTILE)
        near = near if near.any() else usable
        distance[near] = np.hypot(_scale(l1_norm[near]), _scale(loss[near]))
    order = np.argsort(distance, kind="stable")[:keep]
    return Selection(distance, tuple(int(i) for i in order if np.isfinite(distance[i])))


def select_accurate(loss: Float[np.ndarray, " net"], keep: int) -> tuple[int, ...]:
    """Choose the networks that predict best.

    Unlike `select_nearest` this does not depend on the worst networks of the pool: a search over
    wider ranges chooses the same ones, unless it finds better ones.

    Args:
        loss: mean validation loss of each network (`average_splits`); not finite where it
            diverged.
        keep: how many to choose.

    Returns:
        Their indices, the best first; ties keep their order.

    Example:
        >>> select_accurate(np.array([3.0, np.inf, 1.0, 2.0]), keep=2)
        (2, 3)
    """
    order = np.argsort(np.where(np.isfinite(loss), loss, np.inf), kind="stable")[:keep]
    return tuple(int(i) for i in order if np.isfinite(loss[i]))


def average_splits(
    loss: Float[np.ndarray, " net"], setting: Int[np.ndarray, " net"]
) -> Float[np.ndarray, " net"]:
    """Give each network the mean validation loss of its setting over the splits (L_x)."""
    _, group = np.unique(setting, return_inverse=True)
    return (np.bincount(group, loss) / np.bincount(group))[group]


def _scale(values: Float[np.ndarray, " net"]) -> Float[np.ndarray, " net"]:
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)
