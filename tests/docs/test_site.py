"""The site is built strictly: every link and anchor leads somewhere, and nothing is fetched."""

import os
import re
import subprocess
import sys

import pytest
from pages import PAGES, ROOT

from rinn import __all__ as public

OUTSIDE = re.compile(
    r"""(?:<(?:script|img|iframe)\b[^>]*\bsrc|<link\b[^>]*\bhref)=["']?https?:[^"' >]+"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def test_every_page_and_public_name_is_there_and_nothing_is_fetched(site):
    for page in PAGES:
        if page.is_relative_to(ROOT / "docs"):
            name = page.relative_to(ROOT / "docs").with_suffix(".html")
            assert (site / str(name).replace("README", "index")).is_file()
    reference = (site / "api.html").read_text(encoding="utf-8")
    assert [n for n in public if n != "__version__" and f'id="rinn.{n}"' not in reference] == []
    assert all(
        f'id="rinn.RINN.{name}"' in reference for name in ("fit", "predict", "report", "load")
    )
    for file in site.rglob("*.html"):
        assert OUTSIDE.findall(file.read_text(encoding="utf-8")) == [], file
