"""Small problems and searches that the tests share."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import rinn.strategies.esc
import rinn.strategies.rinn
from rinn.config import SPLITS, EvolutionSettings, NetSettings, Trial
from rinn.data.problem import make_problem
from rinn.data.records import Data
from rinn.strategies.planning import draw_default

SHALLOW = (
    functools.partial(draw_default, layers=2),
    functools.partial(EvolutionSettings, layers=2, width=4, population=41),
)
DEEP = (draw_default, EvolutionSettings)


@contextmanager
def _draw_from(descent, evolution):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rinn.strategies.rinn, "draw_default", descent)
        patch.setattr(rinn.strategies.esc, "EvolutionSettings", evolution)
        yield


def shallow_networks():
    """Within it runs of the default budget train networks that are compiled soon."""
    return _draw_from(*SHALLOW)


def deep_networks():
    """Within it runs of the default budget train what users train."""
    return _draw_from(*DEEP)


def small_data(samples=200, inputs=4, outputs=3, binary=False, seed=0):
    rng = np.random.default_rng(seed)
    x = (rng.random((samples, inputs)) < 0.4).astype(float)
    weights = rng.normal(size=(inputs, outputs))
    y = x @ weights + 0.1 * rng.normal(size=(samples, outputs))
    if binary:
        y = (y > np.median(y, axis=0)).astype(float)
    names = [
        tuple(f"{letter}{i}" for i in range(n)) for letter, n in (("x", inputs), ("y", outputs))
    ]
    return Data(x, y, *names)


def mixed_data(samples=200, missing=0.1, seed=0):
    """A number, a 0/1, a scattered count and a rare one, all caused by x; cells are missing."""
    data = small_data(samples, outputs=4, seed=seed)
    rng = np.random.default_rng([seed, 1])
    z = (data.y - data.y.mean(axis=0)) / data.y.std(axis=0)
    y = np.column_stack(
        [
            10 + 3 * z[:, 0],
            rng.random(samples) < 1 / (1 + np.exp(-2 * z[:, 1])),
            rng.poisson(np.exp(1 + 0.5 * z[:, 2]) * rng.gamma(4, 0.25, samples)),
            rng.poisson(np.exp(-1 + 0.5 * z[:, 3])),
        ]
    ).astype(float)
    y[rng.random(y.shape) < missing] = np.nan
    return replace(data, y=y, kinds=(("y2", "count"), ("y3", "count")))


def small_problem(**changes):
    return make_problem(small_data(**changes))


def make_trials(settings=3, **changes):
    """Settings that differ in every respect a batch allows, each on both splits."""
    nets = []
    for number in range(settings):
        own = {
            "width": (3, 4, 5)[number % 3],
            "layers": 2,
            "batch_size": (16, 32)[number % 2],
            "activation": ("relu", "sigmoid", "tanh", "softplus")[number % 4],
            "optimiser": ("adam", "rmsprop", "sgd")[number % 3],
            "initialiser": ("he", "xavier", "normal")[number % 3],
            "learning_rate": 10.0 ** -(2 + number % 2),
            "l1": 10.0 ** -(3 + number % 2),
            "l2": 1e-4 * (number % 2),
            "epochs": 5,
            "seed": number,
        }
        nets.append(NetSettings(**(own | changes)))
    return [
        Trial(SPLITS * setting + split, setting, split, net)
        for setting, net in enumerate(nets)
        for split in range(SPLITS)
    ]
