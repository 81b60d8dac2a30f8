import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gene_files import maf_text, write
from rinn.data.log import ReadLog
from rinn.errors import InputError
from rinn.genomics.align import match_tables, split_normals
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers.maf import load_maf
from rinn.genomics.readers.matrices import GeneTable


def table(*names):
    return pd.DataFrame({"value": range(len(names))}, index=list(names))


def match(*tables, **options):
    names = [chr(ord("A") + place) for place in range(len(tables))]
    return match_tables(dict(zip(names, tables, strict=True)), **options)


def test_by_sample():
    matched = match(
        table("TCGA-AB-0001-01", "TCGA-AB-0002-01"),
        table("TCGA.AB.0002.01A", "TCGA.AB.0001.01B", "TCGA-AB-0003-01"),
    )
    assert list(matched.tables["A"].index) == ["TCGA-AB-0001-01", "TCGA-AB-0002-01"]
    assert matched.tables["B"]["value"].tolist() == [1, 0]
    assert set(matched.levels) == {"sample"}
    assert matched.log.count("dropped", "samples") == 1
    assert "of B, not in A ('TCGA-AB-0003-01')" in str(matched.log)


def test_lowest_code_that_all_have():
    matched = match(
        table("TCGA-AB-0001-06", "TCGA-AB-0001-01"),
        table("TCGA-AB-0001-06", "TCGA-AB-0001-02"),
    )
    assert list(matched.tables["A"].index) == ["TCGA-AB-0001-06"]
    matched = match(
        table("TCGA-AB-0001-06", "TCGA-AB-0001-01"),
        table("TCGA-AB-0001-01", "TCGA-AB-0001-06"),
    )
    assert list(matched.tables["A"].index) == ["TCGA-AB-0001-01"]
    assert "another tumour of the same patient" in str(matched.log)


def test_every_sample_where_that_is_asked_for():
    matched = match(
        table("TCGA-AB-0001-06", "TCGA-AB-0001-01"),
        table("TCGA-AB-0001-01", "TCGA-AB-0001-06"),
        one_per_patient=False,
    )
    assert list(matched.tables["B"].index) == ["TCGA-AB-0001-01", "TCGA-AB-0001-06"]
    assert matched.tables["A"]["value"].tolist() == [1, 0]


def test_by_patient_where_no_sample_is_in_all():
    matched = match(table("TCGA-AB-0001-01"), table("TCGA-AB-0001-06", "TCGA-AB-0001-11"))
    assert matched.levels.to_dict() == {"TCGA-AB-0001": "patient"}
    assert matched.sources.loc["TCGA-AB-0001"].tolist() == ["TCGA-AB-0001-01", "TCGA-AB-0001-06"]
    assert "matched by patient only ('TCGA-AB-0001-01 = TCGA-AB-0001-06')" in str(matched.log)


def test_patient_ids_match_any_sample_and_the_others_agree():
    matched = match(
        table("TCGA-AB-0001"),
        table("TCGA-AB-0001-01", "TCGA-AB-0001-06"),
        table("TCGA-AB-0001-06"),
    )
    assert matched.sources.iloc[0].tolist() == [
        "TCGA-AB-0001",
        "TCGA-AB-0001-06",
        "TCGA-AB-0001-06",
    ]
    assert matched.levels.tolist() == ["patient"]


def test_ids_of_other_projects():
    matched = match(table("MB-1", "MB-2"), table("MB-2", "MB-3"))
    assert matched.levels.to_dict() == {"MB-2": "sample"}


def test_normals_are_left_out_and_can_be_had():
    expression = table("TCGA-AB-0001-01", "TCGA-AB-0001-11")
    matched = match(table("TCGA-AB-0001-01"), expression)
    assert len(matched.tables["B"]) == 1
    assert "normals of B ('TCGA-AB-0001-11')" in str(matched.log)
    reading = GeneTable(expression, ReadLog("y", "table"), "expression")
    assert [list(part.index) for part in split_normals(reading)] == [
        ["TCGA-AB-0001-01"],
        ["TCGA-AB-0001-11"],
    ]


def test_not_sequenced_is_said(tmp_path):
    path = write(tmp_path / "a.maf", maf_text([("TP53", "Missense_Mutation", "TCGA-AB-0001-01A")]))
    both = table("TCGA-AB-0001-01", "TCGA-AB-0002-01")
    matched = match_tables({"X": load_maf(path), "Y": both})
    assert "no list of sequenced samples says that they have no mutation" in str(matched.log)
    listed = load_maf(path, sequenced=list(both.index))
    matched = match_tables({"X": listed, "Y": both})
    assert matched.tables["X"]["TP53"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ([], "tables must hold at least one table"),
        ([table("a"), table("b")], r"none is in all of A, B \(A has 'a', B has 'b'\)"),
        ([table("a", "a")], "A must have each sample once"),
        ([pd.DataFrame({"v": [1]})], "with barcodes in its index"),
    ],
)
def test_tables_that_do_not_fit(tables, sentence):
    with pytest.raises(InputError, match=sentence):
        match(*tables)


CODES = st.sampled_from(["", "-01", "-06", "-11", "-01A", "-06B-21"])
NAMES = st.lists(
    st.builds(lambda number, code: f"TCGA-AB-000{number}{code}", st.integers(1, 4), CODES),
    min_size=1,
    max_size=8,
    unique_by=lambda name: parse_barcode(name).sample,
)


@given(st.lists(NAMES, min_size=1, max_size=3), st.booleans())
def test_any_tables(names, one_per_patient):
    tables = [table(*each) for each in names]
    tumours = [
        {parse_barcode(name).patient for name in each if not parse_barcode(name).is_normal}
        for each in names
    ]
    shared = set.intersection(*tumours)
    if not shared:
        with pytest.raises(InputError, match="must share patients"):
            match(*tables)
        return
    matched = match(*tables, one_per_patient=one_per_patient)
    patients = [parse_barcode(str(name)).patient for name in matched.levels.index]
    assert set(patients) == shared
    if one_per_patient:
        assert len(patients) == len(shared)
    for place, (name, frame) in enumerate(matched.tables.items()):
        assert frame.index.equals(matched.levels.index)
        for (label, source), value in zip(
            matched.sources[name].items(), frame["value"], strict=True
        ):
            assert names[place][value] == source
            assert not parse_barcode(source).is_normal
            if matched.levels[label] == "sample":
                assert parse_barcode(source).sample == label
