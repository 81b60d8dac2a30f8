"""The whole way: tables, search, selection, graph, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import jax
import networkx as nx
import numpy as np
import pandas as pd

from rinn.config import MIN_NETWORKS, NEAREST, RunSettings, Trial
from rinn.data.likelihoods import MIXED
from rinn.data.problem import Problem, make_problem
from rinn.data.records import Data
from rinn.errors import InputError, TrainingError, quote_some
from rinn.graphs.basics import by_role
from rinn.graphs.compare import GraphScores, score_graph
from rinn.graphs.protocol import PaperScores, score_protocol, truth_patterns
from rinn.nets.groups import TrainedNet
from rinn.nets.maps import NetMaps
from rinn.nets.predict import (
    TestScores,
    find_test_losses,
    map_trained,
    score_predictions,
    score_test,
    view_net,
)
from rinn.nets.search import Saver, run_search
from rinn.nets.selection import Selection, average_splits, select_accurate, select_nearest
from rinn.refit.plain import compare_regression
from rinn.refit.refit import Comparison, Refit, compare_losses, predict_test, refit_graph
from rinn.strategies import find_strategy, list_strategies, plan_trials
from rinn.strategies.base import Detected, Detection, Networks, Strategy
from rinn.structure.consensus import learn_graph
from rinn.structure.effects import REGRESSION, Effects, estimate_effects, find_skip_reason
from rinn.structure.heldout import make_support_test
from rinn.structure.output_causes import find_output_causes
from rinn.structure.output_edges import draw_output_edges
from rinn.structure.prior.influence import Influence, learn_with_prior
from rinn.structure.prior.resolve import resolve
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.records import GraphSettings, LatentGraph
from rinn.structure.vote import vote_graph


@dataclass(frozen=True)
class Fit:
    """Everything a run found; `problem` is what its networks have seen.

    `chosen` are the places in `nets` of those that the graph was read from, `nearest` is the
    paper's choice. A strategy without networks has none of these, but graphs of its own
    (`detected`); one whose networks know nothing of the inputs has no `refit`. Where no network was
    needed, `skip_reason` says why, and `test` is that of the graph's own network.
    `influence` is what prior knowledge did, where there was some. `networks` are those that did not
    diverge, where the effects are theirs. `output_causes` are sentences about latents that may be
    outputs.
    """

    data: Data
    problem: Problem
    latent: LatentGraph
    trials: pd.DataFrame
    nets: tuple[TrainedNet, ...] = ()
    chosen: tuple[int, ...] = ()
    nearest: Selection | None = None
    test: TestScores | None = None
    test_of_ten: TestScores | None = None
    effects: Effects | None = None
    refit: Refit | None = None
    comparison: Comparison | None = None
    detected: Detected | None = None
    influence: Influence | None = None
    networks: int | None = None
    skip_reason: str | None = None
    output_causes: tuple[str, ...] = ()

    @property
    def kept(self) -> list[TrainedNet]:
        """The networks that the graph was read from, the best first."""
        return [self.nets[i] for i in self.chosen]

    @property
    def ten(self) -> list[TrainedNet]:
        """The networks of the paper's protocol, the nearest to the origin first."""
        return [self.nets[i] for i in self.nearest.chosen] if self.nearest else []


def fit_data(
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    *,
    prior: PriorKnowledge | None = None,
    refit: bool = True,
    saver: Saver | None = None,
    report: Callable[[Sequence[TrainedNet], float], None] | None = None,
) -> Fit:
    """Search, select, and read one latent graph out of what was selected.

    Args:
        data: the two tables.
        settings: of the run.
        devices: where to train.
        prior: what is known of the inputs and outputs; it acts on the graph, not on networks.
        refit: whether to fit the graph as a network of its own.
        saver: see `run_search`.
        report: see `run_search`.

    Returns:
        What was found.

    Raises:
        InputError: the strategy cannot take the outputs, or use what is known.
        TrainingError: every network diverged.
    """
    strategy = find_strategy(settings)
    check_prior(prior, settings)
    problem, trials = plan_run(data, settings)
    if isinstance(strategy, Detection):
        return _detect(data, problem, strategy, settings)
    nets: Sequence[TrainedNet] = ()
    if trials:
        nets = run_search(
            problem,
            trials,
            devices,
            engine=strategy.engine,
            seed=settings.seed,
            saver=saver,
            report=report,
        )
    return conclude(data, problem, nets, settings, prior=prior, refit=refit)


def check_prior(prior: PriorKnowledge | None, settings: RunSettings) -> None:
    """Raise InputError where there is prior knowledge and the strategy cannot use it."""
    if prior and not find_strategy(settings).takes_prior:
        raise InputError(
            f"strategy must be {list_strategies('takes_prior')} for prior knowledge to act on, got "
            f"{settings.strategy!r}, which does not weigh what inputs do to outputs; leave the "
            f"prior out"
        )
    if prior and settings.output_edges:
        raise InputError(
            "output_edges must be off where there is prior knowledge, which says nothing of edges "
            "between outputs, but both were given; leave one of them out"
        )


def plan_run(data: Data, settings: RunSettings) -> tuple[Problem, list[Trial]]:
    """What a run will train, and on what; no trials where no network is needed."""
    strategy = find_strategy(settings)
    if data.covariates is not None and not strategy.takes_covariates:
        raise InputError(
            f"covariates must come with the strategy {list_strategies('takes_covariates')}, whose "
            f"networks can take them into account, but the strategy is {settings.strategy!r}; "
            f"leave them out, or choose rinn"
        )
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    _check_outputs(problem, strategy, settings)
    trials = plan_trials(settings, problem)
    if find_skip_reason(problem, settings):
        trials = []
    return strategy.select_inputs(problem) if isinstance(strategy, Networks) else problem, trials


def _check_outputs(problem: Problem, strategy: Strategy, settings: RunSettings) -> None:
    """Raise InputError where the outputs are none that the strategy can take."""
    if problem.observed is not None and not strategy.takes_missing:
        raise InputError(
            f"Y must have no missing values for the strategy {settings.strategy!r}, but lacks "
            f"{int((~problem.observed).sum())} of {problem.observed.size}; choose "
            f"{list_strategies('takes_missing')}, or fill them in"
        )
    if problem.loss == MIXED and not strategy.takes_mixed:
        raise InputError(
            f"Y must be all 0/1 or all numbers for the strategy {settings.strategy!r}, but is "
            f"mixed or counted; choose rinn or dnn, or pass --loss mse"
        )


def _detect(data: Data, problem: Problem, strategy: Detection, settings: RunSettings) -> Fit:
    detected = strategy.detect(data, settings)
    graph = detected.graphs[detected.chosen]
    latent = LatentGraph(graph, graph)
    return Fit(data, problem, latent, detected.trials, detected=detected)


def conclude(
    data: Data,
    problem: Problem,
    nets: Sequence[TrainedNet],
    settings: RunSettings,
    *,
    prior: PriorKnowledge | None = None,
    refit: bool = True,
) -> Fit:
    """From trained networks to the graph; without any, from a regression."""
    empty = LatentGraph(nx.DiGraph(), nx.DiGraph())
    found = Fit(data, problem, empty, tabulate_trials(()))
    if nets:
        found = _select(found, nets, settings)
    else:
        found = replace(found, skip_reason=find_skip_reason(problem, settings))
    if found.kept and not len(map_trained(found.kept[0]).inputs):
        views = [view_net(net, problem) for net in found.kept]
        return replace(found, latent=vote_graph(views, data.inputs, data.outputs))
    found = _read_graph(found, settings, prior)
    return _compare_graph(found, settings) if refit else found


def _select(found: Fit, nets: Sequence[TrainedNet], settings: RunSettings) -> Fit:
    """Keep the networks that the graph is read from, and those of the paper's protocol."""
    loss = np.array([net.validation_loss for net in nets])
    setting = np.array([net.trial.setting for net in nets])
    size = np.array([net.l1_norm for net in nets])
    mean = average_splits(loss, setting)
    nearest = select_nearest(mean, size, NEAREST)
    accurate = settings.select == "accurate"
    chosen = select_accurate(mean, settings.keep) if accurate else nearest.chosen
    kept = [nets[i] for i in chosen]
    if not kept:
        raise TrainingError(
            f"none of the {len(nets)} networks can be kept: no setting was trained on both splits "
            f"without diverging; look for columns with extreme values, or train more networks"
        )
    return replace(
        found,
        trials=tabulate_trials(nets, nearest, chosen),
        nets=tuple(nets),
        chosen=chosen,
        nearest=nearest,
        test=score_test(kept, found.problem),
        test_of_ten=score_test([nets[i] for i in nearest.chosen], found.problem),
    )


def _read_graph(found: Fit, settings: RunSettings, prior: PriorKnowledge | None) -> Fit:
    """Estimate the effects and learn the graph that explains them."""
    data, problem, kept = found.data, found.problem, found.kept
    usable = sum(bool(np.isfinite(net.validation_loss)) for net in found.nets)
    # Few networks say nothing that a regression does not: they are read only where asked for.
    is_few = settings.effects == "auto" and usable < MIN_NETWORKS
    effects = estimate_effects(problem, () if is_few else kept, settings.effects)
    by_regression = effects.source == REGRESSION
    test = make_support_test(problem, () if by_regression else kept, effects.sample)
    effects = replace(effects, test=test)
    names, seed, influence = (data.inputs, data.outputs), settings.seed, None
    how = GraphSettings(
        settings.bootstraps, settings.direct, settings.effects_only, settings.output_edges
    )
    if prior:
        odds = resolve(prior, data).prior
        latent, influence = learn_with_prior(effects, *names, odds, seed=seed, settings=how)
    else:
        latent = learn_graph(effects, *names, seed=seed, settings=how)
    if settings.output_edges:
        latent = draw_output_edges(latent, effects.sample, *names, seed=seed, settings=how)
    networks = None if by_regression else usable
    if networks is not None and networks < MIN_NETWORKS:
        latent, influence = _withhold(latent), None
    found = replace(found, latent=latent, effects=effects, influence=influence, networks=networks)
    return replace(found, output_causes=find_output_causes(latent.graph, effects, *names))


def _compare_graph(found: Fit, settings: RunSettings) -> Fit:
    """Fit the graph as a network of its own, and set it beside others or a regression."""
    data, problem, latent = found.data, found.problem, found.latent
    own = refit_graph(latent.graph, problem, data.inputs, data.outputs, seed=settings.seed)
    _add_refit(latent.graph, own)
    _add_refit(latent.candidates, own)
    if not found.kept:
        test = score_predictions(predict_test(own, problem), problem)
        return replace(found, refit=own, comparison=compare_regression(own, problem), test=test)
    losses = find_test_losses(_best_of_each_split(found.kept), problem)
    return replace(found, refit=own, comparison=compare_losses(own, losses))


def _withhold(latent: LatentGraph) -> LatentGraph:
    """Report no edge; what was found stays a candidate."""
    graph: nx.DiGraph = nx.DiGraph()
    nodes = latent.graph.nodes(data="role")
    graph.add_nodes_from((name, {"role": role}) for name, role in nodes if role != "latent")
    return replace(latent, graph=graph, fit=None)


def _best_of_each_split(nets: Sequence[TrainedNet]) -> list[TrainedNet]:
    """The network of each split that validates best there."""
    splits = sorted({net.trial.split for net in nets})
    return [
        min((net for net in nets if net.trial.split == split), key=lambda n: n.validation_loss)
        for split in splits
    ]


def _add_refit(graph: nx.DiGraph, refit: Refit) -> None:
    """Give edges and latents the parameters of the graph's own network, and what they are worth."""
    for edge in refit.edges:
        if graph.has_edge(edge.source, edge.target):
            graph.edges[edge.source, edge.target].update(
                weight=edge.effect,
                weight_spread=edge.effect_spread,
                loss_without=edge.loss_without,
                loss_error=edge.error,
            )
    for latent in refit.latents:
        graph.nodes[latent.latent].update(
            effects=dict(latent.effects),
            loss_without=latent.loss_without,
            loss_error=latent.error,
        )


def score_found(
    maps: Sequence[NetMaps],
    graph: nx.DiGraph,
    truth: nx.DiGraph,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> tuple[PaperScores, GraphScores]:
    """Compare the kept networks and the graph with a known truth."""
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


def tabulate_trials(
    nets: Sequence[TrainedNet], nearest: Selection | None = None, chosen: Sequence[int] = ()
) -> pd.DataFrame:
    """One row for each trained network: settings, losses, sparsity, distance, status."""
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
            "sum_abs_weights": net.l1_norm,
            "distance": nearest.distance[place] if nearest else np.nan,
            "nearest": place in nearest.chosen if nearest else False,
            "kept": place in chosen,
        }
        rows.append(row)
    if not rows:
        return pd.DataFrame(columns=["trial", "setting", "split", "kept"])
    table = pd.DataFrame(rows).replace([np.inf, -np.inf], np.nan)
    return table.sort_values("trial", ignore_index=True)


def tabulate_effects(data: Data, effects: Effects) -> pd.DataFrame:
    """One row for each input: its name, and its effect on each output, rounded."""
    values = pd.DataFrame(effects.z.round(4) + 0.0, columns=list(data.outputs))  # no -0.0
    values.insert(0, "", list(data.inputs))
    return values


def tabulate_activity(data: Data, refit: Refit) -> pd.DataFrame:
    """One row for each sample: its id, and the activity of each latent, rounded."""
    names = data.samples or tuple(str(row) for row in range(1, len(data.x) + 1))
    columns = [latent.latent for latent in refit.latents]
    values = pd.DataFrame(refit.latent_values.round(4) + 0.0, columns=columns)  # no -0.0
    values.insert(0, "sample", list(names), allow_duplicates=True)
    return values
