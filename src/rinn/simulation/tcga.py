"""Tumours like those of TCGA beside a simulated block: alterations, expression, tissue of origin.

A generator, not data: class sizes, alteration frequencies, co-altered blocks and expression
factors follow published summary statistics of 500 tumours with 634 somatic genome alterations
(SGA) and 68 differentially expressed genes (DEG). Both depend on the tissue and, given the
tissue, not on each other: only the simulated block has causes to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from rinn.simulation.checks import check_count, fill_parameters
from rinn.simulation.mechanisms import MECHANISMS, Maker, defaults_of
from rinn.simulation.paper import paper_graph
from rinn.simulation.samples import BLOCK_NUMBERS, Sampled

SGAS, DEGS = 634, 68

# Shares, burdens, frequencies, block sizes and prevalences are published numbers; the other
# constants were chosen by hand so that `check_block` finds the published correlations.

# Share of each tissue class among the tumours (the last one rounded up for a sum of 1), and its
# mean number of alterations.
SHARES = np.array(
    [.060, .062, .134, .060, .043, .045, .053, .107, .089, .049, .091, .107, .029, .071]
)  # fmt: skip
BURDENS = np.array(
    [19.1, 24.5, 15.0, 21.5, 13.4, 13.4, 14.5, 18.8, 12.9, 9.8, 22.4, 5.6, 19.3, 5.7]
)
# Frequencies over all tissues: two log-normals (genes, mean and spread of the logarithm).
FREQUENCIES = ((551, -4.357, 0.611), (83, -2.697, 0.621))
# The most altered gene stands apart from them.
LEAST_FREQUENCY, MOST_FREQUENCY = 0.002, 0.49
# How unevenly a gene is spread over tissues, and a tumour's burden over its tissue: gamma shapes.
TISSUE_SHAPE, TUMOUR_SHAPE = 1.0, 5.5
# Genes at home in one tissue: how many, and their weight there and elsewhere.
HALLMARKS, HALLMARK_HOME, HALLMARK_ELSEWHERE = 40, 3.5, 0.3
# Genes altered together: how many in each block, and how a member follows its block's event.
BLOCKS = (21, 18, 16, 12, 8, 8, 7, 7, 6, 6, 6, 5, *[4] * 5, *[3] * 4, *[2] * 7)
# The rarest and the most frequent genes are in no block.
RARE, TOP = 200, 8
FOLLOWS, PRIVATE = (0.6, 0.95), 0.15
# Share of tumours with a DEG: quantiles over the DEGs at these levels.
LEVELS = (0, 0.01, 0.05, 0.1, 0.25, 0.42, 0.43, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
PREVALENCES = (
    .170, .175, .184, .195, .232, .280, .322, .398, .490, .557, .588, .683, .690
)  # fmt: skip
# Log-odds of a DEG: spread of the tissue's level, of its factors, and of what is left.
LEVEL, FACTORS, REST = 1.9, (4.0, 3.1, 2.8, 3.1, 1.2), 0.5


@dataclass(frozen=True)
class Population:
    """What the tumours are drawn from, by tissue; `block` is -1 for a gene in no block."""

    sga_rates: np.ndarray  # [tissue, sga]
    block_rates: np.ndarray  # [tissue, block]
    block: np.ndarray  # [sga]
    follows: np.ndarray  # [sga]
    deg_chances: np.ndarray  # [tissue, deg]


def beside_tumours(mechanism: str) -> Maker:
    """Build the maker of a dataset that hides a simulated block behind TCGA-like tumours.

    The block is the mechanism's dataset on the ground-truth graph, row by row the same as alone
    with the same seed. Its 16 inputs and 16 outputs are the last columns.

    Args:
        mechanism: a name in `MECHANISMS` whose rows are zeros and ones.

    Returns:
        A function of the random generator, the number of samples and the mechanism's parameters.

    Example:
        >>> sampled = beside_tumours("or")(np.random.default_rng(0), 3)
        >>> sampled.x.shape, sampled.y.shape, sampled.inputs[-1]
        ((3, 650), (3, 84), 'x15')
    """
    sample = MECHANISMS[mechanism]

    def make(rng: np.random.Generator, samples: int, **given: Any) -> Sampled:
        parameters = fill_parameters(f"tcga-{mechanism}", given, defaults_of(sample))
        x, y, labels = sample_tumours(rng.spawn(1)[0], samples)
        simulated = sample(rng, paper_graph(), samples, **parameters)
        roles = list(simulated.graph.nodes(data="role"))
        return replace(
            simulated,
            x=np.hstack([x, simulated.x]),
            y=np.hstack([y, simulated.y]),
            inputs=(*x.columns, *(node for node, role in roles if role == "input")),
            outputs=(*y.columns, *(node for node, role in roles if role == "output")),
            labels=labels,
        )

    return make


def sample_tumours(
    rng: np.random.Generator, samples: int, *, block: int | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Draw tumours of 14 tissues with 634 alterations and 68 expression changes.

    An alteration happens in tumour t of tissue k with probability 1 - exp(-m_t r_k), where m_t is
    the tumour's own burden; members of a co-altered block follow one event together. A DEG is
    drawn from its tissue's probability alone.

    Args:
        rng: where the random numbers come from.
        samples: how many tumours to draw.
        block: rows worked on at once; changes the memory used, not the result.

    Returns:
        Alterations sga0.., expression changes deg0.. and the column `tissue`, row by row.

    Raises:
        InputError: samples is not a whole number of at least 1.

    Example:
        >>> x, y, labels = sample_tumours(np.random.default_rng(0), 4)
        >>> x.shape, y.shape, list(labels.columns)
        ((4, 634), (4, 68), ['tissue'])
    """
    check_count("samples", samples)
    of_population, of_lots, of_burdens = rng.spawn(3)
    population = _draw_population(of_population)
    x = np.empty((samples, SGAS), np.int8, order="F")
    y = np.empty((samples, DEGS), np.int8, order="F")
    tissue = np.empty(samples, np.int8)
    for rows in _split(samples, block or BLOCK_NUMBERS // SGAS):
        count = rows.stop - rows.start
        # One uniform number for each decision, taken row by row: fewer rows are the first of more.
        lots = of_lots.random((count, 1 + len(BLOCKS) + SGAS + DEGS), dtype=np.float32)
        lot, lots_block, lots_sga, lots_deg = np.split(
            lots, [1, 1 + len(BLOCKS), 1 + len(BLOCKS) + SGAS], axis=1
        )
        tissue[rows] = np.searchsorted(np.cumsum(SHARES)[:-1], lot[:, 0], side="right")
        burden = of_burdens.gamma(TUMOUR_SHAPE, 1 / TUMOUR_SHAPE, count).astype(np.float32)
        x[rows] = _draw_sgas(population, tissue[rows], burden, lots_block, lots_sga)
        y[rows] = lots_deg < population.deg_chances[tissue[rows]]
    return (
        pd.DataFrame(x, columns=[f"sga{i}" for i in range(SGAS)]),
        pd.DataFrame(y, columns=[f"deg{i}" for i in range(DEGS)]),
        pd.DataFrame({"tissue": [f"t{k}" for k in tissue]}),
    )


def _split(samples: int, rows: int) -> Iterator[slice]:
    for start in range(0, samples, rows):
        yield slice(start, min(start + rows, samples))


def _draw_sgas(
    population: Population,
    tissue: np.ndarray,
    burden: np.ndarray,
    lots_block: np.ndarray,
    lots_sga: np.ndarray,
) -> np.ndarray:
    """Draw the alterations [row, sga]: own events, and in a block those that follow it."""
    events = lots_block < -np.expm1(-population.block_rates[tissue] * burden[:, None])
    absent = np.exp(-population.sga_rates[tissue] * burden[:, None])  # [row, sga]
    members = np.flatnonzero(population.block >= 0)
    absent[:, members] *= 1 - population.follows[members] * events[:, population.block[members]]
    return lots_sga >= absent


def _draw_population(rng: np.random.Generator) -> Population:
    """Draw the rates of alterations and the probabilities of DEGs of each tissue."""
    frequency, block = _draw_genes(rng)
    lean = rng.gamma(TISSUE_SHAPE, 1 / TISSUE_SHAPE, (len(SHARES), SGAS))  # [tissue, sga]
    for gene in rng.choice(np.argsort(frequency)[-2 * HALLMARKS :], HALLMARKS, replace=False):
        home = rng.integers(len(SHARES))
        lean[:, gene] *= HALLMARK_ELSEWHERE
        lean[home, gene] = HALLMARK_HOME
    for number in range(len(BLOCKS)):
        members = np.flatnonzero(block == number)
        lean[:, members] = lean[:, members[:1]]
    rates = _fit_rates(lean * frequency, frequency)
    blocks = np.stack(
        [rates[:, block == number].mean(axis=1) for number in range(len(BLOCKS))], axis=1
    )  # [tissue, block]
    own = np.where(block >= 0, PRIVATE, 1.0)
    return Population(
        (rates * own).astype(np.float32),
        (blocks * (1 - PRIVATE) / np.mean(FOLLOWS)).astype(np.float32),
        block,
        rng.uniform(*FOLLOWS, SGAS).astype(np.float32),
        _draw_deg_chances(rng).astype(np.float32),
    )


def _draw_genes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the frequency and the block of each gene; a block's genes are alike and adjacent."""
    frequency = np.sort(
        np.concatenate(
            [
                np.exp([NormalDist(mean, sd).inv_cdf((i + 0.5) / count) for i in range(count)])
                for count, mean, sd in FREQUENCIES
            ]
        ).clip(LEAST_FREQUENCY, MOST_FREQUENCY)
    )
    frequency[-1] = MOST_FREQUENCY
    # Units that stay together, cut from the genes in the order of their frequency.
    singles = SGAS - sum(BLOCKS) - RARE - TOP
    sizes = [*[1] * RARE, *rng.permutation([*BLOCKS, *[1] * singles]), *[1] * TOP]
    ends = np.cumsum(sizes)
    units = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    order = [units[i] for i in rng.permutation(len(units))]
    number = 0
    block = []
    for unit in order:
        block.append(np.full(len(unit), number if len(unit) > 1 else -1))
        number += len(unit) > 1
    return frequency[np.concatenate(order)], np.concatenate(block)


def _fit_rates(rates: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Scale rates [tissue, sga] until genes have their frequency and tissues their burden."""
    wanted = BURDENS * frequency.sum() / (SHARES @ BURDENS)
    for _ in range(30):
        rates = rates * frequency / (SHARES @ _expect(rates))
        rates = rates * (wanted / _expect(rates).sum(axis=1))[:, None]
    return rates


def _expect(rates: np.ndarray) -> np.ndarray:
    """P(altered) over tumours whose burden is gamma distributed with mean 1."""
    return 1 - (1 + rates / TUMOUR_SHAPE) ** -TUMOUR_SHAPE


def _draw_deg_chances(rng: np.random.Generator) -> np.ndarray:
    """Draw P(DEG = 1) [tissue, deg] from a level and five factors of the tissue."""
    spreads = np.array([LEVEL, *FACTORS])
    scores = rng.standard_normal((len(SHARES), len(spreads)))  # [tissue, factor]
    # Centred and made independent over the tumours: 14 draws by chance would not be.
    scores -= SHARES @ scores
    covariance = scores.T @ (SHARES[:, None] * scores)
    scores = np.linalg.solve(np.linalg.cholesky(covariance), scores.T).T
    loadings = rng.standard_normal((len(spreads), DEGS))
    loadings[0] = 1
    logits = scores @ (spreads[:, None] * loadings)  # [tissue, deg]
    logits += rng.normal(0, REST, logits.shape)
    levels = (rng.permutation(DEGS) + rng.random(DEGS)) / DEGS
    return _shift_to(logits, np.interp(levels, LEVELS, PREVALENCES))


def _shift_to(logits: np.ndarray, prevalence: np.ndarray) -> np.ndarray:
    """Shift the log-odds of each DEG until its probability over all tissues is as wanted."""
    low, high = np.full(DEGS, -40.0), np.full(DEGS, 40.0)
    for _ in range(50):
        middle = (low + high) / 2
        over = SHARES @ _squash(logits + middle) > prevalence
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return _squash(logits + low)


def _squash(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))
