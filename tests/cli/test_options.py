"""Options of commands are the fields of the records of settings."""

import dataclasses
import os
import subprocess
import sys

import pytest
import typer

from rinn.cli import run
from rinn.cli.commands import app
from rinn.cli.fit import PriorFiles
from rinn.cli.options import split_commas, with_settings
from rinn.cli.simulate import Parameters
from rinn.config import RunSettings, Settings, setting
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.tci.settings import TciSettings

COMMANDS = typer.main.get_command(app).commands


def find_options(command):
    return {each.name: each for each in COMMANDS[command].params}


def read_help(capsys, *words):
    """The sections of a help text by their headings."""
    assert run([*words, "-h"]) == 0
    sections, title = {}, ""
    for line in capsys.readouterr().out.splitlines():
        if line and not line.startswith(" "):
            title = line.rstrip(":")
        else:
            sections.setdefault(title, []).append(line.strip())
    return sections


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples_that_can_be_read(command, capsys):
    sections = read_help(capsys, command)
    *_, last = sections
    assert last == "Examples"
    for line in filter(None, sections["Examples"]):
        name, word, *words = line.split()
        assert (name, word) == ("rinn", command)
        COMMANDS[command].make_context(word, words)  # refuses unknown options, and too few


def test_options_are_under_headings(capsys):
    sections = read_help(capsys, "fit")
    headings = ["Networks", "Chance and stability", "Graph", "Prior knowledge", "Machine"]
    assert [title for title in sections if title in headings] == headings
    assert any(line.startswith("--bootstraps") for line in sections["Chance and stability"])
    for field in dataclasses.fields(RunSettings):
        if "help" in field.metadata and field.name not in ("strategy", "seed"):
            assert field.metadata["group"] in headings


def test_prepare_has_five_main_options(capsys):
    sections = read_help(capsys, "prepare")
    main = [line.split()[0] for line in sections["Options"] if line.startswith("-")]
    assert main == ["--out", "--maf", "--copy-number", "--expression", "--study", "--quiet", "-h,"]
    others = [title for title in sections if title.startswith("Advanced: ")]
    assert len(others) == 5


def test_the_overview_has_whole_sentences_of_all_commands(capsys):
    sections = read_help(capsys)
    said = " ".join(" ".join(lines) for lines in sections.values())
    for name, command in COMMANDS.items():
        assert f"{name} " in said
        assert " ".join(command.help.split("\n\n")[0].split()) in " ".join(said.split())
    assert {"Learn", "Data", "Results", "Use a graph"} <= sections.keys()


def test_a_shell_completes_commands_and_options():
    env = os.environ | {
        "_RINN_COMPLETE": "complete_bash",
        "COMP_WORDS": "rinn fi",
        "COMP_CWORD": "1",
    }
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'rinn'; import rinn.cli as c; c.main()",
    ]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["fit"]
    env |= {"COMP_WORDS": "rinn fit --boot", "COMP_CWORD": "2"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["--bootstraps"]


@pytest.mark.parametrize(
    ("command", "record"),
    [
        ("fit", RunSettings),
        ("fit", PriorFiles),
        ("prepare", Sources),
        ("prepare", PrepareSettings),
        ("experiment", ExperimentSources),
        ("experiment", ExperimentSettings),
        ("tci", TciSettings),
        ("simulate", Parameters),
    ],
)
def test_every_field_with_help_is_an_option(command, record):
    options = find_options(command)
    for field in dataclasses.fields(record):
        assert ("help" in field.metadata) == (field.name in options)
        if field.name in options:
            default = "" if field.default == () else field.default
            assert options[field.name].help == field.metadata["help"]
            assert options[field.name].default == default
            assert options[field.name].opts == [f"--{field.name.replace('_', '-')}"]


def test_only_the_named_fields_of_the_demo():
    assert {"seed", "trials"} <= find_options("demo").keys()
    assert "epochs" not in find_options("demo")


@dataclasses.dataclass(frozen=True)
class Example(Settings):
    names: tuple[str, ...] = setting((), "Names.")
    on: bool = setting(True, "On.")
    off: bool = setting(False, "Off.")
    hidden: int = setting(3, minimum=1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Example()),
        (["--names", "a, b,", "--no-on", "--off"], Example(("a", "b"), on=False, off=True)),
    ],
)
def test_record_is_made_from_the_arguments(arguments, expected):
    made = []

    @with_settings()
    def command(settings: Example) -> None:
        made.append(settings)

    one = typer.Typer()
    one.command()(command)
    one(arguments, standalone_mode=False)
    assert made == [expected]


def test_commas():
    assert split_commas(" a,b , ,c") == ("a", "b", "c")


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_one_table_cannot_be_both(command, tmp_path, refuse):
    (tmp_path / "y.csv").write_text("a,b\n1,2\n")
    words = (command, tmp_path / "y.csv", f"{tmp_path}/./y.csv", "--out", tmp_path / "run")
    assert "X and Y must be two tables, but both are" in refuse(*words)
    assert not (tmp_path / "run").exists()


def test_wrong_options_point_to_the_help(refuse):
    assert refuse("fit", "--verbos").endswith("; see 'rinn fit --help'.\n")
    assert refuse("--verbos").endswith("; see 'rinn --help'.\n")
    assert "help" not in refuse("fti")  # it names a command that is spelled similarly


def test_usage_has_no_braces(capsys):
    for command, usage in (("fit", "[OPTIONS] X Y"), ("robust", "[OPTIONS] ANALYSIS RUN [X] [Y]")):
        assert run([command, "-h"]) == 0
        assert capsys.readouterr().out.splitlines()[0] == f"Usage: rinn {command} {usage}"
