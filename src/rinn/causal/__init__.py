"""What can be known of a latent graph: which latents show, and under which assumptions.

The definitions are those of Young, Andrews, Cooper and Lu 2020: Learning Latent Causal Structures
with a Redundant Input Neural Network. Every function here takes the graph for the truth.
"""

from rinn.causal.assumptions import Assumption, check_assumptions
from rinn.causal.equality import equal_graphs
from rinn.causal.evidence import DataComparison, PairTest, compare_with_data
from rinn.causal.latents import LatentFinding, SignatureClass, explain_latents, signature_classes
from rinn.causal.modified import modify_graph
from rinn.causal.separation import (
    Statement,
    check_faithfulness,
    check_markov,
    is_separated,
    list_statements,
)

__all__ = [
    "Assumption",
    "DataComparison",
    "LatentFinding",
    "PairTest",
    "SignatureClass",
    "Statement",
    "check_assumptions",
    "check_faithfulness",
    "check_markov",
    "compare_with_data",
    "equal_graphs",
    "explain_latents",
    "is_separated",
    "list_statements",
    "modify_graph",
    "signature_classes",
]
