"""The plain baseline as an estimator."""

from __future__ import annotations

from rinn.config import RunSettings, check_number
from rinn.data.align import MIN_SAMPLES
from rinn.estimators.base import FEWEST_SAMPLES, as_plain
from rinn.estimators.detector import Detector


class Regression(Detector):
    """Find a latent graph by a linear regression of each output, tests, and groups of inputs.

    The plain baseline for the other strategies. There is nothing to predict with.

    Parameters:
        min_samples: with fewer samples than this, `fit` refuses; at least 10.

    Attributes:
        graph_: networkx.DiGraph; an effect on a single output is an edge from the input to it.
        graphs_, trials_: the same graph, and a table of one row.
        latents_, inputs_, outputs_, dropped_: as in `RINN`.

    Examples:
        >>> from rinn import Regression, make_dataset
        >>> data = make_dataset("gaussian")
        >>> len(Regression().fit(data.x, data.y).latents_)
        8
    """

    _strategy = "regression"

    def __init__(self, *, min_samples: int = MIN_SAMPLES) -> None:
        self.min_samples = min_samples

    def _check_parameters(self) -> RunSettings:
        check_number("min_samples", as_plain(self.min_samples), FEWEST_SAMPLES)
        return RunSettings(strategy=self._strategy)
