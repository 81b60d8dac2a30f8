import pytest

from rinn.paper.cells import DATASETS, STRATEGIES, Spread
from rinn.paper.published import Published, find_published

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
    assert getattr(getattr(find_published(dataset, strategy), kind), name) == Spread(*spread)


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
    found = find_published(dataset, strategy)
    assert found.test_error == Spread(*error)
    assert found.auroc == (None if auroc is None else Spread(*auroc))


def test_sets():
    found = {strategy: find_published("or", strategy).sets for strategy in STRATEGIES}
    assert found == {"rinn": 440, "dnn": 732, "dbn": 940, "esc": 500, "dm": None}
    found = {strategy: find_published("tcga-or", strategy).sets for strategy in STRATEGIES}
    assert found == {"rinn": 540, "dnn": 832, "dbn": 1040, "esc": None, "dm": None}


@pytest.mark.parametrize(("dataset", "strategy"), RUN)
def test_what_each_strategy_has(dataset, strategy):
    found = find_published(dataset, strategy)
    assert found.hidden is not None
    assert (found.input is None) == (strategy == "dbn")
    assert (found.test_error is None) == (strategy == "dm")
    continuous = dataset in ("matrix", "gaussian")
    assert (found.auroc is None) == (strategy == "dm" or continuous)
    assert (found.hidden.f1.sd is None) == (strategy == "dm")


@pytest.mark.parametrize(("dataset", "strategy"), NOT_RUN)
def test_what_the_paper_did_not_run(dataset, strategy):
    assert find_published(dataset, strategy) == Published()


@pytest.mark.parametrize(("dataset", "strategy"), RUN)
def test_f1_lies_near_precision_and_recall(dataset, strategy):
    """Means over models need not agree exactly, but a slip of a digit would show."""
    found = find_published(dataset, strategy)
    for scores in filter(None, (found.hidden, found.input)):
        low, high = sorted((scores.precision.mean, scores.recall.mean))
        assert low - 0.02 <= scores.f1.mean <= high + 0.02
