"""What the estimators of strategies without networks share."""

from __future__ import annotations

from typing import Any

from rinn.config import RunSettings
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.estimators.base import GraphEstimator
from rinn.pipeline import Fit, fit_data


class Detector(GraphEstimator):
    """An estimator that finds graphs in the data, and has nothing to predict with."""

    def predict(self, X: Any) -> None:
        """Refuse: the strategy finds a graph and no model of the outputs.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"predict must be asked of RINN, DNN or ESC; {type(self).__name__} finds a graph, and "
            f"no model of the outputs"
        )

    def transform(self, X: Any) -> None:
        """Refuse: the strategy finds a graph and no model of its latents.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"transform must be asked of RINN, DNN or ESC; {type(self).__name__} finds a graph, "
            f"and no model of its latents"
        )

    def _search(self, data: Data, settings: RunSettings) -> Fit:
        return fit_data(data, settings, ())

    def _keep(self, fit: Fit) -> None:
        if fit.detected is not None:
            self.graphs_ = fit.detected.graphs
