"""The command `name`: names for latents, from gene sets or a network of known interactions."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rinn.cli.options import (
    Force,
    Json,
    RunOrGraph,
    check_target_file,
    clip_line,
    print_line,
    print_note,
    write_csv,
)
from rinn.config import check_number
from rinn.errors import InputError

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from rinn.structure.enrichment import Enrichment
    from rinn.structure.network_map import NodeMatch
    from rinn.structure.network_names import Arm

MAX_MATCHES = 40  # printed; the file has all


@dataclass(frozen=True)
class _Found:
    """Names as JSON, as lines, and as tables by file; `end` is said of the files.

    Notes go to stderr.
    """

    content: dict[str, Any]
    lines: list[str]
    tables: dict[str, pd.DataFrame]
    end: str
    notes: list[str]


def name(
    run: RunOrGraph,
    gmt: Annotated[
        Path | None,
        typer.Option(help="GMT file of gene sets: name, description, genes; may be gzipped."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(
            help="Network of known interactions: SIF, or a table with source and target as "
            "OmniPath has it; may be gzipped."
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--map",
            help="Table with the columns name, node and action (inhibits, activates): which node "
            "of the network an input or output is, or acts on.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; by default names.csv (gene sets) or network_names.csv in the run "
            "folder."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Maximum q-value of a name.")] = 0.05,
    min_overlap: Annotated[
        int, typer.Option(help="Minimum number of genes that a set shares with a latent.")
    ] = 2,
    background: Annotated[
        str,
        typer.Option(
            help="Genes to compare with: those of the run that are in any set (annotated), or all."
        ),
    ] = "annotated",
    permutations: Annotated[
        int, typer.Option(help="Permutations of the network that p-values are based on.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the permutations.")] = 0,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Name latents by gene sets, or by the known node between their inputs and outputs."""
    from rinn.config import check_integer
    from rinn.graphs.files import load_graph
    from rinn.runs.manifest import load_manifest

    check_number("--alpha", alpha, maximum=1, above=True, example=0.05)
    check_integer("--permutations", permutations)
    check_integer("--seed", seed, minimum=0)
    _check_sources(gmt, network, mapping, out)
    paths = _list_files(run, out, gmt is not None, network is not None)
    for path in paths.values():
        check_target_file(path, force)
    if run.is_dir():
        load_manifest(run)  # says what is wrong with the folder
    graph = load_graph(run / "graph.json" if run.is_dir() else run)
    found: dict[str, _Found] = {}
    if gmt is not None:
        found["gene_sets"] = _name_by_sets(graph, gmt, min_overlap, background, alpha)
    if network is not None:
        found["network"] = _name_by_network(graph, network, mapping, permutations, seed, alpha)
    for one in found.values():  # nothing is written before all is known to be right
        for file, table in one.tables.items():
            write_csv(table, paths[file])
        for note in one.notes:
            print_note(note)
    if as_json:
        content = {key: one.content for key, one in found.items()}
        sys.stdout.write(json.dumps(content) + "\n")
        return
    for one in found.values():
        for line in one.lines:
            print_line(line)
        files = ", ".join(f"{paths[file]} ({len(rows)} rows)" for file, rows in one.tables.items())
        print_line(f"wrote {files}{one.end}")
    if out is None and run.is_dir() and (run / "report.html").exists():
        print_line(f"'rinn report {run}' puts the names into the report")


def _check_sources(
    gmt: Path | None, network: Path | None, mapping: Path | None, out: Path | None
) -> None:
    if gmt is None and network is None:
        raise InputError(
            "name needs --gmt FILE or --network FILE, but got neither; name a file of gene sets or "
            "of known interactions"
        )
    if mapping is not None and network is None:
        raise InputError("--map needs --network FILE, but got none; name the file")
    if out is not None and gmt is not None and network is not None:
        raise InputError(
            "--out must come with either --gmt or --network, but both were given; omit --out, "
            "or call rinn name twice"
        )


def _list_files(run: Path, out: Path | None, by_sets: bool, by_network: bool) -> dict[str, Path]:
    """The files to write by what they hold."""
    from rinn.runs.names import NAMES, NODE_MAP, NODE_NAMES

    files = [NAMES] * by_sets + [NODE_NAMES, NODE_MAP] * by_network
    if out is not None:
        return {file: out.with_suffix(".map.csv") if file == NODE_MAP else out for file in files}
    if run.is_dir():
        return {file: run / file for file in files}
    return {file: run.with_suffix(f".{file}") for file in files}


def _name_by_sets(
    graph: nx.DiGraph, gmt: Path, min_overlap: int, background: str, alpha: float
) -> _Found:
    from rinn.data.genesets import load_gmt
    from rinn.runs.names import NAMES
    from rinn.structure.enrichment import enrich_latents, name_genes

    sets = load_gmt(gmt, genes=set(name_genes(graph).values()))
    result = enrich_latents(graph, sets, min_overlap=min_overlap, background=background)
    notes = [f"{gmt.name}: {entry}" for entry in sets.log.entries]
    notes += [f"warning: {warning}" for warning in result.warnings]
    lines = _describe_sets(result, alpha)
    end = f", q over {result.tests} tests"
    return _Found(dict(result.best(alpha)), lines, {NAMES: result.table}, end, notes)


def _describe_sets(result: Enrichment, alpha: float) -> list[str]:
    if not result.latents:
        return ["the graph has no latent to name"]
    lines = []
    for latent, row in result.best(alpha).items():
        if row is None:
            lines.append(f"{clip_line(latent)}: no set below q = {alpha:g}")
        else:
            lines.append(
                f"{clip_line(latent)}: {clip_line(str(row['set']))} ({row['side']}: "
                f"{row['overlap']} of {row['latent_genes']} genes, set {row['set_genes']} of "
                f"{row['background']}; q = {row['q']:.2g})"
            )
    return lines


def _name_by_network(
    graph: nx.DiGraph,
    path: Path,
    mapping: Path | None,
    permutations: int,
    seed: int,
    alpha: float,
) -> _Found:
    from rinn.runs.names import NODE_MAP, NODE_NAMES
    from rinn.structure.network_map import find_hints, load_map, match_names, tabulate_matches
    from rinn.structure.network_names import find_known_nodes
    from rinn.structure.prior.network import load_network

    network = load_network(path)
    given = {} if mapping is None else load_map(mapping)
    matches = match_names(graph, network.names, given)
    notes = [f"warning: {hint}" for hint in find_hints(matches, network.names, given)]
    found = find_known_nodes(graph, network, matches, permutations=permutations, seed=seed)
    content = {
        "names": [
            {"latent": arm.name, "kind": arm.kind}
            | {"inputs": sorted(arm.inputs), "outputs": sorted(arm.outputs)}
            | {"nodes": rows[["node", "score", "p", "q"]].to_dict("records")}
            for arm, rows in zip(found.arms, found.best(alpha), strict=True)
        ],
        "not_tested": list(found.skipped),
        "map": [asdict(one) for one in matches],
    }
    lines = [
        *_describe_matches(matches),
        *(_describe_node(arm, found.list_nodes(arm), alpha) for arm in found.arms),
        *(f"{clip_line(one)}: no input or no output in the network" for one in found.skipped),
    ]
    if not found.arms and not found.skipped:
        lines.append("the graph has nothing to name")
    tables = {NODE_NAMES: found.table, NODE_MAP: tabulate_matches(matches)}
    return _Found(content, lines, tables, "; the latter may be edited and given as --map", notes)


def _describe_matches(matches: tuple[NodeMatch, ...]) -> list[str]:
    """One line for names with a node, one for those without."""
    found = [
        f"{one.name} {one.action or '='} {'/'.join(one.nodes)} ({one.match})"
        for one in matches
        if one.nodes
    ]
    lost = [f"{one.name} ({one.match})" for one in matches if not one.nodes]
    lines = [f"matched {len(found)} of {len(matches)} names: {_list_some(found)}"]
    return [*lines, f"not matched: {_list_some(lost)}"] if lost else lines


def _list_some(words: list[str]) -> str:
    more = f" and {len(words) - MAX_MATCHES} more" if len(words) > MAX_MATCHES else ""
    return f"{', '.join(map(clip_line, words[:MAX_MATCHES]))}{more}"


def _describe_node(arm: Arm, nodes: pd.DataFrame, alpha: float) -> str:
    from rinn.structure.network_names import DIRECT

    label = f"{arm.name} -> {', '.join(sorted(arm.outputs))}" if arm.kind == DIRECT else arm.name
    label = clip_line(label)
    if nodes.empty:
        return f"{label}: no node lies between its inputs and outputs"
    first = nodes[nodes["rank"] == 1]
    row, names = first.iloc[0], clip_line(", ".join(first["node"]))
    values = f"score {row['score']:.2f}, p = {row['p']:.2g}, q = {row['q']:.2g}"
    if row["q"] < alpha:
        return f"{label}: {names} ({values}; reachability alone: q = {row['fisher_q']:.2g})"
    return f"{label}: no node below q = {alpha:g} (nearest: {names}, {values})"
