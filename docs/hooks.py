"""Pages of the site that are made from the project itself.

`commands.md` holds the help of each command, `api.md` the public names, `contributing.md` and
`changelog.md` are files of the repository, and notebooks are rendered with the outputs they hold.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "rinn" / "__init__.pyi"
SECTIONS = {
    "estimators": "Estimators",
    "fit": "Fit files",
    "config": "Settings",
    "data": "Tables",
    "graphs": "Graphs",
    "structure": "Structure and prior knowledge",
    "refit": "The graph as a model",
    "runs": "Run folders",
    "simulate": "Simulation",
    "report": "Reports and figures",
    "compare": "Comparisons",
    "genomics": "Genomics",
    "errors": "Errors",
}
EXITS = (
    "Exit codes: 0 done; 2 something in your input or on your disk is wrong, and one sentence says "
    "what; 1 anything else; 130 after Ctrl-C, 143 after SIGTERM."
)
COPIES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/, and turn notebooks into pages."""
    for page, source in COPIES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "commands.md", content=list_commands()))
    for file in [each for each in files if each.src_uri.endswith(".ipynb")]:
        page = file.src_uri.replace(".ipynb", ".md")
        notebook = json.loads(file.content_string)
        files.append(File.generated(config, page, content=render_notebook(notebook, file.name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the public names in their place."""
    return markdown.replace("<!-- names -->", list_names()) if page.file.name == "api" else markdown


def list_commands() -> str:
    """The help of each command, in the order of `rinn --help`."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from rinn.cli.commands import app

    runner, parts = CliRunner(), ["# Commands", "What `--help` prints for each command.", EXITS]
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        said = runner.invoke(app, [name, "--help"], terminal_width=80, env={"COLUMNS": "80"})
        usage = said.stdout.replace("Usage: root", "Usage: rinn").strip()
        parts += [f"## rinn {name}", f"```text\n{usage}\n```"]
    return "\n\n".join(parts) + "\n"


def list_names() -> str:
    """A section for each package that holds public names; RINN with its inherited methods."""
    found = re.findall(r"^from rinn\.(\w+)\S* import (\w+) as", STUB.read_text("utf-8"), re.M)
    parts, left = [], {room for room, _ in found}
    for room, heading in SECTIONS.items():
        names = sorted((name for home, name in found if home == room), key=lambda n: n != "RINN")
        parts += [f"## {heading}", *(_show(name) for name in names)] if names else []
        left.discard(room)
    if left:
        raise KeyError(f"docs/hooks.py has no section for {', '.join(sorted(left))}")
    return "\n\n".join(parts)


def _show(name: str) -> str:
    methods = "\n    options:\n      inherited_members: true" if name == "RINN" else ""
    return f"::: rinn.{name}{methods}"


def render_notebook(notebook: dict[str, Any], name: str) -> str:
    """A notebook as Markdown, with a link to the file."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_render_output(output) for output in cell["outputs"]]
    title, *rest = parts
    return "\n\n".join([title, f"[Download this notebook]({name}.ipynb)", *rest]) + "\n"


def _render_output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        content = base64.b64encode(base64.b64decode(data["image/png"])).decode()
        return f"![Output of the cell](data:image/png;base64,{content})"
    if "text/html" in data:
        return "\n".join(["<div>", "".join(data["text/html"]), "</div>"])
    text = "".join(output.get("text", data.get("text/plain", [])))
    return f"```text\n{text.rstrip()}\n```"
