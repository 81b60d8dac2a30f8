import numpy as np
import pytest

from rinn.data.covariates import CovariateTable, code_covariates, encode_covariates
from rinn.errors import InputError


def words(*values):
    return np.array(values, dtype=object)


def table(**columns):
    return CovariateTable(columns)


def test_reference_is_the_max_frequent_level_and_missing_is_a_level():
    tissue = words(*["skin"] * 4, *["lung"] * 5, *["brain"] * 2, "")
    found, dropped = code_covariates(table(tissue=tissue))
    assert found.codings[0].levels == ("lung", "(missing)", "brain", "skin")
    assert found.columns == (("tissue", "(missing)"), ("tissue", "brain"), ("tissue", "skin"))
    assert found.numbers.sum(axis=0).tolist() == [1, 2, 4]
    assert (found.numbers[4:9] == 0).all()
    assert dropped == ()
    assert found.notes == ("covariate 'tissue': 1 missing values are a separate level",)


def test_ties_between_levels_go_to_the_first_name():
    found, _ = code_covariates(table(sex=words("m", "f", "m", "f")))
    assert found.codings[0].levels == ("f", "m")


def test_numbers_are_standardised_and_missing_ones_are_the_mean():
    age = np.array([40.5, 60.0, np.nan, 80.0, 20.0])
    found, _ = code_covariates(table(age=age))
    values = found.numbers[:, 0]
    assert values[2] == 0
    assert values.mean() == pytest.approx(0)
    assert values.std() == pytest.approx(1)
    assert found.notes == ("covariate 'age': 1 missing values were replaced by the mean",)


def test_zeros_and_ones_are_levels():
    found, _ = code_covariates(table(smoker=np.array([0.0, 1, 0, 0, np.nan, 0])))
    assert found.codings[0].levels == ("0", "(missing)", "1")


def test_whole_numbers_of_few_values_are_pointed_out():
    found, _ = code_covariates(table(batch=np.array([1.0, 2, 3, 1, 2, 3])))
    assert "write them as text (b1, b2)" in found.notes[0]


def test_constant_covariates_are_dropped_and_named():
    kept, dropped = code_covariates(
        table(
            tissue=words("a", "b", "a", "b", "a", "b"),
            site=words(*["x"] * 6),
            dose=np.full(6, 2.0),
            gone=np.full(6, np.nan),
            void=words(*[""] * 6),
        )
    )
    assert kept.names == ("tissue",)
    assert [(entry.name, entry.reason) for entry in dropped] == [
        ("site", "constant (always 'x')"),
        ("dose", "constant (always 2)"),
        ("gone", "constant (always (missing))"),
        ("void", "constant (always '(missing)')"),
    ]


def test_only_constant_covariates_are_refused():
    with pytest.raises(InputError, match="must have a column that varies, but each of 'site'"):
        code_covariates(table(site=words("x", "x")))


def test_ids_are_refused_as_covariates():
    names = words(*(f"s{number}" for number in range(60)))
    with pytest.raises(InputError, match="59 for 60 samples, 59 of them in 'id'; leave it out"):
        code_covariates(table(id=names))


def test_new_samples_are_coded_alike():
    old = table(tissue=words(*"abaabacaa"), age=np.arange(9.0) + 0.5)
    found, _ = code_covariates(old)
    again = encode_covariates(old, found.codings)
    assert (again == found.numbers).all()
    new = table(age=np.array([np.nan]), tissue=words("c"), more=words("z"))
    assert encode_covariates(new, found.codings).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": np.ones(2)}, "must have the column 'tissue'"),
        ({"tissue": words("a", "z"), "age": np.ones(2)}, "but row 2 has 'z'; leave such samples"),
        ({"tissue": words("a", ""), "age": np.ones(2)}, r"but row 2 has '\(missing\)'"),
        ({"tissue": words("a", "b"), "age": words("old", "1")}, "must hold numbers in column"),
    ],
)
def test_new_samples_of_another_kind_are_refused(columns, message):
    old = table(tissue=words("a", "b", "a", "a", "b", "a"), age=np.arange(6.0) + 0.5)
    with pytest.raises(InputError, match=message):
        encode_covariates(CovariateTable(columns), code_covariates(old)[0].codings)


def test_rows_are_permuted_within_strata():
    rng = np.random.default_rng(0)
    tissue = words(*rng.choice(["a", "b", "c"], 200))
    sex = words(*rng.choice(["f", "m"], 200))
    found, _ = code_covariates(table(tissue=tissue, sex=sex, age=rng.normal(size=200)))
    order = found.permute(np.random.default_rng(1))
    assert sorted(order) == list(range(200))
    assert (tissue[order] == tissue).all()
    assert (sex[order] == sex).all()
    assert (order != np.arange(200)).mean() > 0.8


def test_small_strata_are_permuted_together_and_numbers_make_none():
    tissue = words(*["a"] * 20, "b", "b", "c", "c", "d", "d")
    found, _ = code_covariates(table(tissue=tissue))
    assert len(np.unique(found.strata)) == 2
    assert len(np.unique(found.strata[20:])) == 1
    numbers, _ = code_covariates(table(age=np.arange(30.0)))
    assert (numbers.strata == 0).all()
