"""Whether people who do not see well, or use no mouse, can use a report: axe-core in Chromium.

axe-core comes from npm into a folder that is removed afterwards. The page is looked at in light and
dark, at desktop and phone width, as it opens, and with all edges shown, a card open and another
network looked into. The exit code is 1 if a finding is serious or critical.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = {"desktop": 1280, "phone": 390}
GRAVE = ("serious", "critical")


def main(arguments: list[str] | None = None) -> int:
    """Check every page in every look; print one line for each look and each finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, help="report.html of runs")
    parser.add_argument("--axe", default="axe-core", help="the package, with a version if wanted")
    options = parser.parse_args(arguments)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        parser.error("there must be a Chromium on the path; install it, for example with apt-get")
    grave = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        axe = fetch_axe(Path(folder), options.axe)
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for page in options.pages:
            for look, findings in check_page(browser, page, axe):
                print(f"{page.parent.name}/{page.name}, {look}: {len(findings)} findings")
                for finding in findings:
                    grave += finding["impact"] in GRAVE
                    _show(finding)
        browser.close()
    print(f"serious or critical: {grave}")
    return 1 if grave else 0


def fetch_axe(folder: Path, package: str) -> Path:
    """Get axe-core from npm, and nothing that it might run."""
    subprocess.run(
        ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", package],
        cwd=folder,
        check=True,
    )
    return folder / "node_modules" / "axe-core" / "axe.min.js"


def check_page(
    browser: Browser, path: Path, axe: Path
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run axe-core on a page in every look."""
    for scheme in ("light", "dark"):
        for device, width in WIDTHS.items():
            # The page's own rules would not let a stranger's script in.
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            page.goto(path.resolve().as_uri())
            page.add_script_tag(path=axe)
            yield f"{scheme}, {device}, as it opens", _run(page)
            _use(page)
            yield f"{scheme}, {device}, in use", _run(page)
            context.close()


def _use(page: Page) -> None:
    slider = page.locator("#slider")
    if slider.count():
        slider.evaluate("(it) => { it.value = 0; it.dispatchEvent(new Event('input')); }")
    latents = page.locator("#graph .node.latent")
    if latents.count():
        latents.first.focus()
        page.keyboard.press("Enter")
    if page.locator("#net").count():
        page.locator("#net").select_option(index=1)
    page.wait_for_timeout(400)


def _run(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run()).violations")
    return found


def _show(finding: dict[str, Any]) -> None:
    print(f"  {finding['impact']}: {finding['id']}: {finding['help']}")
    for node in finding["nodes"][:3]:
        print(
            f"    {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1]}"
        )


if __name__ == "__main__":
    sys.exit(main())
