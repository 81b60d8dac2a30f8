"""How much of a graph is chance: the same search where nothing can be found, and among decoys.

With the rows of Y permuted, no input has to do with any output, while inputs and outputs keep all
they have among themselves: whatever edge is found then is chance. Comparing their number with that
of the real edges gives q-values (Storey 2002: A direct approach to false discovery rates). Decoys,
permuted copies of inputs beside the real ones, are a second opinion, in data where there is
something to find.
"""

from rinn.chance.counting import assign_q, expected_by_chance, q_values
from rinn.chance.records import DECOY_ROUND, Null, NullRound
from rinn.chance.rounds import (
    MOST_DECOYS,
    NETWORKS,
    add_decoys,
    fit_null,
    fit_round,
    permute_outputs,
)
from rinn.chance.telling import LEVEL, summarise_null

__all__ = [
    "DECOY_ROUND",
    "LEVEL",
    "MOST_DECOYS",
    "NETWORKS",
    "Null",
    "NullRound",
    "add_decoys",
    "assign_q",
    "expected_by_chance",
    "fit_null",
    "fit_round",
    "permute_outputs",
    "q_values",
    "summarise_null",
]
