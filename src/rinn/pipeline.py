"""The whole way: tables, search, selection, graph, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import networkx as nx
import numpy as np
import pandas as pd

from rinn.cells import quote_some
from rinn.cohorts import TrainedNet
from rinn.config import RunSettings, Trial
from rinn.errors import InputError, TrainingError
from rinn.evaluation import TestScores, score_test, view_net
from rinn.graph import LatentGraph, NetView, build_graph
from rinn.graphs import by_role
from rinn.maps import NetMaps
from rinn.matching import GraphScores, score_graph
from rinn.problem import Problem, make_problem
from rinn.records import Data
from rinn.scoring import PaperScores, score_protocol, truth_patterns
from rinn.search import Saver, run_search
from rinn.selection import Selection, average_splits, select_nearest
from rinn.strategies import Detected, Detection, Networks, find_strategy, plan_trials


@dataclass(frozen=True)
class Fit:
    """Everything a run found; `problem` is what its networks have seen.

    A strategy without networks has no `selection`, no `views` and no `test`, but graphs of its
    own (`detected`).
    """

    data: Data
    problem: Problem
    latent: LatentGraph
    trials: pd.DataFrame
    nets: tuple[TrainedNet, ...] = ()
    selection: Selection | None = None
    views: tuple[NetView, ...] = ()
    test: TestScores | None = None
    detected: Detected | None = None

    @property
    def kept(self) -> list[TrainedNet]:
        """The selected networks, the nearest to the origin first."""
        return [self.nets[i] for i in self.selection.chosen] if self.selection else []


def fit_data(
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    *,
    saver: Saver | None = None,
    report: Callable[[Sequence[TrainedNet], float], None] | None = None,
) -> Fit:
    """Search, select, and read one latent graph out of what was selected.

    Args:
        data: the two tables.
        settings: of the run.
        devices: where to train.
        saver: see `run_search`.
        report: see `run_search`.

    Returns:
        What was found.

    Raises:
        InputError: the outputs are mixed.
        TrainingError: every network diverged.
    """
    strategy = find_strategy(settings)
    problem, trials = plan_run(data, settings)
    if isinstance(strategy, Detection):
        return _detect(data, problem, strategy, settings)
    nets = run_search(
        problem,
        trials,
        devices,
        engine=strategy.engine,
        seed=settings.seed,
        saver=saver,
        report=report,
    )
    return conclude(data, problem, nets, settings.keep)


def plan_run(data: Data, settings: RunSettings) -> tuple[Problem, list[Trial]]:
    """What a run will train, and on what; no trials for a strategy without networks."""
    strategy = find_strategy(settings)
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    trials = plan_trials(settings, problem)
    return strategy.sees(problem) if isinstance(strategy, Networks) else problem, trials


def _detect(data: Data, problem: Problem, strategy: Detection, settings: RunSettings) -> Fit:
    detected = strategy.detect(data, settings)
    latent = LatentGraph(detected.graphs[detected.chosen], {})
    return Fit(data, problem, latent, detected.trials, detected=detected)


def conclude(data: Data, problem: Problem, nets: Sequence[TrainedNet], keep: int) -> Fit:
    """From trained networks to the graph.

    Raises:
        TrainingError: every network diverged.
    """
    loss = np.array([net.validation_loss for net in nets])
    setting = np.array([net.trial.setting for net in nets])
    size = np.array([net.size for net in nets])
    selection = select_nearest(average_splits(loss, setting), size, keep)
    kept = [nets[i] for i in selection.chosen]
    if not kept:
        raise TrainingError(
            f"none of the {len(nets)} networks can be kept: no setting was trained on both splits "
            f"without diverging; look for columns with extreme values, or train more networks"
        )
    views = tuple(view_net(net, problem) for net in kept)
    x_spread = problem.x[:, problem.seen].std(axis=1)
    latent = build_graph(views, x_spread, data.inputs, data.outputs)
    test = score_test(kept, problem)
    trials = tabulate_trials(nets, selection)
    return Fit(data, problem, latent, trials, tuple(nets), selection, views, test)


def score_found(
    maps: Sequence[NetMaps],
    graph: nx.DiGraph,
    truth: nx.DiGraph,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> tuple[PaperScores, GraphScores]:
    """Compare the kept networks and the graph with a known truth.

    Args:
        maps: of the kept networks.
        graph: found without the truth.
        truth: the graph that made the data.
        inputs: names, in the order of the maps.
        outputs: names, in the order of the maps.

    Returns:
        The paper's scores, whose threshold is chosen with sight of the truth, and the graph's,
        which are not.
    """
    check_truth(truth, inputs, outputs)
    patterns = truth_patterns(truth, outputs, inputs)
    known = all(len(m.inputs) for m in maps)
    inputs_of = [m.inputs for m in maps] if known else None
    return score_protocol([m.nodes for m in maps], inputs_of, patterns), score_graph(graph, truth)


def check_truth(truth: nx.DiGraph, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Raise InputError unless the truth speaks of these tables' columns."""
    for role, names in (("input", inputs), ("output", outputs)):
        known = by_role(truth, role)
        if not set(known) & set(names):
            raise InputError(
                f"the truth must name the {role}s of the tables, but none of its {role}s "
                f"({quote_some(known)}) is a column ({quote_some(names)}); give the truth that "
                f"belongs to these tables"
            )


def tabulate_trials(nets: Sequence[TrainedNet], selection: Selection | None = None) -> pd.DataFrame:
    """One row for each trained network: settings, losses, sparsity, distance, status.

    Args:
        nets: trained networks.
        selection: of these networks, once there is one.

    Returns:
        The table of trials.csv, in the order of the trial numbers.
    """
    rows = []
    for place, net in enumerate(nets):
        row = {"trial": net.trial.number, "setting": net.trial.setting, "split": net.trial.split}
        settings = dict(net.trial.net.__dict__)
        settings["max_epochs"] = settings.pop("epochs")
        if "sizes" in settings:
            settings["sizes"] = "-".join(str(size) for size in settings["sizes"])
        row |= settings | {
            "status": net.status,
            "epochs": net.epochs,
            "train_loss": net.train_loss,
            "validation_loss": net.validation_loss,
            "validation_error": net.validation_error,
            "sum_abs_weights": net.size,
            "distance": selection.distance[place] if selection else np.nan,
            "kept": place in selection.chosen if selection else False,
        }
        rows.append(row)
    table = pd.DataFrame(rows).replace([np.inf, -np.inf], np.nan)
    return table.sort_values("trial", ignore_index=True) if rows else table
