"""Every command and piece of Python in the documentation is there; test_commands.py runs it."""

import ast
import importlib
import re

import pytest
from pages import BLOCKS, PAGES, PYTHON, ROOT, SHELL, split_commands
from typer.main import get_command

from rinn.cli.commands import app

COMMANDS = get_command(app).commands
OPTIONS = {name: {word for p in one.params for word in (*p.opts, *p.secondary_opts)} | {"--help"}
           for name, one in COMMANDS.items()}  # fmt: skip
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
