import gzip
import json

import pytest

from gene_files import LAML_CLASSES, MAF_HEADER, laml_like_maf, maf_text, write
from rinn.data.log import ReadLog
from rinn.errors import InputError
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.options import CLASS_LISTS, ClassList

ROWS = [
    ("TP53", "Missense_Mutation", "TCGA-AB-0001-03A-01D-0739-09"),
    ("TP53", "Nonsense_Mutation", "TCGA-AB-0001-03A-01D-0739-09"),
    ("DNMT3A", "Silent", "TCGA-AB-0002-03A-01D-0739-09"),
    ("FLT3", "In_Frame_Ins", "TCGA-AB-0003-03A-01D-0739-09"),
    ("TERT", "5'Flank", "TCGA-AB-0003-03A-01D-0739-09"),
]


def load(tmp_path, rows=ROWS, **options):
    return load_maf(write(tmp_path / "a.maf", maf_text(rows)), **options)


@pytest.mark.parametrize("pack", [False, True])
def test_counts_of_the_leukaemia_file(tmp_path, pack):
    reading = load_maf(write(tmp_path / "laml.maf.gz", laml_like_maf(), pack=pack))
    assert len(reading.table) == 193
    assert reading.log.tallies["class"] == LAML_CLASSES
    silent = sum(LAML_CLASSES[name] for name in ("Silent", "RNA", "Intron", "IGR", "5'Flank"))
    assert reading.log.count("dropped", "mutations") == silent == 475
    assert reading.log.count("read", "rows") == 2207
    assert reading.log.count("read", "mutations") == 2207 - 475
    merged = reading.log.count("merged", "mutations")
    assert reading.table.to_numpy().sum() == 2207 - 475 - merged


def test_table_of_samples_by_genes(tmp_path):
    table = load(tmp_path).table
    assert table.to_dict("index") == {
        "TCGA-AB-0001-03": {"FLT3": 0, "TP53": 1},
        "TCGA-AB-0002-03": {"FLT3": 0, "TP53": 0},
        "TCGA-AB-0003-03": {"FLT3": 1, "TP53": 0},
    }


def test_a_sample_with_silent_mutations_only_is_kept(tmp_path):
    assert "TCGA-AB-0002-03" in load(tmp_path).table.index


def test_not_sequenced_is_not_without_mutation(tmp_path):
    reading = load(tmp_path)
    assert reading.sequenced is None
    assert "may have mutations or none" in str(reading.log)
    listed = [f"TCGA-AB-000{n}-03B" for n in range(1, 6)]
    reading = load(tmp_path, sequenced=listed)
    assert reading.sequenced == tuple(f"TCGA-AB-000{n}-03" for n in range(1, 6))
    assert reading.table.loc["TCGA-AB-0005-03"].sum() == 0
    assert len(reading.table) == 5


def test_sequenced_may_name_patients_where_the_file_names_samples(tmp_path):
    reading = load(tmp_path, sequenced=[f"TCGA-AB-000{n}" for n in range(1, 5)])
    assert list(reading.table.index) == [
        *(f"TCGA-AB-000{n}-03" for n in range(1, 4)),
        "TCGA-AB-0004",
    ]
    assert reading.sequenced == tuple(reading.table.index)


def test_sequenced_may_name_samples_where_the_file_names_patients(tmp_path):
    rows = [("TP53", "Missense_Mutation", "TCGA-AB-0001")]
    reading = load(tmp_path, rows, sequenced=["TCGA-AB-0001-03", "TCGA-AB-0002-03"])
    assert list(reading.table.index) == ["TCGA-AB-0001", "TCGA-AB-0002-03"]


def test_sample_that_is_not_on_the_list_is_kept_and_named(tmp_path):
    reading = load(tmp_path, sequenced=["TCGA-AB-0001-03"])
    entry = reading.log.entries[-1]
    assert entry.names == ("TCGA-AB-0002-03", "TCGA-AB-0003-03")
    assert len(reading.table) == 3


@pytest.mark.parametrize(
    ("classes", "genes"),
    [
        ("maftools", {"TP53", "FLT3"}),
        ("xena", {"TP53", "FLT3"}),
        ("cbioportal", {"TP53", "FLT3", "TERT"}),
        ("all", {"TP53", "FLT3", "TERT", "DNMT3A"}),
        (["silent"], {"DNMT3A"}),
        (ClassList("mine", ("Silent",), keeps=False), {"TP53", "FLT3", "TERT"}),
    ],
)
def test_the_list_of_classes_can_be_changed(tmp_path, classes, genes):
    assert set(load(tmp_path, classes=classes).table.columns) == genes


def test_only_tert_is_kept_for_its_promoter(tmp_path):
    rows = [("TERT", "5'Flank", "a"), ("TP53", "5'Flank", "a"), ("TP53", "Intron", "b")]
    reading = load(tmp_path, rows, classes="cbioportal")
    assert list(reading.table.columns) == ["TERT"]


def test_vep_terms(tmp_path):
    rows = [("A", "missense_variant;splice_region_variant", "a"), ("B", "intron_variant", "a")]
    assert list(load(tmp_path, rows, classes="vep").table.columns) == ["A"]


def test_filters(tmp_path):
    rows = [
        ("A", "Missense_Mutation", "s1", "PASS"),
        ("B", "Missense_Mutation", "s1", "wga"),
        ("C", "Missense_Mutation", "s1", "wga,oxog"),
        ("D", "Missense_Mutation", "s2", "."),
    ]
    assert list(load(tmp_path, rows).table.columns) == ["A", "D"]
    assert list(load(tmp_path, rows, filters=("PASS", "wga")).table.columns) == ["A", "B", "D"]
    assert list(load(tmp_path, rows, filters=None).table.columns) == ["A", "B", "C", "D"]
    assert load(tmp_path, rows).log.count("dropped", "mutations") == 2


def test_aliquot_that_passes_is_preferred(tmp_path):
    rows = [
        ("A", "Missense_Mutation", "TCGA-AB-0001-01A-01", "nonpreferredpair"),
        ("B", "Missense_Mutation", "TCGA-AB-0001-01B-01", "PASS"),
        ("C", "Missense_Mutation", "TCGA-AB-0001-01C-01", "PASS"),
    ]
    reading = load(tmp_path, rows)
    assert reading.table.to_dict("index") == {"TCGA-AB-0001-01": {"B": 1}}
    names = [entry.names for entry in reading.log.entries if entry.what == "aliquots"]
    assert names == [("TCGA-AB-0001-01A-01", "TCGA-AB-0001-01C-01")]
    merged = load(tmp_path, rows, aliquots="merge")
    assert list(merged.table.columns) == ["B", "C"]
    assert merged.log.count("merged", "aliquots") == 2


@pytest.mark.parametrize("aliquots", ["first", "merge"])
@pytest.mark.parametrize("sequenced", [None, ["s1", "s2", "s3"]])
def test_sample_of_which_nothing_passed_is_not_one_without_mutation(tmp_path, aliquots, sequenced):
    rows = [("A", "Missense_Mutation", "s1"), ("A", "Missense_Mutation", "s2", "wga")]
    reading = load(tmp_path, rows, aliquots=aliquots, sequenced=sequenced)
    assert list(reading.table.index) == (["s1", "s3"] if sequenced else ["s1"])
    dropped = [entry.names for entry in reading.log.entries if entry.what == "samples"]
    assert ("s2",) in dropped
    assert list(load(tmp_path, rows, filters=None).table.index) == ["s1", "s2"]


def test_gene_symbols_are_cleaned_and_merged(tmp_path):
    rows = [
        ("MLL3", "Missense_Mutation", "s1"),
        ("KMT2C", "Missense_Mutation", "s2"),
        ("1-Sep", "Missense_Mutation", "s1"),
        ("Unknown", "Missense_Mutation", "s1"),
    ]
    reading = load(tmp_path, rows)
    assert reading.table.to_dict("index") == {
        "s1": {"KMT2C": 1, "SEPTIN1": 1},
        "s2": {"KMT2C": 1, "SEPTIN1": 0},
    }
    assert reading.log.count("dropped", "mutations") == 1
    assert reading.log.count("merged", "genes") == 1


def test_quotes_have_no_meaning(tmp_path):
    rows = [("TP53", "Missense_Mutation", "s1", 'PASS"'), ("EGFR", "Missense_Mutation", "s2")]
    reading = load(tmp_path, rows, filters=None)
    assert list(reading.table.index) == ["s1", "s2"]


def test_header_in_any_case(tmp_path):
    text = maf_text(ROWS, MAF_HEADER.lower(), "#version 2.4\n## made by someone\n\n")
    reading = load_maf(write(tmp_path / "a.maf", text))
    assert reading.table.shape == (3, 2)
    assert reading.log.count("dropped", "lines") == 2


def test_log_is_json_and_print(tmp_path):
    log = load(tmp_path).log
    assert ReadLog.from_dict(json.loads(json.dumps(log.as_dict()))) == log
    assert "dropped          2 mutations: their class is not kept by the list 'maftools'" in str(
        log
    )


def test_rows_of_no_sample_are_dropped_and_counted(tmp_path):
    rows = [*ROWS, ("EGFR", "Missense_Mutation", "  "), ("EGFR", "Silent", "", "wga")]
    reading = load(tmp_path, rows)
    assert len(reading.table) == 3
    assert any("of no sample" in entry.reason for entry in reading.log.entries)


def test_short_rows_are_mended_where_nothing_that_matters_is_missing(tmp_path):
    reading = load_maf(write(tmp_path / "a.maf", maf_text(ROWS, MAF_HEADER + "\tnote")))
    assert reading.log.count("repaired", "rows") == len(ROWS)
    assert reading.table.shape == (3, 2)


def test_extra_tabs_are_borne(tmp_path):
    reading = load_maf(write(tmp_path / "a.maf", maf_text(ROWS).replace("PASS\n", "PASS\t\t\n")))
    assert reading.table.shape == (3, 2)


def reject(path, sentence, **options):
    with pytest.raises(InputError) as caught:
        load_maf(path, **options)
    assert str(caught.value) == sentence


def test_wrong_header(tmp_path):
    path = write(tmp_path / "a.maf", "gene,sample\nTP53,a\n")
    reject(
        path,
        f"MAF ({path}) must have a column called hugo_symbol, but line 1 names only 'gene,sample'; "
        f"check that it is the right file, with tabs between its columns",
    )


def test_header_with_a_column_twice(tmp_path):
    path = write(tmp_path / "a.maf", maf_text(ROWS, "Hugo_Symbol\t" + MAF_HEADER, ""))
    reject(
        path,
        f"MAF ({path}) must have each column once, but line 1 has hugo_symbol twice; remove one of "
        f"them",
    )


def test_empty_file(tmp_path):
    path = write(tmp_path / "a.maf", "#version 2.4\n")
    reject(
        path,
        f"MAF ({path}) must begin with a line of column names, but it has no such line; export it "
        f"again",
    )


def test_row_that_is_too_short(tmp_path):
    path = write(tmp_path / "a.maf", maf_text(ROWS) + "TP53\t0\tSilent\n")
    reject(
        path,
        f"MAF ({path}) must have 5 fields in each line, as its header has, but line 8 has 3; "
        f"correct that line, or download the file again",
    )


def test_file_that_is_cut_within_a_row(tmp_path):
    text = maf_text(ROWS, MAF_HEADER + "\tnote").replace("PASS\n", "PASS\tx\n")
    path = write(tmp_path / "a.maf", text[:-3])
    reject(
        path,
        f"MAF ({path}) must have 6 fields in each line, as its header has, but line 7 has 5 and is "
        f"the end of the file; correct that line, or download the file again",
    )


def test_tab_too_many(tmp_path):
    path = write(tmp_path / "a.maf", maf_text(ROWS) + "TP53\t0\tSilent\ta\tPASS\tx\n")
    reject(
        path,
        f"MAF ({path}) must have at most 5 fields in each line, as its header has, but line 8 has "
        f"6; look for a tab too many in that line",
    )


def test_cut_gzip_says_where(tmp_path):
    content = gzip.compress(laml_like_maf().encode())
    path = write(tmp_path / "a.maf.gz", content[: len(content) // 2])
    with pytest.raises(
        InputError, match=r"must be a whole gzip file, .* after line \d{3,4} \(it is"
    ):
        load_maf(path)


def test_nothing_left(tmp_path):
    path = write(tmp_path / "a.maf", maf_text([("TP53", "Silent", "a")]))
    reject(
        path,
        f"MAF ({path}) must have a mutation to keep, but of 1 rows none is left (classes: "
        f"'Silent'; list of classes: 'maftools'); pass classes= with those to keep",
    )


def test_no_symbol_left(tmp_path):
    path = write(tmp_path / "a.maf", maf_text([("Unknown", "Missense_Mutation", "a")]))
    with pytest.raises(InputError, match="must name genes, but no symbol is left"):
        load_maf(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"classes": "maftool"}, r"^classes must be one of .* got 'maftool'; did you mean"),
        ({"classes": []}, "^classes must name at least one class"),
        ({"filters": "PASS"}, "^filters must be a list"),
        ({"aliquots": "last"}, "^aliquots must be one of first, merge, got 'last'"),
        ({"sequenced": []}, "^sequenced must name at least one tumour sample"),
        ({"sequenced": "none.txt"}, r"^sequenced \(none.txt\) must be an existing file"),
    ],
)
def test_wrong_options(tmp_path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        load(tmp_path, **options)


def test_table_that_would_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rinn.genomics.readers.mutations._MAX_CELLS", 5)
    with pytest.raises(InputError, match="at most 5 cells, but it has 3 samples and 2 genes"):
        load(tmp_path)


def test_many_words_are_counted_as_other(tmp_path, monkeypatch):
    monkeypatch.setattr("rinn.genomics.readers.mutations._MAX_KEYS", 2)
    rows = [
        *ROWS,
        ("A", "Silent", "s1", "x"),
        ("A", "Silent", "s1", "y"),
        ("A", "Silent", "s1", "z"),
    ]
    reading = load(tmp_path, rows)
    assert sum(reading.log.tallies["class"].values()) == len(rows)
    assert reading.log.count("dropped", "mutations") == 5


def test_lists_of_classes_have_their_names():
    assert all(name == listing.name for name, listing in CLASS_LISTS.items())
