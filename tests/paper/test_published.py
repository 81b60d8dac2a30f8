import pytest

from rinn.paper.cells import DATASETS, STRATEGIES, load_published
from rinn.runs.manifest import Spread

PAIRS = [(dataset, strategy) for dataset in DATASETS for strategy in STRATEGIES]
NOT_RUN = [pair for pair in PAIRS if pair[0].startswith("tcga") and pair[1] in ("esc", "dm")]
RUN = [pair for pair in PAIRS if pair not in NOT_RUN]


@pytest.mark.parametrize(
    ("dataset", "strategy", "kind", "name", "spread"),
    [
        ("matrix", "rinn", "hidden", "f1", (0.96, 0.04)),
        ("gaussian", "rinn", "hidden", "precision", (0.65, 0.11)),
        ("or", "dbn", "hidden", "recall", (0.16, 0.23)),
        ("logic", "dnn", "hidden", "f1", (0.82, 0.16)),
        ("logic", "esc", "hidden", "precision", (0.44, 0.09)),
        ("tcga-or", "rinn", "hidden", "f1", (0.41, 0.19)),
        ("tcga-logic", "dbn", "hidden", "recall", (0.16, 0.22)),
        ("logic", "dm", "input", "precision", (0.44, None)),
        ("gaussian", "dm", "input", "f1", (0.81, None)),
        ("matrix", "esc", "input", "precision", (0.95, 0.1)),
        ("tcga-logic", "dnn", "input", "recall", (0.90, 0.3)),
        ("tcga-or", "rinn", "input", "f1", (0.96, 0.1)),
    ],
)
def test_figures_of_tables_1_and_2(dataset, strategy, kind, name, spread):
    assert load_published()[dataset, strategy][f"{kind}_{name}"] == Spread(*spread)


@pytest.mark.parametrize(
    ("dataset", "strategy", "error", "auroc"),
    [
        ("matrix", "rinn", (0.0, 0.0), None),
        ("gaussian", "esc", (10.12, 0.2), None),
        ("gaussian", "dbn", (1.82, 0.1), None),
        ("or", "dbn", (0.55, 0.2), (0.68, 0.2)),
        ("logic", "esc", (0.41, 0.0), (0.87, 0.0)),
        ("tcga-or", "dbn", (0.34, 0.2), (0.88, 0.1)),
    ],
)
def test_test_set(dataset, strategy, error, auroc):
    found = load_published()[dataset, strategy]
    assert found["test_error"] == Spread(*error)
    assert found.get("auroc") == (None if auroc is None else Spread(*auroc))


def test_sets():
    def find_sets(dataset):
        published = (load_published().get((dataset, strategy), {}) for strategy in STRATEGIES)
        return [found["sets"].mean if "sets" in found else None for found in published]

    assert find_sets("or") == [440, 732, 940, 500, None]
    assert find_sets("tcga-or") == [540, 832, 1040, None, None]


@pytest.mark.parametrize(("dataset", "strategy"), RUN)
def test_what_each_strategy_has(dataset, strategy):
    found = load_published()[dataset, strategy]
    assert ("input_f1" not in found) == (strategy == "dbn")
    assert ("test_error" not in found) == (strategy == "dm")
    continuous = dataset in ("matrix", "gaussian")
    assert ("auroc" not in found) == (strategy == "dm" or continuous)
    assert (found["hidden_f1"].sd is None) == (strategy == "dm")


def test_what_the_paper_ran():
    assert list(load_published()) == RUN


@pytest.mark.parametrize(("dataset", "strategy"), RUN)
def test_f1_lies_near_precision_and_recall(dataset, strategy):
    """Means over models need not agree exactly, but a slip of a digit would show."""
    found = load_published()[dataset, strategy]
    for kind in ("hidden", "input") if "input_f1" in found else ("hidden",):
        low, high = sorted(found[f"{kind}_{name}"].mean for name in ("precision", "recall"))
        assert low - 0.02 <= found[f"{kind}_f1"].mean <= high + 0.02
