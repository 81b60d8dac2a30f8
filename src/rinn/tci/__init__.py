"""TCI, tumour-specific causal inference: which alteration changed which gene in which tumour."""

from rinn.tci.calls import Calls, Features, call_drivers, select_features
from rinn.tci.drivers import Tci, find_drivers
from rinn.tci.events import Events, as_events, fingerprint_events, load_events
from rinn.tci.inference import Causes, infer_causes
from rinn.tci.labels import Labels, load_labels
from rinn.tci.marginals import log_marginal
from rinn.tci.null import find_cutoffs, permute_events, read_cutoffs
from rinn.tci.priors import Prior, load_prior, make_prior
from rinn.tci.settings import TciSettings

__all__ = [
    "Calls",
    "Causes",
    "Events",
    "Features",
    "Labels",
    "Prior",
    "Tci",
    "TciSettings",
    "as_events",
    "call_drivers",
    "find_cutoffs",
    "find_drivers",
    "fingerprint_events",
    "infer_causes",
    "load_events",
    "load_labels",
    "load_prior",
    "log_marginal",
    "make_prior",
    "permute_events",
    "read_cutoffs",
    "select_features",
]
