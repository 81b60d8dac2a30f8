"""The report: one HTML file, one module per section."""
