import sys

import h5py
import numpy as np
import pytest

from gene_files import CELLS, write, write_h5ad
from rinn.errors import InputError
from rinn.genomics.perturbations import encode_labels
from rinn.genomics.readers.h5ad import load_h5ad


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_values(tmp_path, kind):
    reading = load_h5ad(write_h5ad(tmp_path / "a.h5ad", kind=kind))
    np.testing.assert_array_equal(reading.table.to_numpy(), CELLS)
    assert list(reading.table.columns) == ["ENSG00000141510", "G2", "G3"]
    assert list(reading.table.index) == ["AAC-1", "GGT-1"]
    assert set(reading.table.dtypes) == {np.dtype("float32")}


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_some_genes_in_small_chunks(tmp_path, monkeypatch, kind, chunk):
    monkeypatch.setattr("rinn.genomics.readers.h5ad._CHUNK", chunk)
    path = write_h5ad(tmp_path / "a.h5ad", kind=kind)
    reading = load_h5ad(path, genes=["TP53", "KLF1"], symbol_column="symbol")
    np.testing.assert_array_equal(reading.table.to_numpy(), CELLS[:, [0, 2]])
    assert reading.log.count("dropped", "genes") == 1


def test_layer(tmp_path):
    path = write_h5ad(tmp_path / "a.h5ad")
    assert load_h5ad(path, layer="counts").table.to_numpy().sum() == 7
    with pytest.raises(InputError, match=r"layer must be in h5ad .* got 'count'; did you mean"):
        load_h5ad(path, layer="count")


def test_symbol_column(tmp_path):
    with pytest.raises(InputError, match=r"symbol_column must be in h5ad .* got 'symbl'; did you"):
        load_h5ad(write_h5ad(tmp_path / "a.h5ad"), symbol_column="symbl")


def test_raw_has_its_own_genes(tmp_path):
    path = write_h5ad(tmp_path / "a.h5ad")
    with h5py.File(path, "r+") as file:
        file["raw/X"] = np.ones((2, 1))
        file["raw/var/_index"] = ["MYC"]
    assert load_h5ad(path, layer="raw").table.to_dict("list") == {"MYC": [1, 1]}


def test_annotation(tmp_path):
    annotation = load_h5ad(write_h5ad(tmp_path / "a.h5ad")).annotation
    assert annotation["depth"].tolist() == [10, 20]
    assert annotation["perturbation"].tolist()[0] == "KLF1+ctrl"
    assert annotation["perturbation"].isna().tolist() == [False, True]
    assert annotation["age"].isna().tolist() == [False, True]


def test_older_categories_and_records(tmp_path):
    path = tmp_path / "old.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = CELLS
        file["obs/_index"] = ["a", "b"]
        file["obs/tissue"] = np.array([1, 0], dtype=np.int8)
        file["obs/__categories/tissue"] = ["brain", "liver"]
        file["var"] = np.array(
            [(b"A", 1), (b"B", 2), (b"C", 3)], dtype=[("index", "S1"), ("n", int)]
        )
    reading = load_h5ad(path)
    assert list(reading.table.columns) == ["A", "B", "C"]
    assert reading.annotation["tissue"].tolist() == ["liver", "brain"]


def test_labels_become_inputs(tmp_path):
    reading = load_h5ad(write_h5ad(tmp_path / "a.h5ad"))
    table = encode_labels(reading.annotation["perturbation"].fillna("ctrl"))
    assert table.to_dict("index") == {"AAC-1": {"KLF1": 1}, "GGT-1": {"KLF1": 0}}
    double = encode_labels(["A_B", "A"], separators="+_")
    assert double.to_numpy().tolist() == [[1, 1], [1, 0]]
    assert list(encode_labels(["A+B"], separators="").columns) == ["A+B"]
    with pytest.raises(InputError, match="labels must name a perturbed gene"):
        encode_labels(["control", "non-targeting"])


def test_without_h5py(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"run pip install 'rinn\[h5ad\]'$"):
        load_h5ad(tmp_path / "a.h5ad")


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="must be an existing file"):
        load_h5ad(tmp_path / "a.h5ad")


def test_text_is_no_h5ad(tmp_path):
    with pytest.raises(InputError, match="must be a whole AnnData file, but it cannot be read"):
        load_h5ad(write(tmp_path / "a.h5ad", "sample\tTP53\n"))


def test_cut_file(tmp_path):
    content = write_h5ad(tmp_path / "a.h5ad").read_bytes()
    with pytest.raises(InputError, match="must be a whole AnnData file"):
        load_h5ad(write(tmp_path / "b.h5ad", content[: len(content) // 2]))


def change(path, function):
    with h5py.File(path, "r+") as file:
        function(file)
    return path


def drop_obs(file):
    del file["obs"]


def drop_index(file):
    del file["obs/cell"]


def repeat_sample(file):
    file["obs/cell"][1] = "AAC-1"


def widen(file):
    del file["X"]
    file["X"] = np.zeros((2, 4))


def put_text(file):
    del file["X"]
    file["X"] = np.full((2, 3), b"x")


def put_infinity(file):
    file["X"][0, 0] = np.inf


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (drop_obs, r"cannot be read \(it has no 'obs', only"),
        (drop_index, "it has no 'cell', only"),
        (repeat_sample, "must have each sample once, but repeats 'AAC-1'"),
        (widen, r"its values have the shape \(2, 4\), but obs and var name \(2, 3\)"),
        (put_text, "its values are of the type"),
        (put_infinity, "must hold numbers up to"),
    ],
)
def test_malformed(tmp_path, function, sentence):
    path = change(write_h5ad(tmp_path / "a.h5ad"), function)
    with pytest.raises(InputError, match=sentence):
        load_h5ad(path)


def break_starts(file):
    file["X/indptr"][1] = 99


def break_indices(file):
    file["X/indices"][0] = 99


@pytest.mark.parametrize("function", [break_starts, break_indices])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_unsound_sparse_matrix(tmp_path, function, kind):
    path = change(write_h5ad(tmp_path / "a.h5ad", kind=kind), function)
    with pytest.raises(
        InputError, match=r"its sparse matrix has (rows that overlap|indices outside)"
    ):
        load_h5ad(path)


def test_too_large_a_table_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write_h5ad(tmp_path / "a.h5ad")
    monkeypatch.setattr("rinn.genomics.readers.h5ad.MAX_CELLS", 5)
    with pytest.raises(InputError, match="at most 5 cells, but has 2 samples and 3 genes; name"):
        load_h5ad(path)
    assert load_h5ad(path, genes=["g2"]).table.shape == (2, 1)
    with pytest.raises(InputError, match="genes must be in h5ad"):
        load_h5ad(path, genes=["g9"])


def test_array_that_claims_to_be_huge(tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file.create_dataset("obs/_index", shape=(10**12,), dtype="S4", chunks=(1000,))
        file["var/_index"] = ["a"]
        file["X"] = np.ones((1, 1))
    with pytest.raises(
        InputError, match=r"/obs/_index has the shape \(1000000000000,\), and is not a list"
    ):
        load_h5ad(path)
