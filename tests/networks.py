"""Small problems and searches that the tests share."""

from __future__ import annotations

import numpy as np

from rinn.config import SPLITS, NetSettings, Trial
from rinn.problem import make_problem
from rinn.records import Data


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


def small_problem(**changes):
    return make_problem(small_data(**changes))


def make_trials(settings=3, **changes):
    """Settings that differ in every respect a batch allows, each on both splits."""
    nets = []
    for number in range(settings):
        own = {
            "width": (3, 4, 5)[number % 3],
            "layers": 4,
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
