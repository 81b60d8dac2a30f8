"""Learn the hidden causal graph between known causes (X) and known effects (Y)."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as in `typing`, whose import would take longer than this file's
if TYPE_CHECKING:
    from typing import Any

    from rinn.config import EvolutionSettings as EvolutionSettings
    from rinn.config import NetSettings as NetSettings
    from rinn.config import RunSettings as RunSettings
    from rinn.config import Trial as Trial
    from rinn.data.align import as_data as as_data
    from rinn.data.align import load_data as load_data
    from rinn.data.genesets import load_gmt as load_gmt
    from rinn.data.problem import Problem as Problem
    from rinn.data.problem import make_problem as make_problem
    from rinn.data.records import Data as Data
    from rinn.errors import InputError as InputError
    from rinn.estimators import DBN as DBN
    from rinn.estimators import DM as DM
    from rinn.estimators import DNN as DNN
    from rinn.estimators import ESC as ESC
    from rinn.estimators import RINN as RINN
    from rinn.estimators import Regression as Regression
    from rinn.fit import fit_run as fit_run
    from rinn.genomics.align import match_tables as match_tables
    from rinn.genomics.prepare.run import prepare as prepare
    from rinn.genomics.prepare.settings import PrepareSettings as PrepareSettings
    from rinn.genomics.prepare.settings import Sources as Sources
    from rinn.genomics.readers.cbioportal import load_cbioportal as load_cbioportal
    from rinn.genomics.readers.gct import load_gct as load_gct
    from rinn.genomics.readers.gistic import load_gistic as load_gistic
    from rinn.genomics.readers.h5ad import load_h5ad as load_h5ad
    from rinn.genomics.readers.maf import load_maf as load_maf
    from rinn.genomics.readers.xena import load_xena as load_xena
    from rinn.genomics.tci.calls import find_drivers as find_drivers
    from rinn.genomics.tci.events import as_events as as_events
    from rinn.genomics.tci.events import load_events as load_events
    from rinn.genomics.tci.settings import TciSettings as TciSettings
    from rinn.graphs.assumptions import Assumption as Assumption
    from rinn.graphs.assumptions import DataComparison as DataComparison
    from rinn.graphs.assumptions import PairTest as PairTest
    from rinn.graphs.assumptions import check_assumptions as check_assumptions
    from rinn.graphs.compare import equal_graphs as equal_graphs
    from rinn.graphs.compare import score_graph as score_graph
    from rinn.graphs.export import export_graph as export_graph
    from rinn.graphs.files import load_graph as load_graph
    from rinn.graphs.files import write_graph as write_graph
    from rinn.graphs.protocol import score_protocol as score_protocol
    from rinn.graphs.separation import Statement as Statement
    from rinn.graphs.separation import check_faithfulness as check_faithfulness
    from rinn.graphs.separation import check_markov as check_markov
    from rinn.graphs.separation import is_separated as is_separated
    from rinn.graphs.separation import list_statements as list_statements
    from rinn.graphs.theory import LatentFinding as LatentFinding
    from rinn.graphs.theory import SignatureClass as SignatureClass
    from rinn.graphs.theory import explain_latents as explain_latents
    from rinn.graphs.theory import modify_graph as modify_graph
    from rinn.graphs.theory import signature_classes as signature_classes
    from rinn.nets.groups import TrainedNet as TrainedNet
    from rinn.nets.maps import map_net as map_net
    from rinn.nets.redundant import Weights as Weights
    from rinn.nets.search import run_search as run_search
    from rinn.nets.selection import select_accurate as select_accurate
    from rinn.nets.selection import select_nearest as select_nearest
    from rinn.pipeline import Fit as Fit
    from rinn.pipeline import fit_data as fit_data
    from rinn.refit.compare import compare_losses as compare_losses
    from rinn.refit.intervene import Prediction as Prediction
    from rinn.refit.intervene import predict_do as predict_do
    from rinn.refit.refit import refit_graph as refit_graph
    from rinn.refit.samples import RunModel as RunModel
    from rinn.refit.samples import find_activity as find_activity
    from rinn.runs.model import load_model as load_model
    from rinn.runs.read import load_effects as load_effects
    from rinn.runs.score import score_path as score_path
    from rinn.simulate.datasets import make_dataset as make_dataset
    from rinn.simulate.writing import write_simulation as write_simulation
    from rinn.strategies import plan_trials as plan_trials
    from rinn.structure.check import compare_with_data as compare_with_data
    from rinn.structure.consensus import learn_graph as learn_graph
    from rinn.structure.effects import estimate_effects as estimate_effects
    from rinn.structure.enrichment import enrich_latents as enrich_latents
    from rinn.structure.prior.sources import PriorKnowledge as PriorKnowledge
    from rinn.structure.prior.sources import load_prior as load_prior
    from rinn.structure.similarity import compare_inputs as compare_inputs

    __version__: str

# The public names and the modules they live in. Each is imported when it is first asked for, so
# that `rinn --help` does not wait for JAX.
_HOMES = {
    "RINN": "estimators",
    "DNN": "estimators",
    "DBN": "estimators",
    "ESC": "estimators",
    "DM": "estimators",
    "Regression": "estimators",
    "make_dataset": "simulate.datasets",
    "write_simulation": "simulate.writing",
    "load_data": "data.align",
    "as_data": "data.align",
    "make_problem": "data.problem",
    "plan_trials": "strategies",
    "run_search": "nets.search",
    "select_accurate": "nets.selection",
    "select_nearest": "nets.selection",
    "map_net": "nets.maps",
    "estimate_effects": "structure.effects",
    "learn_graph": "structure.consensus",
    "score_protocol": "graphs.protocol",
    "score_graph": "graphs.compare",
    "modify_graph": "graphs.theory",
    "explain_latents": "graphs.theory",
    "signature_classes": "graphs.theory",
    "check_assumptions": "graphs.assumptions",
    "equal_graphs": "graphs.compare",
    "compare_with_data": "structure.check",
    "check_markov": "graphs.separation",
    "check_faithfulness": "graphs.separation",
    "is_separated": "graphs.separation",
    "list_statements": "graphs.separation",
    "refit_graph": "refit.refit",
    "compare_losses": "refit.compare",
    "fit_data": "pipeline",
    "fit_run": "fit",
    "score_path": "runs.score",
    "load_graph": "graphs.files",
    "write_graph": "graphs.files",
    "export_graph": "graphs.export",
    "load_prior": "structure.prior.sources",
    "load_model": "runs.model",
    "predict_do": "refit.intervene",
    "find_activity": "refit.samples",
    "load_gmt": "data.genesets",
    "enrich_latents": "structure.enrichment",
    "load_effects": "runs.read",
    "compare_inputs": "structure.similarity",
    "load_maf": "genomics.readers.maf",
    "load_gistic": "genomics.readers.gistic",
    "load_cbioportal": "genomics.readers.cbioportal",
    "load_xena": "genomics.readers.xena",
    "load_gct": "genomics.readers.gct",
    "load_h5ad": "genomics.readers.h5ad",
    "match_tables": "genomics.align",
    "prepare": "genomics.prepare.run",
    "load_events": "genomics.tci.events",
    "as_events": "genomics.tci.events",
    "find_drivers": "genomics.tci.calls",
    "Data": "data.records",
    "Problem": "data.problem",
    "NetSettings": "config",
    "EvolutionSettings": "config",
    "RunSettings": "config",
    "Trial": "config",
    "TrainedNet": "nets.groups",
    "Fit": "pipeline",
    "Weights": "nets.redundant",
    "Assumption": "graphs.assumptions",
    "LatentFinding": "graphs.theory",
    "SignatureClass": "graphs.theory",
    "DataComparison": "graphs.assumptions",
    "PairTest": "graphs.assumptions",
    "Statement": "graphs.separation",
    "PriorKnowledge": "structure.prior.sources",
    "PrepareSettings": "genomics.prepare.settings",
    "Sources": "genomics.prepare.settings",
    "TciSettings": "genomics.tci.settings",
    "Prediction": "refit.intervene",
    "RunModel": "refit.samples",
    "InputError": "errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = importlib.import_module("importlib.metadata").version("rinn")
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"rinn.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'rinn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
