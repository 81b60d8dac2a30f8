"""What a run folder holds: what the run is, and what it found."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import networkx as nx

from rinn.config import RunSettings, Trial
from rinn.data.align import fingerprint
from rinn.data.kinds import describe_outputs
from rinn.data.likelihoods import MIXED
from rinn.data.problem import MANY_INPUTS
from rinn.data.records import Data
from rinn.data.warnings import find_warnings
from rinn.graphs.basics import collapse
from rinn.graphs.files import edges_table, write_graph
from rinn.nets.curves import CURVES, tabulate_curves
from rinn.pipeline import Fit, tabulate_activity, tabulate_effects
from rinn.runs.covariates import COVARIATES, sum_up_covariates, tabulate_covariates
from rinn.runs.folder import FORMAT, MANIFEST, WEIGHTS, RunFolder, save_kept
from rinn.structure.constants import SAMPLES_PER_INPUT
from rinn.structure.effects import CORRECTED, NETWORK
from rinn.structure.prior.resolve import Resolved
from rinn.structure.prior.sources import PriorKnowledge

PRIOR = "prior.json"
FIT_LEVEL = 0.05  # of the test of fit: below, the graph leaves effects unexplained
MIN_P = 1e-4  # smaller p-values are not spelled out
MAX_SHOWN = 20  # contradictions that the manifest and the report list
PACKAGES = ("rinn", "jax", "optax", "numpy", "pandas", "networkx", "scikit-learn")


def describe_run(
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


def describe_effects(
    source: str,
    asked: str = "auto",
    *,
    kept: int,
    samples: int,
    inputs: int,
    skip_reason: str | None = None,
) -> str:
    """Say what the graph was read from, and why.

    Example:
        >>> describe_effects("network", "network", kept=20, samples=4500, inputs=16)
        'The graph is read from the effects of the inputs in the 20 kept networks, as asked for.'
    """
    which = "kept network" if kept == 1 else f"{kept} kept networks"
    if source == NETWORK:
        return f"The graph is read from the effects of the inputs in the {which}, as asked for."
    if source == CORRECTED:
        better = "because networks predict held-out samples better than a regression"
        return (
            f"The graph is read from the effects of the inputs in the {which}, corrected by a "
            f"regression of their residuals, {better if asked == 'auto' else 'as asked for'}."
        )
    is_joint = samples >= SAMPLES_PER_INPUT * inputs
    if skip_reason:
        how = "a linear regression of the outputs on all inputs"
        how = how if is_joint else "regressions on each input by itself"
        return (
            f"The graph is read from {how}. No network was trained, {skip_reason}; 'rinn fit "
            f"--effects corrected' trains networks."
        )
    if not is_joint:
        return (
            f"The graph is read from regressions on each input by itself, because there are fewer "
            f"than {SAMPLES_PER_INPUT} samples for each input; the networks only predict."
        )
    why = "because its effects are clear or networks do not predict held-out samples better"
    if inputs > MANY_INPUTS:
        why = f"because there are more than {MANY_INPUTS} of them"
    return (
        f"The graph is read from a linear regression of the outputs on all inputs, "
        f"{why if asked == 'auto' else 'as asked for'}; the networks only predict."
    )


def describe_fit(fit: dict[str, float], edges: int) -> str:
    """Say whether a graph explains the effects.

    Example:
        >>> describe_fit({"chi2": 213.2, "df": 218, "p": 0.58}, 40)
        'Test of fit: chi-square 213 on 218 degrees of freedom, p = 0.58: the graph explains the \
effects.'
    """
    if not fit["df"]:
        return "Test of fit: not possible, because the graph has an edge for each effect."
    p = f"p = {fit['p']:.2g}" if fit["p"] >= MIN_P else f"p < {MIN_P:g}"
    verdict = "the graph explains the effects" if edges else "there is no effect to explain"
    if fit["p"] < FIT_LEVEL:
        verdict = "some effects are not explained by this graph"
    return (
        f"Test of fit: chi-square {fit['chi2']:.0f} on {fit['df']:.0f} degrees of freedom, {p}: "
        f"{verdict}."
    )


def describe_prior(prior: PriorKnowledge, known: Resolved) -> dict[str, Any]:
    """What the manifest says of prior knowledge before anything is found."""
    return {
        "files": dict(prior.files),
        "account": list(known.account),
        "options": {
            "set_weight": prior.set_weight,
            "network_steps": prior.steps,
            "network_weight": prior.network_weight,
            "network_directed": prior.is_directed,
            "network_mask": prior.is_mask,
        },
    }


def fingerprint_plan(trials: Sequence[Trial]) -> str:
    """Sum up what a run trains: another release may plan the same settings differently."""
    plan = json.dumps([dataclasses.asdict(trial) for trial in trials])
    return hashlib.sha256(plan.encode()).hexdigest()


def write_fit(run: RunFolder, fit: Fit, manifest: dict[str, Any]) -> None:
    """Write what was found; the manifest last, since `complete` promises the rest."""
    run.write_table("trials.csv", fit.trials)
    _write_networks(run, fit)
    _write_graph(run, fit, manifest["settings"])
    manifest = manifest | _write_beside(run, fit, manifest)
    about = {"samples": len(fit.problem.test), "loss": fit.problem.loss}
    run.write_json(
        MANIFEST,
        manifest
        | {
            "status": "complete",
            "warnings": [*find_warnings(fit.data, fit.networks), *fit.output_causes],
            "networks": {
                "trained": len(fit.nets),
                "sets": len({net.trial.setting for net in fit.nets}),
                "kept": [net.trial.number for net in fit.kept],
                "nearest": [net.trial.number for net in fit.ten],
            },
            "test": fit.test.to_json() | about if fit.test else None,
            "test_of_ten": fit.test_of_ten.to_json() | about if fit.test_of_ten else None,
        },
    )


def _write_networks(run: RunFolder, fit: Fit) -> None:
    """The kept networks, with what is needed to use them, and their curves."""
    kept = {net.trial.number for net in fit.kept}
    both = fit.kept + [net for net in fit.ten if net.trial.number not in kept]
    save_kept(run.folder / WEIGHTS, both, _make_notes(fit))
    curves = tabulate_curves({net.trial.number: net.curve for net in both})
    if len(curves):
        run.write_table(CURVES, curves)


def _make_notes(fit: Fit) -> dict[str, Any]:
    """Units of the networks' inputs and outputs, and what covariates add to the outputs."""
    problem = fit.problem
    notes: dict[str, Any] = {
        "loss": problem.loss,
        "x_scaling_mean": problem.x_scale.mean.tolist(),
        "x_scaling_std": problem.x_scale.std.tolist(),
        "y_scaling_mean": problem.y_scale.mean.tolist(),
        "y_scaling_std": problem.y_scale.std.tolist(),
        "x_least": fit.data.x.min(axis=0).tolist(),
        "x_most": fit.data.x.max(axis=0).tolist(),
        "x_mean": fit.data.x.mean(axis=0).tolist(),
    }
    if problem.loss == MIXED:
        notes["kinds"] = list(problem.likelihood.kinds)
        notes["y_top"] = problem.likelihood.top.tolist()
    if problem.adjustment and fit.data.covariates:
        notes["covariates"] = {
            "codings": [dataclasses.asdict(c) for c in fit.data.covariates.codings],
            "coefficients": [m.coefficients.tolist() for m in problem.adjustment.models],
        }
    return notes


def _write_graph(run: RunFolder, fit: Fit, settings: dict[str, Any]) -> None:
    graph, found = fit.latent.graph, fit.latent.candidates
    if fit.effects and not settings["bootstraps"]:
        graph, found = _drop_frequencies(graph), _drop_frequencies(found)
    if not nx.is_directed_acyclic_graph(graph):
        # Latents on a cycle cannot be told apart by what they reach: files and pictures have one.
        graph = collapse(graph)
    write_graph(graph, run.folder / "graph.json")
    write_graph(graph, run.folder / "graph.graphml")
    run.write_table("edges.csv", edges_table(graph if fit.detected else found, reported=graph))


def _drop_frequencies(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without frequencies, which nothing is known of without resamples."""
    plain = graph.copy()
    for values in (*plain.nodes.values(), *plain.edges.values()):
        values.pop("frequency", None)
    return plain


def _write_beside(run: RunFolder, fit: Fit, manifest: dict[str, Any]) -> dict[str, Any]:
    """What stands beside the graph; returns what the manifest says of it."""
    told: dict[str, Any] = {}
    if outputs := describe_outputs(fit.problem):
        told["outputs"] = outputs
    if fit.problem.adjustment and fit.data.covariates:
        table = tabulate_covariates(fit.problem, fit.data.covariates, fit.data.outputs)
        run.write_table(COVARIATES, table)
        told["covariates"] = sum_up_covariates(fit.problem, fit.data.covariates)
    if fit.effects:
        run.write_table("effects.csv", tabulate_effects(fit.data, fit.effects))
        told["effects"] = {
            "source": fit.effects.source,
            "sentence": describe_effects(
                fit.effects.source,
                manifest["settings"]["effects"],
                kept=len(fit.kept),
                samples=len(fit.problem.seen),
                inputs=len(fit.data.inputs),
                skip_reason=fit.skip_reason,
            ),
        }
    if fit.latent.fit:
        sentence = describe_fit(fit.latent.fit, fit.latent.graph.number_of_edges())
        told["fit"] = {**fit.latent.fit, "sentence": sentence}
    if fit.influence:
        did = fit.influence.to_json()
        run.write_json(PRIOR, did)
        some = {name: did[name] for name in ("sentence", "counts", "dropped_inputs")}
        some["contradictions"] = did["contradictions"][:MAX_SHOWN]
        told["prior"] = manifest.get("prior", {}) | some
    if fit.refit and fit.comparison:
        run.write_json("refit.json", fit.refit.to_json())
        run.write_table("activity.csv", tabulate_activity(fit.data, fit.refit))
        told["comparison"] = fit.comparison.to_json()
    return told
