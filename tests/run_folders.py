"""Run folders written by hand, for tests that only look at them."""

from __future__ import annotations

import json

import networkx as nx

from rinn.graphs.files import write_graph


def fork_graph(weight=1.5):
    """Two inputs, one latent, two outputs."""
    graph = nx.DiGraph()
    for name in ("x0", "x1", "h", "y0", "y1"):
        role = {"x": "input", "h": "latent", "y": "output"}[name[0]]
        graph.add_node(name, role=role)
    graph.add_edge("x0", "h", weight=weight, frequency=1.0)
    graph.add_edge("x1", "h", weight=-weight, frequency=0.8)
    graph.add_edge("h", "y0", weight=weight, frequency=1.0)
    graph.add_edge("h", "y1", frequency=0.5)
    return graph


def make_scores():
    one, other = ({"precision": f1, "recall": f1, "f1": f1} for f1 in (0.875, 0.5))
    counts = {"shd": 3, "order_errors": 0, "twins": 0, "twins_found": 0}
    graph = {"latents": one, "edges": other, "latent_edges": other} | counts
    return {"paper": {"hidden": one, "input": other, "threshold": None}, "graph": graph}


def make_comparison(is_adequate=True):
    difference = 0.0 if is_adequate else 0.5
    losses = {"graph_loss": 1.0 + difference, "free_loss": 1.0, "difference": difference}
    return losses | {"error": 0.1, "other": "others", "mean_loss": None, "max_errors": 1.0}


def make_manifest(**changes):
    return {
        "format": 1,
        "status": "complete",
        "settings": {"strategy": "rinn", "seed": 0},
        "data": {"x": "a", "y": "b"},
        "created": "2026-03-01T10:20:30+0000",
        "tables": {
            "x": "x.csv",
            "y": "y.csv",
            "samples": 500,
            "inputs": ["x0", "x1"],
            "outputs": ["y0", "y1"],
            "dropped": [],
        },
        "versions": {"rinn": "0.1.0"},
        "device": {"platform": "cpu", "kind": "cpu", "count": 1},
        "plan": "",
        "command": ["rinn", "fit", "data/or/x.csv", "data/or/y.csv"],
        "seconds": 12.3,
        "networks": {"trained": 8, "sets": 4, "kept": [0], "paper": [0]},
        "test": {
            "error": {"mean": 0.25, "sd": 0.01},
            "auroc": None,
            "samples": 50,
            "loss": "bce",
        },
        "scores": make_scores(),
    } | changes


def write_run(folder, graph=None, report="<!doctype html><title>report</title>", **changes):
    """Write a finished run with a graph and a report."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(make_manifest(**changes)))
    (folder / "trials.csv").write_text("trial\n0\n1\n")
    (folder / "report.html").write_text(report)
    write_graph(graph or fork_graph(), folder / "graph.json")
    return folder
