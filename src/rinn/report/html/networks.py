"""Which networks or graphs were chosen, and what the chosen networks look like inside."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rinn.config import EvolutionSettings, NetSettings
from rinn.errors import count
from rinn.nets.predict import map_trained
from rinn.nets.selection import QUANTILE
from rinn.report.html.charts import draw_curves, draw_layer, draw_scatter
from rinn.report.html.markup import Markup, element, join, paragraph, scroll_box, table
from rinn.report.info import FAINT, SelectionInfo, curves_info, find_active, selection_info
from rinn.runs.read import RunContents

READING = (
    "Each square is a hidden node, each cell an output: the product of the weights from the node "
    f"to the output. Nodes with no effect above {100 * FAINT:.0f}% of the largest are left out."
)


def render_selection(contents: RunContents) -> Markup:
    """Show the kept networks among all, and the best one layer by layer."""
    info = selection_info(contents.trials)
    scatter = scroll_box(draw_scatter(info, "scatter"), "Scatter of all networks")
    figures = [element("figure", scatter, element("figcaption", _describe_choice(contents, info)))]
    if contents.curves is not None and len(contents.curves):
        curves = curves_info(contents.curves)
        drawing = scroll_box(draw_curves(curves, "curves"), "Learning curves")
        caption = (
            f"Learning curves of {count(len(curves.curves), 'network')}, the kept ones and those "
            "of the paper's choice; each line ends where training stopped."
        )
        figures.append(element("figure", drawing, element("figcaption", caption)))
    side = element("div", *figures, class_="side")
    return join([side, _render_picker(contents), _render_net(contents)])


def render_settings(contents: RunContents) -> Markup:
    """List the settings that were tried, where no network was trained."""
    trials = contents.trials
    rows = [
        (*(f"{row[name]:.6g}" for name in trials.columns[1:-1]), "chosen" if row["kept"] else "")
        for _, row in trials.iterrows()
    ]
    headers = (*(name.replace("_", " ") for name in trials.columns[1:-1]), "choice")
    return join([paragraph(contents.strategy.choice), table(headers, rows, "Settings tried")])


def describe_net(net: NetSettings | EvolutionSettings) -> str:
    """Describe a network and how it was trained."""
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


def _describe_choice(contents: RunContents, info: SelectionInfo) -> str:
    rule, omitted = "those with the lowest mean validation loss over the splits", "Not drawn"
    if contents.manifest.settings.select != "accurate":
        rule = "nearest to the lower left corner after both axes are scaled to the same length"
        omitted = "Not drawn and not in the choice"
    beyond = int((~np.isfinite(info.distance) & ~info.kept).sum())
    kept = int(info.kept.sum())
    return (
        f"Each circle is a network, at the mean loss of its setting; the "
        f"{count(kept, 'filled one')} {'was' if kept == 1 else 'were'} kept: {rule}. {omitted}: "
        f"{beyond} beyond the {100 * QUANTILE:.0f}% quantile of an axis, {info.diverged} that "
        "diverged."
    )


def _render_picker(contents: RunContents) -> Markup:
    """A list to choose a network from, for the page's script; the kept ones first."""
    stored = [net.trial.number for net in contents.nets]
    trials = contents.trials
    numbers = trials.get("trial", pd.Series(trials.index))
    others = [int(number) for number in numbers if int(number) not in set(stored)]
    options = [
        element("optgroup", *(element("option", f"network {n}", value=n) for n in part), label=name)
        for name, part in (("with heatmaps", stored), ("in trials.csv alone", others))
        if part
    ]
    label = element("label", "Look into a network", for_="net")
    choice = element("select", *options, id_="net")
    hint = element("span", "or select a circle above", class_="status")
    return element("div", label, choice, hint, class_="control picker with-script", hidden=True)


def _render_net(contents: RunContents) -> Markup:
    """Draw the maps of the best kept network, layer by layer; the script shows the others."""
    best = contents.nets[0]
    outputs = contents.outputs
    maps = map_trained(best).hidden
    most = float(np.abs(maps).max())
    about = f"{describe_net(best.trial.net)}. The darkest colour is an effect of {most:.3g}."
    head = element("h3", f"Network {best.trial.number}, the best that was kept")
    parts = [head, paragraph(about, class_="note")]
    active = find_active(maps, most).sum(axis=1)  # [layer]
    for i in np.flatnonzero(active):
        label = f"Hidden layer {i + 1}: {active[i]} of {count(maps.shape[1], 'node')}"
        drawing = scroll_box(draw_layer(maps[i], most, outputs, label), label)
        parts.append(element("div", element("h4", label), drawing, class_="layer"))
    body = element("div", *parts, id_="net-body", class_="layers", aria_live="polite")
    return join([body, paragraph(READING, class_="note")])
