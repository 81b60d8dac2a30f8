"""The search for a latent graph as scikit-learn estimators, one for each strategy."""

from rinn.estimators.dbn import DBN
from rinn.estimators.dm import DM
from rinn.estimators.predictors import DNN, ESC, RINN
from rinn.estimators.regression import Regression

__all__ = ["DBN", "DM", "DNN", "ESC", "RINN", "Regression"]
