"""Small graphs for tests: drawn by hand, the paper's, and random ones."""

import networkx as nx
from hypothesis import strategies as st

PAPER_LATENTS = {
    "16": ["20"],
    "17": ["21", "22"],
    "18": ["23"],
    "19": ["23", "24"],
    "20": ["y0", "y5", "y10", "y15"],
    "21": ["y0", "y1", "y4", "y8", "y12", "y13"],
    "22": ["y2", "y3", "y7", "y11", "y14", "y15"],
    "23": ["y2", "y3", "y6", "y7"],
    "24": ["y5", "y8", "y9", "y10", "y13"],
}
PAPER_INPUTS = [16, 17, 17, 18, 19, 19, 21, 20, 17, 24, 23, 19, 24, 22, 21, 22]


def make_graph(edges, latents=(), inputs=(), outputs=()):
    graph = nx.DiGraph()
    for node in [*inputs, *latents, *outputs, *(node for edge in edges for node in edge)]:
        known = {"x": "input", "y": "output"}
        role = "latent" if node in latents else known.get(node[0], "latent")
        graph.add_node(node, role=role)
    graph.add_edges_from(edges)
    return graph


def paper_truth():
    names = [f"x{i}" for i in range(16)], [f"y{i}" for i in range(16)]
    edges = [(f"x{i}", str(latent)) for i, latent in enumerate(PAPER_INPUTS)]
    edges += [(latent, child) for latent, below in PAPER_LATENTS.items() for child in below]
    return make_graph(edges, PAPER_LATENTS, *names)


def same(left, right):
    return nx.utils.graphs_equal(left, right)


@st.composite
def graphs(draw, latents=5, inputs=4, outputs=5):
    """Acyclic graphs with random edges from inputs through latents to outputs."""
    xs = [f"x{i}" for i in range(inputs)]
    hs = [f"h{i}" for i in range(draw(st.integers(1, latents)))]
    ys = [f"y{i}" for i in range(outputs)]
    possible = [(x, h) for x in xs for h in hs] + [(h, y) for h in hs for y in ys]
    possible += [(hs[i], hs[j]) for i in range(len(hs)) for j in range(i + 1, len(hs))]
    possible += [(x, y) for x in xs[:1] for y in ys]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=30))
    return make_graph(chosen, hs, xs, ys)
