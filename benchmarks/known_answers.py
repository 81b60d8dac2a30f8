"""Real experiments whose answer is partly known: which pairs of input and output are right.

What is known is written here, before any fit, and takes no part in one. `docs/real-data` says where
the files of each study come from; they are the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pandas as pd

from rinn.errors import InputError

Pair = tuple[str, str]


@dataclass(frozen=True)
class Study:
    """Tables, and what is known of them.

    `known` are the right pairs among `inputs` x `outputs`; pairs with other columns do not count.
    `textbook` are pairs of which everyone is sure, some or all of the known ones.
    """

    x: pd.DataFrame
    y: pd.DataFrame
    covariates: pd.DataFrame | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    known: frozenset[Pair]
    textbook: frozenset[Pair]


@dataclass(frozen=True)
class StudyKind:
    """How a study is read from a folder."""

    title: str
    load: Callable[[Path], Study]


# Liver cells: columns as nodes of the authors' network; p_STAT2 and p_Tyk2 are not in it.
LIVER_INPUTS = {
    "IL1a": "il1a", "TGFa": "tgfa", "IL6": "il6", "INS": "ins", "TNFa": "tnfa", "PI3Ki": "pi3k",
    "MEK12i": "mek", "IKKi": "ikk",
}  # fmt: skip
LIVER_OUTPUTS = {
    "p_AKT": "akt", "p_ERK12": "erk", "p_GSK3": "gsk3", "p_Ikb": "ikb", "p_JNK12": "jnk",
    "p_p38": "p38", "p_p70S6": "p70s6", "p_p90RSK": "p90rsk", "p_STAT3": "stat3", "p_cJUN": "cjun",
    "p_CREB": "creb", "p_HistH3": "histh3", "p_HSP27": "hsp27", "p_IRS1s": "irs1s",
    "p_MEK12": "mek", "p_p53": "p53",
}  # fmt: skip
STRESS = ("p_Ikb", "p_JNK12", "p_p38", "p_HSP27")
GROWTH = ("p_AKT", "p_GSK3", "p_ERK12", "p_p90RSK")
LIVER = {
    "IL1a": STRESS,
    "TNFa": STRESS,
    "IL6": ("p_STAT3",),
    "INS": GROWTH,
    "TGFa": GROWTH,
    "PI3Ki": ("p_AKT", "p_GSK3", "p_p70S6"),
    "MEK12i": ("p_ERK12", "p_p90RSK"),
}
# Fly immunity: the genes of which textbooks say which arm switches them on. LPS acts through TAK1
# on both arms: Relish and its kinase (key) on the antimicrobial peptides, MKK4 and Hep on JNK.
PEPTIDES = ("AttA", "CecA1", "CecA2", "CecB", "CecC", "Dro", "Mtk")
STRESS_GENES = ("puc",)
FLY = {
    "LPS": PEPTIDES + STRESS_GENES,
    "tak": PEPTIDES + STRESS_GENES,
    "rel": PEPTIDES,
    "key": PEPTIDES,
    "mkk4hep": STRESS_GENES,
}
# Melanoma cells: each drug's own target, or what shows its activity, and what lies right below it.
BELOW_ERK = ("p_ELK1pS383", "p_YBIpS102", "p_CyclinD1")
BELOW_AKT = ("p_AKTpS473", "p_AKTpT308", "p_GSK3abpS21", "p_GSKpS9", "p_TSC2pT1462")
MELANOMA = {
    "aMEK": ("p_MAPKpT202", *BELOW_ERK),
    "aBRAFm": ("p_MEKpS217", "p_MAPKpT202", *BELOW_ERK),
    "aAKT": BELOW_AKT,
    "aPI3K": BELOW_AKT,
    "amTOR": (
        "p_mTORpS2448", "p_p70S6KpT389", "p_S6pS235", "p_S6pS240", "p_4EBP1pS65", "p_4EBP1pT37",
        "p_4EBP1pT70",
    ),
    "aCDK4": ("p_RbpS807",),
    "aSRC": ("p_SRCpY416", "p_SRCpY527", "p_STAT3pY705"),
    "aSTAT3": ("p_STAT3pY705",),
    "aJAK": ("p_STAT3pY705", "p_STAT5pY694", "p_STAT6pY641"),
    "aMDM2": ("p_p53", "p_p21"),
    "aPKC": ("p_PKCa",),
    "aHDAC": ("p_p21",),
}  # fmt: skip
# Glioblastomas: expression that follows a mutation by textbook knowledge. p53 switches on its
# targets, RB1 holds back those of E2F, mutated NF1 is the mark of the mesenchymal type, and EGFR is
# expressed where it is altered.
GLIOMA = {
    "TP53": ("CDKN1A", "MDM2", "SESN1", "BTG2", "FAS", "TP53I3", "CCNG1"),
    "RB1": ("CCNE1", "E2F1", "MCM5", "CDC6", "CCNA2", "CDK1", "RRM2"),
    "NF1": ("CHI3L1", "MET", "CD44", "SERPINE1", "TIMP1"),
    "EGFR": ("EGFR",),
}


def load_liver(folder: Path) -> Study:
    """Stimuli and inhibitors of liver cells; the network says which pairs are known."""
    x, y, covariates = (_read(folder, f"{name}.csv") for name in ("x", "y", "covariates"))
    _need(folder / "x.csv", x, LIVER_INPUTS)
    _need(folder / "y.csv", y, LIVER_OUTPUTS)
    _need(folder / "covariates.csv", covariates, ("cell",))
    known = find_known(folder / "pkn.sif", LIVER_INPUTS, LIVER_OUTPUTS)
    sides = tuple(LIVER_INPUTS), tuple(LIVER_OUTPUTS)
    return Study(x, y, covariates, *sides, known, list_pairs(LIVER))


def find_known(
    network: Path, inputs: Mapping[str, str], outputs: Mapping[str, str]
) -> frozenset[Pair]:
    """The pairs whose output is reached from the input in a network of `source sign target`.

    Raises:
        InputError: a line has not three words, or a protein is not in the network.
    """
    graph: nx.DiGraph = nx.DiGraph()
    for number, line in enumerate(network.read_text().splitlines(), 1):
        words = line.split()
        if words and len(words) != 3:
            raise InputError(
                f"{network} must have three words a line, source, sign and target, but line "
                f"{number} has {len(words)}; give the network as SIF"
            )
        if words:
            graph.add_edge(words[0], words[2])
    if missing := [n for n in (*inputs.values(), *outputs.values()) if n not in graph]:
        raise InputError(f"{network} must have the protein {missing[0]!r}; give the whole network")
    below = {name: nx.descendants(graph, source) for name, source in inputs.items()}
    return frozenset((i, o) for i in inputs for o, target in outputs.items() if target in below[i])


def load_listed(folder: Path, listed: Mapping[str, tuple[str, ...]]) -> Study:
    """A study whose known pairs are listed above; all of them must be columns."""
    x, y = _read(folder, "x.csv"), _read(folder, "y.csv")
    pairs = list_pairs(listed)
    outputs = tuple(dict.fromkeys(o for names in listed.values() for o in names))
    _need(folder / "x.csv", x, listed)
    _need(folder / "y.csv", y, outputs)
    return Study(x, y, None, tuple(listed), outputs, pairs, pairs)


def load_glioma(folder: Path) -> Study:
    """Tumours as `rinn prepare` writes them: known are the listed pairs whose genes are there."""
    x, y = _read(folder, "x.csv"), _read(folder, "y.csv")
    pairs = frozenset((i, o) for i, o in list_pairs(GLIOMA) if i in x and o in y)
    if not pairs:
        raise InputError(
            f"{folder} must have a pair of genes that is known, such as NF1 and CHI3L1, but has "
            f"none; run rinn prepare on the tables that the page names"
        )
    inputs = tuple(i for i in x.columns if any(i == known for known, _ in pairs))
    outputs = tuple(o for o in y.columns if any(o == known for _, known in pairs))
    return Study(x, y, None, inputs, outputs, pairs, pairs)


def list_pairs(listed: Mapping[str, tuple[str, ...]]) -> frozenset[Pair]:
    """The pairs of a list of outputs by input."""
    return frozenset((i, o) for i, names in listed.items() for o in names)


def _read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / name, index_col=0)


def _need(path: Path, frame: pd.DataFrame, names: Mapping[str, object] | tuple[str, ...]) -> None:
    if missing := [name for name in names if name not in frame]:
        raise InputError(f"{path} must have the column {missing[0]!r}; give the file as it is")


STUDIES = {
    "hepatocytes": StudyKind("stimuli and inhibitors of liver cells", load_liver),
    "fly-rnai": StudyKind("knock-downs in fly immunity", lambda folder: load_listed(folder, FLY)),
    "melanoma": StudyKind(
        "drugs and pairs of drugs in melanoma cells", lambda folder: load_listed(folder, MELANOMA)
    ),
    "tumours": StudyKind("84 glioblastomas", load_glioma),
}
