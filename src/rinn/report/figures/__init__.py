"""Figures for papers: `..._info` says what is shown, `plot_...` draws it, outside of pyplot."""
