"""Run folders to look at: the report, figures for papers, an index of many runs."""
