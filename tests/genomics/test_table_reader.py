import gzip

import numpy as np
import pandas as pd
import pytest

from gene_files import write
from rinn.errors import InputError
from rinn.genomics.readers.table import load_table
from rinn.genomics.symbols import AS_WRITTEN

METABRIC = (
    "patient_id,age_at_diagnosis,cancer_type,brca1,tp53,tp53_mut,pik3ca_mut\n"
    "0,75.65,Breast Cancer,-1.399,0.3504,0,0\n"
    '2,43.19,"Breast, other",-1.38,-0.0136,"E68* F113V",0\n'
    "5,48.87,Breast Cancer,0.067,NA,,H1047R\n"
)


def frame():
    return pd.DataFrame(
        {"TP53": [1.0, 0.0], "EGFR": [0.0, np.nan]}, index=["TCGA.02.0001", "TCGA.02.0003"]
    )


def write_frame(path):
    table = frame()
    if path.name.endswith(".parquet"):
        table.to_parquet(path)
    elif path.name.endswith(".npz"):
        names = {"columns": list(table.columns), "samples": list(table.index)}
        np.savez(path, values=table.to_numpy(), **names)
    else:
        separator = "," if ".csv" in path.name else "\t"
        text = table.to_csv(sep=separator, index_label="sample", na_rep="NA")
        write(path, text, pack=path.name.endswith(".gz"))
    return path


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.tsv", "a.tsv.gz", "a.txt", "a.parquet", "a.npz"]
)
def test_each_kind_of_file(tmp_path, name):
    reading = load_table(write_frame(tmp_path / name))
    expected = frame().set_axis(pd.Index(["TCGA-02-0001", "TCGA-02-0003"], name="sample"))
    pd.testing.assert_frame_equal(reading.table, expected)
    assert reading.kind == "mutation"
    assert reading.sequenced == ("TCGA-02-0001", "TCGA-02-0003")
    assert reading.log.count("noted", "cells") == 1


def test_genes_in_rows(tmp_path):
    path = write(tmp_path / "a.tsv", "gene\ts1\ts2\nTP53\t1.5\t2\n1-Mar\t3\t4\n")
    reading = load_table(path, genes_in_rows=True)
    assert reading.table.to_dict("index") == {
        "s1": {"TP53": 1.5, "MARCHF1": 3},
        "s2": {"TP53": 2, "MARCHF1": 4},
    }


def test_repeated_genes_are_merged(tmp_path):
    path = write(tmp_path / "a.csv", "sample,TP53,tp53\na,0,1\nb,0,0\n")
    assert load_table(path).table.to_dict("list") == {"TP53": [1, 0]}
    assert list(load_table(path, symbols=AS_WRITTEN).table.columns) == ["TP53", "tp53"]


def test_mutation_columns_of_a_table_with_everything(tmp_path):
    reading = load_table(write(tmp_path / "a.csv", METABRIC), mutation_suffix="_mut")
    assert reading.kind == "mutation"
    np.testing.assert_array_equal(reading.table["TP53"], [0, 1, np.nan])
    np.testing.assert_array_equal(reading.table["PIK3CA"], [0, 0, 1])
    assert list(reading.table.index) == ["0", "2", "5"]
    assert reading.log.count("dropped", "columns") == 4


def test_columns_of_text_are_dropped_by_name(tmp_path):
    path = write(tmp_path / "a.csv.gz", METABRIC, pack=True)
    reading = load_table(path, text="drop")
    assert list(reading.table.columns) == ["AGE_AT_DIAGNOSIS", "BRCA1", "TP53"]
    entry = next(each for each in reading.log.entries if each.reason == "they hold text")
    assert entry.names == ("cancer_type", "tp53_mut", "pik3ca_mut")


def test_columns_that_are_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", METABRIC)
    assert load_table(path, columns=["brca1", "tp53"]).table.shape == (3, 2)
    with pytest.raises(InputError, match=r"columns must be in the header of .* but 'kras' is not"):
        load_table(path, columns=["kras"])
    with pytest.raises(InputError, match="but 'cancer_type' hold text; pass text='drop'"):
        load_table(path, columns=["cancer_type"])


def test_counts_are_logged_where_that_is_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", "sample,TP53\na,1023\nb,0\n")
    assert load_table(path).table["TP53"].tolist() == [1023, 0]
    assert load_table(path, log=True).table["TP53"].tolist() == [10, 0]


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("a.csv", "TP53,EGFR\n1,2\n", {}, "must have sample ids in its first column"),
        ("a.csv", "sample,A\na,1\na,2\n", {}, "must have each sample once, but repeats 'a'"),
        ("a.csv", 's,A\na,"1\n' + "x" * 200_000, {"text": "drop"}, "cannot be split"),
        ("a.csv", "sample,A\na,inf\n", {}, "must hold numbers up to"),
        ("a.csv", "sample\na\n", {}, "must have columns and rows"),
        ("a.csv", "", {"text": "drop"}, "must hold a table, but is empty"),
        ("a.csv", "s,A\na,1,2\n", {"text": "drop"}, "2 fields in each line, but line 2 has 3"),
        ("a.csv", "s,A\na,1\n", {"text": "keep"}, "text must be one of refuse, drop, got 'keep'"),
        ("a.csv", "s,A\na,1\n", {"mutation_suffix": "_mut"}, "none is asked for or ends in '_mut'"),
        ("a.npz", "x", {"text": "drop"}, r"must end in \.csv, \.tsv, \.txt"),
        ("a.xlsx", "x", {}, "must be a file that ends in one of"),
    ],
)
def test_malformed(tmp_path, name, text, options, sentence):
    with pytest.raises(InputError, match=sentence):
        load_table(write(tmp_path / name, text), **options)


def test_cut_gzip(tmp_path):
    content = gzip.compress(METABRIC.encode())
    for options in ({}, {"text": "drop"}):
        with pytest.raises(InputError, match="must be a whole gzip file"):
            load_table(write(tmp_path / "a.csv.gz", content[:-9]), **options)
