"""Run folders in a browser: one run's report, or an index of many runs side by side."""

from rinn.viewing.server import ViewServer, open_server

__all__ = ["ViewServer", "open_server"]
