"""Prior knowledge: statements, gene sets and networks, brought to the columns of data."""

from rinn.knowledge.resolving import Resolved, resolve
from rinn.knowledge.sif import Network, load_sif
from rinn.knowledge.sources import Knowledge, load_knowledge
from rinn.knowledge.statements import Statement, load_statements

__all__ = [
    "Knowledge",
    "Network",
    "Resolved",
    "Statement",
    "load_knowledge",
    "load_sif",
    "load_statements",
    "resolve",
]
