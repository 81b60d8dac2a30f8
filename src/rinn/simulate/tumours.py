"""A simulated block beside tumours: generated ones like those of TCGA, or the user's own.

The generator is no data: class sizes, alteration frequencies, co-altered blocks and expression
factors follow published summary statistics of 500 tumours with 634 somatic genome alterations
(SGA) and 68 differentially expressed genes (DEG). Both depend on the tissue and, given the
tissue, not on each other, unless `parents` are asked for: only the simulated block has causes to
be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from rinn.config import check_integer, check_range
from rinn.errors import InputError
from rinn.simulate.beside import load_tumours
from rinn.simulate.graphs import paper_graph
from rinn.simulate.mechanisms import MECHANISMS, Maker, defaults_of, fill_parameters
from rinn.simulate.population import (
    BLOCKS,
    BURDEN_SPREAD,
    DEGS,
    LINK,
    REACH,
    SCATTER,
    SGAS,
    SHARES,
    Population,
    draw_population,
)
from rinn.simulate.samples import BLOCK_NUMBERS, SAMPLES, Sampled, Tumours

# Parents that a DEG can have, and how often these are altered: no table of a few hundred rows
# shows the effect of a rarer one.
MAX_PARENTS, MIN_FREQUENCY_OF_PARENTS = 3, 0.05
STRENGTH = (0.3, 0.7)
OPTIONS = ("parents", "strength", "x_block", "y_block")


def beside_tumours(mechanism: str) -> Maker:
    """Build the maker of a dataset that hides a simulated block behind tumours.

    The block is the mechanism's dataset on the ground-truth graph, row by row the same as alone
    with the same seed. Its 16 inputs and 16 outputs are the last columns. The columns before them
    are those of `sample_tumours`, which takes `parents` and `strength`, or the tables `x_block`
    and `y_block`, as `load_tumours` reads them. With tables there are as many rows as the two
    have in common, or the first of them where fewer samples are asked for.

    Example:
        >>> sampled = beside_tumours("or")(np.random.default_rng(0), 3)
        >>> sampled.x.shape, sampled.tumours.x.shape, sampled.tumours.y.shape
        ((3, 16), (3, 634), (3, 68))
    """
    sample = MECHANISMS[mechanism]

    def make(rng: np.random.Generator, samples: int | None = None, **given: Any) -> Sampled:
        own = defaults_of(sample)
        filled = fill_parameters(f"tcga-{mechanism}", given, {**own, **dict.fromkeys(OPTIONS)})
        options = {name: filled[name] for name in OPTIONS if filled[name] is not None}
        of_tumours = rng.spawn(1)[0]
        if "x_block" in options or "y_block" in options:
            tumours = _take_tables(samples, **options)
        else:
            tumours = sample_tumours(of_tumours, SAMPLES if samples is None else samples, **options)
        simulated = sample(rng, paper_graph(), len(tumours.x), **{n: filled[n] for n in own})
        return replace(
            simulated,
            parameters={**simulated.parameters, **tumours.parameters},
            tumours=tumours,
        )

    return make


def _take_tables(
    samples: int | None, x_block: Any = None, y_block: Any = None, **others: Any
) -> Tumours:
    """Read the user's tables; what is about generated tumours is refused beside them."""
    for name, value in others.items():
        raise InputError(
            f"{name} must be left out where x_block and y_block take the place of generated "
            f"tumours, but {value!r} was given; leave it or the tables out"
        )
    return load_tumours(x_block, y_block, samples=samples, taken=set(paper_graph()))


def sample_tumours(
    rng: np.random.Generator,
    samples: int,
    *,
    parents: int = 0,
    strength: tuple[float, float] | None = None,
    block: int | None = None,
) -> Tumours:
    """Draw tumours of 14 tissues with 634 alterations and 68 expression changes.

    An alteration happens in tumour t of tissue k with probability 1 - exp(-m_t r_k), where m_t is
    the tumour's own burden. Members of a co-altered block follow one event together, near ones
    more often than distant ones. No tumour is without an alteration.

    A DEG has the log-odds of its tissue, moved by the tumour's own scatter. With `parents`, each
    DEG has none to so many alterations as causes, drawn among those of at least 5 % of the
    tumours: P(DEG = 1) = 1 - (1 - p) prod (1 - s), over its parents that are altered. The rest
    of the tumours is the same with and without, so that DEGs with causes are more frequent than
    the published ones.

    Example:
        >>> tumours = sample_tumours(np.random.default_rng(0), 4)
        >>> tumours.x.shape, tumours.y.shape, list(tumours.labels.columns)
        ((4, 634), (4, 68), ['tissue'])
    """
    check_integer("samples", samples)
    options = _check_parents(parents, strength)
    of_population, of_lots, of_scatter, of_parents = rng.spawn(4)
    population = draw_population(of_population)
    effects = _draw_parents(of_parents, population.frequencies, **options) if options else []
    x = np.empty((samples, SGAS), np.int8, order="F")
    y = np.empty((samples, DEGS), np.int8, order="F")
    tissue = np.empty(samples, np.int8)
    # One uniform number for each decision, taken row by row: fewer rows are the first of more.
    parts = np.cumsum([1, 1, 1, len(BLOCKS), len(BLOCKS), SGAS, DEGS])
    for rows in _split(samples, block or BLOCK_NUMBERS // SGAS):
        count = rows.stop - rows.start
        lots = of_lots.random((count, parts[-1]), dtype=np.float32)
        of_tissue, of_burden, *of_sgas, of_degs = np.split(lots, parts[:-1], axis=1)
        tissue[rows] = np.searchsorted(np.cumsum(SHARES)[:-1], of_tissue[:, 0], side="right")
        burden = 1 + BURDEN_SPREAD * (2 * of_burden - 1)  # [row, 1]
        x[rows] = _draw_sgas(population, tissue[rows], burden, *of_sgas)
        absent = 1 - _chance_of_degs(of_scatter, population, tissue[rows])
        for sga, deg, weight in effects:
            absent[:, deg] *= 1 - weight * x[rows, sga]
        y[rows] = of_degs >= absent
    return Tumours(
        x=pd.DataFrame(x, columns=[f"sga{i}" for i in range(SGAS)]),
        y=pd.DataFrame(y, columns=[f"deg{i}" for i in range(DEGS)]),
        labels=pd.DataFrame({"tissue": [f"t{k}" for k in tissue]}),
        parents=_list_parents(effects) if options else None,
        parameters=options,
    )


def _check_parents(parents: int, strength: tuple[float, float] | None) -> dict[str, Any]:
    """Check what was asked for; nothing where there are to be no parents."""
    most = check_integer("parents", parents, minimum=0, maximum=MAX_PARENTS)
    if most == 0 and strength is not None:
        raise InputError(
            f"strength must come with parents of 1 to {MAX_PARENTS}, but {strength!r} was given "
            f"without; add parents, or leave strength out"
        )
    if most == 0:
        return {}
    ends = STRENGTH if strength is None else check_range("strength", strength, maximum=1)
    return {"parents": most, "strength": ends}


def _draw_parents(
    rng: np.random.Generator,
    frequencies: np.ndarray,
    parents: int,
    strength: tuple[float, float],
) -> list[tuple[int, int, float]]:
    """Draw the causes of each DEG among the alterations that are not rare: sga, deg, strength."""
    often = np.flatnonzero(frequencies >= MIN_FREQUENCY_OF_PARENTS)
    effects = []
    for deg, count in enumerate(rng.integers(parents + 1, size=DEGS)):
        for sga in np.sort(rng.choice(often, count, replace=False)):
            effects.append((int(sga), deg, float(rng.uniform(*strength))))
    return effects


def _list_parents(effects: list[tuple[int, int, float]]) -> pd.DataFrame:
    rows = [(f"sga{sga}", f"deg{deg}", weight) for sga, deg, weight in effects]
    return pd.DataFrame(rows, columns=["sga", "deg", "strength"])


def _split(samples: int, rows: int) -> Iterator[slice]:
    for start in range(0, samples, rows):
        yield slice(start, min(start + rows, samples))


def _draw_sgas(
    population: Population,
    tissue: np.ndarray,
    burden: np.ndarray,
    of_link: np.ndarray,
    of_events: np.ndarray,
    of_reach: np.ndarray,
    of_sgas: np.ndarray,
) -> np.ndarray:
    """Draw the alterations [row, sga]: own events, and in a block those that follow it."""
    linked = of_link < LINK  # [row, 1]
    of_events, of_reach = (_link(linked, lots) for lots in (of_events, of_reach))
    events = of_events < -np.expm1(-population.block_rates[tissue] * burden)  # [row, block]
    rates = population.sga_rates[tissue] * burden  # [row, sga]
    absent = np.exp(-rates)
    members = np.flatnonzero(population.block >= 0)
    block, place = population.block[members], population.places[members]
    # An event begins at either end of its block and reaches a random way along it.
    way = 2 * REACH * of_reach[:, block]
    reached = np.where(way < REACH, place <= way, 1 - place <= way - REACH)
    absent[:, members] *= 1 - population.follows[members] * (events[:, block] & reached)
    altered = of_sgas >= absent
    # A tumour without any gets the one that was nearest to happen.
    none = np.flatnonzero(~altered.any(axis=1))
    waits = -np.log(np.maximum(of_sgas[none], np.finfo(np.float32).tiny)) / rates[none]
    altered[none, waits.argmin(axis=1)] = True
    return altered


def _link(linked: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """Give the second block the lot [row, block] of the first where they are linked."""
    first, second, others = np.split(lots, [1, 2], axis=1)
    return np.hstack([first, np.where(linked, first, second), others])


def _chance_of_degs(
    rng: np.random.Generator, population: Population, tissue: np.ndarray
) -> np.ndarray:
    """P(DEG = 1) [row, deg] of the tissue, moved by the tumour's own scatter along the factors."""
    factors = len(population.deg_loadings)
    scatter = rng.standard_normal((len(tissue), factors), dtype=np.float32)  # [row, factor]
    return expit(population.deg_logits[tissue] + SCATTER * scatter @ population.deg_loadings)
