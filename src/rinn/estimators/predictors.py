"""Estimators whose networks lead from the inputs through the latents to the outputs."""

from __future__ import annotations

import contextlib
from typing import Any

import jax
import jax.experimental
import numpy as np
from jaxtyping import Float
from sklearn.base import MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from rinn.data.coding import encode_covariates
from rinn.data.covariates import match_covariates
from rinn.errors import InputError, quote_some
from rinn.estimators.base import NetworkEstimator
from rinn.nets.predict import predict_samples
from rinn.pipeline import Fit
from rinn.refit.model import run_model


class Predictor(TransformerMixin, MultiOutputMixin, RegressorMixin, NetworkEstimator):
    """An estimator whose networks lead from the inputs through the latents to the outputs."""

    def _keep(self, fit: Fit) -> None:
        super()._keep(fit)
        self.refit_ = fit.refit
        self.fit_test_ = fit.latent.fit
        self.comparison_ = fit.comparison

    def predict(self, X: Any, covariates: Any = None) -> Float[np.ndarray, "sample ..."]:
        """Predict the outputs: the mean over the kept networks.

        Where no network was trained, the graph's own network predicts (`refit_`).

        Args:
            X: the inputs, [sample, input], with the columns that `fit` has seen.
            covariates: of the same samples, where `fit` was given any; else None.

        Returns:
            Values in the units of Y, [sample, output], or [sample] where `fit` was given a 1-D Y.
            For outputs that are 0 or 1, the probability of a 1: `predict(X) > 0.5` gives classes;
            for outputs with two other values, such as 1 and 2, and for counts, their mean. An
            output that `fit` left out, since it was constant or had too few values, has the mean of
            those, or NaN if there were none.

        Raises:
            InputError: covariates are missing, or of another kind than in `fit`.
        """
        x = self._scale_inputs(X)
        offset = self._find_offset(X, covariates)
        each = self._predict_each(x, offset)
        low, high = self._y_coding
        found = low + (high - low) * each.mean(axis=0)
        y = np.tile(self._y_mean, (len(found), 1))  # [sample, output]
        y[:, self._y_varies] = found
        return y[:, 0] if self._is_single else y

    def _predict_each(
        self, x: Float[np.ndarray, "input sample"], offset: np.ndarray | None
    ) -> Float[np.ndarray, "model sample output"]:
        """Predictions of each network in the units of Y."""
        if self.networks_:
            with _in_double():
                return predict_samples(self.networks_, x, self._likelihood, offset)
        models = self.refit_.models if self.refit_ else ()
        raw = np.stack([model.predict(x) for model in models])  # [model, output, sample]
        raw = raw if offset is None else raw + offset
        return self._likelihood.to_units(np.swapaxes(raw, 1, 2))

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
        """
        predicted = self.predict(X, covariates=covariates)
        y = check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan")
        if y.size != predicted.size:
            raise InputError(
                f"y must have the samples of X and the outputs of fit, {predicted.shape}, got "
                f"{y.shape}; pass the same columns"
            )
        known = ~(np.isnan(y) | np.isnan(predicted.reshape(y.shape)))
        if known.all():
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        return _score_known(y, predicted, known, sample_weight)

    def transform(self, X: Any) -> Float[np.ndarray, "sample latent"]:
        """Compute the activity of each latent.

        It is the value that the graph's own network gives the latent: mean 0 and standard
        deviation 1 over the samples it was fitted on, turned so that it raises the outputs.
        Covariates act on the outputs alone, so that they are not asked for here.

        Args:
            X: the inputs, [sample, input], with the columns that `fit` has seen.

        Returns:
            Activities, one column for each of `latents_`.
        """
        x = self._scale_inputs(X)
        models = self.refit_.models if self.refit_ else ()
        runs = [run_model(model, x) for model in models]
        columns = [np.mean([run[latent] for run in runs], axis=0) for latent in self.latents_]
        return np.stack(columns, axis=1) if columns else np.empty((x.shape[1], 0))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of `transform`.

        Args:
            input_features: not used; scikit-learn passes it.

        Returns:
            The names of the latents.
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
                    "covariates must be left out where fit was given none, but some came; leave "
                    "them out, or fit with them"
                )
            return None
        if covariates is None:
            names = quote_some([coding.name for coding in self.covariates_])
            raise InputError(
                f"covariates must be given, as fit was given {names}, but none came; pass "
                f"covariates= for the same samples"
            )
        z = encode_covariates(match_covariates(X, covariates), self.covariates_)
        return np.stack([model.predict(z).T for model in self._covariate_models])

    def _scale_inputs(self, X: Any) -> Float[np.ndarray, "input sample"]:
        check_is_fitted(self, "networks_")
        x = validate_data(self, X, dtype=np.float64, reset=False)
        return self._x_scale.apply(x[:, self._x_varies]).T


def _score_known(
    y: np.ndarray, predicted: np.ndarray, known: np.ndarray, sample_weight: Any
) -> float:
    """The mean R² of the outputs, each over the samples in which it is known."""
    columns = [part.reshape(len(y), -1).T for part in (y, predicted, known)]
    weight = None if sample_weight is None else np.asarray(sample_weight)
    scores = [
        r2_score(own[rows], guess[rows], sample_weight=None if weight is None else weight[rows])
        for own, guess, rows in zip(*columns, strict=True)
        if rows.sum() > 1
    ]
    return float(np.mean(scores)) if scores else float("nan")


class RINN(Predictor):
    """Learn the latent graph between two tables with redundant-input neural networks.

    Where effects are faint, many networks are trained on X and Y, those that predict best are kept,
    and one graph is read out of them. Where a regression is enough (see `effects`), none is.
    `predict` gives the outputs that the kept networks expect on average, or without any the graph's
    own network, `transform` the activity of each latent.

    Parameters:
        budget: "default", or "paper" for the search of Young, Andrews, Cooper and Lu (2020).
        trials: how many networks to train; None means as many as the budget has.
        epochs: the most epochs that a network is trained for; None means as the budget says.
        keep: how many networks the graph is read from.
        select: which: "accurate" for those that predict best, "paper" for the ten that the
            paper's distance chooses, whatever `keep` says.
        loss: "bce" where all outputs are 0 or 1, "mse" where they are numbers, "poisson" where
            they are counts, "auto" for each by its kind (see `fit`).
        effects: what the graph is read from: "regression" of the outputs on the inputs, "network",
            "corrected" (networks and a regression of their residuals), or "auto": corrected where
            networks predict held-out samples better than a regression, which is used elsewhere.
            With "regression" no network is trained. With "auto" none is either where clear effects
            are 8 standard errors or more in the median, with more than 100 inputs, fewer than three
            samples for each, or `trials` below 8; DNN and ESC train theirs, to be compared.
        direct: whether inputs may act on outputs directly, without a latent between them.
        effects_only: whether graphs are scored by the effects of the inputs alone, not by what
            outputs have in common beyond them.
        output_edges: whether outputs may act on outputs: an output that takes the place of a latent
            is drawn as the cause of the others.
        bootstraps: how many resamples of the rows say how often each latent and edge is found; 0
            for none.
        device: "auto" (a GPU where there is one), "cpu" or "gpu".
        random_state: an int is the seed of every random choice, the same as `rinn fit --seed`;
            None or a RandomState draws one.
        min_samples: with fewer samples than this, `fit` refuses; at least 10.
        verbose: show the progress of the training on stderr.
        prior: what is known of inputs and outputs by their names: a file that `rinn fit --prior`
            takes, or what `rinn.load_knowledge` made of several; None for nothing.

    Attributes:
        graph_: networkx.DiGraph; nodes with `role` (input, latent, output), edges with `weight`,
            `frequency` and what the graph's network loses without them.
        latents_: names of the latents from causes to effects: the columns of `transform`.
        inputs_: names of the inputs in the graph; constant columns of X, and copies of others, are
            not among them.
        outputs_: names of the outputs in the graph; constant columns of Y are not among them.
        refit_: the graph as a network of its own: parameters, losses, what each edge is worth.
        fit_test_: test of whether the graph explains the effects: `chi2`, `df` and `p`.
        influence_: what the prior did to the graph; None without one.
        comparison_: how well that network predicts beside the free ones, or a regression where
            there are none.
        networks_: the kept networks, the best first; empty where none was trained.
        trials_: DataFrame with one row for each trained network.
        test_scores_: error, and AUROC for binary outputs, of the kept networks, or without any of
            the graph's own, on samples that no network has seen.
        cautions_: what to be careful with, such as few samples or networks, or a latent that may be
            an output, a sentence each.
        dropped_: the columns that were left out (constant, copied, too few values), and samples
            without any output.
        covariates_: how each covariate that `fit` was given became numbers.
        n_features_in_: number of columns of X.
        feature_names_in_: names of the columns of X, where X is a DataFrame.

    Notes:
        Rows of X and Y belong together in their order. Only where both are pandas objects whose
        indexes differ, and neither index is the default 0, 1, 2 and so on, the indexes are taken
        for sample ids, rows are matched by them, and a warning counts the rows without a partner.

    Examples:
        >>> from rinn import RINN, make_dataset
        >>> data = make_dataset("or", samples=200)
        >>> model = RINN(trials=4, epochs=2, device="cpu").fit(data.x, data.y)
        >>> model.predict(data.x).shape
        (200, 16)
        >>> model.transform(data.x).shape == (200, len(model.latents_))
        True
    """

    _strategy = "rinn"


class DNN(Predictor):
    """Learn the latent graph between two tables with plain feed-forward networks.

    The inputs enter the first hidden layer alone; how many layers there are is searched. All else,
    parameters and attributes included, is as in `RINN`.

    Examples:
        >>> from rinn import DNN, make_dataset
        >>> data = make_dataset("or", samples=200)
        >>> DNN(trials=4, epochs=2, device="cpu").fit(data.x, data.y).predict(data.x).shape
        (200, 16)
    """

    _strategy = "dnn"


class ESC(Predictor):
    """Learn the latent graph between two tables with redundant-input networks that evolve.

    The weights are limited to legal values and found by the constrained evolutionary strategy of
    Young, Andrews, Cooper and Lu (2020). `epochs` counts generations and `trials` populations,
    the fittest network of each of which takes part in the selection. All else, parameters and
    attributes included, is as in `RINN`.

    Examples:
        >>> from rinn import ESC, make_dataset
        >>> data = make_dataset("or", samples=200)
        >>> ESC(trials=2, epochs=2, device="cpu").fit(data.x, data.y).predict(data.x).shape
        (200, 16)
    """

    _strategy = "esc"


def _in_double() -> contextlib.AbstractContextManager[Any]:
    """Compute in float64: in float32 a sample's last digits depend on the samples beside it."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    # Where older releases of JAX have it.
    return jax.experimental.enable_x64(True)  # type: ignore[attr-defined]
