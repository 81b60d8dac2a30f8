import pytest
from fuzz_checks import describe, run_case

# Cases of each family in every run of the tests, and in the long one.
COUNTS = {
    "tables": (55, 600),
    "graphs": (40, 400),
    "options": (40, 450),
    "runs": (30, 350),
    "prepare": (18, 150),
    "priors": (17, 150),
    "fits": (0, 20),
    "signals": (0, 10),
}
CASES = [
    pytest.param(
        family,
        seed,
        id=f"{family}-{seed}",
        marks=[] if seed < few else [pytest.mark.slow],
    )
    for family, (few, many) in COUNTS.items()
    for seed in range(many)
]


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_hostile_input_ends_well(family, seed, tmp_path):
    """Done or refused with one sentence; nothing lost, nothing left behind, no hang."""
    problems, words = run_case(family, seed, tmp_path)
    assert not problems, describe(family, seed, problems, words)
