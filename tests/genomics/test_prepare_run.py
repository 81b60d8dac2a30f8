"""From files to a folder, the whole way."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cohort_files import GENES, NORMALS, PATIENTS, TUMOURS, write_cohort
from gene_files import META, maf_text, matrix_text, write, write_h5ad
from hostile_names import HOSTILE
from rinn.cli import run
from rinn.data.align import load_data
from rinn.data.log import ReadLog
from rinn.errors import InputError
from rinn.genomics.prepare.prepare import prepare_tables
from rinn.genomics.prepare.run import prepare
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.prepare.sources import read_sources

FILES = {
    ".rinn.lock",
    "log.json",
    "inputs.csv",
    "outputs.csv",
    "prepare.json",
    "summary.html",
    "x.csv",
    "y.csv",
}


@pytest.fixture
def cohort(tmp_path):
    return write_cohort(tmp_path / "files")


def make(cohort, out, without=(), **settings):
    sources = Sources(**{name: path for name, path in cohort.items() if name not in without})
    return prepare(sources, Path(out), PrepareSettings(**settings))


def read_table(folder, name):
    return pd.read_csv(folder / name, index_col=0)


def test_the_whole_way_with_exact_counts(cohort, tmp_path):
    out = tmp_path / "out"
    found = make(cohort, out, tissue_column="site", covariate_columns=("age", "sex"))
    x, y = read_table(out, "x.csv"), read_table(out, "y.csv")
    # 59 and 60 were not sequenced; 14 to 58 were, without a mutation
    assert list(x.index) == list(y.index) == TUMOURS[:58]
    assert x.sum().to_dict() == {"TP53": 12, "CDKN2A": 10, "EGFR": 10, "KRAS": 6}
    assert x["EGFR"].to_numpy().nonzero()[0].tolist() == list(range(9, 19))
    assert set(y) == set(GENES)
    assert (y["EGFR"][9:19] == 0).all()
    covariates = read_table(out, "covariates.csv")
    assert covariates["tissue"].value_counts().to_dict() == {"brain": 40, "lung": 18}
    assert covariates["age"].iloc[3] == pytest.approx(
        np.median([40 + i for i in range(58) if i != 3])
    )
    assert list(covariates) == ["tissue", "age"]  # all are men
    assert found.manifest["summary"]["tissues"] == {"brain": 40, "lung": 18}
    logs = json.loads((out / "log.json").read_text())["logs"]
    entries = [entry for one in logs for entry in ReadLog.from_dict(one).entries]
    assert ("of expression, not in mutations", ("TCGA-02-0059-01", "TCGA-02-0060-01")) in [
        (entry.reason, entry.names) for entry in entries
    ]
    assert any(entry.names == ("sex",) and entry.action == "dropped" for entry in entries)
    assert {path.name for path in out.iterdir()} == FILES | {"covariates.csv"}
    data = load_data(out / "x.csv", out / "y.csv")
    assert data.x.shape == (58, 4)
    assert data.y.shape == (58, 4)


def test_the_reference_decides_y(cohort, tmp_path):
    values = pd.read_csv(cohort["expression"], sep="\t", index_col=0).T
    normals = values.loc[NORMALS]
    how = {"tissue_column": "Site", "min_reference": 10, "select": "none"}
    make(cohort, tmp_path / "n", reference="normals", y_kind="binary", min_prevalence=0, **how)
    y = read_table(tmp_path / "n", "y.csv")
    z = (values["MYC"][TUMOURS[:40]] - normals["MYC"].mean()) / normals["MYC"].std()
    assert y["MYC"][:40].tolist() == (z.abs() >= 2.81).astype(int).tolist()
    warned = json.loads((tmp_path / "n" / "prepare.json").read_text())["summary"]["warnings"]
    assert any("In 1 of 2 tissues the reference has too few" in word for word in warned)
    make(cohort, tmp_path / "d", reference="diploid", **how)
    y = read_table(tmp_path / "d", "y.csv")
    diploid = values["EGFR"][[*TUMOURS[:9], *TUMOURS[19:40]]]
    assert y["EGFR"].iloc[0] == pytest.approx(
        (values["EGFR"].iloc[0] - diploid.mean()) / diploid.std(), rel=1e-5
    )


def test_tumours_that_were_not_sequenced_are_dropped_or_known_by_copy_number(cohort, tmp_path):
    make(cohort, tmp_path / "all", unsequenced="copy-number")
    x = read_table(tmp_path / "all", "x.csv")
    assert len(x) == 60
    assert x["TP53"].sum() == 12
    assert x.loc[TUMOURS[58]].sum() == 0
    page = (tmp_path / "all" / "summary.html").read_text()
    assert "not sequenced: copy number alone" in page
    assert "Tumours that were not sequenced count as without mutation." in page
    # Without a list only tumours in the MAF are known: 13 of them.
    with pytest.raises(
        InputError, match=r"at least 50 tumours .* but 13 are left; .*with --sequenced"
    ):
        make(cohort, tmp_path / "few", without=["sequenced"])
    with pytest.raises(InputError, match="--unsequenced copy-number must come with mutations and"):
        make(cohort, tmp_path / "no", without=["copy_number"], unsequenced="copy-number")


def test_warnings_say_what_is_missing(cohort, tmp_path):
    found = make(cohort, tmp_path / "a", without=["copy_number"])
    words = " ".join(found.manifest["summary"]["warnings"])
    for part in ("58 samples are few", "No tissue was given", "There is no copy number"):
        assert part in words
    alone = make(cohort, tmp_path / "b", without=["maf"])
    words = " ".join(alone.manifest["summary"]["warnings"])
    assert "X is copy number alone" in words
    assert "There is no copy number" not in words


def test_equal_inputs_and_sex_are_warned_of(cohort, tmp_path):
    cohort = write_cohort(tmp_path / "sex", gene="XIST")
    text = cohort["copy_number"].read_text()
    row = next(line for line in text.splitlines() if line.startswith("EGFR"))
    cohort["copy_number"].write_text(text + row.replace("EGFR", "SEC61G") + "\n")
    words = " ".join(make(cohort, tmp_path / "a").manifest["summary"]["warnings"])
    assert "2 inputs have the same tumours as another ('EGFR', 'SEC61G')" in words
    assert "1 outputs depend on sex ('XIST')" in words
    assert "--exclude XIST" in words
    less = make(cohort, tmp_path / "b", exclude=("XIST", "SEC61G")).manifest["summary"]
    assert less["inputs"] == 4
    assert less["outputs"] == 3
    assert not any("women" in word or "same tumours" in word for word in less["warnings"])


def test_the_same_in_the_same_out(cohort, tmp_path):
    def sums(folder):
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}

    how = {"tissue_column": "Site", "select": "tci", "min_tumours": 5, "min_degs": 1,
           "permutations": 3, "y_kind": "binary", "min_prevalence": 0.0}  # fmt: skip
    first = make(cohort, tmp_path / "a", **how)
    make(cohort, tmp_path / "b", **how)
    assert sums(tmp_path / "a") == sums(tmp_path / "b")
    again = make(cohort, tmp_path / "a", **how)
    assert first.prepared is not None
    assert again.prepared is None
    assert again.manifest == first.manifest
    assert "TCI chose the columns" in " ".join(first.manifest["summary"]["warnings"])


def test_nothing_is_overwritten(cohort, tmp_path):
    out = tmp_path / "out"
    make(cohort, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError, match=r"made with other min_carriers \(5, now 4\)"):
        make(cohort, out, min_carriers=4)
    cohort["sequenced"].write_text("\n".join(TUMOURS[:57]))
    with pytest.raises(InputError, match=r"made with other sources \(sequenced\)"):
        make(cohort, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    other = tmp_path / "other"
    write(other / "thesis.txt", "mine")
    with pytest.raises(InputError, match=r"holds other files \(such as 'thesis\.txt'\)"):
        make(cohort, other)
    with pytest.raises(InputError, match="is a file; choose another name"):
        make(cohort, other / "thesis.txt")
    with pytest.raises(InputError, match="--out must be a folder that can be written"):
        make(cohort, other / "thesis.txt" / "in")
    (out / "prepare.json").write_text("{")
    with pytest.raises(InputError, match=r"has no readable prepare\.json"):
        make(cohort, out)


def test_a_folder_that_was_not_finished_is_finished(cohort, tmp_path):
    out = tmp_path / "out"
    make(cohort, out)
    manifest = json.loads((out / "prepare.json").read_text())
    (out / "prepare.json").write_text(json.dumps(manifest | {"status": "running"}))
    (out / "x.csv").unlink()
    (out / ".rinn-0123456789abcdef.part").write_text("half")
    make(cohort, out)
    assert len(read_table(out, "x.csv")) == 58
    assert {path.name for path in out.iterdir()} == FILES


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}


def test_hostile_names_stay_text_in_the_page(tmp_path):
    names = [f"s{i} <b>" for i in range(60)]
    rng = np.random.default_rng(0)
    evil = list(HOSTILE.values())[:4]
    x = pd.DataFrame(rng.integers(0, 2, (60, 4)), index=names, columns=evil)
    y = pd.DataFrame(rng.normal(size=(60, 4)), index=names, columns=[f"{n}!" for n in evil])
    tissues = pd.DataFrame({"tissue": ["<script>alert(9)</script>", "</style>"] * 30}, index=names)
    paths = {}
    for name, table in (("mutations", x), ("expression", y), ("clinical", tissues)):
        paths[name] = tmp_path / f"{name} <img src=x>.csv"
        table.to_csv(paths[name], index_label="sample")
    prepare(Sources(**paths), tmp_path / "out", PrepareSettings(tissue_column="tissue"))
    page = (tmp_path / "out" / "summary.html").read_text()
    elements = _Elements()
    elements.feed(page)
    assert not elements.tags & {"script", "img", "b", "iframe"}
    assert not any(name.startswith("on") for name in elements.attributes)
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "&lt;SCRIPT&gt;ALERT(1)" in page
    assert "&lt;/style&gt;" in page
    assert re.search(r"(src|href)=\"(?!#|data:,\")", page) is None


def test_a_study_folder_is_enough(tmp_path):
    study = tmp_path / "study"
    profiles = (
        ("MUTATION_EXTENDED", "MAF", "mutations", "data_mutations.txt"),
        ("COPY_NUMBER_ALTERATION", "DISCRETE", "gistic", "data_cna.txt"),
        ("MRNA_EXPRESSION", "CONTINUOUS", "rna", "data_rna.txt"),
        ("MRNA_EXPRESSION", "Z-SCORE", "rna_z", "data_rna_z.txt"),
    )
    for fields in profiles:
        write(study / f"meta_{fields[2]}.txt", META.format(*fields))
    rng = np.random.default_rng(0)
    rows = [("TP53", "Missense_Mutation", name) for name in TUMOURS[:9]]
    write(study / "data_mutations.txt", maf_text(rows))
    write(study / "data_cna.txt", matrix_text(("Hugo_Symbol",), TUMOURS,
                                              [("EGFR", *([2] * 7 + [0] * 53))]))  # fmt: skip
    counts = rng.integers(0, 4000, (2, 60))
    genes = [("MYC", *counts[0]), ("JUN", *counts[1])]
    write(study / "data_rna.txt", matrix_text(("Hugo_Symbol",), TUMOURS, genes))
    genes = [("MYC", *rng.normal(size=60).round(3))]
    write(study / "data_rna_z.txt", matrix_text(("Hugo_Symbol",), TUMOURS, genes))
    write(
        study / "case_lists" / "cases_sequenced.txt",
        f"stable_id: t_sequenced\ncase_list_ids: {chr(9).join(TUMOURS)}\n",
    )
    rows = "".join(f"{p}\t{t}\t{'ab'[i % 2]}\n" for i, (p, t) in
                   enumerate(zip(PATIENTS, TUMOURS, strict=True)))  # fmt: skip
    write(study / "data_clinical_sample.txt", f"PATIENT_ID\tSAMPLE_ID\tSUBTYPE\n{rows}")
    settings = PrepareSettings(covariate_columns=("subtype",))
    found = prepare(Sources(study=study), tmp_path / "out", settings)
    x = read_table(tmp_path / "out", "x.csv")
    assert x.sum().to_dict() == {"TP53": 9, "EGFR": 7}
    assert len(x) == 60
    assert found.manifest["summary"]["covariates"] == ["SUBTYPE"]
    page = (tmp_path / "out" / "summary.html").read_text()
    assert "log2(x + 1) is taken" in page
    assert "data_rna.txt" in page
    z = prepare(Sources(study=study), tmp_path / "z", PrepareSettings(reference="none"))
    assert z.manifest["summary"]["outputs"] == 1
    with pytest.raises(InputError, match="--reference must be none where expression is z-scores"):
        prepare(Sources(study=study, expression_profile="rna_z"), tmp_path / "no")
    write(study / "case_lists" / "cases_sequenced.txt",
          f"stable_id: t_sequenced\ncase_list_ids: {chr(9).join(TUMOURS[:59])}\n")  # fmt: skip
    with pytest.raises(InputError, match=r"made with other sources \(study\)"):
        prepare(Sources(study=study), tmp_path / "out", settings)
    (study / "meta_rna.txt").unlink()
    with pytest.raises(InputError, match="has only z-scores; pass --reference none"):
        prepare(Sources(study=study), tmp_path / "no")
    (study / "meta_rna_z.txt").unlink()
    with pytest.raises(InputError, match="but has none; name a file with --expression"):
        prepare(Sources(study=study), tmp_path / "no")


def test_normals_from_a_file_of_their_own(cohort, tmp_path):
    values = pd.read_csv(cohort["expression"], sep="\t", index_col=0)
    values[NORMALS].rename_axis("sample").to_csv(tmp_path / "normals.tsv", sep="\t")
    values[TUMOURS].rename_axis("sample").to_csv(tmp_path / "tumours.tsv", sep="\t")
    own = cohort | {"expression": tmp_path / "tumours.tsv", "normals": tmp_path / "normals.tsv"}
    make(cohort, tmp_path / "a", reference="normals")
    make(own, tmp_path / "b", reference="normals")
    assert (tmp_path / "a" / "y.csv").read_bytes() == (tmp_path / "b" / "y.csv").read_bytes()
    with pytest.raises(InputError, match="must come with normal samples, but the expression table"):
        make({**own}, tmp_path / "c", without=["normals"], reference="normals")
    with pytest.raises(
        InputError, match="must have tumours, but all of its 12 samples are normals"
    ):
        make(own | {"expression": tmp_path / "normals.tsv"}, tmp_path / "c", without=["normals"])
    (values[NORMALS] * 100).rename_axis("sample").to_csv(tmp_path / "counts.tsv", sep="\t")
    with pytest.raises(InputError, match="must have the scale of the tumours"):
        make(own | {"normals": tmp_path / "counts.tsv"}, tmp_path / "c")
    values[NORMALS].rename(index=lambda name: f"{name}X").rename_axis("sample").to_csv(
        tmp_path / "other.tsv", sep="\t"
    )
    with pytest.raises(InputError, match="shares none with it; write the gene names the same way"):
        make(own | {"normals": tmp_path / "other.tsv"}, tmp_path / "c")


def test_normals_of_an_unknown_tissue_are_dropped(cohort, tmp_path):
    text = cohort["clinical"].read_text().replace("TCGA-02-0001\tbrain", "TCGA-02-0001\tNA")
    cohort["clinical"].write_text(text)
    found = make(cohort, tmp_path / "a", reference="normals", tissue_column="Site")
    logs = found.prepared.logs
    lost = {entry.what: entry.names for one in logs for entry in one.entries
            if entry.reason == "without a tissue"}  # fmt: skip
    assert lost == {"samples": ("TCGA-02-0001-01",), "normals": ("TCGA-02-0001-11",)}
    assert len(found.prepared.x) == 57


def test_tables_of_mutations_and_a_list_of_sequenced(cohort, tmp_path):
    table = pd.DataFrame({"TP53": [1] * 12 + [0] * 48}, index=TUMOURS)
    table.to_csv(tmp_path / "m.csv", index_label="sample")
    own = {name: path for name, path in cohort.items() if name not in ("maf", "copy_number")}
    own["mutations"] = tmp_path / "m.csv"
    found = make(own, tmp_path / "a")
    assert len(found.prepared.x) == 58
    assert found.prepared.x["TP53"].sum() == 12
    table.T.to_csv(tmp_path / "m.tsv", sep="\t", index_label="sample")
    xena = make(own | {"mutations": tmp_path / "m.tsv"}, tmp_path / "b")
    assert xena.prepared.x["TP53"].sum() == 12
    own["sequenced"].write_text("TCGA-99-0001-01\n")
    with pytest.raises(InputError, match=r"--sequenced .* must name samples of .* names none"):
        make(own, tmp_path / "c")
    (table * 3).to_csv(tmp_path / "m.csv", index_label="sample")
    with pytest.raises(InputError, match="must hold 0 and 1, but holds other numbers"):
        make(own, tmp_path / "c")


def test_tables_by_their_names(cohort, tmp_path):
    values = pd.read_csv(cohort["expression"], sep="\t", index_col=0)
    values.T.to_csv(tmp_path / "e.csv", index_label="sample")
    gct = "\n".join(["#1.2", f"4\t{values.shape[1]}", "\t".join(["NAME", "Description",
                     *values.columns]), *("\t".join([name, "na", *map(str, row)])
                     for name, row in values.iterrows())])  # fmt: skip
    write(tmp_path / "e.gct", gct + "\n")
    levels = pd.read_csv(cohort["copy_number"], sep="\t").drop(columns=["Locus ID", "Cytoband"])
    levels = levels.rename(columns={"Gene Symbol": "sample"}).set_index("sample")
    levels.to_csv(tmp_path / "c.tsv", sep="\t")
    levels.T.to_csv(tmp_path / "c.csv", index_label="sample")
    levels.rename_axis(None).to_csv(tmp_path / "turned.csv")
    values.rename_axis(None).rename_axis(None, axis=1).to_csv(tmp_path / "e-turned.csv")
    values.rename_axis(None).rename_axis(None, axis=1).to_csv(tmp_path / "e-turned.tsv", sep="\t")
    (tmp_path / "levels.tsv").write_bytes(cohort["copy_number"].read_bytes())
    (tmp_path / "e.txt").write_bytes((tmp_path / "e.gct").read_bytes())
    make(cohort, tmp_path / "a")
    for number, more in enumerate(
        ({"expression": "e.csv"}, {"expression": "e.gct"}, {"copy_number": "c.tsv"},
         {"copy_number": "c.csv"}, {"copy_number": "turned.csv"}, {"copy_number": "levels.tsv"},
         {"expression": "e-turned.csv"}, {"expression": "e-turned.tsv"}, {"expression": "e.txt"})
    ):  # fmt: skip
        named = {name: tmp_path / path for name, path in more.items()}
        make(cohort | named, tmp_path / f"b{number}")
        for name in ("x.csv", "y.csv"):
            ours = (tmp_path / "a" / name).read_bytes()
            assert (tmp_path / f"b{number}" / name).read_bytes() == ours
    with pytest.raises(InputError, match="must hold expression, but its format is gistic"):
        make(cohort | {"expression": cohort["copy_number"]}, tmp_path / "c")
    text = cohort["copy_number"].read_text().replace("\t2", "\t0.7")
    cohort["copy_number"].write_text(text)
    with pytest.raises(InputError, match=r"must hold levels from -2 to 2, but holds 0\.7"):
        make(cohort, tmp_path / "c")


def test_h5ad_is_read_and_too_small(cohort, tmp_path):
    write_h5ad(tmp_path / "cells.h5ad")
    sources = Sources(mutations=tmp_path / "m.csv", expression=tmp_path / "cells.h5ad")
    pd.DataFrame({"TP53": [1, 0]}, index=["AAC-1", "GGT-1"]).to_csv(
        tmp_path / "m.csv", index_label="sample"
    )
    with pytest.raises(InputError, match="at least 50 tumours to learn from, but 2 are left; add"):
        prepare(sources, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_several_tumours_of_a_patient(cohort, tmp_path):
    sources = Sources(**{name: cohort[name] for name in ("copy_number", "expression")})
    readings = read_sources(sources, PrepareSettings())
    table = readings.expression.table
    more = table.iloc[:1].set_axis(["TCGA-02-0001-06"])
    levels = readings.copy_number.table
    second = levels.iloc[:1].set_axis(["TCGA-02-0001-06"])
    readings = replace(
        readings,
        expression=replace(readings.expression, table=pd.concat([table, more])),
        copy_number=replace(readings.copy_number, table=pd.concat([levels, second])),
    )
    assert len(prepare_tables(readings, PrepareSettings()).x) == 60
    assert len(prepare_tables(readings, PrepareSettings(all_samples=True)).x) == 61


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--maf", "{maf}"], "Y must come from expression, but neither --expression nor --study"),
        (["--expression", "{expression}"], "X must come from mutations or copy number"),
        (
            ["--maf", "{maf}", "--mutations", "{maf}", "--expression", "{expression}"],
            "mutations must come from one file",
        ),
        (
            ["--maf", "{maf}", "--expression", "{expression}", "--expression-format", "excel"],
            "expression_format must be one of auto, xena",
        ),
        (
            ["--maf", "{maf}", "--expression", "{expression}", "--expression-profile", "rna"],
            "--expression-profile needs --study",
        ),
        (
            ["--maf", "{maf}", "--expression", "{expression}", "--tissue-column", "t"],
            "there is none for 't'; name it with --clinical",
        ),
        (
            ["--maf", "{maf}", "--expression", "{expression}", "--clinical", "{clinical}",
             "--tissue-column", "tissu"],
            "--tissue-column must name a column of the clinical table, but 'tissu' is none",
        ),
        (["--maf", "{maf}", "--expression", "none.tsv"], "(none.tsv) must be an existing"),
        (["--study", "nowhere"], "must be an existing folder"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence_and_nothing_is_written(
    cohort, tmp_path, monkeypatch, capsys, words, message
):
    monkeypatch.chdir(tmp_path)
    arguments = [word.format(**cohort) for word in words]
    assert run(["prepare", *arguments, "--out", "out"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_did_and_what_is_next(cohort, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(cohort["expression"], "e.tsv")
    words = ["prepare", "--maf", str(cohort["maf"]), "--sequenced", str(cohort["sequenced"])]
    words += ["--expression", "e.tsv", "--clinical", str(cohort["clinical"])]
    words += ["--tissue-column", "Site", "--covariate-columns", "age,site", "--out", "out"]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "wrote out: 58 tumours, 2 inputs, 4 outputs, 2 tissues" in said
    assert "next: rinn fit out/x.csv out/y.csv --covariates out/covariates.csv --out run" in said
    assert "noted" in said
    assert "Small data: 58 samples are few" in said
    assert run(words) == 0
    assert "made before: out" in capsys.readouterr().out
    assert run([*words, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
