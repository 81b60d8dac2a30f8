"""The commands that learn graphs: `fit`, `demo` and `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from rinn.cli.options import (
    Covariates,
    Device,
    Directed,
    GeneSets,
    Kinds,
    Mask,
    Prior,
    Quiet,
    Seed,
    SetWeight,
    SifNetwork,
    SifWeight,
    Steps,
    Trials,
    say,
)
from rinn.errors import TrainingError
from rinn.runs.terminal import Terminal


class ListStrategies(TyperCommand):
    """A command whose help ends with the strategies, read when the help is asked for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the strategies below the options."""
        from rinn.strategies import STRATEGIES

        with formatter.section("Strategies"):
            formatter.write_dl([(name, strategy.title) for name, strategy in STRATEGIES.items()])


def fit(
    context: typer.Context,
    x: Annotated[
        Path, typer.Argument(metavar="X", help="Table of the inputs: csv, tsv, parquet or npz.")
    ],
    y: Annotated[
        Path,
        typer.Argument(metavar="Y", help="Table of the outputs, same samples; cells may be empty."),
    ],
    out: Annotated[Path, typer.Option(help="Run folder; the same command again resumes it.")],
    strategy: Annotated[
        str, typer.Option(help="How to look for the graph; the strategies are below.")
    ] = "rinn",
    budget: Annotated[
        str, typer.Option(help="default (two cores, minutes) or paper (the paper's size, a GPU).")
    ] = "default",
    trials: Trials = None,
    epochs: Annotated[
        int | None, typer.Option(help="Most epochs for each network; esc: generations.")
    ] = None,
    seed: Seed = 0,
    device: Device = "auto",
    loss: Annotated[
        str,
        typer.Option(
            help="auto (each output by its kind), bce (all are 0/1), mse (numbers) or poisson "
            "(counts)."
        ),
    ] = "auto",
    select: Annotated[
        str,
        typer.Option(
            help="Networks that the graph is read from: accurate (those that predict best) or "
            "paper (the ten that the paper's distance chooses)."
        ),
    ] = "accurate",
    effects: Annotated[
        str,
        typer.Option(
            help="What the graph is read from: regression (of the outputs on the inputs), network, "
            "corrected (networks and a regression of their residuals), or auto (corrected where "
            "effects are faint and networks predict held-out samples better, else regression). "
            "Networks are trained only where they may be read; corrected trains them in any case."
        ),
    ] = "auto",
    direct: Annotated[
        bool,
        typer.Option(
            "--direct/--no-direct",
            help="Whether inputs may act on outputs directly; the paper's assumption A2 says no.",
        ),
    ] = True,
    effects_only: Annotated[
        bool,
        typer.Option(
            "--effects-only",
            help="Score graphs by the effects of the inputs alone; what outputs have in common "
            "beyond them plays no part.",
        ),
    ] = False,
    output_edges: Annotated[
        bool,
        typer.Option(
            "--output-edges",
            help="Draw edges from outputs to outputs where an output takes the place of a latent; "
            "the paper's assumption A4 says there are none.",
        ),
    ] = False,
    bootstraps: Annotated[
        int,
        typer.Option(
            help="Bootstrap resamples of the rows, which say how often each latent and edge is "
            "found; 0 leaves them out."
        ),
    ] = 50,
    null: Annotated[
        int,
        typer.Option(
            help="Search so many times more with the rows of Y permuted, and once with decoys: "
            "how much is chance, and q-values on edges."
        ),
    ] = 0,
    truth: Annotated[
        Path | None, typer.Option(help="A known graph, to score against; not used to learn.")
    ] = None,
    covariates: Covariates = None,
    kinds: Kinds = None,
    alpha_pc: Annotated[
        float | None, typer.Option(help="dm: level of the tests of inputs against outputs.")
    ] = None,
    alpha_sober: Annotated[
        float | None, typer.Option(help="dm: level of the tests of edges between latents.")
    ] = None,
    prior: Prior = None,
    gene_sets: GeneSets = None,
    set_weight: SetWeight = 1.0,
    network: SifNetwork = None,
    network_steps: Steps = 3,
    network_weight: SifWeight = 1.0,
    network_directed: Directed = False,
    network_mask: Mask = False,
    quiet: Quiet = False,
) -> None:
    """Learn the latent graph between two tables; everything found goes into a run folder."""
    from rinn.config import RunSettings
    from rinn.structure.knowledge.sources import load_knowledge

    settings = RunSettings(
        strategy=strategy,
        budget=budget,
        trials=trials,
        epochs=epochs,
        seed=seed,
        loss=loss,
        select=select,
        null=null,
        effects=effects,
        direct=direct,
        effects_only=effects_only,
        output_edges=output_edges,
        bootstraps=bootstraps,
        alpha_pc=alpha_pc,
        alpha_sober=alpha_sober,
    )
    knowledge = load_knowledge(
        prior,
        gene_sets=gene_sets,
        set_weight=set_weight,
        network=network,
        steps=network_steps,
        network_weight=network_weight,
        is_directed=network_directed,
        is_mask=network_mask,
    )
    more = {"covariates_path": covariates, "kinds_path": kinds, "knowledge": knowledge}
    _fit(x, y, out, settings, device, truth, quiet, context.obj, more)


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the data and the run.")] = Path("rinn-demo"),
    seed: Seed = 0,
    device: Device = "auto",
    trials: Trials = None,
    quiet: Quiet = False,
) -> None:
    """Simulate tumours, learn their hidden graph, and score it: about half a minute."""
    from rinn.config import RunSettings
    from rinn.nets.devices import find_devices
    from rinn.simulate.datasets import make_dataset
    from rinn.simulate.writing import write_simulation

    settings = RunSettings(seed=seed, trials=trials)
    find_devices(device)  # refuses what it cannot find before anything is written
    data = out / "data"
    write_simulation(make_dataset("or", seed=seed), data, same_is_fine=True)
    if not quiet:
        Terminal(stderr=True).print(
            "Simulated 5000 samples: 16 inputs cause 16 outputs through hidden variables that "
            f"nobody measured ({data}).\nLearning them from the two tables alone ...",
            highlight=False,
            markup=False,
        )
    paths = data / "x.csv", data / "y.csv"
    _fit(*paths, out / "run", settings, device, data / "truth.json", quiet, context.obj)


def reproduce(
    out: Annotated[
        Path, typer.Option(help="Folder for tables and runs; the same command again resumes it.")
    ],
    datasets: Annotated[
        str, typer.Option(help="Names or numbers of the paper's six, with commas between.")
    ] = "1,2,3,4",
    strategies: Annotated[
        str | None,
        typer.Option(
            help="rinn, dnn, dbn, esc, dm, with commas between; by default those that the paper "
            "ran: all on data 1-4, the first three on 5 and 6."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option(help="quick (the default search) or paper (the paper's size, a GPU).")
    ] = "quick",
    seeds: Annotated[
        int, typer.Option(help="How many draws of each dataset: N means data seeds 0 to N-1.")
    ] = 1,
    device: Device = "auto",
    trials: Annotated[
        int | None,
        typer.Option(help="Networks for each cell in place of the budget's: a smoke run."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Make the paper's Tables 1, 2 and 3 anew, beside the published figures."""
    from rinn.cli.show import show_comparison
    from rinn.paper.reproduce import reproduce as run_grid

    comparison = run_grid(
        out,
        _read_words(datasets),
        None if strategies is None else _read_words(strategies),
        budget,
        seeds,
        device,
        trials=trials,
        quiet=quiet,
    )
    if not quiet:
        show_comparison(comparison, Terminal())
        say(f"open {out / 'tables.html'}")
    if comparison.failed:
        names = ", ".join(cell.job.name for cell in comparison.failed)
        raise TrainingError(f"training came to nothing in {names}; the same command tries again")


def _fit(
    x: Path,
    y: Path,
    out: Path,
    settings: Any,
    device: str,
    truth: Path | None,
    quiet: bool,
    command: list[str],
    more: dict[str, Any] | None = None,
) -> None:
    from rinn.cli.show import say_dropped, show_graph, show_scores, show_test
    from rinn.fit import fit_run
    from rinn.runs.sentences import say_comparison

    found = fit_run(
        x,
        y,
        out,
        settings,
        device=device,
        truth_path=truth,
        quiet=quiet,
        command=command,
        **(more or {}),
    )
    if quiet:
        return
    console = Terminal()
    dropped = say_dropped(found.manifest["tables"]["dropped"])
    for words in (*found.manifest.get("warnings", ()), *dropped):
        console.print(words, markup=False, highlight=False)
    for words in found.manifest.get("covariates", {}).get("notes", ()):
        console.print(words, markup=False, highlight=False)
    show_graph(found.graph, console)
    show_test(found.manifest["test"], console)
    for line in found.manifest.get("prior", {}).get("account", ()):
        console.print(line, markup=False, highlight=False)
    for part in ("effects", "fit", "outputs", "covariates", "prior", "comparison", "null"):
        if words := found.manifest.get(part, {}).get("sentence"):
            if part == "comparison":
                words = say_comparison(found.manifest, found.graph) or words
            console.print(words, markup=False, highlight=False)
    if truth is not None:
        show_scores(found.scores, console)
    say(f"open {out / 'report.html'}")


def _read_words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
