"""Multi-task lasso, grouped: modules of outputs, and the inputs of each module.

Outputs are grouped by what the inputs predict of them: average linkage on 1 - |correlation|, with
the number of modules that has the best silhouette (Rousseeuw 1987). Inputs of a module M are the
rows of B that are not 0 in

    min ||Y_M - X B||^2 / (2 n) + alpha sum_i ||B_i||_2

(Obozinski, Taskar and Jordan 2010), alpha by cross-validation with the one-standard-error rule.
"""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from rinn.config import RunSettings
from rinn.data.least_squares import regress
from rinn.data.records import Data
from rinn.strategies.base import Detected, Detection
from rinn.strategies.peers.drawing import finish_graph, start_graph
from rinn.strategies.regression import find_significant, find_z

FOLDS = 5
ALPHAS = 30


def detect_multitask_lasso(data: Data, settings: RunSettings) -> Detected:
    """Group the outputs, then choose the inputs of each group together."""
    z = find_z(data.x, data.y)
    x, y = (_scale(table) for table in (data.x, data.y))
    # Outputs that no input has an effect on belong to no module.
    active = np.flatnonzero(find_significant(z).any(axis=0))
    modules = [active[group] for group in group_outputs(x @ regress(x, y[:, active])[0])]
    graph, names = start_graph(data, len(modules))
    for name, module in zip(names, modules, strict=True):
        chosen = select_inputs(x, y[:, module])
        graph.add_edges_from((data.inputs[i], name) for i in chosen)
        graph.add_edges_from((name, data.outputs[o]) for o in module)
    return finish_graph(graph, data, z, modules=len(modules))


def _scale(table: Float[np.ndarray, "sample column"]) -> Float[np.ndarray, "sample column"]:
    centred = table - table.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), 1e-12))


def group_outputs(predicted: Float[np.ndarray, "sample output"]) -> list[np.ndarray]:
    """Group columns by correlation; the number of groups has the best silhouette."""
    from sklearn.metrics import silhouette_score

    outputs = predicted.shape[1]
    if outputs < 3:
        return [np.arange(outputs)] if outputs else []
    apart = 1 - np.abs(np.corrcoef(predicted.T))
    apart = np.clip((apart + apart.T) / 2, 0, None)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    cuts = [fcluster(tree, number, "maxclust") for number in range(2, outputs)]
    cuts = [labels for labels in cuts if 1 < len(np.unique(labels)) < outputs]
    if not cuts:
        return [np.arange(outputs)]
    labels = max(cuts, key=lambda cut: silhouette_score(apart, cut, metric="precomputed"))
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def select_inputs(
    x: Float[np.ndarray, "sample input"], y: Float[np.ndarray, "sample output"]
) -> list[int]:
    """The inputs with the largest penalty whose error is within one standard error of the least."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import MultiTaskLasso, MultiTaskLassoCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = MultiTaskLassoCV(alphas=ALPHAS, cv=FOLDS).fit(x, y)
        errors = search.mse_path_.mean(axis=1)  # [alpha], the largest first
        best = int(errors.argmin())
        spread = search.mse_path_[best].std(ddof=1) / np.sqrt(FOLDS)
        first = int(np.flatnonzero(errors <= errors[best] + spread)[0])
        lasso = MultiTaskLasso(alpha=search.alphas_[first]).fit(x, y)
    return np.flatnonzero(np.abs(lasso.coef_).max(axis=0) > 0).tolist()


MULTITASK_LASSO = Detection(
    title="multi-task lasso of modules of outputs",
    detect=detect_multitask_lasso,
    takes_mixed=True,
    summary="Outputs with similar predictions became modules, and a multi-task lasso chose the "
    "inputs of each module.",
    caveats=(
        "Each output is in one module, and latents do not act on latents.",
        "The lasso chooses inputs that predict: an input that is correlated with a cause may be "
        "chosen too.",
    ),
    setup="modules by silhouette; five folds, one standard error",
    assumes="linear effects; each output in one module; no latent acts on a latent",
    suits="prediction with few inputs, and modules rather than causes",
)
