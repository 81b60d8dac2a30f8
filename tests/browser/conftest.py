"""Headless Chromium, and reports to open in it: no test here may reach a network."""

import json
import os
import shutil
from dataclasses import dataclass, field

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from hostile_names import HOSTILE, INPUTS, OUTPUTS
from rinn.graphs.files import load_graph, write_graph
from rinn.graphs.formats.tables import edges_table
from rinn.report.html.page import write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "no Chromium on the path, so the report is not tested in a browser; install it with "
    "'apt-get install chromium', or your system's word for that"
)


@dataclass
class Opened:
    """A page in a browser: what it asked for beside its own file, and what went wrong."""

    page: object
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def chromium():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Within a container there is no second sandbox to be had.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open a file with the network off; every request but that for the file is refused."""
    contexts = []

    def open_it(path, width=1280, height=900, dark=False, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            offline=True,
            **options,
        )
        contexts.append(context)
        opened = Opened(context.new_page())

        def answer(route):
            if route.request.url == path.as_uri():
                route.continue_()
            else:
                opened.requests.append(route.request.url)
                route.abort()

        context.route("**/*", answer)
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("dialog", lambda dialog: opened.errors.append(dialog.message))
        opened.page.on(
            "console",
            lambda said: (
                opened.errors.append(said.text) if said.type in ("error", "warning") else None
            ),
        )
        opened.page.set_default_timeout(10_000)
        opened.page.goto(path.as_uri())
        return opened

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def run(tiny_run, tmp_path_factory):
    """The tiny run with a known graph, and weaker edges that are candidates."""
    out = shutil.copytree(tiny_run.folder, tmp_path_factory.mktemp("browser") / "run")
    put_graph(out, {})
    return out


@pytest.fixture(scope="session")
def report(run):
    return run / "report.html"


@pytest.fixture(scope="session")
def hostile(run, tmp_path_factory):
    """The same run, with names that try to become markup."""
    out = shutil.copytree(run, tmp_path_factory.mktemp("hostile") / "run")
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    for key, names in (("inputs", INPUTS), ("outputs", OUTPUTS)):
        manifest["tables"][key] = [HOSTILE.get(name, name) for name in names]
    manifest["tables"]["x"] = HOSTILE["BRAF"]
    manifest["tables"]["dropped"] = [
        {"table": "X", "name": name, "reason": "constant"} for name in HOSTILE.values()
    ]
    path.write_text(json.dumps(manifest))
    put_graph(out, HOSTILE)
    return out / "report.html"


@pytest.fixture(scope="session")
def informed(run, tmp_path_factory):
    """The same run, as if it had been read with prior knowledge of hostile names."""
    out = shutil.copytree(run, tmp_path_factory.mktemp("informed") / "run")
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    against = {"says": "mustnot", "evidence": 4.1, "without": 1.0, "reported": False}
    manifest["prior"] = {
        "files": {},
        "options": {},
        "sentence": f"Of 7 edges 2 owe their place to {HOSTILE['BRAF']}.",
        "notes": [f"--prior ({HOSTILE['BRAF']}): 2 of 2 statements used"],
        "dropped_inputs": [HOSTILE["BRAF"]],
        "counts": {"contradictions": 5},
        "contradictions": [{"input": HOSTILE["BRAF"], "output": "MYC", **against}],
    }
    path.write_text(json.dumps(manifest))
    graph = load_graph(out / "graph.json")
    for edge, values in graph.edges.items():
        values |= {"frequency_without": 0.25, "origin": "prior" if "KRAS" in edge else "data"}
    graph.edges["BRAF", "L1"]["origin"] = "forced"
    write_graph(graph, out / "graph.json")
    write_report(out)
    return out / "report.html"


def put_graph(out, names):
    """L1 above L2, and below the line an edge more and the latent U1."""
    graph = nx.DiGraph()
    graph.add_nodes_from([names.get(name, name) for name in INPUTS], role="input")
    graph.add_nodes_from(["L1", "L2"], role="latent", frequency=0.9375)
    graph.add_nodes_from([names.get(name, name) for name in OUTPUTS], role="output")
    found = [
        *(("BRAF", "L1", 1.0), ("KRAS", "L2", 0.8125), ("L1", "L2", 0.9375)),
        *(("L1", "MYC", 1.0), ("L1", "JUN", 0.5)),
        *(("L2", "FOS", 1.0), ("L2", "CCND1", 0.75)),
    ]
    for number, (source, target, share) in enumerate(found):
        edge = names.get(source, source), names.get(target, target)
        about = {"support": "covariance" if source[0] == target[0] == "L" else "effects"}
        graph.add_edge(*edge, weight=(-1.0) ** number * (1 + number), frequency=share, **about)
    effects = {
        "L1": {"MYC": -4.0, "JUN": 5.0, "FOS": -9.0, "CCND1": 10.5},
        "L2": {"FOS": -6.0, "CCND1": 7.0},
    }  # as a linear refit with these weights has them
    for latent, reached in effects.items():
        graph.nodes[latent]["effects"] = {names.get(n, n): e for n, e in reached.items()}
    write_graph(graph, out / "graph.json")
    whole = nx.DiGraph(graph)
    whole.add_node("U1", role="latent")
    weaker = [("TP53", "L1", 0.375), ("EGFR", "U1", 0.125), ("U1", "VEGFA", 0.0625)]
    for source, target, share in weaker:
        whole.add_edge(names.get(source, source), names.get(target, target), frequency=share)
    edges_table(whole, reported=graph).to_csv(out / "edges.csv", index=False)
    values = np.random.default_rng(0).normal(size=(80, 2))
    activity = pd.DataFrame(values, columns=["L1", "L2"])
    activity.insert(0, "sample", range(80))
    activity.to_csv(out / "activity.csv", index=False)
    write_report(out)
