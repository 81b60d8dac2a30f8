"""The activity of a run's latents in any samples."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from rinn.refit.model import run_model
from rinn.refit.samples import RunModel, Samples, Source, take_samples


def find_activity(model: RunModel, x: Source) -> pd.DataFrame:
    """Compute the activity of each latent in each sample.

    It is the value that the graph's own network gives the latent, a mean over the models of the
    splits: mean 0 and standard deviation 1 over the run's own samples, turned so that it raises
    the outputs. For these samples it is what activity.csv holds.

    Args:
        model: from `load_model`.
        x: the inputs: a file, a DataFrame, or an array in the order of the run's inputs.

    Returns:
        One row for each sample, one column for each latent.

    Raises:
        InputError: the table cannot be read, or lacks an input.

    Warns:
        UserWarning: X has columns or values that the run did not see.
    """
    samples = take_samples(model, x)
    for caution in samples.cautions:
        warnings.warn(caution, stacklevel=2)
    return tabulate_samples(model, samples)


def tabulate_samples(model: RunModel, samples: Samples) -> pd.DataFrame:
    """Compute the activity of each latent in samples that are already in the run's units."""
    runs = [run_model(own, samples.x) for own in model.models]
    values = np.zeros((len(samples.names), len(model.latents)))  # [sample, latent]
    for column, latent in enumerate(model.latents):
        values[:, column] = np.mean([run[latent] for run in runs], axis=0)
    index = pd.Index(samples.names, name="sample")
    return pd.DataFrame(values, index=index, columns=list(model.latents))
