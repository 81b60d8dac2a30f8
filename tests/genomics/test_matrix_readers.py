import numpy as np
import pandas as pd
import pytest

from gene_files import GCT_2, GCT_3, GISTIC, XENA, XENA_LONG, matrix_text, write
from rinn.errors import InputError
from rinn.genomics.readers.gct import load_gct
from rinn.genomics.readers.gistic import load_gistic
from rinn.genomics.readers.xena import load_xena
from rinn.genomics.symbols import SymbolRules, load_gene_names


def reject(load, path, sentence, **options):
    with pytest.raises(InputError) as caught:
        load(path, **options)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("pack", [False, True])
def test_gistic_levels(tmp_path, pack):
    reading = load_gistic(write(tmp_path / "all_thresholded.by_genes.txt", GISTIC, pack=pack))
    assert reading.kind == "copy number"
    assert reading.scale == "levels"
    expected = pd.DataFrame(
        [[2.0, -1.0, -2.0], [0.0, 1.0, -2.0]],
        index=pd.Index(["TCGA-02-0001-01", "TCGA-02-0003-01"], name="sample"),
        columns=["EGFR", "MIR3115", "CDKN2A"],
    )
    pd.testing.assert_frame_equal(reading.table, expected)
    assert reading.log.count("renamed", "barcodes") == 2


def test_gistic_ratios(tmp_path):
    text = GISTIC.replace("Locus ID", "Gene ID").replace("\t2\t0\n", "\t1.258\t0.011\n")
    reading = load_gistic(write(tmp_path / "all_data_by_genes.txt", text))
    assert reading.scale == "log2 ratio"
    assert reading.table.loc["TCGA-02-0001-01", "EGFR"] == 1.258


def test_gistic_repeated_gene_takes_the_strongest_level(tmp_path):
    text = GISTIC + "MIR3115|chr8\t1\t8p\t1\t-2\n"
    path = write(tmp_path / "a.txt", text)
    assert load_gistic(path).table["MIR3115"].tolist() == [-1, -2]
    assert load_gistic(path, duplicates="mean").table["MIR3115"].tolist() == [0, -0.5]
    assert load_gistic(path, duplicates="first").table["MIR3115"].tolist() == [-1, 1]
    assert load_gistic(path).log.count("merged", "genes") == 1


def test_gistic_wrong_header(tmp_path):
    path = write(tmp_path / "a.txt", XENA)
    reject(
        load_gistic,
        path,
        f"GISTIC ({path}) must begin with the columns Gene Symbol, Locus ID (or Gene ID), "
        f"Cytoband, but line 1 begins with 'sample', 'TCGA-02-0001-01', 'TCGA-02-0003-01' and 1 "
        f"more; name all_thresholded.by_genes.txt or all_data_by_genes.txt",
    )


def test_gct_1_2(tmp_path):
    reading = load_gct(write(tmp_path / "a.gct", GCT_2))
    assert reading.log.format == "GCT 1.2"
    np.testing.assert_array_equal(reading.table.to_numpy(), [[1.5, 0], [2, np.nan], [-3, 0.7]])
    assert reading.log.count("noted", "cells") == 1
    assert reading.annotation is None


def test_gct_1_3(tmp_path):
    path = write(tmp_path / "a.gct.gz", GCT_3, pack=True)
    reading = load_gct(path, genes="PR_gene_symbol")
    assert list(reading.table.columns) == ["PSME1", "RHEB"]
    assert reading.annotation.to_dict("index") == {
        "p1": {"cell_id": "A549", "dose": "10"},
        "p2": {"cell_id": "MCF7", "dose": "-666"},
    }
    assert list(load_gct(path).table.columns) == ["200814_AT", "201453_X_AT"]


def test_gct_of_counts_is_logged(tmp_path):
    path = write(tmp_path / "a.gct", GCT_2.replace("-3", "1023"))
    reading = load_gct(path)
    assert reading.scale == "log2(x + 1)"
    assert reading.table.loc["s3", "TP53"] == 10
    assert load_gct(path, log=False).table.loc["s3", "TP53"] == 1023


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "#1.2",
            "#1.1",
            "must begin with #1.2 or #1.3, but line 1 is '#1.1'; check that it is GCT",
        ),
        (
            "2\t3\n",
            "2\n",
            "must have 2 whole numbers with tabs between on line 2, but line 2 is '2'; export the "
            "file again",
        ),
        (
            "2\t3\n",
            "2\t4\n",
            "must have 6 names in its header, as line 2 says, but line 3 has 5; export the "
            "file again",
        ),
        (
            "2\t3\n",
            "9\t3\n",
            "must have 9 genes, as line 2 says, but has 2; download or export it again",
        ),
        (
            "\t2\t-3\n",
            "\t-3\n",
            "must have 5 fields in each line, as its header has, but line 4 has 4; correct that "
            "line, or export the file again",
        ),
        (
            "1.5",
            "high",
            "must hold numbers, but line 4 has 'high' in column 's1'; write a number or NA there",
        ),
        (
            "1.5",
            "1_5",
            "must hold numbers, but line 4 has '1_5' in column 's1'; write a number or NA there",
        ),
        (
            "1.5",
            "inf",
            "must hold numbers up to 1e+30, but line 4 has inf for 's1'; write NA there",
        ),
        (
            "s2",
            "s1",
            "must have each sample once, but repeats 's1'; keep one of each, or give them "
            "different names",
        ),
    ],
)
def test_gct_malformed(tmp_path, old, new, sentence):
    path = write(tmp_path / "a.gct", GCT_2.replace(old, new))
    reject(load_gct, path, f"GCT ({path}) {sentence}")


def test_gct_wrong_options(tmp_path):
    path = write(tmp_path / "a.gct", GCT_3)
    with pytest.raises(InputError, match="genes must name a column before the samples"):
        load_gct(path, genes="symbol")
    with pytest.raises(InputError, match="log must be False where values are below 0"):
        load_gct(path, log=True)
    with pytest.raises(InputError, match=r"duplicates must be one of any, .* got 'median'"):
        load_gct(path, duplicates="median")
    with pytest.raises(InputError, match="dtype must be one of float64, float32, got 'int8'"):
        load_gct(path, dtype="int8")
    with pytest.raises(InputError, match="have 2 lines about samples with 4 fields each"):
        load_gct(write(tmp_path / "b.gct", GCT_3.replace("\tA549\tMCF7", "\tA549")))


def test_xena_expression_is_not_logged_again(tmp_path):
    reading = load_xena(write(tmp_path / "HiSeqV2.gz", XENA, pack=True))
    assert (reading.kind, reading.scale, reading.sequenced) == ("expression", "as written", None)
    assert reading.table.loc["TCGA-02-0003-11", "EGFR"] == 3.5
    assert np.isnan(reading.table.loc["TCGA-02-0003-11", "TP53"])


def test_xena_gene_level_mutations(tmp_path):
    text = matrix_text(("sample",), ("TCGA-02-0001-01", "TCGA-02-0003-01"), [("TP53", 0, 1)])
    reading = load_xena(write(tmp_path / "mc3", text))
    assert reading.kind == "mutation"
    assert reading.sequenced == ("TCGA-02-0001-01", "TCGA-02-0003-01")


def test_xena_thresholded(tmp_path):
    text = matrix_text(("sample",), ("a", "b"), [("TP53", 0, 1), ("EGFR", 2, -1)])
    reading = load_xena(write(tmp_path / "gistic", text))
    assert (reading.kind, reading.scale) == ("copy number", "levels")


def test_xena_mutation_list(tmp_path):
    path = write(tmp_path / "mc3.v0.2.8.PUBLIC.xena", XENA_LONG)
    reading = load_xena(path, sequenced=["TCGA-02-0007-01"])
    assert reading.table.to_dict("index") == {
        "TCGA-02-0001-01": {"EGFR": 0, "TP53": 1},
        "TCGA-02-0003-01": {"EGFR": 1, "TP53": 0},
        "TCGA-02-0007-01": {"EGFR": 0, "TP53": 0},
    }
    assert list(load_xena(path, classes=["Silent"]).table.columns) == ["TP53"]


def test_xena_gdc_hub_with_ensembl_ids_and_vials(tmp_path):
    text = matrix_text(
        ("Ensembl_ID",),
        ("TCGA-02-0001-01B", "TCGA-02-0001-01A"),
        [("ENSG00000141510.17", 1.0, 2.5), ("ENSG00000146648.18", 3.0, 4.5)],
    )
    path = write(tmp_path / "fpkm.tsv", text)
    probes = write(tmp_path / "probemap", "id\tgene\nENSG00000141510.16\tTP53\n")
    rules = SymbolRules(rename=load_gene_names(probes))
    reading = load_xena(path, symbols=rules)
    assert reading.table.to_dict("index") == {
        "TCGA-02-0001-01": {"TP53": 2.5, "ENSG00000146648": 4.5}
    }
    merged = load_xena(path, symbols=rules, aliquots="merge")
    assert merged.table.to_dict("index") == {
        "TCGA-02-0001-01": {"TP53": 1.75, "ENSG00000146648": 3.75}
    }


def test_a_data_file_of_cbioportal_by_itself(tmp_path):
    """Entrez ids are no sample, and do not make logs of logs."""
    rows = [("TP53", 7157, 9.5, 8.0), ("EGFR", 1956, 7.5, 6.0)]
    lead = ("Hugo_Symbol", "Entrez_Gene_Id")
    text = matrix_text(lead, ("TCGA-02-0001-01", "TCGA-02-0002-01"), rows)
    reading = load_xena(write(tmp_path / "data_mrna.txt", text))
    assert reading.table.to_dict("index") == {
        "TCGA-02-0001-01": {"TP53": 9.5, "EGFR": 7.5},
        "TCGA-02-0002-01": {"TP53": 8.0, "EGFR": 6.0},
    }
    assert "Entrez_Gene_Id: no sample" in str(reading.log)


def test_a_matrix_with_an_empty_corner_is_read_as_one_of_xena(tmp_path):
    path = write(tmp_path / "expression.tsv", "\ts1\ts2\nTP53\t0.5\t1.5\n")
    assert load_xena(path).table["TP53"].to_dict() == {"s1": 0.5, "s2": 1.5}


def test_xena_with_samples_in_rows(tmp_path):
    text = matrix_text(("sample",), ("TP53", "EGFR"), [("TCGA-02-0001-01", 1, 2)])
    path = write(tmp_path / "a.tsv", text)
    reject(
        load_xena,
        path,
        f"Xena ({path}) must have genes in rows and samples in columns, but line 2 is the sample "
        f"'TCGA-02-0001-01'; read it in the format table",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "TP53\tEGFR\n1\t2\n",
            "must have 'sample' above its genes, but line 1 begins with 'TP53'; read it in the "
            "format table, or check that it is a Xena matrix",
        ),
        ("sample\n", "must have samples in its header, but line 1 names none; check the columns"),
        ("sample\ta\n", "must have a line for each gene, but has none; add them"),
        (
            "sample\ta\t\tb\nTP53\t1\t2\t3\n",
            "must have a name for each sample, but number 2 of 3 has none; name or remove it",
        ),
        (
            "sample\ta\nTP53\n",
            "must have 2 fields in each line, as its header has, but line 2 has 1; correct that "
            "line, or export the file again",
        ),
    ],
)
def test_xena_malformed(tmp_path, text, sentence):
    path = write(tmp_path / "a.tsv", text)
    reject(load_xena, path, f"Xena ({path}) {sentence}")


def test_no_symbol_left(tmp_path):
    path = write(tmp_path / "a.tsv", "sample\ta\n?|1\t2\n")
    with pytest.raises(InputError, match="must name genes, but no symbol is left"):
        load_xena(path)


def test_quoted_names_of_r(tmp_path):
    text = '"sample"\t"TCGA.02.0001.01"\n"TP53"\t"2.5"\n'
    assert load_xena(write(tmp_path / "a.tsv", text)).table.to_dict("index") == {
        "TCGA-02-0001-01": {"TP53": 2.5}
    }


def test_a_hundred_thousand_columns(tmp_path):
    samples = [f"cell{number}" for number in range(100_000)]
    rows = [(f"g{row}", *range(row, row + 100_000)) for row in range(3)]
    reading = load_xena(
        write(tmp_path / "a.tsv", matrix_text(("sample",), samples, rows)), log=False
    )
    assert reading.table.shape == (100_000, 3)
    assert reading.table.iloc[99_999].tolist() == [99_999, 100_000, 100_001]


def test_a_line_with_a_hundred_thousand_columns_too_many(tmp_path):
    path = write(tmp_path / "a.tsv", XENA + "KRAS" + "\t1" * 100_000 + "\n")
    reject(
        load_xena,
        path,
        f"Xena ({path}) must have 4 fields in each line, as its header has, but line 4 has 100001; "
        f"correct that line, or export the file again",
    )


def test_empty_columns_at_the_end_are_borne(tmp_path):
    text = XENA.replace("\n", "\t\t\n")
    assert load_xena(write(tmp_path / "a.tsv", text)).table.shape == (3, 2)


def test_float32_takes_half_the_memory(tmp_path):
    reading = load_xena(write(tmp_path / "a.tsv", XENA), dtype="float32")
    assert set(reading.table.dtypes) == {np.dtype("float32")}


def test_renamed_and_merged_genes_are_in_the_log(tmp_path):
    text = matrix_text(
        ("sample",),
        ("a", "b"),
        [("SLC35E2|728661", 1.5, 3), ("SLC35E2|9906", 2.5, "NA"), ("?|100130426", 1, 1)],
    )
    reading = load_xena(write(tmp_path / "a.tsv", text))
    assert reading.table.to_dict("index") == {"a": {"SLC35E2": 2.0}, "b": {"SLC35E2": 3.0}}
    done = {(entry.action, entry.names) for entry in reading.log.entries}
    assert ("dropped", ("?|100130426",)) in done
    assert ("merged", ("SLC35E2 (2)",)) in done
