"""Names for latents: p, q and who is tested, against hand-worked cases."""

from __future__ import annotations

from math import comb

import networkx as nx
import numpy as np
import pytest
from scipy.stats import false_discovery_control, hypergeom

from rinn.data.genesets import GeneSets
from rinn.data.log import ReadLog
from rinn.errors import InputError
from rinn.structure.enrichment import enrich_latents, name_genes


def make_sets(**sets):
    groups = {name: frozenset(genes.split()) for name, genes in sets.items()}
    genes = sorted(frozenset().union(*groups.values()))
    return GeneSets(groups, {}, {}, ReadLog("by hand", "GMT"), tuple(genes[:3]))


def make_graph():
    """L1 has the inputs a, b, c and leads to L2, which has none; outputs p to w."""
    graph = nx.DiGraph()
    graph.add_nodes_from("abcdef", role="input")
    graph.add_nodes_from(["L1", "L2"], role="latent")
    graph.add_nodes_from("pqrstuvw", role="output")
    graph.add_edges_from([("a", "L1"), ("b", "L1"), ("c", "L1"), ("L1", "L2")])
    graph.add_edges_from([("L1", "p"), ("L2", "q"), ("L2", "r"), ("L2", "s")])
    return graph


def find(found, latent, side, name):
    table = found.table
    rows = table[(table["latent"] == latent) & (table["side"] == side) & (table["set"] == name)]
    return rows.iloc[0] if len(rows) else None


class TestCounts:
    @pytest.fixture(scope="class")
    @staticmethod
    def found():
        return enrich_latents(
            make_graph(), make_sets(IN="a b c", MIX="a d e f q", OUT="q r s t", REST="p u v w")
        )

    def test_inputs(self, found):
        row = find(found, "L1", "inputs", "IN")
        # All three of L1's inputs are the set; 1 way in 20.
        assert row["p"] == pytest.approx(1 / comb(6, 3))
        assert (row["overlap"], row["latent_genes"], row["set_genes"]) == (3, 3, 3)
        assert row["background"] == 6
        assert row["genes"] == "a;b;c"

    def test_a_latent_with_one_output_has_all_that_it_reaches(self, found):
        # L1 reaches p, q, r, s: three of the set's four, out of eight.
        row = find(found, "L1", "outputs", "OUT")
        ways = comb(4, 3) * comb(4, 1) + comb(4, 4)
        assert row["p"] == pytest.approx(ways / comb(8, 4))
        assert row["genes"] == "q;r;s"
        assert find(found, "L2", "outputs", "OUT")["p"] == pytest.approx(4 / comb(8, 3))

    def test_a_latent_without_inputs_has_those_above(self, found):
        assert find(found, "L2", "inputs", "IN")["overlap"] == 3

    def test_a_latent_with_outputs_of_its_own_has_those(self):
        graph = make_graph()
        graph.add_edge("L1", "t")
        found = enrich_latents(graph, make_sets(OUT="q r s t", REST="p u v w"))
        assert find(found, "L1", "outputs", "OUT") is None  # p and t: one of the set
        one = enrich_latents(graph, make_sets(OUT="q r s", OWN="p t", REST="u v w"))
        assert find(one, "L1", "outputs", "OWN")["p"] == pytest.approx(1 / comb(8, 2))

    def test_both(self, found):
        row = find(found, "L1", "both", "MIX")
        assert row["genes"] == "a;q"
        assert row["p"] == pytest.approx(hypergeom.sf(1, 14, 5, 7))

    def test_min_overlap(self, found):
        assert (found.table["overlap"] >= 2).all()
        assert find(found, "L1", "inputs", "MIX") is None

    def test_q_allows_for_every_test(self, found):
        # inputs: IN, MIX; outputs: OUT, REST; both: all four. Two latents each.
        assert found.tests == 2 * (2 + 2 + 4)
        assert (found.table["q"] >= found.table["p"]).all()

    def test_q_by_hand(self, found):
        """All tests one by one, those without overlap too."""
        graph, p = make_graph(), {}
        pools = {"inputs": set("abcdef"), "outputs": set("pqrstuvw")}
        pools["both"] = pools["inputs"] | pools["outputs"]
        groups = {"IN": "abc", "MIX": "adefq", "OUT": "qrst", "REST": "puvw"}
        own = {("L1", "inputs"): "abc", ("L2", "inputs"): "abc"}
        own |= {("L1", "outputs"): "pqrs", ("L2", "outputs"): "qrs"}
        own |= {("L1", "both"): "abcpqrs", ("L2", "both"): "abcqrs"}
        for (latent, side), genes in own.items():
            for name, group in groups.items():
                cut = set(group) & pools[side]
                if len(cut) >= 2:
                    shared = len(cut & set(genes))
                    sizes = len(pools[side]), len(cut), len(genes)
                    p[latent, side, name] = hypergeom.sf(shared - 1, *sizes)
        assert len(p) == found.tests
        q = dict(zip(p, false_discovery_control(list(p.values())), strict=True))
        for row in found.table.to_dict("records"):
            key = row["latent"], row["side"], row["set"]
            assert row["p"] == pytest.approx(p[key])
            assert row["q"] == pytest.approx(q[key])
        assert sorted(graph) == sorted(make_graph())


class TestBackground:
    def test_what_no_set_knows_does_not_count(self):
        sets = make_sets(S="a b c", T="d e")
        annotated = enrich_latents(make_graph(), sets)
        everything = enrich_latents(make_graph(), sets, background="all")
        assert find(annotated, "L1", "inputs", "S")["p"] == pytest.approx(1 / comb(5, 3))
        assert find(everything, "L1", "inputs", "S")["p"] == pytest.approx(1 / comb(6, 3))
        assert any("1 of the 6 inputs is in no set: 'f'" in words for words in annotated.warnings)

    def test_a_single_set_can_be_compared_with_all_only(self):
        sets = make_sets(S="a b c")
        assert enrich_latents(make_graph(), sets).tests == 0
        assert "--background all" in enrich_latents(make_graph(), sets).warnings[-1]
        assert (
            find(enrich_latents(make_graph(), sets, background="all"), "L1", "inputs", "S")["q"] < 1
        )

    def test_names_told_apart(self):
        graph = nx.DiGraph([("TP53_x", "L1"), ("L1", "TP53_y")])
        graph.add_nodes_from(["TP53_x", "age_x"], role="input")
        graph.add_node("L1", role="latent")
        graph.add_node("TP53_y", role="output")
        assert name_genes(graph) == {"TP53_x": "TP53", "age_x": "age_x", "TP53_y": "TP53"}
        found = enrich_latents(graph, make_sets(S="TP53", T="age_x"), min_overlap=1)
        assert find(found, "L1", "both", "S")["latent_genes"] == 1  # one gene, not two


class TestBest:
    def test_the_lowest_q_or_none(self):
        graph = make_graph()
        graph.add_nodes_from([f"z{number}" for number in range(40)], role="output")
        sets = make_sets(OUT="p q r s", Z=" ".join(f"z{number}" for number in range(40)))
        best = enrich_latents(graph, sets).best(0.05)
        assert best["L1"]["set"] == "OUT"
        assert best["L1"]["q"] < 0.05
        assert enrich_latents(graph, sets).best(1e-9) == {"L1": None, "L2": None}

    def test_never_a_name_from_nothing(self):
        found = enrich_latents(make_graph(), make_sets(S="d e f", T="t u v w"))
        assert found.table.empty
        assert found.best() == {"L1": None, "L2": None}

    def test_random_sets_seldom_give_a_name(self):
        """Of 100 draws without any meaning about one in twenty may give a name, not more."""
        rng = np.random.default_rng(0)
        graph = nx.DiGraph()
        genes = [f"g{number}" for number in range(60)]
        graph.add_nodes_from(genes, role="output")
        graph.add_node("L1", role="latent")
        named = 0
        for _ in range(100):
            own = graph.copy()
            own.add_edges_from(("L1", gene) for gene in rng.choice(genes, 12, replace=False))
            groups = {f"S{n}": " ".join(rng.choice(genes, 10, replace=False)) for n in range(20)}
            named += enrich_latents(own, make_sets(**groups)).best()["L1"] is not None
        assert named <= 10


class TestErrors:
    def test_other_genes(self):
        with pytest.raises(InputError, match=r"none of them \(such as 'a', 'b'.*such as 'k', 'l'"):
            enrich_latents(make_graph(), make_sets(S="k l"))

    def test_background(self):
        with pytest.raises(InputError, match="did you mean 'annotated'"):
            enrich_latents(make_graph(), make_sets(S="a b"), background="annotaded")

    @pytest.mark.parametrize("least", [0, -1, 1.5, True])
    def test_least(self, least):
        with pytest.raises(InputError, match="at least 1"):
            enrich_latents(make_graph(), make_sets(S="a b"), min_overlap=least)


def test_no_latents():
    graph = nx.DiGraph()
    graph.add_nodes_from("ab", role="input")
    found = enrich_latents(graph, make_sets(S="a b"))
    assert found.table.empty
    assert found.latents == ()
