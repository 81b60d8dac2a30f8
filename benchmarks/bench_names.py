"""Names for latents from a network of known interactions: right ones, and none by chance.

Without files: simulated signalling networks, in each of which one hidden node is the latent and the
inputs and outputs of its strongest paths are the latent's. How often is it the best-scoring node,
how often is it named, and how often is a node named when the network's edges are permuted; beside
it the node with the lowest p of Fisher's test of reachability.

With `--run RUN --network FILE`: the experiment of docs/real-data/hepatocytes.md, whose arms are
known: which node each is named by, and what 20 networks with permuted edges give. The files are the
user's; neither the network nor the arms take part in the fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np

from pagetables import write_table
from rinn.errors import InputError
from rinn.graphs.files import load_graph
from rinn.structure import network_names
from rinn.structure.network_map import MappedNodes, NodeMatch, match_names
from rinn.structure.network_names import KnownNodes, find_known_nodes, permute_edges
from rinn.structure.prior.network import Network, load_network

ALPHA = 0.05
DECAYS = (0.3, 0.5, 0.7, 0.9, 0.99)
SIMULATED = (
    "by", "right node first", "nodes in that place", "named", "named rightly",
    "named in permuted networks",
)  # fmt: skip
INHIBITORS = {"PI3Ki": "pi3k", "MEK12i": "mek", "IKKi": "ikk"}
READOUTS = {"p_ERK12": "erk", "p_JNK12": "jnk", "p_MEK12": "mek"}


@dataclass(frozen=True)
class KnownArm:
    """An arm of the experiment: an input and an output that it must have, and its hidden nodes."""

    name: str
    input: str
    outputs: tuple[str, ...]
    nodes: frozenset[str]


ARMS = (
    KnownArm("PI3K", "PI3Ki", ("p_AKT",), frozenset({"irs1y", "pi3k", "pip3", "pdk1"})),
    KnownArm("MEK/ERK", "MEK12i", ("p_ERK12",), frozenset({"sos", "ras", "raf1", "mek"})),
    KnownArm(
        "NFkB/stress", "IL1a", ("p_Ikb", "p_JNK12", "p_p38"),
        frozenset({"il1r", "traf2", "traf6", "map3k7", "nik", "ikk", "mkk3", "mkk4", "mkk6",
                   "mkk7"}),
    ),
    KnownArm("STAT", "IL6", ("p_STAT3",), frozenset({"il6r", "jak2"})),
)  # fmt: skip


@dataclass(frozen=True)
class Simulated:
    """A graph with one latent, a network, and which of its nodes the latent is."""

    graph: nx.DiGraph
    network: Network
    matches: tuple[NodeMatch, ...]
    node: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="finished run of the experiment, or its graph")
    parser.add_argument("--network", type=Path, help="the authors' network, SIF")
    parser.add_argument("--networks", type=int, default=200, help="simulated networks")
    parser.add_argument("--permuted", type=int, default=20, help="permuted networks")
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if (options.run is None) != (options.network is None):
        parser.error("--run and --network come together")
    if options.run is None:
        print(compare_simulated(options.networks, options.permutations, options.seed))
        return
    try:
        print(compare_known(options))
    except (InputError, OSError) as error:
        parser.error(str(error))


def compare_simulated(networks: int, permutations: int, seed: int) -> str:
    """How often the right node is found, by the way of scoring."""
    rng = np.random.default_rng(seed)
    cases = [simulate(rng) for _ in range(networks)]

    def find(case: Simulated, number: int, *, permuted: bool = False) -> KnownNodes:
        network = permute(rng, case.network) if permuted else case.network
        return find_known_nodes(case.graph, network, case.matches, permutations=number)

    usual, rows = network_names.DECAY, []
    for decay in DECAYS:
        network_names.DECAY = decay
        first = [list_first(find(case, 1)) for case in cases]
        rows.append((f"score, decay {decay:g}", *describe_first(first, cases), "", "", ""))
    network_names.DECAY = usual
    found = [find(case, permutations) for case in cases]
    chance = [find(case, permutations, permuted=True) for case in cases]
    for label, q in (
        (f"score, decay {usual:g}, with p", "q"),
        ("reachability (Fisher)", "fisher_q"),
    ):
        first = [list_first(one, q) for one in found]
        named = np.array([count_named(one, q) > 0 for one in found])
        right = [case.node in nodes for case, nodes in zip(cases, first, strict=True)]
        by_chance = [count_named(one, q) > 0 for one in chance]
        shares = [f"{np.mean(part):.2f}" for part in (named, named & right, by_chance)]
        rows.append((label, *describe_first(first, cases), *shares))
    return write_table(SIMULATED, rows)


def list_first(found: KnownNodes, q: str = "q") -> set[str]:
    """The best node, or several that are equal."""
    rows = found.table
    is_first = rows["rank"] == 1 if q == "q" else rows["fisher_p"] <= rows["fisher_p"].min()
    return {*rows.loc[is_first, "node"]}


def describe_first(first: Sequence[set[str]], cases: Sequence[Simulated]) -> tuple[str, str]:
    """How often the right node is first, and how many nodes share that place."""
    right = [case.node in nodes for case, nodes in zip(cases, first, strict=True)]
    return f"{np.mean(right):.2f}", f"{np.mean([len(nodes) for nodes in first]):.1f}"


def compare_known(options: argparse.Namespace) -> str:
    """The arms of the experiment and their names, then what permuted networks give."""
    run, permutations = options.run, options.permutations
    graph = load_graph(run / "graph.json" if run.is_dir() else run)
    network = load_network(options.network)
    names = {name for name, role in graph.nodes(data="role") if role != "latent"}
    given = {n: MappedNodes((node,), "inhibits") for n, node in INHIBITORS.items() if n in names}
    given |= {n: MappedNodes((node,)) for n, node in READOUTS.items() if n in names}
    matches = match_names(graph, network.names, given)
    found = find_known_nodes(graph, network, matches, permutations=permutations)
    rows = []
    for arm, best in zip(found.arms, found.best(ALPHA), strict=True):
        known = [one for one in ARMS if one.input in arm.inputs and arm.outputs & {*one.outputs}]
        nodes = found.list_nodes(arm)
        top = nodes[nodes["rank"] == 1]
        right = {*best["node"]} & {node for one in known for node in one.nodes}
        plain = nodes.sort_values("fisher_p", kind="stable").head(1)
        name = ", ".join(best["node"]) or f"none (nearest {', '.join(top['node'])})"
        values = (
            [f"{top[key].iloc[0]:.2g}" for key in ("score", "p", "q")] if len(top) else [""] * 3
        )
        rows.append((
            f"{arm.name} ({arm.kind})", f"{', '.join(sorted(arm.inputs))}",
            f"{', '.join(sorted(arm.outputs))}", ", ".join(one.name for one in known), name,
            *values,
            "yes" if right else ("" if not known else "no"),
            f"{', '.join(plain['node'])} ({', '.join(f'{v:.2g}' for v in plain['fisher_q'])})",
        ))  # fmt: skip
    heads = ("latent", "inputs", "outputs", "arm", "name", "score", "p", "q", "right",
             "reachability (q)")  # fmt: skip
    rng = np.random.default_rng(options.seed)
    named: dict[str, list[int]] = {"score": [], "reachability": []}
    for _ in range(options.permuted):
        other = find_known_nodes(graph, permute(rng, network), matches, permutations=permutations)
        named["score"].append(count_named(other, "q"))
        named["reachability"].append(count_named(other, "fisher_q"))
    lines = [
        f"{options.permuted} permuted networks, names by {way}: {sum(counts)} of "
        f"{options.permuted * len(found.arms)}, in {sum(c > 0 for c in counts)} networks"
        for way, counts in named.items()
    ]
    return "\n".join([write_table(heads, rows), "", *lines])


def simulate(rng: np.random.Generator, nodes: int = 90) -> Simulated:
    """A network in which one hidden node carries effects of inputs to outputs."""
    while True:
        weight = np.zeros((nodes, nodes))
        for target in range(8, nodes):
            parents = rng.choice(np.arange(max(0, target - 25), target), rng.choice([1, 1, 2, 3]))
            weight[parents, target] = 0.5 * np.exp(rng.normal(0, 0.6, len(parents)))
        for _ in range(4):  # feedback
            first, last = np.sort(rng.choice(np.arange(8, nodes), 2, replace=False))
            weight[last, first] = 0.2
        total = part = np.eye(nodes)
        for _ in range(12):
            part = part @ weight
            total = total + part
        inhibited = rng.choice(np.arange(12, 55), 3, replace=False)
        ends = np.concatenate([np.arange(5), inhibited])
        outputs = rng.choice(np.arange(30, nodes), 16, replace=False)
        above, below = total[ends], total[:, outputs]  # [input, node], [node, output]
        fits = ((above > 0.02).sum(axis=0) > 1) & ((below > 0.02).sum(axis=1) > 2)
        fits[[*range(8), *outputs]] = False
        if fits.any():
            break
    node = int(rng.choice(np.flatnonzero(fits)))
    sides = []
    for effects in (above[:, node], below[node]):
        noisy = effects * np.exp(rng.normal(0, 0.5, len(effects)))
        sides.append(np.flatnonzero(noisy > 0.15 * noisy.max()))
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(len(ends))), role="input")
    graph.add_node("L1", role="latent")
    graph.add_nodes_from((f"y{i}" for i in range(len(outputs))), role="output")
    graph.add_edges_from((f"x{i}", "L1") for i in sides[0])
    graph.add_edges_from(("L1", f"y{i}") for i in sides[1])
    names = tuple(f"n{i}" for i in range(nodes))
    network = Network(names, *np.nonzero(weight), {name: i for i, name in enumerate(names)})
    matches = [NodeMatch(f"x{i}", "input", (names[end],), "inhibits" if i > 4 else "", "map")
               for i, end in enumerate(ends)]  # fmt: skip
    matches += [NodeMatch(f"y{i}", "output", (names[end],), "", "map")
                for i, end in enumerate(outputs)]  # fmt: skip
    return Simulated(graph, network, tuple(matches), names[node])


def permute(rng: np.random.Generator, network: Network) -> Network:
    """The network with permuted edges."""
    edges = np.unique(np.stack([network.sources, network.targets]), axis=1)
    edges = permute_edges(rng, edges[:, edges[0] != edges[1]])
    return Network(network.names, edges[0], edges[1], network.index)


def count_named(found: KnownNodes, q: str) -> int:
    """How many arms have a name."""
    named = found.table[found.table[q] < ALPHA]
    return len(named.drop_duplicates(["latent", "kind"]))


if __name__ == "__main__":
    main()
