import pytest
from hypothesis import given
from hypothesis import strategies as st

from gene_files import write
from rinn.errors import InputError
from rinn.genomics.barcodes import choose_aliquots, load_samples, parse_barcode


@pytest.mark.parametrize(
    ("text", "patient", "sample", "code", "is_normal"),
    [
        ("TCGA-AB-2988", "TCGA-AB-2988", "TCGA-AB-2988", None, False),
        ("TCGA.02.0001", "TCGA-02-0001", "TCGA-02-0001", None, False),
        ("tcga-ab-2988-03a", "TCGA-AB-2988", "TCGA-AB-2988-03", 3, False),
        ("TCGA-AB-2988-11A-01R-0739-09", "TCGA-AB-2988", "TCGA-AB-2988-11", 11, True),
        ("TCGA_D3_A1Q1_06A_21D", "TCGA-D3-A1Q1", "TCGA-D3-A1Q1-06", 6, False),
        (' "TCGA-D3-A1Q1-06" ', "TCGA-D3-A1Q1", "TCGA-D3-A1Q1-06", 6, False),
        ("MB-0362", "MB-0362", "MB-0362", None, False),
        ("ACH-000001", "ACH-000001", "ACH-000001", None, False),
        ("A549_LUNG", "A549_LUNG", "A549_LUNG", None, False),
        ("905933", "905933", "905933", None, False),
        ("TCGA-AB-29", "TCGA-AB-29", "TCGA-AB-29", None, False),
    ],
)
def test_parts(text, patient, sample, code, is_normal):
    barcode = parse_barcode(text)
    assert (barcode.patient, barcode.sample, barcode.code) == (patient, sample, code)
    assert barcode.is_normal == is_normal
    assert barcode.is_patient == (code is None)


@given(st.text())
def test_any_text_is_an_id_that_stays(text):
    barcode = parse_barcode(text)
    assert parse_barcode(barcode.sample).sample == barcode.sample
    assert parse_barcode(barcode.patient).patient == barcode.patient


def test_first_vial_then_first_barcode():
    names = ["TCGA-AB-0001-01B-01", "TCGA-AB-0001-01A-21", "TCGA-AB-0001-01A-11", "x"]
    samples, rows, entries = choose_aliquots(names)
    assert rows == [2, 3]
    assert samples == ["TCGA-AB-0001-01"] * 3 + ["x"]
    assert entries[0].names == (names[0], names[1])
    assert choose_aliquots(names, failed={2})[1] == [1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "TCGA-AB-0001-01\nTCGA-AB-0002-01A\n\n",
        "Tumor_Sample_Barcode\tage\nTCGA-AB-0001-01\t5\nTCGA-AB-0002-01\t6\n",
        "patient_id,sample_id\nTCGA-AB-0001,TCGA-AB-0001-01\nTCGA-AB-0002,TCGA-AB-0002-01\n",
        "# list\nstable_id: x_sequenced\ncase_list_ids:TCGA-AB-0001-01\tTCGA-AB-0002-01\n",
        "File ID\tSample ID\nf1\tTCGA-AB-0001-01A, TCGA-AB-0001-10A\nf2\tTCGA-AB-0002-01A\n",
    ],
)
def test_lists_of_samples(tmp_path, text):
    path = write(tmp_path / "list.txt", text)
    assert load_samples(path, "sequenced") == ("TCGA-AB-0001-01", "TCGA-AB-0002-01")


@pytest.mark.parametrize("text", ["", "TCGA-AB-0001-11\n", "# nothing\n"])
def test_list_without_tumours(tmp_path, text):
    with pytest.raises(InputError, match="sequenced must name at least one tumour sample"):
        load_samples(write(tmp_path / "list.txt", text), "sequenced")
