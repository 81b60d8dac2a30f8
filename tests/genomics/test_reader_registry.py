"""The contract of each reader, and files that are damaged in any way."""

import contextlib
import gzip
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohort_files import write_cohort
from gene_files import (
    GCT_2,
    GCT_3,
    GISTIC,
    META,
    XENA,
    XENA_LONG,
    maf_text,
    write,
    write_h5ad,
    write_study,
)
from rinn.cli import run
from rinn.data.log import ReadLog
from rinn.errors import InputError
from rinn.genomics.barcodes import parse_barcode
from rinn.genomics.readers import READERS, Reader, find_reader
from rinn.genomics.readers.cbioportal import load_cbioportal
from rinn.genomics.readers.matrices import GeneTable

MAF = maf_text(
    [
        ("TP53", "Missense_Mutation", "TCGA-AB-0001-03A-01D"),
        ("1-Sep", "Silent", "TCGA-AB-0002-03A-01D"),
        ("EGFR|1956", "In_Frame_Del", "TCGA-AB-0001-03B-01D", "wga"),
    ]
)
LONG = "Hugo_Symbol\tEntrez_Gene_Id\tSample_Id\tValue\nA\t1\ts1\t2\nB\t2\ts1\t-1\nA\t1\ts2\tNA\n"
TABLE = 'sample,TP53,"EG,FR"\na,0,1\nb,1,NA\n'
TEXTS = {
    "maf": [("a.maf", MAF, {})],
    "cbioportal": [
        ("data_cna.txt", LONG, {}),
        ("data_expression.txt", XENA.replace("sample", "Hugo_Symbol"), {}),
    ],
    "xena": [("a.tsv", XENA, {}), ("b.tsv", XENA_LONG, {})],
    "gistic": [("a.txt", GISTIC, {})],
    "gct": [("a.gct", GCT_2, {}), ("b.gct", GCT_3, {})],
    "table": [("a.csv", TABLE, {}), ("b.csv", TABLE, {"text": "drop"}), ("c.txt", TABLE, {})],
}
CASES = [(name, *case) for name, cases in TEXTS.items() for case in cases]
FUZZ = settings(
    max_examples=60,
    deadline=10_000,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def load(reader, path, options):
    if reader == "cbioportal":
        return load_cbioportal(path.parent, path.name, **options)
    return READERS[reader].load(path, **options)


def load_or_reject(reader, path, options):
    """A reading that keeps the contract, or one sentence."""
    before = path.read_bytes()
    try:
        reading = load(reader, path, options)
    except InputError as error:
        sentence = str(error)
    else:
        sentence = ""
        check(reading)
    assert "\n" not in sentence
    assert path.read_bytes() == before


def check(reading):
    assert isinstance(reading, GeneTable)
    table = reading.table
    assert isinstance(table, pd.DataFrame)
    assert table.shape[0] > 0
    assert table.shape[1] > 0
    assert table.index.is_unique
    assert table.columns.is_unique
    assert all(isinstance(name, str) for name in [*table.index, *table.columns])
    assert all(parse_barcode(name).sample == name for name in table.index)
    assert not np.isinf(table.to_numpy(dtype=float)).any()
    if reading.annotation is not None:
        assert reading.annotation.index.equals(table.index)
    assert ReadLog.from_dict(json.loads(json.dumps(reading.log.as_dict()))) == reading.log
    assert str(reading)


def test_each_reader_has_a_line_and_a_file():
    for name, reader in READERS.items():
        assert reader.name == name
        assert reader.load.__name__ == f"load_{name}"
        assert reader.about
    assert set(TEXTS) | {"h5ad"} == set(READERS)


def test_the_reader_of_the_contributing_guide_works_for_prepare(tmp_path, monkeypatch, capsys):
    guide = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    names = {}
    exec(re.search(r'```python\n("""Toy: genes.*?)```', guide, re.S)[1], names)
    line = re.search(r'`(Reader\("toy".*?\))`', guide)[1]
    monkeypatch.setitem(READERS, "toy", eval(line, names | {"Reader": Reader}))
    cohort = write_cohort(tmp_path)
    text = cohort["expression"].read_text().replace("\t", ";")
    files = [write(tmp_path / name, text) for name in ("a.toy", "b.txt")]
    arguments = [f"--{key.replace('_', '-')}={path}" for key, path in cohort.items()]
    tables = []
    for number, more in enumerate(
        ([], [f"--expression={files[0]}"], [f"--expression={files[1]}", "--expression-format=toy"])
    ):
        out = tmp_path / f"out{number}"
        assert run(["prepare", *arguments, *more, "--out", str(out)]) == 0
        tables.append((out / "y.csv").read_bytes())
    assert tables[0] == tables[1] == tables[2]
    capsys.readouterr()
    assert run(["prepare", "--help"]) == 0
    assert "genes by samples; toys" in capsys.readouterr().out


def test_a_table_of_another_kind_is_refused(tmp_path):
    path = write(tmp_path / "a.gct", GCT_2)
    with pytest.raises(InputError, match=r"--copy-number .* must hold copy number, but its format"):
        find_reader(path, "copy number", "copy-number")


def test_unknown_option(tmp_path):
    with pytest.raises(InputError, match="options must be known, got 'duplicate'; did you mean"):
        READERS["xena"].load(write(tmp_path / "a.tsv", XENA), duplicate="mean")


@pytest.mark.parametrize(("reader", "name", "text", "options"), CASES)
@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_contract(tmp_path, reader, name, text, options, pack, end):
    plain = load(reader, write(tmp_path / "plain" / name, text), options)
    check(plain)
    changed = text.replace("\n", end)
    name = f"{name}.gz" if pack else name
    again = load(reader, write(tmp_path / "changed" / name, changed, pack=pack), options)
    pd.testing.assert_frame_equal(plain.table, again.table)


def test_contract_of_h5ad(tmp_path):
    check(READERS["h5ad"].load(write_h5ad(tmp_path / "a.h5ad")))


@pytest.mark.parametrize(("reader", "name", "text", "options"), CASES)
def test_mixed_line_ends_and_foreign_letters(tmp_path, reader, name, text, options):
    if reader == "table" and not options:
        return  # read whole: refuses what is not UTF-8, bears any line ends
    content = text.replace("\n", "\r\n", 1).encode()
    reading = load(reader, write(tmp_path / name, content), options)
    assert reading.log.count("repaired", "lines") > 0
    foreign = text.encode().replace(b"EG", b"E\xe9").replace(b"B\t", b"\xe9\t")
    reading = load(reader, write(tmp_path / name, foreign), options)
    assert "read as Latin-1" in str(reading.log)


@pytest.mark.parametrize(("reader", "name", "text", "options"), CASES)
def test_every_cut_of_gzip_is_refused(tmp_path, reader, name, text, options):
    content = gzip.compress(text.encode(), mtime=0)
    path = tmp_path / f"{name}.gz"
    for size in range(2, len(content), 5):
        with pytest.raises(InputError, match=r"must (be a whole gzip file|hold a table)"):
            load(reader, write(path, content[:size]), options)


@pytest.mark.parametrize("reader", TEXTS)
@FUZZ
@given(content=st.binary(max_size=300), pack=st.booleans())
def test_any_bytes(tmp_path, reader, content, pack):
    name, _, options = TEXTS[reader][0]
    name = f"{name}.gz" if pack else name
    load_or_reject(
        reader, write(tmp_path / name, gzip.compress(content) if pack else content), options
    )


@pytest.mark.parametrize(("reader", "name", "text", "options"), CASES)
@FUZZ
@given(data=st.data())
def test_a_file_that_is_spoilt_somewhere(tmp_path, reader, name, text, options, data):
    content = text.encode()
    begin = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(begin, min(len(content), begin + 12)))
    pieces = [
        b"\t",
        b"\n",
        b"\r",
        b'"',
        b"\0",
        b"\xff",
        b",",
        b"1e999",
        b"-9e307",
        b"nan",
        b"#",
        b"|",
    ]
    new = data.draw(st.lists(st.one_of(st.sampled_from(pieces), st.binary(max_size=3)), max_size=3))
    spoilt = content[:begin] + b"".join(new) + content[end:]
    load_or_reject(reader, write(tmp_path / name, spoilt), options)


@FUZZ
@given(data=st.data())
def test_a_study_that_is_spoilt_somewhere(tmp_path, data):
    study = write_study(tmp_path / "study")
    files = sorted(path for path in study.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    content = path.read_bytes()
    begin = data.draw(st.integers(0, len(content)))
    new = data.draw(st.binary(max_size=5))
    write(path, content[:begin] + new + content[begin + data.draw(st.integers(0, 9)) :])
    for word in ("mutations", "copy_number", "log2_copy_number", "expression", "z_scores"):
        with contextlib.suppress(InputError):
            check(load_cbioportal(study, word))


@FUZZ
@given(data=st.data(), kind=st.sampled_from(["dense", "csr", "csc"]))
def test_an_h5ad_that_is_spoilt_somewhere(tmp_path, data, kind):
    content = write_h5ad(tmp_path / "whole.h5ad", kind=kind).read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    tail = data.draw(st.sampled_from([b"", b"\0" * (len(content) - cut)]))
    load_or_reject("h5ad", write(tmp_path / "a.h5ad", content[:cut] + tail), {})


def test_huge_numbers_do_not_warn(tmp_path):
    text = "sample\ta\nTP53\t1e308\nTP53\t1.5e308\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_or_reject("xena", write(tmp_path / "a.tsv", text), {})
        load_or_reject("xena", write(tmp_path / "a.tsv", text), {"dtype": "float32"})


def test_meta_files_of_any_bytes(tmp_path):
    fields = ("MRNA_EXPRESSION", "CONTINUOUS", "mrna", "..")
    for content in (META.format(*fields).encode(), b"data_filename: \0\n", b"\xff\xfe", b"::::"):
        write(tmp_path / "meta_a.txt", content)
        with pytest.raises(InputError):
            load_cbioportal(tmp_path, "mrna")
