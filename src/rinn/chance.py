"""How much of a graph is chance: the same search where nothing can be found, and among decoys.

With the rows of Y permuted, no input has to do with any output, while inputs and outputs keep all
they have among themselves: whatever edge is found then is chance. Comparing their number with that
of the real edges gives q-values (Storey 2002: A direct approach to false discovery rates). Decoys,
permuted copies of inputs beside the real ones, are a second opinion, in data where there is
something to find.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import networkx as nx
import numpy as np
from jaxtyping import Float

from rinn.cohorts import TrainedNet
from rinn.config import RunSettings, check_number
from rinn.errors import InputError
from rinn.graph import LatentGraph
from rinn.pipeline import Fit, fit_data, plan_run
from rinn.records import Data
from rinn.strategies import Networks, find_strategy

NETWORKS = 32
MOST_DECOYS = 50
LEVEL = 0.05
DECOY_ROUND = -1

_STREAM = 29  # of random numbers, apart from those that split samples and draw settings
_DIGITS = 9  # frequencies that differ by less are the same share, rounded on the way

Report = Callable[[Sequence[TrainedNet], float], None]

_fit_graph = functools.partial(fit_data, refit=False)


@dataclass(frozen=True)
class NullRound:
    """What one search found where there was nothing, or among decoys (`number` is then -1).

    `frequencies` holds those of all edges that were found, drawn or not, in ascending order, and
    `drawn` counts the drawn ones. Inputs and decoys are connected where an edge is drawn from them.
    """

    number: int
    seed: int
    networks: int
    frequencies: tuple[float, ...]
    drawn: int
    inputs: int
    connected_inputs: int
    decoys: int = 0
    connected_decoys: int = 0

    def to_json(self) -> dict[str, Any]:
        """The round by name, ready for `json.dumps`."""
        return dataclasses.asdict(self) | {"frequencies": list(self.frequencies)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> NullRound:
        """Read what `to_json` wrote."""
        return cls(**value | {"frequencies": tuple(value["frequencies"])})


@dataclass(frozen=True)
class Null:
    """What arises from nothing: rounds with the rows of Y permuted, and one with decoys."""

    permuted: tuple[NullRound, ...]
    decoyed: NullRound

    @property
    def rounds(self) -> int:
        """How often the rows were permuted."""
        return len(self.permuted)

    @property
    def networks(self) -> int:
        """Networks of each round; 0 for a strategy without any."""
        return self.decoyed.networks

    @property
    def drawn(self) -> float:
        """Mean number of drawn edges of a permuted round."""
        return sum(found.drawn for found in self.permuted) / self.rounds

    def to_json(self) -> dict[str, Any]:
        """The null by name, ready for `json.dumps`."""
        return {
            "rounds": self.rounds,
            "networks": self.networks,
            "permuted": [found.to_json() for found in self.permuted],
            "decoyed": self.decoyed.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Null:
        """Read what `to_json` wrote."""
        permuted = tuple(NullRound.from_json(found) for found in value["permuted"])
        return cls(permuted, NullRound.from_json(value["decoyed"]))


def fit_null(
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    rounds: int,
    *,
    networks: int = NETWORKS,
    done: Sequence[NullRound] = (),
    save: Callable[[NullRound], None] | None = None,
    report: Report | None = None,
    fit: Callable[..., Fit] = _fit_graph,
) -> Null:
    """Repeat a search where there is nothing to find, and once with decoys beside the inputs.

    Args:
        data: the two tables; they are not changed.
        settings: of the search; its seed decides those of the rounds.
        devices: where to train.
        rounds: how often to permute the rows of Y.
        networks: of each round, or as many as the search itself has, if these are fewer.
        done: rounds of the same call that were finished earlier; they are not repeated.
        save: called with each round as it is finished.
        report: called as by `fit_data`, the shares of all rounds adding up to 1.
        fit: what searches.

    Returns:
        What was found; the same for the same data and settings.

    Raises:
        InputError: a number is too small, the strategy does not look at the inputs, or a round of
            `done` does not belong to this call.
        TrainingError: every network of a round diverged.
        KeyboardInterrupt: the rounds that are finished have been saved.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x, noise = rng.normal(size=(2, 200, 2))
        >>> data = Data(x, x + noise, ("a", "b"), ("c", "d"))
        >>> settings = RunSettings(strategy="dm", alpha_pc=0.001, alpha_sober=0.05)
        >>> null = fit_null(data, settings, jax.devices("cpu"), 2)
        >>> null.drawn, null.decoyed.connected_inputs, null.decoyed.connected_decoys
        (0.0, 2, 0)
    """
    check_number("rounds", rounds, 1)
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
    networks: int = NETWORKS,
    report: Report | None = None,
    fit: Callable[..., Fit] = _fit_graph,
) -> NullRound:
    """Do one round of a null.

    The whole search is repeated, with splits, networks and, where the strategy fits them to the
    data, L1 rates of its own: the question is what this procedure makes of nothing. The rates of
    the real search follow the strongest effect in the real data, which in pure noise is an
    accident that no round shares.

    Args:
        data: the two tables; they are not changed.
        settings: of the search.
        devices: where to train.
        number: which round, from 0; -1 is the one with decoys.
        networks: of the round, or as many as the search itself has, if these are fewer.
        report: see `fit_data`.
        fit: what searches.

    Returns:
        What was found; it depends on the other arguments and the number alone.

    Raises:
        InputError: a number is too small, or the strategy does not look at the inputs.
        TrainingError: every network diverged.
    """
    check_number("number", number, DECOY_ROUND)
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
        frequencies=tuple(sorted(_frequencies(_all_edges(latent)))),
        drawn=latent.graph.number_of_edges(),
        inputs=len(data.inputs),
        connected_inputs=_count_connected(latent.graph, data.inputs),
        decoys=len(decoys),
        connected_decoys=_count_connected(latent.graph, decoys),
    )


def permute_outputs(data: Data, rng: np.random.Generator) -> Data:
    """Give each sample the outputs of another, drawn at random.

    Args:
        data: the two tables; they are not changed.
        rng: decides the order.

    Returns:
        The tables with the rows of Y in another order; everything else is as it was. Covariates
        go with their rows of Y, and rows change places only among samples with the same levels of
        all categorical covariates: what these do to Y, and to X, stays as it was.

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
    data: Data, rng: np.random.Generator, most: int = MOST_DECOYS
) -> tuple[Data, tuple[str, ...]]:
    """Add permuted copies of inputs, which look like them and have to do with nothing.

    All copies are permuted alike, so that they go together as the inputs do that they copy; where
    there are covariates, within their strata, as `permute_outputs` does.

    Args:
        data: the two tables; they are not changed.
        rng: decides which inputs are copied, and the order of samples.
        most: how many decoys to add; no more than there are inputs.

    Returns:
        The tables with the decoys as last inputs, and the names of the decoys: those of the copied
        inputs with `_decoy`, and as many underscores as make them unique.

    Raises:
        InputError: `most` is not a whole number of at least 1.

    Example:
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> data = Data(x, x, ("TP53", "MYC"), ("c", "d"))
        >>> more, decoys = add_decoys(data, np.random.default_rng(0))
        >>> decoys, more.x.shape
        (('TP53_decoy', 'MYC_decoy'), (3, 4))
    """
    check_number("most", most, 1)
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


def expected_by_chance(null: Null, frequency: float) -> float:
    """Say how many edges of at least this frequency a graph has by chance.

    Args:
        null: what arises from nothing.
        frequency: between 0 and 1.

    Returns:
        The mean over the permuted rounds, of drawn and other edges.

    Example:
        >>> rounds = [NullRound(n, n, 32, (0.1, 0.5)[: n + 1], 0, 4, 0) for n in range(2)]
        >>> null = Null(tuple(rounds), NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> [expected_by_chance(null, frequency) for frequency in (0.1, 0.2, 0.6)]
        [1.5, 0.5, 0.0]
    """
    return int(_count_null(null, np.array([frequency]))[0]) / null.rounds


def q_values(frequencies: Sequence[float] | np.ndarray, null: Null) -> Float[np.ndarray, " edge"]:
    """Estimate the false discovery rate at which each edge would just be accepted.

    q = min over f' <= f of ((c(f') + 1) / R) / n(f'), at most 1, where f is the edge's frequency,
    n(f') counts the given edges of at least the frequency f', and c(f') those of all R permuted
    rounds together.

    The 1 stands for the finite number of rounds: that none of them had such an edge does not show
    that there is none, and no q is below 1 / (R n). If edges arise by chance as a Poisson process
    of which nothing is known beforehand, (c + 1) / R is their expected number in another graph; for
    one round it is the count that knockoff+ takes (Barber, Candès 2015: Controlling the false
    discovery rate via knockoffs). Dividing by R + 1 instead would fall below the observed c / R
    where that is above 1.

    This is chance in data without any effect. Wrong edges that arise beside right ones are not
    counted here: where decoys are connected, there are more of them than q says.

    Args:
        frequencies: of the real edges, the drawn ones alone: what was found beside them less
            often, mostly other ways to say the same, would lower every q by its number.
        null: what arises from nothing.

    Returns:
        One value for each edge, in their order; the more frequent the edge, the lower or equal.

    Example:
        >>> rounds = tuple(NullRound(n, n, 32, (0.1, 0.4), 0, 4, 0) for n in range(5))
        >>> null = Null(rounds, NullRound(-1, 9, 32, (), 0, 4, 0, decoys=4))
        >>> q_values([1.0, 1.0, 0.4, 0.1], null)  # 1/5/2, 6/5/3, 11/5/4
        array([0.1 , 0.1 , 0.4 , 0.55])
    """
    given = np.round(np.asarray(frequencies, float), _DIGITS)
    levels, place, counts = np.unique(given, return_inverse=True, return_counts=True)
    real = np.cumsum(counts[::-1])[::-1]  # [level], edges at or above it
    rates = (_count_null(null, levels) + 1) / null.rounds / real
    # Between two levels only the numerator falls, so that no other threshold has a lower ratio.
    return np.minimum(np.minimum.accumulate(rates), 1.0)[place]


def summarise_null(null: Null, graph: nx.DiGraph) -> str:
    """Say in two sentences how much of a graph is chance, for a paper.

    Args:
        null: what arises from nothing.
        graph: the drawn edges, with their `frequency`.

    Returns:
        The sentences. Bounds are rounded upwards.

    Example:
        >>> rounds = tuple(NullRound(n, n, 32, (0.3,) * (n == 0), n == 0, 4, 0) for n in range(5))
        >>> null = Null(rounds, NullRound(-1, 9, 32, (), 5, 4, 4, decoys=4))
        >>> graph = nx.DiGraph()
        >>> graph.add_edges_from([(f"x{n}", "L1") for n in range(5)], frequency=1.0)
        >>> print(summarise_null(null, graph))
        With the rows of Y permuted (5 rounds of 32 networks), 0.2 edges were drawn per graph; all \
5 edges of this graph have q at most 0.04. Of 4 decoy inputs, permuted copies of real ones, none \
was connected; of the 4 real inputs beside them, all were.
    """
    q = q_values(_frequencies(graph), null).tolist()
    return f"{_tell_drawn(null)}; {_tell_edges(q)}. {_tell_decoys(null)}."


def _limit(data: Data, settings: RunSettings, networks: int) -> RunSettings:
    """The settings of a search with fewer networks."""
    check_number("networks", networks, 2)
    strategy = find_strategy(settings)
    if not isinstance(strategy, Networks):
        return settings
    if strategy.autoencoder:
        raise InputError(
            f"strategy must be one that looks at the inputs for a null to say anything, got "
            f"{settings.strategy!r}, for which the order of the rows of Y makes no difference; "
            f"leave the null out"
        )
    own = len(plan_run(data, settings)[1]) if settings.trials is None else settings.trials
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
    rng = np.random.default_rng([settings.seed, _STREAM, number - DECOY_ROUND])
    return int(rng.integers(2**31)), rng


def _count_networks(settings: RunSettings) -> int:
    return (settings.trials or 0) if isinstance(find_strategy(settings), Networks) else 0


def _share_report(report: Report | None, fits: int) -> Report:
    """Report each of several searches as its part of the whole."""

    def pass_on(nets: Sequence[TrainedNet], share: float) -> None:
        if report:
            report(nets, share / fits)

    return pass_on


def _all_edges(latent: LatentGraph) -> nx.DiGraph:
    """Every edge that was found, drawn or not."""
    return latent.doubtful


def _frequencies(graph: nx.DiGraph) -> list[float]:
    """One for each edge; a strategy without networks finds an edge or does not."""
    return [float(share) for _, _, share in graph.edges(data="frequency", default=1.0)]


def _count_connected(graph: nx.DiGraph, names: Sequence[str]) -> int:
    return sum(name in graph and graph.out_degree(name) > 0 for name in names)


def _count_null(null: Null, levels: np.ndarray) -> np.ndarray:
    """Edges at or above each level, of all permuted rounds together."""
    seen = np.array([share for found in null.permuted for share in found.frequencies])
    seen = np.sort(np.round(seen, _DIGITS))
    return len(seen) - np.searchsorted(seen, np.round(levels, _DIGITS))


def _tell_drawn(null: Null) -> str:
    rounds = _count(null.rounds, "round")
    networks = f" of {_count(null.networks, 'network')}" if null.networks else ""
    each = "" if null.rounds == 1 else " per graph"
    edges = f"{null.drawn:.2g} edges were drawn{each}"
    if null.drawn == 0:
        edges = "no edge was drawn"
    elif null.drawn == 1:
        edges = f"1 edge was drawn{each}"
    elif null.drawn >= 10:
        edges = f"{null.drawn:.0f} edges were drawn{each}"
    return f"With the rows of Y permuted ({rounds}{networks}), {edges}"


def _tell_edges(q: list[float]) -> str:
    """How many edges are hardly chance; both ends of what is above the level."""
    if not q:
        return "this graph has no edge"
    low = sum(value <= LEVEL for value in q)
    if low == len(q) == 1:
        return f"the only edge of this graph has q at most {_round_up(q[0])}"
    if low == len(q):
        all_of_them = "both" if low == 2 else f"all {low}"
        return f"{all_of_them} edges of this graph have q at most {_round_up(max(q))}"
    if len(q) == 1:
        return f"the only edge of this graph has q = {q[0]:.2g}"
    if not low:
        some = "neither of the 2" if len(q) == 2 else f"none of the {len(q)}"
        return f"{some} edges of this graph has q at most {LEVEL}, the lowest being {min(q):.2g}"
    verb = "has" if low == 1 else "have"
    return (
        f"{low} of the {len(q)} edges of this graph {verb} q at most {LEVEL}, the highest being "
        f"{max(q):.2g}"
    )


def _tell_decoys(null: Null) -> str:
    seen = null.decoyed
    if seen.decoys == 1:
        decoys = "The one decoy input, a permuted copy of a real one, was "
        decoys += "connected" if seen.connected_decoys else "not connected"
    else:
        were = _tell_share(seen.connected_decoys, seen.decoys)
        decoys = f"Of {seen.decoys} decoy inputs, permuted copies of real ones, {were} connected"
    if seen.inputs == 1:
        return f"{decoys}; the real one was{'' if seen.connected_inputs else ' not'}"
    beside = "it" if seen.decoys == 1 else "them"
    were = _tell_share(seen.connected_inputs, seen.inputs)
    return f"{decoys}; of the {seen.inputs} real inputs beside {beside}, {were}"


def _tell_share(part: int, whole: int) -> str:
    if part == whole:
        return "both were" if whole == 2 else "all were"
    return {0: "none was", 1: "one was"}.get(part, f"{part} were")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _round_up(value: float) -> str:
    """Two digits, not below the value."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step - 1e-9) * step:.2g}"
