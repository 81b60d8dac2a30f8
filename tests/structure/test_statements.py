import gzip
import json

import pytest

from rinn.errors import InputError
from rinn.structure.prior import statements
from rinn.structure.prior.statements import Statement, load_statements

TOP = "statement,first,second,weight\n"


@pytest.fixture
def write(tmp_path):
    def save(text, name="prior.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return save


def as_tuples(found):
    return [(s.kind, s.first, s.second, s.weight, s.lowest, s.highest) for s in found]


ALL = [
    ("must", "x0", "y1", None, None, None),
    ("mustnot", "x0", "y2", 1.5, None, None),
    ("together", "x1", "x2", 2.0, None, None),
    ("apart", "x1", "x3", 4.0, None, None),
    ("level", "x4", "", None, None, 1),
    ("level", "x5", "", None, 2, None),
    ("level", "x6", "", None, 3, 3),
]


def test_every_kind_of_statement(write):
    rows = "must,x0,y1,\nmustnot,x0,y2,1.5\ntogether,x1,x2\nApart,x1,x3,4\n"
    rows += "level,x4,at most 1,\nlevel,x5,>= 2,\nlevel,x6,3\n"
    assert as_tuples(load_statements(write(TOP + rows))) == ALL


def test_a_json_file_says_the_same(write):
    entries = [
        {"statement": "must", "first": "x0", "second": "y1", "note": "from a book"},
        {"statement": "must not", "first": "x0", "second": "y2", "weight": 1.5},
        {"statement": "together", "first": "x1", "second": "x2", "weight": None},
        {"statement": "apart", "first": "x1", "second": "x3", "weight": "4"},
        {"statement": "level", "first": "x4", "second": "<=1"},
        {"statement": "level", "first": "x5", "second": "at least 2"},
        {"statement": "level", "first": "x6", "second": 3},
    ]
    for content in (entries, {"statements": entries}):
        assert as_tuples(load_statements(write(json.dumps(content), "a.json"))) == ALL


def test_tabs_comments_columns_in_another_order_quotes_and_gzip(write):
    text = '# known\nsecond\tnote\tfirst\tstatement\n\n# more\n"y,1"\t\tx 0\tmust\r\n'
    for path in (write(text, "a.tsv"), write(gzip.compress(text.encode()), "b.tsv.gz")):
        assert as_tuples(load_statements(path)) == [("must", "x 0", "y,1", None, None, None)]


def test_places_are_lines_of_the_file(write):
    found = load_statements(write(f"# a comment\n\n{TOP}must,a,b,\n\nmust,a,c,\n"))
    assert [s.location for s in found] == ["line 4", "line 6"]
    assert found[0] == Statement("must", "a", "b", location="line 4")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "at least one statement, but it has none"),
        (TOP, "at least one statement, but it has none"),
        ("statment,first,second\n", "line 1 has 'statment'; .* mean 'statement'"),
        ("must,a,b\n", "line 1 has 'must'; put a line with those names above it"),
        ("statement,first\n", "line 1 lacks 'second'"),
        ("statement,first,second,first\n", "has a name twice"),
        (TOP + "mist,a,b,\n", "one of must, .* but line 2 is 'mist'; .* mean 'must'"),
        (TOP + ",a,b,\n", "but line 2 is ''"),
        (TOP + "must,a,b,\nmust,a,,\n", "a name as 'second', but line 3 has none"),
        (TOP + "must,a\n", "a name as 'second', but line 2 has none"),
        (TOP + "must,a,b,high\n", "but line 2 has 'high'"),
        (TOP + "must,a,b,-1\n", "above 0 .* line 2 has '-1'; .* need no minus"),
        (TOP + "must,a,b,nan\n", "but line 2 has 'nan'"),
        (TOP + "must,a,b,inf\n", "but line 2 has 'inf'"),
        (TOP + "level,a,high,\n", "'at most 1', .* line 2 has 'high'"),
        (TOP + "level,a,at most 0,\n", "levels count from 1"),
        (TOP + "level,a,1,2\n", "line 2 has a weight"),
        (TOP + "must,a,b,1,2\n", "4 fields on each line, .* line 2 has 5"),
        (TOP + 'must,"a,b,\n', "line 2 cannot be split"),
        (TOP + f"must,{'a' * 140_000},b,\n", "line 2 cannot be split .* larger than field limit"),
        (f"statement,{'a' * 140_000}\n", "line 1 cannot be split .* larger than field limit"),
        ('statement,"first,second\n', "line 1 cannot be split"),
        (TOP.encode() + b"must,a\0b,c,\n", "line 2 holds a zero byte"),
    ],
)
def test_wrong_tables(write, text, words):
    with pytest.raises(InputError, match=words):
        load_statements(write(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "must hold JSON"),
        ("[" * 100_000, "must hold JSON"),
        (b"\xff\xfe", "must hold JSON"),
        ("{}", "a list of statements"),
        ("[3]", "entry 1 is '3'"),
        ('[{"statement": "must", "from": "a"}]', "entry 1 has 'from'"),
        ('[{"statement": "must", "first": ["a"], "second": "b"}]', "entry 1 has"),
        ('[{"statement": "must", "first": true, "second": "b"}]', "entry 1 has 'True'"),
        ('[{"statement": "must", "first": "a", "second": "b", "weight": true}]', "has 'True'"),
        ('[{"statement": "must", "first": "a", "second": "b", "weight": [1]}]', "entry 1"),
        (
            f'[{{"statement": "must", "first": "a", "second": "b", "weight": {10**309}}}]',
            "a weight above 0 and at most 100, in log odds, but entry 1 has '1000",
        ),
    ],
)
def test_wrong_json(write, text, words):
    with pytest.raises(InputError, match=words):
        load_statements(write(text, "a.json"))


@pytest.mark.parametrize("word", ["must not", "Must-Not", "MUST_NOT", "mustnot"])
def test_a_kind_may_be_written_in_several_ways(write, word):
    assert load_statements(write(f"{TOP}{word},a,b,\n"))[0].kind == "mustnot"


def test_json_may_have_a_mark_of_its_encoding_and_be_packed(tmp_path, monkeypatch):
    text = '[{"statement": "must", "first": "a", "second": "b"}]'
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    plain.write_bytes(b"\xef\xbb\xbf" + text.encode())
    packed.write_bytes(gzip.compress(text.encode()))
    assert load_statements(plain) == load_statements(packed)
    packed.write_bytes(gzip.compress(text.encode())[:-12])
    with pytest.raises(InputError, match="must hold JSON"):
        load_statements(packed)
    packed.write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"cannot be read .*gzip"):
        load_statements(packed)
    monkeypatch.setattr(statements, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="at most 0 MiB"):
        load_statements(plain)


def test_no_file(tmp_path):
    for name in ("a.csv", "a.json"):
        with pytest.raises(InputError, match=r"--prior .*(existing file|cannot be read)"):
            load_statements(tmp_path / name)
