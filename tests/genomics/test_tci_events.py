import gzip

import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.genomics.tci.events import as_events, fingerprint_events, load_events, load_labels
from rinn.genomics.tci.prior import load_prior, make_prior


def make(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    ids = [f"s{row}" for row in range(rows)]
    x = pd.DataFrame(rng.integers(0, 2, (rows, 3)), index=ids, columns=["TP53", "KRAS", "EGFR"])
    y = pd.DataFrame(rng.integers(0, 2, (rows, 2)), index=ids, columns=["TP53", "MYC"])
    return x, y


def write(folder, **tables):
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index_label="sample")
    return [folder / f"{name}.csv" for name in tables]


def test_files_and_memory_agree(tmp_path):
    x, y = make()
    tissue = pd.DataFrame({"tissue": ["lung", "skin"] * 30}, index=x.index)
    paths = write(tmp_path, x=x, y=y[::-1], tissue=tissue[:50][::-1])
    events = load_events(*paths)
    assert events.samples == tuple(x.index[:50])
    assert events.tissues == ("lung", "skin") * 25
    np.testing.assert_array_equal(events.altered.toarray(), x[:50])
    np.testing.assert_array_equal(events.expressed, y[:50])
    assert events.degs == ("TP53", "MYC")
    assert [entry.name for entry in events.dropped] == list(x.index[50:])
    same = as_events(x, y, tissue["tissue"][:50])
    assert fingerprint_events(same) == fingerprint_events(events)


def test_fingerprint_changes_with_each_part():
    x, y = make()
    labels = ["lung", "skin"] * 30
    first = fingerprint_events(as_events(x, y, labels))
    for other, part in (
        (as_events(1 - x, y, labels), "x"),
        (as_events(x, 1 - y, labels), "y"),
        (as_events(x.rename(columns={"TP53": "a"}), y, labels), "names"),
        (as_events(x.rename(index={"s0": "b"}), y.rename(index={"s0": "b"}), labels), "samples"),
        (as_events(x, y, labels[::-1]), "tissues"),
    ):
        found = fingerprint_events(other)
        assert {name for name in first if first[name] != found[name]} == {part}


def test_rows_without_ids_match_in_order(tmp_path):
    x, y = (table.reset_index(drop=True) for table in make())
    for name, table in (("x", x), ("y", y)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "t.tsv").write_text("tissue\n" + "a\nb\n" * 30)
    events = load_events(tmp_path / "x.csv", tmp_path / "y.csv", tmp_path / "t.tsv")
    assert events.samples is None
    assert events.tissues == ("a", "b") * 30


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, y: (x * 2, y, None), "X must hold only 0 and 1, but column"),
        (lambda x, y: (x, y + 0.5, None), "Y must hold only 0 and 1, but column 'TP53' has"),
        (lambda x, y: (x.rename(columns={"TP53": "A0"}), y, None), "X must not have a column 'A0'"),
        (lambda x, y: (x, y, ["a"] * 59), "one label for each of the 60 rows of X"),
        (lambda x, y: (x[:40], y, None), "at least 50 samples in common"),
        (lambda x, y: (x, y, pd.Series("a", x.index[:40])), "X, Y and the tissues must have at"),
        (lambda x, y: (x, y, pd.Series("a", [f"q{i}" for i in range(60)])), "must share sample"),
    ],
)
def test_wrong_tables_are_refused(change, words):
    x, y = make()
    x, y, tissues = change(x, y)
    with pytest.raises(InputError, match=words):
        as_events(x, y, tissues)


def test_labels_in_many_guises(tmp_path):
    path = tmp_path / "labels.tsv.gz"
    path.write_bytes(
        gzip.compress(b'\xef\xbb\xbfbarcode\tcancer type\r\na\t lung \r\nb\t"sk,in"\r\n')
    )
    labels = load_labels(path)
    assert labels.to_dict() == {"a": "lung", "b": "sk,in"}
    (tmp_path / "one.csv").write_text("type\nlung\n")
    assert isinstance(load_labels(tmp_path / "one.csv").index, pd.RangeIndex)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xlsx", b"x", "must be a file that ends in one of .csv, .tsv, .txt"),
        ("a.csv", None, "must be an existing file"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"sample,tissue\na,\xff\xfe\n", "must be UTF-8 text"),
        (
            "a.csv.gz",
            gzip.compress(b"sample,tissue\na,b\n" * 99, mtime=0)[:30],
            "must be a whole gzip",
        ),
        ("a.csv", b"sample,tissue\na,b,c,d\n", "2 fields in each row, but line 2 has 4"),
        ("a.csv", b"sample,sex,age\na,f,3\n", "must have a column 'tissue', but it has 'sex'"),
        ("a.csv", b"sample,tissue\na,lung\nb,NA\n", "label for each sample, but 'b' has none"),
        (
            "a.csv",
            b"sample,tissue\na,lung\na,skin\n",
            "must have each sample once, but repeats 'a'",
        ),
    ],
)
def test_wrong_labels_are_refused(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        load_labels(tmp_path / name)


def test_prior_from_file(tmp_path):
    events = as_events(*make())
    path = tmp_path / "prior.csv"
    path.write_text("gene,prior\nEGFR,1\nTP53,4\nKRAS,2\nother,2\nA0,1\n")
    prior = make_prior(events, path)
    assert (prior.name, prior.weights.tolist(), prior.other) == ("file", [4, 2, 1], 0.1)
    assert load_prior(path, events, 0.3).other == 0.3
    path.write_text("gene,prior\nEGFR,1\nTP53,4\nKRAS,2\n")
    assert load_prior(path, events).other == 0.05


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("gene,prior\nEGFR,1\nTP53,4\n", "must have each SGA of X, but lacks 'KRAS'"),
        ("gene,prior\nEGFR,1\nTP53,4\nKRAS,0\n", "must be above 0 for each SGA, but is not"),
        ("gene,a,b\nEGFR,1,1\nTP53,4,1\nKRAS,1,1\n", "must have two columns"),
    ],
)
def test_wrong_priors_are_refused(tmp_path, content, words):
    (tmp_path / "prior.csv").write_text(content)
    with pytest.raises(InputError, match=words):
        make_prior(as_events(*make()), tmp_path / "prior.csv")


def test_unknown_prior_is_refused():
    events = as_events(*make())
    with pytest.raises(InputError, match="'frequncy' is neither; did you mean 'frequency'"):
        make_prior(events, "frequncy")
    for other in (0, 1, -0.1, "a", True):
        with pytest.raises(InputError, match="other must be a number above 0 and below 1"):
            make_prior(events, "uniform", other)


def test_labels_with_a_column_twice(tmp_path):
    (tmp_path / "tissue.csv").write_text("sample,tissue,tissue\na,lung,skin\n")
    with pytest.raises(InputError, match="must have each column once, but repeats 'tissue'"):
        load_labels(tmp_path / "tissue.csv")
