import gzip
import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rinn.data.tables import convert_array, convert_frame, load_table, make_table
from rinn.data.text import is_id_header, parse_cell
from rinn.errors import InputError
from rinn.files import unguard_formula

HOSTILE = (
    'say "hi"',
    "a,b",
    "two\nlines",
    "<script>alert(1)</script>",
    "🧬",
    "n" * 300,
    "tab\there",
    "semi;colon",
    "=1+1",
    "../../etc",
    "{x}",
    "'",
)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def reject(path, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(f'X ({path}) {sentence}')}$"):
        load_table(path, "X")


def save_npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def save_frame(frame, path):
    name = path.name
    if name.endswith(".parquet"):
        return frame.to_parquet(path)
    if name.endswith(".npz"):
        ids, names = np.array(frame.index, dtype=str), np.array(frame.columns, dtype=str)
        return np.savez(path, values=frame.to_numpy(), columns=names, samples=ids)
    return frame.to_csv(path, sep="," if ".csv" in name.lower() else "\t", index_label="sample")


@pytest.mark.parametrize(
    "name",
    ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz", "t.txt.gz", "T.CSV", "t.parquet", "t.npz"],
)
def test_each_format_with_hostile_names(tmp_path, name):
    values = np.random.default_rng(0).normal(size=(5, len(HOSTILE)))
    frame = pd.DataFrame(values, columns=list(HOSTILE), index=[f"id {n}" for n in HOSTILE[:5]])
    save_frame(frame, tmp_path / name)
    table = load_table(str(tmp_path / name), "X")
    assert table.columns == HOSTILE
    assert table.samples == tuple(frame.index)
    assert table.path == tmp_path / name
    assert np.result_type(table.values) == np.float64
    np.testing.assert_array_equal(table.values, values)


ALLOWED = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\ufffe\uffff")
names = (
    st.text(ALLOWED, min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda name: unguard_formula(name) == name)
)


@st.composite
def frames(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    values = draw(
        hnp.arrays(float, shape, elements=st.floats(allow_nan=False, allow_infinity=False))
    )
    names_of = [
        draw(st.lists(names.filter(bool), min_size=n, max_size=n, unique=True)) for n in shape
    ]
    return pd.DataFrame(values, index=names_of[0], columns=names_of[1])


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.npz"])
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(frame=frames())
def test_written_table_comes_back(tmp_path, name, frame):
    save_frame(frame, tmp_path / name)
    table = load_table(tmp_path / name, "X")
    assert table.columns == tuple(frame.columns)
    assert table.samples == tuple(frame.index)
    np.testing.assert_array_equal(table.values, frame.to_numpy())


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(frame=frames())
def test_written_table_without_ids_comes_back(tmp_path, frame):
    first, *others = frame.columns
    if is_id_header(first) or any(parse_cell(name) is not None for name in others or [first]):
        return
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = load_table(tmp_path / "t.csv", "X")
    assert table.columns == tuple(frame.columns)
    assert table.samples is None
    np.testing.assert_array_equal(table.values, frame.to_numpy())


def test_byte_order_mark(tmp_path):
    table = load_table(write(tmp_path / "t.csv", "\ufeffa,b\r\n1,2\r\n"), "X")
    assert table.columns == ("a", "b")


@pytest.mark.parametrize("separator", ",\t;")
def test_txt_finds_its_separator(tmp_path, separator):
    text = "sample,a,b\ns1,1,2\n".replace(",", separator)
    assert load_table(write(tmp_path / "t.txt", text), "X").columns == ("a", "b")


def test_no_header_takes_names_from_the_label(tmp_path):
    assert load_table(write(tmp_path / "t.csv", "1,2\n3,4\n"), "Y").columns == ("y0", "y1")


def test_parquet_without_index_and_with_mixed_dtypes(tmp_path):
    frame = pd.DataFrame({"who": ["s1", "s2"], "a": [True, False], "b": [1, 2], "c": [0.5, 1.5]})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    table = load_table(tmp_path / "t.parquet", "X")
    assert table.samples == ("s1", "s2")
    np.testing.assert_array_equal(table.values, [[1, 1, 0.5], [0, 2, 1.5]])


def test_npz_with_one_array_of_any_name(tmp_path):
    table = load_table(save_npz(tmp_path / "t.npz", counts=np.eye(2, dtype=int)), "Y")
    assert table.columns == ("y0", "y1")
    assert table.samples is None


def test_npz_with_names_as_bytes(tmp_path):
    path = save_npz(tmp_path / "t.npz", values=np.eye(2), columns=np.array([b"a", b"b"]))
    assert load_table(path, "X").columns == ("a", "b")


def test_missing_file(tmp_path):
    reject(
        tmp_path / "t.csv",
        "must be an existing file, but does not exist; check the spelling and the folder",
    )


def test_folder(tmp_path):
    (tmp_path / "t.csv").mkdir()
    reject(tmp_path / "t.csv", "must be a file, but it is a folder; name one file inside it")


def test_file_without_permission(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "t.csv").write_text("a\n1\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    reject(
        tmp_path / "t.csv",
        "must be a file you may read, but opening it failed (Permission denied); check its "
        "name and its permissions",
    )


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.parquet.gz", "t.gz"])
def test_unknown_suffix(tmp_path, name):
    reject(
        tmp_path / name,
        "must be a file that ends in one of .csv, .tsv, .txt, .parquet, .npz (the first three "
        f"also with .gz), but it is called '{name}'; save it as .csv",
    )


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.npz", "t.csv.gz"])
def test_empty_file(tmp_path, name):
    content = gzip.compress(b"") if name.endswith(".gz") else b""
    path = write(tmp_path / name, content)
    reject(path, "must hold a table, but the file is empty; export it again")


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-12], lambda c: b"a,b\n1,2\n", lambda c: c[:20] + b"!!!!" + c[24:]]
)
def test_damaged_gzip(tmp_path, damage):
    content = gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 50)
    path = write(tmp_path / "t.csv.gz", damage(content))
    with pytest.raises(
        InputError, match=r"must be a whole gzip file, but it cannot be unpacked \("
    ):
        load_table(path, "X")


def test_other_encoding(tmp_path):
    path = write(tmp_path / "t.csv", "gène,b\n1,2\n".encode("latin-1"))
    reject(path, "must be UTF-8 text, but byte 2 is not; save it again as UTF-8")


def test_ids_only(tmp_path):
    path = write(tmp_path / "t.csv", "sample;a\ns1;1\ns2;2\n")
    reject(
        path,
        "must have a column of numbers, but it has none besides the sample ids; check that .csv "
        "fields are separated by commas and .tsv fields by tabs",
    )


def test_unnamed_column(tmp_path):
    reject(
        write(tmp_path / "t.csv", "sample,a,\ns1,1,2\n"),
        "must have a name for each column, but number 2 of 2 has none; name or remove it",
    )


def test_repeated_columns(tmp_path):
    reject(
        write(tmp_path / "t.csv", "a, b,b ,a,c\n1,2,3,4,5\n"),
        "must have each column once, but repeats 'a', 'b'; keep one of each, or give them "
        "different names",
    )


def test_repeated_sample(tmp_path):
    reject(
        write(tmp_path / "t.csv", "sample,a\ns1,1\ns2,2\ns1,3\n"),
        "must have each sample once, but repeats 's1'; keep one of each, or give them different "
        "names",
    )


def test_sample_without_id(tmp_path):
    reject(
        write(tmp_path / "t.csv", "sample,a\ns1,1\n,2\n"),
        "must have a name for each sample, but number 2 of 2 has none; name or remove it",
    )


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("", "missing"),
        ("NA", "missing"),
        ("nan", "missing"),
        ("-Inf", "infinite"),
        ("1e999", "infinite"),
    ],
)
def test_missing_and_infinite_cells(tmp_path, cell, kind):
    reject(
        write(tmp_path / "t.csv", f"sample,a,b\ns1,1,2\ns2,3,{cell}\ns3,NA,inf\n"),
        f"must have no missing or infinite values, but column 'b' is {kind} in line 3 (sample "
        f"'s2'), the first of 3 in all; fill in such values, or remove their rows or columns",
    )


def test_missing_cell_in_parquet(tmp_path):
    pd.DataFrame({"a": [1.0, None]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'a' is missing in row 2, the first of 1 in all"):
        load_table(tmp_path / "t.parquet", "X")


def test_text_cell_in_parquet(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": ["1", "high"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"only numbers in column 'b', but row 2 has 'high';"):
        load_table(tmp_path / "t.parquet", "X")


def test_parquet_without_rows(tmp_path):
    pd.DataFrame({"a": np.empty(0)}).to_parquet(tmp_path / "t.parquet")
    reject(tmp_path / "t.parquet", "must have a row for each sample, but it has no rows; add them")


@pytest.mark.parametrize("content", [b"PAR1 no", b"PAR1" + b"\0" * 40 + b"PAR1", b"a,b\n1,2\n"])
def test_damaged_parquet(tmp_path, content):
    path = write(tmp_path / "t.parquet", content)
    with pytest.raises(
        InputError, match=r"^X .* must be a Parquet table, but it cannot be read \("
    ):
        load_table(path, "X")


def test_npz_that_is_no_zip(tmp_path):
    plain = io.BytesIO()
    np.save(plain, np.eye(2))
    reject(
        write(tmp_path / "t.npz", plain.getvalue()),
        "must be an NPZ file, but it is not a zip file, or a damaged one; save it again with "
        "np.savez",
    )


@pytest.mark.parametrize("key", ["values", "columns"])
def test_npz_with_objects(tmp_path, key):
    arrays = {"values": np.eye(2), key: np.array([["a", 1], [2, 3]], dtype=object)}
    path = save_npz(tmp_path / "t.npz", **arrays)
    with pytest.raises(
        InputError, match=r"must hold arrays of numbers and text, but one cannot be"
    ):
        load_table(path, "X")


def test_npz_with_a_damaged_array(tmp_path):
    path = save_npz(tmp_path / "t.npz", values=np.eye(20))
    content = bytearray(path.read_bytes())
    content[400] ^= 255
    with pytest.raises(
        InputError, match=r"must hold arrays of numbers and text, but one cannot be"
    ):
        load_table(write(path, bytes(content)), "X")


def test_npz_without_values(tmp_path):
    reject(
        save_npz(tmp_path / "t.npz", a=np.eye(2), b=np.eye(2)),
        "must have an array called 'values', but has 'a', 'b'; save it with np.savez(path, "
        "values=..., columns=..., samples=...)",
    )


def test_npz_with_wrong_dimensions(tmp_path):
    path = save_npz(tmp_path / "t.npz", values=np.zeros(3))
    with pytest.raises(InputError, match=r"must be a 2-D array .* but it has shape \(3,\);"):
        load_table(path, "X")


@pytest.mark.parametrize("key", ["columns", "samples"])
def test_npz_with_too_few_names(tmp_path, key):
    reject(
        save_npz(tmp_path / "t.npz", values=np.eye(2), **{key: np.array(["a"])}),
        f"must have 2 names in its array '{key}', but that has shape (1,); save one name for each "
        f"of its {key}",
    )


def test_make_table_leaves_its_input_alone():
    frame = pd.DataFrame({"who": ["s1", "s2"], " a ": ["True", "0"]})
    before = frame.copy()
    table = make_table(frame, "X")
    assert (table.columns, table.samples) == (("a",), ("s1", "s2"))
    pd.testing.assert_frame_equal(frame, before)


def test_make_table_without_columns():
    with pytest.raises(InputError, match=r"^Y must have a column of numbers, but it has none"):
        make_table(np.zeros((3, 0)), "Y")


def test_make_table_names_the_label():
    with pytest.raises(InputError, match=r"^Y must have no missing .* 'y1' is infinite in row 1, "):
        make_table(np.array([[0, np.inf]]), "Y")


@pytest.mark.parametrize("values", [[[1, 2], [3]], pd.Series([1, 2]), None])
def test_make_table_of_something_else(values):
    must = "Y must be a DataFrame, a 2-D array or a sparse matrix"
    sentence = f"{must}, but it is a {type(values).__name__}; "
    with pytest.raises(InputError, match=f"^{sentence}wrap it in pandas.DataFrame$"):
        make_table(values, "Y")


def test_index_gives_ids_unless_default():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert convert_frame(frame, "X", "x").samples is None
    assert convert_frame(frame.iloc[::-1], "X", "x").samples == ("1", "0")
    assert convert_frame(frame.set_index([["s", "t"]]), "X", "x").samples == ("s", "t")


@pytest.mark.parametrize("ids", [["s1", "s2"], pd.Categorical(["s1", "s2"])])
def test_first_column_of_text_gives_ids(ids):
    cells = convert_frame(pd.DataFrame({"who": ids, "a": [1, 2]}), "X", "x")
    assert cells.samples == ("s1", "s2")
    assert cells.columns == ("a",)


def test_first_column_under_an_id_header_gives_ids():
    assert convert_frame(pd.DataFrame({"id": [7, 8], "a": [1, 2]}), "X", "x").samples == ("7", "8")


def test_missing_id_becomes_empty():
    frame = pd.DataFrame({"sample": ["s1", None], "a": [1, 2]})
    assert convert_frame(frame, "X", "x").samples == ("s1", "")


def test_dtypes():
    frame = pd.DataFrame(
        {
            "bool": [True, False],
            "small": np.array([1, 2], dtype=np.int8),
            "half": np.array([0.5, 1.5], dtype=np.float16),
            "nullable": pd.array([1, None], dtype="Int64"),
            "maybe": pd.array([True, None], dtype="boolean"),
            "text": ["TRUE", "0.5"],
            "object": np.array([True, None], dtype=object),
        }
    )
    expected = [[1, 1, 0.5, 1, 1, 1, 1], [0, 2, 1.5, np.nan, np.nan, 0.5, np.nan]]
    np.testing.assert_array_equal(convert_frame(frame, "X", "x").values, expected)


def test_numbered_columns_get_names():
    assert convert_frame(pd.DataFrame(np.eye(2)), "Y", "y").columns == ("y0", "y1")


@pytest.mark.parametrize("cells", [[1 + 2j, 3], ["0", "high"]])
def test_text_is_rejected_with_its_place(cells):
    frame = pd.DataFrame({"a": [1, 2], "b": cells}, index=["s", "t"])
    with pytest.raises(InputError, match=r"^X must hold only numbers in column 'b', but row \d \("):
        convert_frame(frame, "X", "x")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            np.zeros(3),
            "X must be a 2-D array [sample, column], but it has shape (3,); reshape it, with "
            "reshape(-1, 1) for a single column",
        ),
        (
            np.array([["a"]]),
            "X must be an array of numbers, but its dtype is <U1; convert it with astype(float)",
        ),
    ],
)
def test_wrong_arrays(values, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        convert_array(values, "X", "x")


def test_result_shares_no_memory():
    values = np.eye(3)
    frame = pd.DataFrame(values, columns=list("abc"))
    assert not np.shares_memory(convert_array(values, "X", "x").values, values)
    assert not np.shares_memory(convert_frame(frame, "X", "x").values, values)


def test_without_pyarrow_text_is_read_all_the_same(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    values = np.random.default_rng(0).normal(size=(30, 4)) * 10.0 ** np.arange(-8, 8, 4)
    pd.DataFrame(values, [f"s{row}" for row in range(30)]).to_csv(path)
    fast = load_table(path, "X")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    careful = load_table(path, "X")
    np.testing.assert_array_equal(careful.values, fast.values)
    assert (careful.columns, careful.samples) == (fast.columns, fast.samples)


def test_without_pyarrow_parquet_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": [1.0]}).to_parquet(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    missing = "needs the package pyarrow, but it is not installed"
    reject(path, f"{missing}; run pip install 'rinn[parquet]'")
