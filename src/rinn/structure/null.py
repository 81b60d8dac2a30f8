"""How much of a graph is chance: the same search where nothing can be found, and among decoys.

With the rows of Y permuted, no input has to do with any output, while inputs and outputs keep all
they have among themselves: whatever edge is found then is chance. Comparing their number with that
of the real edges gives q-values (Storey 2002: A direct approach to false discovery rates). Decoys,
permuted copies of inputs beside the real ones, are a second opinion, in data where there is
something to find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import jax
import networkx as nx
import numpy as np

from rinn.config import RunSettings, Stream, check_integer
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.nets.cohorts import TrainedNet
from rinn.strategies import find_strategy, plan_trials
from rinn.strategies.base import Networks
from rinn.structure.effects import REGRESSION, find_needless
from rinn.structure.influence import DATA, PRIOR
from rinn.structure.qvalues import find_origin, list_frequencies
from rinn.structure.rounds import DECOY_ROUND, Null, NullRound
from rinn.structure.vote import LatentGraph

NETWORKS = 32
MAX_DECOYS = 50


Report = Callable[[Sequence[TrainedNet], float], None]


class Found(Protocol):
    """What a search returns, as far as a null looks at it."""

    @property
    def latent(self) -> LatentGraph:
        """The graph."""


Search = Callable[..., Found]


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
) -> Null:
    """Repeat a search where there is nothing to find, and once with decoys beside the inputs.

    Example:
        >>> from rinn.pipeline import fit_data
        >>> rng = np.random.default_rng(0)
        >>> x, noise = rng.normal(size=(2, 200, 2))
        >>> data = Data(x, x + noise, ("a", "b"), ("c", "d"))
        >>> settings = RunSettings(strategy="dm", alpha_pc=0.001, alpha_sober=0.05)
        >>> null = fit_null(data, settings, jax.devices("cpu"), 2, fit=fit_data)
        >>> null.drawn, null.decoyed.connected_inputs, null.decoyed.connected_decoys
        (0.0, 2, 0)
    """
    check_integer("rounds", rounds, 1)
    settings = _limit(data, settings, networks)
    numbers = [*range(rounds), DECOY_ROUND]
    known = {found.number: found for found in done if found.number in numbers}
    for found in known.values():
        _check_done(found, settings)
    part = _share_report(report, len(numbers))
    for number in numbers:
        if number in known:
            part([], 1.0)
            continue
        known[number] = fit_round(
            data, settings, devices, number, networks=networks, report=part, fit=fit
        )
        if save:
            save(known[number])
    return Null(tuple(known[number] for number in range(rounds)), known[DECOY_ROUND])


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

    The whole search is repeated, with splits, networks and, where the strategy fits them to the
    data, L1 rates of its own: the question is what this procedure makes of nothing. The rates of
    the real search follow the strongest effect in the real data, which in pure noise is an
    accident that no round shares.
    """
    check_integer("number", number, DECOY_ROUND)
    settings = _limit(data, settings, networks)
    seed, rng = _open_stream(settings, number)
    decoys: tuple[str, ...] = ()
    if number == DECOY_ROUND:
        changed, decoys = add_decoys(data, rng)
    else:
        changed = permute_outputs(data, rng)
    latent = fit(changed, replace(settings, seed=seed), devices, report=report).latent
    return NullRound(
        number=number,
        seed=seed,
        networks=_count_networks(settings),
        frequencies=tuple(sorted(list_frequencies(latent.doubtful))),
        owed=tuple(sorted(list_frequencies(latent.doubtful, PRIOR))),
        drawn=sum(len(list_frequencies(latent.graph, origin)) for origin in (DATA, PRIOR)),
        inputs=len(data.inputs),
        connected_inputs=_count_connected(latent.graph, data.inputs),
        decoys=len(decoys),
        connected_decoys=_count_connected(latent.graph, decoys),
    )


def permute_outputs(data: Data, rng: np.random.Generator) -> Data:
    """Give each sample the outputs of another, drawn at random.

    Example:
        >>> y = np.arange(4.0)[:, None]
        >>> data = Data(y, y, ("a",), ("b",))
        >>> permute_outputs(data, np.random.default_rng(0)).y.ravel().tolist()
        [2.0, 0.0, 1.0, 3.0]
    """
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
    """Add permuted copies of inputs, which look like them and have to do with nothing.

    All copies are permuted alike, so that they go together as the inputs do that they copy; where
    there are covariates, within their strata, as `permute_outputs` does.

    Example:
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> data = Data(x, x, ("TP53", "MYC"), ("c", "d"))
        >>> more, decoys = add_decoys(data, np.random.default_rng(0))
        >>> decoys, more.x.shape
        (('TP53_decoy', 'MYC_decoy'), (3, 4))
    """
    check_integer("most", most, 1)
    count = min(most, len(data.inputs))
    chosen = np.sort(rng.choice(len(data.inputs), count, replace=False))
    order = _draw_order(data, rng)
    taken = {*data.inputs, *data.outputs}
    decoys = []
    for place in chosen:
        name = f"{data.inputs[place]}_decoy"
        while name in taken:
            name += "_"
        taken.add(name)
        decoys.append(name)
    x = np.concatenate([data.x, data.x[np.ix_(order, chosen)]], axis=1)  # [sample, input + decoy]
    return replace(data, x=x, inputs=(*data.inputs, *decoys)), tuple(decoys)


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
    if find_needless(problem, settings):
        # Nothing is clear in permuted samples: networks would be trained there alone.
        return replace(settings, effects=REGRESSION, trials=None)
    own = settings.trials
    if own is None:
        own = len(plan_trials(settings, problem))
    return replace(settings, trials=min(networks, own))


def _check_done(found: NullRound, settings: RunSettings) -> None:
    seed, networks = _open_stream(settings, found.number)[0], _count_networks(settings)
    if (found.seed, found.networks) != (seed, networks):
        raise InputError(
            f"done must hold rounds of this null, but round {found.number} has {found.networks} "
            f"networks and the seed {found.seed} instead of {networks} and {seed}; leave it out"
        )


def _open_stream(settings: RunSettings, number: int) -> tuple[int, np.random.Generator]:
    """The seed of a round's search, and what changes its data."""
    rng = np.random.default_rng([settings.seed, Stream.NULL_ROUNDS, number - DECOY_ROUND])
    return int(rng.integers(2**31)), rng


def _count_networks(settings: RunSettings) -> int:
    """Of each round, by its settings as `_limit` gives them."""
    return (settings.trials or 0) if isinstance(find_strategy(settings), Networks) else 0


def _share_report(report: Report | None, fits: int) -> Report:
    """Report each of several searches as its part of the whole."""

    def pass_on(nets: Sequence[TrainedNet], share: float) -> None:
        if report:
            report(nets, share / fits)

    return pass_on


def _count_connected(graph: nx.DiGraph, names: Sequence[str]) -> int:
    found = {edge[0] for edge in graph.edges if find_origin(graph, edge) in (DATA, PRIOR)}
    return sum(name in found for name in names)
