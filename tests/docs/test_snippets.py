"""Every command and piece of Python in the documentation is checked, and most of it is run."""

import ast
import contextlib
import importlib
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from pages import PAGES, ROOT, read_blocks, split_commands
from typer.main import get_command

from rinn.cli import run
from rinn.cli.commands import app

COMMANDS = get_command(app).commands
OPTIONS = {name: {word for p in one.params for word in (*p.opts, *p.secondary_opts)} | {"--help"}
           for name, one in COMMANDS.items()}  # fmt: skip
BLOCKS = [block for page in PAGES for block in read_blocks(page)]
SHELL = [(block, words) for block in BLOCKS if block.kind == "sh"
         for words in split_commands(block.text)]  # fmt: skip
PYTHON = [block for block in BLOCKS if block.kind == "python"]
SCRIPTS = "".join(file.read_text(encoding="utf-8") for file in ROOT.glob("benchmarks/*.py"))
# Options of benchmarks, and of other programs that pages name.
FOREIGN = {*re.findall(r'"(--[a-z-]+)"', SCRIPTS), "--build-arg", "--gpus", "--version",
           "--install-completion"}  # fmt: skip
RINN = re.compile(r"(?:.*/)?rinn")


def parse(words):
    """Read a command as `rinn` would, without running it."""
    assert words[0] in COMMANDS, f"there is no command {words[0]}"
    command = COMMANDS[words[0]]
    parser = command.make_parser(command.context_class(command, info_name=words[0]))
    values, rest, _ = parser.parse_args(args=list(words[1:]))
    assert not rest, f"{rest} are too many"
    for parameter in command.params:
        assert not parameter.required or values.get(parameter.name), f"{parameter.name} is missing"


@pytest.mark.parametrize("words", [words for _, words in SHELL if RINN.fullmatch(words[0])],
                         ids=lambda words: " ".join(words[1:])[:60])  # fmt: skip
def test_the_options_of_every_command_exist(words):
    parse(words[1:])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "x.csv", "y.csv"], "out is missing"),
        (["fit", "x.csv", "y.csv", "z.csv", "--out", "run"], "too many"),
        (["fits", "x.csv"], "no command fits"),
    ],
)
def test_a_wrong_command_is_noticed(words, message):
    with pytest.raises(AssertionError, match=message):
        parse(words)


def test_an_option_that_is_not_there_is_noticed():
    with pytest.raises(Exception, match="--nul"):
        parse(["fit", "x.csv", "y.csv", "--out", "run", "--nul", "3"])


# The changelog tells of options that are gone.
@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"],
                         ids=lambda page: str(page.relative_to(ROOT)))  # fmt: skip
def test_commands_and_options_in_sentences_exist(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    every = set().union(*OPTIONS.values()) | FOREIGN
    for code in (" ".join(found.split()) for found in re.findall(r"`([^`]+)`", text)):
        program, *words = code.split()
        options = {word.split("=")[0] for word in words if word.startswith("--")}
        if program == "rinn" and words and words[0] in COMMANDS:
            assert options <= OPTIONS[words[0]], code
        elif re.fullmatch(r"--[a-z][a-z-]*", program):
            assert program in every, code


def test_commands_stand_in_blocks_of_the_shell():
    wrong = [b.where for b in BLOCKS if not b.kind and re.search(r"^(\S*/)?rinn ", b.text, re.M)]
    assert wrong == []


@pytest.mark.parametrize("block", [block for block, words in SHELL if words[0].endswith("python")],
                         ids=lambda block: block.where)  # fmt: skip
def test_scripts_and_their_options_exist(block):
    for words in split_commands(block.text):
        if words[0].endswith("python") and words[1].endswith(".py"):
            assert (ROOT / words[1]).is_file()
            options = [word for word in words[2:] if word.startswith("--")]
            assert all(f'"{one}"' in SCRIPTS or f'"{one[2:]}"' in SCRIPTS for one in options), words


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.where)
def test_python_is_python_and_its_names_are_there(block):
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "rinn":
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), block.where


def find_csv(page, start):
    """A table that a page shows."""
    return next(b.text for b in read_blocks(ROOT / page) if b.text.startswith(start))


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
    tissues = pd.DataFrame({"tissue": rng.choice(["lung", "brain"], 120)})
    for name in ("samples", "covariates"):
        tissues.to_csv(folder / f"{name}.csv", index=False)
    (folder / "kinds.csv").write_text(find_csv("docs/outputs.md", "output,kind"))
    (folder / "prior.csv").write_text(find_csv("docs/priors.md", "statement,"))
    (folder / "pathways.gmt").write_text("P53\t\tTP53\tEGFR\tMYC\n")
    (folder / "interactions.sif").write_text("TP53\tacts\tCDKN1A\nEGFR\tacts\tCDK4\n")
    return folder


USER_PAGES = ("README.md", "docs/confounders.md", "docs/outputs.md", "docs/priors.md",
              "docs/install.md")  # fmt: skip
OF_USERS = [
    (block, words[1:])
    for block, words in SHELL
    if str(block.page.relative_to(ROOT)) in USER_PAGES and RINN.fullmatch(words[0])
]


def id_of(value):
    return value.where if hasattr(value, "where") else " ".join(value)[:50]


@pytest.mark.slow
@pytest.mark.parametrize(("block", "words"), OF_USERS, ids=id_of)
def test_commands_on_tables_of_a_user(block, words, folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    if "poisson" in words:
        counts = np.random.default_rng(1).poisson(3, (120, 4))
        pd.DataFrame(counts, columns=list("abcd")).to_csv(tmp_path / "y.csv", index=False)
    with contextlib.chdir(tmp_path):
        assert run(words) == 0


def test_python_of_the_readme(folder, tmp_path):
    (block,) = [block for block in PYTHON if block.page == ROOT / "README.md"]
    names = {"X": pd.read_csv(folder / "x.csv"), "Y": pd.read_csv(folder / "y.csv")}
    names["Y"] = names["Y"].drop(columns=["reads_MYC", "relapse"])
    with contextlib.chdir(tmp_path):  # it writes a report and a run folder
        exec(compile(block.text, block.where, "exec"), names)
    assert names["model"].graph_.number_of_edges() > 5
