"""What the report says below the answer, one function for each section."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import networkx as nx
import numpy as np

from rinn.config import EvolutionSettings, NetSettings
from rinn.evaluation import map_trained
from rinn.graphs import by_role, collapse
from rinn.report.contents import Contents
from rinn.report.heatmaps import FAINT, describe_effects, draw_effects, draw_layer
from rinn.report.markup import (
    Markup,
    clip,
    count,
    element,
    join,
    key,
    list_names,
    paragraph,
    scroll_box,
    table,
)
from rinn.report.scatter import draw_scatter, scatter_info
from rinn.selection import QUANTILE

MOST_DROPPED = 200
CAVEATS = (
    "The inputs must be causes of the outputs, and not the other way round. This is taken for "
    "granted; nothing in the tables can show it.",
    "A cause of both inputs and outputs that was not measured can make an input look as if it "
    "acted where it does not.",
    "Effects run one way only, from inputs through latents to outputs. Feedback is not looked "
    "for and would be misread.",
    "A latent is drawn where it explains with few edges what inputs do to at least two outputs. "
    "One without inputs of its own, with two parents and two or three children, saves too little "
    "to be told from chance, and may be missed.",
    "What an input does to outputs that no latent explains is not drawn. An input without an edge "
    "may still act on single outputs.",
    "Two latents that act on the same outputs cannot be told apart and appear as one.",
    "A frequency is the share of searches, with networks drawn anew and effects shaken by their "
    "sampling error, that found a latent or an edge. It says how firm the finding is, not how "
    "probable it is that it is true: all searches see the same samples. 'rinn fit --null' says how "
    "much is chance. edges.csv lists what was found too seldom to be drawn.",
)


DM_CAVEATS = (
    *CAVEATS[:3],
    "Detect MIMIC takes an input for a cause of an output wherever the two are correlated, and "
    "treats every column as continuous. It says nothing of how strong an effect is.",
    "Small changes of the data or of the two alphas can change the graph. Latents that would act "
    "on one another in a circle are shown as one.",
)


def say_latents(contents: Contents) -> Markup:
    """List the latents: how often found, between what, with their effects."""
    graph, outputs = contents.graph, by_role(contents.graph, "output")
    order = {node: place for place, node in enumerate(graph)}
    effects = latent_effects(graph, outputs)
    if not effects:
        return paragraph("There is no latent to list.")
    if not contents.nets:
        return _list_latents(graph, order)
    most = max(float(np.abs(values).max()) for values in effects.values())
    rows = []
    for latent, values in effects.items():
        share = graph.nodes[latent].get("frequency")
        label = f"Effects of {clip(latent)}: {describe_effects(values, outputs)}"
        rows.append(
            (
                element("strong", clip(latent)),
                "" if share is None else f"{100 * share:.0f} %",
                list_names(sorted(graph.predecessors(latent), key=order.__getitem__)),
                list_names(sorted(graph.successors(latent), key=order.__getitem__)),
                draw_effects(values, most, label),
            )
        )
    note = (
        "Effects: one cell for each output, row by row in the order of the table: ",
        key("plus", "raised"), ", ", key("minus", "lowered"),
        f". Full colour is an effect of {most:.3g}{_units(contents)}.",
    )  # fmt: skip
    headers = ("latent", "found in", "acted on by", "acts on", "effects on the outputs")
    return join([table(headers, rows, "Latents"), paragraph(*note, class_="note")])


def _list_latents(graph: nx.DiGraph, order: dict[str, int]) -> Markup:
    """List latents of which only the edges are known."""
    rows = [
        (
            element("strong", clip(latent)),
            list_names(sorted(graph.predecessors(latent), key=order.__getitem__)),
            list_names(sorted(graph.successors(latent), key=order.__getitem__)),
        )
        for latent in by_role(graph, "latent")
    ]
    return table(("latent", "acted on by", "acts on"), rows, "Latents")


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


def say_selection(contents: Contents) -> Markup:
    """Show how the kept networks lie among all."""
    info = scatter_info(contents.trials)
    accurate = contents.manifest["settings"]["select"] == "accurate"
    rule = (
        "those with the lowest mean validation loss over the splits"
        if accurate
        else "nearest to the lower left corner after both axes are scaled to the same length"
    )
    beyond = "Not drawn" if accurate else "Not drawn and not in the choice"
    words = (
        f"Each circle is a network; the {count(int(info.kept.sum()), 'filled one')} "
        f"{'was' if info.kept.sum() == 1 else 'were'} kept: {rule}. {beyond}: {info.beyond} "
        f"beyond the {100 * QUANTILE:.0f} % quantile of an axis, {info.diverged} that diverged."
    )
    drawing = scroll_box(draw_scatter(info), "Scatter of all networks")
    return element("figure", drawing, element("figcaption", words))


def say_settings(contents: Contents) -> Markup:
    """List the settings that were tried, where no network was trained."""
    trials = contents.trials
    rows = [
        (*(f"{row[name]:.6g}" for name in trials.columns[1:-1]), "chosen" if row["kept"] else "")
        for _, row in trials.iterrows()
    ]
    words = (
        "Each row is a pair of significance levels with the graph it gives. The one with the "
        "lowest BIC was chosen: what the inputs that reach an output explain of it, against the "
        "number of edges."
    )
    headers = ("alpha PC", "alpha Sober", "latents", "edges", "BIC", "")
    return join([paragraph(words), table(headers, rows, "Settings tried")])


def say_best_net(contents: Contents) -> Markup:
    """Draw the maps of the nearest kept network, layer by layer."""
    best = contents.nets[0]
    net, outputs = best.trial.net, contents.manifest["tables"]["outputs"]
    maps = map_trained(best).hidden
    most = float(np.abs(maps).max())
    about = (
        f"Trial {best.trial.number}: {describe_net(net)}. Each square is a hidden node, each cell "
        f"an output: the product of the weights from the node to the output. Full colour is "
        f"{most:.3g}; a pale node stays below {100 * FAINT:.0f} % of it everywhere."
    )
    parts = [paragraph(about, class_="note")]
    strong = (np.abs(maps).max(axis=2) > FAINT * most).sum(axis=1)  # [layer]
    pale = [str(number) for number, nodes in enumerate(strong, start=1) if not nodes]
    if pale:
        parts.append(paragraph(f"Not drawn, since every node is pale: layer {', '.join(pale)}."))
    for i in np.flatnonzero(strong):
        layer = maps[i]
        label = f"Hidden layer {i + 1}: {strong[i]} of {count(len(layer), 'node')} not pale"
        parts.append(element("h3", label))
        parts.append(scroll_box(draw_layer(layer, most, outputs, label), label))
    return join(parts)


def describe_net(net: NetSettings | EvolutionSettings) -> str:
    """Say in words what a network is and how it was trained.

    Example:
        >>> describe_net(NetSettings(layers=1, width=3, l1=0.01))
        '1 hidden layer of 3 nodes (relu), trained with adam, learning rate 0.01 and L1 rate 0.01'
    """
    shape = f"{count(net.layers, 'hidden layer')} of {count(net.width, 'node')}"
    if isinstance(net, EvolutionSettings):
        return (
            f"{shape} ({net.activation}), the fittest of {net.population} after "
            f"{count(net.epochs, 'generation')} with elite ratio {net.elite_ratio:g}, mutation "
            f"rate {net.mutation_rate:g} and L1 rate {net.l1:.2g}"
        )
    if net.kind == "belief":
        sizes = "-".join(str(size) for size in net.sizes)
        middle = "" if net.layers == 1 else ", of which those from the middle on are shown"
        shape = f"an autoencoder of the outputs with {count(net.layers, 'hidden layer')} of "
        shape += f"{sizes} nodes{middle}"
    return (
        f"{shape} ({net.activation}), trained with {net.optimiser}, learning rate "
        f"{net.learning_rate:.2g} and L1 rate {net.l1:.2g}"
    )


def say_scores(contents: Contents) -> Markup:
    """Compare with the truth, where there is one."""
    scores = contents.manifest.get("scores")
    if not scores:
        given = "A truth lies in the folder, but no scores." if contents.truth else (
            "No truth was given, so nothing on this page was checked against one."
        )  # fmt: skip
        return paragraph(given)
    paper, graph = scores["paper"], scores["graph"]
    whose = "paper's protocol, {} *" if contents.nets else "paper's rule, {}"
    rows = [(whose.format("hidden nodes"), paper["hidden"])]
    rows += [(whose.format("inputs"), paper["input"])] if paper.get("input") else []
    rows += [("graph, latents", graph["latents"]), ("graph, edges", graph["edges"])]
    if graph.get("latent_edges"):
        rows.append(("graph, edges between latents", graph["latent_edges"]))
    cells = [
        (name, *(f"{values[key]:.2f}" for key in ("precision", "recall", "f1")))
        for name, values in rows
    ]
    truth = contents.truth
    number = len(by_role(collapse(truth), "latent")) if truth else 0
    size = f"The truth has {number} latents that act on different outputs. " if truth else ""
    note = (
        "* Mean over the ten networks that the paper's distance chooses, threshold chosen with "
        "sight of the truth. It says what the networks hold, not what a reader without the truth "
        "would get."
    )
    return join(
        [
            table(("what", "precision", "recall", "F1"), cells, "Scores against the truth"),
            paragraph(note, class_="note") if contents.nets else Markup(""),
            paragraph(
                f"{size}The graph was made without it; edges that differ (SHD): {graph['shd']}; "
                f"pairs of latents in the opposite order: {graph['order_errors']}.",
            ),
        ]
    )


def say_data(contents: Contents) -> Markup:
    """Say what was read and what was left out."""
    tables = contents.manifest["tables"]
    parts = [
        paragraph(
            f"{count(tables['samples'], 'sample')}, {count(len(tables['inputs']), 'input')} from ",
            element("code", clip(tables["x"])),
            f", {count(len(tables['outputs']), 'output')} from ",
            element("code", clip(tables["y"])),
            ".",
        )
    ]
    dropped = tables["dropped"]
    if not dropped:
        return join([*parts, paragraph("Every row and column was used.")])
    rows = [(entry["table"], clip(entry["name"]), entry["reason"]) for entry in dropped]
    parts.append(paragraph(f"Rows and columns that are not used: {len(dropped)}."))
    parts.append(table(("table", "name", "why"), rows[:MOST_DROPPED], "Rows and columns not used"))
    if len(rows) > MOST_DROPPED:
        parts.append(paragraph(f"The other {len(rows) - MOST_DROPPED} are in manifest.json."))
    return join(parts)


def say_origin(contents: Contents) -> Markup:
    """Say how the run was made, so that it can be made again."""
    manifest = contents.manifest
    device = manifest["device"]
    settings = {key: "default" if v is None else str(v) for key, v in manifest["settings"].items()}
    rows = [
        ("command", element("code", shlex.join(manifest["command"]))),
        ("settings", ", ".join(f"{key} {v}" for key, v in settings.items() if key != "seed")),
        ("seed", settings["seed"]),
        ("started", str(manifest["created"])),
        ("training took", f"{manifest['seconds']:.0f} s"),
        ("device", f"{device['count']} x {device['kind']} ({device['platform']})"),
        ("versions", ", ".join(f"{name} {v}" for name, v in manifest["versions"].items())),
    ]
    return table(("what", "value"), rows, "How the run was made")


def say_caveats(contents: Contents) -> Markup:
    """Say what the page cannot show."""
    words = list(CAVEATS if contents.nets else DM_CAVEATS)
    if any(net.trial.net.kind == "belief" for net in contents.nets):
        words.append(
            "Deep belief networks look at the outputs alone: which inputs act on a latent, and "
            "whether any does, is not known."
        )
    return element("ul", *(element("li", one) for one in words))


def list_sections(contents: Contents) -> dict[str, Callable[[Contents], Markup]]:
    """What the report says of a run, in its order."""
    chosen: dict[str, Callable[[Contents], Markup]] = {"Which graph was chosen": say_settings}
    if contents.nets:
        chosen = {
            "Which networks were kept": say_selection,
            "The best kept network, layer by layer": say_best_net,
        }
    return {
        "Latents": say_latents,
        **chosen,
        "Scores against the truth": say_scores,
        "Data": say_data,
        "How it was made": say_origin,
        "How to read this page": say_caveats,
    }


def _units(contents: Contents) -> str:
    if contents.manifest["test"]["loss"] == "bce":
        return " on the scale of log odds"
    return " standard deviations of the output"
