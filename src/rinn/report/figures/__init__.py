"""Figures for papers: `..._info` computes what a figure shows, `plot_...` draws and returns it.

No figure touches Matplotlib's global style or opens a window; `save_figure` writes one to a file.
"""
