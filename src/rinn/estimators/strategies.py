"""The estimators, one for each strategy; `RINN` describes what they have in common."""

from __future__ import annotations

from typing import ClassVar

from rinn.estimators.base import NetworkEstimator
from rinn.estimators.predict import Predictor, Unpredictive


class RINN(Predictor):
    """Learn the latent graph between two tables with redundant-input neural networks.

    Where effects are faint, many networks are trained on X and Y, and one graph is read from those
    that predict best. Where a regression is enough (see `effects`), no network is trained.
    `predict` gives the mean prediction of the kept networks, or that of the graph's own network if
    none was trained; `transform` gives the activity of each latent.

    Parameters:
        budget: "default", or "paper" for the search of Young, Andrews, Cooper and Lu (2020).
        trials: number of networks to train; None means that of the budget.
        epochs: maximum number of epochs for each network; None means that of the budget.
        keep: number of networks that the graph is read from.
        select: which networks: "accurate" for those that predict best, "paper" for the ten that
            the paper's distance selects (`keep` is then ignored).
        loss: "bce" where all outputs are 0 or 1, "mse" where they are numbers, "poisson" where
            they are counts, "auto" for each by its kind (see `fit`).
        effects: what the graph is read from: "regression" of the outputs on the inputs, "network",
            "corrected" (networks and a regression of their residuals), or "auto": corrected where
            networks predict held-out samples better than a regression, which is used elsewhere.
            With "regression" no network is trained. With "auto" none is trained where clear
            effects are 8 standard errors or more in the median, with fewer than 100 samples, more
            than 100 inputs, fewer than two samples for each, or `trials` below 8. DNN and ESC
            always train, because they exist for comparison.
        direct: whether inputs may act on outputs directly, without a latent between them.
        effects_only: whether graphs are scored by the effects of the inputs alone, not by what
            outputs have in common beyond them.
        output_edges: whether outputs may act on outputs: an output that replaces a latent
            is drawn as the cause of the others.
        bootstraps: number of bootstrap resamples of the rows, which measure how often each latent
            and edge is found; 0 for none.
        null: number of searches with the rows of Y permuted, plus one with decoys, to estimate how
            much is chance (`null_`, and `q` of the edges).
        device: "auto" (a GPU where there is one), "cpu" or "gpu".
        random_state: an int is the seed of every random choice, the same as `rinn fit --seed`;
            None or a RandomState draws one.
        min_samples: minimum number of samples that `fit` accepts; None means 10 where all outputs
            are numbers without gaps, and 50 elsewhere. With fewer than 50, only RINN and Regression
            read numbers.
        verbose: show the progress of the training on stderr.
        prior: prior knowledge about inputs and outputs: a file as for `rinn fit --prior`, or the
            result of `rinn.load_prior`; None for none.
        n_jobs: cores of this machine to use; None and -1 mean all.
        client: a `distributed.Client` whose workers train and resample, or the name of a cluster as
            `rinn fit --cluster` takes it; None finds the client of a surrounding `with Client()`.

    Attributes:
        graph_: networkx.DiGraph; nodes with `role` (input, latent, output), edges with `weight`,
            `frequency` and what the graph's network loses without them: graph.json of the run.
        latents_: names of the latents from causes to effects: the columns of `transform`.
        inputs_: names of the inputs in the graph; constant columns of X, and copies of others, are
            not among them.
        outputs_: names of the outputs in the graph; constant columns of Y are not among them.
        model_: the graph as a network of its own, for `rinn.predict_do` and `rinn.find_activity`.
        fit_test_: test of whether the graph explains the effects: `chi2`, `df`, `p` and a sentence.
        influence_: what the prior did to the graph: a sentence and counts; None without
            one.
        null_: what the searches of `null` found; None without them.
        scores_: how the graph compares with the `truth` of `fit`; None without one.
        comparison_: how well that network predicts compared with the free ones, or with a
            regression where there are none.
        networks_: the kept networks, the best first; empty where none was trained.
        trials_: DataFrame with one row for each trained network.
        test_scores_: mean and spread of the error, and of the AUROC for binary outputs, of the kept
            networks, or without any of the graph's own, on samples that no network has seen.
        warnings_: what to be careful with, such as few samples or networks, or a latent that may be
            an output, a sentence each.
        dropped_: the columns that were left out (constant, copied, too few values), and samples
            without any output.
        covariates_: how each covariate that `fit` was given became numbers.
        n_features_in_: number of columns of X.
        feature_names_in_: names of the columns of X, where X is a DataFrame.

    Notes:
        Rows of X and Y belong together in their order. Only where both are pandas objects whose
        indexes differ, and neither index is the default 0, 1, 2 and so on, the indexes are used
        as sample ids, rows are matched by them, and a warning counts the rows without a partner.

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

    Only the first hidden layer reads the inputs; the number of layers is searched. Everything else,
    including parameters and attributes, is as in `RINN`.

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
    the fittest network of each of which takes part in the selection. Everything else, including
    parameters and attributes, is as in `RINN`.

    Examples:
        >>> from rinn import ESC, make_dataset
        >>> data = make_dataset("random", samples=200, inputs=5, outputs=6, latents=2)
        >>> ESC(trials=4, epochs=3, device="cpu").fit(data.x, data.y).predict(data.x).shape
        (200, 6)
    """

    _strategy = "esc"


class DBN(Unpredictive, NetworkEstimator):
    """Learn latents behind the outputs with deep belief networks, without using the inputs.

    The networks are autoencoders of Y, so that `graph_` has latents and outputs, but no edge from
    an input, and there is nothing to predict from X. Parameters and attributes are as in `RINN`,
    but for `model_` and `comparison_`.

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

    It uses tests of independence instead of networks, and cannot predict.

    Parameters:
        alpha_pc: level of the test between an input and an output; None tries 0.05, 0.01, 0.001
            and 0.0001.
        alpha_sober: level of the test of an edge between latents; None tries 0.1, 0.05 and 0.01.
        min_samples: minimum number of samples that `fit` accepts; None means 10 where all outputs
            are numbers without gaps, and 50 elsewhere. With fewer than 50, only RINN and Regression
            read numbers.

    Attributes:
        graph_: networkx.DiGraph; latents that DM finds on a cycle are one. Where several alphas
            were tried, the graph with the lowest BIC.
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
        min_samples: int | None = None,
    ) -> None:
        self.alpha_pc = alpha_pc
        self.alpha_sober = alpha_sober
        self.min_samples = min_samples


class Regression(Unpredictive):
    """Find a latent graph by a linear regression of each output, tests, and groups of inputs.

    The baseline for the other strategies. It cannot predict.

    Parameters:
        min_samples: minimum number of samples that `fit` accepts; None means 10 where all outputs
            are numbers without gaps, and 50 elsewhere. With fewer than 50, only RINN and Regression
            read numbers.

    Attributes:
        graph_: networkx.DiGraph; an effect on a single output is an edge from the input to it.
        trials_: a table of one row.
        latents_, inputs_, outputs_, dropped_: as in `RINN`.

    Examples:
        >>> from rinn import Regression, make_dataset
        >>> data = make_dataset("gaussian")
        >>> len(Regression().fit(data.x, data.y).latents_)
        8
    """

    _strategy = "regression"

    def __init__(self, *, min_samples: int | None = None) -> None:
        self.min_samples = min_samples
