"""What a strategy is: one that trains networks, or one that finds graphs by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import pandas as pd

from rinn.config import RunSettings, Trial
from rinn.data.problem import Problem, see_outputs
from rinn.data.records import Data
from rinn.nets.search import DESCENT, Engine


@dataclass(frozen=True)
class Networks:
    """A strategy that plans trials, which an engine turns into networks.

    `autoencoder` says that the networks learn the outputs from the outputs, so that they know
    nothing of the inputs. `is_optional` says that with `--effects auto` no network is trained where
    a regression is enough; the others are there to be compared.
    """

    title: str
    plan: Callable[[RunSettings, Problem], list[Trial]]
    engine: Engine = DESCENT
    autoencoder: bool = False
    is_optional: bool = False

    @property
    def takes_all(self) -> bool:
        """Whether its networks can learn with covariates, gaps, and outputs of several kinds."""
        return self.engine is DESCENT

    def sees(self, problem: Problem) -> Problem:
        """What the networks learn from."""
        return see_outputs(problem) if self.autoencoder else problem


@dataclass(frozen=True)
class Detected:
    """The graphs of all settings that were tried, and which of them was chosen."""

    graphs: tuple[nx.DiGraph, ...]
    chosen: int
    trials: pd.DataFrame


@dataclass(frozen=True)
class Detection:
    """A strategy that finds graphs in the data without any network."""

    title: str
    detect: Callable[[Data, RunSettings], Detected]


Strategy = Networks | Detection
