"""The results of a run, in sentences that can go into a paper."""

from __future__ import annotations

import math

import networkx as nx

from rinn.errors import count
from rinn.graphs.basics import by_role
from rinn.runs.manifest import Manifest
from rinn.structure.constants import MIN_FREQUENCY
from rinn.structure.effects import REGRESSION
from rinn.structure.qvalues import Null, assign_q

LEVEL = 0.05
NO_GAIN = 5e-4  # shown as 0.0%, not as -0.0%
NO_NETWORKS = (
    "Without networks all scores are the graph's: the paper's rule is applied to what its latents "
    "and inputs reach."
)
EMPTY = (
    "If you expected edges, check that the rows of X and Y belong together, that each input varies "
    "in enough samples, and that strong covariates are given."
)
LOSS_LABELS = {"mse": "mean squared error", "bce": "cross-entropy", "mixed": "mean deviance"}

PAPER = (
    "Young JD, Andrews B, Cooper GF, Lu X (2020). Learning latent causal structures with a "
    "redundant input neural network. Proceedings of the 2020 KDD Workshop on Causal Discovery, "
    "PMLR 127:62-91."
)
BIBTEX = """@inproceedings{young2020rinn,
  author    = {Young, Jonathan D. and Andrews, Bryan and Cooper, Gregory F. and Lu, Xinghua},
  title     = {Learning Latent Causal Structures with a Redundant Input Neural Network},
  booktitle = {Proceedings of the 2020 KDD Workshop on Causal Discovery},
  series    = {Proceedings of Machine Learning Research},
  volume    = {127},
  pages     = {62--91},
  year      = {2020}
}
@software{rinn,
  title   = {rinn: latent causal graphs between known causes and known effects},
  author  = {{rinn contributors}},
  version = {VERSION}
}"""


def describe_software(version: str) -> str:
    """The reference of the software."""
    return (
        f"rinn contributors. rinn: latent causal graphs between known causes and known effects, "
        f"version {version}. Software."
    )


def write_bibtex(version: str) -> str:
    """Both references as BibTeX."""
    return BIBTEX.replace("VERSION", version)


def describe_methods(manifest: Manifest, graph: nx.DiGraph) -> str:
    """Say what was done, with this run's numbers, as a methods paragraph."""
    tables, settings = manifest.tables, manifest.settings
    versions = [f"{name} {v}" for name, v in manifest.versions.items() if name != "rinn"]
    program = f"rinn {manifest.versions.get('rinn', '')}".strip()
    sentences = [
        f"The latent causal graph between {count(len(tables.inputs), 'input')} ({tables.x}) and "
        f"{count(len(tables.outputs), 'output')} ({tables.y}) of {count(tables.samples, 'sample')} "
        f"was learned with {program} (strategy {settings.strategy}, random seed {settings.seed}).",
        manifest.covariates
        and f"The outputs were adjusted for {', '.join(manifest.covariates.names)}.",
        _describe_screening(manifest),
        _describe_estimate(manifest),
        manifest.prior and f"Prior knowledge: {manifest.prior.sentence}",
        _describe_size(graph, settings.bootstraps if manifest.effects else 0),
        manifest.fit and manifest.fit.sentence,
        describe_yardsticks(manifest) or describe_comparison(manifest, graph),
        manifest.null and manifest.null.sentence,
        f"Software: {', '.join(versions)}; device: {manifest.device}." if versions else None,
        "The method builds on redundant-input neural networks (Young et al. 2020).",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_screening(manifest: Manifest) -> str | None:
    """Which columns were left out before the search, as the run's own sentence says."""
    sentence = manifest.effects.sentence if manifest.effects else ""
    first = sentence.split(" The graph is read from")[0]
    return first if first.startswith("A screening") else None


def _describe_estimate(manifest: Manifest) -> str | None:
    """How the effects were estimated."""
    networks, effects = manifest.networks, manifest.effects
    trained = ""
    if networks and networks.trained:
        trained = (
            f"{count(networks.trained, 'network')} were trained, and the {len(networks.kept)} with "
            "the lowest validation loss were kept. "
        )
    if effects is None:
        return trained.strip() or None
    how = "the kept networks, corrected by a regression of their residuals"
    if effects.source == REGRESSION:
        how = "linear regression"
    elif effects.source == "network":
        how = "the kept networks"
    return f"{trained}The effects of the inputs on the outputs were estimated by {how}."


def _describe_size(graph: nx.DiGraph, bootstraps: int) -> str:
    latents = len(by_role(graph, "latent"))
    size = f"{count(latents, 'latent')} and {count(graph.number_of_edges(), 'edge')}"
    if not bootstraps:
        return f"The graph has {size}."
    return (
        "The search for the graph of latent variables with the highest penalised likelihood was "
        f"repeated on {count(bootstraps, 'bootstrap resample')} of the samples; "
        f"latents found in at least {MIN_FREQUENCY:.0%} of them are reported: {size}."
    )


def list_yardsticks(manifest: Manifest) -> list[tuple[str, float, float]]:
    """Who predicts the held-out samples, with what loss, and what fraction that explains.

    The fraction is R² of numbers, and the deviance explained of others: 0 is guessing.
    """
    comparison = manifest.comparison
    if comparison is None:
        return []
    guess = comparison.mean_loss
    if guess is None and comparison.other in ("each output's mean", "covariates alone"):
        guess = comparison.free_loss
    if not guess:
        return []
    alone = "covariates alone" if manifest.covariates else "guessing each output's mean"
    losses = {
        alone: guess,
        "linear regression on all inputs": comparison.regression_loss,
        "best free network": comparison.network_loss,
        "network of the graph": comparison.graph_loss,
    }
    known = [(name, loss) for name, loss in losses.items() if loss is not None]
    gains = [(name, loss, 1 - loss / guess) for name, loss in known]
    return [(name, loss, 0.0 if abs(gain) < NO_GAIN else gain) for name, loss, gain in gains]


def name_explained(manifest: Manifest) -> str:
    """What is explained: variance, or deviance."""
    return "R²" if manifest.test and manifest.test.loss == "mse" else "deviance explained"


def describe_yardsticks(manifest: Manifest) -> str | None:
    """Say how much the graph explains, beside guessing, a regression and the best network."""
    if not (rows := list_yardsticks(manifest)):
        return None
    parts = [f"{name} {100 * fraction:.1f}%" for name, _, fraction in rows]
    what = name_explained(manifest)
    return f"{what[0].upper()}{what[1:]} on held-out samples: {', '.join(parts)}."


def describe_comparison(manifest: Manifest, graph: nx.DiGraph) -> str | None:
    """Say how the graph's network predicts, and what that means of a graph without any edge."""
    comparison = manifest.comparison
    if comparison is None:
        return None
    if graph.number_of_edges():
        return comparison.sentence
    guess = "each output by its covariates" if manifest.covariates else "each output's mean"
    others = ", and others do no better" if comparison.is_adequate else ""
    return f"{comparison.sentence} The graph has no edge: its network guesses {guess}{others}."


def summarise_null(null: Null, graph: nx.DiGraph) -> str:
    """Say in two sentences how much of a graph is chance, for a paper."""
    q = list(assign_q(graph, null).values())
    forced = ""
    if stated := graph.number_of_edges() - len(q):
        # Edges that are there because the prior says so are neither found nor chance.
        those = f"{'one' if stated == 1 else stated} that the prior states"
        forced = f", not counting {those}" if q else f" but {those}"
    return f"{_describe_edges(null)}; {_describe_q(q)}{forced}. {_describe_decoys(null)}."


def _describe_edges(null: Null) -> str:
    rounds = count(null.rounds, "round")
    networks = f" of {count(null.networks, 'network')}" if null.networks else ""
    each = "" if null.rounds == 1 else " per graph"
    edges = f"{null.reported:.2g} edges were found{each}"
    if null.reported == 0:
        edges = "no edge was found"
    elif null.reported == 1:
        edges = f"1 edge was found{each}"
    elif null.reported >= 10:
        edges = f"{null.reported:.0f} edges were found{each}"
    return f"With the rows of Y permuted ({rounds}{networks}), {edges}"


def _describe_q(q: list[float]) -> str:
    """How many edges are hardly chance; both ends of what is above the level."""
    if not q:
        return "this graph has no edge"
    low = sum(value <= LEVEL for value in q)
    if low == len(q) == 1:
        return f"the only edge of this graph has q at most {_round_up(q[0])}"
    if low == len(q):
        all_of_them = "both" if low == 2 else f"all {low}"
        return f"{all_of_them} edges of this graph have q at most {_round_up(max(q))}"
    if len(q) == 1:
        return f"the only edge of this graph has q = {q[0]:.2g}"
    if not low:
        none = "neither of the 2" if len(q) == 2 else f"none of the {len(q)}"
        return f"{none} edges of this graph has q at most {LEVEL}, the lowest being {min(q):.2g}"
    verb = "has" if low == 1 else "have"
    return (
        f"{low} of the {len(q)} edges of this graph {verb} q at most {LEVEL}, the highest being "
        f"{max(q):.2g}"
    )


def _describe_decoys(null: Null) -> str:
    seen = null.decoyed
    if seen.decoys == 1:
        decoys = "The one decoy input, a permuted copy of a real one, was "
        decoys += "connected" if seen.connected_decoys else "not connected"
    else:
        were = _describe_fraction(seen.connected_decoys, seen.decoys)
        decoys = f"Of {seen.decoys} decoy inputs, permuted copies of real ones, {were} connected"
    if seen.inputs == 1:
        return f"{decoys}; the real one was{'' if seen.connected_inputs else ' not'}"
    pronoun = "it" if seen.decoys == 1 else "them"
    were = _describe_fraction(seen.connected_inputs, seen.inputs)
    return f"{decoys}; of the {seen.inputs} real inputs next to {pronoun}, {were}"


def _describe_fraction(part: int, total: int) -> str:
    if part == total:
        return "both were" if total == 2 else "all were"
    return {0: "none was", 1: "one was"}.get(part, f"{part} were")


def _round_up(value: float) -> str:
    """Two digits, not below the value."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step - 1e-9) * step:.2g}"
