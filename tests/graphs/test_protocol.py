import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rinn.errors import InputError
from rinn.graphs.basics import latents_in_order
from rinn.graphs.protocol import (
    Score,
    reach_vectors,
    score_hidden,
    score_inputs,
    score_protocol,
    truth_patterns,
)
from tiny_graphs import make_graph, paper_truth

OUTPUTS = [f"y{i}" for i in range(16)]
INPUTS = [f"x{i}" for i in range(16)]
PATTERNS = truth_patterns(paper_truth(), OUTPUTS, INPUTS)
DIAGONAL, SQUARE, FRAME, COMBINATION, LEFT, RIGHT, PLUS = PATTERNS.hidden


def vector(*on):
    return np.isin(np.arange(16), on)


# No two of these are alike, and none is like a pattern.
WRONG = [vector(0, 1, 2), vector(12, 13, 14), vector(3, 6, 9, 12), vector(*range(16))]
ZERO = vector()


def flipped(pattern, *at):
    changed = pattern.copy()
    changed[list(at)] ^= True
    return changed


def by_definition(nodes, patterns):
    """Count hidden TP, FP, FN one node at a time."""
    matched, counted = set(), []
    for node in nodes:
        hits = [i for i, p in enumerate(patterns) if node.any() and (node != p).sum() <= 1]
        matched |= set(hits)
        if not hits and node.sum() > 1 and all((node != seen).sum() > 1 for seen in counted):
            counted.append(node)
    return len(matched), len(counted), len(patterns) - len(matched)


def test_paper_truth_has_seven_patterns():
    assert PATTERNS.hidden.sum(axis=1).tolist() == [4, 4, 12, 9, 6, 6, 5]
    assert (COMBINATION == SQUARE | PLUS).all()
    assert (FRAME == LEFT | RIGHT).all()
    assert PATTERNS.input.shape == (16, 16)
    assert (PATTERNS.input[0] == DIAGONAL).all()
    assert (PATTERNS.input[8] == FRAME).all()


def test_first_network_of_the_paper_misses_one_combination():
    layer_1 = [DIAGONAL, FRAME, SQUARE, LEFT, RIGHT, PLUS]
    score = score_hidden(np.array([*layer_1, ZERO, vector(9), DIAGONAL, SQUARE]), PATTERNS)
    assert (score.tp, score.fp, score.fn) == (6, 0, 1)
    assert (score.precision, score.recall) == (6 / 6, 6 / 7)


def test_second_network_of_the_paper_has_three_false_positives():
    score = score_hidden(np.array([DIAGONAL, *WRONG[:3], FRAME, SQUARE, PLUS]), PATTERNS)
    assert (score.precision, score.recall) == (4 / 7, 4 / 7)


def test_redundant_input_network_of_the_paper_has_four_false_positives():
    close = flipped(COMBINATION, 0)
    score = score_hidden(np.array([*WRONG, DIAGONAL, FRAME, SQUARE, close, LEFT, RIGHT]), PATTERNS)
    assert (score.precision, score.recall) == (6 / 10, 6 / 7)


@pytest.mark.parametrize(("wrong", "published"), [(4, (0.33, 0.29, 0.31)), (5, (0.29, 0.29, 0.29))])
def test_published_hidden_rows_of_detect_mimic(wrong, published):
    more = [*WRONG, vector(0, 3, 9, 14)][:wrong]
    repeated = [flipped(node, 8) for node in more]
    score = score_hidden(np.array([LEFT, *more, *repeated, vector(4), PLUS]), PATTERNS)
    assert (round(score.precision, 2), round(score.recall, 2), round(score.f1, 2)) == published


@pytest.mark.parametrize(
    ("right", "published"),
    [(5, (0.31, 0.48)), (11, (0.69, 0.81)), (9, (0.56, 0.72)), (7, (0.44, 0.61))],
)
def test_published_input_rows_of_detect_mimic(right, published):
    maps = PATTERNS.input.copy()
    maps[right:] ^= vector(1, 6, 9)
    score = score_inputs(maps, PATTERNS)
    assert (round(score.precision, 2), round(score.f1, 2)) == published
    assert score.recall == 1.0


def test_hidden_match_allows_one_output_and_no_more():
    assert score_hidden(np.array([flipped(PLUS, 0)]), PATTERNS).tp == 1
    two_off = score_hidden(np.array([flipped(PLUS, 0, 1)]), PATTERNS)
    assert (two_off.tp, two_off.fp) == (0, 1)


def test_false_positives_are_passed_over_only_near_a_counted_one():
    first, second, third = vector(0, 1, 2), vector(0, 1, 2, 15), vector(0, 1, 2, 12, 15)
    assert score_hidden(np.array([first, second, third]), PATTERNS).fp == 2
    assert score_hidden(np.array([second, first, third]), PATTERNS).fp == 1


def test_a_zero_vector_matches_nothing():
    truth = make_graph([("x0", "a"), ("a", "y0"), ("x1", "y1"), ("x1", "y2")], inputs=["x2"])
    patterns = truth_patterns(truth, ["y0", "y1", "y2"], ["x0", "x1", "x2"])
    zero = np.zeros((3, 3), dtype=bool)
    assert score_hidden(zero, patterns) == Score(0.0, 0.0, 0.0, tp=0, fp=0, fn=1)
    assert score_inputs(zero, patterns) == Score(0.0, 0.0, 0.0, tp=0, fp=0, fn=2)


def test_an_input_without_effect_can_only_be_wrong():
    truth = make_graph([("x0", "y0")], inputs=["x1"], outputs=["y1", "y2"])
    patterns = truth_patterns(truth, ["y0", "y1", "y2"], ["x0", "x1"])
    score = score_inputs(np.array([[True, False, False], [True, True, True]]), patterns)
    assert (score.tp, score.fp, score.fn) == (1, 1, 0)


def test_only_what_truth_and_maps_share_is_scored():
    outputs = ["gene", *OUTPUTS[:0:-1]]  # y0 was dropped, the order turned
    patterns = truth_patterns(paper_truth(), outputs, ["mutation", "x3", "x0"])
    assert patterns.outputs == tuple(OUTPUTS[:0:-1])
    assert patterns.inputs == ("x3", "x0")
    nodes = np.column_stack([np.ones(7, dtype=bool), PATTERNS.hidden[:, :0:-1]])
    assert score_hidden(nodes, patterns).f1 == 1.0
    maps = np.column_stack([np.ones(3, dtype=bool), PATTERNS.input[[5, 3, 0], :0:-1]])
    assert score_inputs(maps, patterns) == Score(1.0, 1.0, 1.0, tp=2, fp=0, fn=0)


def test_patterns_that_coincide_on_the_shared_outputs_count_once():
    truth = make_graph([("a", "b"), ("a", "y0"), ("b", "y1"), ("b", "y2"), ("c", "y3")])
    assert truth_patterns(truth, ["y1", "y2"], []).hidden.tolist() == [[True, True]]


def test_a_graph_is_scored_by_its_reach_even_with_a_cycle():
    found = make_graph([("a", "b"), ("b", "a"), *(("a", y) for y in ("y2", "y3", "y6", "y7"))])
    nodes = reach_vectors(found, latents_in_order(found), OUTPUTS)
    assert score_hidden(nodes, PATTERNS).tp == 1


@given(arrays(bool, st.tuples(st.integers(0, 12), st.just(16))))
def test_hidden_counts_follow_the_definition(nodes):
    near = np.concatenate([nodes, nodes[::-1] ^ vector(3), PATTERNS.hidden[: len(nodes)]])
    score = score_hidden(near, PATTERNS)
    assert (score.tp, score.fp, score.fn) == by_definition(near, PATTERNS.hidden)


@given(st.permutations(range(16)), st.permutations(range(7)))
def test_order_of_outputs_and_nodes_does_not_matter_for_matches(outputs, nodes):
    patterns = truth_patterns(paper_truth(), [OUTPUTS[i] for i in outputs], [])
    assert score_hidden(PATTERNS.hidden[nodes][:, outputs], patterns).f1 == 1.0


def test_protocol_finds_the_gap_and_takes_its_middle():
    noise = np.random.default_rng(0).uniform(0.0, 0.1, (2, 30, 16))
    hidden = [
        np.where(np.vstack([PATTERNS.hidden, noise[i, 7:] > 1]), -0.9, noise[i]) for i in (0, 1)
    ]
    before = [maps.copy() for maps in hidden]
    scores = score_protocol(hidden, [np.where(PATTERNS.input, 5.0, 0.0)] * 2, PATTERNS)
    assert scores.hidden.mean == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert 0.08 < scores.hidden.threshold < 0.9
    assert scores.input.threshold == 2.5
    assert all((a == b).all() for a, b in zip(hidden, before, strict=True))


def test_protocol_uses_one_threshold_for_all_models():
    strong, weak = np.where(PATTERNS.hidden, 1.0, 0.5), np.where(PATTERNS.hidden, 0.4, 0.1)
    scores = score_protocol([strong, weak, strong], None, PATTERNS)
    assert [score.tp for score in scores.hidden.scores] == [7, 0, 7]
    assert scores.hidden.threshold == 0.75
    assert scores.hidden.mean["f1"] == pytest.approx(2 / 3)
    assert scores.hidden.sd["f1"] == pytest.approx(np.std([1, 0, 1], ddof=1))


@pytest.mark.parametrize("size", [10, 60])
def test_protocol_beats_every_fixed_threshold(size):
    rng = np.random.default_rng(1)
    hidden = [
        PATTERNS.hidden[rng.integers(7, size=size)] + rng.normal(0, 0.2, (size, 16)) for _ in "ab"
    ]
    best = score_protocol(hidden, None, PATTERNS)
    for threshold in np.linspace(0.05, 1.5, 40):
        f1 = np.mean([score_hidden(np.abs(maps) > threshold, PATTERNS).f1 for maps in hidden])
        assert f1 <= best.hidden.mean["f1"] + 0.02  # many values: the search is a fine grid
    again = [score_hidden(np.abs(maps) > best.hidden.threshold, PATTERNS) for maps in hidden]
    assert tuple(again) == best.hidden.scores


def test_protocol_record_names_the_oracle():
    found = score_protocol([np.where(PATTERNS.hidden, 1.0, 0.0)], None, PATTERNS).to_json()
    assert found["hidden"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "sd": {"precision": 0.0, "recall": 0.0, "f1": 0.0},
        "threshold": 0.5,
    }
    assert (found["input"], found["threshold"], found["models"]) == (None, 0.5, 1)
    assert "oracle" in found["protocol"]


def test_protocol_of_maps_that_are_all_zero():
    scores = score_protocol([np.zeros((3, 16))], [np.zeros((16, 16))], PATTERNS)
    assert scores.hidden.scores == (Score(0.0, 0.0, 0.0, tp=0, fp=0, fn=7),)
    assert scores.input.scores == (Score(0.0, 0.0, 0.0, tp=0, fp=0, fn=16),)
    assert score_protocol([np.zeros((0, 16))], None, PATTERNS).hidden.scores[0].fn == 7


@pytest.mark.slow
def test_protocol_is_quick():
    rng = np.random.default_rng(2)
    hidden = [rng.normal(size=(160, 16)) for _ in range(10)]
    start = time.perf_counter()
    score_protocol(hidden, [rng.normal(size=(16, 16)) for _ in range(10)], PATTERNS)
    assert time.perf_counter() - start < 5  # about half a second on an idle core


def test_scoring_refuses():
    with pytest.raises(InputError, match="outputs must name at least one output of the truth, but"):
        truth_patterns(paper_truth(), ["gene"], INPUTS)
    with pytest.raises(InputError, match="hidden_maps must hold the maps of at least one model"):
        score_protocol([], None, PATTERNS)
    with pytest.raises(
        InputError, match=r"nodes must be \[any, 16\] as named to truth_patterns, got"
    ):
        score_hidden(np.zeros((3, 4), dtype=bool), PATTERNS)
    with pytest.raises(InputError, match=r"maps must be \[16, 16\] as named .*, got \[3, 16\]"):
        score_inputs(np.zeros((3, 16), dtype=bool), PATTERNS)
    with pytest.raises(InputError, match="hidden_maps must be finite, but hold NaN or infinity"):
        score_protocol([np.full((1, 16), np.nan)], None, PATTERNS)
