"""The command `rinn`: words to settings to one call; errors to one line."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rinn.errors import InputError, TrainingError

INTERRUPTED = 130

app = typer.Typer(
    help="Learn the hidden causal graph between known causes (X) and known effects (Y).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Quiet = Annotated[bool, typer.Option("--quiet", help="Show nothing but errors.")]
Seed = Annotated[int, typer.Option(help="Decides every random choice.")]
Trials = Annotated[
    int | None, typer.Option(help="Networks to train; by default what the budget has.")
]
Device = Annotated[str, typer.Option(help="auto (a GPU where there is one), cpu or gpu.")]


def main() -> None:
    """Run the command; exit code 0 done, 2 the user's input is wrong, 1 anything else."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with these arguments.

    Args:
        arguments: the words after `rinn`.

    Returns:
        The exit code.
    """
    try:
        code = app(arguments or ["--help"], standalone_mode=False, obj=["rinn", *arguments])
    except InputError as error:
        return _complain(f"{error}", 2)
    except TrainingError as error:
        return _complain(f"{error}", 1)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        # Wrong words on the command line: typer's own errors, whose class has moved between
        # releases, tell a message from a traceback by this method.
        if hasattr(error, "format_message"):
            return _complain(error.format_message().rstrip("."), 2)
        if os.environ.get("RINN_DEBUG"):
            raise
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return _complain(f"something went wrong ({words}); RINN_DEBUG=1 shows where", 1)
    if code == INTERRUPTED:  # newer releases of typer return this in place of the exception
        return _complain("stopped; the same command goes on where it was", 1)
    return code if isinstance(code, int) else 0


@app.callback(invoke_without_command=True)
def _describe_self(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if version:
        sys.stdout.write(f"rinn {importlib.metadata.version('rinn')}\n")
        raise typer.Exit()


@app.command()
def simulate(
    dataset: Annotated[
        str,
        typer.Argument(help="matrix, gaussian, or, logic, tcga-or, tcga-logic (or 1..6), random."),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for x.csv, y.csv, truth.json; tcga-: tissue.csv too.")
    ],
    samples: Annotated[
        int | None,
        typer.Option(help="Rows to draw; by default 5000, or all that --x-block has."),
    ] = None,
    seed: Seed = 0,
    p: Annotated[float | None, typer.Option(help="matrix: chance that an input acts.")] = None,
    prevalence: Annotated[
        float | None, typer.Option(help="or, logic: chance that an input is 1.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="or, logic: chance of contradiction; gaussian: variances as LOW,HIGH."),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="random: or, logic, gaussian or matrix.")
    ] = None,
    inputs: Annotated[int | None, typer.Option(help="random: number of inputs.")] = None,
    outputs: Annotated[int | None, typer.Option(help="random: number of outputs.")] = None,
    levels: Annotated[int | None, typer.Option(help="random: levels of latents.")] = None,
    latents: Annotated[int | None, typer.Option(help="random: number of latents.")] = None,
    orphans: Annotated[
        float | None, typer.Option(help="random: share of latents without an input of their own.")
    ] = None,
    x_block: Annotated[
        Path | None,
        typer.Option(help="tcga-: your own inputs in place of generated tumours; with --y-block."),
    ] = None,
    y_block: Annotated[
        Path | None,
        typer.Option(help="tcga-: your own outputs, 0 and 1, for the samples of --x-block."),
    ] = None,
    parents: Annotated[
        int | None,
        typer.Option(help="tcga-: most alterations that cause an expression change, 0 to 3."),
    ] = None,
    strength: Annotated[
        str | None,
        typer.Option(help="tcga-: how strongly they do, as LOW,HIGH; parents.csv lists them."),
    ] = None,
) -> None:
    """Draw a dataset from a known graph: tables, and the truth behind them."""
    from rinn.simulation import make_dataset, write_simulation

    try:
        strengths = _read_noise(strength)
    except InputError:
        raise InputError(
            f"strength must be two numbers LOW,HIGH, but {strength!r} was given; choose for "
            f"example 0.3,0.7"
        ) from None
    given = {
        "p": p,
        "prevalence": prevalence,
        "noise": _read_noise(noise),
        "mechanism": mechanism,
        "inputs": inputs,
        "outputs": outputs,
        "levels": levels,
        "latents": latents,
        "orphans": orphans,
        "x_block": x_block,
        "y_block": y_block,
        "parents": parents,
        "strength": strengths,
    }
    parameters: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    simulation = make_dataset(dataset, samples=samples, seed=seed, **parameters)
    write_simulation(simulation, out)
    rows, width = simulation.x.shape
    shape = f"{rows} samples, {width} inputs, {simulation.y.shape[1]} outputs"
    words = f"wrote {out / 'x.csv'}, {out / 'y.csv'} ({shape}) and {out / 'truth.json'}"
    if simulation.dropped:
        words += f"; left out {len(simulation.dropped)} samples that only one table has"
    Console().print(words, soft_wrap=True, highlight=False, markup=False)


@app.command()
def fit(
    context: typer.Context,
    x: Annotated[
        Path, typer.Argument(metavar="X", help="Table of the inputs: csv, tsv, parquet or npz.")
    ],
    y: Annotated[Path, typer.Argument(metavar="Y", help="Table of the outputs, same samples.")],
    out: Annotated[Path, typer.Option(help="Run folder; the same command again resumes it.")],
    strategy: Annotated[
        str, typer.Option(help="How to look for the graph: rinn, dnn, dbn, esc or dm.")
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
        str, typer.Option(help="auto, bce (0/1 outputs) or mse (all others).")
    ] = "auto",
    truth: Annotated[
        Path | None, typer.Option(help="A known graph, to score against; not used to learn.")
    ] = None,
    alpha_pc: Annotated[
        float | None, typer.Option(help="dm: level of the tests of inputs against outputs.")
    ] = None,
    alpha_sober: Annotated[
        float | None, typer.Option(help="dm: level of the tests of edges between latents.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Learn the latent graph between two tables; everything found goes into a run folder."""
    from rinn.config import RunSettings

    settings = RunSettings(
        strategy=strategy,
        budget=budget,
        trials=trials,
        epochs=epochs,
        seed=seed,
        loss=loss,
        alpha_pc=alpha_pc,
        alpha_sober=alpha_sober,
    )
    _fit(x, y, out, settings, device, truth, quiet, context.obj)


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="Run folder, or a graph as .json or .graphml.")],
    truth: Annotated[Path, typer.Option(help="The graph that made the data.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare what was found with a known truth: the paper's scores and the graph's."""
    from rinn.runs import score_path
    from rinn.show import show_scores

    scores = score_path(run, truth)
    if as_json:
        sys.stdout.write(json.dumps(scores) + "\n")
    else:
        show_scores(scores, Console())


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Run folder that 'rinn fit' has finished.")],
) -> None:
    """Write report.html of a finished run anew."""
    from rinn.report import write_report

    Console().print(f"wrote {write_report(run)}", soft_wrap=True, highlight=False, markup=False)


@app.command()
def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the data and the run.")] = Path("rinn-demo"),
    seed: Seed = 0,
    device: Device = "auto",
    trials: Trials = None,
    quiet: Quiet = False,
) -> None:
    """Simulate tumours, learn their hidden graph, and score it: about two minutes."""
    from rinn.config import RunSettings
    from rinn.simulation import make_dataset, write_simulation

    data = out / "data"
    write_simulation(make_dataset("or", seed=seed), data, same_is_fine=True)
    if not quiet:
        Console(stderr=True).print(
            "Simulated 5000 samples: 16 inputs cause 16 outputs through hidden variables that "
            f"nobody measured ({data}).\nLearning them from the two tables alone ...",
            highlight=False,
            markup=False,
        )
    paths = data / "x.csv", data / "y.csv"
    settings = RunSettings(seed=seed, trials=trials)
    _fit(*paths, out / "run", settings, device, data / "truth.json", quiet, context.obj)


@app.command()
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
    from rinn.reproduction import reproduce as run_grid
    from rinn.reproduction.show import show_comparison

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
        console = Console()
        show_comparison(comparison, console)
        page = out / "tables.html"
        console.print(f"open {page}", highlight=False, soft_wrap=True, markup=False)
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
) -> None:
    from rinn.runs import fit_run
    from rinn.show import say_dropped, show_graph, show_scores, show_test

    found = fit_run(
        x, y, out, settings, device=device, truth_path=truth, quiet=quiet, command=command
    )
    if quiet:
        return
    console = Console()
    for words in say_dropped(found.manifest["tables"]["dropped"]):
        console.print(words, markup=False, highlight=False)
    show_graph(found.graph, console)
    show_test(found.manifest["test"], console)
    if truth is not None:
        show_scores(found.scores, console)
    console.print(f"open {out / 'report.html'}", highlight=False, soft_wrap=True, markup=False)


def _read_words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _read_noise(text: str | None) -> float | tuple[float, ...] | None:
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"noise must be a number or LOW,HIGH, got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _complain(message: str, code: int) -> int:
    stop = "" if message.endswith(("?", ".")) else "."
    sys.stderr.write(f"rinn: {message}{stop}\n")
    return code
