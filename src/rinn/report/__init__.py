"""Run folder to one HTML file."""

from pathlib import Path


def write_report(folder: Path) -> None:
    """Placeholder."""
