"""From the files of a cancer study to X, Y and covariates that `rinn fit` takes."""

from rinn.preparing.preparation import Prepared, prepare_tables
from rinn.preparing.run import prepare
from rinn.preparing.settings import PrepareSettings, Sources
from rinn.preparing.sources import Readings, read_sources

__all__ = [
    "PrepareSettings",
    "Prepared",
    "Readings",
    "Sources",
    "prepare",
    "prepare_tables",
    "read_sources",
]
