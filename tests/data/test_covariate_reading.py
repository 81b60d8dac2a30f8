import gzip

import numpy as np
import pandas as pd
import pytest

from rinn.data.covariates import load_covariates, make_covariates, match_covariates
from rinn.errors import InputError

TEXT = 'sample,tissue,age,"note, long"\nb,lung,61,x\na,skin,NA,"y, z"\n'


def check(found):
    assert found.samples == ("b", "a")
    assert found.columns["tissue"].tolist() == ["lung", "skin"]
    np.testing.assert_array_equal(found.columns["age"], [61, np.nan])
    assert found.columns["note, long"].tolist() == ["x", "y, z"]


def test_text_files(tmp_path):
    (tmp_path / "z.csv").write_text(TEXT, encoding="utf-8-sig")
    check(load_covariates(tmp_path / "z.csv"))
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(TEXT.replace("\n", "\r\n").encode()))
    check(load_covariates(tmp_path / "z.csv.gz"))
    tabbed = 'sample\ttissue\tage\t"note, long"\nb\tlung\t61\tx\na\tskin\tNA\ty, z\n'
    (tmp_path / "z.txt").write_text(tabbed)
    check(load_covariates(tmp_path / "z.txt"))


def test_parquet(tmp_path):
    frame = pd.DataFrame({"batch": ["b1", None, "b1"], "age": [1.5, 2, None]}, index=list("abc"))
    frame.to_parquet(tmp_path / "z.parquet")
    found = load_covariates(tmp_path / "z.parquet")
    assert found.samples == ("a", "b", "c")
    assert found.columns["batch"].tolist() == ["b1", "", "b1"]
    np.testing.assert_array_equal(found.columns["age"], [1.5, 2, np.nan])


def test_numbers_that_pandas_calls_categories_are_names():
    frame = pd.DataFrame({"batch": pd.Categorical([1, 2, 1]), "dose": ["1", "2", "NA"]})
    found = make_covariates(frame)
    assert found.columns["batch"].tolist() == ["1", "2", "1"]
    np.testing.assert_array_equal(found.columns["dose"], [1, 2, np.nan])


def test_a_single_column_is_a_covariate_and_words_that_differ_are_ids(tmp_path):
    (tmp_path / "tissue.csv").write_text("tissue\nt1\nt2\nt1\n")
    assert load_covariates(tmp_path / "tissue.csv").samples is None
    (tmp_path / "ids.csv").write_text("tumour,sex\nT1,f\nT2,m\nT3,f\n")
    assert load_covariates(tmp_path / "ids.csv").samples == ("T1", "T2", "T3")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("z.xlsx", b"x", r"must be a file that ends in one of \.csv"),
        ("z.csv", b"", "must hold a table, but the file is empty"),
        ("z.csv", b"sample,a\nb\n", "must have 2 fields in each row, but line 2 has 1"),
        ("z.csv", b"sample,a\n\xff,1\n", "must be UTF-8 text, but byte 10 is not"),
        ("z.csv.gz", gzip.compress(b"sample,a\nb,1\n", mtime=0)[:-9], "must be a whole gzip file"),
        ("z.parquet", b"PAR1", "must be a Parquet table"),
        ("z.csv", b"sample,tissue\n", "must have a row for each sample"),
        ("z.csv", b"sample,a,a\nb,1,2\n", "must have each column once, but repeats 'a'"),
        ("z.csv", b"sample,a\nb,1\nb,2\n", "must have each sample once, but repeats 'b'"),
        ("z.csv", b"sample,a\nb,inf\n", r"column 'a' has one in row 1 \(sample 'b'\)"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_covariates(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="must be an existing file"):
        load_covariates(tmp_path / "none.csv")


def test_tables_from_memory():
    assert list(make_covariates(np.ones((3, 2)) * [[1, 2]]).columns) == ["z0", "z1"]
    assert list(make_covariates(pd.Series([1, 2], name="age")).columns) == ["age"]
    assert list(make_covariates(["a", "b"]).columns) == ["z0"]
    with pytest.raises(InputError, match=r"has shape \(1, 1, 1\)"):
        make_covariates(np.ones((1, 1, 1)))


def test_rows_follow_x():
    X = pd.DataFrame({"g": [0, 1, 0]}, index=["a", "b", "c"])
    z = pd.DataFrame({"tissue": ["s", "t", "u", "v"]}, index=["c", "b", "d", "a"])
    assert match_covariates(X, z).columns["tissue"].tolist() == ["v", "t", "s"]
    by_place = match_covariates(X.to_numpy(), z.iloc[:3])
    assert by_place.columns["tissue"].tolist() == ["s", "t", "u"]
    with pytest.raises(InputError, match="have none for 'a'"):
        match_covariates(X, z.iloc[:3])
    with pytest.raises(InputError, match="as many rows as X, but have 4 and X has 3"):
        match_covariates(X.to_numpy(), z)
