"""Learn the hidden causal graph between known causes (X) and known effects (Y)."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as in `typing`, whose import would take longer than this file's
if TYPE_CHECKING:
    from typing import Any

    from rinn.causal import Assumption as Assumption
    from rinn.causal import DataComparison as DataComparison
    from rinn.causal import LatentFinding as LatentFinding
    from rinn.causal import PairTest as PairTest
    from rinn.causal import SignatureClass as SignatureClass
    from rinn.causal import Statement as Statement
    from rinn.causal import check_assumptions as check_assumptions
    from rinn.causal import check_faithfulness as check_faithfulness
    from rinn.causal import check_markov as check_markov
    from rinn.causal import compare_with_data as compare_with_data
    from rinn.causal import equal_graphs as equal_graphs
    from rinn.causal import explain_latents as explain_latents
    from rinn.causal import is_separated as is_separated
    from rinn.causal import list_statements as list_statements
    from rinn.causal import modify_graph as modify_graph
    from rinn.causal import signature_classes as signature_classes
    from rinn.cohorts import TrainedNet as TrainedNet
    from rinn.config import EvolutionSettings as EvolutionSettings
    from rinn.config import NetSettings as NetSettings
    from rinn.config import RunSettings as RunSettings
    from rinn.config import Trial as Trial
    from rinn.errors import InputError as InputError
    from rinn.estimators import DBN as DBN
    from rinn.estimators import DM as DM
    from rinn.estimators import DNN as DNN
    from rinn.estimators import ESC as ESC
    from rinn.estimators import RINN as RINN
    from rinn.estimators import Regression as Regression
    from rinn.export import export_graph as export_graph
    from rinn.graphfiles import load_graph as load_graph
    from rinn.graphfiles import write_graph as write_graph
    from rinn.knowledge import Knowledge as Knowledge
    from rinn.knowledge import load_knowledge as load_knowledge
    from rinn.maps import map_net as map_net
    from rinn.matching import score_graph as score_graph
    from rinn.meaning import compare_inputs as compare_inputs
    from rinn.meaning import enrich_latents as enrich_latents
    from rinn.meaning import load_effects as load_effects
    from rinn.meaning import load_gmt as load_gmt
    from rinn.nets.redundant import Weights as Weights
    from rinn.pairing import as_data as as_data
    from rinn.pairing import load_data as load_data
    from rinn.pipeline import Fit as Fit
    from rinn.pipeline import fit_data as fit_data
    from rinn.preparing import PrepareSettings as PrepareSettings
    from rinn.preparing import Sources as Sources
    from rinn.preparing import prepare as prepare
    from rinn.problem import Problem as Problem
    from rinn.problem import make_problem as make_problem
    from rinn.readers import load_cbioportal as load_cbioportal
    from rinn.readers import load_gct as load_gct
    from rinn.readers import load_gistic as load_gistic
    from rinn.readers import load_h5ad as load_h5ad
    from rinn.readers import load_maf as load_maf
    from rinn.readers import load_xena as load_xena
    from rinn.readers import match_readings as match_readings
    from rinn.records import Data as Data
    from rinn.refitting import compare_losses as compare_losses
    from rinn.refitting import refit_graph as refit_graph
    from rinn.runs import fit_run as fit_run
    from rinn.runscores import score_path as score_path
    from rinn.scoring import score_protocol as score_protocol
    from rinn.search import run_search as run_search
    from rinn.selection import select_accurate as select_accurate
    from rinn.selection import select_nearest as select_nearest
    from rinn.simulation import make_dataset as make_dataset
    from rinn.simulation import write_simulation as write_simulation
    from rinn.strategies import plan_trials as plan_trials
    from rinn.structure import estimate_effects as estimate_effects
    from rinn.structure import learn_graph as learn_graph
    from rinn.tci import TciSettings as TciSettings
    from rinn.tci import as_events as as_events
    from rinn.tci import find_drivers as find_drivers
    from rinn.tci import load_events as load_events
    from rinn.whatif import Prediction as Prediction
    from rinn.whatif import RunModel as RunModel
    from rinn.whatif import find_activity as find_activity
    from rinn.whatif import load_model as load_model
    from rinn.whatif import predict_do as predict_do

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
    "make_dataset": "simulation",
    "write_simulation": "simulation",
    "load_data": "pairing",
    "as_data": "pairing",
    "make_problem": "problem",
    "plan_trials": "strategies",
    "run_search": "search",
    "select_accurate": "selection",
    "select_nearest": "selection",
    "map_net": "maps",
    "estimate_effects": "structure",
    "learn_graph": "structure",
    "score_protocol": "scoring",
    "score_graph": "matching",
    "modify_graph": "causal",
    "explain_latents": "causal",
    "signature_classes": "causal",
    "check_assumptions": "causal",
    "equal_graphs": "causal",
    "compare_with_data": "causal",
    "check_markov": "causal",
    "check_faithfulness": "causal",
    "is_separated": "causal",
    "list_statements": "causal",
    "refit_graph": "refitting",
    "compare_losses": "refitting",
    "fit_data": "pipeline",
    "fit_run": "runs",
    "score_path": "runscores",
    "load_graph": "graphfiles",
    "write_graph": "graphfiles",
    "export_graph": "export",
    "load_knowledge": "knowledge",
    "load_model": "whatif",
    "predict_do": "whatif",
    "find_activity": "whatif",
    "load_gmt": "meaning",
    "enrich_latents": "meaning",
    "load_effects": "meaning",
    "compare_inputs": "meaning",
    "load_maf": "readers",
    "load_gistic": "readers",
    "load_cbioportal": "readers",
    "load_xena": "readers",
    "load_gct": "readers",
    "load_h5ad": "readers",
    "match_readings": "readers",
    "prepare": "preparing",
    "load_events": "tci",
    "as_events": "tci",
    "find_drivers": "tci",
    "Data": "records",
    "Problem": "problem",
    "NetSettings": "config",
    "EvolutionSettings": "config",
    "RunSettings": "config",
    "Trial": "config",
    "TrainedNet": "cohorts",
    "Fit": "pipeline",
    "Weights": "nets.redundant",
    "Assumption": "causal",
    "LatentFinding": "causal",
    "SignatureClass": "causal",
    "DataComparison": "causal",
    "PairTest": "causal",
    "Statement": "causal",
    "Knowledge": "knowledge",
    "PrepareSettings": "preparing",
    "Sources": "preparing",
    "TciSettings": "tci",
    "Prediction": "whatif",
    "RunModel": "whatif",
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
