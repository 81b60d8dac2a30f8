"""Columns of tumours around a simulated block: generated ones like those of TCGA, or tables.

The generator is no data: class sizes, alteration frequencies, co-altered blocks and expression
factors follow published summary statistics of 500 tumours with 634 somatic genome alterations
(SGA) and 68 differentially expressed genes (DEG). Both depend on the tissue and, given the
tissue, not on each other, unless `parents` are asked for: only the simulated block has causes to
be found.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from rinn.config import check_integer, check_range
from rinn.data.align import find_shared_rows
from rinn.data.tables import Table, load_table, make_table
from rinn.data.text import is_id_header
from rinn.errors import InputError, quote, quote_some
from rinn.simulate.samples import BLOCK_NUMBERS, Tumours

Source = str | os.PathLike[str] | pd.DataFrame | np.ndarray

SGAS, DEGS = 634, 68

# Fractions, burdens, frequencies, block sizes and prevalences are published numbers; the other
# constants were chosen by hand so that `check_block` finds the published correlations.

# Fraction of each tissue class among the tumours (the last one rounded up for a sum of 1), and its
# mean number of alterations.
FRACTIONS = np.array(
    [.060, .062, .134, .060, .043, .045, .053, .107, .089, .049, .091, .107, .029, .071]
)  # fmt: skip
BURDENS = np.array(
    [19.1, 24.5, 15.0, 21.5, 13.4, 13.4, 14.5, 18.8, 12.9, 9.8, 22.4, 5.6, 19.3, 5.7]
)
# A tumour's burden is uniform within this fraction of its tissue's: a gamma's tail is too long.
BURDEN_SPREAD = 0.75
# Frequencies over all tissues: two log-normals (genes, mean and spread of the logarithm), except
# for the genes altered most.
FREQUENCIES = ((551, -4.357, 0.611), (83, -2.697, 0.621))
MIN_FREQUENCY = 0.002
TOP_FREQUENCIES = (
    .490, .320, .198, .198, .192, .188, .160, .160, .144, .144,
    .126, .118, .116, .114, .100, .098, .098, .098, .094, .090,
)  # fmt: skip
# How unevenly a gene is spread over tissues: a gamma's shape.
TISSUE_SHAPE = 0.8
# Genes at home in one tissue: how many, and their weight there and elsewhere.
HALLMARKS, HALLMARK_HOME, HALLMARK_ELSEWHERE = 40, 3.0, 0.5
# Genes altered together, phi > 0.4: how many in each block. The first two are linked: in so many
# of the tumours what happens to one of them happens to the other.
BLOCKS = (21, 19, 19, 13, 10, 9, 9, 8, 8, 8, 7, 7, 6, 6, 5, 5, 5, 4, 4, 3, 3, 3, *[2] * 6)
LINK = 0.5
# The rarest and the most frequent genes are in no block.
RARE, TOP = 280, 8
# Fraction of a member's alterations that come from its block's events, and how far an event reaches
# along the genes, in lengths of the largest block: near genes are altered together more often.
FOLLOWS, REACH = (0.6, 0.99), 1.2
# Fraction of tumours with a DEG: quantiles over the DEGs at these levels.
LEVELS = (0, 0.01, 0.05, 0.1, 0.25, 0.42, 0.43, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
PREVALENCES = (
    .170, .175, .184, .195, .232, .280, .322, .398, .490, .557, .588, .683, .690
)  # fmt: skip
# Log-odds of a DEG: spread of the tissue's level, of its factors, and of what is left.
LEVEL, FACTORS, REST = 3.2, (2.5, 6.1, 4.5, 4.4, 2.3, 1.9, 1.7), 0.7
# Correlation of a tissue's level with its burden.
LEVEL_BY_BURDEN = 0.4
# Spread of the tumours about their tissue, along level and factors, relative to the tissues'.
SCATTER = 0.2
# The maximum number of parents of a DEG, and how often these are altered: no table of a few
# hundred rows shows the effect of a rarer one.
MAX_PARENTS, MIN_FREQUENCY_OF_PARENTS = 3, 0.05
STRENGTH = (0.3, 0.7)


@dataclass(frozen=True)
class Population:
    """What the tumours are drawn from, by tissue; `block` is -1 for a gene in no block."""

    frequencies: np.ndarray  # [sga]
    sga_rates: np.ndarray  # [tissue, sga]
    block_rates: np.ndarray  # [tissue, block]
    block: np.ndarray  # [sga]
    positions: np.ndarray  # [sga], along the block
    follows: np.ndarray  # [sga]
    deg_logits: np.ndarray  # [tissue, deg]
    deg_loadings: np.ndarray  # [factor, deg]


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
    DEG has 0 to `parents` alterations as causes, drawn among those of at least 5 % of the
    tumours: P(DEG = 1) = 1 - (1 - p) prod (1 - s), over its parents that are altered. All
    else is the same with and without, so that DEGs with causes are more frequent than
    the published ones.
    """
    check_integer("samples", samples)
    options: dict[str, Any] = {}
    if check_integer("parents", parents, minimum=0, maximum=MAX_PARENTS):
        ends = STRENGTH if strength is None else check_range("strength", strength, maximum=1)
        options = {"parents": parents, "strength": ends}
    elif strength is not None:
        raise InputError(
            f"strength must come with parents of 1 to {MAX_PARENTS}, got {strength!r} "
            f"without; add parents, or leave strength out"
        )
    of_population, of_lots, of_scatter, of_parents = rng.spawn(4)
    population = draw_population(of_population)
    effects = []  # sga, deg, strength: causes of DEGs among the alterations that are not rare
    often = np.flatnonzero(population.frequencies >= MIN_FREQUENCY_OF_PARENTS)
    for deg, number in enumerate(of_parents.integers(parents + 1, size=DEGS) if options else ()):
        for sga in np.sort(of_parents.choice(often, number, replace=False)):
            effects.append((int(sga), deg, float(of_parents.uniform(*options["strength"]))))
    x = np.empty((samples, SGAS), np.int8, order="F")
    y = np.empty((samples, DEGS), np.int8, order="F")
    tissue = np.empty(samples, np.int8)
    # One uniform number for each decision, taken row by row: fewer rows are the first of more.
    parts = np.cumsum([1, 1, 1, len(BLOCKS), len(BLOCKS), SGAS, DEGS])
    size = block or BLOCK_NUMBERS // SGAS
    for start in range(0, samples, size):
        rows = slice(start, min(start + size, samples))
        count = rows.stop - start
        lots = of_lots.random((count, parts[-1]), dtype=np.float32)
        of_tissue, of_burden, *of_sgas, of_degs = np.split(lots, parts[:-1], axis=1)
        tissue[rows] = np.searchsorted(np.cumsum(FRACTIONS)[:-1], of_tissue[:, 0], side="right")
        burden = 1 + BURDEN_SPREAD * (2 * of_burden - 1)  # [row, 1]
        x[rows] = _draw_sgas(population, tissue[rows], burden, *of_sgas)
        scatter = of_scatter.standard_normal((count, len(FACTORS)), dtype=np.float32)
        logits = population.deg_logits[tissue[rows]] + SCATTER * scatter @ population.deg_loadings
        absent = 1 - expit(logits)  # [row, deg]
        for sga, deg, weight in effects:
            absent[:, deg] *= 1 - weight * x[rows, sga]
        y[rows] = of_degs >= absent
    listed = pd.DataFrame(
        [(f"sga{sga}", f"deg{deg}", weight) for sga, deg, weight in effects],
        columns=["sga", "deg", "strength"],
    )
    return Tumours(
        x=pd.DataFrame(x, columns=[f"sga{i}" for i in range(SGAS)]),
        y=pd.DataFrame(y, columns=[f"deg{i}" for i in range(DEGS)]),
        labels=pd.DataFrame({"tissue": [f"t{k}" for k in tissue]}),
        parents=listed if options else None,
        parameters=options,
    )


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
    linked = (of_link < LINK)[:, 0]  # [row]
    for lots in (of_events, of_reach):  # the second block has the lot of the first
        lots[linked, 1] = lots[linked, 0]
    events = of_events < -np.expm1(-population.block_rates[tissue] * burden)  # [row, block]
    rates = population.sga_rates[tissue] * burden  # [row, sga]
    absent = np.exp(-rates)
    members = np.flatnonzero(population.block >= 0)
    block, position = population.block[members], population.positions[members]
    # An event begins at either end of its block and reaches a random length along it.
    reach = 2 * REACH * of_reach[:, block]
    reached = np.where(reach < REACH, position <= reach, 1 - position <= reach - REACH)
    absent[:, members] *= 1 - population.follows[members] * (events[:, block] & reached)
    altered = of_sgas >= absent
    # A tumour without any gets the one that was nearest to happen.
    none = np.flatnonzero(~altered.any(axis=1))
    waits = -np.log(np.maximum(of_sgas[none], np.finfo(np.float32).tiny)) / rates[none]
    altered[none, waits.argmin(axis=1)] = True
    return altered


def draw_population(rng: np.random.Generator) -> Population:
    """Draw the rates of alterations and the log-odds of DEGs of each tissue."""
    frequencies, block = _draw_genes(rng)
    rates = _fit_rates(_draw_tissue_weights(rng, frequencies, block) * frequencies, frequencies)
    positions = np.zeros(SGAS, np.float32)
    for number, size in enumerate(BLOCKS):
        positions[block == number] = np.arange(size) / (max(BLOCKS) - 1)
    follows = np.where(block >= 0, rng.uniform(*FOLLOWS, SGAS), 0)
    events = np.stack([rates[:, block == n].mean(axis=1) for n in range(len(BLOCKS))], axis=1)
    covered = 1 - 1 / (2 * REACH)  # fraction of a block's events that reach a given member
    logits, loadings = _draw_degs(rng)
    return Population(
        frequencies=frequencies,
        sga_rates=(rates * (1 - follows)).astype(np.float32),
        block_rates=(events / covered).astype(np.float32),
        block=block,
        positions=positions,
        follows=follows.astype(np.float32),
        deg_logits=logits.astype(np.float32),
        deg_loadings=loadings.astype(np.float32),
    )


def _draw_genes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the frequency and the block of each gene; a block's genes are similar and adjacent."""
    frequencies = np.concatenate(
        [
            np.exp([NormalDist(mean, sd).inv_cdf((i + 0.5) / count) for i in range(count)])
            for count, mean, sd in FREQUENCIES
        ]
    )
    frequencies = np.sort(frequencies.clip(MIN_FREQUENCY, TOP_FREQUENCIES[-1]))
    frequencies[-len(TOP_FREQUENCIES) :] = TOP_FREQUENCIES[::-1]
    # Units that stay together, cut from the genes in the order of their frequency.
    singles = SGAS - sum(BLOCKS) - RARE - TOP
    middle = rng.permutation([*range(len(BLOCKS)), *[-1] * singles])
    units = [*[-1] * RARE, *middle, *[-1] * TOP]
    sizes = [1 if number < 0 else BLOCKS[number] for number in units]
    shuffled = np.repeat(rng.permutation(len(units)), sizes)  # [sga]
    order = np.argsort(shuffled, kind="stable")
    return frequencies[order], np.repeat(units, sizes)[order]


def _draw_tissue_weights(
    rng: np.random.Generator, frequencies: np.ndarray, block: np.ndarray
) -> np.ndarray:
    """Draw how much each tissue favours each gene [tissue, sga]; a block's genes are similar."""
    weights = rng.gamma(TISSUE_SHAPE, 1 / TISSUE_SHAPE, (len(FRACTIONS), SGAS))
    often = np.argsort(frequencies)[-2 * HALLMARKS :]
    for gene in rng.choice(often, HALLMARKS, replace=False):
        home = rng.integers(len(FRACTIONS))
        weights[:, gene] *= HALLMARK_ELSEWHERE
        weights[home, gene] = HALLMARK_HOME
    for number in range(len(BLOCKS)):
        like = 0 if number == 1 else number  # the linked blocks are at home in the same tissues
        weights[:, block == number] = weights[:, block == like][:, :1]
    return weights


def _fit_rates(rates: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Scale rates [tissue, sga] until genes have their frequency and tissues their burden."""
    wanted = BURDENS * frequencies.sum() / (FRACTIONS @ BURDENS)
    for _ in range(30):
        rates = rates * frequencies / (FRACTIONS @ _expect(rates))
        rates = rates * (wanted / _expect(rates).sum(axis=1))[:, None]
    return rates


def _expect(rates: np.ndarray) -> np.ndarray:
    """P(altered) over tumours whose burden is uniform about 1."""
    spread = rates * BURDEN_SPREAD
    return 1 - np.exp(-rates) * np.sinh(spread) / spread


def _draw_degs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the log-odds [tissue, deg] from factors of the tissue, and the loadings of these."""
    scores = rng.standard_normal((len(FRACTIONS), len(FACTORS)))  # [tissue, factor]
    burden, level = _whiten(np.column_stack([BURDENS, scores[:, 0]]), FRACTIONS).T
    scores[:, 0] = LEVEL_BY_BURDEN * burden + np.sqrt(1 - LEVEL_BY_BURDEN**2) * level
    loadings = _whiten(rng.standard_normal((DEGS, len(FACTORS))), np.full(DEGS, 1 / DEGS))
    loadings = np.array(FACTORS)[:, None] * loadings.T  # [factor, deg]
    loadings[0] += LEVEL
    logits = _whiten(scores, FRACTIONS) @ loadings  # [tissue, deg]
    logits += rng.normal(0, REST, logits.shape)
    levels = (rng.permutation(DEGS) + rng.random(DEGS)) / DEGS
    return _shift_to(logits, loadings, np.interp(levels, LEVELS, PREVALENCES)), loadings


def _whiten(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Make columns centred, independent and of spread 1: a few draws by chance would not be."""
    centred = values - weights @ values
    covariance = centred.T @ (weights[:, None] * centred)
    return np.linalg.solve(np.linalg.cholesky(covariance), centred.T).T


def _shift_to(logits: np.ndarray, loadings: np.ndarray, prevalences: np.ndarray) -> np.ndarray:
    """Shift the log-odds of each DEG until its probability over all tumours is as wanted."""
    # The mean of a logistic function over a normal variable, by the usual approximation.
    shrink = 1 / np.sqrt(1 + 0.346 * SCATTER**2 * (loadings**2).sum(axis=0))  # [deg]
    low, high = np.full(DEGS, -60.0), np.full(DEGS, 60.0)
    for _ in range(50):
        middle = (low + high) / 2
        over = FRACTIONS @ expit((logits + middle) * shrink) > prevalences
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return logits + low


def load_tumours(
    x_block: Source | None = None,
    y_block: Source | None = None,
    *,
    samples: int | None = None,
    taken: Collection[str] = (),
    **others: Any,
) -> Tumours:
    """Read two tables whose columns come before those of a simulated block, named `taken`.

    Rows are matched by sample id where both tables have ids, else one by one, and are in the order
    of `x_block`. Each column stays, also one that never changes.
    """
    for name, value in others.items():
        raise InputError(
            f"{name} must be left out where x_block and y_block replace the generated tumours, got "
            f"{value!r}; leave it or the tables out"
        )
    if x_block is None or y_block is None:
        name, other = ("x_block", "y_block") if x_block is None else ("y_block", "x_block")
        raise InputError(
            f"{name} must come with {other}, since samples need inputs and outputs, but it was not "
            f"given; add it, or leave both out for generated tumours"
        )
    x, y = _load("x_block", x_block, taken), _load("y_block", y_block, taken)
    x_rows, y_rows, ids, dropped = find_shared_rows(x, y)
    count = len(x_rows) if samples is None else check_integer("samples", samples)
    if count > len(x_rows):
        raise InputError(
            f"samples must be at most the {len(x_rows)} rows that x_block and y_block have in "
            f"common, got {samples}; leave it out, or choose {len(x_rows)} or less"
        )
    outputs = np.take(y.values, y_rows, axis=0)
    wrong = (outputs != 0) & (outputs != 1)  # [sample, output]
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"y_block must hold 0 and 1 only, because the simulated outputs do and mixed ones "
            f"cannot be learned together, but {outputs[row, column]:g} is in column "
            f"{quote(y.columns[column])}, one of {wrong.any(axis=0).sum()} such columns; turn them "
            f"into 0 and 1, or leave them out"
        )
    index = None if ids is None else pd.Index(ids[:count])
    paths = {"x_block": x.path, "y_block": y.path}
    return Tumours(
        x=_to_frame(np.take(x.values, x_rows[:count], axis=0), x.columns, index),
        y=_to_frame(outputs[:count], y.columns, index),
        dropped=dropped,
        parameters={name: str(path or "in memory") for name, path in paths.items()},
    )


def _load(name: str, source: Source, taken: Collection[str]) -> Table:
    """Read one table, and refuse names that clash with the simulated block."""
    if isinstance(source, str | os.PathLike):
        table = load_table(source, name)
    else:
        table = make_table(source, name)
    clashes = [column for column in table.columns if column in taken]
    if clashes:
        raise InputError(
            f"{name} must not use the names of the simulated graph's nodes, but has columns "
            f"called {quote_some(clashes)}; rename them"
        )
    if table.samples is None and is_id_header(table.columns[0]):
        raise InputError(
            f"{name} must not begin with a column of numbers called {quote(table.columns[0])}, "
            f"because files keep sample ids under such a name; rename it"
        )
    return table


def _to_frame(values: np.ndarray, columns: tuple[str, ...], index: pd.Index | None) -> pd.DataFrame:
    """Make a table; whole numbers are written without a point."""
    if ((values == 0) | (values == 1)).all():
        values = values.astype(np.int8)
    elif (values == np.round(values)).all() and (np.abs(values) < 2**53).all():
        values = values.astype(np.int64)
    return pd.DataFrame(values, index=index, columns=list(columns))
