"""The claims on recovery, on fresh data: minutes each, run before a release."""

from __future__ import annotations

import numpy as np
import pytest

from rinn.config import RunSettings
from rinn.data.align import as_data
from rinn.graphs.compare import score_graph
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data
from rinn.simulate.datasets import make_dataset

BARS = {"matrix": 0.98, "gaussian": 0.95, "or": 0.98, "logic": 0.95}


@pytest.mark.slow
@pytest.mark.parametrize("dataset", list(BARS))
def test_default_budget_finds_the_latents(dataset):
    """Mean F1 of the graph's latents over three draws of the data, no truth used."""
    found = []
    for seed in range(3):
        simulation = make_dataset(dataset, seed=seed)
        data = as_data(simulation.x, simulation.y)
        fit = fit_data(data, RunSettings(), find_devices("cpu"))
        found.append(score_graph(fit.latent.graph, simulation.truth).latents.f1)
    assert np.mean(found) >= BARS[dataset], found
