import dataclasses

import numpy as np
import pytest

from rinn.data.records import Data, Dropped
from rinn.errors import InputError
from rinn.structure.prior.log_odds import ANY_LEVEL
from rinn.structure.prior.network import load_network
from rinn.structure.prior.resolve import resolve
from rinn.structure.prior.sources import PriorKnowledge, load_prior
from rinn.structure.prior.statements import Statement

INPUTS = ("TP53_x", "EGFR", "MYC", "KRAS")
OUTPUTS = ("TP53_y", "CDKN1A", "FOS")


@pytest.fixture
def data():
    dropped = (
        Dropped("X", "SILENT", "constant (always 0)"),
        Dropped("Y", "FLAT", "constant (always 1)"),
        Dropped("X", "a sample", "sample is not in Y"),
    )
    return Data(np.zeros((5, 4)), np.zeros((5, 3)), INPUTS, OUTPUTS, dropped=dropped)


def tell(data, *statements, **more):
    said = [Statement(*words, location=f"line {n}") for n, words in enumerate(statements, 2)]
    return resolve(PriorKnowledge(tuple(said), files={"prior": "p.csv"}, **more), data)


def test_pairs(data):
    prior = tell(
        data, ("must", "TP53", "CDKN1A"), ("mustnot", "EGFR", "TP53_y"), ("must", "MYC", "FOS", 2.0)
    ).prior
    assert prior.order.tolist() == [[0, 1, 0], [-1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert prior.odds.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert not prior.is_empty
    assert not prior.input_pairs.any()


def test_a_name_of_both_tables_is_an_input_first_and_an_output_second(data):
    prior = tell(data, ("must", "TP53", "TP53")).prior
    assert np.argwhere(prior.order).tolist() == [[0, 0]]


def test_company_of_inputs_and_of_outputs(data):
    prior = tell(data, ("together", "EGFR", "TP53", 2.0), ("apart", "FOS", "CDKN1A", 3.0)).prior
    assert np.argwhere(prior.input_pairs == 2).tolist() == [[0, 1], [1, 0]]
    assert np.argwhere(prior.output_pairs == -3).tolist() == [[1, 2], [2, 1]]
    assert np.count_nonzero(prior.input_pairs) == np.count_nonzero(prior.output_pairs) == 2


def test_levels_add_up(data):
    prior = tell(data, ("level", "EGFR", "", None, 2, None), ("level", "EGFR", "", None, None, 3))
    assert prior.prior.lowest.tolist() == [1, 2, 1, 1]
    assert prior.prior.highest.tolist() == [ANY_LEVEL, 3, ANY_LEVEL, ANY_LEVEL]
    assert prior.prior.has_levels


def test_constant_columns_are_passed_over(data):
    found = tell(
        data,
        ("must", "SILENT", "FOS"),
        ("must", "EGFR", "FLAT"),
        ("together", "SILENT", "EGFR", 2.0),
        ("level", "SILENT", "", None, 1, 1),
        ("must", "EGFR", "FOS"),
    )
    assert np.argwhere(found.prior.order).tolist() == [[1, 2]]
    words = "--prior (p.csv): 1 of 5 statements used; 4 about constant columns were ignored"
    assert found.notes == (words,)


def test_the_same_statement_twice_is_one(data):
    once, twice = (tell(data, *[("must", "EGFR", "FOS", 1.0)] * times).prior for times in (1, 2))
    assert once.fingerprint() == twice.fingerprint()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ([("must", "EGRF", "FOS")], "line 2 names 'EGRF', which no table has; .* mean 'EGFR'"),
        ([("must", "EGFR", "FOSS")], "must name an output .* 'FOSS', .* mean 'FOS'"),
        ([("must", "EGFR", "MYC")], "must name an output .*'MYC', which is an input"),
        ([("must", "a sample", "FOS")], "names 'a sample', which no table has"),
        ([("must", "?", "FOS")], "they are called 'TP53_x', 'EGFR', 'MYC' and 1 more"),
        ([("must", "FOS", "EGFR")], "would close a cycle; swap the two"),
        (
            [("must", "EGFR", "FOS"), ("mustnot", "EGFR", "FOS")],
            "one thing of 'EGFR' and 'FOS', but line 2 says must and line 3 mustnot",
        ),
        (
            [("must", "TP53", "FOS", 1.0), ("must", "TP53_x", "FOS", 2.0)],
            "line 2 says must with weight 1 and line 3 must with weight 2",
        ),
        (
            [("together", "EGFR", "MYC", 2.0), ("apart", "MYC", "EGFR", 2.0)],
            "line 2 says together with weight 2 and line 3 apart",
        ),
        ([("together", "EGFR", "EGFR", 2.0)], "names 'EGFR' twice"),
        ([("together", "EGFR", "FOS", 2.0)], "names one of each .*say must or mustnot"),
        ([("together", "EGFR", "FOSS", 2.0)], "names 'FOSS', which no table has"),
        (
            [("level", "EGFR", "", None, 3, None), ("level", "EGFR", "", None, None, 2)],
            "by line 3 that of 'EGFR' would be at least 3 and at most 2",
        ),
    ],
)
def test_wrong_statements(data, statements, words):
    with pytest.raises(InputError, match=words):
        tell(data, *statements)


def test_sets(data):
    sets = {
        "one": frozenset({"TP53", "EGFR", "FOS", "CDKN1A", "other"}),
        "all": frozenset({"TP53", "EGFR", "MYC"}),
        "alone": frozenset({"MYC"}),
    }
    found = tell(data, ("apart", "EGFR", "TP53", 3.0), sets=sets, set_weight=0.5)
    # Of four inputs a set may hold two, of three outputs none: it would hold more than half.
    assert found.prior.input_pairs[:2, :2].tolist() == [[0, -3], [-3, 0]]
    assert not found.prior.output_pairs.any()
    alone = resolve(PriorKnowledge(sets=sets, set_weight=0.5), data)
    assert np.argwhere(alone.prior.input_pairs == 0.5).tolist() == [[0, 1], [1, 0]]
    assert "3 of 4 inputs and 3 of 3 outputs are in sets; 1 of 3 sets" in alone.notes[0]


def test_sets_of_strangers(data):
    with pytest.raises(InputError, match=r"none of them .*names such as 'tp53'"):
        resolve(PriorKnowledge(sets={"a": frozenset({"tp53"})}), data)


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "net.sif"
    path.write_text("TP53 to CDKN1A\nCDKN1A to EGFR\nEGFR to FOS\nMYC to far\nfar to FOS\n")
    return load_network(path)


def test_network(data, chain):
    known = PriorKnowledge(network=chain, steps=1, network_weight=2.0)
    soft = resolve(known, data).prior
    # TP53's own expression is the same name: a way of no step. KRAS is not in the network.
    assert soft.odds.tolist() == [[0, 0, -2], [-2, 0, 0], [-2, -2, -2], [0, 0, 0]]
    directed = resolve(dataclasses.replace(known, is_directed=True), data).prior
    assert directed.odds[1].tolist() == [-2, -2, 0]
    wide = resolve(dataclasses.replace(known, steps=2), data)
    assert wide.prior.odds[2].tolist() == [-2, -2, 0]
    assert "3 of 4 inputs and 3 of 3 outputs are in it; 3 of 9 pairs" in wide.notes[0]
    mask = resolve(dataclasses.replace(known, is_mask=True), data).prior
    assert mask.order.tolist() == [[0, 0, -1], [-1, 0, 0], [-1, -1, -1], [0, 0, 0]]
    assert not mask.odds.any()


def test_statements_count_before_the_network(data, chain):
    words = ("must", "MYC", "FOS"), ("must", "MYC", "CDKN1A", 1.0)
    prior = tell(data, *words, network=chain, steps=1, is_mask=True).prior
    assert prior.order[2].tolist() == [-1, 0, 1]
    assert prior.odds[2].tolist() == [0, 1, 0]


def test_networks_of_strangers(data, tmp_path):
    path = tmp_path / "net.sif"
    path.write_text("TP53 to a\n")
    known = PriorKnowledge(network=load_network(path))
    assert resolve(known, data).prior.is_empty
    path.write_text("EGFR to a\n")
    with pytest.raises(InputError, match="name the outputs of the tables"):
        resolve(PriorKnowledge(network=load_network(path)), data)


def test_files_together(tmp_path):
    for name, text in {
        "p.csv": "statement,first,second\nmust,a,b\n",
        "s.gmt": "S\t\ta\tb\n",
        "n.sif": "a to b\n",
    }.items():
        (tmp_path / name).write_text(text)
    known = load_prior(
        tmp_path / "p.csv", gene_sets=tmp_path / "s.gmt", network=tmp_path / "n.sif", is_mask=True
    )
    assert dict(known.files) == {"prior": "p.csv", "gene_sets": "s.gmt", "network": "n.sif"}
    assert (len(known.statements), len(known.sets), known.is_mask) == (1, 1, True)
    assert load_prior() is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"set_weight": 2.0}, "--set-weight must come with --gene-sets FILE"),
        ({"is_mask": True}, "--network-mask must come with --network FILE"),
        ({"steps": 0}, "--network-steps must be a whole number of at least 1"),
        ({"network_weight": 0.0}, "--network-weight must be a number above 0"),
        ({"set_weight": float("nan")}, "--set-weight must be a number above 0"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(InputError, match=words):
        load_prior(**options)
