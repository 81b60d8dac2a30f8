"""What the estimators of every strategy share: parameters, tables, and the graph."""

from __future__ import annotations

import numbers
import os
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from rinn.config import KEPT, RunSettings, check_device, check_number
from rinn.data.align import MIN_SAMPLES, pair_tables
from rinn.data.covariates import match_covariates
from rinn.data.frames import find_names, match_rows
from rinn.data.kinds import check_kinds
from rinn.data.records import Data
from rinn.data.scaling import find_scale
from rinn.data.tables import Table
from rinn.data.warnings import find_cautions
from rinn.errors import InputError
from rinn.graphs.basics import by_role
from rinn.nets.devices import find_devices
from rinn.pipeline import Fit, check_knowledge, fit_data, plan_run
from rinn.runs.progress import TrainingProgress
from rinn.runs.terminal import Terminal
from rinn.structure.knowledge.resolve import resolve
from rinn.structure.knowledge.sources import Knowledge, load_knowledge

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
        prior: Knowledge | str | os.PathLike[str] | None = None,
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
        self._check_prior(data, settings)
        fit = self._search(data, settings)
        self.graph_ = fit.latent.graph
        self.latents_ = by_role(fit.latent.graph, "latent")
        self.inputs_, self.outputs_ = list(data.inputs), list(data.outputs)
        self.trials_ = fit.trials
        self.dropped_ = data.dropped
        self.cautions_ = find_cautions(data, fit.networks) + fit.output_causes
        self._keep(fit)
        return self

    def _search(self, data: Data, settings: RunSettings) -> Fit:
        total = len(plan_run(data, settings)[1])
        devices = find_devices(self.device)
        quiet = not (self.verbose and total)
        with TrainingProgress(total, Terminal(stderr=True), quiet=quiet) as progress:
            return fit_data(data, settings, devices, knowledge=self._read_prior(), report=progress)

    def _check_prior(self, data: Data, settings: RunSettings) -> None:
        """Refuse wrong prior knowledge before anything is trained."""
        if knowledge := self._read_prior():
            check_knowledge(knowledge, settings)
            resolve(knowledge, data)

    def _read_prior(self) -> Knowledge | None:
        prior = getattr(self, "prior", None)
        return load_knowledge(prior) if isinstance(prior, str | os.PathLike) else prior

    def _keep(self, fit: Fit) -> None:
        """Keep what only some strategies give."""

    def _check_parameters(self) -> RunSettings:
        check_device(self.device)
        check_number("min_samples", as_plain(self.min_samples), FEWEST_SAMPLES)
        if isinstance(self.random_state, numbers.Integral):
            seed = as_plain(self.random_state)
            check_number("random_state", seed, 0)
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return RunSettings(
            budget=self.budget,
            trials=as_plain(self.trials),
            epochs=as_plain(self.epochs),
            keep=as_plain(self.keep),
            select=self.select,
            loss=self.loss,
            effects=self.effects,
            direct=_as_flag(self.direct),
            effects_only=_as_flag(self.effects_only),
            output_edges=_as_flag(self.output_edges),
            bootstraps=as_plain(self.bootstraps),
            seed=seed,
            strategy=self._strategy,
        )

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
        y = check_array(
            Y,
            dtype=np.float64,
            ensure_2d=False,
            ensure_all_finite="allow-nan",
            input_name="y",
            estimator=self,
        )
        self._is_single = y.ndim == 1
        y = y[:, None] if self._is_single else y
        x_table = Table(x, inputs or tuple(f"x{number}" for number in range(x.shape[1])))
        y_table = Table(y, outputs or tuple(f"y{number}" for number in range(y.shape[1])))
        told = check_kinds(kinds, y_table.columns)
        data = pair_tables(
            x_table, y_table, least=self.min_samples, covariates=covariates, kinds=told
        )
        self._y_coding = data.coding
        self._x_varies = _find_kept(x_table, data, "X")
        self._y_varies = _find_kept(y_table, data, "Y")
        seen = ~np.isnan(y).all(axis=0)
        self._y_mean = np.where(seen, find_scale(y, binary=False).centre, np.nan)
        return data


class NetworkEstimator(GraphEstimator):
    """An estimator whose strategy trains networks."""

    def _keep(self, fit: Fit) -> None:
        self.networks_ = fit.kept
        self.test_scores_ = fit.test
        self._likelihood = fit.problem.likelihood
        self.influence_ = fit.influence
        self._x_scale = fit.problem.x_scale
        self.covariates_ = fit.data.covariates.codings if fit.data.covariates else ()
        self._covariate_models = fit.problem.adjustment.models if fit.problem.adjustment else ()


def as_plain(value: Any) -> Any:
    """Turn NumPy's whole numbers, as a grid of parameters has them, into Python's."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return int(value) if is_whole else value


def _as_flag(value: Any) -> Any:
    """Turn NumPy's truth values, as a grid of parameters has them, into Python's."""
    return bool(value) if isinstance(value, np.bool_) else value


def _find_kept(table: Table, data: Data, label: str) -> np.ndarray:
    dropped = {column.name for column in data.dropped if column.table == label}
    return np.array([name not in dropped for name in table.columns])
