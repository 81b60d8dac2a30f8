"""The tuned constants of the graph, each with its reason and the data it was set on.

"Development graphs" are random graphs and draws of the paper's datasets whose seeds are used in no
reported figure (`make_dataset` with seeds 100 to 107 and 91000 to 91105, and graphs of
`bench_recovery.py` with numbers from 500 on).
"""

from rinn.data.problem import MANY_INPUTS as MANY_INPUTS

# Score (score.py). The penalty of an edge is log(samples) + log(inputs x outputs), the extended BIC
# (Chen and Chen 2008): nothing is tuned.
# A direct edge from an input to an output counts as 1.3 edges, so that one input with four outputs
# and more acts through a latent, and with up to three directly.
DIRECT = 1.3
# A latent without inputs of its own counts as so many edges more. The paper's graph has a tie:
# three outputs below two latents cost six edges, and five with a latent between. Development
# graphs: with 0 the paper's tie is lost, with 3 true latents of two parents and three children.
NO_INPUT = 2.0
# Root mean square error of approximation of the residual covariance (Browne and Cudeck 1992: 0.05
# is a close fit): how far a right graph may be from the covariance of outputs that are not linear.
# With few samples covariance says which outputs belong together; with many the effects say it.
RMSEA = 0.06
# Where covariance counts for less than this, it takes no part in the search (1,200 samples).
MIN_SHARE = 0.05
# Log likelihood ratio (twice) for each sample by which outputs must share noise for a latent
# without inputs to be inserted at its plain cost, over the misfit of the covariance per degree of
# freedom. Development graphs: true ones from 0.04, three outputs of the paper's logic graph 0.035.
MIN_SHARED = 0.037

# Search (search.py).
# Searches more, from graphs of effects that are perturbed by their sampling error, until the best
# score was reached twice. Development graphs, latents F1: direct edges .991 -> 1.00, latents
# without inputs .960 -> .964, random with 1000 samples .964 -> 1.00.
STARTS = 8
MAX_REPEATS = 2
# Of the graphs found these go on to the covariance: so many, and no more penalties behind the best.
MAX_FINISHED = 2
MAX_BEHIND = 3.0
MIN_LINK = 5.0  # standard errors of a residual correlation of outputs that share noise
SWEEPS = 6  # over all moves; development graphs need two to four
# With more inputs than MANY_INPUTS those without a clear effect are left out; moves are tried once.
MIN_BATCH, MAX_BATCH = 6, 24  # edges that are added at a time where as many pay
MAX_TRIALS = 4  # edges that are fitted before the best is taken
MAX_INSERTS = 12  # new latents that are fitted at a time
MAX_SWAPS = 15  # edges that are taken out on trial
MAX_RANKED = 300  # edges whose gain is found exactly
HOPELESS = 12.0  # in penalties: a graph without a latent may be so much worse before it is improved
MIN_COSINE = 0.5  # of the effects of two latents that may be merged
MIN_ROW_COSINE = 0.3  # of the effects of two inputs that may share a latent
ANGLE = 0.25  # radians: weights of two parents this close in ratio are proportional

# Bootstrap and report (consensus.py).
BOOTSTRAPS = 50
MIN_FREQUENCY = 0.5  # of a reported latent
MIN_OVERLAP = 0.5  # Jaccard overlap of the outputs of latents that count as the same
MAX_ALTERNATIVES = 3  # edges that are tried in the place of another
EQUIVALENT = 2.0  # standard errors of the likelihood ratio of graphs that are not told apart
LEVEL = 0.01  # of the test that some effect is more than chance, for all inputs together
INPUT_LEVEL = 0.05  # of the same test for each input of a latent, once one passes that

# Effects (effects.py).
SAMPLES_PER_INPUT = 3  # with fewer samples, effects are marginal: no input is held fixed
# Standard errors of clear effects, in the median, from which a regression needs no networks: on
# development graphs networks help with 500 and 1000 samples and do harm with 5000.
STRONG = 8.0
MAX_FEATURED = 60  # inputs: with more, products of inputs are not tested
FEATURE_LEVEL = 0.01  # for all products together
MIN_RESIDUAL = 0.01  # of an output's variance: what no network is believed to explain
