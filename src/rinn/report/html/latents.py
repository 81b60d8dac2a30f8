"""The latents one by one: how often found, between what, with their effects."""

from __future__ import annotations

import networkx as nx
import numpy as np

from rinn.errors import clip, count
from rinn.graphs.basics import by_role
from rinn.report.html.charts import describe_effects, draw_effects
from rinn.report.html.markup import Markup, element, join, key, list_names, paragraph, table
from rinn.runs.read import REFIT, RunContents
from rinn.structure.enrichment import ALPHA

MAX_ROWS = 15
FREQUENCY = "bootstrap frequency"
GENE_SETS = (
    "Gene sets: of those that 'rinn name' was given, the one in which the latent's inputs, outputs "
    "or both are most enriched. This is only a hint; names.csv has all of them."
)

NODES = (
    "Known nodes: of the network that 'rinn name' was given, those that lie between the latent's "
    "inputs and outputs, with p against networks with permuted edges. This is only a hint; "
    "network_names.csv has all of them."
)


def render_latents(contents: RunContents) -> Markup:
    """List the latents: how often found, between what, with their effects."""
    graph, outputs = contents.graph, by_role(contents.graph, "output")
    order = {node: index for index, node in enumerate(graph)}
    number = {node: index for index, node in enumerate(contents.candidates)}
    effects = latent_effects(graph, outputs)
    if not effects:
        return paragraph("There is no latent to list.")
    latents = list(effects) if contents.is_measured else by_role(graph, "latent")
    most = max(float(np.abs(values).max()) for values in effects.values())
    rows = []
    for latent in latents:
        frequency = graph.nodes[latent].get("frequency")
        label = f"Effects of {clip(latent)}: {describe_effects(effects[latent], outputs)}"
        cells = {
            # The page's script makes the name a button that opens the card.
            "latent": element("strong", clip(latent), class_="opens", data_n=number[latent]),
            FREQUENCY: "" if frequency is None else f"{100 * frequency:.0f}%",
            "causes": list_names(sorted(graph.predecessors(latent), key=order.__getitem__)),
            "acts on": list_names(sorted(graph.successors(latent), key=order.__getitem__)),
            "effects on the outputs": draw_effects(effects[latent], most, label),
        }
        if not contents.is_measured:
            del cells[FREQUENCY], cells["effects on the outputs"]
        if contents.names is not None:
            names = contents.names.get(latent)
            cells["gene sets"] = names[0].label if names else f"none below q = {ALPHA:g}"
        if contents.node_names is not None:
            known = contents.node_names.get(latent)
            cells["known nodes"] = known.label if known else f"none below q = {ALPHA:g}"
        rows.append(cells)
    table_ = table(list(rows[0]), [[*row.values()] for row in rows],
                   f"List of {count(len(rows), 'latent')}")  # fmt: skip
    parts = [element("div", table_, class_="long" if len(rows) > MAX_ROWS else None)]
    if contents.is_measured:
        parts.append(paragraph(
            "Effects: one cell for each output, row by row in the order of the table: ",
            key("plus", "raised"), ", ", key("minus", "lowered"),
            f". The darkest colour is an effect of {most:.3g}{describe_units(contents)}. Bootstrap "
            f"frequency: the fraction of {contents.repeats} whose graph has it, a measure "
            "of stability and not the probability that the latent exists.",
            class_="note",
        ))  # fmt: skip
    if contents.names is not None:
        parts.append(paragraph(GENE_SETS, class_="note"))
    if contents.node_names is not None:
        direct = [
            f"direct edges of {clip(name)}: {known.label}"
            for name, known in contents.node_names.items()
            if known.is_direct
        ]
        parts.append(paragraph(NODES, f" Also the {'; '.join(direct)}." if direct else "",
                               class_="note"))  # fmt: skip
    return join(parts)


def latent_effects(graph: nx.DiGraph, outputs: list[str]) -> dict[str, np.ndarray]:
    """Give each latent's effects on the outputs, by all paths, causes before effects."""
    index = {node: i for i, node in enumerate(graph)}
    latents = graph.subgraph(by_role(graph, "latent"))
    order = nx.lexicographical_topological_sort(latents, key=index.__getitem__)
    effects = ((latent, graph.nodes[latent].get("effects", {})) for latent in order)
    return {
        latent: np.array([float(of.get(name, 0.0)) for name in outputs]) for latent, of in effects
    }


def describe_units(contents: RunContents) -> str:
    """Describe the scale of effects, as the end of a sentence; empty where there is none."""
    if not contents.is_measured:
        return ""
    scale, loss = " standard deviations of the output", contents.scales.loss
    if loss == "bce":
        scale = " on the scale of log odds"
    elif loss == "mixed":
        scale += ", close to its mean,"
    if (contents.folder / REFIT).exists():
        return f"{scale} as the latent goes from one standard deviation below its mean to one above"
    return f"{scale} for one standard deviation of the latent"
