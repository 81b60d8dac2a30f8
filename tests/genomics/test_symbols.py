import pytest
from hypothesis import given
from hypothesis import strategies as st

from gene_files import write
from rinn.errors import InputError
from rinn.genomics.symbols import (
    ALIASES,
    AS_WRITTEN,
    SymbolRules,
    clean_symbol,
    clean_symbols,
    load_gene_names,
)


@pytest.mark.parametrize(
    ("text", "symbol", "step"),
    [
        ("TP53", "TP53", None),
        (' "TP53" ', "TP53", None),
        ("tp53", "TP53", "case"),
        ("C9orf45", "C9ORF45", "case"),
        ("TP53|7157", "TP53", "cut"),
        ("MIR3115|chr1", "MIR3115", "cut"),
        ("?|100130426", None, None),
        ("Unknown", None, None),
        ("", None, None),
        ("1-Sep", "SEPTIN1", "date"),
        ("14-SEP", "SEPTIN14", "date"),
        ("Sep-02", "SEPTIN2", "date"),
        ("15-Sep", "SELENOF", "date"),
        ("1-Mar", "MARCHF1", "date"),
        ("11-Mar", "MARCHF11", "date"),
        ("1-Dec", "DELEC1", "date"),
        ("2021-09-01 00:00:00", "SEPTIN1", "date"),
        ("1-Sep-21", "SEPTIN1", "date"),
        ("4-Oct", "4-OCT", "case"),
        ("SEPT9", "SEPTIN9", "alias"),
        ("MARCH5", "MARCHF5", "alias"),
        ("MLL2", "KMT2D", "alias"),
        ("MLL3|58508", "KMT2C", "alias"),
        ("ENSG00000141510.17", "ENSG00000141510", "version"),
        ("ENSG00000182378.13_PAR_Y", "ENSG00000182378", "version"),
        ("HLA-A", "HLA-A", None),
        ("RP11-34P13.7", "RP11-34P13.7", None),
        ("NKX2-1", "NKX2-1", None),
    ],
)
def test_symbols(text, symbol, step):
    assert clean_symbol(text) == (symbol, step)


def test_symbols_can_be_left_as_written():
    for text in ("tp53", "1-Sep", "TP53|7157", "MLL2"):
        assert clean_symbol(text, AS_WRITTEN) == (text, None)


def test_the_user_may_rename():
    rules = SymbolRules(rename={"ENSG00000141510": "TP53", "EGFR|1956": "HER1"}, aliases={})
    assert clean_symbol("ENSG00000141510.17", rules) == ("TP53", "rename")
    assert clean_symbol("EGFR|1956", rules) == ("HER1", "rename")
    assert clean_symbol("MLL2", rules) == ("MLL2", None)


def test_aliases_lead_to_symbols_that_are_no_aliases():
    assert not set(ALIASES.values()) & set(ALIASES)


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text):
    once, _ = clean_symbol(text)
    if once is not None:
        again, _ = clean_symbol(once)
        assert again in (once, None) or once.strip() != once or '"' in once or "|" in once


@given(st.lists(st.sampled_from(["TP53", "tp53", "1-Sep", "SEPT1", "?|1", "MLL", "EGFR|1956"])))
def test_each_name_has_its_place(texts):
    symbols = clean_symbols(texts, None, "mean")
    assert len(symbols.targets) == len(texts)
    assert len(set(symbols.names)) == len(symbols.names)
    for text, target in zip(texts, symbols.targets, strict=True):
        assert (symbols.names[target] if target >= 0 else None) == clean_symbol(text)[0]
    lost = sum(entry.count for entry in symbols.entries if entry.action == "dropped")
    assert lost == texts.count("?|1")


def test_account_of_what_became_of_the_names():
    entries = clean_symbols(["1-Sep", "SEPT1", "A|1", "?"], None, "mean").entries
    assert [str(entry) for entry in entries] == [
        "dropped          1 genes: they have no symbol ('?')",
        "renamed          1 genes: an older symbol of the same gene ('SEPT1 -> SEPTIN1')",
        "renamed          1 genes: a date that a spreadsheet made of a symbol (Mar 1 and 2 may "
        "also have been MARC1, 2) ('1-Sep -> SEPTIN1')",
        "renamed          1 genes: what follows | is cut off, as A|1 -> A",
        "merged           1 genes: several rows have the same symbol: merged by the rule 'mean' "
        "('SEPTIN1 (2)')",
    ]


def test_gene_names(tmp_path):
    path = write(
        tmp_path / "map.tsv", "#id\tgene\tchrom\nENSG00000141510.17\tTP53\tchr17\n\nx\ty\n"
    )
    assert load_gene_names(path) == {
        "ENSG00000141510.17": "TP53",
        "ENSG00000141510": "TP53",
        "x": "y",
    }
    with pytest.raises(InputError, match="must have an id and a symbol in each line, but line 1"):
        load_gene_names(write(path, "x\n"))
    with pytest.raises(InputError, match="must name genes, but it is empty"):
        load_gene_names(write(path, ""))
