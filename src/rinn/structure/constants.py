"""The constants of the graph, each with its reason and the data it was set on.

"Not tuned" marks a value that was set once, by its reason, and never compared with others.
"Development graphs" are random graphs and draws of the paper's datasets whose seeds are used in no
reported figure (`make_dataset` with seeds 100 to 107 and 91000 to 91105, and graphs of
`bench_recovery.py` with numbers from 500 on).
"""

from rinn.data.problem import MANY_INPUTS as MANY_INPUTS
from rinn.data.problem import SAMPLES_PER_INPUT as SAMPLES_PER_INPUT

# Score (score.py). The penalty of an edge is log(samples) + log(inputs x outputs), the extended BIC
# (Chen and Chen 2008): nothing is tuned.
# A direct edge from an input to an output counts as 1.3 edges, so that one input with four outputs
# and more acts through a latent, and with up to three directly.
DIRECT = 1.3
# A latent without inputs of its own counts as two edges more. The paper's graph has a tie:
# three outputs below two latents cost six edges, and five with a latent between. Development
# graphs: with 0 the paper's tie is lost, with 3 true latents of two parents and three children.
NO_INPUT = 2.0
# Root mean square error of approximation of the residual covariance (Browne and Cudeck 1992: 0.05
# is a close fit): how far a right graph may be from the covariance of outputs that are not linear.
# With few samples covariance says which outputs belong together; with many the effects say it.
RMSEA = 0.06
# Where the weight of the covariance is below this, it takes no part in the search (from about 1,200
# samples on). Not tuned.
MIN_COVARIANCE_WEIGHT = 0.05
# Log likelihood ratio (twice) for each sample by which outputs must share noise for a latent
# without inputs to be inserted without its penalty, over the misfit of the covariance per degree of
# freedom. Development graphs: true ones from 0.04, three outputs of the paper's logic graph 0.035.
MIN_SHARED = 0.037

# Search (search.py, local_search.py, moves.py, first_graph.py). The limits save time: all graphs
# that they let through are fitted and compared by the score.
# Further searches start from graphs of effects perturbed by their sampling error, until the
# best score was reached twice. Development graphs, latents F1: direct edges .991 -> 1.00, latents
# without inputs .960 -> .964, random with 1000 samples .964 -> 1.00.
STARTS = 8
MAX_REPEATS = 2
# Of the graphs of all starts at most two go on to the covariance, if they are at most three
# penalties behind the best. Not tuned.
MAX_FINISHED = 2
MAX_BEHIND = 3.0
MIN_LINK = 5.0  # standard errors of a residual correlation of outputs that share noise
SWEEPS = 6  # over all moves; development graphs need two to four
# With more inputs than MANY_INPUTS those without a clear effect are left out; moves are tried once.
# None of the following limits is tuned; the gains and losses are those of score and Wald tests.
MIN_BATCH, MAX_BATCH = 6, 24  # edges that are added together where their gains are positive
MAX_TRIALS = 4  # edges that are fitted before the best is taken
MAX_SHORTFALL = 0.3  # penalties that the gain of a fitted edge may be short: tests are quadratic
MIN_PRUNED = 6  # edges that do not pay: from here on a third of them is dropped together first
MAX_PRUNED = 3  # edges that are then tried one by one
MAX_INSERTS = 12  # new latents that are fitted at a time
MAX_MERGES = 10  # pairs of latents that are merged on trial
MAX_SWAPS = 15  # edges that are taken out on trial
MAX_SWAP_LOSS = 8.0  # penalties: edges with more are not taken out on trial
MAX_RANKED = 300  # edges whose gain is computed exactly
MAX_RISE_PRUNED = 3.0  # penalties that a proposed graph may be worse before it is pruned
MAX_RISE_REMOVED = 12.0  # the same for a graph without a latent before it is polished
MIN_POOLED_GAIN = 0.3  # penalties: parents of a new latent of outputs that share noise
MIN_COSINE = 0.5  # of the effects of two latents that may be merged
MIN_ROW_COSINE = 0.3  # of the effects of two inputs that may share a latent
ANGLE = 0.25  # radians: weights of two parents this close in ratio are proportional
MIN_SPLIT_INPUTS = 4  # of a latent that may be split: two on each side
MIN_SPLIT = 3.0  # penalties by which a second direction of effects must exceed its noise
MIN_FACTOR_CHILDREN = 3  # outputs of a factor without inputs: with fewer it is not identified
FACTOR_CUTOFFS = (0.35, 0.6)  # of the largest loading: outputs above are children of a factor
FACTOR_NOISE = 0.1  # of the outputs' residual variance: a new factor before it is fitted
NEW_NOISE = 0.3  # the noise of any other new latent before it is fitted
OUTPUT_NOISE = 0.7  # of its residual variance: the noise of an output before it is fitted
CLEAR_OUTPUT = 3.0  # standard errors: outputs that count when the edges of a group are estimated
MIN_INSIDE = 0.6  # fraction of a latent's outputs below another that may act on it

# Bootstrap and report (consensus.py, reported.py). Levels and limits are conventions, not tuned.
BOOTSTRAPS = 50
MIN_FREQUENCY = 0.5  # of a reported latent
MIN_OVERLAP = 0.5  # Jaccard overlap of the outputs of latents that count as the same
INPUT_OVERLAP = 0.25  # weight of common inputs, beside common outputs, in matching latents
MIN_CANDIDATE = 0.1  # of resamples: latents that fewer have are not listed
MAX_CANDIDATES = 30  # latents that are listed and not reported
SUPPORT_STEPS = 30  # of the fit that support and the test of fit are measured at
MAX_ALTERNATIVES = 3  # edges that are tried in the place of another
EQUIVALENT = 2.0  # standard errors of the likelihood ratio of graphs that are not told apart
LEVEL = 0.01  # of the test that some effect is more than chance, for all inputs together
INPUT_LEVEL = 0.05  # of the same test for each input of a latent, once one passes that

# Screening of wide tables (screen.py): more than MANY_INPUTS or MANY_OUTPUTS. Not tuned.
MANY_OUTPUTS = 200
SCREEN_FDR = 0.05  # of the columns that pass; the search decides what becomes an edge
SCREENS = 3  # passes over all inputs
MAX_POOL = 5000  # inputs that are compared with each other at a time
MAX_SCREENED = 2000  # inputs that are kept, and at most one for SAMPLES_PER_SCREENED samples
SAMPLES_PER_SCREENED = 3
MAX_OUTPUTS = 1000  # that are kept
MIN_SCREENED = 3  # inputs, and outputs, that are kept where none passes
MIN_ALONE = 0.05  # of an input's variance: less that others do not explain says nothing
MAX_NEAR = 0.3  # correlation of inputs that are selected together

# Effects (effects.py, regression.py).
MIN_FREE = 10  # samples beyond the regressors: with fewer an output is left out; not tuned
# Ratio of robust to usual standard errors: few carriers make it look smaller than it is. Not tuned.
MIN_ERROR_RATIO = 0.9
# Standard errors of clear effects, in the median, from which a regression needs no networks: on
# development graphs networks help with 500 and 1000 samples and do harm with 5000.
STRONG = 8.0
MAX_FEATURED = 60  # inputs: with more, products of inputs are not tested
FEATURE_LEVEL = 0.01  # for all products together
SAMPLES_PER_FEATURED = 30  # for each input; with fewer, products are not tested
MIN_RESIDUAL = 0.01  # of an output's variance: what no network is believed to explain
BETTER = 2.0  # standard errors by which networks must predict better than a regression; not tuned
CLEAR_EFFECT = 4.0  # standard errors of the effects whose median is compared with STRONG; not tuned

# Outputs that cause outputs (output_causes.py, output_edges.py).
VANISHES = 0.01  # p-value above which effects may be 0
CLEAR_P = 1e-6  # and below which they are not
# Fraction of an effect that may be left, at the upper end of its confidence interval. Set on random
# graphs from 500 on: 12 with five edges between outputs each, where 18 edges were reported, all of
# them right, and 54 without any, where one graph got some.
MAX_LEFT = 0.3
LEFT_LEVEL = 0.05  # of that upper end

# Prior (prior/).
MUST = 15.0  # log odds of a firm statement: as sure as a very clear effect
NEVER = -1e8  # log odds that no data can outweigh
AGAINST = 3.0  # log odds from which the data contradict the prior; not tuned
