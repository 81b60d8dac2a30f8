import sys
from pathlib import Path

import numpy as np

from linear_graphs import CHAIN, draw_rows, draw_structure, find_exact_moments, make_sample
from rinn.structure.score import Misfit

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import bench_criterion as bench


def test_the_smallest_graph_within_the_errors_is_taken():
    rng = np.random.default_rng(0)
    base = rng.normal(size=400)
    losses = np.stack([base + 2 + rng.normal(size=400), base + 0.05 + rng.normal(size=400), base])
    assert bench.take_smallest(losses, 2, 0.0) == 2
    assert bench.take_smallest(losses, 2, 3.0) == 1


def test_the_path_has_one_edge_more_each_time_and_held_out_rows_prefer_the_truth():
    structure, *_ = draw_structure(CHAIN, 1, extra_inputs=1)
    path = bench.make_path(structure, Misfit(find_exact_moments(structure), effects_only=True))
    sizes = [int(graph.edges.sum()) for graph in path]
    assert sizes == list(range(sizes[0], sizes[0] + len(path)))
    sample = make_sample(*draw_rows(structure, 2000, 1))
    losses = np.stack([bench.find_held_out(graph, sample) for graph in path])
    chosen = bench.take_smallest(losses, int(losses.mean(axis=1).argmin()), 2.0)
    assert sizes[chosen] == int(structure.edges.sum())
