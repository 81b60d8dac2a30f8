"""Run folder to one HTML file."""
