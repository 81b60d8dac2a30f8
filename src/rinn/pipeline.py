"""From two tables to a graph, in memory: plan, search, selection, graph, refit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import jax
import networkx as nx
import numpy as np
import pandas as pd

from rinn.cluster.tasks import Workers
from rinn.config import MIN_NETWORKS, NEAREST, RunSettings, Trial
from rinn.data.likelihoods import MIXED
from rinn.data.problem import MIN_PERMUTED, Problem, is_large, make_problem
from rinn.data.records import Data
from rinn.data.stages import stage
from rinn.errors import InputError, TrainingError
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import (
    TestScores,
    find_test_losses,
    map_trained,
    score_predictions,
    score_test,
    view_net,
)
from rinn.nets.search import Report, Saver, run_search
from rinn.nets.selection import Selection, average_splits, select_accurate, select_nearest
from rinn.refit.compare import Comparison, compare_networks, compare_regression
from rinn.refit.refit import Refit, predict_test, refit_graph
from rinn.strategies import find_strategy, list_strategies, plan_trials
from rinn.strategies.base import Detected, Detection, Networks, Strategy
from rinn.structure.consensus import learn_graph
from rinn.structure.constants import MANY_OUTPUTS
from rinn.structure.effects import REGRESSION, Effects, estimate_effects, find_skip_reason
from rinn.structure.output_causes import find_output_causes
from rinn.structure.output_edges import add_output_edges
from rinn.structure.prior.influence import Influence, learn_with_prior
from rinn.structure.prior.resolve import Resolved, resolve
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.records import GraphSettings, LatentGraph
from rinn.structure.screen import add_left_out, screen
from rinn.structure.support import make_support_test
from rinn.structure.vote import vote_graph


@dataclass(frozen=True)
class Plan:
    """What a run will do; without `trials`, `skip_reason` says why no network is needed."""

    data: Data
    settings: RunSettings
    problem: Problem
    trials: tuple[Trial, ...]
    prior: Resolved | None = None
    skip_reason: str | None = None


@dataclass(frozen=True)
class Fit:
    """The results of a run; `problem` is what its networks have seen.

    `chosen` are the indices in `nets` of those that the graph was read from, `nearest` is the
    paper's choice. A strategy without networks has none of these, but graphs of its own
    (`detected`); one whose networks know nothing of the inputs has no `refit`. Where no network was
    needed, `skip_reason` says why, and `test` is that of the graph's own network. `influence` is
    what prior knowledge did, where there was some. `networks` are those that did not diverge, where
    the effects are theirs. `output_causes` are sentences about latents that may be outputs.
    """

    data: Data
    problem: Problem
    latent: LatentGraph
    trials: pd.DataFrame
    nets: tuple[TrainedNet, ...] = ()
    chosen: tuple[int, ...] = ()
    nearest: Selection | None = None
    test: TestScores | None = None
    paper_test: TestScores | None = None
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
    def paper_nets(self) -> list[TrainedNet]:
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
    report: Report | None = None,
    workers: Workers | None = None,
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
        workers: of a cluster, which train and resample.

    Returns:
        The results.

    Raises:
        InputError: the strategy cannot take the outputs, or use what is known.
        TrainingError: every network diverged.
    """
    plan = plan_run(data, settings, prior)
    return run_plan(plan, devices, refit=refit, saver=saver, report=report, workers=workers)


def plan_run(data: Data, settings: RunSettings, prior: PriorKnowledge | None = None) -> Plan:
    """Decide what to train on what; InputError where the strategy cannot take what is given."""
    strategy = find_strategy(settings)
    if prior and not strategy.takes_prior:
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
    if data.covariates is not None and not strategy.takes_covariates:
        raise InputError(
            f"covariates must come with the strategy {list_strategies('takes_covariates')}, whose "
            f"networks can take them into account, but the strategy is {settings.strategy!r}; "
            f"leave them out, or choose rinn"
        )
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    _check_samples(problem, strategy, settings)
    skip_reason = find_skip_reason(problem, settings) if is_large(problem) else None
    if _is_screened(problem, strategy, skip_reason):
        with stage("screening"):
            stated = prior.statements if prior else ()
            named = {name for one in stated for name in (one.first, one.second)}
            data = screen(data, problem, named)
        problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    trials = plan_trials(settings, problem)
    resolved = resolve(prior, data) if prior else None
    if not isinstance(strategy, Networks):
        return Plan(data, settings, problem, tuple(trials), resolved)
    skip_reason = skip_reason or find_skip_reason(problem, settings)
    planned = () if skip_reason else tuple(trials)
    return Plan(data, settings, strategy.select_inputs(problem), planned, resolved, skip_reason)


def _is_screened(problem: Problem, strategy: Strategy, skip_reason: str | None) -> bool:
    """Whether there are many inputs, which no network is to read, or many outputs."""
    if not isinstance(strategy, Networks) or not strategy.is_optional:
        return False
    return skip_reason is not None if is_large(problem) else len(problem.y) > MANY_OUTPUTS


def _check_samples(problem: Problem, strategy: Strategy, settings: RunSettings) -> None:
    """Raise InputError where the samples are none that the strategy can take."""
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
    if not problem.is_small:
        return
    samples = problem.x.shape[1]
    if not strategy.takes_few:
        raise InputError(
            f"strategy must be {list_strategies('takes_few')} with fewer than {MIN_PERMUTED} "
            f"samples, but is {settings.strategy!r} with {samples}; choose one of these"
        )
    if settings.effects not in ("auto", REGRESSION):
        raise InputError(
            f"effects must be auto or regression with fewer than {MIN_PERMUTED} samples, which are "
            f"too few to train networks, but is {settings.effects} with {samples}; choose auto"
        )


def run_plan(
    plan: Plan,
    devices: Sequence[jax.Device],
    *,
    refit: bool = True,
    saver: Saver | None = None,
    report: Report | None = None,
    workers: Workers | None = None,
) -> Fit:
    """Carry out a plan; see `fit_data`."""
    strategy, seed = find_strategy(plan.settings), plan.settings.seed
    if isinstance(strategy, Detection):
        with stage("detection"):
            detected = strategy.detect(plan.data, plan.settings)
        graph = detected.graphs[detected.chosen]
        latent = LatentGraph(graph, graph)
        return Fit(plan.data, plan.problem, latent, detected.trials, detected=detected)
    nets: Sequence[TrainedNet] = ()
    if plan.trials:
        with stage("training"):
            nets = run_search(
                plan.problem,
                list(plan.trials),
                devices,
                engine=strategy.engine,
                seed=seed,
                saver=saver,
                report=report,
                workers=workers,
            )
    return conclude(plan, nets, refit=refit, workers=workers)


def conclude(
    plan: Plan,
    nets: Sequence[TrainedNet],
    *,
    refit: bool = True,
    workers: Workers | None = None,
) -> Fit:
    """From trained networks to the graph; without any, from a regression."""
    data, problem = plan.data, plan.problem
    empty = LatentGraph(nx.DiGraph(), nx.DiGraph())
    fit = Fit(data, problem, empty, tabulate_trials(()), skip_reason=plan.skip_reason)
    if nets:
        with stage("selection"):
            fit = _select(fit, nets, plan.settings)
    if fit.kept and not len(map_trained(fit.kept[0]).inputs):
        views = [view_net(net, problem) for net in fit.kept]
        return replace(fit, latent=vote_graph(views, data.inputs, data.outputs))
    fit = _read_graph(fit, plan, workers)
    if refit:
        with stage("refit"):
            fit = _compare_graph(fit, plan.settings)
    return replace(fit, latent=add_left_out(fit.latent, data))


def _select(fit: Fit, nets: Sequence[TrainedNet], settings: RunSettings) -> Fit:
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
    fit = replace(
        fit,
        trials=tabulate_trials(nets, nearest, chosen),
        nets=tuple(nets),
        chosen=chosen,
        nearest=nearest,
    )
    if not fit.problem.has_test:
        return fit
    return replace(
        fit,
        test=score_test(kept, fit.problem),
        paper_test=score_test([nets[i] for i in nearest.chosen], fit.problem),
    )


def _read_graph(fit: Fit, plan: Plan, workers: Workers | None) -> Fit:
    """Estimate the effects and learn the graph that explains them."""
    data, problem, settings, kept = fit.data, fit.problem, plan.settings, fit.kept
    usable = sum(bool(np.isfinite(net.validation_loss)) for net in fit.nets)
    strategy, source = find_strategy(settings), settings.effects
    if source == "auto" and isinstance(strategy, Networks) and not strategy.is_optional:
        source = "network"  # what another kind of network finds is in it alone
    # Few networks say nothing that a regression does not: they are read only where asked for.
    is_few = source == "auto" and usable < MIN_NETWORKS
    with stage("effects"):
        effects = estimate_effects(problem, () if is_few else kept, source)
        by_regression = effects.source == REGRESSION
        test = make_support_test(problem, () if by_regression else kept, effects.sample)
    effects = replace(effects, test=test)
    names, seed, influence = (data.inputs, data.outputs), settings.seed, None
    how = GraphSettings(
        settings.bootstraps, settings.direct, settings.effects_only, settings.output_edges
    )
    if plan.prior:
        prior = plan.prior.prior
        latent, influence = learn_with_prior(
            effects, *names, prior, seed=seed, settings=how, workers=workers
        )
    else:
        latent = learn_graph(effects, *names, seed=seed, settings=how, workers=workers)
    if settings.output_edges:
        with stage("output edges"):
            latent = add_output_edges(latent, effects.sample, *names, seed=seed, settings=how)
    networks = None if by_regression else usable
    if networks is not None and networks < MIN_NETWORKS:
        # No edge is reported; what was found stays a candidate.
        roles = latent.graph.nodes(data="role")
        graph: nx.DiGraph = nx.DiGraph()
        graph.add_nodes_from((n, {"role": role}) for n, role in roles if role != "latent")
        latent, influence = replace(latent, graph=graph, fit=None), None
    return replace(
        fit,
        latent=latent,
        effects=effects,
        influence=influence,
        networks=networks,
        output_causes=find_output_causes(latent.graph, effects, *names),
    )


def _compare_graph(fit: Fit, settings: RunSettings) -> Fit:
    """Fit the graph as a network of its own, and compare it with others or a regression."""
    data, problem = fit.data, fit.problem
    refit = refit_graph(fit.latent.graph, problem, data.inputs, data.outputs, seed=settings.seed)
    fit = replace(fit, refit=refit, latent=annotate_latent(fit.latent, refit=refit))
    if not problem.has_test:
        return fit
    if not fit.kept:
        test = score_predictions(predict_test(refit, problem), problem)
        return replace(fit, comparison=compare_regression(refit, problem), test=test)
    ranked = sorted(fit.kept, key=lambda net: (net.trial.split, net.validation_loss))
    best = [next(nets) for _, nets in groupby(ranked, key=lambda net: net.trial.split)]
    losses = find_test_losses(best, problem)
    return replace(fit, comparison=compare_networks(refit, losses, problem))


def annotate_latent(
    latent: LatentGraph,
    *,
    refit: Refit | None = None,
    q: Mapping[tuple[str, str], float] | None = None,
    frequencies: bool = True,
) -> LatentGraph:
    """A latent graph with what the refit, q-values and resamples say of its edges and latents."""
    graphs = [graph.copy() for graph in (latent.graph, latent.candidates)]
    for graph in graphs:
        for edge in refit.edges if refit else ():
            if graph.has_edge(edge.source, edge.target):
                graph.edges[edge.source, edge.target].update(
                    weight=edge.effect,
                    weight_spread=edge.effect_spread,
                    loss_without=edge.loss_without,
                    loss_error=edge.error,
                )
        for node in refit.latents if refit else ():
            graph.nodes[node.latent].update(
                effects=dict(node.effects), loss_without=node.loss_without, loss_error=node.error
            )
        nx.set_edge_attributes(graph, dict(q or {}), "q")
        for values in () if frequencies else (*graph.nodes.values(), *graph.edges.values()):
            values.pop("frequency", None)
    return replace(latent, graph=graphs[0], candidates=graphs[1])


def tabulate_trials(
    nets: Sequence[TrainedNet], nearest: Selection | None = None, chosen: Sequence[int] = ()
) -> pd.DataFrame:
    """One row for each trained network: settings, losses, sparsity, distance, status."""
    rows = []
    for i, net in enumerate(nets):
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
            "distance": nearest.distance[i] if nearest else np.nan,
            "nearest": i in nearest.chosen if nearest else False,
            "kept": i in chosen,
        }
        rows.append(row)
    if not rows:
        return pd.DataFrame(columns=["trial", "setting", "split", "kept"])
    table = pd.DataFrame(rows).replace([np.inf, -np.inf], np.nan)
    return table.sort_values("trial", ignore_index=True)
