"""Tables of zeros and ones that take one byte a cell, and sparse ones."""

import numpy as np
import pandas as pd
from scipy import sparse

from rinn.data import problem, tables
from rinn.data.align import as_data, fingerprint
from rinn.data.tables import load_table, make_table


def test_a_large_table_of_bytes_stays_one(monkeypatch):
    monkeypatch.setattr(tables, "NARROW", 100)
    values = np.random.default_rng(0).integers(0, 2, size=(60, 5)).astype(np.uint8)
    for table in (values, pd.DataFrame(values), values.astype(bool), sparse.csr_array(values)):
        assert np.result_type(make_table(table, "X").values) == np.uint8
    assert np.result_type(make_table(values[:10], "X").values) == np.float64  # small
    assert np.result_type(make_table(values.astype(int), "X").values) == np.float64


def test_one_byte_a_cell_gives_the_same_problem(monkeypatch):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, size=(60, 5)), rng.normal(size=(60, 4))
    wide = as_data(x.astype(float), y)
    monkeypatch.setattr(tables, "NARROW", 100)
    monkeypatch.setattr(problem, "BLOCK", 120)
    narrow = as_data(x.astype(np.uint8), y)
    assert narrow.x.dtype == np.uint8
    assert fingerprint(narrow) == fingerprint(wide)
    assert problem.make_problem(narrow).x.tobytes() == problem.make_problem(wide).x.tobytes()


def test_a_sparse_matrix_is_read(tmp_path):
    values = np.random.default_rng(2).integers(0, 2, size=(60, 5))
    sparse.save_npz(tmp_path / "x.npz", sparse.csc_matrix(values))
    table = load_table(tmp_path / "x.npz", "X")
    np.testing.assert_array_equal(table.values, values)
    assert table.columns == ("x0", "x1", "x2", "x3", "x4")
