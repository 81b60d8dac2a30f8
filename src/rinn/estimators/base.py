"""The search for a latent graph as a scikit-learn estimator.

What trains networks is imported by the first fit: JAX takes longer to load than all of this.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import networkx as nx
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, validate_data

from rinn.config import DEVICES, KEPT, RunSettings, check_choice, check_integer, count_cores
from rinn.data.align import MIN_OF_NUMBERS, find_names, match_rows, pair_tables
from rinn.data.covariates import match_covariates
from rinn.data.kinds import check_kinds
from rinn.data.records import Data
from rinn.data.tables import Table
from rinn.errors import InputError
from rinn.estimators.columns import check_columns, find_columns, make_tables
from rinn.estimators.results import EstimatorRecord, RunResults, list_parameters, pack_run
from rinn.graphs.basics import by_role
from rinn.graphs.files import load_graph
from rinn.runs.terminal import Terminal
from rinn.structure.prior.sources import PriorKnowledge, load_prior

if TYPE_CHECKING:
    from rinn.runs.read import RunContents


class GraphEstimator(RunResults, BaseEstimator):
    """Checks parameters and tables, and keeps what the run found."""

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
        null: int = 0,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        min_samples: int | None = None,
        verbose: bool = False,
        prior: PriorKnowledge | str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        client: Any = None,
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
        self.null = null
        self.device = device
        self.random_state = random_state
        self.min_samples = min_samples
        self.verbose = verbose
        self.prior = prior
        self.n_jobs = n_jobs
        self.client = client

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted; a connection to a cluster is shared, not copied."""
        parameters = {
            name: value if name == "client" else clone(value, safe=False)
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)

    def fit(
        self,
        X: Any,
        Y: Any,
        covariates: Any = None,
        kinds: Any = None,
        truth: nx.DiGraph | str | os.PathLike[str] | None = None,
    ) -> Self:
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
            truth: a known graph, or its file, to score the result with (`scores_`); not used to
                learn.

        Returns:
            The estimator itself.

        Raises:
            InputError: a parameter is wrong, or the tables cannot be learned from; a ValueError.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2)
            >>> model = model.fit(data.x, data.y, truth=data.truth)
            >>> sorted(model.scores_)
            ['graph', 'paper']
        """
        from rinn.cluster.connect import find_client, open_workers
        from rinn.fit import fit_folder
        from rinn.nets.devices import limit_cores
        from rinn.runs.stages import show_stages

        settings = self._check_parameters()
        cores = getattr(self, "n_jobs", None)
        device, client = getattr(self, "device", "cpu"), getattr(self, "client", None)
        if truth is not None and not isinstance(truth, nx.DiGraph):
            truth = load_graph(truth)
        x, y, data, is_single = self._check_tables(X, Y, covariates, kinds)
        names = [find_names(table, label) is not None for table, label in ((X, "X"), (Y, "Y"))]
        prior = getattr(self, "prior", None)
        prior = load_prior(prior) if isinstance(prior, str | os.PathLike) else prior
        console, quiet = Terminal(stderr=True), not getattr(self, "verbose", False)
        with (
            tempfile.TemporaryDirectory(prefix="rinn-") as folder,
            limit_cores(count_cores() if cores == -1 else cores),
            show_stages(console, quiet=quiet, profile=False),
            open_workers(client or find_client(), device) as workers,
            fit_folder(
                data,
                Path(folder) / "run",
                settings,
                {"x": "X", "y": "Y"} | ({} if covariates is None else {"covariates": "covariates"}),
                device=device,
                truth=truth,
                prior=prior,
                console=console,
                quiet=quiet,
                workers=workers,
            ) as run,
        ):
            columns = find_columns(x, y, data, run, names=names, is_single=is_single)
            parameters = list_parameters(self.get_params(deep=False))
            self._adopt(run, EstimatorRecord(columns, parameters))
        return self

    def _adopt(self, run: RunContents, record: EstimatorRecord) -> None:
        manifest = run.manifest
        self._columns, self._files = record.columns, pack_run(run, record)
        self.graph_ = run.full_graph
        self.latents_ = by_role(self.graph_, "latent")
        self.inputs_, self.outputs_ = (by_role(self.graph_, role) for role in ("input", "output"))
        self.trials_ = run.trials
        self.dropped_ = manifest.tables.dropped
        self.warnings_ = manifest.warnings or ()
        self.null_ = run.null
        self.scores_ = run.scores

    def _check_parameters(self) -> RunSettings:
        given = {
            # Numbers and truth values of NumPy, as a grid of parameters has them, become Python's.
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
        }
        if given["min_samples"] is not None:
            check_integer("min_samples", given["min_samples"], MIN_OF_NUMBERS)
        if "device" in given:
            check_choice("device", given["device"], DEVICES)
        if isinstance(given.get("random_state"), int):
            check_integer("random_state", given["random_state"], 0)
            given["seed"] = given["random_state"]
        elif "random_state" in given:
            given["seed"] = int(check_random_state(given["random_state"]).randint(2**31 - 1))
        names = {field.name for field in dataclasses.fields(RunSettings)} & given.keys()
        return RunSettings(strategy=self._strategy, **{name: given[name] for name in names})

    def _check_tables(
        self, X: Any, Y: Any, covariates: Any = None, kinds: Any = None
    ) -> tuple[Table, Table, Data, bool]:
        """Check X and Y by scikit-learn's rules, then by those of a run; is Y a single column?"""
        if Y is None:
            raise InputError(
                f"Y must be a table of outputs, as {type(self).__name__} requires y to be passed, "
                f"but the target y is None; call fit(X, Y)"
            )
        X, Y = match_rows(X, Y)
        if covariates is not None:
            covariates = match_covariates(X, covariates)
        names = find_names(X, "X"), find_names(Y, "Y")
        check_columns(X, "X")
        check_columns(Y, "Y")
        x = validate_data(
            self, X, dtype=np.float64, ensure_min_samples=self.min_samples or MIN_OF_NUMBERS
        )
        y = check_array(Y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan",
                        input_name="y", estimator=self)  # fmt: skip
        is_single = y.ndim == 1
        y = y[:, None] if is_single else y
        x_table, y_table = make_tables(x, y, names, X, Y)
        data = pair_tables(
            x_table,
            y_table,
            min_samples=self.min_samples,
            covariates=covariates,
            kinds=check_kinds(kinds, y_table.columns),
        )
        return x_table, y_table, data, is_single


class NetworkEstimator(GraphEstimator):
    """An estimator whose strategy trains networks."""

    def _adopt(self, run: RunContents, record: EstimatorRecord) -> None:
        super()._adopt(run, record)
        self.networks_ = run.find_nets("kept")
        self.test_scores_ = run.manifest.test
        self.influence_ = run.manifest.prior
