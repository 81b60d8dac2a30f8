"""The commands that learn graphs: `fit`, `demo` and `reproduce`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rinn.cli.options import (
    MACHINE,
    Cluster,
    Cores,
    Device,
    Quiet,
    print_line,
    split_commas,
    with_settings,
)
from rinn.config import NETWORK_STEPS, PRIOR_WEIGHT, RunSettings, setting
from rinn.errors import TrainingError
from rinn.runs.terminal import Terminal

if TYPE_CHECKING:
    from rinn.structure.prior.sources import PriorKnowledge


@dataclass(frozen=True)
class PriorFiles:
    """The files of prior knowledge and how much they count."""

    prior: Path | None = setting(
        None,
        "Prior knowledge: must, mustnot, together, apart, level; csv, tsv or json.",
        group="Prior knowledge",
    )
    gene_sets: Path | None = setting(
        None,
        "GMT file of gene sets. Members of a set are more likely to share a latent.",
        group="Prior knowledge",
    )
    set_weight: float = setting(
        PRIOR_WEIGHT, "By how much more likely, in log odds.", group="Prior knowledge"
    )
    network: Path | None = setting(
        None,
        "Network: SIF, or a table with source and target. Pairs without a path in it are less "
        "likely to be connected.",
        group="Prior knowledge",
    )
    network_steps: int = setting(
        NETWORK_STEPS, "Maximum length of a path.", group="Prior knowledge"
    )
    network_weight: float = setting(
        PRIOR_WEIGHT, "By how much less likely, in log odds.", group="Prior knowledge"
    )
    network_directed: bool = setting(
        False, "Follow the direction of the edges of the network.", group="Prior knowledge"
    )
    network_mask: bool = setting(False, "Exclude pairs without a path.", group="Prior knowledge")


@with_settings()
def fit(
    context: typer.Context,
    x: Annotated[
        Path, typer.Argument(metavar="X", help="Table of the inputs: csv, tsv, parquet or npz.")
    ],
    y: Annotated[
        Path,
        typer.Argument(
            metavar="Y", help="Table of the outputs for the same samples; cells may be empty."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Run folder; the same command again resumes it.")],
    settings: RunSettings,
    files: PriorFiles,
    device: Device = "auto",
    truth: Annotated[
        Path | None, typer.Option(help="A known graph to score the result; not used to learn.")
    ] = None,
    covariates: Annotated[
        Path | None,
        typer.Option(
            help="Table of tissue, batch, sex and so on for the same samples. They act on the "
            "outputs directly, so that latents do not have to explain them."
        ),
    ] = None,
    kinds: Annotated[
        Path | None,
        typer.Option(
            help="Table with the columns output and kind (number, binary or count), for outputs "
            "whose kind cannot be seen from their values; csv or tsv."
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the report; by default from the files' names.")
    ] = None,
    cluster: Cluster = None,
    cores: Cores = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Print seconds and memory of each stage.", rich_help_panel=MACHINE
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Learn the latent graph between two tables; all results go into a run folder."""
    prior = load_prior_files(files)
    how = {"device": device, "profile": profile, "command": context.obj, "title": title}
    how |= {"cluster": cluster, "cores": cores}
    more = {"covariates_path": covariates, "kinds_path": kinds, "prior": prior}
    _fit(x, y, out, settings, truth, quiet, **how, **more)


def load_prior_files(files: PriorFiles) -> PriorKnowledge | None:
    """Read prior knowledge, where a file is named."""
    from rinn.structure.prior.sources import load_prior

    return load_prior(
        files.prior,
        gene_sets=files.gene_sets,
        set_weight=files.set_weight,
        network=files.network,
        steps=files.network_steps,
        network_weight=files.network_weight,
        is_directed=files.network_directed,
        is_mask=files.network_mask,
    )


@with_settings("seed", "trials")
def demo(
    context: typer.Context,
    settings: RunSettings,
    out: Annotated[Path, typer.Option(help="Folder for the data and the run.")] = Path("rinn-demo"),
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Simulate two tables, learn their hidden graph, and score it: about half a minute."""
    from rinn.nets.devices import find_devices
    from rinn.simulate.datasets import make_dataset
    from rinn.simulate.writing import write_simulation

    find_devices(device)  # refuses what it cannot find before anything is written
    data = out / "data"
    write_simulation(make_dataset("or", seed=settings.seed), data, same_is_fine=True)
    if not quiet:
        Terminal(stderr=True).print(
            "Simulated 5000 samples: 16 inputs cause 16 outputs through hidden variables that "
            f"nobody measured ({data}).\nLearning them from the two tables alone ...",
            highlight=False,
            markup=False,
        )
    paths = data / "x.csv", data / "y.csv", out / "run"
    truth = data / "truth.json"
    _fit(*paths, settings, truth, quiet, device=device, command=context.obj)


def reproduce(
    out: Annotated[
        Path, typer.Option(help="Folder for tables and runs; the same command again resumes it.")
    ],
    datasets: Annotated[
        str, typer.Option(help="Names or numbers of the paper's six, separated by commas.")
    ] = "1,2,3,4",
    strategies: Annotated[
        str | None,
        typer.Option(
            help="Strategies, separated by commas. By default those of the paper: rinn, dnn, dbn, "
            "esc and dm on data 1-4, the first three on 5 and 6."
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option(help="quick (the default search) or paper (the paper's size, a GPU).")
    ] = "quick",
    seeds: Annotated[
        int, typer.Option(help="Number of draws of each dataset: N means data seeds 0 to N-1.")
    ] = 1,
    device: Device = "auto",
    trials: Annotated[
        int | None,
        typer.Option(help="Networks of each cell, instead of the budget's, for a quick test."),
    ] = None,
    cluster: Cluster = None,
    cores: Cores = None,
    quiet: Quiet = False,
) -> None:
    """Compute the paper's Tables 1, 2 and 3 again, and compare them with the published figures."""
    from rinn.cli.show import show_comparison
    from rinn.paper.reproduce import reproduce as run_grid

    comparison = run_grid(
        out,
        split_commas(datasets),
        None if strategies is None else split_commas(strategies),
        budget,
        seeds,
        device,
        trials=trials,
        quiet=quiet,
        cluster=cluster,
        cores=cores,
    )
    if not quiet:
        show_comparison(comparison, Terminal())
        print_line(f"open {out / 'tables.html'}")
    if comparison.failed:
        names = ", ".join(cell.job.name for cell in comparison.failed)
        raise TrainingError(f"training failed in {names}; the same command tries again")


def _fit(
    x: Path, y: Path, out: Path, settings: RunSettings, truth: Path | None, quiet: bool, **more: Any
) -> None:
    from rinn.cli.show import show_run
    from rinn.fit import fit_run

    result = fit_run(x, y, out, settings, truth_path=truth, quiet=quiet, **more)
    if not quiet:
        show_run(result, Terminal(), is_scored=truth is not None)
        print_line(f"open {out / 'report.html'}")
