"""A run folder written by hand, whose graph is a linear network with known weights."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pandas as pd

from rinn.config import NetSettings, Trial
from rinn.graphs.files import write_graph
from rinn.nets.groups import TrainedNet
from rinn.nets.redundant import Weights
from rinn.refit.model import GraphModel, NodeFunction, run_model
from rinn.runs.checkpoint import save_kept
from run_folders import make_manifest

INPUTS = ("A", "B", "TP53_x", "idle")
OUTPUTS = ("y0", "y1", "y2", "TP53_y")
LATENTS = ("L1", "L2")
# The two models differ in one weight only: A -> L1.
FIRST, SECOND = 2.0, 4.0
EDGES = {
    ("B", "L1"): 0.5,
    ("L1", "L2"): -1.0,
    ("TP53_x", "L2"): 3.0,
    ("L1", "y0"): 0.25,
    ("L1", "y1"): 1.0,
    ("L2", "y2"): 2.0,
    ("L2", "TP53_y"): -1.0,
}
X_MEAN, X_STD = [0.0, 10.0, 0.0, 0.0], [1.0, 2.0, 1.0, 1.0]
Y_MEAN, Y_STD = [100.0, 0.0, 0.0, 0.0], [10.0, 1.0, 1.0, 1.0]


def make_table():
    """Eight samples: A is on in two, B goes from 3 to 17, TP53 is on in four."""
    a = [1, 1, 0, 0, 0, 0, 0, 0]
    b = [3, 5, 7, 9, 11, 13, 15, 17]
    names = [f"s{row}" for row in range(8)]
    values = {"A": a, "B": b, "TP53": [0, 1] * 4, "idle": [0, 0, 1, 1] * 2}
    return pd.DataFrame(values, index=names, dtype=float)


def make_function(weights):
    parents, values = tuple(weights), np.array(list(weights.values()))
    none = np.zeros(0)
    return NodeFunction(parents, 0.0, values, none, np.zeros((0, len(parents))), none)


def make_model(strength):
    edges = {("A", "L1"): strength} | EDGES
    functions = {
        node: make_function({source: w for (source, target), w in edges.items() if target == node})
        for node in (*LATENTS, *OUTPUTS)
    }
    return GraphModel(INPUTS, OUTPUTS, functions)


def make_net(number, slope):
    """A network of one ReLU node: y0 rises by the slope with A, in the networks' units."""
    inputs = np.array([[[1.0, 0, 0, 0]]], np.float32)
    output = np.array([[slope], [0.0], [0.0], [0.0]], np.float32)
    weights = Weights(
        inputs, np.zeros((0, 1, 1), np.float32), output, np.zeros((1, 1)), np.zeros(4)
    )
    weights = Weights(*(np.asarray(part, np.float32) for part in weights))
    trial = Trial(number, number // 2, number % 2, NetSettings(width=1, layers=1))
    return TrainedNet(trial, weights, "stopped", 3, 0.5, 0.5, 0.5)


def make_drawing():
    graph = nx.DiGraph()
    for role, names in (("input", INPUTS), ("latent", LATENTS), ("output", OUTPUTS)):
        graph.add_nodes_from(names, role=role)
    graph.add_edges_from([("A", "L1"), *EDGES])
    return graph


def make_notes(**changes):
    table = make_table().to_numpy()
    notes = {"loss": "mse", "x_scaling_mean": X_MEAN, "x_scaling_std": X_STD}
    notes |= {"y_scaling_mean": Y_MEAN, "y_scaling_std": Y_STD}
    notes |= {"x_min": table.min(axis=0).tolist(), "x_max": table.max(axis=0).tolist()}
    return notes | {"x_mean": table.mean(axis=0).tolist()} | changes


def write_linear_run(folder, notes=None, strengths=(FIRST, SECOND), slopes=(0.1, 0.3), **changes):
    """Write everything that `load_model` and `load_effects` read."""
    folder.mkdir(parents=True)
    tables = {"x": "x.csv", "y": "y.csv", "samples": 8, "dropped": []}
    tables |= {"inputs": list(INPUTS), "outputs": list(OUTPUTS)}
    networks = {"trained": 4, "sets": 2, "kept": list(range(len(slopes))), "paper": [7]}
    manifest = make_manifest(tables=tables, networks=networks)
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))
    nets = [make_net(number, slope) for number, slope in enumerate(slopes)]
    save_kept(
        folder / "weights.safetensors", [*nets, make_net(7, 9.9)], make_notes(**(notes or {}))
    )
    models = [make_model(strength) for strength in strengths]
    refit = {"loss": "mse", "models": [model.to_json() for model in models]}
    (folder / "refit.json").write_text(json.dumps(refit))
    find_table(models).to_csv(folder / "activity.csv")
    write_graph(make_drawing(), folder / "graph.json")
    effects = [[9.0, 8.0, -9.0, 8.0], [-8.0, -8.0, 8.0, -9.0], [0.0, 0.0, 9.0, -9.0]]
    values = pd.DataFrame([*effects, [0.3, -0.2, 0.1, 0.4]], index=INPUTS, columns=OUTPUTS)
    values.to_csv(folder / "effects.csv")
    return folder


def find_table(models):
    x = ((make_table().to_numpy() - X_MEAN) / X_STD).T
    runs = [run_model(model, x) for model in models]
    columns = {name: np.mean([run[name] for run in runs], axis=0) for name in LATENTS}
    return pd.DataFrame(columns, index=pd.Index(make_table().index, name="sample"))
