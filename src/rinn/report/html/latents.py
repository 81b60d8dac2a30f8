"""The latents one by one: how often found, between what, with their effects."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.report.html.charts import describe_effects, draw_effects
from rinn.report.html.markup import Markup, element, join, key, list_names, paragraph, table
from rinn.runs.read import RunContents
from rinn.structure.enrichment import ALPHA

MAX_ROWS = 15


def say_latents(contents: RunContents) -> Markup:
    """List the latents: how often found, between what, with their effects."""
    graph, outputs = contents.graph, by_role(contents.graph, "output")
    order = {node: place for place, node in enumerate(graph)}
    effects = latent_effects(graph, outputs)
    if not effects:
        return paragraph("There is no latent to list.")
    if not contents.is_measured:
        return _list_latents(contents, order)
    most = max(float(np.abs(values).max()) for values in effects.values())
    rows = []
    for latent, values in effects.items():
        share = graph.nodes[latent].get("frequency")
        label = f"Effects of {clip(latent)}: {describe_effects(values, outputs)}"
        rows.append(
            (
                _write_name(contents, latent),
                "" if share is None else f"{100 * share:.0f} %",
                list_names(sorted(graph.predecessors(latent), key=order.__getitem__)),
                list_names(sorted(graph.successors(latent), key=order.__getitem__)),
                draw_effects(values, most, label),
                *_say_names(contents, latent),
            )
        )
    note = (
        "Effects: one cell for each output, row by row in the order of the table: ",
        key("plus", "raised"), ", ", key("minus", "lowered"),
        f". Full colour is an effect of {most:.3g}{say_units(contents)}.",
    )  # fmt: skip
    headers = ["latent", "found in", "acted on by", "acts on", "effects on the outputs"]
    headers += [] if contents.names is None else ["gene sets"]
    parts = [_write_table(headers, rows), paragraph(*note, class_="note")]
    return join([*parts, _explain_names(contents)])


def latent_effects(graph: nx.DiGraph, outputs: list[str]) -> dict[str, np.ndarray]:
    """Give each latent's effects on the outputs, its own and those through other latents.

    Causes come before effects, otherwise latents keep the graph's order.

    Example:
        >>> graph = nx.DiGraph([("a", "b"), ("b", "y")])
        >>> nx.set_node_attributes(graph, dict(a="latent", b="latent", y="output"), "role")
        >>> graph.nodes["a"]["effects"] = {"y": -2.0}
        >>> latent_effects(graph, ["y", "z"])["a"].tolist()
        [-2.0, 0.0]
    """
    place = {node: i for i, node in enumerate(graph)}
    latents = graph.subgraph(by_role(graph, "latent"))
    order = nx.lexicographical_topological_sort(latents, key=place.__getitem__)
    effects = {latent: graph.nodes[latent].get("effects", {}) for latent in order}
    return {
        latent: np.array([float(known.get(name, 0.0)) for name in outputs])
        for latent, known in effects.items()
    }


def say_units(contents: RunContents) -> str:
    """Say on which scale effects are measured, as the end of a sentence.

    Effects are known where a network predicts; those of a run without any have no scale. Those of a
    graph with a network of its own are on the scale of its edges.
    """
    test = contents.manifest.test
    if not test:
        return ""
    scale = " standard deviations of the output"
    if test.loss == "bce":
        scale = " on the scale of log odds"
    elif test.loss == "mixed":
        scale += ", close to its mean,"
    if contents.manifest.comparison:
        return f"{scale} as the latent goes from one standard deviation below its mean to one above"
    return f"{scale} for one standard deviation of the latent"


def _list_latents(contents: RunContents, order: dict[str, int]) -> Markup:
    """List latents of which only the edges are known."""
    graph = contents.graph
    rows = [
        (
            _write_name(contents, latent),
            list_names(sorted(graph.predecessors(latent), key=order.__getitem__)),
            list_names(sorted(graph.successors(latent), key=order.__getitem__)),
            *_say_names(contents, latent),
        )
        for latent in by_role(graph, "latent")
    ]
    headers = ["latent", "acted on by", "acts on"]
    headers += [] if contents.names is None else ["gene sets"]
    return join([_write_table(headers, rows), _explain_names(contents)])


def _say_names(contents: RunContents, latent: str) -> tuple[str, ...]:
    """The best gene set of a latent, as a cell of the table where there are names at all."""
    if contents.names is None:
        return ()
    found = contents.names.get(latent)
    return (found[0].label if found else f"none below q = {ALPHA:g}",)


def _explain_names(contents: RunContents) -> Markup | None:
    if contents.names is None:
        return None
    words = (
        "Gene sets: of those that 'rinn name' was given, the one that the latent's inputs, outputs "
        "or both are most enriched in. A hint, no more; names.csv has all of them."
    )
    return paragraph(words, class_="note")


def _write_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Of many latents the list scrolls within the page."""
    listed = table(headers, rows, f"List of {count(len(rows), 'latent')}")
    return element("div", listed, class_="long" if len(rows) > MAX_ROWS else None)


def _write_name(contents: RunContents, latent: str) -> Markup:
    """The name, which the page's script makes a button that opens the card."""
    number = list(contents.candidates).index(latent)
    return element("strong", clip(latent), class_="opens", data_n=number)
