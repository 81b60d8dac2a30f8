"""The report's first section: the result in three sentences and one drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from rinn.graphs import by_role
from rinn.report.contents import Contents
from rinn.report.graphdrawing import draw_graph
from rinn.report.layout import layout_info
from rinn.report.markup import Markup, clip, count, element, join, key, paragraph, scroll_box


def say_title(contents: Contents) -> str:
    """Name the page after the two tables."""
    tables = contents.manifest["tables"]
    return f"Latent graph between {clip(tables['x'])} and {clip(tables['y'])}"


def say_answer(contents: Contents) -> Markup:
    """Say the result in three sentences, and draw it."""
    lead = [paragraph(sentence, class_="lead") for sentence in answer_info(contents)]
    parts = [
        contents.manifest[name] for name in ("comparison", "null") if name in contents.manifest
    ]
    lead += [paragraph(part["sentence"], class_="lead") for part in parts]
    layout = layout_info(contents.graph)
    keys = [key("plus", "raises"), key("minus", "lowers")]
    caption = (
        ". Effects run from left to right. Width: strength relative to the strongest edge of its "
        "kind; opacity: how often the edge was found. A latent has no natural "
        "direction; each is turned so that its effects add up to more than zero."
    )
    if not contents.nets:
        keys = []
        caption = (
            "Effects run from left to right. Whether an effect raises or lowers, and how strongly, "
            "is not known."
        )
    missing = [f"{count(n, role)} without an edge" for role, n in layout.without_edge.items()]
    missing += [f"{count(n, role)} with weaker edges" for role, n in layout.weaker.items()]
    if missing:
        caption += f" Not drawn: {', '.join(missing)}."
    drawing = scroll_box(draw_graph(contents.graph), "Drawing of the latent graph")
    legend = element("figcaption", join(keys, ", "), caption)
    return join([*lead, element("figure", drawing, legend)])


def answer_info(contents: Contents) -> tuple[str, str, str]:
    """Say in three sentences what was tried, what was found and how well it predicts."""
    if not contents.nets:
        return _answer_alone(contents)
    networks, test = contents.manifest["networks"], contents.manifest["test"]
    trained = (
        f"{count(networks['trained'], 'network')} "
        f"{'was' if networks['trained'] == 1 else 'were'} trained, and the {len(networks['kept'])} "
        f"{_say_choice(contents)} {'was' if len(networks['kept']) == 1 else 'were'} kept."
    )
    latents = by_role(contents.graph, "latent")
    found = "No latent was found often enough to be drawn."
    if latents:
        shares = [100 * contents.graph.nodes[name].get("frequency", np.nan) for name in latents]
        low, high = f"{min(shares):.0f} %", f"{max(shares):.0f} %"
        span = low if low == high else f"{low} to {high}"
        verb = "was found, present" if len(latents) == 1 else "were found, each present"
        found = f"{count(len(latents), 'latent')} {verb} in {span} of {_say_searches(contents)}."
    return trained, found, _say_test(test, contents.notes)


def _say_choice(contents: Contents) -> str:
    if contents.manifest["settings"]["select"] == "accurate":
        return "with the lowest validation loss"
    return "with the best balance of few weights and low validation loss"


def _say_searches(contents: Contents) -> str:
    if "comparison" not in contents.manifest:
        return "the kept networks"
    return "the searches with networks drawn anew and effects shaken by their sampling error"


def _answer_alone(contents: Contents) -> tuple[str, str, str]:
    """What to say of a graph that no network stands behind."""
    latents = len(by_role(contents.graph, "latent"))
    return (
        f"Detect MIMIC tried {count(len(contents.trials), 'pair')} of significance levels, and the "
        f"graph that describes the data best for its number of edges was chosen.",
        f"It has {count(latents, 'latent')} and {count(contents.graph.number_of_edges(), 'edge')}.",
        "The strategy makes no predictions, so nothing says how well the graph would predict.",
    )


def _say_test(test: dict[str, Any], notes: dict[str, Any]) -> str:
    start = f"On {count(test['samples'], 'sample')} that no network has seen, the kept networks"
    error = _spread(test["error"])
    if test["loss"] == "bce":
        words = f"{start} have a cross-entropy of {error}"
        if test["auroc"]:
            words += f" and an AUROC of {_spread(test['auroc'])}, where 0.5 is guessing"
        return f"{words} (mean ± standard deviation over networks)."
    guess = float(np.mean(np.square(notes["y_spread"])))
    return (
        f"{start} have a mean squared error of {error} (mean ± standard deviation over networks); "
        f"guessing each output's mean would give about {guess:.3g}."
    )


def _spread(value: dict[str, float]) -> str:
    return f"{value['mean']:.3g} ± {value['sd']:.2g}"
