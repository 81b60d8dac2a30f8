"""A graph as other programs read it: one file per family of formats, one line in this registry."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import networkx as nx

from rinn.config import check_choice
from rinn.errors import InputError
from rinn.files import check_target, replace_file
from rinn.graphs.basics import check_graph
from rinn.graphs.files import encode_graphml, encode_json, load_graph
from rinn.graphs.formats.cytoscape import encode_cx2, encode_cyjs
from rinn.graphs.formats.dagitty import encode_dagitty
from rinn.graphs.formats.dot import encode_dot
from rinn.graphs.formats.equivalents import encode_equivalents
from rinn.graphs.formats.gml import encode_gml
from rinn.graphs.formats.tables import encode_csv, encode_nodes, encode_sif
from rinn.graphs.formats.words import (
    encode_lavaan,
    encode_tetrad,
    encode_tetrad_names,
    encode_words,
)

__all__ = ["EXPORTS", "Export", "export_graph", "export_path"]

Encode = Callable[[nx.DiGraph], bytes]


@dataclass(frozen=True)
class Export:
    """A format; `companions` are further files for what it cannot hold, by suffix."""

    name: str
    suffix: str
    about: str
    encode: Encode
    companions: Mapping[str, Encode] = field(default_factory=dict)

    def files(self, path: Path) -> dict[Path, Encode]:
        """Name every file that is written for one path, the path itself last."""
        cut = path.name.endswith(self.suffix)
        stem = path.name.removesuffix(self.suffix) if cut else path.stem
        others = {path.with_name(f"{stem}{end}"): encode for end, encode in self.companions.items()}
        return others | {path: self.encode}


EXPORTS: dict[str, Export] = {
    export.name: export
    for export in (
        Export("graphml", ".graphml", "GraphML: Cytoscape, Gephi, yEd, igraph", encode_graphml),
        Export("dot", ".dot", "Graphviz, with shapes by role", encode_dot),
        Export("cyjs", ".cyjs", "Cytoscape and Cytoscape.js, with a layout", encode_cyjs),
        Export("cx2", ".cx2", "Cytoscape and NDEx, with a layout and a style", encode_cx2),
        Export(
            "sif",
            ".sif",
            "Cytoscape's simple interactions, with a table of the nodes",
            encode_sif,
            {".nodes.tsv": encode_nodes},
        ),
        Export("csv", ".edges.csv", "one row per edge, for any spreadsheet", encode_csv),
        Export("json", ".json", "node-link JSON: networkx, d3", encode_json),
        Export("gml", ".gml", "GML: networkx, igraph, Gephi", encode_gml),
        Export("dagitty", ".dagitty.txt", "DAGitty: dagitty.net and R", encode_dagitty),
        Export(
            "lavaan",
            ".lavaan.txt",
            "a structural equation model: lavaan (R), semopy (Python)",
            encode_lavaan,
            {".variables.tsv": encode_words},
        ),
        Export(
            "tetrad",
            ".tetrad.txt",
            "Tetrad and causal-learn, with a table of the names",
            encode_tetrad,
            {".tetrad.tsv": encode_tetrad_names},
        ),
        Export(
            "equivalents",
            ".equivalents.json",
            "the graphs that the data cannot distinguish from this one, as node-link JSON",
            encode_equivalents,
        ),
    )
}


def export_graph(graph: nx.DiGraph, path: str | os.PathLike[str], kind: str) -> None:
    """Write a graph in one of the formats of `EXPORTS`.

    Args:
        graph: the graph; it is not changed.
        path: the file, replaced if it exists, as are the further files that the format needs.
        kind: the format's name.

    Raises:
        InputError: the format is unknown, the graph is not a causal graph (see `check_graph`),
            the folder does not exist, or the path is not that of a plain file.

    Example:
        >>> import tempfile
        >>> graph = nx.DiGraph([("x0", "h"), ("h", "y0")])
        >>> nx.set_node_attributes(graph, {"x0": "input", "h": "latent", "y0": "output"}, "role")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export_graph(graph, f"{folder}/graph.sif", "sif")
        ...     sorted(entry.name for entry in Path(folder).iterdir())
        ['graph.nodes.tsv', 'graph.sif']
    """
    files = _name_files(EXPORTS[check_choice("format", kind, EXPORTS)], Path(path))
    check_graph(graph)
    contents = {file: encode(graph) for file, encode in files.items()}
    for file, content in contents.items():
        replace_file(file, content)


def export_path(
    source: str | os.PathLike[str],
    kind: str,
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
) -> Path:
    """Write the graph of a run folder, or of a graph file, in another format."""
    export, source = EXPORTS[check_choice("format", kind, EXPORTS)], Path(source)
    file = source / "graph.json" if source.is_dir() else source
    if source.is_dir() and not file.is_file():
        raise InputError(
            f"RUN must be a run folder that 'rinn fit' has finished, or a graph file, but {source} "
            "has no graph.json; name another folder or a graph file"
        )
    path = file.with_name(f"{file.stem}{export.suffix}") if out is None else Path(out)
    taken = [name for name in _name_files(export, path) if os.path.lexists(name)]
    if taken and not force:
        raise InputError(
            f"cannot write {taken[0]}: it exists; name another file with --out, or replace it with "
            "--force"
        )
    export_graph(load_graph(file), path, kind)
    return path


def _name_files(export: Export, path: Path) -> dict[Path, Encode]:
    """The files to write for one path, all of which can be."""
    check_target(path)
    files = export.files(path)
    for file in files:
        check_target(file)
    return files
