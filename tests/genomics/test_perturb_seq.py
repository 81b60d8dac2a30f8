"""Perturb-seq: guides to inputs, counts to outputs, by pseudo-bulk and by cells."""

import h5py
import numpy as np
import pytest

from gene_files import COUNTS, write_cells
from rinn.cli import run
from rinn.data.align import load_data
from rinn.errors import InputError
from rinn.genomics.experiments.arrange import arrange
from rinn.genomics.experiments.run import read_experiment
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.readers.h5ad import load_h5ad


def make(path, **settings):
    chosen = ExperimentSettings(**{"guides": ("guide",), "min_cells": 1, **settings})
    return arrange(read_experiment(ExperimentSources(perturb_seq=path), chosen), chosen)


@pytest.mark.parametrize("sparse", [False, True])
def test_pseudobulks_are_sums_of_guide_and_batch(tmp_path, sparse):
    path = write_cells(tmp_path / "a.h5ad", sparse=sparse)
    made = make(path, merge_guides=True, covariate_columns=("batch",), log="no")
    assert list(made.x) == ["KLF1", "BAK1"]
    assert list(made.x.index) == [
        "KLF1_1#1", "BAK1_1+KLF1_2#1", "non-targeting_7#1", "NT#1", "KLF1_1#2", "NT#2",
    ]  # fmt: skip
    assert made.x.to_numpy().tolist() == [[1, 0], [1, 1], [0, 0], [0, 0], [1, 0], [0, 0]]
    assert made.covariates["batch"].tolist() == ["r1", "r1", "r1", "r1", "r2", "r2"]
    # totals 20, 10, 10, 20, 10, 10; median 10
    assert made.y.to_dict("list") == {"G0": [3, 1, 5, 3, 0, 5], "G1": [7, 9, 5, 7, 10, 5]}
    said = "\n".join(map(str, made.logs))
    assert "1 cells: without a guide" in said
    assert "1 genes: without any count" in said
    assert "3 cells: controls" in said


def test_guides_of_one_gene_are_inputs_of_their_own_unless_merged(tmp_path):
    path = write_cells(tmp_path / "a.h5ad")
    made = make(path, controls=("non-targeting_7",), log="no")
    assert list(made.x) == ["KLF1_1", "BAK1_1", "KLF1_2"]
    assert len(made.x) == 4  # without the batch, both of KLF1_1 are one
    split = make(path, controls=("non-targeting_7",), replicate_column="batch")
    assert len(split.x) == 6
    assert split.covariates is None
    names = ["NKX2-1", "NKX2-1-sg2", "NKX2-1_3", "KLF1.g1", "KLF1", "ctrl", "ctrl", ""]
    merged = make(write_cells(tmp_path / "b.h5ad", guides=names), merge_guides=True)
    assert list(merged.x) == ["NKX2-1", "KLF1"]


def test_cells_can_be_samples(tmp_path):
    more = {"second": ["", "BAK1", "", "", "", "", "", ""]}
    path = write_cells(tmp_path / "a.h5ad", **more)
    made = make(path, guides=("guide", "second"), unit="cells", merge_guides=True)
    assert list(made.x.index) == [f"c{n}" for n in range(7)]
    assert made.x.loc["c1"].to_dict() == {"KLF1": 1, "BAK1": 1}
    assert made.y.loc["c4"].tolist() == pytest.approx(np.log2([4, 8]))  # 6 and 14 of 20, as of 10
    assert make(path, unit="cells", max_outputs=1).y.shape == (7, 1)
    whole = make(path, guides=("guide", "second"), unit="cells", separators="")
    assert "KLF1_2+BAK1_1" in whole.x  # not split, and two columns are two guides
    assert whole.x.loc["c1"].sum() == 2


def test_values_that_are_no_counts_are_averaged(tmp_path):
    path = write_cells(tmp_path / "a.h5ad", counts=COUNTS - 0.5)
    made = make(path, merge_guides=True)
    assert made.y.loc["KLF1_1#1"].tolist() == pytest.approx([1.5, 7.5, -0.5])
    assert any("no counts: as written, mean over cells" in str(log) for log in made.logs)


def test_small_pseudobulks_are_left_out(tmp_path):
    path = write_cells(tmp_path / "a.h5ad")
    made = make(path, min_cells=2, merge_guides=True)
    assert list(made.x.index) == ["KLF1_1#1", "NT#1"]
    with pytest.raises(InputError, match="pseudo-bulks of at least 9 cells, but the largest has 3"):
        make(path, min_cells=9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"guides": ()}, "--guides must name the columns of obs .* 'batch', 'guide'"),
        ({"guides": ("guid",)}, "--guides must name a column of obs, but 'guid' is none"),
        ({"covariate_columns": ("age",)}, "--covariate-columns must name a column of obs"),
        ({"replicate_column": "rep"}, "--replicate-column must name a column of the table"),
        ({"time_column": "batch"}, "the time of each sample in --perturb-seq"),
        ({"layer": "raw"}, "layer must be in h5ad"),
    ],
)
def test_wrong_settings_are_refused(tmp_path, settings, message):
    with pytest.raises(InputError, match=message):
        make(write_cells(tmp_path / "a.h5ad"), **settings)


def test_cells_without_guides_or_counts_are_refused(tmp_path):
    with pytest.raises(InputError, match="must have cells with a guide, but 'guide' is empty"):
        make(write_cells(tmp_path / "a.h5ad", guides=[""] * 8))
    with pytest.raises(InputError, match="must have counts in each sample, but 'c0' has none"):
        make(write_cells(tmp_path / "b.h5ad", counts=COUNTS * (COUNTS[:, :1] != 2)), unit="cells")
    with pytest.raises(InputError, match="groups must have an entry for each of the 8 cells"):
        load_h5ad(tmp_path / "b.h5ad", groups=["a"])


def test_the_command_writes_what_fit_reads(tmp_path):
    rng = np.random.default_rng(1)
    path, cells = tmp_path / "many.h5ad", 60
    guides = rng.choice(["A_1", "A_2", "B_1", "NT"], cells)
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file["X"] = rng.poisson(5, (cells, 4))
        file.create_group("obs").create_dataset("guide", data=list(guides), dtype=text)
        file["obs"].create_dataset("_index", data=[f"c{n}" for n in range(cells)], dtype=text)
        file.create_group("var").create_dataset("_index", data=list("wxyz"), dtype=text)
    out = tmp_path / "out"
    words = ["experiment", "--perturb-seq", str(path), "--guides", "guide", "--unit", "cells"]
    assert run([*words, "--merge-guides", "--out", str(out)]) == 0
    data = load_data(out / "x.csv", out / "y.csv")
    assert set(data.inputs) == {"A", "B"}
    assert data.y.shape == (60, 4)
