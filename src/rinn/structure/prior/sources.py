"""All that a user knows beforehand, as it was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rinn.config import NETWORK_STEPS, PRIOR_WEIGHT, check_integer, check_number
from rinn.data.genesets import load_gmt
from rinn.errors import InputError
from rinn.structure.prior.network import Network, load_network
from rinn.structure.prior.statements import MAX_WEIGHT, Statement, load_statements

# Options by the file that they need.
OPTIONS = {
    "gene_sets": {"set_weight": "--set-weight"},
    "network": {
        "steps": "--network-steps",
        "network_weight": "--network-weight",
        "is_directed": "--network-directed",
        "is_mask": "--network-mask",
    },
}


@dataclass(frozen=True)
class PriorKnowledge:
    """Prior knowledge before it is brought to the columns of data (see `resolve`).

    Attributes:
        statements: about named inputs and outputs.
        sets: names that belong together, such as the genes of pathways.
        set_weight: log odds by which two members of a set share a latent more cheaply.
        network: in which an input should have a path to an output that it acts on.
        steps: the most edges of such a path.
        network_weight: log odds to take from pairs without one.
        is_directed: whether paths follow the edges' direction.
        is_mask: whether pairs without a path are ruled out instead.
        files: the name of each file by what it holds.
    """

    statements: tuple[Statement, ...] = ()
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    set_weight: float = PRIOR_WEIGHT
    network: Network | None = None
    steps: int = NETWORK_STEPS
    network_weight: float = PRIOR_WEIGHT
    is_directed: bool = False
    is_mask: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_integer("--network-steps", self.steps)
        for name, weight in (
            ("--set-weight", self.set_weight),
            ("--network-weight", self.network_weight),
        ):
            check_number(name, weight, maximum=MAX_WEIGHT, above=True, example=1)


def load_prior(
    prior: str | os.PathLike[str] | None = None,
    *,
    gene_sets: str | os.PathLike[str] | None = None,
    set_weight: float = PRIOR_WEIGHT,
    network: str | os.PathLike[str] | None = None,
    steps: int = NETWORK_STEPS,
    network_weight: float = PRIOR_WEIGHT,
    is_directed: bool = False,
    is_mask: bool = False,
) -> PriorKnowledge | None:
    r"""Read prior knowledge from the files that a user has.

    Args:
        prior: statements; see `load_statements`.
        gene_sets: a GMT file; see `rinn.load_gmt`.
        set_weight: see `PriorKnowledge`.
        network: a SIF file or a table; see `load_network`.
        steps: see `PriorKnowledge`.
        network_weight: see `PriorKnowledge`.
        is_directed: see `PriorKnowledge`.
        is_mask: see `PriorKnowledge`.

    Returns:
        The knowledge, or None where there is no file.

    Raises:
        InputError: a file or a number is wrong.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "prior.csv"
        >>> _ = path.write_text("statement,first,second\nmust,x0,y1\n")
        >>> len(load_prior(path).statements)
        1
    """
    files = {"prior": prior, "gene_sets": gene_sets, "network": network}
    given = {what: Path(path).name for what, path in files.items() if path is not None}
    options = {
        "set_weight": set_weight,
        "steps": steps,
        "network_weight": network_weight,
        "is_directed": is_directed,
        "is_mask": is_mask,
    }
    checked = PriorKnowledge(**options, files=given)  # type: ignore[arg-type]
    usual = PriorKnowledge()
    for file, names in OPTIONS.items():
        for name, option in names.items():
            if file not in given and options[name] != getattr(usual, name):
                raise InputError(
                    f"{option} must come with --{file.replace('_', '-')} FILE, but there is none; "
                    f"name the file, or leave {option} out"
                )
    if not given:
        return None
    return replace(
        checked,
        statements=() if prior is None else load_statements(prior),
        sets={} if gene_sets is None else load_gmt(gene_sets).sets,
        network=None if network is None else load_network(network),
    )
