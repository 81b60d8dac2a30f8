"""A run from start to end: two files in, a run folder out."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import networkx as nx
from rich.console import Console

from rinn.cluster.connect import open_workers
from rinn.cluster.dask_workers import DaskWorkers
from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.data.stages import stage
from rinn.errors import InputError, count
from rinn.files import check_memory
from rinn.graphs.files import load_graph, write_graph
from rinn.nets.devices import find_devices, limit_cores
from rinn.nets.groups import TrainedNet
from rinn.pipeline import Fit, annotate_latent, fit_data, plan_run, run_plan, tabulate_trials
from rinn.report.html.page import write_report
from rinn.runs.checkpoint import Checkpoints
from rinn.runs.folder import RUN, OutputFolder, open_output
from rinn.runs.manifest import Manifest, NullSummary, load_manifest
from rinn.runs.progress import TrainingProgress
from rinn.runs.read import NULL, RunContents, load_run, read_rounds
from rinn.runs.score import check_truth, score_run
from rinn.runs.sentences import summarise_null
from rinn.runs.stages import show_stages
from rinn.runs.terminal import Terminal
from rinn.runs.write import describe_run, write_fit
from rinn.structure.null import NETWORKS, fit_null
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.qvalues import Null, NullRound, assign_q
from rinn.structure.screen import find_memory

if TYPE_CHECKING:
    from distributed import Client

SECONDS_BETWEEN_TABLES = 2.0


def fit_run(
    x_path: str | os.PathLike[str],
    y_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: RunSettings,
    *,
    device: str = "auto",
    truth_path: str | os.PathLike[str] | None = None,
    covariates_path: str | os.PathLike[str] | None = None,
    kinds_path: str | os.PathLike[str] | None = None,
    prior: PriorKnowledge | None = None,
    console: Console | None = None,
    quiet: bool = False,
    profile: bool = False,
    command: Sequence[str] | None = None,
    title: str | None = None,
    cluster: str | Client | DaskWorkers | None = None,
    cores: int | None = None,
) -> RunContents:
    """Learn a latent graph from two files and write everything into a run folder.

    The same call again resumes a run that was interrupted, and returns at once from one that is
    complete.

    Args:
        x_path: table of the inputs.
        y_path: table of the outputs.
        out: the run folder.
        settings: of the search.
        device: auto, cpu or gpu.
        truth_path: a graph to score against; nothing else sees it.
        covariates_path: table of tissue, batch and the like, which act on the outputs directly.
        kinds_path: table of the kinds of outputs; see `load_kinds`.
        prior: what is known about the inputs and outputs; a different one makes a different run.
        console: where progress is shown.
        quiet: show nothing.
        profile: print how many seconds and how much memory each stage takes.
        command: the command line that makes this run again, for the manifest.
        title: of the report; by default it is made from the names of the files.
        cluster: where to train and resample: local:N, the address of a scheduler, a YAML file, or
            a Client of Dask.
        cores: of this machine to use; all by default.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
        KeyboardInterrupt: after what was trained is saved.
        ClusterError: the cluster failed; what was finished is saved.

    Example:
        >>> import tempfile
        >>> from rinn import RunSettings, fit_run, make_dataset
        >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
        >>> folder = Path(tempfile.mkdtemp())
        >>> data.x.to_csv(folder / "x.csv"), data.y.to_csv(folder / "y.csv")
        (None, None)
        >>> settings = RunSettings(effects="regression", bootstraps=2)
        >>> run = fit_run(folder / "x.csv", folder / "y.csv", folder / "run", settings, quiet=True)
        >>> (folder / "run" / "report.html").exists(), run.inputs
        (True, ('x0', 'x1', 'x2', 'x3', 'x4'))
    """
    console, out = console or Terminal(stderr=True), Path(out)

    def notify(text: str) -> None:
        if not quiet:
            console.print(text, highlight=False, soft_wrap=True)

    with (
        limit_cores(cores),
        show_stages(console, quiet=quiet, profile=profile),
        open_workers(cluster, device, notify) as workers,
    ):
        with stage("reading"):
            data = load_data(x_path, y_path, covariates_path, kinds_path)
            truth = None if truth_path is None else load_graph(truth_path)
        tables = {"x": Path(x_path).name, "y": Path(y_path).name}
        if covariates_path is not None:
            tables["covariates"] = Path(covariates_path).name
        fitted = fit_folder(
            data,
            out,
            settings,
            tables,
            device=device,
            truth=truth,
            prior=prior,
            console=console,
            quiet=quiet,
            command=command,
            title=title,
            workers=workers,
        )
        with fitted as run, stage("report"):
            write_report(out, run, title=title)
    return run


@contextlib.contextmanager
def fit_folder(
    data: Data,
    out: Path,
    settings: RunSettings,
    tables: Mapping[str, str],
    *,
    device: str = "auto",
    truth: nx.DiGraph | None = None,
    prior: PriorKnowledge | None = None,
    console: Console | None = None,
    quiet: bool = False,
    command: Sequence[str] | None = None,
    title: str | None = None,
    workers: DaskWorkers | None = None,
) -> Iterator[RunContents]:
    """Learn a latent graph from data in memory, and keep its run folder locked meanwhile.

    `tables` are the names of x, y and covariates.
    """
    console = console or Terminal(stderr=True)
    if truth is not None:
        check_truth(truth, data.inputs, data.outputs)
    if size := find_memory(data):
        check_memory(size, "the work on X and Y", 1)
        if not quiet:
            console.print(
                f"{len(data.inputs):,} inputs and {len(data.outputs):,} outputs of "
                f"{len(data.x):,} samples: about {size / 1e9:.1f} GB of memory are needed.",
                highlight=False,
            )
    with stage("planning"):
        plan = plan_run(data, settings, prior)
        devices = find_devices(device)
        manifest = describe_run(plan, data, tables, devices, prior, command or ())
        manifest = replace(manifest, title=title)
    with open_output(out, manifest.to_json(), RUN) as folder:
        if not folder.is_complete:
            stored = load_manifest(out)
            clock = _Clock(folder, stored)
            if not (plan.trials or quiet):
                message = "No networks to train; searching for the graph ..."
                console.print(message, highlight=False)
            try:
                silent = quiet or not plan.trials
                with TrainingProgress(len(plan.trials), console, silent) as progress:
                    report = _Follower(folder, progress, clock)
                    saver = Checkpoints(out, plan.trials)
                    fit = run_plan(plan, devices, saver=saver, report=report, workers=workers)
                if settings.null:
                    search = functools.partial(fit_data, refit=False, prior=prior)
                    with stage("null"):
                        null = _fit_null(
                            folder, fit, data, settings, devices, console, quiet, search, workers
                        )
                    q = assign_q(fit.latent.graph, null)
                    fit = replace(fit, latent=annotate_latent(fit.latent, q=q))
                    sentence = summarise_null(null, fit.latent.graph)
                    if data.covariates:
                        sentence = f"{sentence} {data.covariates.permutation}"
                    summary = NullSummary(sentence, settings.null, null.reported)
                    manifest = replace(manifest, null=summary)
            finally:
                clock.write()
            manifest = replace(manifest, created=stored.created, seconds=clock.seconds)
            if workers and workers.summaries:
                manifest = replace(manifest, workers=tuple(workers.summaries.values()))
            with stage("writing"):
                write_fit(folder, fit, manifest)
        run = load_run(out)
        if truth is not None:
            with stage("scoring"):
                run = _write_scores(folder, run, truth)
        yield run
        folder.discard_work()


def _fit_null(
    folder: OutputFolder,
    fit: Fit,
    data: Data,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    console: Console,
    quiet: bool,
    search: Callable[..., Fit],
    workers: DaskWorkers | None,
) -> Null:
    """Find out how much is chance, round by round."""
    rounds: list[NullRound] = []
    with contextlib.suppress(InputError):  # missing or damaged: all rounds are to be made
        rounds = read_rounds(folder.path)

    def save(finished: NullRound) -> None:
        rounds.append(finished)
        rounds.sort(key=lambda entry: entry.number)  # workers finish them in any order
        folder.write_json(NULL, {"rounds": [entry.to_json() for entry in rounds]})

    if not quiet:
        console.print(
            f"Repeating the search with the rows of Y permuted ({count(settings.null, 'round')}), "
            "and once with decoys ...",
            highlight=False,
        )
    total = (settings.null + 1) * min(NETWORKS, len(fit.nets))
    with TrainingProgress(total, console, quiet or not total) as progress:
        return fit_null(
            data,
            settings,
            devices,
            settings.null,
            done=rounds,
            save=save,
            report=progress,
            fit=search,
            workers=workers,
        )


class _Clock:
    """The seconds of a run over all its sessions, kept in the manifest."""

    def __init__(self, folder: OutputFolder, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return (self._manifest.seconds or 0.0) + time.monotonic() - self._started

    def write(self) -> None:
        """A session that is killed loses what was not written."""
        self._folder.write_manifest(replace(self._manifest, seconds=self.seconds).to_json())


class _Follower:
    """Passes the search's reports on, and keeps trials.csv and the clock up to date."""

    def __init__(self, folder: OutputFolder, progress: TrainingProgress, clock: _Clock) -> None:
        self._folder, self._progress, self._clock = folder, progress, clock
        self._nets: list[TrainedNet] = []
        self._written = -SECONDS_BETWEEN_TABLES

    def __call__(self, nets: Sequence[TrainedNet], fraction: float, is_resumed: bool) -> None:
        self._progress(nets, fraction, is_resumed)
        self._nets.extend(nets)
        if self._nets and time.monotonic() - self._written > SECONDS_BETWEEN_TABLES:
            self._folder.write_table("trials.csv", tabulate_trials(self._nets))
            self._clock.write()
            self._written = time.monotonic()


def _write_scores(folder: OutputFolder, run: RunContents, truth: nx.DiGraph) -> RunContents:
    """Score against the truth, and keep the scores in the manifest."""
    scores = score_run(run, truth)
    manifest = replace(run.manifest, scores=scores)
    folder.write_json("scores.json", dict(scores))
    write_graph(truth, folder.path / "truth.json")
    folder.write_manifest(manifest.to_json())
    return replace(run, manifest=manifest)
