"""From the networks that predict best to one latent graph, without sight of any truth.

What every input does to every output is measured in each network by moving the input; the mean of
the networks, in units of its sampling error, says how likely an effect is. The smallest graph that
keeps the likely effects is searched for, again and again as the evidence is shaken, and every
latent and edge carries the share of these searches that found it.
"""

from rinn.consensus.effects import Effects, measure_effects
from rinn.consensus.evidence import find_noise, pool_effects, weigh_effects
from rinn.consensus.influence import Influence, read_informed
from rinn.consensus.prior import Prior, make_prior
from rinn.consensus.reading import read_consensus
from rinn.consensus.regression import regress_effects, wants_regression
from rinn.consensus.smallest import Found, find_smallest

__all__ = [
    "Effects",
    "Found",
    "Influence",
    "Prior",
    "find_noise",
    "find_smallest",
    "make_prior",
    "measure_effects",
    "pool_effects",
    "read_consensus",
    "read_informed",
    "regress_effects",
    "wants_regression",
    "weigh_effects",
]
