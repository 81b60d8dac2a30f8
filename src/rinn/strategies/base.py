"""What a strategy is: one that trains networks, or one that detects graphs without any."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import pandas as pd

from rinn.config import RunSettings, Trial
from rinn.data.problem import Problem, see_outputs
from rinn.data.records import Data
from rinn.nets.search import DESCENT, Engine


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a strategy is called, and what it can take."""

    title: str  # what it is, for the help
    takes_covariates: bool = False  # whether it can adjust for covariates
    takes_missing: bool = False  # whether Y may have missing values
    takes_mixed: bool = False  # whether outputs may be of several kinds, or counts
    takes_few: bool = False  # whether there may be too few samples for a test set
    takes_prior: bool = False  # whether prior knowledge can act on its graph
    takes_null: bool = True  # whether its graph depends on which rows of X and Y belong together
    options: tuple[str, ...] = ()  # settings of a run that belong to it alone
    # how a graph is made without networks, for the report; {trials} is their number
    summary: str = ""
    choice: str = ""  # how one of several graphs is chosen; the report then lists all trials
    # what the report says of its graphs; if empty, what it says of rinn's
    caveats: tuple[str, ...] = ()
    # what comparisons say: its settings, what must hold, and who should use it rather than rinn
    setup: str = ""
    assumes: str = ""
    suits: str = ""
    package: str = ""  # what it imports that rinn does not depend on; the extra peers installs it

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs can be imported."""
        return not self.package or importlib.util.find_spec(self.package) is not None

    @property
    def refuses(self) -> tuple[str, ...]:
        """What it cannot take, for comparisons."""
        takes = {
            "missing values": self.takes_missing,
            "mixed or counted outputs": self.takes_mixed,
            "covariates": self.takes_covariates,
            "prior knowledge": self.takes_prior,
        }
        return tuple(name for name, is_taken in takes.items() if not is_taken)


@dataclass(frozen=True, kw_only=True)
class Networks(Capabilities):
    """A strategy that plans trials, which an engine turns into networks."""

    plan: Callable[[RunSettings, Problem], list[Trial]]  # the trials of a run
    engine: Engine = DESCENT  # what trains them
    # whether networks learn the outputs from the outputs, without the inputs
    is_autoencoder: bool = False
    is_optional: bool = False  # whether `effects="auto"` trains none where a regression is enough

    def select_inputs(self, problem: Problem) -> Problem:
        """The problem that the networks learn."""
        return see_outputs(problem) if self.is_autoencoder else problem


@dataclass(frozen=True)
class Detected:
    """The graphs of all settings that were tried, and the index of the chosen one."""

    graphs: tuple[nx.DiGraph, ...]
    chosen: int
    trials: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Detection(Capabilities):
    """A strategy that detects graphs in the data without any network."""

    detect: Callable[[Data, RunSettings], Detected]  # the graphs of a run
    takes_trials: bool = False  # whether the number of trials can be limited


Strategy = Networks | Detection
