"""Tumours like those of TCGA: their statistics, and the simulated block behind them."""

import time

import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.simulate.datasets import ALIASES, make_dataset
from rinn.simulate.graphs import paper_graph
from rinn.simulate.tumours import BURDENS, FRACTIONS, sample_tumours
from rinn.simulate.writing import write_simulation
from tcga_checks import TARGETS, check_block

both = pytest.mark.parametrize("mechanism", ["or", "logic"])


@pytest.fixture(scope="module")
def simulation():
    return make_dataset("tcga-or")


def correlate(x, y):
    """phi of each column of x with each of y."""
    x, y = ((part - part.mean(axis=0)) / part.std(axis=0) for part in (x, y))
    return x.T @ y / len(x)


def hold_tissue(simulation, table):
    """What is left of each column when the mean of its tissue is taken off."""
    return table - table.groupby(simulation.labels["tissue"]).transform("mean")


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
    one, two = (
        sample_tumours(np.random.default_rng(1), 50, parents=2, block=size) for size in (50, 7)
    )
    for table in ("x", "y", "labels", "parents"):
        pd.testing.assert_frame_equal(getattr(one, table), getattr(two, table))


def test_tissues_have_their_shares_and_burdens():
    tumours = sample_tumours(np.random.default_rng(0), 30_000)
    tissues = [f"t{k}" for k in range(14)]
    burden = tumours.x.sum(axis=1).groupby(tumours.labels["tissue"]).mean()
    share = tumours.labels["tissue"].value_counts(normalize=True)
    assert FRACTIONS.sum() == pytest.approx(1)
    np.testing.assert_allclose(share[tissues], FRACTIONS, atol=0.01)
    np.testing.assert_allclose(burden[tissues], BURDENS, rtol=0.1)


def test_no_tumour_is_without_an_alteration(simulation):
    burden = simulation.x.iloc[:, :634].sum(axis=1)
    assert burden.min() == 1
    assert (burden == 1).mean() < 0.05


def test_given_the_tissue_alterations_tell_nothing_of_expression(simulation):
    x, y = simulation.x.iloc[:, :634], simulation.y.iloc[:, :68]
    x = x.loc[:, x.sum() >= 200]
    assert np.abs(correlate(x.to_numpy(), y.to_numpy())).max() > 0.25
    x, y = (hold_tissue(simulation, table) for table in (x, y))
    y = y.loc[:, y.var() > 0.05]
    assert np.abs(correlate(x.to_numpy(), y.to_numpy())).max() < 0.08


def test_given_the_tissue_expression_changes_still_go_together(simulation):
    y = hold_tissue(simulation, simulation.y.iloc[:, :68]).to_numpy()
    phi = np.abs(correlate(y, y))[np.triu_indices(68, 1)]
    assert 0.02 < phi.mean() < 0.06  # by chance 0.011


def test_genes_altered_together_are_neighbours(simulation):
    x = simulation.x.iloc[:, :634].to_numpy(float)
    phi = correlate(x, x)
    one, other = np.nonzero(np.triu(phi, 1) > 0.5)
    assert len(one) > 200
    assert (other - one < 21).mean() > 0.9
    near, far = (phi[one, other][other - one == way].mean() for way in (1, 10))
    assert near > far + 0.05


def test_tumours_are_the_same_beside_either_block(simulation):
    other = make_dataset("tcga-logic")
    pd.testing.assert_frame_equal(other.x.iloc[:, :634], simulation.x.iloc[:, :634])
    pd.testing.assert_frame_equal(other.labels, simulation.labels)


def test_five_thousand_rows_in_a_second():
    start = time.perf_counter()
    make_dataset("tcga-or")
    assert time.perf_counter() - start < 1


@pytest.fixture(scope="module")
def caused():
    return make_dataset("tcga-or", parents=2)


def test_nothing_has_parents_unless_asked_for(simulation):
    assert simulation.parents is None
    assert make_dataset("tcga-or", samples=5, parents=0).parents is None
    assert simulation.parameters.keys() == {"prevalence", "noise"}


def test_parents_are_listed(caused):
    parents = caused.parents
    assert list(parents.columns) == ["sga", "deg", "strength"]
    counts = parents["deg"].value_counts()
    assert counts.max() == 2
    assert 10 < 68 - len(counts) < 40  # a third of the DEGs has none
    assert not parents.duplicated(["sga", "deg"]).any()
    assert parents["strength"].between(0.3, 0.7).all()
    assert caused.x[parents["sga"].unique()].mean().min() > 0.03
    assert caused.parameters == {
        "prevalence": 0.08, "noise": 0.1, "parents": 2, "strength": (0.3, 0.7),
    }  # fmt: skip


def test_parents_change_nothing_but_their_degs(simulation, caused):
    pd.testing.assert_frame_equal(caused.x, simulation.x)
    pd.testing.assert_frame_equal(caused.labels, simulation.labels)
    others = simulation.y.columns.difference(caused.parents["deg"])
    pd.testing.assert_frame_equal(caused.y[others], simulation.y[others])
    assert (caused.y >= simulation.y).all(axis=None)
    assert (caused.y > simulation.y).any(axis=None)


def test_parents_are_no_part_of_the_truth(simulation, caused):
    assert list(caused.truth.edges) == list(simulation.truth.edges)
    assert dict(caused.truth.nodes(data=True)) == dict(simulation.truth.nodes(data=True))


def test_a_parent_acts_as_strongly_as_it_is_said(simulation, caused):
    alone = caused.parents.drop_duplicates("deg", keep=False)
    risen, expected = [], []
    for sga, deg, strength in alone.itertuples(index=False):
        rows = (caused.x[sga] == 1) & (simulation.y[deg] == 0)
        risen.append(caused.y[deg][rows].mean())
        expected.append(strength)
    assert len(risen) > 10
    np.testing.assert_allclose(risen, expected, atol=0.2)
    assert np.mean(risen) == pytest.approx(np.mean(expected), abs=0.03)


def test_given_the_tissue_parents_can_be_seen(caused):
    x, y = (hold_tissue(caused, table).to_numpy() for table in (caused.x, caused.y))
    phi = pd.DataFrame(correlate(x, y), index=caused.x.columns, columns=caused.y.columns)
    found = [phi.loc[sga, deg] for sga, deg, _ in caused.parents.itertuples(index=False)]
    assert np.median(found) > 0.1


def test_ends_of_strength():
    without, never, always = (
        make_dataset("tcga-or", samples=300, **more)
        for more in ({}, {"parents": 3, "strength": (0, 0)}, {"parents": 3, "strength": (1, 1)})
    )
    pd.testing.assert_frame_equal(never.y, without.y)
    for sga, deg, strength in always.parents.itertuples(index=False):
        assert strength == 1
        assert (always.y[deg] >= always.x[sga]).all()


def test_fewer_samples_with_parents_are_the_first_rows():
    few, more = (make_dataset("tcga-or", samples=count, parents=3) for count in (7, 2000))
    pd.testing.assert_frame_equal(few.y, more.y.head(7))
    pd.testing.assert_frame_equal(few.parents, more.parents)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"parents": 4}, "parents must be a whole number from 0 to 3, got 4;"),
        ({"parents": -1}, "parents must be a whole number .* got -1; choose 0 to 3"),
        ({"parents": 1, "strength": (0.5, 1.5)}, "strength must be .* <= high <= 1, got .0.5, 1.5"),
        ({"parents": 1, "strength": 0.5}, "strength must be two numbers .* got 0.5"),
        ({"strength": (0.1, 0.2)}, "strength must come with parents of 1 to 3, got .* without"),
    ],
)
def test_wrong_parents(given, said):
    with pytest.raises(InputError, match=said):
        make_dataset("tcga-or", samples=5, **given)


def test_parents_are_written(tmp_path):
    simulation = make_dataset("tcga-or", samples=60, parents=1)
    write_simulation(simulation, tmp_path)
    names = ["parents.csv", "tissue.csv", "truth.json", "x.csv", "y.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "parents.csv"), simulation.parents)
    assert set(load_graph(tmp_path / "truth.json")) == set(paper_graph())
    write_simulation(simulation, tmp_path, same_is_fine=True)
    with pytest.raises(InputError, match=r"but .*x\.csv is there"):
        write_simulation(make_dataset("tcga-or", samples=60), tmp_path, same_is_fine=True)


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
    with pytest.raises(InputError, match=r"samples must be .* at least 1, got 0"):
        sample_tumours(np.random.default_rng(0), 0)
