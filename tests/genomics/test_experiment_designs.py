"""Designs, MIDAS files and what is made of them: doses, baselines, replicates, times."""

import json

import numpy as np
import pandas as pd
import pytest

from gene_files import write
from rinn.cli import run
from rinn.data.align import load_data
from rinn.errors import InputError
from rinn.genomics.experiments.arrange import arrange, scale_doses
from rinn.genomics.experiments.run import prepare_experiment, read_experiment
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources

# Two stimuli and an inhibitor in two cell lines. At time 0 only the inhibitor has been given.
MIDAS = """TR:HepG2:CellLine,TR:PHH:CellLine,TR:IL6:Stimuli,TR:INS:Stimuli,TR:MEK:Inhibitors,\
TR:NOINHIB:Inhibitors,DA:AKT,DA:MEK,DV:AKT,DV:MEK
1,0,0,0,0,1,0,0,100,200
1,0,0,0,1,0,0,0,100,50
1,0,1,0,0,1,30,30,110,210
1,0,0,1,1,0,30,30,400,60
1,0,1,0,0,1,180,180,120,NaN
0,1,0,0,0,1,0,0,500,300
0,1,,1,0,1,30,30,900,310
"""
WIDE = "sample,plate,minutes,note,MEKi,EGF\na,p1,0,x,0,0\nb,p1,30,x,0.1,10\nc,p2,30,y,,10\n"
LONG = (
    "sample,plate,treatment,dose\n"
    "a,p1,DMSO,\nb,p1,MEKi,0.1\nb,p1,EGF,10\nc,p2,EGF,10\nd,p2,MEKi+EGF,0.4+20\n"
)
HOSTILE = "<img src=x onerror=alert(1)>"
MEASURED = "sample,pERK,pAKT\na,1,2\nb,3,4\nc,5,\nd,7,8\n"


def design(tmp_path, text=WIDE, measured=MEASURED):
    return ExperimentSources(
        design=write(tmp_path / "design.csv", text),
        measurements=write(tmp_path / "measured.csv", measured),
    )


def midas(tmp_path, text=MIDAS):
    return ExperimentSources(midas=write(tmp_path / "midas.csv", text))


def make(sources, **settings):
    chosen = ExperimentSettings(**settings)
    return arrange(read_experiment(sources, chosen), chosen)


def test_midas_becomes_inputs_outputs_cells_and_times(tmp_path):
    made = make(midas(tmp_path), log="no")
    assert list(made.x) == ["IL6", "INS", "MEKi"]  # an inhibitor of MEK is not the output MEK
    assert made.x.to_numpy().tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert made.y["AKT"].tolist() == [110, 400, 120, 900]
    assert made.y["MEK"].isna().tolist() == [False, False, True, False]
    assert made.covariates["cell"].tolist() == ["HepG2", "HepG2", "HepG2", "PHH"]
    assert made.covariates["time"].tolist() == ["t30", "t30", "t180", "t30"]
    said = [str(entry) for log in made.logs for entry in log.entries]
    assert any("3 samples: at time 0, before any effect" in line for line in said)
    assert any("inhibitors: given before time 0 ('MEKi')" in line for line in said)
    assert made.inputs.set_index("input").loc["INS", "samples"] == 2


def test_the_start_is_that_of_the_same_cells_and_inhibitors(tmp_path):
    made = make(midas(tmp_path), log="no", baseline="time-0", time_unit="min")
    # INS with the inhibitor is compared with the inhibitor alone, of the same cells
    assert made.y["AKT"].tolist() == [10, 300, 20, 400]
    assert made.y["MEK"].fillna(-1).tolist() == [10, 10, -1, 10]
    assert made.covariates["time"].tolist() == ["t30min", "t30min", "t180min", "t30min"]


def test_times_can_be_outputs(tmp_path):
    made = make(midas(tmp_path), log="no", time="outputs", time_unit="min")
    assert list(made.y) == ["AKT@30min", "AKT@180min", "MEK@30min"]  # nothing is left of MEK@180
    assert made.y["AKT@30min"].tolist() == [110, 400, 900]
    assert made.y["AKT@180min"].fillna(-1).tolist() == [120, -1, -1]
    assert made.x.to_numpy().tolist() == [[1, 0, 0], [0, 1, 1], [0, 1, 0]]
    assert list(made.covariates) == ["cell"]


def test_large_values_are_logged_and_stated(tmp_path):
    made = make(midas(tmp_path))
    assert made.y["AKT"].tolist() == pytest.approx(np.log2([111, 401, 121, 901]))
    assert any("log2(x + 1) is taken" in str(log) for log in made.logs)


def test_wide_and_long_designs_agree(tmp_path):
    wide = make(design(tmp_path), covariate_columns=("plate",), time_column="minutes", log="no")
    assert wide.x.to_dict("list") == {"MEKi": [0.1, 0.0], "EGF": [10, 10]}  # a is time 0
    assert list(wide.covariates) == ["plate"]  # 30 minutes in both
    assert any("empty: not given" in str(log) for log in wide.logs)
    assert any("no option names them ('note')" in str(log) for log in wide.logs)
    long = make(design(tmp_path, LONG), covariate_columns=("plate",), log="no")
    assert long.x.loc[["b", "c"]].to_dict("list") == wide.x.to_dict("list")
    assert long.x.loc["d"].to_dict() == {"MEKi": 0.4, "EGF": 20}
    assert not long.x.loc["a"].any()  # DMSO
    assert long.y.loc["d"].tolist() == [7, 8]


def test_doses_are_levels():
    levels = pd.DataFrame({"a": [0.0, 0.1, -0.3], "b": [0.0, 0.0, 5.0]})
    assert scale_doses(levels, "linear").equals(levels)
    assert scale_doses(levels, "binary").to_numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert scale_doses(levels, "log")["a"].tolist() == [0, 1, -2]  # log2(1 + 3), and its sign


def test_controls_of_the_same_block_are_subtracted(tmp_path):
    text = "id,drug,plate\na,vehicle,p1\nb,D,p1\nc,sugar,p2\nd,D,p2\n"
    made = make(
        design(tmp_path, text),
        baseline="controls",
        covariate_columns=("plate",),
        controls=("Sugar",),
    )
    assert list(made.x) == ["D"]
    assert made.y["pERK"].tolist() == [0, 2, 0, 2]
    with pytest.raises(InputError, match=r"controls must find samples without treatment.*'c'"):
        make(
            design(tmp_path, text.replace("sugar", "D")),
            baseline="controls",
            covariate_columns=("plate",),
        )


def test_replicates_are_kept_or_averaged(tmp_path):
    text = "sample,D\na,0\nb,1\nc,0\nd,1\n"
    assert len(make(design(tmp_path, text)).x) == 4
    made = make(design(tmp_path, text), replicates="mean")
    assert made.x["D"].tolist() == [0, 1]
    assert made.y.to_numpy().tolist() == [[3, 2], [5, 6]]  # c has no pAKT
    best = make(design(tmp_path, text), max_outputs=1)
    assert list(best.y) == ["pAKT"]


def test_measurements_may_have_samples_in_columns(tmp_path):
    turned = "protein,a,b,c\npERK,1,3,5\npAKT,2,4,6\n"
    made = make(design(tmp_path, LONG, turned))
    assert made.y.loc["b"].tolist() == [3, 4]
    assert any("without measurements ('d')" in str(log) for log in made.logs)


def test_treatments_that_cannot_be_told_apart_are_named(tmp_path):
    made = make(design(tmp_path, "sample,D,E\na,1,1\nb,2,2\nc,1,1\nd,2,2\n"))
    said = " ".join(made.warnings)
    assert "given at the same levels in the same samples ('D', 'E')" in said
    assert "No sample is without treatment" in said
    assert "Too few samples: rinn fit needs at least 10, and there are 4" in said


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("sample,D\n", {}, "must have a row for each sample, but has none"),
        ("sample,who\na,x\nb,y\n", {}, "must have a column of numbers for each treatment"),
        (WIDE, {"treatments": ("note",)}, "--treatments must be columns of numbers .* 'note' has"),
        (WIDE, {"treatments": ("MEK",)}, "--treatments must name a column of the design"),
        (WIDE, {"covariate_columns": ("plat",)}, "--covariate-columns must name a column of the"),
        (WIDE, {"time_column": "note"}, "the time of each sample .* must be a number, but 'x'"),
        (WIDE, {"baseline": "time-0"}, "--baseline time-0 needs samples at time 0"),
        (LONG + "b,p1,EGF,3\n", {}, "must give a sample each treatment once, but 'b' has 'EGF' 2"),
        (LONG + "b,p9,X,3\n", {"covariate_columns": ("plate",)}, "must have one value of 'plate'"),
        (LONG + "e,p1,X+Y,1+2+3\n", {}, "one for each of its 2 parts, but line 7 has '1\\+2\\+3'"),
        (LONG + "e,p1,X,high\n", {}, "must be a number, or one for each of its 1 parts"),
        ("sample,treatment\na,DMSO\nb,\n", {}, "labels must name a perturbed gene"),
        ("sample,D\na,0\nb,0\nc,0\nd,0\n", {}, "X must have a treatment that some samples"),
        ("sample,D\nq,0\n", {}, "must have samples of the design, but shares none with it: 'q'"),
        ("D,E\n0,1\n1,0\n", {}, "must have sample ids in its first column, but that is called 'D'"),
        ("sample,D\na,1\na,0\n", {}, "must have each sample once"),
    ],
)  # fmt: skip
def test_designs_that_cannot_be_read_are_refused(tmp_path, text, settings, message):
    with pytest.raises(InputError, match=message):
        make(design(tmp_path, text), **settings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("DV:", "XX:", "columns that begin with TR:, DA: and DV:, but none begins with 'DV:'"),
        ("30,30,110", "30,10,110", "one time in each row, but the DA: columns of line 4 have 10"),
        ("30,30,110", "30,30,much", "must hold numbers, but column 'DV:AKT' has 'much' in line 4"),
        ("1,0,0,1,1,0", "1,1,0,1,1,0", "must name one cell line in each row, but line 5 has 2"),
        ("1,0,0,0,1,0,0,0,100,50\n", "", "must find each sample's treatments at time 0"),
    ],
)  # fmt: skip
def test_midas_files_that_cannot_be_read_are_refused(tmp_path, old, new, message):
    assert old in MIDAS
    with pytest.raises(InputError, match=message):
        make(midas(tmp_path, MIDAS.replace(old, new)), baseline="time-0")


def test_measurements_without_ids_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"measured.csv\) must have sample ids in its first"):
        make(design(tmp_path, WIDE, "pERK,pAKT\n1,2\n3,4\n"))


def test_sources_must_be_one_experiment(tmp_path):
    for given in ({}, {"midas": tmp_path, "perturb_seq": tmp_path}):
        with pytest.raises(InputError, match="one of --design, --midas and --perturb-seq must be"):
            ExperimentSources(**given)
    with pytest.raises(InputError, match="--design and --measurements must be given together"):
        ExperimentSources(design=tmp_path)


def test_the_command_writes_a_folder_that_fit_reads(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [[f"s{n}", "ab"[n % 2], n % 3 == 0, 0.1 * (n % 4)] for n in range(60)]
    text = "\n".join([f"sample,batch,{HOSTILE},MEKi", *(",".join(map(str, row)) for row in rows)])
    values = rng.normal(size=(60, 2))
    lines = [f"s{n},{a},{b}" for n, (a, b) in enumerate(values)]
    sources = design(tmp_path, text, "\n".join(["sample,pERK,pAKT", *lines]))
    out = tmp_path / "out"
    words = ["experiment", "--design", str(sources.design), "--out", str(out)]
    words += [
        "--measurements",
        str(sources.measurements),
        "--covariate-columns",
        "batch",
        "--dose",
        "log",
    ]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "60 samples, 2 inputs, 2 outputs" in said
    assert f"--covariates {out / 'covariates.csv'}" in said.replace("\n", "")
    data = load_data(out / "x.csv", out / "y.csv", out / "covariates.csv")
    assert data.inputs == (HOSTILE, "MEKi")
    assert sorted(set(data.x[:, 1])) == pytest.approx([0, 1, np.log2(3), 2], abs=1e-5)
    assert data.covariates.names == ("batch",)
    page = (out / "summary.html").read_text()
    assert "60 samples, 2 inputs, 2 outputs" in page
    assert HOSTILE not in page
    assert "&lt;img src=x" in page
    manifest = json.loads((out / "prepare.json").read_text())
    assert manifest["summary"]["samples"] == 60
    assert set(manifest["sources"]) == {"design", "measurements"}
    assert run(words) == 0  # the same again
    assert "made before" in capsys.readouterr().out
    assert run([*words, "--replicates", "mean"]) == 2
    assert prepare_experiment(sources, tmp_path / "plain").prepared.covariates is None
