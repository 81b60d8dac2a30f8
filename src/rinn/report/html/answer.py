"""The report's first words: the result in three sentences."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.report.html.markup import Markup, element, paragraph
from rinn.runs.manifest import Spread
from rinn.runs.read import RunContents


def say_title(contents: RunContents) -> str:
    """Name the page after the two tables."""
    tables = contents.manifest.tables
    return f"Latent graph between {clip(tables.x)} and {clip(tables.y)}"


def say_answer(contents: RunContents) -> Markup:
    """Say the result in three sentences, and what to be careful with."""
    warnings = contents.manifest.warnings or ()
    careful = [paragraph(sentence, class_="careful") for sentence in warnings]
    sentences = (paragraph(sentence) for sentence in answer_info(contents))
    return element("div", *sentences, *careful, class_="lead")


def answer_info(contents: RunContents) -> tuple[str, str, str]:
    """Say in three sentences what was found, out of how much, and how well it predicts."""
    if not contents.is_measured:
        return _answer_alone(contents)
    effects, networks = contents.manifest.effects, contents.manifest.networks
    said = _say_test(contents, "the kept networks have")
    if effects and not contents.nets:
        said = _say_test(contents, "the graph's own network has")
        return _say_found(contents), effects.sentence, said
    if networks is None:
        raise contents.reject("manifest.json")
    trained = (
        f"{count(networks.trained, 'network')} "
        f"{'was' if networks.trained == 1 else 'were'} trained, and the {len(networks.kept)} "
        f"{_say_choice(contents)} {'was' if len(networks.kept) == 1 else 'were'} kept."
    )
    if effects:
        trained = f"{trained} {effects.sentence}"
    return _say_found(contents), trained, said


def _say_found(contents: RunContents) -> str:
    graph = contents.graph
    latents = by_role(graph, "latent")
    if not latents:
        none = "No latent was found often enough, with effects beyond chance, to be reported"
        rest = _say_others(graph)
        return f"{none}; the graph has {rest}." if rest else f"{none}."
    joined = {name for latent in latents for name in nx.all_neighbors(graph, latent)}
    sides = [
        f"{len(joined.intersection(names))} of {count(len(names), role)}"
        for role in ("input", "output")
        for names in [by_role(graph, role)]
    ]
    verb = "connects" if len(latents) == 1 else "connect"
    found = f"{count(len(latents), 'latent')} {verb} {sides[0]} with {sides[1]}"
    if rest := _say_others(graph):
        found += f", beside {rest}"
    shares = [100 * graph.nodes[name].get("frequency", np.nan) for name in latents]
    if np.isnan(shares).any():
        return f"{found}."
    low, high = f"{min(shares):.0f} %", f"{max(shares):.0f} %"
    span = low if low == high else f"{low} to {high}"
    each = "it was found" if len(latents) == 1 else "each was found"
    return f"{found}; {each} in {span} of {contents.repeats}."


def _say_others(graph: nx.DiGraph) -> str:
    """Count the edges into outputs that come from no latent."""
    sides = [graph.nodes[a]["role"] for a, b in graph.edges if graph.nodes[b]["role"] == "output"]
    words = []
    if direct := sides.count("input"):
        words.append(count(direct, "direct edge"))
    if between := sides.count("output"):
        words.append(f"{count(between, 'edge')} between outputs")
    return " and ".join(words)


def _say_choice(contents: RunContents) -> str:
    if contents.manifest.settings.select == "accurate":
        return "with the lowest validation loss"
    return "with the best balance of few weights and low validation loss"


def _answer_alone(contents: RunContents) -> tuple[str, str, str]:
    """What to say of a graph of which only the edges are known."""
    latents = len(by_role(contents.graph, "latent"))
    return (
        f"The graph has {count(latents, 'latent')} and "
        f"{count(contents.graph.number_of_edges(), 'edge')}.",
        contents.strategy.summary.format(trials=len(contents.trials)),
        "The strategy makes no predictions, so nothing says how well the graph would predict.",
    )


def _say_test(contents: RunContents, who: str) -> str:
    test = contents.test
    start = f"On {count(test.samples, 'sample')} that no network has seen, {who}"
    error, over = _spread(test.error), "(mean ± standard deviation over networks)"
    if test.loss == "bce":
        words = f"{start} a cross-entropy of {error}"
        if test.auroc:
            words += f" and an AUROC of {_spread(test.auroc)}, where 0.5 is guessing"
        return f"{words} {over}."
    if test.loss == "mixed":
        words = f"{start} a mean deviance of {error}"
        if test.auroc:
            words += f", and an AUROC of {_spread(test.auroc)} for outputs that are 0 or 1"
        return f"{words} {over}; guessing the mean of a number or count would give about 1."
    guess = float(np.mean(np.square(contents.scales.y_scaling_std)))
    return (
        f"{start} a mean squared error of {error} {over}; guessing each output's mean would give "
        f"about {guess:.3g}."
    )


def _spread(value: Spread) -> str:
    return f"{value.mean:.3g} ± {value.sd or 0.0:.2g}"
