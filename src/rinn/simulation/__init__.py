"""Data from known causal graphs: graph, mechanism, samples."""

from rinn.simulation.curved import sample_curved, sample_mixed
from rinn.simulation.datasets import ALIASES, DATASETS, make_dataset
from rinn.simulation.gaussian import sample_gaussian
from rinn.simulation.layered import make_random_graph
from rinn.simulation.logic import sample_logic, sample_or
from rinn.simulation.matrix import sample_matrix
from rinn.simulation.mechanisms import MECHANISMS
from rinn.simulation.minimal import find_smaller, is_minimal
from rinn.simulation.paper import paper_graph
from rinn.simulation.samples import Sampled, Simulation
from rinn.simulation.writing import write_simulation

__all__ = [
    "ALIASES",
    "DATASETS",
    "MECHANISMS",
    "Sampled",
    "Simulation",
    "find_smaller",
    "is_minimal",
    "make_dataset",
    "make_random_graph",
    "paper_graph",
    "sample_curved",
    "sample_gaussian",
    "sample_logic",
    "sample_matrix",
    "sample_mixed",
    "sample_or",
    "write_simulation",
]
