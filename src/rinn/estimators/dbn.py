"""Deep belief networks as an estimator."""

from __future__ import annotations

from typing import Any

from rinn.errors import InputError
from rinn.estimators.base import NetworkEstimator


class DBN(NetworkEstimator):
    """Learn latents behind the outputs with deep belief networks, without a look at the inputs.

    The networks are autoencoders of Y, so that `graph_` has latents and outputs, but no edge from
    an input, and there is nothing to predict from X. Parameters and attributes are as in `RINN`,
    but for `refit_` and `comparison_`.

    Examples:
        >>> from rinn import DBN, make_dataset
        >>> data = make_dataset("or", samples=200)
        >>> DBN(trials=4, epochs=2, device="cpu").fit(data.x, data.y).test_scores_.auroc is None
        False
    """

    _strategy = "dbn"

    def predict(self, X: Any) -> None:
        """Refuse: the networks know nothing of X.

        Raises:
            InputError: always.
        """
        raise InputError(
            "predict must be asked of RINN, DNN or ESC; DBN learns from Y alone and cannot tell Y "
            "from X"
        )

    def transform(self, X: Any) -> None:
        """Refuse: the networks know nothing of X.

        Raises:
            InputError: always.
        """
        raise InputError(
            "transform must be asked of RINN, DNN or ESC; DBN learns from Y alone and cannot tell "
            "the latents' activity from X"
        )
