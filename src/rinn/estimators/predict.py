"""Estimators that predict from the inputs, and those that have nothing to predict with."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float
from sklearn.base import MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from rinn.data.covariates import match_covariates
from rinn.errors import InputError, quote_some
from rinn.estimators.base import GraphEstimator, NetworkEstimator
from rinn.estimators.results import EstimatorRecord
from rinn.refit.model import run_model

if TYPE_CHECKING:
    from rinn.runs.read import RunContents


class Unpredictive(GraphEstimator):
    """An estimator that has nothing to predict with; `_lacks` says what is missing for what."""

    _lacks: ClassVar[dict[str, str]] = {
        "predict": "finds a graph, and no model of the outputs",
        "transform": "finds a graph, and no model of its latents",
    }

    def predict(self, X: Any) -> None:
        """Raise InputError."""
        raise self._refuse("predict")

    def transform(self, X: Any) -> None:
        """Raise InputError."""
        raise self._refuse("transform")

    def _refuse(self, method: str) -> InputError:
        why = f"{type(self).__name__} {self._lacks[method]}"
        return InputError(f"{method} must be called on RINN, DNN or ESC; {why}")


class Predictor(TransformerMixin, MultiOutputMixin, RegressorMixin, NetworkEstimator):
    """An estimator whose networks lead from the inputs through the latents to the outputs."""

    def _adopt(self, run: RunContents, record: EstimatorRecord) -> None:
        from rinn.runs.model import make_model

        super()._adopt(run, record)
        self.model_ = make_model(run)
        self.covariates_ = self.model_.offsets.codings if self.model_.offsets else ()
        self.fit_test_ = run.manifest.fit
        self.comparison_ = run.manifest.comparison

    def predict(self, X: Any, covariates: Any = None) -> Any:
        """Predict the outputs: the mean over the kept networks.

        Where no network was trained, the graph's own network predicts (`model_`).

        Args:
            X: the inputs, [sample, input], with the columns that `fit` has seen.
            covariates: of the same samples, where `fit` was given any; else None.

        Returns:
            Values in the units of Y, [sample, output], or [sample] where `fit` was given a 1-D Y:
            a DataFrame or Series with the names of Y if X and the Y of `fit` have names, else an
            array.
            For outputs that are 0 or 1, the probability of a 1: `predict(X) > 0.5` gives classes;
            for outputs with two other values, such as 1 and 2, and for counts, their mean. An
            output that `fit` left out, since it was constant or had too few values, has the mean of
            those, or NaN if there were none.

        Raises:
            InputError: covariates are missing, or of another kind than in `fit`.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> list(model.predict(data.x))
            ['y0', 'y1', 'y2', 'y3', 'y4', 'y5']
        """
        x = self._scale_inputs(X)
        each = self._predict_each(x, self._find_offset(X, covariates))
        low, high = self.model_.coding
        return self._columns.fill(low + (high - low) * each.mean(axis=0), X)

    def _predict_each(
        self, x: Float[np.ndarray, "input sample"], offset: np.ndarray | None
    ) -> Float[np.ndarray, "model sample output"]:
        """Predictions of each network in the units of Y."""
        if self.networks_:
            from rinn.nets.predict import predict_samples

            with _in_double():
                return predict_samples(self.networks_, x, self.model_.likelihood, offset)
        raw = np.stack([model.predict(x) for model in self.model_.models])
        raw = raw if offset is None else raw + offset  # [model, output, sample]
        return self.model_.likelihood.to_units(np.swapaxes(raw, 1, 2))

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Measure how well the outputs are predicted: R², as scikit-learn's regressors do.

        Args:
            X: the inputs, [sample, input].
            y: the outputs of the same samples; NaN where one was not measured.
            sample_weight: weights of the samples.
            covariates: of the same samples, where `fit` was given any; else None.

        Returns:
            1 for perfect predictions, 0 for the mean of `y`.

        Raises:
            InputError: `y` has another shape than the predictions, or as `predict`.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> 0 < model.score(data.x, data.y) < 1
            True
        """
        predicted = np.asarray(self.predict(X, covariates=covariates))
        y = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan")
        if y.size != predicted.size:
            raise InputError(
                f"y must have the samples of X and the outputs of fit, {predicted.shape}, got "
                f"{y.shape}; pass the same columns"
            )
        observed = ~(np.isnan(y) | np.isnan(predicted.reshape(y.shape)))
        if observed.all():
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        return _score_observed(y, predicted, observed, sample_weight)

    def transform(self, X: Any) -> Float[np.ndarray, "sample latent"]:
        """Compute the activity of each latent.

        It is the value that the graph's own network gives the latent: mean 0 and standard
        deviation 1 over the samples it was fitted on, turned so that it raises the outputs.
        Covariates act on the outputs alone, so that they are not asked for here.

        Args:
            X: the inputs, [sample, input], with the columns that `fit` has seen.

        Returns:
            Activities, one column for each of `latents_`.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> model.transform(data.x).shape == (99, len(model.latents_))
            True
        """
        x = self._scale_inputs(X)
        runs = [run_model(model, x) for model in self.model_.models]
        columns = [np.mean([run[latent] for run in runs], axis=0) for latent in self.latents_]
        return np.stack(columns, axis=1) if columns else np.empty((x.shape[1], 0))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the latents: the columns of `transform`.

        Args:
            input_features: not used; scikit-learn passes it.

        Returns:
            The names, as an array of text.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> list(model.get_feature_names_out()) == model.latents_
            True
        """
        check_is_fitted(self, "networks_")
        return np.array(self.latents_, dtype=object)

    def _find_offset(
        self, X: Any, covariates: Any
    ) -> Float[np.ndarray, "split output sample"] | None:
        """What covariates add to the outputs of the networks of each split."""
        if not self.covariates_:
            if covariates is not None:
                raise InputError(
                    "covariates must not be given where fit had none; leave them out, or fit with "
                    "them"
                )
            return None
        if covariates is None:
            names = quote_some([coding.name for coding in self.covariates_])
            raise InputError(
                f"covariates must be given, because fit had {names}, but there are none; pass "
                f"covariates= for the same samples"
            )
        assert self.model_.offsets is not None  # there are covariates
        return self.model_.offsets.find(match_covariates(X, covariates))

    def _scale_inputs(self, X: Any) -> Float[np.ndarray, "input sample"]:
        check_is_fitted(self, "networks_")
        x = validate_data(self, self._columns.select(X), dtype=np.float64, reset=False)
        return self.model_.x_scale.apply(x[:, list(self._columns.inputs)]).T


def _score_observed(
    y: np.ndarray, predicted: np.ndarray, observed: np.ndarray, sample_weight: Any
) -> float:
    """The mean R² of the outputs, each over the samples in which it is observed."""
    columns = [part.reshape(len(y), -1).T for part in (y, predicted, observed)]
    weight = None if sample_weight is None else np.asarray(sample_weight)
    scores = [
        r2_score(true[rows], guess[rows], sample_weight=None if weight is None else weight[rows])
        for true, guess, rows in zip(*columns, strict=True)
        if rows.sum() > 1
    ]
    return float(np.mean(scores)) if scores else float("nan")


def _in_double() -> contextlib.AbstractContextManager[Any]:
    """Compute in float64: in float32 a sample's last digits depend on the other samples."""
    import jax.experimental

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    # Where older releases of JAX have it.
    return jax.experimental.enable_x64(True)  # type: ignore[attr-defined]
