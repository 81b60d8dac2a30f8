"""Every command of the documentation is run on small tables, or is in NOT_RUN with the reason."""

import contextlib
import re
import shutil

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from pages import BLOCKS, PYTHON, ROOT, SHELL, split_commands

from gene_files import write_cells
from rinn.cli import run
from rinn.graphs.files import write_graph

# Pages whose commands are run here in their order, each page in a folder of its own.
QUICK = ("README.md", "docs/assumptions.md", "docs/experiments.md", "docs/gallery/README.md",
         "docs/real-data/hepatocytes.md", "docs/real-data/tumours.md",
         "docs/robustness.md")  # fmt: skip
SLOW = ("docs/cluster.md", "docs/comparison.md", "docs/confounders.md", "docs/install.md",
        "docs/outputs.md", "docs/priors.md", "docs/real-data/genetic-cross.md",
        "docs/tci.md")  # fmt: skip
# These two are run by tests of their own.
ELSEWHERE = ("docs/tutorial.md", "docs/using-a-graph.md")
# Commands that are only compared with the options that exist, by test_snippets.py.
NOT_RUN = {
    r"(python -m )?pip install .*|conda .*|docker .*|source .*|make .*": "changes the machine; "
    "make dist and tests/test_packaging.py install the package",
    r"python benchmarks/.*|suites=.*|.*/python docs/.*": "minutes to hours, or data of others; "
    "tests/benchmarks runs most scripts on little data",
    r"rinn reproduce .*": "hours; tests/paper runs it with a small budget",
    r"rinn robust prior .*": "needs a run with prior knowledge; tests/runs/test_robust.py has one",
    r"rinn fit .* local:gpus": "needs an NVIDIA GPU",
    r"rinn fit .* slurm.yaml": "needs SLURM; tests/cluster/test_slurm.py starts one",
    r"rinn fit .* tcp://host:8786|.*dask (scheduler|worker) .*": "needs a second machine; "
    "tests/cluster/test_connect.py starts a scheduler and workers here",
    r"python -c import jax; .*": "one line of another package",
}
# What a page leaves open, what it says in words, and what keeps a command short.
OPEN = {"RUN": "run", "X": "data/x.csv", "Y": "y.csv", "FILE": "batch.csv", "NAME": "batch",
        "GRAPH": "truth.json"}  # fmt: skip
MORE = {
    "rinn-compare": ["--limit", "20"],
    "rinn-robust-halves": ["--resamples", "1", "--covariates", "batch.csv"],
}


def find_reasons(words):
    return [why for one, why in NOT_RUN.items() if re.fullmatch(one, " ".join(words))]


@pytest.mark.parametrize(("block", "words"), SHELL, ids=lambda one: getattr(one, "where", None))
def test_every_command_is_run_or_says_why_not(block, words):
    page = str(block.page.relative_to(ROOT))
    assert page in (*QUICK, *SLOW, *ELSEWHERE) or find_reasons(words), f"{page}: {words}"


def test_every_reason_is_needed():
    said = {why for _, words in SHELL for why in find_reasons(words)}
    assert said == set(NOT_RUN.values())


def find_csv(page, start):
    """A table that a page shows."""
    return next(
        b.text for b in BLOCKS if b.page == ROOT / "docs" / page and b.text.startswith(start)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small tables under all the names that pages give to files of a user."""
    folder = tmp_path_factory.mktemp("user")
    rng = np.random.default_rng(0)
    inputs = ["TP53", "EGFR", "MYC", "KRAS", "BRAF", "PIK3CA"]
    outputs = ["CDKN1A", "GAPDH", "CDK4", "reads_MYC", "relapse", "BAX"]
    x = pd.DataFrame(rng.integers(0, 2, (120, 6)), columns=inputs)
    latent = x[["TP53", "EGFR", "MYC"]].sum(axis=1)
    y = pd.DataFrame({name: latent + 0.3 * rng.normal(size=120) for name in outputs})
    y["reads_MYC"] = rng.poisson(np.exp(latent))
    y["relapse"] = (latent > rng.normal(1.5, 0.5, 120)).astype(int)
    for names, table in {("x", "mutations"): x, ("y", "expression"): y}.items():
        for name in names:
            table.to_csv(folder / f"{name}.csv", index=False)
    tissues = pd.DataFrame({"tissue": ["lung", "brain"] * 60})
    for name in ("samples", "covariates"):
        tissues.rename(columns={"tissue": "cell"}).to_csv(folder / f"{name}.csv", index=False)
    samples = pd.Index([f"s{number}" for number in range(120)], name="sample")
    for name, table in {"mutation": x, "proteins": y.drop(columns="relapse")}.items():
        table.set_index(samples).to_csv(folder / f"{name}.csv")
    design = pd.DataFrame({"plate": rng.choice(["p1", "p2"], 120)}, index=samples)
    design[["EGF", "MEKi"]] = 10 * x[["TP53", "EGFR"]].to_numpy()
    design.to_csv(folder / "design.csv")
    shutil.copyfile(folder / "proteins.csv", folder / "expression.csv")
    (folder / "kinds.csv").write_text(find_csv("outputs.md", "output,kind"))
    (folder / "prior.csv").write_text(find_csv("priors.md", "statement,"))
    (folder / "pathways.gmt").write_text("P53\t\tTP53\tEGFR\tMYC\n")
    for name in ("interactions", "pkn"):
        (folder / f"{name}.sif").write_text("TP53\tacts\tCDKN1A\nEGFR\tacts\tCDK4\n")
    truth = nx.DiGraph([*((name, "L1") for name in x), *(("L1", name) for name in y)])
    for names, role in ((x, "input"), (["L1"], "latent"), (y, "output")):
        truth.add_nodes_from(names, role=role)
    write_graph(truth, folder / "truth.json")
    (folder / "map.csv").write_text("name,node,action\nMYC,TP53,inhibits\n")
    (folder / "cells.csv").write_text(
        "TR:EGF:Stimuli,TR:MEK:Inhibitors,DA:ERK,DV:ERK\n1,0,0,5\n1,0,30,400\n1,1,30,60\n0,1,30,9\n"
    )
    guides = ["KLF1_1", "NT"] * 40
    groups = ["1", "1", "2", "2"] * 20
    columns = {"guides": guides, "guide_identity": guides, "batch": groups, "gem_group": groups}
    write_cells(folder / "screen.h5ad", counts=rng.poisson(9, (80, 3)), **columns)
    return folder


def run_words(words, folder):
    """Run a command as the page has it; a folder that it fills is not there yet."""
    kind = "-".join(words[:3])
    words = [OPEN.get(word, word) for word in words]
    words += next((more for start, more in MORE.items() if kind.startswith(start)), [])
    if "--out" in words:
        out = words.index("--out") + 1
        words[out] = words[out].replace("DIR", kind)
        shutil.rmtree(folder / words[out], ignore_errors=True)
    if "poisson" in words:
        counts = np.random.default_rng(1).poisson(3, (120, 4))
        pd.DataFrame(counts, columns=list("abcd")).to_csv(folder / "y.csv", index=False)
    assert run(words[1:]) == 0, words


PAGES = [*QUICK, *(pytest.param(page, marks=pytest.mark.slow) for page in SLOW)]


@pytest.mark.filterwarnings("ignore:cores is 4")  # JAX has taken its threads before
@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page(page, folder, tiny_run, tmp_path, capsys):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shutil.copytree(tiny_run.folder, tmp_path / "runs" / "first")
    # A list of the forms of a command stands before the example whose files it takes here.
    blocks = [block for block in BLOCKS if block.page == ROOT / page]
    blocks.sort(key=lambda block: "RUN" in block.text)
    with contextlib.chdir(tmp_path):
        for block in blocks:
            if block.kind == "sh":
                capsys.readouterr()
                for words in split_commands(block.text):
                    if not find_reasons(words):
                        run_words(words, tmp_path)
            elif page == "docs/robustness.md" and block.kind == "python":
                exec(compile(block.text, block.where, "exec"), {})
            elif page == "docs/robustness.md":
                said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
                assert [line for line in block.text.splitlines() if line not in said] == []


def test_python_of_the_readme(folder, tmp_path):
    (block,) = [block for block in PYTHON if block.page == ROOT / "README.md"]
    names = {"X": pd.read_csv(folder / "x.csv"), "Y": pd.read_csv(folder / "y.csv")}
    names["Y"] = names["Y"].drop(columns=["reads_MYC", "relapse"])
    with contextlib.chdir(tmp_path):  # it writes a report and a run folder
        exec(compile(block.text, block.where, "exec"), names)
    assert names["model"].graph_.number_of_edges() > 5
