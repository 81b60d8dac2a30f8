"""The public names and the modules they are in; `__init__.py` reads this table."""

from rinn.config import RunSettings as RunSettings
from rinn.data.align import load_data as load_data
from rinn.data.genesets import load_gmt as load_gmt
from rinn.errors import InputError as InputError
from rinn.estimators.strategies import DBN as DBN
from rinn.estimators.strategies import DM as DM
from rinn.estimators.strategies import DNN as DNN
from rinn.estimators.strategies import ESC as ESC
from rinn.estimators.strategies import RINN as RINN
from rinn.estimators.strategies import Regression as Regression
from rinn.fit import fit_run as fit_run
from rinn.graphs.assumptions import check_assumptions as check_assumptions
from rinn.graphs.compare import score_graph as score_graph
from rinn.graphs.export import export_graph as export_graph
from rinn.graphs.files import load_graph as load_graph
from rinn.graphs.files import write_graph as write_graph
from rinn.graphs.theory import explain_latents as explain_latents
from rinn.refit.intervene import predict_do as predict_do
from rinn.refit.samples import find_activity as find_activity
from rinn.runs.model import load_model as load_model
from rinn.runs.read import load_effects as load_effects
from rinn.simulate.datasets import make_dataset as make_dataset
from rinn.structure.check import compare_with_data as compare_with_data
from rinn.structure.enrichment import enrich_latents as enrich_latents
from rinn.structure.network_names import find_known_nodes as find_known_nodes
from rinn.structure.prior.network import load_network as load_network
from rinn.structure.prior.sources import load_prior as load_prior
from rinn.structure.similarity import compare_inputs as compare_inputs

__version__: str
