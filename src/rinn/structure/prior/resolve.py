"""Prior knowledge brought to the inputs and outputs of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rinn.data.records import Data
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.structure.prior.log_odds import ANY_LEVEL, Prior, make_prior
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.prior.statements import Statement

MAX_FRACTION = 0.5  # a set with more of the inputs than this says nothing of any two
MIN_MEMBERS = 2
ENDS = {"input": "_x", "output": "_y"}  # of names that both tables have


@dataclass(frozen=True)
class Resolved:
    """Prior knowledge of some data, and in sentences how much of it speaks of them."""

    prior: Prior
    notes: tuple[str, ...]


def resolve(given: PriorKnowledge, data: Data) -> Resolved:
    """Bring prior knowledge to the columns of data.

    Names may be written as in their table. Statements about constant columns are skipped; all
    others take precedence over the network.
    """
    names = _Names(data)
    prior = make_prior(len(data.inputs), len(data.outputs))
    notes: list[str] = []
    if given.network is not None:
        notes.append(_add_network(prior, given, names))
    if given.sets:
        notes.append(_add_sets(prior, given, names))
    if given.statements:
        notes.append(_add_statements(prior, given, names))
    return Resolved(prior, tuple(notes))


class _Names:
    """The columns by the names that a user may write: with or without the _x or _y of both."""

    def __init__(self, data: Data) -> None:
        tables = data.screening or data  # all columns
        self.names = {"input": tables.inputs, "output": tables.outputs}
        bare = [
            {n.removesuffix(end) for n in self.names[r] if n.endswith(end)}
            for r, end in ENDS.items()
        ]
        shared = bare[0] & bare[1]
        self.short: dict[str, list[str]] = {}  # of the columns that were kept
        self.all_short: dict[str, set[str]] = {}
        self.index: dict[str, dict[str, int]] = {}
        constant = [one for one in data.dropped if one.reason.startswith("constant")]
        table = {"X": "input", "Y": "output"}
        self.dropped = {(table[one.table], one.name) for one in constant if one.table in table}

        def shorten(names: Sequence[str], end: str) -> list[str]:
            return [s if (s := n.removesuffix(end)) in shared else n for n in names]

        for role, kept in (("input", data.inputs), ("output", data.outputs)):
            self.short[role] = shorten(kept, ENDS[role])
            self.all_short[role] = set(shorten(self.names[role], ENDS[role]))
            both = (*enumerate(self.short[role]), *enumerate(kept))
            self.index[role] = {name: i for i, name in both}
            every = {*self.names[role], *self.all_short[role]}
            self.dropped |= {(role, name) for name in every - self.index[role].keys()}

    def find(self, role: str, name: str) -> int | None:
        return self.index[role].get(name)

    def is_dropped(self, role: str, name: str) -> bool:
        return (role, name) in self.dropped


@dataclass
class _Said:
    """What statements have said so far, by what they speak of."""

    source: str
    of: dict[tuple[object, ...], Statement] = field(default_factory=dict)

    def check(self, key: tuple[object, ...], now: Statement) -> bool:
        """Whether a statement is new; refuse one that goes against an earlier one."""
        before = self.of.setdefault(key, now)
        if before is now:
            return True
        if (before.kind, before.weight) == (now.kind, now.weight):
            return False
        names = f"{quote(now.first)} and {quote(now.second)}"
        raise InputError(
            f"{self.source} must say one thing of {names}, but {before.location} says "
            f"{_describe(before)} and {now.location} {_describe(now)}; remove one of the two"
        )


def _describe(statement: Statement) -> str:
    weight = "" if statement.weight is None else f" with weight {statement.weight:g}"
    return statement.kind + weight


def _add_statements(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    source = f"--prior ({given.files.get('prior', 'statements')})"
    said, passed, used = _Said(source), 0, 0
    for statement in given.statements:
        add = {"level": _add_level, "together": _add_similarity, "apart": _add_similarity}.get(
            statement.kind, _add_pair
        )
        done = add(prior, statement, names, said)
        used, passed = used + done, passed + (not done)
    left = f"; {passed} about constant columns were ignored" if passed else ""
    return f"{source}: {used} of {len(given.statements)} statements used{left}"


def _add_pair(prior: Prior, statement: Statement, names: _Names, said: _Said) -> bool:
    first, second = statement.first, statement.second
    can_swap = names.find("output", first) is not None and names.find("input", second) is not None
    if can_swap and (names.find("input", first) is None or names.find("output", second) is None):
        raise InputError(
            f"{said.source} must lead from an input to an output, but {statement.location} leads "
            f"from the output {quote(first)} to the input {quote(second)}, which would close a "
            f"cycle; swap the two"
        )
    row = _look_up(names, "input", first, statement, said)
    column = _look_up(names, "output", second, statement, said)
    if row is None or column is None:
        return False
    if said.check(("pair", row, column), statement):
        sign = 1 if statement.kind == "must" else -1
        firm = statement.weight is None
        prior.order[row, column] = sign if firm else 0
        prior.odds[row, column] = 0.0 if statement.weight is None else sign * statement.weight
    return True


def _add_similarity(prior: Prior, statement: Statement, names: _Names, said: _Said) -> bool:
    pair = statement.first, statement.second
    for role, odds in (("input", prior.input_pairs), ("output", prior.output_pairs)):
        one, other = (names.find(role, name) for name in pair)
        if one is None or other is None:
            continue
        if one == other:
            raise InputError(
                f"{said.source} must name two different columns, but {statement.location} "
                f"names {quote(pair[0])} twice; name another"
            )
        if said.check((role, min(one, other), max(one, other)), statement):
            weight = (statement.weight or 0.0) * (1 if statement.kind == "together" else -1)
            odds[one, other] = odds[other, one] = weight
        return True
    _check_similarity(names, statement, said)
    return False


def _check_similarity(names: _Names, statement: Statement, said: _Said) -> None:
    """Return where a name is that of a constant column; refuse any other."""
    for name in (statement.first, statement.second):
        result = any(names.find(role, name) is not None for role in ENDS)
        if not result and not any(names.is_dropped(role, name) for role in ENDS):
            _raise_unknown(names, tuple(ENDS), name, statement, said)
    if not any(names.is_dropped(r, n) for r in ENDS for n in (statement.first, statement.second)):
        raise InputError(
            f"{said.source} must put two inputs or two outputs {statement.kind}, but "
            f"{statement.location} names one of each ({quote(statement.first)}, "
            f"{quote(statement.second)}); say must or mustnot of an input and an output"
        )


def _add_level(prior: Prior, statement: Statement, names: _Names, said: _Said) -> bool:
    row = _look_up(names, "input", statement.first, statement, said)
    if row is None:
        return False
    prior.lowest[row] = max(prior.lowest[row], statement.lowest or 1)
    prior.highest[row] = min(prior.highest[row], statement.highest or ANY_LEVEL)
    if prior.lowest[row] > prior.highest[row]:
        raise InputError(
            f"{said.source} must leave each input a level, but by {statement.location} that of "
            f"{quote(statement.first)} would be at least {prior.lowest[row]} and at most "
            f"{prior.highest[row]}; remove one of its levels"
        )
    return True


def _look_up(names: _Names, role: str, name: str, statement: Statement, said: _Said) -> int | None:
    """The index of a name; None for a constant column."""
    index = names.find(role, name)
    if index is None and not names.is_dropped(role, name):
        _raise_unknown(names, (role,), name, statement, said)
    return index


def _raise_unknown(
    names: _Names, roles: Sequence[str], name: str, statement: Statement, said: _Said
) -> None:
    choices = [choice for role in roles for choice in names.names[role]]
    hint = suggest(name, choices, listed=False)
    hint = hint or f"; they are called {quote_some(choices)}"
    what = f"an {' or '.join(roles)}"
    other = next((r for r in ENDS if r not in roles and names.find(r, name) is not None), None)
    but = f"is an {other}" if other else "no table has"
    raise InputError(
        f"{said.source} must name {what} there, but {statement.location} names {quote(name)}, "
        f"which {but}{hint}"
    )


def _add_sets(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    """Make edges to a latent cheaper for members of a set, inputs and outputs apart."""
    source = f"--gene-sets ({given.files.get('gene_sets', 'sets')})"
    used, counts, strangers = set(), {}, {}
    for role, odds in (("input", prior.input_pairs), ("output", prior.output_pairs)):
        index = {name: i for i, name in enumerate(names.short[role])}
        members: set[int] = set()
        found: set[str] = set()
        for name, genes in given.sets.items():
            group = np.array(sorted(index[gene] for gene in genes & index.keys()), int)
            members |= set(group.tolist())
            every = genes & names.all_short[role]
            found |= every
            is_small = len(every) <= MAX_FRACTION * len(names.all_short[role])
            if len(group) >= MIN_MEMBERS and is_small:
                used.add(name)
                odds[np.ix_(group, group)] = given.set_weight
        np.fill_diagonal(odds, 0.0)
        counts[role] = f"{len(members)} of {len(index)} {role}s"
        strangers[role] = not found
        if all(strangers.values()) and role == "output":
            _raise_strangers(source, names, sorted(next(iter(given.sets.values()))), *ENDS)
    return (
        f"{source}: {counts['input']} and {counts['output']} are in sets; {len(used)} of "
        f"{len(given.sets)} sets hold two or more of them, but not more than half"
    )


def _add_network(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    """Make pairs without a path less likely, or rule them out; what is not in it is left alone."""
    source = f"--network ({given.files.get('network', 'network')})"
    network = given.network
    if network is None:
        return f"{source}: none"
    members = {
        role: {i: name for i, name in enumerate(names.short[role]) if name in network.index}
        for role in ENDS
    }
    for role in ENDS:
        if not names.all_short[role] & set(network.index):
            _raise_strangers(source, names, network.names, role)
    rows, columns = members.values()
    starts, ends = list(rows.values()), list(columns.values())
    joined = network.find_paths(starts, ends, given.steps, directed=given.is_directed)
    part = np.ix_(list(rows), list(columns))
    if given.is_mask:
        prior.order[part] = np.where(joined, 0, -1)
    else:
        prior.odds[part] = np.where(joined, 0.0, -given.network_weight)
    done = "ruled out" if given.is_mask else "made less likely"
    return (
        f"{source}: {len(rows)} of {len(names.short['input'])} inputs and {len(columns)} of "
        f"{len(names.short['output'])} outputs are in it; {int((~joined).sum())} of {joined.size} "
        f"pairs have no path within {given.steps} steps and were {done}"
    )


def _raise_strangers(source: str, names: _Names, others: Sequence[str], *roles: str) -> None:
    expected = [name for role in roles for name in names.short[role]]
    raise InputError(
        f"{source} must name the {' or '.join(f'{role}s' for role in roles)} of the tables, "
        f"but has none of them (such as {quote_some(expected)}); it has names such as "
        f"{quote_some(others)}: give a file that spells them as the tables do"
    )
