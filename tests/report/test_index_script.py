"""The index's script in a real browser: it sorts and filters, and names stay text."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape

import pytest

from rinn.report.index import read_card, render_index
from run_folders import make_scores, write_run

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Does what a reader does, and writes down what is then shown.
DRIVER = """
addEventListener("load", () => {
  const steps = STEPS, seen = [];
  const names = () => [...document.querySelectorAll("#runs > li")]
    .filter((run) => !run.hidden).map((run) => run.dataset.name);
  seen.push([names(), document.getElementById("count").textContent]);
  for (const [id, value, kind] of steps) {
    const control = document.getElementById(id);
    control.value = value;
    control.dispatchEvent(new Event(kind));
    seen.push([names(), document.getElementById("count").textContent]);
  }
  const shown = document.createElement("pre");
  shown.id = "seen";
  shown.textContent = JSON.stringify({ seen, hacked: window.hacked ?? false,
    tools: !document.getElementById("tools").hidden });
  document.body.append(shown);
});
"""


def find_browser():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        words = "no Chromium on the path: install it, as with 'apt-get install chromium'"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    return found


def drive(tmp_path, cards, steps):
    """Open the page with its script inside, take the steps, and give what was shown after each."""
    browser = find_browser()
    driver = f"<script>{DRIVER.replace('STEPS', json.dumps(steps))}</script></body>"
    page = re.sub("<meta http-equiv=[^>]*>", "", render_index("runs", cards))  # allows no driver
    path = tmp_path / "index.html"
    path.write_text(page.replace("</body>", driver), encoding="utf-8")
    words = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    words += [
        f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=3000",
        path.as_uri(),
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr
    return json.loads(unescape(found[1]))


def test_sorting_and_filtering(tmp_path):
    root = tmp_path.resolve() / "runs"
    hostile = "<img src=x onerror='hacked=1'>"
    for name, day, strategy, f1 in (
        ("run 10", "03", "rinn", 0.5),
        ("run 9", "01", "dm", 0.25),
        (hostile, "02", "rinn", 1.0),
    ):
        scores = make_scores()
        scores["graph"] |= {
            part: {"precision": value, "recall": value, "f1": value}
            for part, value in (("latents", f1), ("edges", 1 - f1))
        }
        write_run(
            root / name,
            created=f"2026-03-{day}T10:00:00",
            settings={"strategy": strategy},
            scores=scores,
        )
    write_run(root / "unfinished", status="running", created="2026-02-01T10:00:00", scores=None)
    cards = [read_card(root, (path.name,)) for path in sorted(root.iterdir())]
    found = drive(
        tmp_path,
        cards,
        [
            ("sort", "name", "change"),
            ("sort", "latents-f1", "change"),
            ("filter", "RUN dm", "input"),
            ("filter", "", "input"),
            ("strategy", "rinn", "change"),
            ("filter", "no such run", "input"),
        ],
    )
    assert found["tools"]
    assert not found["hacked"]
    assert found["seen"] == [
        [["run 10", hostile, "run 9", "unfinished"], "4 runs"],
        [[hostile, "run 9", "run 10", "unfinished"], "4 runs"],
        [[hostile, "run 10", "run 9", "unfinished"], "4 runs"],
        [["run 9"], "1 of 4 runs"],
        [[hostile, "run 10", "run 9", "unfinished"], "4 runs"],
        [[hostile, "run 10", "unfinished"], "3 of 4 runs"],
        [[], "0 of 4 runs"],
    ]
