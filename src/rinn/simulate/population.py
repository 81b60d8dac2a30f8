"""What TCGA-like tumours are drawn from: rates of alterations and of expression by tissue."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import expit

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
# A tumour's burden lies evenly within this share of its tissue's: a gamma's tail is too long.
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
# Share of a member's alterations that come from its block's events, and how far an event reaches
# along the genes, in lengths of the largest block: near genes are altered together more often.
FOLLOWS, REACH = (0.6, 0.99), 1.2
# Share of tumours with a DEG: quantiles over the DEGs at these levels.
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


@dataclass(frozen=True)
class Population:
    """What the tumours are drawn from, by tissue; `block` is -1 for a gene in no block."""

    frequencies: np.ndarray  # [sga]
    sga_rates: np.ndarray  # [tissue, sga]
    block_rates: np.ndarray  # [tissue, block]
    block: np.ndarray  # [sga]
    places: np.ndarray  # [sga], along the block
    follows: np.ndarray  # [sga]
    deg_logits: np.ndarray  # [tissue, deg]
    deg_loadings: np.ndarray  # [factor, deg]


def draw_population(rng: np.random.Generator) -> Population:
    """Draw the rates of alterations and the log-odds of DEGs of each tissue.

    Example:
        >>> draw_population(np.random.default_rng(0)).deg_logits.shape
        (14, 68)
    """
    frequencies, block = _draw_genes(rng)
    rates = _fit_rates(_draw_leanings(rng, frequencies, block) * frequencies, frequencies)
    places = np.zeros(SGAS, np.float32)
    for number, size in enumerate(BLOCKS):
        places[block == number] = np.arange(size) / (max(BLOCKS) - 1)
    follows = np.where(block >= 0, rng.uniform(*FOLLOWS, SGAS), 0)
    events = np.stack([rates[:, block == n].mean(axis=1) for n in range(len(BLOCKS))], axis=1)
    covered = 1 - 1 / (2 * REACH)  # share of a block's events that reach a given member
    logits, loadings = _draw_degs(rng)
    return Population(
        frequencies=frequencies,
        sga_rates=(rates * (1 - follows)).astype(np.float32),
        block_rates=(events / covered).astype(np.float32),
        block=block,
        places=places,
        follows=follows.astype(np.float32),
        deg_logits=logits.astype(np.float32),
        deg_loadings=loadings.astype(np.float32),
    )


def _draw_genes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the frequency and the block of each gene; a block's genes are alike and adjacent."""
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


def _draw_leanings(
    rng: np.random.Generator, frequencies: np.ndarray, block: np.ndarray
) -> np.ndarray:
    """Draw how much each tissue favours each gene [tissue, sga]; a block's genes are alike."""
    leanings = rng.gamma(TISSUE_SHAPE, 1 / TISSUE_SHAPE, (len(SHARES), SGAS))
    often = np.argsort(frequencies)[-2 * HALLMARKS :]
    for gene in rng.choice(often, HALLMARKS, replace=False):
        home = rng.integers(len(SHARES))
        leanings[:, gene] *= HALLMARK_ELSEWHERE
        leanings[home, gene] = HALLMARK_HOME
    for number in range(len(BLOCKS)):
        like = 0 if number == 1 else number  # the linked blocks are at home in the same tissues
        leanings[:, block == number] = leanings[:, block == like][:, :1]
    return leanings


def _fit_rates(rates: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Scale rates [tissue, sga] until genes have their frequency and tissues their burden."""
    wanted = BURDENS * frequencies.sum() / (SHARES @ BURDENS)
    for _ in range(30):
        rates = rates * frequencies / (SHARES @ _expect(rates))
        rates = rates * (wanted / _expect(rates).sum(axis=1))[:, None]
    return rates


def _expect(rates: np.ndarray) -> np.ndarray:
    """P(altered) over tumours whose burden lies evenly about 1."""
    spread = rates * BURDEN_SPREAD
    return 1 - np.exp(-rates) * np.sinh(spread) / spread


def _draw_degs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the log-odds [tissue, deg] from factors of the tissue, and the loadings of these."""
    scores = rng.standard_normal((len(SHARES), len(FACTORS)))  # [tissue, factor]
    burden, own = _whiten(np.column_stack([BURDENS, scores[:, 0]]), SHARES).T
    scores[:, 0] = LEVEL_BY_BURDEN * burden + np.sqrt(1 - LEVEL_BY_BURDEN**2) * own
    loadings = _whiten(rng.standard_normal((DEGS, len(FACTORS))), np.full(DEGS, 1 / DEGS))
    loadings = np.array(FACTORS)[:, None] * loadings.T  # [factor, deg]
    loadings[0] += LEVEL
    logits = _whiten(scores, SHARES) @ loadings  # [tissue, deg]
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
        over = SHARES @ expit((logits + middle) * shrink) > prevalences
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return logits + low
