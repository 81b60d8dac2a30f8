"""A run from start to end: two files in, a run folder out."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import networkx as nx
from rich.console import Console

from rinn.chance import NETWORKS, NullRound, assign_q, fit_null, summarise_null
from rinn.cohorts import TrainedNet
from rinn.config import RunSettings, Trial
from rinn.confounding import sum_up_covariates, tabulate_covariates
from rinn.confounding.telling import COVARIATES
from rinn.curves import CURVES, tabulate_curves
from rinn.devices import find_devices
from rinn.evaluation import map_trained
from rinn.graphfiles import edges_table, load_graph, write_graph
from rinn.graphs import ROLES, by_role, collapse
from rinn.kinds import tell_outputs
from rinn.knowledge import Knowledge, Resolved, resolve
from rinn.likelihoods import MIXED
from rinn.matching import score_graph
from rinn.pairing import fingerprint, load_data
from rinn.pipeline import (
    Fit,
    check_knowledge,
    check_truth,
    fit_data,
    plan_run,
    score_found,
    tabulate_activity,
    tabulate_effects,
    tabulate_trials,
)
from rinn.progress import TrainingProgress
from rinn.records import Data
from rinn.report import write_report
from rinn.scoring import reach_vectors, score_hidden, score_inputs, truth_patterns
from rinn.store import (
    FORMAT,
    MANIFEST,
    WEIGHTS,
    RunFolder,
    load_kept,
    load_manifest,
    open_run,
    save_kept,
)

SECONDS_BETWEEN_TABLES = 2.0
NULL = "null.json"
PRIOR = "prior.json"
MOST_SHOWN = 20  # contradictions that the manifest and the report list
PACKAGES = ("rinn", "jax", "optax", "numpy", "pandas", "networkx", "scikit-learn")


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
    knowledge: Knowledge | None = None,
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
        knowledge: what is known of the inputs and outputs; another makes another run.
        console: where progress is shown.
        quiet: show nothing.
        command: the words that make this run again, for the manifest.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
        KeyboardInterrupt: after what was trained is saved.
    """
    console = console or Console(stderr=True)
    data = load_data(x_path, y_path, covariates_path, kinds_path)
    truth = _load_truth(truth_path, data)
    trials = plan_run(data, settings)[1]
    check_knowledge(knowledge, settings)
    known = resolve(knowledge, data) if knowledge else None
    devices = find_devices(device)
    manifest = _describe(data, settings, x_path, y_path, devices)
    if covariates_path is not None:
        manifest["tables"]["covariates"] = covariates_path.name
    if knowledge and known:
        manifest["data"] |= {"prior": known.prior.fingerprint()}
        manifest["prior"] = _describe_prior(knowledge, known)
    manifest |= {"plan": _fingerprint_plan(trials), "command": list(command or [])}
    with open_run(out, manifest, trials) as run:
        stored = load_manifest(out)
        if stored.get("status") != "complete":
            clock = _Clock(run, stored)
            try:
                silent = quiet or not trials
                with TrainingProgress(len(trials), console, silent) as progress:
                    report = _Follower(run, progress, clock)
                    fit = fit_data(
                        data, settings, devices, knowledge=knowledge, saver=run, report=report
                    )
                if settings.null:
                    search = functools.partial(fit_data, refit=False, knowledge=knowledge)
                    manifest["null"] = _fit_null(
                        run, fit, settings, devices, console, quiet, search
                    )
            finally:
                clock.write()
            seconds = clock.seconds
            _write_fit(run, fit, manifest | {"created": stored["created"], "seconds": seconds})
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
    path = run.folder / NULL
    done = json.loads(path.read_text())["rounds"] if path.exists() else []
    rounds = [NullRound.from_json(entry) for entry in done]

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
    for graph in (drawn, fit.latent.doubtful):
        nx.set_edge_attributes(graph, found, "q")
    sentence = summarise_null(null, drawn)
    if fit.data.covariates:
        sentence = f"{sentence} {fit.data.covariates.permutation}"
    return {"sentence": sentence, "rounds": settings.null, "drawn": null.drawn}


def load_run(folder: Path) -> RunResult:
    """Read a finished run folder.

    Raises:
        InputError: it is not a run folder, or the run is not complete.
    """
    manifest = load_manifest(folder)
    graph = load_graph(folder / "graph.json")
    return RunResult(folder, manifest, graph, manifest.get("scores", {}))


def score_path(path: Path | str, truth_path: Path | str) -> dict[str, Any]:
    """Score a run folder or a graph file against a truth.

    Args:
        path: a run folder, or a graph as .json or .graphml.
        truth_path: the truth as a graph file.

    Returns:
        `paper` (for a run with the paper's oracle threshold; for a graph its latents' reach, with
        no threshold) and `graph`.

    Raises:
        InputError: a file is missing or wrong.
    """
    path, truth = Path(path), load_graph(Path(truth_path))
    if path.is_dir():
        return _score_folder(path, truth)
    return _score_alone(load_graph(path), truth)


def _score_alone(graph: nx.DiGraph, truth: nx.DiGraph) -> dict[str, Any]:
    """Score a graph that no network stands behind."""
    names = {role: by_role(graph, role) for role in ROLES}
    check_truth(truth, names["input"], names["output"])
    patterns = truth_patterns(truth, names["output"], names["input"])
    hidden = score_hidden(reach_vectors(graph, names["latent"], names["output"]), patterns)
    inputs = score_inputs(reach_vectors(graph, names["input"], names["output"]), patterns)
    paper = {"hidden": hidden.to_json(), "input": inputs.to_json(), "threshold": None}
    return {"paper": paper, "graph": score_graph(graph, truth).to_json()}


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


def _describe(
    data: Data,
    settings: RunSettings,
    x_path: Path,
    y_path: Path,
    devices: Sequence[jax.Device],
) -> dict[str, Any]:
    """The manifest: what the run is (settings, data) and how it was made."""
    return {
        "format": FORMAT,
        "status": "running",
        "settings": settings.to_json(),
        "data": fingerprint(data),
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "tables": {
            "x": x_path.name,
            "y": y_path.name,
            "samples": len(data.x),
            "inputs": list(data.inputs),
            "outputs": list(data.outputs),
            "dropped": [entry.__dict__ for entry in data.dropped],
        },
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES}
        | {"python": platform.python_version()},
        "device": {
            "platform": devices[0].platform,
            "kind": devices[0].device_kind,
            "count": len(devices),
        },
    }


def _describe_prior(knowledge: Knowledge, known: Resolved) -> dict[str, Any]:
    return {
        "files": dict(knowledge.files),
        "account": list(known.account),
        "options": {
            "set_weight": knowledge.set_weight,
            "network_steps": knowledge.steps,
            "network_weight": knowledge.network_weight,
            "network_directed": knowledge.is_directed,
            "network_mask": knowledge.is_mask,
        },
    }


def _fingerprint_plan(trials: Sequence[Trial]) -> str:
    """Sum up what a run trains: another release may plan the same settings differently."""
    plan = json.dumps([dataclasses.asdict(trial) for trial in trials])
    return hashlib.sha256(plan.encode()).hexdigest()


def _write_fit(run: RunFolder, fit: Fit, manifest: dict[str, Any]) -> None:
    """Write what was found; the manifest last, since `complete` promises the rest."""
    run.write_table("trials.csv", fit.trials)
    notes = {
        "loss": fit.problem.loss,
        "x_centre": fit.problem.x_scale.centre.tolist(),
        "x_spread": fit.problem.x_scale.spread.tolist(),
        "y_centre": fit.problem.y_scale.centre.tolist(),
        "y_spread": fit.problem.y_scale.spread.tolist(),
        "x_least": fit.data.x.min(axis=0).tolist(),
        "x_most": fit.data.x.max(axis=0).tolist(),
        "x_mean": fit.data.x.mean(axis=0).tolist(),
    }
    if fit.problem.loss == MIXED:
        notes["kinds"] = list(fit.problem.likelihood.kinds)
        notes["y_top"] = fit.problem.likelihood.top.tolist()
    if told := tell_outputs(fit.problem):
        manifest = manifest | {"outputs": told}
    if fit.problem.adjustment and fit.data.covariates:
        notes["covariates"] = {
            "codings": [dataclasses.asdict(c) for c in fit.data.covariates.codings],
            "coefficients": [m.coefficients.tolist() for m in fit.problem.adjustment.models],
        }
        found = tabulate_covariates(fit.problem, fit.data.covariates, fit.data.outputs)
        run.write_table(COVARIATES, found)
        manifest = manifest | {"covariates": sum_up_covariates(fit.problem, fit.data.covariates)}
    kept = [net.trial.number for net in fit.kept]
    nearest = [net.trial.number for net in fit.ten]
    both = fit.kept + [net for net in fit.ten if net.trial.number not in kept]
    save_kept(run.folder / WEIGHTS, both, notes)
    curves = tabulate_curves({net.trial.number: net.curve for net in both})
    if len(curves):
        run.write_table(CURVES, curves)
    graph = fit.latent.graph
    if not nx.is_directed_acyclic_graph(graph):
        # Latents on a cycle cannot be told apart by what they reach: files and pictures have one.
        graph = collapse(graph)
    write_graph(graph, run.folder / "graph.json")
    write_graph(graph, run.folder / "graph.graphml")
    run.write_table(
        "edges.csv", edges_table(fit.latent.doubtful if fit.nets else graph, drawn=graph)
    )
    about = {"samples": len(fit.problem.test), "loss": fit.problem.loss}
    test = fit.test.to_json() | about if fit.test else None
    test_of_ten = fit.test_of_ten.to_json() | about if fit.test_of_ten else None
    if fit.effects:
        run.write_table("effects.csv", tabulate_effects(fit.data, fit.effects))
    if fit.influence:
        did = fit.influence.to_json()
        run.write_json(PRIOR, did)
        some = {name: did[name] for name in ("sentence", "counts", "silenced")}
        some["contradictions"] = did["contradictions"][:MOST_SHOWN]
        manifest = manifest | {"prior": manifest.get("prior", {}) | some}
    if fit.refit and fit.comparison:
        run.write_json("refit.json", fit.refit.to_json())
        run.write_table("activity.csv", tabulate_activity(fit.data, fit.refit))
        manifest = manifest | {"comparison": fit.comparison.to_json()}
    sets = len({net.trial.setting for net in fit.nets})
    counts = {"trained": len(fit.nets), "sets": sets, "kept": kept, "nearest": nearest}
    run.write_json(
        MANIFEST,
        manifest
        | {"status": "complete", "networks": counts, "test": test, "test_of_ten": test_of_ten},
    )


def _write_scores(run: RunFolder, truth: nx.DiGraph | None) -> None:
    """Score against the truth, where one was given, and keep the scores in the manifest."""
    if truth is None:
        return
    manifest = load_manifest(run.folder)
    scores = _score_folder(run.folder, truth)
    run.write_json("scores.json", scores)
    write_graph(truth, run.folder / "truth.json")
    run.write_json(MANIFEST, manifest | {"scores": scores})


def _score_folder(folder: Path, truth: nx.DiGraph) -> dict[str, Any]:
    manifest = load_manifest(folder)
    tables = manifest["tables"]
    nets = {net.trial.number: net for net in load_kept(folder / WEIGHTS)[0]}
    maps = [map_trained(nets[number]) for number in manifest["networks"]["nearest"]]
    graph = load_graph(folder / "graph.json")
    if not maps:
        return _score_alone(graph, truth)
    paper, graph_scores = score_found(maps, graph, truth, tables["inputs"], tables["outputs"])
    return {"paper": paper.to_json(), "graph": graph_scores.to_json()}
