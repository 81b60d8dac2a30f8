"""A run from start to end: two files in, a run folder out."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import networkx as nx
from rich.console import Console

from rinn.config import RunSettings
from rinn.data.align import load_data
from rinn.data.records import Data
from rinn.errors import InputError
from rinn.graphs.files import load_graph, write_graph
from rinn.nets.devices import find_devices
from rinn.nets.groups import TrainedNet
from rinn.pipeline import Fit, check_prior, check_truth, fit_data, plan_run, tabulate_trials
from rinn.report.html.page import write_report
from rinn.runs.folder import MANIFEST, RunFolder, load_manifest, open_run
from rinn.runs.progress import TrainingProgress
from rinn.runs.read import NULL, read_rounds
from rinn.runs.score import score_folder
from rinn.runs.sentences import summarise_null
from rinn.runs.terminal import Terminal
from rinn.runs.write import describe_prior, describe_run, fingerprint_plan, write_fit
from rinn.structure.null import NETWORKS, fit_null
from rinn.structure.prior.resolve import resolve
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.qvalues import NullRound, assign_q

SECONDS_BETWEEN_TABLES = 2.0


@dataclass(frozen=True)
class RunResult:
    """What a finished run folder holds, for showing it."""

    folder: Path
    manifest: dict[str, Any]
    graph: nx.DiGraph
    scores: dict[str, Any]


def fit_run(
    x_path: Path,
    y_path: Path,
    out: Path,
    settings: RunSettings,
    *,
    device: str = "auto",
    truth_path: Path | None = None,
    covariates_path: Path | None = None,
    kinds_path: Path | None = None,
    prior: PriorKnowledge | None = None,
    console: Console | None = None,
    quiet: bool = False,
    command: Sequence[str] | None = None,
) -> RunResult:
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
        prior: what is known of the inputs and outputs; another makes another run.
        console: where progress is shown.
        quiet: show nothing.
        command: the words that make this run again, for the manifest.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
        KeyboardInterrupt: after what was trained is saved.
    """
    console = console or Terminal(stderr=True)
    data = load_data(x_path, y_path, covariates_path, kinds_path)
    truth = _load_truth(truth_path, data)
    trials = plan_run(data, settings)[1]
    check_prior(prior, settings)
    known = resolve(prior, data) if prior else None
    devices = find_devices(device)
    manifest = describe_run(data, settings, x_path, y_path, devices)
    if covariates_path is not None:
        manifest["tables"]["covariates"] = covariates_path.name
    if prior and known:
        manifest["data"] |= {"prior": known.prior.fingerprint()}
        manifest["prior"] = describe_prior(prior, known)
    manifest |= {"plan": fingerprint_plan(trials), "command": list(command or [])}
    with open_run(out, manifest, trials) as run:
        stored = load_manifest(out)
        if stored.get("status") != "complete":
            clock = _Clock(run, stored)
            if not (trials or quiet):
                words = "No network is needed; the graph is learnt from the tables alone ..."
                console.print(words, highlight=False)
            try:
                silent = quiet or not trials
                with TrainingProgress(len(trials), console, silent) as progress:
                    report = _Follower(run, progress, clock)
                    fit = fit_data(data, settings, devices, prior=prior, saver=run, report=report)
                if settings.null:
                    search = functools.partial(fit_data, refit=False, prior=prior)
                    manifest["null"] = _fit_null(
                        run, fit, settings, devices, console, quiet, search
                    )
            finally:
                clock.write()
            seconds = clock.seconds
            write_fit(
                run, fit, manifest | {"created": stored.get("created", ""), "seconds": seconds}
            )
        _write_scores(run, truth)
        write_report(out)
        run.discard_work()
    return load_run(out)


def _fit_null(
    run: RunFolder,
    fit: Fit,
    settings: RunSettings,
    devices: Sequence[jax.Device],
    console: Console,
    quiet: bool,
    search: Callable[..., Fit],
) -> dict[str, Any]:
    """Find out how much is chance, round by round, and give the edges their q-values."""
    rounds: list[NullRound] = []
    with contextlib.suppress(InputError):  # missing or damaged: all rounds are to be made
        rounds = read_rounds(run.folder)

    def save(found: NullRound) -> None:
        rounds.append(found)
        run.write_json(NULL, {"rounds": [entry.to_json() for entry in rounds]})

    if not quiet:
        console.print(
            f"Searching again with the rows of Y permuted, {settings.null} times, and once with "
            f"decoys ...",
            highlight=False,
        )
    total = (settings.null + 1) * min(NETWORKS, len(fit.nets))
    with TrainingProgress(total, console, quiet or not total) as progress:
        null = fit_null(
            fit.data,
            settings,
            devices,
            settings.null,
            done=rounds,
            save=save,
            report=progress,
            fit=search,
        )
    drawn = fit.latent.graph
    found = assign_q(drawn, null)
    for graph in (drawn, fit.latent.candidates):
        nx.set_edge_attributes(graph, found, "q")
    sentence = summarise_null(null, drawn)
    if fit.data.covariates:
        sentence = f"{sentence} {fit.data.covariates.permutation}"
    return {"sentence": sentence, "rounds": settings.null, "reported": null.reported}


def load_run(folder: Path) -> RunResult:
    """Read a finished run folder."""
    manifest = load_manifest(folder)
    graph = load_graph(folder / "graph.json")
    return RunResult(folder, manifest, graph, manifest.get("scores", {}))


class _Clock:
    """The seconds of a run over all its sittings, kept in the manifest."""

    def __init__(self, run: RunFolder, manifest: dict[str, Any]) -> None:
        self._run, self._manifest = run, manifest
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        earlier: float = self._manifest.get("seconds", 0.0)
        return earlier + time.monotonic() - self._started

    def write(self) -> None:
        """A sitting that is killed loses what was not written."""
        self._run.write_json(MANIFEST, self._manifest | {"seconds": self.seconds})


class _Follower:
    """Passes the search's reports on, and keeps trials.csv and the clock up to date."""

    def __init__(self, run: RunFolder, progress: TrainingProgress, clock: _Clock) -> None:
        self._run, self._progress, self._clock = run, progress, clock
        self._nets: list[TrainedNet] = []
        self._written = -SECONDS_BETWEEN_TABLES

    def __call__(self, nets: Sequence[TrainedNet], share: float) -> None:
        self._progress(nets, share)
        self._nets.extend(nets)
        if self._nets and time.monotonic() - self._written > SECONDS_BETWEEN_TABLES:
            self._run.write_table("trials.csv", tabulate_trials(self._nets))
            self._clock.write()
            self._written = time.monotonic()


def _load_truth(path: Path | None, data: Data) -> nx.DiGraph | None:
    if path is None:
        return None
    truth = load_graph(path)
    check_truth(truth, data.inputs, data.outputs)
    return truth


def _write_scores(run: RunFolder, truth: nx.DiGraph | None) -> None:
    """Score against the truth, where one was given, and keep the scores in the manifest."""
    if truth is None:
        return
    manifest = load_manifest(run.folder)
    scores = score_folder(run.folder, truth)
    run.write_json("scores.json", scores)
    write_graph(truth, run.folder / "truth.json")
    run.write_json(MANIFEST, manifest | {"scores": scores})
