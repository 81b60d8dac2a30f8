"""The files of a run folder: what the run is, and its results."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import networkx as nx
import pandas as pd

from rinn.config import RunSettings
from rinn.data.align import fingerprint
from rinn.data.kinds import describe_outputs
from rinn.data.likelihoods import MIXED
from rinn.data.problem import MANY_INPUTS, SAMPLES_PER_INPUT
from rinn.data.records import Data, Screening
from rinn.data.warnings import find_warnings
from rinn.graphs.basics import collapse
from rinn.graphs.files import write_graph
from rinn.graphs.formats.tables import edges_table
from rinn.nets.curves import CURVES, tabulate_curves
from rinn.nets.predict import TestScores
from rinn.pipeline import Fit, Plan, annotate_latent
from rinn.refit.refit import Refit
from rinn.runs.checkpoint import WEIGHTS, save_kept
from rinn.runs.covariates import COVARIATES, summarise_covariates, tabulate_covariates
from rinn.runs.folder import FORMAT, OutputFolder, find_versions
from rinn.runs.manifest import (
    DeviceSummary,
    EffectsSummary,
    FitSummary,
    Manifest,
    NetworkSummary,
    OutputSummary,
    PredictionSummary,
    PriorSummary,
    Tables,
    read_record,
)
from rinn.structure.constants import SCREEN_FDR
from rinn.structure.effects import CORRECTED, NETWORK, Effects
from rinn.structure.prior.influence import MAX_LISTED
from rinn.structure.prior.resolve import Resolved
from rinn.structure.prior.sources import PriorKnowledge

PRIOR = "prior.json"
SCREENING = "screening.csv"
FIT_LEVEL = 0.05  # of the test of fit: below, the graph leaves effects unexplained
MIN_P = 1e-4  # smaller p-values are not spelled out
MAX_SHOWN = 20  # contradictions that the manifest and the report list
PACKAGES = ("rinn", "jax", "optax", "numpy", "pandas", "networkx", "scikit-learn")


def describe_run(
    plan: Plan,
    data: Data,
    tables: Mapping[str, str],
    devices: Sequence[jax.Device],
    prior: PriorKnowledge | None = None,
    command: Sequence[str] = (),
) -> Manifest:
    """The manifest of a run that begins; `tables` are the names of x, y and covariates."""
    identity, summary = fingerprint(data), None
    data = plan.data
    if prior and plan.prior:
        identity |= {"prior": plan.prior.prior.fingerprint()}
        summary = _describe_prior(prior, plan.prior)
    trials = json.dumps([dataclasses.asdict(trial) for trial in plan.trials])
    return Manifest(
        format=FORMAT,
        status="running",
        settings=plan.settings,
        data=identity,
        created=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        tables=Tables(
            **tables,
            samples=len(data.x),
            inputs=data.inputs,
            outputs=data.outputs,
            dropped=data.dropped,
        ),
        versions=find_versions(PACKAGES),
        device=DeviceSummary(devices[0].platform, devices[0].device_kind, len(devices)),
        prior=summary,
        plan=hashlib.sha256(trials.encode()).hexdigest(),
        command=tuple(command),
    )


def describe_effects(
    source: str,
    asked: str = "auto",
    *,
    kept: int,
    samples: int,
    inputs: int,
    skip_reason: str | None = None,
    which_inputs: str = "all",
    is_small: bool = False,
) -> str:
    """Say what the graph was read from, and why."""
    which = "kept network" if kept == 1 else f"{kept} kept networks"
    if source == NETWORK:
        end = "" if asked == "auto" else ", as requested"
        return f"The graph is read from the effects of the inputs in the {which}{end}."
    if source == CORRECTED:
        better = "because networks predict held-out samples better than a regression"
        return (
            f"The graph is read from the effects of the inputs in the {which}, corrected by a "
            f"regression of their residuals, {better if asked == 'auto' else 'as requested'}."
        )
    is_joint = samples >= SAMPLES_PER_INPUT * inputs
    if skip_reason:
        how = f"a linear regression of the outputs on {which_inputs} inputs"
        how = how if is_joint else "regressions on each input by itself"
        more = "" if is_small else "; 'rinn fit --effects corrected' trains networks"
        return f"The graph is read from {how}. No network was trained, {skip_reason}{more}."
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
        f"{why if asked == 'auto' else 'as requested'}; the networks only predict."
    )


def describe_screening(data: Data, samples: int) -> list[str]:
    """Say which columns a screening kept, and what follows from it; nothing without one."""
    screening = data.screening
    if screening is None:
        return []
    inputs, outputs = len(screening.inputs), len(screening.outputs)
    result = [
        f"A screening for effects kept {len(data.inputs):,} of {inputs:,} inputs and "
        f"{len(data.outputs):,} of {outputs:,} outputs (false-discovery rate {SCREEN_FDR:g}; "
        f"{SCREENING} lists all); the others count as having no effect."
    ]
    if samples < SAMPLES_PER_INPUT * inputs and len(data.inputs) < inputs:
        result.append(
            "There are too few samples for a regression on all inputs, so that an edge of an input "
            "may be that of a correlated one which was left out."
        )
    return result


def describe_fit(fit: dict[str, float], edges: int) -> str:
    """Say whether a graph explains the effects."""
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


def _describe_prior(prior: PriorKnowledge, resolved: Resolved) -> PriorSummary:
    """What the manifest says of prior knowledge before anything is found."""
    options = {
        "set_weight": prior.set_weight,
        "network_steps": prior.steps,
        "network_weight": prior.network_weight,
        "network_directed": prior.is_directed,
        "network_mask": prior.is_mask,
    }
    return PriorSummary(dict(prior.files), tuple(resolved.notes), options)


def write_fit(run: OutputFolder, fit: Fit, manifest: Manifest) -> None:
    """Write the results; the manifest last, since `complete` promises all other files."""
    run.write_table("trials.csv", fit.trials)
    _write_networks(run, fit)
    _write_graph(run, fit, manifest.settings)
    manifest = _write_details(run, fit, manifest)
    manifest = replace(
        manifest,
        status="complete",
        warnings=(*find_warnings(fit.data, fit.networks), *fit.output_causes),
        networks=NetworkSummary(
            trained=len(fit.nets),
            sets=len({net.trial.setting for net in fit.nets}),
            kept=tuple(net.trial.number for net in fit.kept),
            paper=tuple(net.trial.number for net in fit.paper_nets),
        ),
        test=_describe_test(fit.test, fit),
        paper_test=_describe_test(fit.paper_test, fit),
    )
    run.write_manifest(manifest.to_json())


def _describe_test(scores: TestScores | None, fit: Fit) -> PredictionSummary | None:
    if scores is None:
        return None
    values = scores.to_json() | {"samples": len(fit.problem.test), "loss": fit.problem.loss}
    summary: PredictionSummary = read_record(PredictionSummary, values)
    return summary


def _write_networks(run: OutputFolder, fit: Fit) -> None:
    """Write the kept networks, with what is needed to use them, and their curves."""
    kept = {net.trial.number for net in fit.kept}
    both = fit.kept + [net for net in fit.paper_nets if net.trial.number not in kept]
    save_kept(run.path / WEIGHTS, both, _make_notes(fit))
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
        "x_min": fit.data.x.min(axis=0).tolist(),
        "x_max": fit.data.x.max(axis=0).tolist(),
        "x_mean": fit.data.x.mean(axis=0).tolist(),
        "coding": list(fit.data.coding),
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


def _write_graph(run: OutputFolder, fit: Fit, settings: RunSettings) -> None:
    has_frequencies = not fit.effects or settings.bootstraps > 0
    latent = annotate_latent(fit.latent, frequencies=has_frequencies)
    graph = latent.graph
    if not nx.is_directed_acyclic_graph(graph):
        # Latents on a cycle cannot be told apart by what they reach: files and pictures have one.
        graph = collapse(graph)
    write_graph(graph, run.path / "graph.json")
    write_graph(graph, run.path / "graph.graphml")
    run.write_table(
        "edges.csv", edges_table(graph if fit.detected else latent.candidates, reported=graph)
    )


def _write_details(run: OutputFolder, fit: Fit, manifest: Manifest) -> Manifest:
    """Write what belongs to the graph; returns the manifest with what is said of it."""
    changes: dict[str, Any] = {}
    if outputs := describe_outputs(fit.problem):
        changes["outputs"] = OutputSummary(**outputs)
    if fit.problem.adjustment and fit.data.covariates:
        table = tabulate_covariates(fit.problem, fit.data.covariates, fit.data.outputs)
        run.write_table(COVARIATES, table)
        changes["covariates"] = summarise_covariates(fit.problem, fit.data.covariates)
    if fit.data.screening:
        run.write_table(SCREENING, tabulate_screening(fit.data, fit.data.screening))
    if fit.effects:
        run.write_table("effects.csv", tabulate_effects(fit.data, fit.effects))
        sentence = describe_effects(
            fit.effects.source,
            manifest.settings.effects,
            kept=len(fit.kept),
            samples=len(fit.problem.seen),
            inputs=len(fit.data.inputs),
            skip_reason=fit.skip_reason,
            which_inputs="these" if fit.data.screening else "all",
            is_small=fit.problem.is_small,
        )
        sentence = " ".join([*describe_screening(fit.data, len(fit.problem.seen)), sentence])
        changes["effects"] = EffectsSummary(fit.effects.source, sentence)
    if fit.latent.fit:
        sentence = describe_fit(fit.latent.fit, fit.latent.graph.number_of_edges())
        changes["fit"] = FitSummary(**fit.latent.fit, sentence=sentence)
    if fit.influence and manifest.prior:
        run.write_json(PRIOR, fit.influence.to_json())
        changes["prior"] = replace(
            manifest.prior,
            sentence=fit.influence.sentence,
            counts=fit.influence.to_json()["counts"],
            dropped_inputs=fit.influence.dropped_inputs[:MAX_LISTED],
            contradictions=fit.influence.contradictions[:MAX_SHOWN],
        )
    if fit.refit:
        run.write_json("refit.json", fit.refit.to_json())
        run.write_table("activity.csv", tabulate_activity(fit.data, fit.refit))
        changes["comparison"] = fit.comparison
    return replace(manifest, **changes)


def tabulate_effects(data: Data, effects: Effects) -> pd.DataFrame:
    """One row for each input: its name, and its effect on each output, rounded."""
    values = pd.DataFrame(effects.z.round(4) + 0.0, columns=list(data.outputs))  # no -0.0
    values.insert(0, "", list(data.inputs))
    return values


def tabulate_screening(data: Data, screening: Screening) -> pd.DataFrame:
    """One row for each column of both tables: its largest |t| with a column of the other table."""
    parts = []
    for table, names, t, kept in (
        ("X", screening.inputs, screening.input_t, data.inputs),
        ("Y", screening.outputs, screening.output_t, data.outputs),
    ):
        values = {
            "table": table,
            "name": names,
            "max_abs_t": t.round(2),
            "kept": pd.Index(names).isin(kept),
        }
        parts.append(pd.DataFrame(values))
    return pd.concat(parts, ignore_index=True)


def tabulate_activity(data: Data, refit: Refit) -> pd.DataFrame:
    """One row for each sample: its id, and the activity of each latent, rounded."""
    names = data.samples or tuple(str(row) for row in range(1, len(data.x) + 1))
    columns = [latent.latent for latent in refit.latents]
    values = pd.DataFrame(refit.latent_values.round(4) + 0.0, columns=columns)  # no -0.0
    values.insert(0, "sample", list(names), allow_duplicates=True)
    return values
