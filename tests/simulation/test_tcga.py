"""Tumours like those of TCGA: their statistics, and the simulated block behind them."""

import time

import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.simulation import ALIASES, make_dataset, paper_graph, write_simulation
from rinn.simulation.tcga import BURDENS, SHARES, sample_tumours
from rinn.simulation.tcga_checks import TARGETS, check_block

both = pytest.mark.parametrize("mechanism", ["or", "logic"])


@pytest.fixture(scope="module")
def simulation():
    return make_dataset("tcga-or")


def correlate(x, y):
    """phi of each column of x with each of y."""
    x, y = ((part - part.mean(axis=0)) / part.std(axis=0) for part in (x, y))
    return x.T @ y / len(x)


@pytest.mark.parametrize("seed", range(10))
def test_tumours_are_like_the_published_ones(seed):
    simulation = make_dataset("tcga-or", samples=500, seed=seed)
    table = check_block(simulation.x, simulation.y)
    assert list(table["statistic"]) == list(TARGETS)
    assert table["ok"].all(), table[~table["ok"]].to_string()


def test_tables(simulation):
    assert simulation.x.shape == (5000, 650)
    assert simulation.y.shape == (5000, 84)
    assert set(np.unique(simulation.x)) == set(np.unique(simulation.y)) == {0, 1}
    for table in (simulation.x, simulation.y):
        assert table.columns.is_unique
    assert list(simulation.x.columns[[0, 633, 634, 649]]) == ["sga0", "sga633", "x0", "x15"]
    assert list(simulation.y.columns[[0, 67, 68, 83]]) == ["deg0", "deg67", "y0", "y15"]


@both
def test_the_simulated_block_is_the_dataset_alone(mechanism):
    hidden = make_dataset(f"tcga-{mechanism}", samples=100, seed=5, noise=0.03)
    alone = make_dataset(mechanism, samples=100, seed=5, noise=0.03)
    pd.testing.assert_frame_equal(hidden.x.iloc[:, 634:], alone.x)
    pd.testing.assert_frame_equal(hidden.y.iloc[:, 68:], alone.y)
    assert dict(hidden.truth.nodes(data=True)) == dict(alone.truth.nodes(data=True))
    assert list(hidden.truth.edges) == list(paper_graph().edges)
    assert hidden.parameters == alone.parameters


def test_numbers():
    assert (ALIASES["5"], ALIASES["6"]) == ("tcga-or", "tcga-logic")


@both
def test_fewer_samples_are_the_first_rows_of_more(mechanism):
    few, more = (make_dataset(f"tcga-{mechanism}", samples=count) for count in (7, 2000))
    pd.testing.assert_frame_equal(few.x, more.x.head(7))
    pd.testing.assert_frame_equal(few.y, more.y.head(7))
    pd.testing.assert_frame_equal(few.labels, more.labels.head(7))


def test_the_size_of_blocks_changes_nothing():
    one, two = (sample_tumours(np.random.default_rng(1), 50, block=size) for size in (50, 7))
    for left, right in zip(one, two, strict=True):
        pd.testing.assert_frame_equal(left, right)


def test_tissues_have_their_shares_and_burdens(simulation):
    tissues = [f"t{k}" for k in range(14)]
    burden = simulation.x.iloc[:, :634].sum(axis=1).groupby(simulation.labels["tissue"]).mean()
    share = simulation.labels["tissue"].value_counts(normalize=True)
    assert SHARES.sum() == pytest.approx(1)
    np.testing.assert_allclose(share[tissues], SHARES, atol=0.02)
    np.testing.assert_allclose(burden[tissues], BURDENS, rtol=0.15)


def test_given_the_tissue_alterations_tell_nothing_of_expression(simulation):
    x = simulation.x.iloc[:, :634].astype(float)
    x = x.loc[:, x.sum() >= 50]
    y = simulation.y.iloc[:, :68].astype(float)
    assert np.abs(correlate(x.to_numpy(), y.to_numpy())).max() > 0.25
    tissue = simulation.labels["tissue"]
    x, y = (table - table.groupby(tissue).transform("mean") for table in (x, y))
    assert np.abs(correlate(x.to_numpy(), y.to_numpy())).max() < 0.1


def test_genes_altered_together_are_neighbours(simulation):
    x = simulation.x.iloc[:, :634].to_numpy(float)
    one, other = np.nonzero(np.triu(correlate(x, x), 1) > 0.5)
    assert len(one) > 200
    assert (other - one).max() < 21


def test_tumours_are_the_same_beside_either_block(simulation):
    other = make_dataset("tcga-logic")
    pd.testing.assert_frame_equal(other.x.iloc[:, :634], simulation.x.iloc[:, :634])
    pd.testing.assert_frame_equal(other.labels, simulation.labels)


def test_five_thousand_rows_in_a_second():
    start = time.perf_counter()
    make_dataset("tcga-or")
    assert time.perf_counter() - start < 1


def test_the_tissue_is_written(tmp_path):
    simulation = make_dataset("tcga-or", samples=6)
    write_simulation(simulation, tmp_path)
    names = ["tissue.csv", "truth.json", "x.csv", "y.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "tissue.csv"), simulation.labels)
    write_simulation(simulation, tmp_path, same_is_fine=True)


def test_a_tissue_file_stays(tmp_path):
    (tmp_path / "tissue.csv").write_text("mine")
    with pytest.raises(
        InputError, match=r"must not hold a dataset yet, but .*tissue\.csv is there"
    ):
        write_simulation(make_dataset("tcga-or", samples=6), tmp_path)
    write_simulation(make_dataset("or", samples=6), tmp_path)
    assert (tmp_path / "tissue.csv").read_text() == "mine"


def test_other_tables_are_told_apart(simulation):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.permuted(simulation.x.head(500).to_numpy(), axis=0))
    table = check_block(x, simulation.y).set_index("statistic")
    assert table.loc["sga density", "ok"]
    for statistic in ("sga-sga phi > 0.5", "burden sd", "sga-deg max phi q50"):
        assert not table.loc[statistic, "ok"]


def test_a_column_that_never_changes_has_no_correlation(simulation):
    x, y = simulation.x.copy(), simulation.y.copy()
    x["sga0"], y["deg0"] = 1, 0
    assert np.isfinite(check_block(x, y)["value"]).all()


def test_check_leaves_its_tables_alone(simulation):
    x, y = simulation.x.copy(), simulation.y.copy()
    check_block(x, y)
    pd.testing.assert_frame_equal(x, simulation.x)
    pd.testing.assert_frame_equal(y, simulation.y)


def test_too_small_a_table_is_refused(simulation):
    with pytest.raises(InputError, match=r"x must have at least 500 rows .* but 499 rows and 650"):
        check_block(simulation.x.head(499), simulation.y)
    with pytest.raises(
        InputError, match=r"y must have .* 68 columns, but 5000 rows and 67 columns"
    ):
        check_block(simulation.x, simulation.y.iloc[:, :67])


def test_samples_are_checked():
    with pytest.raises(InputError, match=r"samples must be .* at least 1, but 0 was given"):
        sample_tumours(np.random.default_rng(0), 0)
