"""Run folders: written, locked, resumed, read, scored, and put into sentences."""
