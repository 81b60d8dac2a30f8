"""How much of a graph is chance: the same search where nothing can be found, and among decoys.

With the rows of Y permuted, inputs and outputs are independent, while each keeps its own
dependences: all edges are then chance. Their number against that of the real edges gives q-values
(Storey 2002: A direct approach to false discovery rates). Decoys, permuted copies of inputs among
the real ones, show how many edges are wrong in data with real effects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import jax
import networkx as nx
import numpy as np

from rinn.cluster.tasks import Workers, run_tasks
from rinn.config import RunSettings, Stream, check_integer
from rinn.data.problem import SAMPLES_PER_INPUT, make_problem
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.nets.devices import find_devices
from rinn.nets.groups import TrainedNet
from rinn.nets.search import Report
from rinn.strategies import find_strategy, plan_trials
from rinn.strategies.base import Networks
from rinn.structure.effects import REGRESSION, find_skip_reason
from rinn.structure.qvalues import DECOY_ROUND, Null, NullRound, find_origin, list_frequencies
from rinn.structure.records import DATA, PRIOR

NETWORKS = 32
MAX_DECOYS = 50


Search = Callable[..., Any]  # `pipeline.fit_data`, whose result has a `latent` graph


def fit_null(
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    rounds: int,
    *,
    fit: Search,
    networks: int = NETWORKS,
    done: Sequence[NullRound] = (),
    save: Callable[[NullRound], None] | None = None,
    report: Report | None = None,
    workers: Workers | None = None,
) -> Null:
    """Repeat a search where there is nothing to find, and once with decoys among the inputs."""
    check_integer("rounds", rounds, 1)
    settings = _limit(data, settings, networks)
    numbers = [*range(rounds), DECOY_ROUND]
    finished = {one.number: one for one in done if one.number in numbers}
    for one in finished.values():
        _check_done(one, settings)

    def report_part(nets: Sequence[TrainedNet], fraction: float, is_resumed: bool) -> None:
        if report:
            report(nets, fraction / len(numbers), is_resumed)

    left = [number for number in numbers if number not in finished]
    for _ in finished:
        report_part([], 1.0, True)
    rounds_left: Iterable[tuple[int, NullRound]]
    if workers is None:
        here = functools.partial(fit_round, networks=networks, report=report_part, fit=fit)
        rounds_left = ((number, here(data, settings, devices, number)) for number in left)
    else:
        shared = data, settings, workers.device, networks, fit
        rounds_left = run_tasks(workers, fit_round_remotely, left, *shared)
    for number, one in rounds_left:
        finished[number] = one
        if workers is not None:
            report_part([], 1.0, False)
        if save:
            save(one)
    return Null(tuple(finished[number] for number in range(rounds)), finished[DECOY_ROUND])


def fit_round(
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    number: int,
    *,
    fit: Search,
    networks: int = NETWORKS,
    report: Report | None = None,
) -> NullRound:
    """Do one round of a null.

    The whole search is repeated, with its own splits, networks and L1 rates: those of the real
    search follow the strongest effect in the real data.
    """
    check_integer("number", number, DECOY_ROUND)
    settings = _limit(data, settings, networks)
    seed, rng = _open_stream(settings, number)
    decoys: tuple[str, ...] = ()
    if number == DECOY_ROUND:
        changed, decoys = add_decoys(data, rng, _count_decoys(data, settings))
    else:
        changed = permute_outputs(data, rng)
    latent = fit(changed, replace(settings, seed=seed), devices, report=report).latent
    return NullRound(
        number=number,
        seed=seed,
        networks=_count_networks(settings),
        frequencies=tuple(sorted(list_frequencies(latent.candidates))),
        prior_driven=tuple(sorted(list_frequencies(latent.candidates, PRIOR))),
        reported=sum(len(list_frequencies(latent.graph, origin)) for origin in (DATA, PRIOR)),
        inputs=len(data.inputs),
        connected_inputs=_count_connected(latent.graph, data.inputs),
        decoys=len(decoys),
        connected_decoys=_count_connected(latent.graph, decoys),
    )


def fit_round_remotely(
    number: int, data: Data, settings: RunSettings, device: str, networks: int, fit: Search
) -> NullRound:
    """Do one round of a null on a worker."""
    return fit_round(data, settings, find_devices(device), number, networks=networks, fit=fit)


def permute_outputs(data: Data, rng: np.random.Generator) -> Data:
    """Give each sample the outputs of another at random, within the strata of covariates."""
    order = _draw_order(data, rng)
    covariates = data.covariates and data.covariates.take(order)
    return replace(data, y=data.y[order], covariates=covariates)


def _draw_order(data: Data, rng: np.random.Generator) -> np.ndarray:
    if data.covariates is None:
        return rng.permutation(len(data.y))
    return data.covariates.permute(rng)


def add_decoys(
    data: Data, rng: np.random.Generator, most: int = MAX_DECOYS
) -> tuple[Data, tuple[str, ...]]:
    """Add permuted copies of inputs; one order for all keeps their correlations."""
    check_integer("most", most, 1)
    count = min(most, len(data.inputs))
    chosen = np.sort(rng.choice(len(data.inputs), count, replace=False))
    order = _draw_order(data, rng)
    taken = {*data.inputs, *data.outputs}
    decoys = []
    for index in chosen:
        name = f"{data.inputs[index]}_decoy"
        while name in taken:
            name += "_"
        taken.add(name)
        decoys.append(name)
    x = np.concatenate([data.x, data.x[np.ix_(order, chosen)]], axis=1)  # [sample, input + decoy]
    return replace(data, x=x, inputs=(*data.inputs, *decoys)), tuple(decoys)


def _count_decoys(data: Data, settings: RunSettings) -> int:
    """As many as a regression on all inputs together takes, if it takes the inputs."""
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    free = len(problem.seen) // SAMPLES_PER_INPUT - len(data.inputs)
    return MAX_DECOYS if free < 0 else min(MAX_DECOYS, max(free, 1))


def _limit(data: Data, settings: RunSettings, networks: int) -> RunSettings:
    """The settings of a search with fewer networks."""
    check_integer("networks", networks, 2)
    strategy = find_strategy(settings)
    if not strategy.takes_null:
        raise InputError(
            f"strategy must be one that looks at the inputs for a null to say anything, got "
            f"{settings.strategy!r}, for which the order of the rows of Y makes no difference; "
            f"leave the null out"
        )
    if not isinstance(strategy, Networks):
        return settings
    problem = make_problem(data, seed=settings.seed, loss=settings.loss)
    if find_skip_reason(problem, settings):
        # Nothing is clear in permuted samples: networks would be trained there alone.
        return replace(settings, effects=REGRESSION, trials=None)
    trials = settings.trials or len(plan_trials(settings, problem))
    return replace(settings, trials=min(networks, trials))


def _check_done(done: NullRound, settings: RunSettings) -> None:
    seed, networks = _open_stream(settings, done.number)[0], _count_networks(settings)
    if (done.seed, done.networks) != (seed, networks):
        raise InputError(
            f"done must hold rounds of this null, but round {done.number} has {done.networks} "
            f"networks and the seed {done.seed} instead of {networks} and {seed}; leave it out"
        )


def _open_stream(settings: RunSettings, number: int) -> tuple[int, np.random.Generator]:
    """The seed of a round's search, and what changes its data."""
    rng = np.random.default_rng([settings.seed, Stream.NULL_ROUNDS, number - DECOY_ROUND])
    return int(rng.integers(2**31)), rng


def _count_networks(settings: RunSettings) -> int:
    """Of each round, by its settings as `_limit` gives them."""
    return (settings.trials or 0) if isinstance(find_strategy(settings), Networks) else 0


def _count_connected(graph: nx.DiGraph, names: Sequence[str]) -> int:
    sources = {edge[0] for edge in graph.edges if find_origin(graph, edge) in (DATA, PRIOR)}
    return sum(name in sources for name in names)
