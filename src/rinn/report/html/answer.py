"""The start of the report: the result in three sentences."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.errors import count
from rinn.graphs.basics import by_role
from rinn.report.html.markup import Markup, element, paragraph
from rinn.runs.manifest import Spread
from rinn.runs.read import RunContents

MAX_WARNINGS = 3


def render_answer(contents: RunContents) -> Markup:
    """The result in three sentences, and the warnings."""
    sentences = [paragraph(sentence) for sentence in answer_info(contents)]
    warnings = [
        paragraph(sentence, class_="careful") for sentence in contents.manifest.warnings or ()
    ]
    others = warnings[MAX_WARNINGS:]
    if others:  # the graph stays on the first screen
        summary = element("summary", f"and {count(len(others), 'more warning')}")
        warnings = [*warnings[:MAX_WARNINGS], element("details", summary, *others)]
    return element("div", *sentences, *warnings, class_="lead")


def answer_info(contents: RunContents) -> tuple[str, str, str]:
    """Describe what was found, from how many networks, and how well it predicts."""
    if not contents.is_measured:
        return _answer_alone(contents)
    effects, networks = contents.manifest.effects, contents.manifest.networks
    predicts = _describe_test(contents, "the kept networks have")
    if effects and not contents.nets:
        predicts = _describe_test(contents, "the graph's own network has")
        return _describe_found(contents), effects.sentence, predicts
    if networks is None:
        raise contents.reject("manifest.json")
    trained, kept, rule = networks.trained, len(networks.kept), "the lowest validation loss"
    if contents.manifest.settings.select != "accurate":
        rule = "the best balance of few weights and low validation loss"
    sentence = (
        f"{count(trained, 'network')} {'was' if trained == 1 else 'were'} trained, and the {kept} "
        f"with {rule} {'was' if kept == 1 else 'were'} kept."
    )
    sentence += f" {effects.sentence}" if effects else ""
    return _describe_found(contents), sentence, predicts


def _describe_found(contents: RunContents) -> str:
    graph = contents.graph
    latents = by_role(graph, "latent")
    if not latents:
        none = "No latent is reported: none was found often enough with effects beyond chance"
        others = _describe_others(graph)
        return f"{none}; the graph has {others}." if others else f"{none}."
    joined = {name for latent in latents for name in nx.all_neighbors(graph, latent)}
    sides = [
        f"{len(joined.intersection(names))} of {count(len(names), role)}"
        for role in ("input", "output")
        for names in [by_role(graph, role)]
    ]
    verb = "connects" if len(latents) == 1 else "connect"
    found = f"{count(len(latents), 'latent')} {verb} {' with '.join(sides)}"
    if others := _describe_others(graph):
        found += f", in addition to {others}"
    percents = [100 * graph.nodes[name].get("frequency", np.nan) for name in latents]
    if np.isnan(percents).any():
        return f"{found}."
    low, high = f"{min(percents):.0f}%", f"{max(percents):.0f}%"
    span = low if low == high else f"{low} to {high}"
    each = "it was found" if len(latents) == 1 else "each was found"
    return f"{found}; {each} in {span} of {contents.repeats}."


def _describe_others(graph: nx.DiGraph) -> str:
    """Count the edges into outputs that come from no latent."""
    sides = [graph.nodes[a]["role"] for a, b in graph.edges if graph.nodes[b]["role"] == "output"]
    direct, between = sides.count("input"), sides.count("output")
    parts = [count(direct, "direct edge")] if direct else []
    parts += [f"{count(between, 'edge')} between outputs"] if between else []
    return " and ".join(parts)


def _answer_alone(contents: RunContents) -> tuple[str, str, str]:
    """Describe a graph of which only the edges are known."""
    latents = len(by_role(contents.graph, "latent"))
    return (
        f"The graph has {count(latents, 'latent')} and "
        f"{count(contents.graph.number_of_edges(), 'edge')}.",
        contents.strategy.summary.format(trials=len(contents.trials)),
        "The strategy makes no predictions, so nothing says how well the graph would predict.",
    )


def _describe_test(contents: RunContents, who: str) -> str:
    test, what = contents.manifest.test, "networks" if contents.nets else "its fits"
    if test is None:
        return "No sample was held out, so nothing says how well the graph predicts."
    over = f"(mean ± standard deviation over {what})"
    start = f"On {count(test.samples, 'held-out sample')}, {who} a"
    error, auroc = _format_spread(test.error), test.auroc and _format_spread(test.auroc)
    if test.loss == "bce":
        guess = f" and an AUROC of {auroc}, where 0.5 is guessing" if auroc else ""
        return f"{start} cross-entropy of {error}{guess} {over}."
    if test.loss == "mixed":
        binary = f", and an AUROC of {auroc} for outputs that are 0 or 1" if auroc else ""
        guess = "guessing the mean of a number or count would give about 1"
        return f"{start} mean deviance of {error}{binary} {over}; {guess}."
    mean = float(np.mean(np.square(contents.scales.y_scaling_std)))
    guess = f"guessing each output's mean would give about {mean:.3g}"
    return f"{start} mean squared error of {error} in the units of Y {over}; {guess}."


def _format_spread(value: Spread) -> str:
    return f"{value.mean:.3g} ± {value.sd or 0.0:.2g}"
