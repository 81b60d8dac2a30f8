"""The simulated block next to the user's tables."""

import numpy as np
import pandas as pd
import pytest

from rinn.cli import run
from rinn.data.align import load_data
from rinn.data.kinds import find_kinds
from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.simulate.datasets import make_dataset
from rinn.simulate.graphs import paper_graph
from rinn.simulate.writing import write_simulation

IDS = [f"TCGA-{number:03d}" for number in range(120)]


@pytest.fixture
def x():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), index=IDS, columns=["TP53", "EGFR", "flat"])
    return table.assign(flat=1.0)


@pytest.fixture
def y():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.integers(0, 2, (120, 2)), index=IDS, columns=["CDKN1A", "MDM2"])


def save(folder, x, y, **more):
    """Write both tables, with their ids, and return their paths."""
    paths = folder / "mine_x.csv", folder / "mine_y.csv"
    for table, path in zip((x, y), paths, strict=True):
        table.to_csv(path, **more)
    return paths


def refuse(said, **given):
    with pytest.raises(InputError, match=said):
        make_dataset("tcga-or", **given)


@pytest.mark.parametrize("mechanism", ["or", "logic"])
def test_the_block_stands_last(x, y, mechanism):
    simulation = make_dataset(f"tcga-{mechanism}", x_block=x, y_block=y, seed=3)
    alone = make_dataset(mechanism, samples=120, seed=3)
    assert simulation.x.shape == (120, 19)
    assert simulation.y.shape == (120, 18)
    pd.testing.assert_frame_equal(simulation.x.iloc[:, :3], x)
    assert (simulation.y.iloc[:, :2] == y).all(axis=None)
    for table, block in ((simulation.x.iloc[:, 3:], alone.x), (simulation.y.iloc[:, 2:], alone.y)):
        pd.testing.assert_frame_equal(table.reset_index(drop=True), block)
    assert set(simulation.truth) == set(paper_graph())
    assert list(simulation.truth.edges) == list(paper_graph().edges)
    assert simulation.labels is None
    assert simulation.truth.graph["samples"] == 120


def test_tables_are_left_alone(x, y):
    before = x.copy(), y.copy()
    make_dataset("tcga-or", x_block=x, y_block=y)
    pd.testing.assert_frame_equal(x, before[0])
    pd.testing.assert_frame_equal(y, before[1])


def test_files_and_frames_give_the_same(x, y, tmp_path):
    x_path, y_path = save(tmp_path, x, y, index_label="sample")
    memory = make_dataset("tcga-or", x_block=x, y_block=y)
    files = make_dataset("tcga-or", x_block=str(x_path), y_block=y_path)
    pd.testing.assert_frame_equal(files.x, memory.x)
    pd.testing.assert_frame_equal(files.y, memory.y)
    assert files.parameters["x_block"] == str(x_path)
    assert memory.parameters["x_block"] == "in memory"
    again = make_dataset("tcga-or", **files.parameters)
    pd.testing.assert_frame_equal(again.x, files.x)


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".npz"])
def test_other_formats(x, y, tmp_path, suffix):
    path = tmp_path / f"mine{suffix}"
    if suffix == ".tsv":
        x.to_csv(path, sep="\t", index_label="sample")
    elif suffix == ".parquet":
        x.to_parquet(path)
    else:
        np.savez(path, values=x.to_numpy(), columns=np.array(x.columns, str), samples=np.array(IDS))
    simulation = make_dataset("tcga-or", x_block=path, y_block=y)
    pd.testing.assert_frame_equal(simulation.x.iloc[:, :3], x)


def test_rows_are_matched_by_id(x, y):
    simulation = make_dataset("tcga-or", x_block=x.iloc[10:], y_block=y.iloc[::-1].iloc[:100])
    assert list(simulation.x.index) == list(simulation.y.index) == IDS[20:]
    assert (simulation.y[["CDKN1A", "MDM2"]] == y.iloc[20:]).all(axis=None)
    assert [entry.name for entry in simulation.dropped] == [*IDS[10:20]]
    assert simulation.truth.graph["samples"] == 100


def test_rows_without_ids_are_matched_one_by_one(x, y):
    plain = y.reset_index(drop=True)
    simulation = make_dataset("tcga-or", x_block=x, y_block=plain)
    assert list(simulation.y.index) == IDS
    neither = make_dataset("tcga-or", x_block=x.reset_index(drop=True), y_block=plain)
    assert isinstance(neither.x.index, pd.RangeIndex)
    assert (neither.y["MDM2"].to_numpy() == y["MDM2"].to_numpy()).all()
    refuse("X and Y must have the same number of rows", x_block=x, y_block=plain.head(100))


def test_fewer_samples_are_the_first_rows(x, y):
    few, more = (make_dataset("tcga-or", x_block=x, y_block=y, samples=n) for n in (7, None))
    pd.testing.assert_frame_equal(few.x, more.x.head(7))
    pd.testing.assert_frame_equal(few.y, more.y.head(7))


def test_same_seed_same_rows(x, y):
    one, two, other = (
        make_dataset("tcga-logic", x_block=x, y_block=y, seed=seed) for seed in (3, 3, 4)
    )
    pd.testing.assert_frame_equal(one.x, two.x)
    pd.testing.assert_frame_equal(one.y, two.y)
    assert not one.x.equals(other.x)


@pytest.mark.parametrize(("most", "kind"), [(7.0, "i"), (1e300, "f")])
def test_whole_numbers_stay_whole(x, y, most, kind):
    counts = (10 * x).round().assign(EGFR=most)
    simulation = make_dataset("tcga-or", x_block=counts, y_block=y)
    assert {dtype.kind for dtype in simulation.x.dtypes[:3]} == {kind}
    assert (simulation.x["EGFR"] == most).all()


def test_arrays_get_names_of_their_own(x, y):
    simulation = make_dataset("tcga-or", x_block=x.to_numpy(), y_block=y.to_numpy())
    assert list(simulation.x.columns[:4]) == ["x_block0", "x_block1", "x_block2", "x0"]
    assert simulation.x.columns.is_unique


def test_written_files_can_be_learned_from(x, y, tmp_path):
    shared = y.rename(columns={"CDKN1A": "TP53"})
    simulation = make_dataset("tcga-or", x_block=x, y_block=shared)
    write_simulation(simulation, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["truth.json", "x.csv", "y.csv"]
    assert (tmp_path / "x.csv").read_text().startswith("sample,TP53,EGFR,flat,x0,")
    data = load_data(tmp_path / "x.csv", tmp_path / "y.csv")
    assert data.samples == tuple(IDS)
    assert data.inputs[:2] == ("TP53_x", "EGFR")  # the fit drops what is constant
    assert data.inputs[2:] == tuple(f"x{number}" for number in range(16))
    assert data.outputs[:2] == ("TP53_y", "MDM2")
    np.testing.assert_array_equal(data.x[:, 1], x["EGFR"])
    np.testing.assert_array_equal(data.y[:, 2:], simulation.y.iloc[:, 2:])
    assert set(find_kinds(data, "auto")) == {"binary"}
    assert set(load_graph(tmp_path / "truth.json")) == set(paper_graph())


def test_tables_without_ids_are_written_without(x, y, tmp_path):
    plain = {"x_block": x.reset_index(drop=True), "y_block": y.reset_index(drop=True)}
    write_simulation(make_dataset("tcga-or", **plain), tmp_path)
    data = load_data(tmp_path / "x.csv", tmp_path / "y.csv")
    assert data.samples is None
    np.testing.assert_array_equal(data.x[:, 0], x["TP53"])


def test_one_table_is_refused(x, y):
    refuse("y_block must come with x_block, .* but it was not given; add it", x_block=x)
    refuse("x_block must come with y_block, .* but it was not given; add it", y_block=y)


def test_too_many_samples_are_refused(x, y):
    said = "samples must be at most the 120 rows .* in common, got 121; leave it out"
    refuse(said, x_block=x, y_block=y, samples=121)
    refuse("samples must be a whole number", x_block=x, y_block=y, samples=0)


def test_other_outputs_are_refused(x, y):
    said = "y_block must hold 0 and 1 only, .* but 2.5 is in column 'MDM2', one of 1 such"
    refuse(said, x_block=x, y_block=y.assign(MDM2=2.5))


def test_taken_names_are_refused(x, y):
    said = "must not use the names of the simulated graph's nodes, but has columns called"
    for name in ("x3", "y3", "h17"):
        refuse(f"x_block {said} '{name}'", x_block=x.rename(columns={"EGFR": name}), y_block=y)
        refuse(f"y_block {said} '{name}'", x_block=x, y_block=y.rename(columns={"MDM2": name}))


def test_a_column_that_files_would_take_for_ids_is_refused(x, y, tmp_path):
    np.savez(tmp_path / "mine.npz", values=x.to_numpy(), columns=np.array(["id", "a", "b"]))
    said = "x_block must not begin with a column of numbers called 'id', .* rename it"
    refuse(said, x_block=tmp_path / "mine.npz", y_block=y)


def test_tables_that_do_not_fit_are_refused(x, y):
    refuse("X and Y must share sample ids", x_block=x, y_block=y.set_axis([f"s{i}" for i in IDS]))
    refuse("X and Y must have at least 50 samples in common", x_block=x, y_block=y.head(49))


def test_tables_that_cannot_be_read_are_refused(x, y, tmp_path):
    refuse(
        r"x_block .*none\.csv. must be an existing file", x_block=tmp_path / "none.csv", y_block=y
    )
    refuse("y_block must be a DataFrame, a 2-D array or a sparse", x_block=x, y_block=3)
    refuse("x_block must have no missing", x_block=x.assign(EGFR=np.nan), y_block=y)


@pytest.mark.parametrize("more", [{"parents": 2}, {"strength": (0.1, 0.2)}])
def test_what_is_about_generated_tumours_is_refused(x, y, more):
    refuse("must be left out where x_block and y_block replace", x_block=x, y_block=y, **more)


def test_other_datasets_take_no_tables(x):
    with pytest.raises(InputError, match="'x_block' is not a parameter of the dataset 'or'"):
        make_dataset("or", x_block=x)


class TestCommand:
    def call(self, folder, *words):
        return run([str(word) for word in ("simulate", *words, "--out", folder / "data")])

    def test_own_tables(self, x, y, tmp_path, capsys):
        x_path, y_path = save(tmp_path, x, y.head(110), index_label="sample")
        assert self.call(tmp_path, "tcga-or", "--x-block", x_path, "--y-block", y_path) == 0
        said = capsys.readouterr().out
        assert "(110 samples, 19 inputs, 18 outputs)" in said
        assert "left out 10 samples that only one table has" in said
        data = load_data(tmp_path / "data" / "x.csv", tmp_path / "data" / "y.csv")
        assert data.samples == tuple(IDS[:110])

    def test_parents(self, tmp_path):
        words = ("5", "--samples", 60, "--parents", 2, "--strength", "0.1,0.2")
        assert self.call(tmp_path, *words) == 0
        parents = pd.read_csv(tmp_path / "data" / "parents.csv")
        assert parents["strength"].between(0.1, 0.2).all()

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--strength", "much"), "strength must be two numbers LOW,HIGH, got 'much'"),
            (("--parents", 1, "--strength", "0.5"), "strength must be two numbers (low, high)"),
            (("--x-block", "none.csv"), "y_block must come with x_block"),
        ],
    )
    def test_wrong_words(self, words, said, tmp_path, capsys):
        assert self.call(tmp_path, "tcga-or", *words) == 2
        assert said in capsys.readouterr().err
        assert not list(tmp_path.iterdir())
