import hashlib
import re
import struct
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rinn.data.align import as_data, fingerprint, load_data, pair_tables
from rinn.data.records import Data, Dropped
from rinn.data.tables import Table
from rinn.errors import InputError


def make(rows, names=("a", "b"), ids=None, seed=0):
    values = np.random.default_rng(seed).normal(size=(rows, len(names)))
    return Table(values, tuple(names), None if ids is None else tuple(ids))


def reject(x, y, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        pair_tables(x, y)


def number(rows, prefix="s"):
    return [f"{prefix}{row}" for row in rows]


def test_rows_are_matched_by_sample_in_the_order_of_x():
    x = make(60, ids=number(range(60)))
    y = make(60, ["c"], ids=number(reversed(range(60))))
    data = pair_tables(x, y)
    assert data.samples == x.samples
    assert data.dropped == ()
    np.testing.assert_array_equal(data.x, x.values)
    np.testing.assert_array_equal(data.y[::-1], y.values)


def test_samples_of_one_table_only_are_dropped_and_named():
    data = pair_tables(make(61, ids=number(range(61))), make(61, ["c"], ids=number(range(1, 62))))
    assert data.samples == tuple(number(range(1, 61)))
    assert data.dropped == (
        Dropped("X", "s0", "sample is not in Y"),
        Dropped("Y", "s61", "sample is not in X"),
    )


def test_few_matches_are_noted():
    data = pair_tables(make(200, ids=number(range(200))), make(60, ["c"], ids=number(range(60))))
    assert len(data.dropped) == 140
    reason = "sample is not in Y (only 60 of the 200 samples of X are)"
    assert data.dropped[0] == Dropped("X", "s60", reason)


def write_tables(folder, x, y):
    x.to_csv(folder / "x.csv")
    y.to_csv(folder / "y.csv")
    return folder / "x.csv", folder / "y.csv"


def make_frames(genes, others):
    rng = np.random.default_rng(0)
    ids = number(range(60))
    return (pd.DataFrame(rng.normal(size=(60, len(n))), ids, n) for n in (genes, others))


@pytest.mark.parametrize("turned", ["X", "Y"])
@pytest.mark.parametrize("shared", [0, 3])
def test_a_table_with_its_samples_in_columns_is_turned(tmp_path, turned, shared):
    x, y = make_frames(number(range(4), "g"), number(range(4 - shared, 30), "g"))
    expected = load_data(*write_tables(tmp_path, x, y))
    given = write_tables(tmp_path, x.T if turned == "X" else x, y.T if turned == "Y" else y)
    found = load_data(*given)
    assert (found.inputs, found.outputs) == (expected.inputs, expected.outputs)
    assert found.samples == expected.samples
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_array_equal(found.x, expected.x)
    other = "Y" if turned == "X" else "X"
    note = f"{turned} was transposed: its samples are in columns, as the sample ids of {other} show"
    assert found.notes == (note,)
    assert expected.notes == ()


def test_repeated_genes_of_a_turned_table_are_columns_that_repeat(tmp_path):
    x, y = make_frames(["a", "b"], ["c", "d"])
    paths = write_tables(tmp_path, x, y.T.set_axis(["c", "c"]))
    with pytest.raises(InputError, match=r"^Y .* must have each column once, but repeats 'c'"):
        load_data(*paths)


def test_tables_that_could_both_be_turned_are_left_and_refused(tmp_path):
    genes = number(range(60), "g")
    x, y = make_frames(genes, genes)
    paths = write_tables(tmp_path, x, y.T)
    with pytest.raises(InputError, match=r"in both tables, and give each sample its own row$"):
        load_data(*paths)
    x, y = make_frames(["a", "b", "c"], ["d", "e"])
    with pytest.raises(InputError, match="way in both tables, and give each sample its own row"):
        load_data(*write_tables(tmp_path, x.T, y.T))


def test_as_many_columns_as_rows_without_ids_is_a_hint(tmp_path):
    x = make(60)
    y = Table(np.zeros((2, 60)), tuple(number(range(60))))
    reject(
        x,
        y,
        "X and Y must have the same number of rows unless both have sample ids, but X has 60 and Y "
        "has 2; give each sample a row, as one table seems to have its samples in columns",
    )


def test_no_match():
    reject(
        make(60, ids=number(range(60), "TCGA-")),
        make(60, ["c"], ids=number(range(60))),
        "X and Y must share sample ids, but no id of X (such as 'TCGA-0') is in Y (such as 's0'); "
        "write the ids in the same way in both tables",
    )


@pytest.mark.parametrize("with_ids", ["x", "y", "none"])
def test_rows_are_matched_by_position_without_two_sets_of_ids(with_ids):
    ids = tuple(number(range(60)))
    x = make(60, ids=ids if with_ids == "x" else None)
    y = make(60, ["c"], ids=ids if with_ids == "y" else None)
    data = pair_tables(x, y)
    assert data.samples == (None if with_ids == "none" else ids)
    np.testing.assert_array_equal(data.y, y.values)


def test_different_row_counts():
    reject(
        make(60, ids=number(range(60))),
        make(61, ["c"]),
        "X and Y must have the same number of rows unless both have sample ids, but X has 60 and "
        "Y has 61; remove the extra rows, or give both tables a first column called 'sample'",
    )


def test_too_few_samples():
    assert len(pair_tables(make(10), make(10, ["c"])).x) == 10
    advice = "; add samples, or check that the sample ids are written in the same way"
    reject(
        make(9),
        make(9, ["c"]),
        f"X and Y must have at least 10 samples in common, but have 9{advice}",
    )
    reject(
        make(49),
        Table(np.arange(49)[:, None] % 2.0, ("c",)),
        "X and Y must have at least 50 samples in common where outputs are 0/1 or counted, or lack "
        f"values, but have 49{advice}",
    )


def test_names_that_both_tables_have_are_told_apart():
    """A mutated gene and its expression are two nodes of the graph."""
    data = pair_tables(make(60, ["TP53", "EGFR"]), make(60, ["MYC", "TP53"]))
    assert data.inputs == ("TP53_x", "EGFR")
    assert data.outputs == ("MYC", "TP53_y")


def test_names_that_cannot_be_told_apart():
    reject(
        make(60, ["a", "a_y"]),
        make(60, ["a", "b"]),
        "X and Y must have different column names, because each becomes a node of the graph, but "
        "adding _x and _y to those that both have gives 'a_y' twice; rename them in one table",
    )


def test_constant_columns_are_dropped_and_named():
    x, y = make(60), make(60, ["c", "d"])
    values = np.insert(x.values, [0, 2], [0, 2.5], axis=1)
    data = pair_tables(Table(values, ("zero", "a", "b", "half")), y)
    assert data.inputs == ("a", "b")
    np.testing.assert_array_equal(data.x, x.values)
    assert data.dropped == (
        Dropped("X", "zero", "constant (always 0)"),
        Dropped("X", "half", "constant (always 2.5)"),
    )


def test_column_that_is_constant_in_the_matched_samples_is_dropped():
    values = np.column_stack([np.arange(61.0), np.arange(61) == 60])
    x = Table(values, ("a", "late"), tuple(number(range(61))))
    data = pair_tables(x, make(60, ["c"], ids=number(range(60))))
    assert data.inputs == ("a",)
    assert Dropped("X", "late", "constant (always 0)") in data.dropped


def test_nothing_but_constant_columns():
    reject(
        make(60),
        Table(np.ones((60, 2)), ("c", "d")),
        "Y must have a column that varies, but each of its 2 columns has the same value in all 60 "
        "samples; check the table, or add samples",
    )


def test_tables_are_not_modified():
    x, y = make(60, ids=number(range(60))), make(60, ["c"], ids=number(range(60)))
    before = np.copy(x.values), np.copy(y.values)
    data = pair_tables(x, y)
    data.x[:] = 0
    data.y[:] = 0
    np.testing.assert_array_equal(x.values, before[0])
    np.testing.assert_array_equal(y.values, before[1])


def test_files_and_memory_give_the_same_data(tmp_path):
    x = pd.DataFrame(make(60).values, columns=["a", "b"], index=number(range(60)))
    y = pd.DataFrame(make(60, ["c"]).values, columns=["c"], index=number(range(60)))[::-1]
    x.to_csv(tmp_path / "x.csv")
    y.to_parquet(tmp_path / "y.parquet")
    loaded = load_data(tmp_path / "x.csv", tmp_path / "y.parquet")
    assert fingerprint(loaded) == fingerprint(as_data(x, y))


def test_files_are_called_x_and_y(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"^Y \(.*y\.csv\) must be an existing file"):
        load_data(tmp_path / "x.csv", tmp_path / "y.csv")


def test_arrays_get_names_and_stay_as_they_are():
    x, y = np.copy(make(60).values), np.copy(make(60, ["c"]).values)
    before = x.copy()
    data = as_data(x, y)
    assert (data.inputs, data.outputs, data.samples) == (("x0", "x1"), ("y0",), None)
    data.x[:] = 0
    np.testing.assert_array_equal(x, before)


def test_fingerprint_is_the_same_on_each_platform():
    data = Data(np.arange(4.0).reshape(2, 2), np.ones((2, 1)), ("a", "ü"), ("b",), ("s", "t"))
    contents = {
        "x": struct.pack("<4d", 0, 1, 2, 3),
        "y": struct.pack("<2d", 1, 1),
        "names": b'{"inputs": ["a", "\\u00fc"], "outputs": ["b"]}',
        "samples": b'["s", "t"]',
    }
    expected = {part: hashlib.sha256(content).hexdigest() for part, content in contents.items()}
    assert fingerprint(data) == expected
    turned = replace(data, x=np.asfortranarray(data.x), y=data.y.astype(">f8"))
    assert fingerprint(turned) == expected


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"x": np.ones((2, 2))}, "x"),
        ({"y": np.zeros((2, 1))}, "y"),
        ({"inputs": ("a,c",)}, "names"),
        ({"samples": ("s", "u")}, "samples"),
        ({"samples": None}, "samples"),
    ],
)
def test_fingerprint_changes_with_its_part(change, part):
    data = Data(np.zeros((2, 2)), np.ones((2, 1)), ("a", "c"), ("b",), ("s", "t"))
    before, after = fingerprint(data), fingerprint(replace(data, **change))
    assert [key for key in before if before[key] != after[key]] == [part]
