"""The paper's Tables 1, 2 and 3 beside ours, for any choice of datasets and strategies."""

from rinn.reproduction.cells import Cell, GraphF1, MapScores, Spread
from rinn.reproduction.grid import reproduce

__all__ = ["Cell", "GraphF1", "MapScores", "Spread", "reproduce"]
