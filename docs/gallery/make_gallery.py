"""Make the gallery's pictures from simulated data: about two minutes on two cores.

Run it from the root of the repository: python docs/gallery/make_gallery.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from rinn.config import RunSettings
from rinn.fit import fit_run
from rinn.graphs.files import load_graph
from rinn.nets.predict import map_trained
from rinn.paper.figure import load_comparison, plot_reproduction
from rinn.report.figures.architecture import architecture_info, plot_architecture
from rinn.report.figures.canvas import save_figure
from rinn.report.figures.comparison import plot_comparison
from rinn.report.figures.curves import plot_curves
from rinn.report.figures.graph import plot_graph
from rinn.report.figures.patterns import patterns_info, plot_patterns
from rinn.report.figures.schematic import SchematicInfo, plot_schematic
from rinn.report.figures.selection import plot_selection
from rinn.report.figures.strips import plot_strips, strips_info
from rinn.report.info import comparison_info, curves_info, graph_info, selection_info
from rinn.runs.read import load_run
from rinn.simulate.datasets import make_dataset
from rinn.simulate.writing import write_simulation

HERE = Path(__file__).resolve().parent
RECORDS = HERE.parents[1] / "benchmarks/records/2026-11-15/reproduction_h200"
SEED = 0
DOTS, FEWER_DOTS = 150, 90  # per inch
LARGEST = 300_000  # bytes of a picture; beyond, it is stored with fewer colours
FEWER_COLOURS = 64


def main() -> None:
    """Simulate, fit, draw, and write every picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the pictures")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder:
        run = fit(Path(folder, "full"), samples=5000, trials=64)
        few = fit(Path(folder, "few"), samples=500, trials=32)
        figures = draw_run(run) | draw_truths(few)
    figures["reproduction"] = plot_reproduction(
        load_comparison(RECORDS), title="Every strategy beside the paper"
    )
    for name, figure in figures.items():
        path = out / f"{name}.png"
        save_figure(figure, path, dpi=FEWER_DOTS if name == "graph_large" else DOTS)
        if path.stat().st_size > LARGEST:
            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(FEWER_COLOURS)
            small.save(path, optimize=True)
        print(f"wrote {path} ({path.stat().st_size / 1000:.0f} kB)")


def fit(folder: Path, samples: int, trials: int) -> Path:
    """Simulate data 3 (OR), learn its graph, and give the run folder."""
    write_simulation(make_dataset("or", samples=samples, seed=SEED), folder / "data")
    x, y, truth = (folder / "data" / name for name in ("x.csv", "y.csv", "truth.json"))
    settings = RunSettings(seed=SEED, trials=trials, effects="corrected")
    fit_run(x, y, folder / "run", settings, device="cpu", truth_path=truth, quiet=True)
    return folder / "run"


def draw_run(run: Path) -> dict[str, Figure]:
    """Draw what one run shows."""
    contents = load_run(run)
    inputs, outputs, truth = list(contents.inputs), list(contents.outputs), contents.truth
    net = contents.find_nets("paper")[0]
    paper = contents.scores["paper"]
    return {
        "graph": plot_graph(
            graph_info(contents.graph),
            title="The latent graph found in 5000 samples",
        ),
        "patterns": plot_patterns(
            patterns_info(truth), title="The truth: which outputs each node reaches"
        ),
        "strips": plot_strips(
            strips_info(
                map_trained(net),
                inputs,
                outputs,
                truth=truth,
                thresholds=(paper["hidden"]["threshold"], paper["input"]["threshold"]),
            ),
            title="What each node of one network does to the outputs",
        ),
        "architecture": plot_architecture(
            architecture_info(net.weights, inputs, outputs),
            title="The same network with its active edges",
        ),
        "schematic": plot_schematic(
            SchematicInfo(len(inputs), net.trial.net.layers, net.trial.net.width, len(outputs)),
            title="A redundant-input neural network",
        ),
        "selection": plot_selection(
            selection_info(contents.trials), title="Which networks were kept"
        ),
        "curves": plot_curves(
            curves_info(contents.curves),
            title="Learning curves of the chosen networks",
        ),
    }


def draw_truths(few: Path) -> dict[str, Figure]:
    """Draw a graph with mistakes against the truth, and a large graph."""
    large = make_dataset(
        "random",
        samples=50,
        seed=SEED,
        inputs=650,
        outputs=84,
        levels=3,
        latents=60,
        mechanism="gaussian",
    )
    return {
        "comparison": plot_comparison(
            comparison_info(load_graph(few / "graph.json"), load_graph(few / "truth.json")),
            title="Found in 500 samples, against the truth",
        ),
        "graph_large": plot_graph(
            graph_info(large.truth, max_drawn=120, folded=True),
            title="650 inputs, 60 latents, 84 outputs",
        ),
    }


if __name__ == "__main__":
    main()
