"""The claims on recovery, on fresh data: minutes each, run before a release."""

from __future__ import annotations

import numpy as np
import pytest

from rinn.config import RunSettings
from rinn.devices import find_devices
from rinn.evaluation import map_trained
from rinn.pairing import as_data
from rinn.pipeline import fit_data, score_found
from rinn.simulation import make_dataset

BARS = {"matrix": 0.90, "gaussian": 0.70, "or": 0.80, "logic": 0.75}


@pytest.mark.slow
@pytest.mark.parametrize("dataset", list(BARS))
def test_default_budget_under_the_papers_protocol(dataset):
    """Mean hidden F1 over three draws of the data, threshold chosen as in the paper."""
    found = []
    for seed in range(3):
        simulation = make_dataset(dataset, seed=seed)
        data = as_data(simulation.x, simulation.y)
        fit = fit_data(data, RunSettings(), find_devices("cpu"))
        maps = [map_trained(net) for net in fit.ten]
        paper, _ = score_found(maps, fit.latent.graph, simulation.truth, data.inputs, data.outputs)
        found.append(paper.hidden.mean["f1"])
    assert np.mean(found) >= BARS[dataset], found
