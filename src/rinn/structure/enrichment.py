"""Names for latents: gene sets that hold more of a latent's genes than chance would give.

A hypergeometric test for each latent, side and set; Benjamini and Hochberg (1995) over all tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy import sparse
from scipy.stats import false_discovery_control, hypergeom

from rinn.config import check_choice, check_integer
from rinn.data.genesets import GeneSets
from rinn.errors import InputError, quote_some
from rinn.graphs.basics import by_role, latents_in_order

SIDES = ("inputs", "outputs", "both")
BACKGROUNDS = ("annotated", "all")
MIN_OVERLAP = 2
ALPHA = 0.05
COLUMNS = (
    "latent", "side", "set", "overlap", "latent_genes", "set_genes", "background", "genes", "p",
    "q",
)  # fmt: skip


@dataclass(frozen=True)
class Enrichment:
    """The gene sets that share genes with latents.

    Attributes:
        table: one row for each latent, side and set that share at least `min_overlap` genes, the
            lowest q first: latent, side, set, overlap, latent_genes, set_genes, background (how
            many genes each has), genes (those shared), p, q.
        latents: all latents of the graph, causes before effects.
        tests: how many tests q allows for; more than there are rows.
        backgrounds: how many genes each side could have.
        warnings: what makes names less sure, in sentences.
    """

    table: pd.DataFrame
    latents: tuple[str, ...]
    tests: int
    backgrounds: dict[str, int]
    warnings: tuple[str, ...] = ()

    def best(self, alpha: float = ALPHA) -> dict[str, dict[str, object] | None]:
        """The row with the lowest q of each latent, or None where no q is below alpha."""
        result: dict[str, dict[str, object] | None] = dict.fromkeys(self.latents)
        for row in self.table.to_dict("records"):
            if row["q"] < alpha and result[row["latent"]] is None:
                result[row["latent"]] = {str(key): value for key, value in row.items()}
        return result


def enrich_latents(
    graph: nx.DiGraph,
    sets: GeneSets,
    *,
    min_overlap: int = MIN_OVERLAP,
    background: str = "annotated",
) -> Enrichment:
    """Test every latent's inputs, outputs, and both together against every gene set.

    A latent's inputs are its own, and where these are fewer than `min_overlap`, all those above
    it; its outputs likewise its own, or all that it reaches. They are compared with what the graph
    has in all: with the genes of that side that are in some set of the file ("annotated"), since a
    name that no set knows, such as an age or a gene spelt otherwise, could never be found in one
    and would make all others look enriched; or with all of them ("all"), which suits a file of few
    sets. Sets are cut to the background. Those that cannot tell anything (fewer genes than
    `min_overlap`, or all there are) are not tested. Neither are latents with fewer genes than that.
    Which tests are made thus depends on sizes alone, and q allows for every one of them.

    Args:
        graph: with roles.
        sets: from `load_gmt`.
        min_overlap: genes that a set must share with a latent, at least.
        background: "annotated" or "all".

    Returns:
        The table, with p and q.

    Raises:
        InputError: an argument is wrong, or no gene of the graph is in any set.

    Example:
        >>> from rinn.data.log import ReadLog
        >>> graph = nx.DiGraph([("L1", gene) for gene in "abc"])
        >>> graph.add_nodes_from("abcdefgh", role="output")
        >>> graph.add_node("L1", role="latent")
        >>> both = {"FIRST": frozenset("abc"), "OTHERS": frozenset("defgh")}
        >>> sets = GeneSets(both, {}, {}, ReadLog("by hand", "GMT"))
        >>> enrich_latents(graph, sets).table[["side", "set", "overlap"]].values.tolist()
        [['outputs', 'FIRST', 3], ['both', 'FIRST', 3]]
    """
    check_choice("background", background, BACKGROUNDS)
    check_integer("min_overlap", min_overlap)
    genes = name_genes(graph)
    pools = {side: _pool(graph, genes, side) for side in SIDES}
    annotated = {side: pool & sets.genes for side, pool in pools.items()}
    if not annotated["both"]:
        raise InputError(
            f"GMT must name the run's inputs or outputs, but none of them (such as "
            f"{quote_some(sorted(pools['both']))}) is in a set (such as "
            f"{quote_some(sets.examples)}); give a file that spells genes as the tables do"
        )
    chosen = annotated if background == "annotated" else pools
    latents = latents_in_order(graph)
    parts = [
        _test_side(
            side,
            _find_queries(graph, genes, latents, side, min_overlap),
            chosen[side],
            sets,
            min_overlap,
        )
        for side in SIDES
    ]
    tests = sum(count for _, count in parts)
    table = pd.concat([rows for rows, _ in parts if len(rows)] or [parts[0][0]], ignore_index=True)
    table["q"] = _adjust(table["p"].to_numpy(np.float64), tests)
    shared = table[table["overlap"] >= min_overlap]
    # One after the other in the order of the sides, which a stable sort keeps among equals.
    order = ["q", "p", "overlap", "set_genes", "latent", "set"]
    rising = [True, True, False, True, True, True]
    shared = shared.sort_values(order, ascending=rising, kind="stable", ignore_index=True)
    return Enrichment(
        table=shared[list(COLUMNS)],
        latents=tuple(latents),
        tests=tests,
        backgrounds={side: len(chosen[side]) for side in SIDES},
        warnings=tuple(_list_warnings(pools, annotated, tests)),
    )


def name_genes(graph: nx.DiGraph) -> dict[str, str]:
    """The gene of each input and output: without the _x or _y that tells them apart."""
    inputs, outputs = by_role(graph, "input"), by_role(graph, "output")
    ends = {*inputs, *outputs}
    result = {}
    for names, end, other in ((inputs, "_x", "_y"), (outputs, "_y", "_x")):
        for name in names:
            base = name.removesuffix(end)
            result[name] = base if base != name and base + other in ends else name
    return result


def _adjust(p: Float[np.ndarray, " test"], tests: int) -> Float[np.ndarray, " test"]:
    """Benjamini and Hochberg (1995) over all tests; those not given have p = 1."""
    return false_discovery_control(np.append(p, np.ones(tests - len(p))))[: len(p)]


def _pool(graph: nx.DiGraph, genes: Mapping[str, str], side: str) -> frozenset[str]:
    roles = {"inputs": ("input",), "outputs": ("output",), "both": ("input", "output")}[side]
    return frozenset(genes[name] for role in roles for name in by_role(graph, role))


def _find_queries(
    graph: nx.DiGraph, genes: Mapping[str, str], latents: Sequence[str], side: str, min_overlap: int
) -> dict[str, frozenset[str]]:
    role = dict(graph.nodes(data="role"))

    def list_genes(nodes: Iterable[str], wanted: str) -> frozenset[str]:
        return frozenset(genes[node] for node in nodes if role[node] == wanted)

    result = {}
    for latent in latents:
        inputs = list_genes(graph.predecessors(latent), "input")
        if len(inputs) < min_overlap:
            inputs = list_genes(nx.ancestors(graph, latent), "input")
        outputs = list_genes(graph.successors(latent), "output")
        if len(outputs) < min_overlap:
            outputs = list_genes(nx.descendants(graph, latent), "output")
        result[latent] = {"inputs": inputs, "outputs": outputs, "both": inputs | outputs}[side]
    return result


def _test_side(
    side: str,
    queries: Mapping[str, frozenset[str]],
    pool: frozenset[str],
    sets: GeneSets,
    min_overlap: int,
) -> tuple[pd.DataFrame, int]:
    """Rows for all pairs that share a gene, and how many tests there are in all."""
    genes_of = {latent: genes & pool for latent, genes in queries.items()}
    genes_of = {latent: genes for latent, genes in genes_of.items() if len(genes) >= min_overlap}
    cut = {name: genes & pool for name, genes in sets.sets.items()}
    cut = {name: genes for name, genes in cut.items() if min_overlap <= len(genes) < len(pool)}
    shared = _count_shared(list(cut.values()), list(genes_of.values()), sorted(pool))
    at_set, at_latent = np.nonzero(shared)
    overlap = shared[at_set, at_latent]
    table = pd.DataFrame(
        {
            "latent": np.array(list(genes_of), object)[at_latent],
            "side": side,
            "set": np.array(list(cut), object)[at_set],
            "overlap": overlap,
            "latent_genes": np.array([len(genes_of[name]) for name in genes_of], np.int64)[
                at_latent
            ],
            "set_genes": np.array([len(cut[name]) for name in cut], np.int64)[at_set],
            "background": len(pool),
        }
    )
    # Pairs with less overlap are counted among the tests, but never shown.
    table["genes"] = [
        ";".join(sorted(cut[name] & genes_of[latent])) if count >= min_overlap else ""
        for latent, name, count in zip(table["latent"], table["set"], overlap, strict=True)
    ]
    p = hypergeom.sf(overlap - 1, len(pool), table["set_genes"], table["latent_genes"])
    table["p"] = np.minimum(p, 1.0) if len(overlap) else np.zeros(0)
    return table, len(cut) * len(genes_of)


def _count_shared(
    sets: Sequence[frozenset[str]], queries: Sequence[frozenset[str]], genes: Sequence[str]
) -> Int[np.ndarray, "set query"]:
    index = {gene: number for number, gene in enumerate(genes)}

    def mark(groups: Sequence[frozenset[str]]) -> sparse.csr_array:
        columns = [index[gene] for group in groups for gene in group]
        rows = [number for number, group in enumerate(groups) for _ in group]
        ones = np.ones(len(columns), np.int64)
        return sparse.csr_array((ones, (rows, columns)), shape=(len(groups), len(genes)))

    if not sets or not queries:
        return np.zeros((len(sets), len(queries)), np.int64)
    return np.asarray((mark(sets) @ mark(queries).T).toarray())


def _list_warnings(
    pools: Mapping[str, frozenset[str]], annotated: Mapping[str, frozenset[str]], tests: int
) -> list[str]:
    warnings = []
    for side in ("inputs", "outputs"):
        missing = sorted(pools[side] - annotated[side])
        if missing:
            warnings.append(
                f"{len(missing)} of the {len(pools[side])} {side} "
                f"{'is' if len(missing) == 1 else 'are'} in no set: "
                f"{quote_some(missing)}"
            )
    if not tests:
        warnings.append(
            "no set could be tested: each has too few of the run's genes, or all of them; give "
            "more sets, or compare with all inputs and outputs (--background all)"
        )
    return warnings
