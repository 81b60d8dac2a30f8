"""The graphs that data are drawn from: the paper's, and random ones in levels."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, field

import networkx as nx
import numpy as np

from rinn.config import check_integer, check_number
from rinn.errors import InputError
from rinn.graphs.minimal import is_minimal

TRIES = 100
PROPOSALS = 60
CHOICES = 5
LARGEST_FAN = 6
MAX_NODES = 10_000  # of each role

# latent: (level, inputs, latent children, output children)
_LATENTS: dict[int, tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    16: (1, (0,), (20,), ()),
    17: (1, (1, 2, 8), (21, 22), ()),
    18: (1, (3,), (23,), ()),
    19: (1, (4, 5, 11), (23, 24), ()),
    20: (2, (7,), (), (0, 5, 10, 15)),  # diagonal
    21: (2, (6, 14), (), (0, 1, 4, 8, 12, 13)),  # left bracket
    22: (2, (13, 15), (), (2, 3, 7, 11, 14, 15)),  # right bracket
    23: (2, (10,), (), (2, 3, 6, 7)),  # little square
    24: (2, (9, 12), (), (5, 8, 9, 10, 13)),  # plus sign
}


@dataclass(frozen=True)
class Plan:
    """What is asked of a graph: how many nodes of each kind, and how many latents are orphans."""

    inputs: int
    outputs: int
    levels: int
    latents: int
    orphans: int

    @property
    def tight(self) -> bool:
        """Whether inputs are so few that latents must share them through latent parents."""
        return self.inputs < 2 * (self.latents - self.orphans)


@dataclass
class _Draft:
    """A graph while its latents are added, the ones next to the outputs first.

    `wanted` are the latents that should get enough latent parents to do without inputs. Latents
    are numbered from the top; sets of outputs are written as the bits of a number.
    """

    levels: list[int]
    wanted: set[int]
    fan_limit: int
    children: dict[int, set[int]] = field(default_factory=dict)
    direct: dict[int, int] = field(default_factory=dict)
    reach: dict[int, int] = field(default_factory=dict)

    def parents_of(self, latent: int) -> list[int]:
        return [node for node, below in self.children.items() if latent in below]

    def fan(self, latent: int) -> int:
        return len(self.children[latent]) + self.direct[latent].bit_count()


def make_random_graph(
    rng: np.random.Generator,
    inputs: int = 16,
    outputs: int = 16,
    levels: int = 2,
    latents: int = 6,
    *,
    orphans: float = 0.0,
) -> nx.DiGraph:
    """Draw a graph in which each input has one latent child and every edge is needed.

    Each latent reaches its own non-empty set of outputs, every output is reached, the longest
    chain of latents has `levels` members, and the graph passes `is_minimal`.
    """
    plan = _check_plan(inputs, outputs, levels, latents, orphans)
    for _ in range(TRIES):
        draft = _draw_draft(rng, plan)
        if draft is None:
            continue
        for _ in range(CHOICES if plan.orphans else 1):
            graph = _attach_inputs(rng, plan, draft)
            if graph is not None and is_minimal(graph):
                return graph
    raise InputError(
        f"no graph was found that is the smallest with its reach for inputs={plan.inputs}, "
        f"outputs={plan.outputs}, levels={plan.levels}, latents={plan.latents} and "
        f"{plan.orphans} orphans; raise inputs or outputs, or lower latents, levels or orphans"
    )


def _check_plan(inputs: int, outputs: int, levels: int, latents: int, orphans: float) -> Plan:
    """Refuse numbers that no graph can meet, before any is drawn."""
    levels = check_integer("levels", levels, maximum=MAX_NODES)
    latents = check_integer("latents", latents, maximum=MAX_NODES)
    inputs = check_integer("inputs", inputs, maximum=MAX_NODES)
    outputs = check_integer("outputs", outputs, maximum=MAX_NODES)
    fraction = check_number("orphans", orphans, maximum=1, below=True)
    if latents < levels:
        raise InputError(
            f"latents must be at least levels={levels}, one for each level, got {latents}; "
            "raise latents or lower levels"
        )
    plan = Plan(inputs, outputs, levels, latents, round(fraction * latents))
    # An orphan has two latent parents at least, and the ones above all others have inputs.
    if plan.orphans and (levels < 2 or plan.orphans > latents - 2):
        raise InputError(
            f"orphans must leave two latents above them, with levels of at least 2, but "
            f"orphans={orphans!r} is given with latents={latents} and levels={levels}; "
            "lower orphans, or raise latents or levels"
        )
    # A latent of the first level needs two inputs, any other that is no orphan one beside a
    # latent parent. Each level adds an output to reach.
    fewest = 2 * latents if levels == 1 else latents - plan.orphans + 1
    for name, value, bound in (("inputs", plan.inputs, fewest), ("outputs", outputs, levels + 1)):
        if value < bound:
            raise InputError(
                f"{name} must be at least {bound} for latents={latents}, levels={levels} and "
                f"{plan.orphans} orphans, got {value}; raise {name}, or lower latents or levels"
            )
    return plan


def _draw_draft(rng: np.random.Generator, plan: Plan) -> _Draft | None:
    """Draw the latents and their children; None where the numbers could not be met."""
    # Share the latents out over the levels, the first no larger than the inputs allow.
    sizes = 1 + rng.multinomial(plan.latents - plan.levels, rng.dirichlet(np.ones(plan.levels)))
    excess = sizes[0] - max(1, plan.inputs - plan.latents + plan.orphans)
    if plan.levels > 1 and excess > 0:
        sizes[0] -= excess
        sizes[rng.integers(1, plan.levels)] += excess
    levels = np.repeat(np.arange(1, plan.levels + 1), sizes).tolist()
    lower = [latent for latent, level in enumerate(levels) if level > 1]
    if len(lower) < plan.orphans:
        return None
    wanted = set(rng.choice(lower, plan.orphans, replace=False).tolist())
    draft = _Draft(levels, wanted, int(rng.integers(3, LARGEST_FAN + 1)))
    for latent in reversed(range(plan.latents)):
        if not _add_latent(rng, plan, draft, latent):
            return None
    # Give each output that nothing reaches to a latent, the ones with two children first.
    reached = functools.reduce(operator.or_, draft.reach.values(), 0)
    for output in (n for n in range(plan.outputs) if not reached >> n & 1):
        thin = [latent for latent in draft.children if draft.fan(latent) == 2]
        draft.direct[int(rng.choice(thin or sorted(draft.children)))] |= 1 << output
    return draft


def _add_latent(rng: np.random.Generator, plan: Plan, draft: _Draft, latent: int) -> bool:
    """Add one latent with children that fit those already there."""
    for _ in range(PROPOSALS):
        children = _propose_children(rng, plan, draft, latent)
        covered = functools.reduce(operator.or_, (draft.reach[n] for n in children), 0)
        direct = _propose_outputs(rng, plan, draft, covered, bool(children))
        if _fits(draft, children, direct, covered):
            draft.children[latent] = children
            draft.direct[latent] = direct
            draft.reach[latent] = covered | direct
            return True
    return False


def _propose_children(rng: np.random.Generator, plan: Plan, draft: _Draft, latent: int) -> set[int]:
    """Pick a child in the next level and perhaps more below, those that lack parents first."""
    level = draft.levels[latent]
    if level == plan.levels:
        return set()
    below = [node for node in draft.children if draft.levels[node] > level]
    weights = np.array([_need_of_parents(draft, node) for node in below], float)
    near = weights * [draft.levels[node] == level + 1 for node in below]
    chosen = {below[rng.choice(len(below), p=near / near.sum())]}
    if plan.tight and rng.random() < 0.8:
        chosen |= {node for node in below if not draft.parents_of(node)}
    for _ in range(rng.integers(0, 3)):
        chosen.add(below[rng.choice(len(below), p=weights / weights.sum())])
    return chosen


def _need_of_parents(draft: _Draft, latent: int) -> int:
    """How much a latent lacks another parent: orphans most, then those without a latent parent."""
    parents = len(draft.parents_of(latent))
    if latent in draft.wanted and parents < _min_parents(draft.fan(latent)):
        return 20
    return 4 if parents == 0 else 1


def _min_parents(fan: int) -> int:
    """The fewest parents k that justify a latent with so many children c: k c > k + c."""
    return 2 if fan > 2 else 3


def _propose_outputs(
    rng: np.random.Generator, plan: Plan, draft: _Draft, covered: int, extra: bool
) -> int:
    """Pick outputs that are not yet reached, mostly ones that no latent has."""
    free = [output for output in range(plan.outputs) if not covered >> output & 1]
    low, high = (0, 3) if extra else (3 if plan.tight else 2, draft.fan_limit)
    count = min(int(rng.integers(low, high + 1)), len(free))
    if count == 0:
        return 0
    used = functools.reduce(operator.or_, draft.direct.values(), 0)
    weights = np.array([1.0 if used >> output & 1 else 3.0 for output in free])
    picks = rng.choice(len(free), count, replace=False, p=weights / weights.sum())
    return sum(1 << free[pick] for pick in picks)


def _fits(draft: _Draft, children: set[int], direct: int, covered: int) -> bool:
    """Whether a new latent leaves every latent's children the cheapest choice."""
    reach = covered | direct
    if len(children) + direct.bit_count() < 2:
        return False
    for child in children:
        siblings = (draft.reach[sibling] for sibling in children - {child})
        others = functools.reduce(operator.or_, siblings, direct)
        if (draft.reach[child] & ~others).bit_count() < 2:
            return False
    for latent, other in draft.reach.items():
        shared = len(children & draft.children[latent])
        if other == reach or shared + (direct & draft.direct[latent]).bit_count() > 1:
            return False
        if other & ~reach == 0 and latent not in children and other & direct:
            return False
        if reach & ~other == 0 and reach & draft.direct[latent]:
            return False
    return True


def _attach_inputs(rng: np.random.Generator, plan: Plan, draft: _Draft) -> nx.DiGraph | None:
    """Give each latent the inputs it needs and distribute the others; None if they are too few."""
    lacks = {
        latent: _min_parents(draft.fan(latent)) - len(draft.parents_of(latent))
        for latent in range(plan.latents)
    }
    fed = [latent for latent, lack in lacks.items() if lack <= 0]
    if len(fed) < plan.orphans:
        return None
    orphans = set(rng.choice(fed, plan.orphans, replace=False).tolist()) if fed else set()
    needs = {latent: max(1, lack) for latent, lack in lacks.items() if latent not in orphans}
    left = plan.inputs - sum(needs.values())
    if left < 0:
        return None
    targets = [latent for latent, need in needs.items() for _ in range(need)]
    targets += rng.choice(list(needs), left).tolist()
    return _build_graph(plan, draft, rng.permutation(targets).tolist())


def _build_graph(plan: Plan, draft: _Draft, targets: list[int]) -> nx.DiGraph:
    """Write the draft as a graph; `targets` names the latent of each input."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(plan.inputs)), role="input")
    for latent, level in enumerate(draft.levels):
        graph.add_node(f"h{latent}", role="latent", level=level)
    graph.add_nodes_from((f"y{i}" for i in range(plan.outputs)), role="output")
    graph.add_edges_from((f"x{i}", f"h{latent}") for i, latent in enumerate(targets))
    for latent in range(plan.latents):
        graph.add_edges_from(
            (f"h{latent}", f"h{child}") for child in sorted(draft.children[latent])
        )
        outputs = (i for i in range(plan.outputs) if draft.direct[latent] >> i & 1)
        graph.add_edges_from((f"h{latent}", f"y{i}") for i in outputs)
    return graph


def paper_graph() -> nx.DiGraph:
    """Build the ground-truth graph G_T with its nine latents and 47 edges."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from((f"x{i}" for i in range(16)), role="input")
    for latent, (level, _, _, _) in _LATENTS.items():
        graph.add_node(f"h{latent}", role="latent", level=level)
    graph.add_nodes_from((f"y{i}" for i in range(16)), role="output")
    for latent, (_, inputs, latents, outputs) in _LATENTS.items():
        graph.add_edges_from((f"x{i}", f"h{latent}") for i in inputs)
        graph.add_edges_from((f"h{latent}", f"h{i}") for i in latents)
        graph.add_edges_from((f"h{latent}", f"y{i}") for i in outputs)
    return graph
