"""Random numbers: every generator is made from a stream of its own."""

import ast
from pathlib import Path

import numpy as np

import rinn
from rinn.config import Stream


def test_streams_differ_to_numpy():
    draws = {int(np.random.default_rng([0, stream]).integers(2**62)) for stream in Stream}
    assert len(draws) == len(Stream)


def test_every_list_of_seeds_names_a_stream():
    calls = [
        (path.name, ast.unparse(call.args[0]))
        for path in sorted(Path(rinn.__file__).parent.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("default_rng", "SeedSequence"))
        and call.args
        and isinstance(call.args[0], (ast.List, ast.Tuple))
    ]
    assert len(calls) > 10
    assert [call for call in calls if "Stream." not in call[1]] == []
