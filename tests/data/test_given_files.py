import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rinn.files
from rinn.cli import run
from rinn.data.covariates import load_covariates
from rinn.data.genesets import load_gmt
from rinn.data.kinds import load_kinds
from rinn.data.tables import load_table
from rinn.data.text import Lines
from rinn.errors import InputError
from rinn.files import check_file, read_file, unpack_gzip
from rinn.genomics.readers.h5ad import load_h5ad
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.tci.events import load_labels
from rinn.graphs.files import load_graph
from rinn.structure.prior.sources import load_prior

READERS = {
    "x.csv": lambda path: load_table(path, "X"),
    "x.parquet": lambda path: load_table(path, "X"),
    "x.npz": lambda path: load_table(path, "X"),
    "covariates.csv": load_covariates,
    "kinds.csv": load_kinds,
    "truth.json": load_graph,
    "truth.graphml": load_graph,
    "prior.csv": load_prior,
    "prior.json": load_prior,
    "prior.json.gz": load_prior,
    "sets.gmt": lambda path: load_gmt(path, genes=set()),
    "tissue.csv": load_labels,
    "a.maf": load_maf,
    "a.h5ad": load_h5ad,
}


def read_lines(path):
    return list(Lines(path, "MAF"))


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_without_a_writer_is_refused_by_every_reader(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="must be a regular file, but it is a pipe; save its"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_a_device_is_refused_by_every_reader(tmp_path, name):
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="must be a regular file, but it is a device; save its"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize(
    "option", ["--maf", "--copy-number", "--clinical", "--normals", "--sequenced"]
)
def test_prepare_refuses_pipes_before_it_reads_them(tmp_path, capsys, option):
    pipe, table = tmp_path / "pipe", tmp_path / "y.csv"
    os.mkfifo(pipe)
    table.write_text("sample,p\na,1\n")
    given = {"--expression": table, "--mutations": table, option: pipe}
    if option == "--maf":
        del given["--mutations"]
    words = ["prepare", *(str(word) for pair in given.items() for word in pair)]
    assert run([*words, "--out", str(tmp_path / "out")]) == 2
    assert "must be a regular file, but it is a pipe" in capsys.readouterr().err


@pytest.mark.parametrize("read", [lambda path: load_table(path, "X"), load_covariates])
def test_a_pipe_of_the_shell_is_to_be_saved_to_a_file(tmp_path, read):
    os.mkfifo(tmp_path / "63")
    with pytest.raises(InputError, match="it is a pipe; save its content to a file first"):
        read(tmp_path / "63")


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"^X must be an existing file, but does not exist"):
        check_file(tmp_path / "none", "X")
    with pytest.raises(InputError, match=r"^X must be a file, but it is a folder"):
        check_file(tmp_path, "X")
    with pytest.raises(InputError, match=r"^X must be a file you may read, .*null (byte|char)"):
        check_file(Path("a\0b"), "X")


def test_gzip_of_several_members_is_read_and_a_cut_one_refused():
    content = gzip.compress(b"a,b\n", mtime=0) + gzip.compress(b"1,2\n", mtime=0)
    assert unpack_gzip(content, "X") == b"a,b\n1,2\n"
    with pytest.raises(InputError, match=r"^X must be a whole gzip file, .* \(it is cut off\)"):
        unpack_gzip(content[:-9], "X")


@pytest.mark.parametrize("read", [lambda path: load_table(path, "X"), read_lines, load_covariates])
def test_gzip_that_grows_too_much_is_refused(tmp_path, monkeypatch, read):
    monkeypatch.setattr(rinn.files, "MIN_UNPACKED", 1 << 20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"sample,a\n" + b"s,1\n" * 1_000_000, mtime=0))
    with pytest.raises(InputError, match="must be a gzip file that grows to at most 200 times"):
        read(path)


def test_what_exceeds_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(rinn.files, "_find_memory", lambda: 40_000)
    message = "must fit in memory, but has 0.0 GiB, and this machine can take"
    large = "sample,a\n" + "s,1\n" * 3000
    (tmp_path / "large.csv").write_text(large)
    (tmp_path / "large.csv.gz").write_bytes(gzip.compress(large.encode(), mtime=0))
    np.savez_compressed(tmp_path / "large.npz", values=np.zeros((100, 100)))
    pd.DataFrame({"a": np.zeros(9000)}).to_parquet(tmp_path / "large.parquet")
    for name in ("large.csv", "large.csv.gz", "large.npz", "large.parquet"):
        with pytest.raises(InputError, match=message):
            load_table(tmp_path / name, "X")
    with pytest.raises(InputError, match=message):
        read_file(tmp_path / "large.csv", "X")


def test_an_array_whose_header_claims_terabytes_is_refused(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000, 10000000), }\n"
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(tmp_path / "claim.npz", "w") as archive:
        archive.writestr("values.npy", member)
    with pytest.raises(InputError, match=r"^X .* must fit in memory, but it does not"):
        load_table(tmp_path / "claim.npz", "X")


def test_an_npz_member_that_is_no_array_is_refused(tmp_path):
    array = io.BytesIO()
    np.save(array, np.eye(2))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("values.npy", array.getvalue())
        archive.writestr("columns", "a b")
    with pytest.raises(InputError, match=r"must hold arrays only, but 'columns' is not one"):
        load_table(tmp_path / "x.npz", "X")


def test_a_field_beyond_the_limit_of_csv_is_refused(tmp_path):
    (tmp_path / "kinds.csv").write_text(f"output,kind\np,{'9' * 140_000}\n")
    with pytest.raises(InputError, match=r"line 2 cannot be split into fields \(field"):
        load_kinds(tmp_path / "kinds.csv")
