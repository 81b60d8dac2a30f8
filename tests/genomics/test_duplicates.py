import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rinn.genomics.readers.options import RULES, find_rule, merge_rows

NAN = np.nan


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("any", [1, 1, 0, NAN]),
        ("strongest", [-2, 1, 0, NAN]),
        ("mean", [-0.5, 1, 0, NAN]),
        ("max", [1, 1, 0, NAN]),
        ("sum", [-1, 1, 0, NAN]),
        ("first", [-2, 1, 0, NAN]),
    ],
)
def test_rules_by_hand(rule, expected):
    values = np.array([[-2, NAN, 0, NAN], [1, 1, 0, NAN]])
    np.testing.assert_array_equal(merge_rows(values, [0, 0], 1, rule), [expected])


@pytest.mark.parametrize("rule", RULES)
@given(
    values=hnp.arrays(np.float64, (5, 3), elements=st.sampled_from([-2, -1, 0, 1, 2, NAN])),
    targets=st.permutations([0, 1, 2, 0, -1]),
)
def test_rows_alone_stay_and_dropped_rows_go(rule, values, targets):
    places = list(dict.fromkeys(target for target in targets if target >= 0))
    order = [places.index(target) if target >= 0 else -1 for target in targets]
    merged = merge_rows(values, order, 3, rule)
    for place in range(3):
        rows = [row for row, target in enumerate(order) if target == place]
        expected = values[rows[0]] if len(rows) == 1 else RULES[rule](values[rows])
        np.testing.assert_array_equal(merged[place], expected)


@pytest.mark.parametrize("rule", RULES)
def test_input_is_unchanged(rule):
    values = np.array([[1.0, NAN], [2.0, 3.0]])
    before = values.copy()
    merge_rows(values, [0, 0], 1, rule)
    np.testing.assert_array_equal(values, before)


def test_usual_rules():
    assert [find_rule(None, kind) for kind in ("mutation", "copy number", "expression")] == [
        "any",
        "strongest",
        "mean",
    ]
