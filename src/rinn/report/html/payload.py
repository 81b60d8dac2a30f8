"""The numbers that the page's script works with, as JSON that cannot end its own element."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pandas as pd

from rinn.errors import clip
from rinn.graphs.basics import by_role
from rinn.graphs.files import EXCHANGEABLE, ORIGIN, SUPPORT
from rinn.graphs.theory import explain_latents
from rinn.nets.groups import TrainedNet
from rinn.nets.predict import map_trained
from rinn.report.html.graph import make_layouts
from rinn.report.html.heatmap import HeatmapInfo, heat_payload
from rinn.report.html.latents import describe_units, latent_effects
from rinn.report.html.layout import GraphLayout
from rinn.report.html.markup import UNPRINTABLE, Markup, element
from rinn.report.html.networks import describe_net
from rinn.report.info import find_active
from rinn.runs.read import RunContents
from rinn.structure.records import DATA, FORCED, PRIOR

FULL = 127  # of a cell's colour
BINS = 24
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SUPPORTS = ("effects", "covariance", "both", "neither")
ABOUT_EDGES = ("weight", "weight_spread", "loss_without", "loss_error", "q")


def write_payload(
    contents: RunContents, layouts: dict[str, GraphLayout], heat: HeatmapInfo | None = None
) -> Markup:
    """Write the numbers as an element that is data, never a script."""
    text = json.dumps(payload_info(contents, layouts, heat), separators=(",", ":"), allow_nan=False)
    # ASCII alone, and none of the characters with which markup begins.
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return element("script", Markup(text), type="application/json", id_="payload")


def payload_info(
    contents: RunContents,
    layouts: dict[str, GraphLayout] | None = None,
    heat: HeatmapInfo | None = None,
) -> dict[str, Any]:
    """Gather the numbers: nodes and edges by their numbers in `found`, latents, networks."""
    found, layouts = contents.candidates, layouts or make_layouts(contents)
    number = {node: index for index, node in enumerate(found)}
    outputs = by_role(contents.graph, "output")
    edges = {edge: index for index, edge in enumerate(found.edges)}
    folds = layouts["folded"].info.folds if "folded" in layouts else {}
    return {
        "nodes": [
            [_printable(node), values["role"], bool(values["reported"])]
            for node, values in found.nodes(data=True)
        ],
        "edges": [
            [
                number[source], number[target], values.get("frequency"), bool(values["reported"]),
                *(_short(values.get(name)) for name in ABOUT_EDGES),
                values[SUPPORT] if values.get(SUPPORT) in SUPPORTS else None,
                _find_exchangeable(values),
                *((_short(values.get("frequency_without")), values[ORIGIN])
                  if values.get(ORIGIN) in (DATA, PRIOR, FORCED) else ()),
            ]
            for source, target, values in found.edges(data=True)
        ],
        "outputs": [_printable(name) for name in outputs],
        "latents": {number[name]: about for name, about in _latents(contents, outputs).items()},
        "layouts": {name: one.to_json(number, edges) for name, one in layouts.items()},
        "layout": next(iter(layouts)),
        "folds": [[number[node] for node in names] for names in folds.values()],
        "heat": heat and heat_payload(heat, number),
        "repeats": contents.repeats,
        "units": describe_units(contents),
        "nets": {net.trial.number: net_info(net) for net in contents.nets},
        "trials": _trials(contents.trials) if contents.nets else None,
    }  # fmt: skip


def _find_exchangeable(values: dict[str, Any]) -> str | None:
    other = values.get(EXCHANGEABLE)
    return _printable(other) if isinstance(other, str) and other else None


def net_info(net: TrainedNet) -> dict[str, Any]:
    """Pack the maps of one network: a byte for each cell of the active nodes."""
    maps = map_trained(net).hidden
    most = float(np.abs(maps).max())
    layers = []
    for layer in maps:
        active = np.flatnonzero(find_active(layer, most))
        cells = np.round(FULL * layer[active] / (most or 1.0)).astype(np.int8)
        packed = base64.b64encode(cells.tobytes()).decode("ascii")
        layers.append([len(layer), active.tolist(), packed])
    return {"about": describe_net(net.trial.net), "most": _short(most), "layers": layers}


def activity_info(values: np.ndarray) -> dict[str, Any]:
    """Sum up a latent's activity over the samples: range, histogram, quantiles."""
    values = values[np.isfinite(values)]
    if not len(values):
        return {"samples": 0, "low": 0.0, "high": 0.0, "bins": [], "quantiles": []}
    low, high = float(values.min()), float(values.max())
    bins, _ = np.histogram(values, BINS, (low, high if high > low else low + 1.0))
    return {
        "samples": len(values),
        "low": _short(low),
        "high": _short(high),
        "bins": bins.tolist(),
        "quantiles": [_short(value) for value in np.quantile(values, QUANTILES)],
    }


def _latents(contents: RunContents, outputs: list[str]) -> dict[str, dict[str, Any]]:
    findings = {finding.name: finding for finding in explain_latents(contents.graph)}
    activity = contents.activity
    about = {}
    for name, effects in latent_effects(contents.graph, outputs).items():
        node, finding = contents.candidates.nodes[name], findings[name]
        about[name] = {
            "frequency": node.get("frequency"),
            "effects": [_short(value) for value in effects] if "effects" in node else None,
            "loss_change": [_short(node.get("loss_without")), _short(node.get("loss_error"))],
            "identifiable": finding.identifiable and not finding.spare,
            "reason": _printable(
                finding.reason if finding.identifiable else f"{clip(name)} {finding.reason}"
            ),
            "activity": None
            if activity is None or name not in activity
            else activity_info(pd.to_numeric(activity[name], "coerce").to_numpy(float)),
        }
        if contents.names is not None:
            about[name]["names"] = [_printable(one.label) for one in contents.names.get(name, ())]
        if contents.node_names is not None and name in contents.node_names:
            about[name]["nodes"] = _printable(contents.node_names[name].label)
    return about


def _trials(trials: pd.DataFrame) -> dict[str, Any]:
    """The rows of trials.csv without empty columns."""
    table = trials.dropna(axis="columns", how="all")
    if "trial" not in table:
        table = table.assign(trial=range(len(table)))
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    return {"columns": [str(name) for name in table.columns], "rows": rows}


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if value is None or not np.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else _short(float(value))


def _short(value: Any) -> float | None:
    """Four digits are more than a picture shows."""
    if value is None or not np.isfinite(value):
        return None
    return float(f"{value:.4g}")


def _printable(text: str) -> str:
    return UNPRINTABLE.sub("\ufffd", text)
