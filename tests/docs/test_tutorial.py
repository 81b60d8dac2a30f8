"""The tutorial is run as it stands: every block, in its order, in an empty folder."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pages

TUTORIAL = pages.ROOT / "docs" / "tutorial.md"
KINDS = {"sh", "python", "text", "text example"}


def read_blocks():
    return pages.read_blocks(TUTORIAL)


def run_shell(text):
    """Run commands with the `rinn` of this environment."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    env = os.environ | {"PATH": os.pathsep.join(places), "COLUMNS": "100"}
    done = subprocess.run(["sh", "-ec", text], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_python(text, names, line):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, f"{TUTORIAL.name}:{line}", "exec"), names)
    return printed.getvalue()


def run_all(folder):
    """Run every block in a folder; gives what each printed."""
    names, printed = {}, []
    with contextlib.chdir(folder):
        for block in read_blocks():
            if block.kind == "sh":
                printed.append(run_shell(block.text))
            elif block.kind == "python":
                printed.append(run_python(block.text, names, block.line))
            else:
                printed.append(None)
    return printed


def test_there_is_nothing_else_in_fences():
    blocks = read_blocks()
    assert {block.kind for block in blocks} == KINDS
    assert TUTORIAL.read_text(encoding="utf-8").count("```") == 2 * len(blocks)


def test_it_does_what_it_says(tmp_path):
    """One test, so that the tutorial is run once also where tests are shared out."""
    printed, blocks = run_all(tmp_path), read_blocks()
    check_quotes(printed, blocks)
    check_files(tmp_path)
    scored = [
        text for text, block in zip(printed, blocks, strict=True) if "rinn score" in block.text
    ]
    assert re.search(r"graph, latents .*1\.00 .*1\.00 .*1\.00", scored[0])


def check_quotes(printed, blocks):
    """What is quoted is what was printed; examples may differ in their shares."""
    quoted = [place for place, block in enumerate(blocks) if block.kind.startswith("text")]
    assert len(quoted) == 5
    for place in quoted:
        found, said = printed[place - 1], blocks[place].text
        if blocks[place].kind == "text example":
            found, said = (re.sub(r"\d+%", "N%", text) for text in (found, said))
        assert found == said, f"line {blocks[place].line}"


def check_files(folder):
    for name in (
        "data/truth.json",
        "runs/first/report.html",
        "runs/first/graph.cx2",
        "figures/graph.svg",
        "graph.png",
    ):
        assert name in TUTORIAL.read_text(encoding="utf-8")
        assert (folder / name).stat().st_size > 500


def test_every_python_block_that_prints_is_quoted():
    blocks = read_blocks()
    for place, block in enumerate(blocks):
        if block.kind == "python" and "print(" in block.text:
            assert blocks[place + 1].kind.startswith("text"), f"line {block.line}"
        if block.kind.startswith("text"):
            assert blocks[place - 1].kind == "python", f"line {block.line} quotes nothing"


def test_the_other_documents_it_names_exist():
    for name in re.findall(r"\]\(([^)#]+)\)", TUTORIAL.read_text(encoding="utf-8")):
        assert (TUTORIAL.parent / name).is_file()
