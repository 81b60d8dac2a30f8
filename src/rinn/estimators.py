"""The search for a latent graph as scikit-learn estimators, one for each strategy.

What trains networks is imported by the first fit: JAX takes longer to load than all of this.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from rinn.config import DEVICES, KEPT, RunSettings, check_choice, check_integer
from rinn.data.align import MIN_SAMPLES, find_names, match_rows, pair_tables
from rinn.data.covariates import encode_covariates, match_covariates
from rinn.data.kinds import check_kinds
from rinn.data.records import Data
from rinn.data.scaling import fit_standardizer
from rinn.data.tables import Table
from rinn.data.warnings import find_warnings
from rinn.errors import InputError, quote_some
from rinn.graphs.basics import by_role
from rinn.refit.model import run_model
from rinn.runs.progress import TrainingProgress
from rinn.runs.terminal import Terminal
from rinn.structure.prior.sources import PriorKnowledge, load_prior

if TYPE_CHECKING:
    from rinn.pipeline import Fit

FEWEST_SAMPLES = 10  # with fewer, the test or a validation set would be empty


class GraphEstimator(BaseEstimator):
    """Checks parameters and tables, and keeps the graph of a search."""

    _strategy: ClassVar[str]

    def __init__(
        self,
        *,
        budget: str = "default",
        trials: int | None = None,
        epochs: int | None = None,
        keep: int = KEPT,
        select: str = "accurate",
        loss: str = "auto",
        effects: str = "auto",
        direct: bool = True,
        effects_only: bool = False,
        output_edges: bool = False,
        bootstraps: int = 50,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        min_samples: int = MIN_SAMPLES,
        verbose: bool = False,
        prior: PriorKnowledge | str | os.PathLike[str] | None = None,
    ) -> None:
        self.budget = budget
        self.trials = trials
        self.epochs = epochs
        self.keep = keep
        self.select = select
        self.loss = loss
        self.effects = effects
        self.direct = direct
        self.effects_only = effects_only
        self.output_edges = output_edges
        self.bootstraps = bootstraps
        self.device = device
        self.random_state = random_state
        self.min_samples = min_samples
        self.verbose = verbose
        self.prior = prior

    def fit(self, X: Any, Y: Any, covariates: Any = None, kinds: Any = None) -> Self:
        """Search, select, and read one latent graph out of what was selected.

        Args:
            X: the inputs, [sample, input]; a DataFrame or an array.
            Y: the outputs, [sample, output], or [sample] for a single one; NaN where one was not
                measured (only for RINN and DNN).
            covariates: tissue, batch and the like, which act on the outputs directly: a DataFrame,
                Series or array, text or numbers. Rows are matched as those of X and Y are. Only for
                RINN and DNN.
            kinds: a dictionary or Series from names of outputs (y0, y1 and so on, where Y has none)
                to "number", "binary" or "count"; of the others their values tell. Mixed kinds and
                counts are not for DBN and ESC.

        Returns:
            The estimator itself.

        Raises:
            InputError: a parameter is wrong, or the tables cannot be learnt from; a ValueError.
        """
        settings = self._check_parameters()
        data = self._check_tables(X, Y, covariates, kinds)
        fit = self._search(data, settings)
        self.graph_ = fit.latent.graph
        self.latents_ = by_role(fit.latent.graph, "latent")
        self.inputs_, self.outputs_ = list(data.inputs), list(data.outputs)
        self.trials_ = fit.trials
        self.dropped_ = data.dropped
        self.warnings_ = find_warnings(data, fit.networks) + fit.output_causes
        self._keep(fit)
        return self

    def _search(self, data: Data, settings: RunSettings) -> Fit:
        from rinn.nets.devices import find_devices
        from rinn.pipeline import plan_run, run_plan

        prior = getattr(self, "prior", None)
        prior = load_prior(prior) if isinstance(prior, str | os.PathLike) else prior
        plan = plan_run(data, settings, prior)
        devices = find_devices(self.device) if hasattr(self, "device") else ()
        quiet = not (plan.trials and self.verbose)
        with TrainingProgress(len(plan.trials), Terminal(stderr=True), quiet=quiet) as progress:
            return run_plan(plan, devices, report=progress)

    def _keep(self, fit: Fit) -> None:
        """Keep the results that not every strategy has."""
        if fit.detected is not None:
            self.graphs_ = fit.detected.graphs

    def _check_parameters(self) -> RunSettings:
        given = {
            # Numbers and truth values of NumPy, as a grid of parameters has them, become Python's.
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
        }
        check_integer("min_samples", given["min_samples"], FEWEST_SAMPLES)
        if "device" in given:
            check_choice("device", given["device"], DEVICES)
        if isinstance(given.get("random_state"), int):
            check_integer("random_state", given["random_state"], 0)
            given["seed"] = given["random_state"]
        elif "random_state" in given:
            given["seed"] = int(check_random_state(given["random_state"]).randint(2**31 - 1))
        names = {field.name for field in dataclasses.fields(RunSettings)} & given.keys()
        return RunSettings(strategy=self._strategy, **{name: given[name] for name in names})

    def _check_tables(self, X: Any, Y: Any, covariates: Any = None, kinds: Any = None) -> Data:
        """Check X and Y by scikit-learn's rules, then by those of every run."""
        if Y is None:
            raise InputError(
                f"Y must be a table of outputs, as {type(self).__name__} requires y to be passed, "
                f"but the target y is None; call fit(X, Y)"
            )
        X, Y = match_rows(X, Y)
        if covariates is not None:
            covariates = match_covariates(X, covariates)
        inputs, outputs = find_names(X, "X"), find_names(Y, "Y")
        x = validate_data(self, X, dtype=np.float64, ensure_min_samples=self.min_samples)
        y = check_array(Y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan",
                        input_name="y", estimator=self)  # fmt: skip
        self._is_single = y.ndim == 1
        y = y[:, None] if self._is_single else y
        x_table = Table(x, inputs or tuple(f"x{number}" for number in range(x.shape[1])))
        y_table = Table(y, outputs or tuple(f"y{number}" for number in range(y.shape[1])))
        kinds = check_kinds(kinds, y_table.columns)
        data = pair_tables(
            x_table, y_table, min_samples=self.min_samples, covariates=covariates, kinds=kinds
        )
        self._y_coding = data.coding
        dropped = {(column.table, column.name) for column in data.dropped}
        self._x_varies = np.array([("X", name) not in dropped for name in x_table.columns])
        self._y_varies = np.array([("Y", name) not in dropped for name in y_table.columns])
        seen = ~np.isnan(y).all(axis=0)
        self._y_mean = np.where(seen, fit_standardizer(y, binary=False).mean, np.nan)
        return data


class NetworkEstimator(GraphEstimator):
    """An estimator whose strategy trains networks."""

    def _keep(self, fit: Fit) -> None:
        # Columns that a screening left out are not used, as those that do not vary.
        self._x_varies[self._x_varies] = np.isin(self.inputs_, fit.data.inputs)
        self._y_varies[self._y_varies] = np.isin(self.outputs_, fit.data.outputs)
        self.networks_ = fit.kept
        self.test_scores_ = fit.test
        self._likelihood = fit.problem.likelihood
        self.influence_ = fit.influence
        self._x_scale = fit.problem.x_scale
        self.covariates_ = fit.data.covariates.codings if fit.data.covariates else ()
        self._covariate_models = fit.problem.adjustment.models if fit.problem.adjustment else ()


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
        return InputError(f"{method} must be asked of RINN, DNN or ESC; {why}")


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
        mean = low + (high - low) * each.mean(axis=0)
        y = np.tile(self._y_mean, (len(mean), 1))  # [sample, output]
        y[:, self._y_varies] = mean
        return y[:, 0] if self._is_single else y

    def _predict_each(
        self, x: Float[np.ndarray, "input sample"], offset: np.ndarray | None
    ) -> Float[np.ndarray, "model sample output"]:
        """Predictions of each network in the units of Y."""
        if self.networks_:
            from rinn.nets.predict import predict_samples

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
        """
        x = self._scale_inputs(X)
        models = self.refit_.models if self.refit_ else ()
        runs = [run_model(model, x) for model in models]
        columns = [np.mean([run[latent] for run in runs], axis=0) for latent in self.latents_]
        return np.stack(columns, axis=1) if columns else np.empty((x.shape[1], 0))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the latents: the columns of `transform`."""
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
        output_edges: whether outputs may act on outputs: an output that replaces a latent
            is drawn as the cause of the others.
        bootstraps: how many resamples of the rows say how often each latent and edge is found; 0
            for none.
        device: "auto" (a GPU where there is one), "cpu" or "gpu".
        random_state: an int is the seed of every random choice, the same as `rinn fit --seed`;
            None or a RandomState draws one.
        min_samples: with fewer samples than this, `fit` refuses; at least 10.
        verbose: show the progress of the training on stderr.
        prior: what is known of inputs and outputs by their names: a file that `rinn fit --prior`
            takes, or what `rinn.load_prior` made of several; None for nothing.

    Attributes:
        graph_: networkx.DiGraph; nodes with `role` (input, latent, output), edges with `weight`,
            `frequency` and what the graph's network loses without them.
        latents_: names of the latents from causes to effects: the columns of `transform`.
        inputs_: names of the inputs in the graph; constant columns of X, and copies of others, are
            not among them.
        outputs_: names of the outputs in the graph; constant columns of Y are not among them.
        refit_: the graph as a network of its own: parameters, losses, the effect of each edge.
        fit_test_: test of whether the graph explains the effects: `chi2`, `df` and `p`.
        influence_: what the prior did to the graph; None without one.
        comparison_: how well that network predicts compared with the free ones, or with a
            regression where there are none.
        networks_: the kept networks, the best first; empty where none was trained.
        trials_: DataFrame with one row for each trained network.
        test_scores_: error, and AUROC for binary outputs, of the kept networks, or without any of
            the graph's own, on samples that no network has seen.
        warnings_: what to be careful with, such as few samples or networks, or a latent that may be
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
        >>> data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
        >>> model = RINN(effects="regression").fit(data.x, data.y)
        >>> model.predict(data.x).shape
        (200, 6)
        >>> model.transform(data.x).shape == (200, len(model.latents_))
        True
    """

    _strategy = "rinn"


class DNN(Predictor):
    """Learn the latent graph between two tables with feed-forward networks.

    The inputs enter the first hidden layer alone; how many layers there are is searched. All else,
    parameters and attributes included, is as in `RINN`.

    Examples:
        >>> from rinn import DNN, make_dataset
        >>> data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
        >>> DNN(trials=4, epochs=3, device="cpu").fit(data.x, data.y).predict(data.x).shape
        (200, 6)
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
        >>> data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
        >>> ESC(trials=4, epochs=3, device="cpu").fit(data.x, data.y).predict(data.x).shape
        (200, 6)
    """

    _strategy = "esc"


def _in_double() -> contextlib.AbstractContextManager[Any]:
    """Compute in float64: in float32 a sample's last digits depend on the other samples."""
    import jax.experimental

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    # Where older releases of JAX have it.
    return jax.experimental.enable_x64(True)  # type: ignore[attr-defined]


class DBN(Unpredictive, NetworkEstimator):
    """Learn latents behind the outputs with deep belief networks, without a look at the inputs.

    The networks are autoencoders of Y, so that `graph_` has latents and outputs, but no edge from
    an input, and there is nothing to predict from X. Parameters and attributes are as in `RINN`,
    but for `refit_` and `comparison_`.

    Examples:
        >>> from rinn import DBN, make_dataset
        >>> data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
        >>> DBN(trials=4, epochs=3, device="cpu").fit(data.x, data.y).latents_ is None
        False
    """

    _strategy = "dbn"

    _lacks: ClassVar[dict[str, str]] = {
        "predict": "learns from Y alone and cannot tell Y from X",
        "transform": "learns from Y alone and cannot tell the latents' activity from X",
    }


class DM(Unpredictive):
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


class Regression(Unpredictive):
    """Find a latent graph by a linear regression of each output, tests, and groups of inputs.

    The baseline for the other strategies. There is nothing to predict with.

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
