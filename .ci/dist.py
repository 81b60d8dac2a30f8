"""Build wheel and sdist, check their metadata, and run the demo from each in an empty environment.

Prints how long a plain install takes and how large it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def run(*words: object, **options: object) -> None:
    """Run a program; end with its exit code where it fails."""
    print("+", *words, flush=True)
    code = subprocess.run([str(word) for word in words], **options).returncode
    if code:
        sys.exit(code)


def try_package(package: Path, work: Path) -> None:
    """Install a package without extras in an environment of its own, and run the demo."""
    home = work / package.name
    run(sys.executable, "-m", "venv", home)
    empty, started = measure(home), time.monotonic()
    pip = (home / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "-c", ROOT / "constraints.txt", package)
    seconds, size = time.monotonic() - started, measure(home) - empty
    run(home / "bin" / "rinn", "demo", "--out", work / f"{package.name}-demo", cwd=work)
    print(f"{package.name}: installed in {seconds:.0f} s, {size / 1e6:.0f} MB; the demo ran")


def measure(folder: Path) -> int:
    """The bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if not file.is_symlink())


def main() -> None:
    """Build, check and try both packages."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    packages = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *packages)
    with tempfile.TemporaryDirectory() as work:
        for package in packages:
            try_package(package, Path(work))


if __name__ == "__main__":
    main()
