"""Small data are warned of, on the terminal and in the report."""

import json

import numpy as np
import pandas as pd
import pytest

from rinn.cautions import warn_of_size
from rinn.cli import run


@pytest.mark.parametrize(
    ("samples", "inputs", "words"),
    [
        (84, 14, "84 samples are few (fewer than 200)"),
        (84, 306, "84 samples are fewer than the 306 inputs"),
        (500, 634, "500 samples are fewer than the 634 inputs"),
        (199, 3, "199 samples are few"),
    ],
)
def test_few_samples_are_warned_of(samples, inputs, words):
    warned = warn_of_size(samples, inputs)
    assert words in warned
    assert warned.startswith("Small data: ")
    assert warned.endswith(".")


@pytest.mark.parametrize(("samples", "inputs"), [(200, 14), (634, 634), (5000, 634)])
def test_enough_samples_are_not(samples, inputs):
    assert warn_of_size(samples, inputs) is None


def test_a_fit_says_it_on_the_terminal_and_in_the_report(tmp_path, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(0, 2, (80, 2)), columns=["a", "b"]).to_csv(
        tmp_path / "x.csv", index=False
    )
    pd.DataFrame(rng.normal(size=(80, 3)), columns=list("vwx")).to_csv(
        tmp_path / "y.csv", index=False
    )
    words = ["fit", f"{tmp_path / 'x.csv'}", f"{tmp_path / 'y.csv'}", "--out", f"{tmp_path / 'r'}"]
    assert run([*words, "--trials", "4", "--epochs", "2", "--device", "cpu"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Small data: 80 samples are few" in said
    page = tmp_path / "r" / "report.html"
    assert '<p class="careful">Small data: 80 samples are few' in page.read_text()
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    manifest["tables"]["samples"] = 5000
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(manifest))
    assert run(["report", f"{tmp_path / 'r'}"]) == 0
    assert "Small data" not in page.read_text()
