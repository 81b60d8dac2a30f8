"""The pages of the documentation, and the blocks of code in them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>.*)\n(?P<text>(?:.*\n)*?)(?P=indent)```$", re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    kind: str
    text: str
    line: int

    @property
    def where(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def read_blocks(page):
    content = page.read_text(encoding="utf-8")
    return [
        Block(page, found["kind"], found["text"], content[: found.start()].count("\n") + 1)
        for found in FENCE.finditer(content)
    ]


def split_commands(text):
    """The words of each command of a shell block, without comments."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


BLOCKS = [block for page in PAGES for block in read_blocks(page)]
PYTHON = [block for block in BLOCKS if block.kind == "python"]
SHELL = [
    (block, words) for block in BLOCKS if block.kind == "sh" for words in split_commands(block.text)
]
