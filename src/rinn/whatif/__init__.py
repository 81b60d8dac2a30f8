"""A finished run put to use: the activity of its latents in samples, and what would be if."""

from rinn.whatif.activity import find_activity
from rinn.whatif.interventions import Prediction, predict_do
from rinn.whatif.models import Range, RunModel, load_model

__all__ = ["Prediction", "Range", "RunModel", "find_activity", "load_model", "predict_do"]
