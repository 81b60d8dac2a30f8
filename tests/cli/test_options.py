"""Options of commands are the fields of the records of settings."""

import dataclasses

import pytest
import typer

from rinn.cli.commands import app
from rinn.cli.fit import PriorFiles
from rinn.cli.options import split_commas, with_settings
from rinn.cli.simulate import Parameters
from rinn.config import RunSettings, Settings, setting
from rinn.genomics.experiments.settings import ExperimentSettings, ExperimentSources
from rinn.genomics.prepare.settings import PrepareSettings, Sources
from rinn.genomics.tci.settings import TciSettings


def find_options(command):
    commands = typer.main.get_command(app).commands
    return {each.name: each for each in commands[command].params}


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
