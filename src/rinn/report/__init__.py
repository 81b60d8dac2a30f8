"""Run folder to one HTML file."""

from rinn.report.page import write_report

__all__ = ["write_report"]
