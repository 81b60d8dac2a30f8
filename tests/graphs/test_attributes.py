"""Attributes and names of graphs as file formats need them."""

import re

import networkx as nx
import numpy as np

from rinn.graphs.attributes import (
    avoid_reserved,
    flat_values,
    spell_names,
    spell_out,
    to_json_values,
)

VALUES = {"weight": np.float32(0.5), "q": float("nan"), "merged": ("a", "b")}


def test_values_become_those_of_json_or_text():
    assert to_json_values(VALUES) == {"weight": 0.5, "merged": ["a", "b"]}
    assert flat_values(VALUES) == {"weight": 0.5, "merged": '["a", "b"]'}


def test_characters_are_spelled_as_their_numbers():
    assert spell_out("two\nlines", re.compile(r"\n")) == r"two\u000alines"


def test_spelled_names_stay_apart():
    graph = nx.DiGraph([("a b", "a-b")])
    names = spell_names(graph, lambda name: name.replace(" ", "-"))
    assert names == {"a b": "a-b_", "a-b": "a-b"}


def test_reserved_names_get_an_underscore():
    values = avoid_reserved({"label": 1, "label_": 2, "weight": 3}, {"label"})
    assert values == {"label_": 1, "label__": 2, "weight": 3}
