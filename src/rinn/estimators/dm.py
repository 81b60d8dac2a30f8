"""Detect MIMIC as an estimator."""

from __future__ import annotations

from rinn.config import RunSettings, check_number
from rinn.data.align import MIN_SAMPLES
from rinn.estimators.base import FEWEST_SAMPLES, as_plain
from rinn.estimators.detector import Detector


class DM(Detector):
    """Find the latent graph between two tables by Detect MIMIC (Murray-Watters, Glymour 2015).

    Tests of independence take the place of networks. There is nothing to predict with.

    Parameters:
        alpha_pc: level of the test between an input and an output; None tries 0.05, 0.01, 0.001
            and 0.0001.
        alpha_sober: level of the test of an edge between latents; None tries 0.1, 0.05 and 0.01.
        min_samples: with fewer samples than this, `fit` refuses; at least 10.

    Attributes:
        graph_: networkx.DiGraph as DM gives it; it may have cycles between latents. Where several
            alphas were tried, the graph with the lowest BIC.
        graphs_: the graphs of all alphas that were tried, in the order of `trials_`.
        trials_: DataFrame with one row for each pair of alphas: latents, edges, BIC.
        latents_, inputs_, outputs_, dropped_: as in `RINN`.

    Examples:
        >>> from rinn import DM, make_dataset
        >>> data = make_dataset("or", samples=500)
        >>> model = DM(alpha_pc=0.01, alpha_sober=0.05).fit(data.x, data.y)
        >>> len(model.trials_), model.graph_.number_of_nodes() >= 32
        (1, True)
    """

    _strategy = "dm"

    def __init__(
        self,
        *,
        alpha_pc: float | None = None,
        alpha_sober: float | None = None,
        min_samples: int = MIN_SAMPLES,
    ) -> None:
        self.alpha_pc = alpha_pc
        self.alpha_sober = alpha_sober
        self.min_samples = min_samples

    def _check_parameters(self) -> RunSettings:
        check_number("min_samples", as_plain(self.min_samples), FEWEST_SAMPLES)
        return RunSettings(
            strategy=self._strategy, alpha_pc=self.alpha_pc, alpha_sober=self.alpha_sober
        )
