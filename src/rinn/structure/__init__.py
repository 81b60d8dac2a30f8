"""The graph: effects, the score of a graph, the search, and how sure each edge is."""

from rinn.structure.consensus import learn_graph
from rinn.structure.effects import Effects, estimate_effects
from rinn.structure.influence import Influence, learn_informed
from rinn.structure.prior import Prior, make_prior
from rinn.structure.records import GraphSettings
from rinn.structure.search import find_structure

__all__ = [
    "Effects",
    "GraphSettings",
    "Influence",
    "Prior",
    "estimate_effects",
    "find_structure",
    "learn_graph",
    "learn_informed",
    "make_prior",
]
