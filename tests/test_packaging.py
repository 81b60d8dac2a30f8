"""Metadata, recipe, container and workflows say the same as pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest

import rinn

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
EXTRA = re.compile(r"(?:\.|rinn|/src)\[([a-z0-9,]+)\]")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert rinn.__version__ == version
    assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.M) == [version]
    assert re.findall(r'set version = "(.+)"', read("recipe/meta.yaml")) == [version]


def test_the_recipe_has_the_dependencies_and_bounds():
    (run,) = re.findall(r"^  run:\n((?:    - .+\n)+)", read("recipe/meta.yaml"), re.M)
    found = {line.strip()[2:] for line in run.splitlines()}
    wanted = {f"python {PROJECT['requires-python']}"}
    for dependency in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([a-z0-9-]+)(.*)", dependency).groups()
        wanted.add(f"{CONDA_NAMES.get(name, name)} {bound}")
    assert found == wanted


def test_every_extra_that_is_named_exists():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "Makefile"]
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob(".ci/*"), ROOT / "pyproject.toml"]
    for file in (*pages, *sources):
        for names in EXTRA.findall(file.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= set(PROJECT["optional-dependencies"]), (file, names)
    (default,) = re.findall(r"^ARG EXTRAS=(.+)$", read("Dockerfile"), re.M)
    assert set(default.split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_container_copies_what_is_there_and_not_left_out():
    left_out = read(".dockerignore").split()
    for line in re.findall(r"^COPY (.+)$", read("Dockerfile"), re.M):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists()
            assert name not in left_out


def test_workflows_call_targets_of_make():
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.M)
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for target in re.findall(r"run: make (\S+)", file.read_text(encoding="utf-8")):
            assert target in targets, file.name


def test_yaml_files_are_yaml():
    yaml = pytest.importorskip("yaml")
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]
    for file in (*files, ROOT / "CITATION.cff"):
        assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict)


def test_the_tested_versions_of_python_are_classified():
    tested = re.findall(r'"(3\.\d+)"', read(".github/workflows/test.yml").split("steps")[0])
    named = [c.split(" :: ")[-1] for c in PROJECT["classifiers"] if ":: Python :: 3." in c]
    assert tested == named
