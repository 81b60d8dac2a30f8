"""Install the lowest versions that pyproject.toml allows, on the oldest Python, and use them.

uv resolves them, so that the bounds are tested and not only the pins of constraints.txt.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = tuple(f"tests/{name}.py" for name in ("data/test_tables", "graphs/test_graph_files"))


def run(*words: object, **options: object) -> None:
    """Run a program; end with its exit code where it fails."""
    print("+", *words, flush=True)
    code = subprocess.run([str(word) for word in words], **options).returncode
    if code:
        sys.exit(code)


def main() -> None:
    """Install, run the demo and a few tests."""
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv")
    with tempfile.TemporaryDirectory() as work:
        home = Path(work) / "env"
        python = home / "bin" / "python"
        run(sys.executable, "-m", "venv", home)
        lowest = ("--resolution", "lowest-direct", f"{ROOT}[parquet,h5ad]")
        run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *lowest)
        run(sys.executable, "-m", "uv", "pip", "list", "--python", python)
        run(home / "bin" / "rinn", "demo", "--out", Path(work) / "demo", cwd=work)
        extra = ("pytest", "hypothesis", "pytest-xdist")
        run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *extra)
        # old packages warn of newer ones
        options = ("-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning")
        run(python, "-m", "pytest", *options, *TESTS, cwd=ROOT)


if __name__ == "__main__":
    main()
