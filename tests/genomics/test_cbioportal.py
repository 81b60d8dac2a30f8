import gzip
import shutil

import numpy as np
import pytest

from gene_files import META, matrix_text, write, write_study
from rinn.errors import InputError
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.cbioportal_study import list_profiles, load_clinical


@pytest.fixture
def study(tmp_path):
    return write_study(tmp_path / "study")


def test_profiles(study):
    assert [(each.stable_id, each.name) for each in list_profiles(study)] == [
        ("gistic", "copy_number"),
        ("log2CNA", "log2_copy_number"),
        ("mutations", "mutations"),
        ("rna_seq_v2_mrna", "expression"),
        ("rna_seq_v2_mrna_Zscores", "z_scores"),
    ]


def test_mutations_with_the_case_list(study):
    reading = load_cbioportal(study)
    assert reading.table.to_dict("index") == {
        "TCGA-A1-A0SB-01": {"EGFR": 0, "TP53": 1},
        "TCGA-A1-A0SD-01": {"EGFR": 0, "TP53": 0},
        "TCGA-A1-A0SE-06": {"EGFR": 1, "TP53": 0},
    }
    assert reading.sequenced == tuple(reading.table.index)


def test_filters_are_not_used_unless_asked_for(study):
    assert list(load_cbioportal(study, filters=["PASS"]).table.columns) == ["TP53"]


def test_without_a_case_list_absent_is_not_unmutated(study):
    shutil.rmtree(study / "case_lists")
    reading = load_cbioportal(study)
    assert reading.sequenced is None
    assert len(reading.table) == 2
    assert len(load_cbioportal(study, sequenced=["TCGA-A1-A0SD-01"]).table) == 3


def test_wide_copy_number(study):
    reading = load_cbioportal(study, "copy_number")
    assert (reading.kind, reading.scale) == ("copy number", "levels")
    assert list(reading.table.columns) == ["EGFR", "1029"]
    np.testing.assert_array_equal(reading.table.to_numpy(), [[2, -2], [0, -1.5], [np.nan, 1]])


def test_long_copy_number_equals_wide(study):
    wide = load_cbioportal(study, "copy_number").table
    rows = [
        f"{'' if gene == '1029' else gene}\t{1956 if gene == 'EGFR' else 1029}\t{sample}\t{value}"
        for sample, line in wide.iterrows()
        for gene, value in line.items()
        if not np.isnan(value)
    ]
    write(
        study / "data_cna_long.txt.gz",
        "\n".join(["Hugo_Symbol\tEntrez_Gene_Id\tSample_Id\tValue", *rows, rows[0]]) + "\n",
        pack=True,
    )
    fields = ("COPY_NUMBER_ALTERATION", "DISCRETE_LONG", "gistic", "data_cna_long.txt")
    write(study / "meta_gistic.txt", META.format(*fields))
    reading = load_cbioportal(study, "gistic")
    assert "long" in reading.log.format
    assert reading.log.count("merged", "rows") == 1
    assert reading.table.equals(wide)


def test_log2_copy_number_with_entrez_ids_only(study):
    reading = load_cbioportal(study, "log2_copy_number")
    assert reading.table.loc["TCGA-A1-A0SB-01"].to_dict() == {"1956": 1.25, "1029": -3.5}
    assert reading.scale == "log2 ratio"


def test_rsem_is_logged_and_duplicates_are_averaged(study):
    reading = load_cbioportal(study, "expression")
    assert reading.scale == "log2(x + 1)"
    assert reading.table.to_dict("index") == {
        "TCGA-A1-A0SE-06": {"TP53": 10, "SLC35E2": 2},
        "TCGA-A1-A0SD-01": {"TP53": 0, "SLC35E2": 3},
        "TCGA-A1-A0SB-01": {"TP53": 2, "SLC35E2": 4},
    }
    raw = load_cbioportal(study, "rna_seq_v2_mrna", log=False, duplicates="max")
    assert raw.table.loc["TCGA-A1-A0SB-01"].to_dict() == {"TP53": 3, "SLC35E2": 31}


def test_z_scores_are_never_logged(study):
    reading = load_cbioportal(study, "z_scores", log=True)
    assert reading.scale == "z-score"
    assert reading.table.loc["TCGA-A1-A0SD-01", "TP53"] == 60.5


def test_clinical_table_beside_the_samples(study):
    reading = load_cbioportal(study, "copy_number")
    assert reading.annotation["SUBTYPE"].tolist()[:2] == ["basal", "luminal"]
    assert reading.annotation.index.equals(reading.table.index)
    assert reading.log.entries[-1].names == ("TCGA-A1-A0SE-06",)
    (study / "data_clinical_sample.txt").unlink()
    assert load_clinical(study) is None
    assert load_cbioportal(study, "copy_number").annotation is None


def test_what_is_known_of_patients_is_beside_their_samples(study):
    write(study / "data_clinical_patient.txt", "#a\nPATIENT_ID\tSEX\nTCGA-A1-A0SD\tfemale\n")
    clinical = load_clinical(study)
    assert list(clinical.columns) == ["PATIENT_ID", "SUBTYPE", "SEX"]
    assert clinical.loc["TCGA-A1-A0SD-01", "SEX"] == "female"
    assert clinical["SEX"].isna().tolist() == [True, False]


def test_file_without_meta(study):
    (study / "meta_gistic.txt").unlink()
    reading = load_cbioportal(study, "data_cna.txt")
    assert reading.kind == "copy number"
    assert "no meta file" in reading.log.entries[-2].reason


def test_gene_panels_leave_what_was_not_measured_missing(study):
    write(study / "data_gene_panel_tiny.txt", "stable_id: TINY\ngene_list: TP53\tKRAS\n")
    write(
        study / "data_gene_panel_matrix.txt",
        "SAMPLE_ID\tmutations\nTCGA-A1-A0SB-01\tTINY\nTCGA-A1-A0SD-01\tWES\n"
        "TCGA-A1-A0SE-06\tTINY\n",
    )
    reading = load_cbioportal(study)
    table = reading.table
    assert np.isnan(table.loc["TCGA-A1-A0SB-01", "EGFR"])
    assert table.loc["TCGA-A1-A0SB-01", "TP53"] == 1
    assert table.loc["TCGA-A1-A0SD-01"].to_dict() == {"EGFR": 0, "TP53": 0}
    assert table.loc["TCGA-A1-A0SE-06"].to_dict() == {"EGFR": 1, "TP53": 0}
    assert "panel TINY (2 genes)" in str(reading.log)
    both = load_cbioportal(study, panels={"TINY": ["TP53", "EGFR"]})
    assert not both.table.isna().any(axis=None)


def test_unknown_panel_is_said(study):
    shutil.rmtree(study / "case_lists")
    write(
        study / "data_gene_panel_matrix.txt",
        "SAMPLE_ID\tmutations\nTCGA-A1-A0SB-01\tOTHER\nTCGA-A1-A0SD-01\tNA\nTCGA-A1-A0SE-06\tWXS\n",
    )
    reading = load_cbioportal(study)
    assert reading.sequenced == ("TCGA-A1-A0SB-01", "TCGA-A1-A0SE-06")
    assert "TCGA-A1-A0SD-01" not in reading.table.index
    assert np.isnan(reading.table.loc["TCGA-A1-A0SB-01", "EGFR"])
    assert "genes unknown: pass panels=" in str(reading.log)


def test_panel_of_the_meta_file_holds_for_all(study):
    path = study / "meta_mutations.txt"
    path.write_text(path.read_text() + "gene_panel: TINY\n")
    table = load_cbioportal(study, panels={"TINY": ["TP53"]}).table
    assert table["EGFR"].isna().sum() == 2


@pytest.mark.parametrize(
    ("profile", "sentence"),
    [
        ("mutation", r"but none match 'mutation'; did you mean 'mutations'\?"),
        ("data_none.txt", "but none match 'data_none.txt'"),
        ("../study/data_cna.txt", "but none match"),
    ],
)
def test_unknown_profile(study, profile, sentence):
    with pytest.raises(InputError, match=sentence):
        load_cbioportal(study, profile)


def test_several_profiles(study):
    write(study / "meta_b.txt", META.format("MRNA_EXPRESSION", "CONTINUOUS", "mrna", "data_b.txt"))
    with pytest.raises(InputError, match="several match 'expression'; name one of mrna, rna_seq"):
        load_cbioportal(study, "expression")


def test_data_outside_the_folder_is_refused(study):
    write(study / "meta_gistic.txt", META.format("X", "Y", "gistic", "../secret.txt"))
    with pytest.raises(InputError, match="must name a data file inside the study folder"):
        list_profiles(study)


def test_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match="must be a folder with meta files"):
        load_cbioportal(tmp_path / "none")
    with pytest.raises(InputError, match="must have meta files with a data_filename, but has none"):
        load_cbioportal(tmp_path)


def test_data_file_that_is_missing(study):
    (study / "data_cna.txt").unlink()
    with pytest.raises(InputError, match=r"gistic \(.*data_cna.txt\) must be an existing file"):
        load_cbioportal(study, "gistic")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("EGFR\t2\n", "must begin with the column Hugo_Symbol or Entrez_Gene_Id, but line 1"),
        ("Hugo_Symbol\ta\nEGFR\t3\n", "must hold levels from -2 to 2, but has 3 for 'EGFR' in 'a'"),
        ("Sample_Id\tValue\na\t1\n", "must have the column Hugo_Symbol or Entrez_Gene_Id, but"),
        ("Hugo_Symbol\tSample_Id\tValue\n", "must have rows, but has only a header"),
        ("Hugo_Symbol\tSample_Id\tValue\nA\ta\tx\n", "line 2 has the value 'x'"),
        ("Hugo_Symbol\tSample_Id\tValue\nA\t\t1\n", "must have a sample in each row"),
        (
            "Hugo_Symbol\tSample_Id\tValue\nA\ta\t1\nA\ta\t2\n",
            "must have one value for each gene and sample, but has several for 'A' in 'a'",
        ),
    ],
)
def test_malformed_copy_number(study, text, sentence):
    write(study / "data_cna.txt", text)
    with pytest.raises(InputError, match=sentence):
        load_cbioportal(study, "gistic")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("PATIENT_ID\nx\n", "must have a column SAMPLE_ID"),
        ("SAMPLE_ID\tA\nx\t1\nx\t2\n", "must have each sample once, but repeats 'x'"),
        ("SAMPLE_ID\tA\nx\t1\t2\n", "must have 2 fields in each line, but line 2 has 3"),
        ("SAMPLE_ID\tA\tA\nx\t1\t2\n", "must have each column once, but repeats 'A'"),
    ],
)
def test_malformed_clinical_table(study, text, sentence):
    write(study / "data_clinical_sample.txt", text)
    with pytest.raises(InputError, match=sentence):
        load_clinical(study)


def test_cut_gzip(study):
    content = gzip.compress((study / "data_cna.txt").read_bytes())
    (study / "data_cna.txt").unlink()
    write(study / "data_cna.txt.gz", content[:-9])
    with pytest.raises(InputError, match="must be a whole gzip file"):
        load_cbioportal(study, "gistic")


def test_other_profiles_by_their_id(study):
    fields = ("METHYLATION", "CONTINUOUS", "methylation_hm27", "data_methylation.txt")
    write(study / "meta_methylation.txt", META.format(*fields))
    text = matrix_text(("Hugo_Symbol", "Entrez_Gene_Id"), ("a",), [("TP53", 7157, 0.5)])
    write(study / "data_methylation.txt", text)
    assert load_cbioportal(study, "methylation_hm27").kind == "other"
