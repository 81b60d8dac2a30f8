"""Does the graph of a run hold: analyses of its robustness, one line of `ANALYSES` each.

Without each level of a covariate, in half-samples, without prior knowledge: these fit again and
compare the graphs with the run's. Against an unmeasured confounder: by the effects of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from rinn.cluster.tasks import Workers, run_tasks
from rinn.config import RunSettings, Stream
from rinn.data.align import MIN_SAMPLES, fingerprint
from rinn.data.problem import SAMPLES_PER_INPUT
from rinn.data.records import Data
from rinn.data.subsets import find_levels, take_rows
from rinn.errors import InputError, count
from rinn.graphs.files import write_graph
from rinn.graphs.recurrence import (
    MAX_LISTED,
    tabulate_edges,
    tabulate_latents,
    tabulate_pairs,
)
from rinn.nets.devices import find_devices
from rinn.pipeline import fit_data, plan_run
from rinn.runs.folder import FORMAT, FolderKind, open_output
from rinn.runs.manifest import Manifest
from rinn.runs.read import RunContents, load_effects
from rinn.structure.effects import estimate_slopes
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.sensitivity import RATIOS, find_e_values, tabulate_sensitivity

FOLDER = FolderKind(
    "robustness analysis", "robustness.json", ("format", "analysis", "run", "options")
)
Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """A run, the tables that it was fitted on where these are needed, and options."""

    run: RunContents
    data: Data | None = None
    prior: PriorKnowledge | None = None
    covariate: str | None = None
    resamples: int = 25
    device: str = "auto"
    workers: Workers | None = None

    @property
    def manifest(self) -> Manifest:
        """That of the run."""
        return self.run.manifest


@dataclass(frozen=True)
class Findings:
    """Tables by file name, what is said of them, and the graphs of further fits by label."""

    tables: dict[str, pd.DataFrame]
    sentences: tuple[str, ...]
    graphs: dict[str, nx.DiGraph] = field(default_factory=dict)


@dataclass(frozen=True)
class Refits:
    """Fits of some samples each, to be compared with the run; `what` they are, in words."""

    parts: dict[str, np.ndarray]
    settings: RunSettings
    prior: PriorKnowledge | None
    what: str


@dataclass(frozen=True)
class Analysis:
    """One way to ask whether a graph holds; `plan` refuses what it cannot do."""

    about: str
    plan: Callable[[Request], Refits | Findings]
    needs_tables: bool = True


def analyse(name: str, request: Request, out: Path, say: Say) -> Findings:
    """Carry out an analysis and write it into a folder; read it where that was done before."""
    analysis = ANALYSES[name]
    if analysis.needs_tables:
        _check_tables(name, request)
    planned = analysis.plan(request)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "status": "running",
        "analysis": name,
        "run": request.manifest.data | {"created": request.manifest.created},
        "options": {
            "covariate": request.covariate,
            "resamples": request.resamples,
            "tables": request.data is not None,
        },
    }
    with open_output(out, manifest, FOLDER) as folder:
        if folder.is_complete:
            stored = folder.stored["tables"].items()
            tables = {file: pd.DataFrame(rows) for file, rows in stored}
            return Findings(tables, tuple(folder.stored["sentences"]))
        found = planned if isinstance(planned, Findings) else _refit(request, planned, say)
        for file, table in found.tables.items():
            folder.write_table(file, table, digits="%.4g")
        if found.graphs and len(found.graphs) <= MAX_LISTED:
            manifest["graphs"] = {}
            for number, (label, graph) in enumerate(found.graphs.items(), 1):
                write_graph(graph, out / f"graph_{number}.json")
                manifest["graphs"][f"graph_{number}.json"] = label
        results = {
            "status": "complete",
            "sentences": list(found.sentences),
            "tables": {file: _to_json(table) for file, table in found.tables.items()},
        }
        folder.write_manifest(manifest | results)
    return found


def _plan_levels(request: Request) -> Refits:
    """Leave out each level of a covariate."""
    data, name = _get_data(request), request.covariate
    if name is None:
        raise InputError(
            "levels needs --covariate NAME, one of the run's covariates, but got none; name it"
        )
    level_of = find_levels(data.covariates, name)
    parts = {}
    for level in sorted({*level_of}):
        rows = np.flatnonzero(level_of != level)
        if len(rows) < MIN_SAMPLES:
            raise InputError(
                f"--covariate must leave at least {MIN_SAMPLES} samples without any of its levels, "
                f"but {len(rows)} are left without {level!r}; join levels"
            )
        parts[f"without {level}"] = rows
    what = f"fits without one level of {name}"
    return Refits(parts, request.manifest.settings, request.prior, what)


def _plan_halves(request: Request) -> Refits:
    """Draw complementary halves (Meinshausen, Buehlmann 2010; Shah, Samworth 2013)."""
    data, settings = _get_data(request), request.manifest.settings
    if len(data.x) < 2 * MIN_SAMPLES:
        raise InputError(
            f"halves needs at least {2 * MIN_SAMPLES} samples, but the run has {len(data.x)}; half "
            f"of them are too few for a fit"
        )
    rng = np.random.default_rng([settings.seed, Stream.HALVES])
    parts: dict[str, np.ndarray] = {}
    for number in range(1, 2 * request.resamples, 2):
        one, other = _halve(data, rng)
        parts |= {f"half {number}": one, f"half {number + 1}": other}
    # A half-sample says how often something is found; it needs no frequencies of its own.
    return Refits(parts, replace(settings, bootstraps=0), request.prior, "half-samples")


def _plan_without_prior(request: Request) -> Refits:
    """Leave out prior knowledge."""
    if request.manifest.prior is None:
        raise InputError(
            "prior needs a run with prior knowledge, but RUN was fitted without any; there is "
            "nothing to leave out"
        )
    parts = {"without the prior": np.arange(len(_get_data(request).x))}
    return Refits(parts, request.manifest.settings, None, "fit without the prior")


def _find_confounders(request: Request) -> Findings:
    """Find the robustness values of all effects and edges that are reported."""
    run, manifest = request.run, request.manifest
    if request.data is not None:
        _check_tables("confounder", request)
    t, inputs = load_effects(run.folder)
    seen = manifest.tables.samples - (manifest.test.samples if manifest.test else 0)
    covariates = len(manifest.covariates.columns) if manifest.covariates else 0
    is_joint = seen >= SAMPLES_PER_INPUT * len(inputs)
    df = seen - covariates - 1 - (len(inputs) if is_joint else 1)
    effects, edges = tabulate_sensitivity(run.graph, t, inputs, run.outputs, df)
    sentences = [
        f"{count(len(effects), 'effect')} along the graph's paths, with {df} degrees of freedom."
    ]
    if len(effects):
        weak = int((effects["rv_significant"] == 0).sum())
        sentences += [
            f"A confounder that explains {effects['rv'].median():.0%} of the residual variance of "
            f"the input and of the output would explain the median effect away.",
            f"Effects that are not significant by themselves: {weak}.",
        ]
    if request.data is not None:
        effects = _add_e_values(effects, request, request.data)
        known = effects["e_bound"].dropna()
        sentences.append(
            f"E-values of the confidence limits of {count(len(known), 'risk ratio')}: "
            f"{known.min():.2f} to {known.max():.2f}, median {known.median():.2f}."
            if len(known)
            else "No E-values: they need a 0/1 input, a 0/1 output without gaps, "
            f"{SAMPLES_PER_INPUT} samples for each input, and expected risks between 0 and 1."
        )
    return Findings({"edges.csv": edges, "effects.csv": effects}, tuple(sentences))


def _add_e_values(effects: pd.DataFrame, request: Request, data: Data) -> pd.DataFrame:
    """Risk ratios and E-values of the effects of 0/1 inputs on 0/1 outputs."""
    plan = plan_run(data, request.manifest.settings, request.prior)
    problem, names = plan.problem, (plan.data.inputs, plan.data.outputs)
    slopes, t = estimate_slopes(problem)
    means = [table[:, problem.seen].mean(axis=1, dtype=float) for table in (problem.x, problem.y)]
    binary = [np.asarray(np.isin(table, (0, 1)).all(axis=1)) for table in (problem.x, problem.y)]
    if problem.observed is not None:
        binary[1] &= problem.observed.all(axis=1)
    rows, columns = (
        pd.Index(side).get_indexer(pd.Index(effects[end]))
        for side, end in zip(names, ("input", "output"), strict=True)
    )
    found = find_e_values(
        slopes[rows, columns], t[rows, columns], means[0][rows], means[1][columns],
        len(problem.seen),
    )  # fmt: skip
    usable = (rows >= 0) & (columns >= 0) & binary[0][rows] & binary[1][columns]
    usable &= len(problem.seen) >= SAMPLES_PER_INPUT * len(problem.x)
    shown = {name: np.where(usable, part, np.nan) for name, part in zip(RATIOS, found, strict=True)}
    return effects.assign(**shown)


ANALYSES = {
    "levels": Analysis("without each level of a covariate (--covariate NAME)", _plan_levels),
    "confounder": Analysis(
        "how strong an unmeasured confounder must be to explain each effect and edge",
        _find_confounders,
        needs_tables=False,
    ),
    "halves": Analysis("in random halves of the samples (--resamples N pairs)", _plan_halves),
    "prior": Analysis("without the prior knowledge of the run", _plan_without_prior),
}


def _check_tables(name: str, request: Request) -> None:
    """Refuse tables and priors other than those of the run."""
    manifest, data = request.manifest, request.data
    if data is None:
        raise InputError(
            f"{name} needs X and Y, the tables that RUN was fitted on ({manifest.tables.x} and "
            f"{manifest.tables.y}), but they are missing; name them after RUN"
        )
    wanted = {part: value for part, value in manifest.data.items() if part != "prior"}
    given = fingerprint(data)
    changed = [part for part in sorted({*wanted, *given}) if wanted.get(part) != given.get(part)]
    if changed:
        hint = "give the same files, in the same form"
        if "covariates" in changed and "covariates" not in given:
            hint = f"pass --covariates with {manifest.tables.covariates}"
        raise InputError(
            f"X and Y must be the tables that RUN was fitted on, but {', '.join(changed)} "
            f"{'differs' if len(changed) == 1 else 'differ'}; {hint}"
        )
    if manifest.prior is None or name == "prior":
        if request.prior is not None:
            raise InputError(
                f"{name} takes no prior knowledge for this run, but got some; leave it out"
            )
        return
    files = ", ".join(manifest.prior.files.values())
    resolved = plan_run(data, manifest.settings, request.prior).prior
    if resolved is None or resolved.prior.fingerprint() != manifest.data.get("prior"):
        raise InputError(
            f"{name} needs the prior knowledge that RUN was fitted with ({files}), with its "
            f"options, but got {'none' if resolved is None else 'other'}; give the same, or see "
            f"with 'rinn robust prior' what it changed"
        )


def _get_data(request: Request) -> Data:
    assert request.data is not None  # `_check_tables` has refused that
    return request.data


def _refit(request: Request, planned: Refits, say: Say) -> Findings:
    """Fit each part, and compare the graphs with the run's."""
    shared = _get_data(request), planned, request.device
    found: dict[str, nx.DiGraph] = {}
    for label, graph in run_tasks(request.workers, _fit_part, list(planned.parts), *shared):
        found[label] = graph
        size = count(len(planned.parts[label]), "sample")
        say(f"fit {len(found)} of {len(planned.parts)}: {label}, {size}")
    graphs = {label: found[label] for label in planned.parts}
    return _compare(request.run.graph, graphs, planned.what)


def _fit_part(label: str, data: Data, planned: Refits, device: str) -> nx.DiGraph:
    part, settings = take_rows(data, planned.parts[label]), replace(planned.settings, null=0)
    devices = find_devices(device)
    return fit_data(part, settings, devices, prior=planned.prior, refit=False).latent.graph


def _halve(data: Data, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of the samples, of each stratum of the covariates."""
    strata = np.zeros(len(data.x), int) if data.covariates is None else data.covariates.strata
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def _compare(graph: nx.DiGraph, graphs: dict[str, nx.DiGraph], what: str) -> Findings:
    tables = {
        "latents.csv": tabulate_latents(graph, graphs),
        "edges.csv": tabulate_edges(graph, graphs),
        "pairs.csv": tabulate_pairs(graph, graphs),
    }
    latents, edges, pairs = tables.values()
    always = f"all {len(graphs)} {what}" if len(graphs) > 1 else f"the {what}"
    kept = [
        f"{int((own['found'] == own['of']).sum())} of {count(len(own), noun)}"
        for own, noun in (
            (latents, "latent"),
            (edges[edges["in_run"]], "edge"),
            (pairs[pairs["in_run"]], "pair"),
        )
    ]
    often = [
        int((rows["found"] * 2 > rows["of"])[~rows["in_run"]].sum()) for rows in (edges, pairs)
    ]
    sentences = (
        f"{kept[0]}, {kept[1]} and {kept[2]} of input and output are in {always}.",
        f"In most of them but not in the run: {count(often[0], 'edge')} and "
        f"{count(often[1], 'pair')}.",
    )
    return Findings(tables, sentences, graphs)


def _to_json(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
