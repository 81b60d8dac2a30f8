"""Each step on tables small enough to work out by hand."""

import numpy as np
import pandas as pd
import pytest

from rinn.errors import InputError
from rinn.genomics.prepare.changes import (
    Reference,
    Scores,
    find_alterations,
    find_usable,
    make_outputs,
    score_expression,
)
from rinn.genomics.prepare.clinical import find_column, load_annotation, make_covariates
from rinn.genomics.prepare.prepare import select_columns
from rinn.genomics.prepare.settings import PrepareSettings


def test_an_alteration_is_a_mutation_or_a_level_of_two():
    mutations = pd.DataFrame({"TP53": [1, 0, 0, 0, 0], "NF1": [1, 1, 0, 0, 0]})
    levels = pd.DataFrame({"TP53": [2, -2, 1, -1.5, 0], "EGFR": [0, 1, 2, 2, 2]})
    found = find_alterations(mutations, levels, PrepareSettings(min_carriers=2))
    assert found.table.to_dict("list") == {
        "EGFR": [0, 0, 1, 1, 1],
        "NF1": [1, 1, 0, 0, 0],
        "TP53": [1, 1, 0, 0, 0],
    }
    counts = found.genes.set_index("gene")
    assert counts.loc["TP53", ["carriers", "mutated", "amplified", "deleted"]].tolist() == [
        2,
        1,
        1,
        1,
    ]


def test_rare_genes_and_those_altered_everywhere_are_dropped_with_a_reason():
    table = pd.DataFrame({"RARE": [1] + [0] * 9, "MOST": [0] + [1] * 9, "SOME": [1] * 4 + [0] * 6})
    settings = PrepareSettings(min_carriers=2, min_frequency=0.3)
    found = find_alterations(table, None, settings)
    assert list(found.table) == ["SOME"]
    why = found.genes.set_index("gene")["why"]
    assert why["RARE"] == "altered in fewer than 3 tumours"
    assert why["MOST"] == "altered in all but fewer than 2 tumours"
    assert {entry.count for entry in found.entries} == {1}
    assert list(find_alterations(table, None, PrepareSettings(min_carriers=4)).table) == ["SOME"]


def test_unknown_is_not_without_alteration():
    table = pd.DataFrame(
        {"PANEL": [np.nan] * 2 + [1.0] * 3 + [0.0] * 5, "ONE": [np.nan] + [1.0] * 3 + [0.0] * 6}
    )
    found = find_alterations(table, None, PrepareSettings(min_carriers=2))
    assert list(found.table) == ["ONE"]
    assert found.table["ONE"].sum() == 3
    assert found.genes["why"].tolist()[0] == "unknown in more than 10% of the tumours"
    assert found.entries[-1].reason == "unknown in X: counted as not altered"
    # A tumour whose copy number says that the gene is altered is known, whatever the panel had.
    levels = pd.DataFrame({"PANEL": [2.0, 2.0] + [0.0] * 8})
    both = find_alterations(table, levels, PrepareSettings(min_carriers=2))
    assert both.table["PANEL"].sum() == 5
    assert both.genes.set_index("gene").loc["PANEL", "unknown"] == 0


def test_a_table_without_a_frequent_gene_is_refused():
    table = pd.DataFrame({"KRAS": [1, 0, 0, 0, 0, 0]})
    with pytest.raises(
        InputError, match=r"at least 5 of 6 tumours, but the most .*'KRAS', is in 1"
    ):
        find_alterations(table, None, PrepareSettings())


VALUES = pd.DataFrame(
    {"MYC": [1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 13.0, 14.0]}, index=[f"t{i}" for i in range(8)]
)
TISSUES = pd.Series(["lung"] * 4 + ["skin"] * 4, index=VALUES.index)


def test_within_tissue_by_median_and_mad():
    z = score_expression(VALUES, TISSUES, Reference(), PrepareSettings()).z["MYC"]
    # lung: median 2.5, MAD 1; skin: median 12, MAD 1.5
    assert z.to_numpy() == pytest.approx(
        np.array([-1.5, -0.5, 0.5, 1.5, -4 / 3, -2 / 3, 2 / 3, 4 / 3]) / 1.4826
    )


def test_against_normals_of_the_same_tissue_by_mean_and_sd_or_robustly():
    normals = pd.DataFrame({"MYC": [0.0, 1.0, 5.0, 10.0, 12.0, 14.0]})
    reference = Reference(normals, ["lung"] * 3 + ["skin"] * 3)
    settings = PrepareSettings(reference="normals", min_reference=3)
    z = score_expression(VALUES, TISSUES, reference, settings).z["MYC"]
    assert z["t0"] == pytest.approx((1 - 2) / np.std([0, 1, 5], ddof=1))
    assert z["t7"] == pytest.approx((14 - 12) / 2)
    robust = PrepareSettings(reference="normals", min_reference=3, robust=True)
    z = score_expression(VALUES, TISSUES, reference, robust).z["MYC"]
    assert z["t3"] == pytest.approx((4 - 1) / 1.4826)


def test_against_tumours_whose_own_gene_is_diploid_and_cis_is_set_to_zero():
    levels = pd.DataFrame({"MYC": [0, 0, 0, 2, 0, 0, 0, 1]}, index=VALUES.index)
    settings = PrepareSettings(reference="diploid", min_reference=3)
    scores = score_expression(VALUES, TISSUES, Reference(levels=levels), settings)
    assert scores.z["MYC"].tolist()[:4] == pytest.approx([-1, 0, 1, 0])
    sd = np.std([10, 11, 13], ddof=1)
    assert scores.z["MYC"]["t7"] == pytest.approx((14 - 34 / 3) / sd)
    assert scores.cis["MYC"] == 1
    assert scores.entries[-1].count == 1
    kept = PrepareSettings(reference="diploid", min_reference=3, keep_cis=True)
    kept_z = score_expression(VALUES, TISSUES, Reference(levels=levels), kept).z["MYC"]
    assert kept_z["t3"] == pytest.approx(2)
    # What the own copy number did is no spread either.
    assert (
        scores.spread["MYC"]
        < score_expression(VALUES, TISSUES, Reference(levels=levels), kept).spread["MYC"]
    )


def test_a_reference_of_few_gives_way_to_the_tissue_and_says_so():
    normals = pd.DataFrame({"MYC": [0.0, 1.0, 5.0]})
    reference = Reference(normals, ["lung"] * 3)
    settings = PrepareSettings(reference="normals", min_reference=3)
    scores = score_expression(VALUES, TISSUES, reference, settings)
    assert scores.z["MYC"]["t7"] == pytest.approx(4 / 3 / 1.4826)
    assert scores.entries[0].names == ("skin: 1 genes",)


def test_tumours_without_reference_are_dropped_by_name():
    usable, entries = find_usable(
        pd.Series(["lung"] * 3 + ["skin"], index=list("abcd")),
        Reference(),
        PrepareSettings(min_reference=3),
    )
    assert usable.tolist() == [True] * 3 + [False]
    assert entries[0].names == ("d (skin)",)
    with pytest.raises(InputError, match="the largest, 'lung', has 4"):
        find_usable(TISSUES, Reference(), PrepareSettings(min_reference=5))
    settings = PrepareSettings(reference="normals", min_reference=3)
    with pytest.raises(InputError, match="at least 3 normals of a tissue, but there are at most 2"):
        find_usable(TISSUES, Reference(None, ["lung", "lung", "bone"]), settings)
    served = find_usable(TISSUES[:1], Reference(None, ["lung"] * 3), settings)
    assert served[0].all()


def test_diploid_needs_copy_number():
    with pytest.raises(InputError, match="--reference diploid needs copy number"):
        score_expression(VALUES, TISSUES, Reference(), PrepareSettings(reference="diploid"))


def test_given_z_scores_stay():
    z = score_expression(VALUES, TISSUES, Reference(), PrepareSettings(reference="none")).z
    assert z.equals(VALUES)


def _scores(columns):
    z = pd.DataFrame(columns)
    ones = pd.Series(1.0, index=z.columns)
    return Scores(z, ones, 0 * ones, ())


def test_binary_outputs_are_neither_rare_nor_common():
    settings = PrepareSettings(y_kind="binary", min_carriers=2, min_prevalence=0.2)
    columns = {"A": [3.0, -2.0, 1.9, 0, 0, 0], "RARE": [5.0] + [0] * 5, "MOST": [5.0] * 5 + [0]}
    found = make_outputs(_scores(columns), settings)
    assert found.table.to_dict("list") == {"A": [1, 1, 0, 0, 0, 0]}
    assert found.genes["why"].tolist() == [
        "",
        "changed in fewer than 33% of the tumours",
        "changed in more than 67% of the tumours",
    ]
    with pytest.raises(InputError, match=r"none of 1 is left .*pass --y-kind continuous"):
        make_outputs(_scores({"RARE": columns["RARE"]}), settings)


def test_continuous_outputs_are_held_filled_and_counted():
    columns = {
        "A": [300.0, -20.0, 1.0] + [0.5] * 7,
        "GAP": [np.nan, 2.0] + [1.0] * 8,
        "HOLES": [np.nan] * 2 + [1.0, 2.0] * 4,
        "FLAT": [1.0] * 10,
    }
    found = make_outputs(_scores(columns), PrepareSettings())
    assert list(found.table) == ["A", "GAP"]
    assert found.table["A"].tolist()[:3] == [10, -10, 1]
    assert found.table["GAP"][0] == 0
    counts = {entry.reason: entry.count for entry in found.entries}
    assert counts["of Y beyond 10 or -10: clipped"] == 2
    assert counts["without a score in Y: set to 0"] == 1
    with pytest.raises(InputError, match=r"none of 1 is left \(the same in all tumours\)"):
        make_outputs(_scores({"FLAT": columns["FLAT"]}), PrepareSettings())


def _tables(samples=300, seed=1):
    """The first input drives six of eight outputs."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.random((samples, 3)) < 0.3, columns=["DRV", "P1", "P2"]).astype(int)
    noise = rng.normal(size=(samples, 8)) * np.arange(8, 0, -1)
    z = pd.DataFrame(noise * 0.1, columns=[f"D{i}" for i in range(8)])
    z.iloc[:, :6] += 5 * x[["DRV"]].to_numpy()
    z.iloc[:, 6:] += 5 * (rng.random((samples, 2)) < 0.3)
    names = [f"s{i}" for i in range(samples)]
    return x.set_axis(names), z.set_axis(names)


def test_tci_keeps_drivers_and_their_targets():
    x, z = _tables()
    settings = PrepareSettings(select="tci", permutations=5)
    alterations = find_alterations(x, None, settings)
    outputs = make_outputs(Scores(z, z.std(), 0 * z.std(), ()), settings)
    tissues = pd.Series("all", index=x.index)
    (inputs, targets), entries = select_columns(alterations, outputs, tissues, settings)
    assert inputs == ["DRV"]
    assert sorted(targets) == [f"D{i}" for i in range(6)]
    assert [(entry.what, entry.count) for entry in entries] == [("inputs", 2), ("outputs", 2)]
    both = pd.Series(["lung", "skin"] * 150, index=x.index)
    assert select_columns(alterations, outputs, both, settings)[0][0] == ["DRV"]
    steps = PrepareSettings(select="variance:5+tci", permutations=5)
    assert len(select_columns(alterations, outputs, tissues, steps)[0][1]) <= 5
    strict = PrepareSettings(select="tci", permutations=2, min_tumours=290)
    with pytest.raises(InputError, match=r"TCI calls 0 drivers .* lower --min-tumours"):
        select_columns(alterations, outputs, tissues, strict)


def test_auto_keeps_one_input_for_four_tumours_and_the_widest_outputs():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 2, (60, 20)), columns=[f"G{i:02d}" for i in range(20)])
    z = pd.DataFrame(rng.normal(size=(60, 130)), columns=[f"D{i:03d}" for i in range(130)])
    spread = pd.Series(np.arange(130.0), index=z.columns)
    tissues = pd.Series("all", index=x.index)

    def choose(**how):
        settings = PrepareSettings(**how)
        outputs = make_outputs(Scores(z, spread, 0 * spread, ()), settings)
        return select_columns(find_alterations(x, None, settings), outputs, tissues, settings)[0]

    inputs, outputs = choose()
    assert len(inputs) == 15
    assert outputs == [f"D{i:03d}" for i in range(129, 29, -1)]
    assert x[inputs].sum().min() >= x.drop(columns=inputs).sum().max()
    assert [len(names) for names in choose(select="none")] == [20, 130]
    assert [len(names) for names in choose(select="variance:7")] == [20, 7]
    assert [len(names) for names in choose(max_inputs=3, max_outputs=4)] == [3, 4]


def test_excluded_genes_are_in_neither_table():
    x = pd.DataFrame({"A": [0, 1] * 30, "B": [1, 0, 0] * 20})
    assert list(find_alterations(x, None, PrepareSettings(exclude=("A",))).table) == ["B"]
    found = make_outputs(_scores({"A": np.arange(60.0), "C": np.arange(60.0)}),
                         PrepareSettings(exclude=("A",)))  # fmt: skip
    assert list(found.table) == ["C"]


def test_covariates_without_gaps():
    table = pd.DataFrame(
        {
            "sex": ["f", "m", "f", ""],
            "age": ["40", "NA", "60", "80"],
            "site": ["a"] * 4,
            "race": ["", "", "", "x"],
        }
    )
    found, entries = make_covariates(table, 0.25)
    assert found.to_dict("list") == {
        "sex": ["f", "m", "f", "unknown"],
        "age": [40.0, 60.0, 60.0, 80.0],
    }
    assert [(entry.action, entry.names) for entry in entries] == [
        ("repaired", ()),
        ("repaired", ()),
        ("dropped", ("site",)),
        ("dropped", ("race",)),
    ]
    assert make_covariates(table[["site"]], 0.25)[0] is None


def test_covariates_beyond_any_number_are_refused():
    table = pd.DataFrame({"sex": ["f", "m", "f"], "age": ["40", f"1{'0' * 400}", "60"]})
    with pytest.raises(
        InputError, match="--covariate-columns must hold finite numbers, but age has '10"
    ):
        make_covariates(table, 0.5)


def test_clinical_tables_of_any_make(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"case",patient,"sample_id",TYPE\n1,p,TCGA-02-0001-01A,"lung, left"\n\n')
    frame, log = load_annotation(path)
    assert frame.loc["TCGA-02-0001-01"].to_dict() == {"case": "1", "patient": "p",
                                                      "TYPE": "lung, left"}  # fmt: skip
    assert log.entries[0].count == 1
    path.write_text("#about\tx\n\tTYPE\ns1\t[Not Available]\ns2\n")
    assert load_annotation(path)[0]["TYPE"].tolist() == ["", ""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must hold a table, but is empty"),
        ("tissue\tage\nlung\t3\n", "called sample, barcode or patient, but line 1 has 'tissue'"),
        ("sample\ttissue\n", "must have a row for each sample"),
        ("sample\ttissue\na\tlung\na\tskin\n", "each sample once, but repeats 'a'"),
        ("sample\ttissue\na\tlung\tmore\n", "have 2 fields in each line, but line 2 has 3"),
        ("sample\tage\tage\na\t1\t2\n", "have each column once, but repeats 'age'"),
        ("sample,t\na," + "x" * 200_000 + "\n", "cannot be split"),
    ],
)
def test_clinical_tables_that_are_none(tmp_path, text, words):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        load_annotation(path)


def test_columns_are_found_in_any_case():
    frame = pd.DataFrame(columns=["SEX", "Age", "age"])
    assert find_column(frame, "sex", "--covariate-columns") == "SEX"
    with pytest.raises(InputError, match=r"--covariate-columns must name a column .*'AGE' is none"):
        find_column(frame, "AGE", "--covariate-columns")
    wide = pd.DataFrame(columns=[f"c{i}" for i in range(30)])
    with pytest.raises(InputError, match="'zzz' is none; it has 'c0', 'c1', 'c2' and 27 more"):
        find_column(wide, "zzz", "--covariate-columns")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"unsequenced": "keep"}, "unsequenced must be one of drop, copy-number, got 'keep'"),
        ({"reference": "normal"}, "did you mean 'normals'"),
        ({"y_kind": "both"}, "y_kind must be one of binary, continuous"),
        ({"log": "maybe"}, "log must be one of auto, yes, no"),
        ({"min_frequency": 2}, "min_frequency must be a number of at least 0 and at most 1, got 2"),
        ({"max_missing": True}, "max_missing must be a number of at least 0"),
        ({"min_prevalence": 0.9, "max_prevalence": 0.1}, "must be below max_prevalence"),
        ({"min_carriers": 0}, "min_carriers must be a whole number of at least 1"),
        ({"max_inputs": 0}, "max_inputs must be a whole number of at least 1"),
        ({"min_reference": 2}, "min_reference must be a whole number of at least 3"),
        ({"permutations": -1}, "permutations must be a whole number from 0 to 100000"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"seed": 10**20}, "seed must be a whole number from 0 to 4294967295, got 1000"),
        ({"permutations": 10**20}, "permutations must be a whole number from 0 to 100000, got"),
        ({"cutoff": -2}, "cutoff must be a number above 0"),
        ({"select": "variance"}, "--select must be auto, none, variance:N"),
        ({"select": "variance:0"}, "got 'variance:0'"),
        ({"select": "tci+"}, "got ''"),
    ],
)
def test_settings_that_cannot_be_meant(setting, words):
    with pytest.raises(InputError) as caught:
        PrepareSettings(**setting)
    assert words in str(caught.value)
