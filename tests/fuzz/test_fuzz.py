import contextlib
import random

import pytest
import typer
from fuzz_cases import FAMILIES, RIGHT, TRAINS, USES, fill_runs, fill_study, take
from fuzz_checks import Outcome, call, check_outcome, describe, run_case, take_snapshot

from rinn.cli.commands import app

# Cases of each family in every run of the tests, and in the long one.
COUNTS = {
    "tables": (55, 600),
    "graphs": (40, 400),
    "options": (40, 450),
    "runs": (30, 600),
    "prepare": (18, 150),
    "priors": (17, 150),
    "fits": (0, 20),
    "signals": (0, 10),
}
CASES = [
    pytest.param(family, seed, id=f"{family}-{seed}", marks=[pytest.mark.slow] * (seed >= few))
    for family, (few, many) in COUNTS.items()
    for seed in range(many)
]


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_hostile_input_ends_well(family, seed, tmp_path):
    """Done, or refused with one sentence; nothing lost, nothing left behind, no hang."""
    problems, words = run_case(family, seed, tmp_path)
    assert not problems, describe(family, seed, problems, words)


@pytest.mark.parametrize("name", sorted(RIGHT.keys() - set(TRAINS)))
def test_right_commands_succeed(name, tmp_path):
    with contextlib.chdir(tmp_path):
        take(fill_runs, ".")
        take(fill_study, ".")
        assert call([name, *RIGHT[name]], seconds=60).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", sorted({" ".join(words) for words in USES}))
def test_undamaged_runs_can_be_used(words, tmp_path):
    with contextlib.chdir(tmp_path):
        take(fill_runs, ".")
        assert call(words.split(), seconds=60).code == 0


def test_every_command_has_a_right_use():
    assert RIGHT.keys() == typer.main.get_command(app).commands.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_depend_on_family_and_seed_alone(family, tmp_path):
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        with contextlib.chdir(folder):
            case = FAMILIES[family](random.Random(f"{family}-1"), 1)
        found.append((case, take_snapshot(folder)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (Outcome(None, "", ""), "hangs"),
        (Outcome(1, "", "rinn: something.\n"), "exit 1"),
        (Outcome(2, "", ""), "not one sentence"),
        (Outcome(2, "", "rinn: a\nb.\n"), "not one sentence"),
        (Outcome(2, "", f"rinn: {'a' * 3000}.\n"), "a sentence of 3008 characters"),
        (Outcome(0, "\x1b[31m", ""), "prints '\\x1b'"),
        (Outcome(0, "\u202e", ""), "prints '\\u202e'"),
    ],
)
def test_what_is_wrong_is_found(outcome, problem):
    (found,) = check_outcome(outcome, letters=0)
    assert found.startswith(problem)
