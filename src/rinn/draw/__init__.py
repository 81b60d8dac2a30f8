"""Figures for papers: `..._info` computes what a figure shows, `plot_...` draws and returns it.

No figure touches Matplotlib's global style or opens a window; `save_figure` writes one to a file.
"""

from rinn.draw.architecture import ArchitectureInfo, architecture_info
from rinn.draw.architecturesheet import plot_architecture
from rinn.draw.comparison import ComparisonInfo, comparison_info, plot_comparison
from rinn.draw.curves import CurvesInfo, curves_info, plot_curves
from rinn.draw.folders import FIGURES, draw_folder, load_comparison
from rinn.draw.graph import GraphInfo, graph_info, plot_graph
from rinn.draw.patterns import PatternsInfo, patterns_info, plot_patterns
from rinn.draw.reproduction import ReproductionInfo, plot_reproduction, reproduction_info
from rinn.draw.saving import encode_figure, save_figure
from rinn.draw.selection import SelectionInfo, plot_selection, selection_info
from rinn.draw.strips import StripsInfo, strips_info
from rinn.draw.stripsheet import plot_strips

__all__ = [
    "FIGURES",
    "ArchitectureInfo",
    "ComparisonInfo",
    "CurvesInfo",
    "GraphInfo",
    "PatternsInfo",
    "ReproductionInfo",
    "SelectionInfo",
    "StripsInfo",
    "architecture_info",
    "comparison_info",
    "curves_info",
    "draw_folder",
    "encode_figure",
    "graph_info",
    "load_comparison",
    "patterns_info",
    "plot_architecture",
    "plot_comparison",
    "plot_curves",
    "plot_graph",
    "plot_patterns",
    "plot_reproduction",
    "plot_selection",
    "plot_strips",
    "reproduction_info",
    "save_figure",
    "selection_info",
    "strips_info",
]
