"""Does a graph carry the data? A network with exactly its edges, and what each edge is worth."""

from rinn.refitting.effects import EdgeEffect, LatentEffect
from rinn.refitting.models import GraphModel, NodeFunction
from rinn.refitting.plain import compare_regression
from rinn.refitting.refit import Comparison, Refit, compare_losses, predict_test, refit_graph

__all__ = [
    "Comparison",
    "EdgeEffect",
    "GraphModel",
    "LatentEffect",
    "NodeFunction",
    "Refit",
    "compare_losses",
    "compare_regression",
    "predict_test",
    "refit_graph",
]
