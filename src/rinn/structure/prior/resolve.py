"""Prior knowledge brought to the inputs and outputs of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rinn.data.records import Data
from rinn.errors import InputError, quote, quote_some, suggest
from rinn.structure.prior.log_odds import ANY_LEVEL, Prior, make_prior
from rinn.structure.prior.sources import PriorKnowledge
from rinn.structure.prior.statements import Statement

MAX_OF_A_SIDE = 0.5  # a set with more of the inputs than this says nothing of any two
FEWEST_MEMBERS = 2
ENDS = {"input": "_x", "output": "_y"}  # of names that both tables have


@dataclass(frozen=True)
class Resolved:
    """Prior knowledge of some data, and in sentences how much of it speaks of them."""

    prior: Prior
    account: tuple[str, ...]


def resolve(given: PriorKnowledge, data: Data) -> Resolved:
    """Bring prior knowledge to the columns of data.

    Names may be written as in their table. Statements about constant columns are skipped, and take
    precedence over the network.
    """
    names = _Names(data)
    prior = make_prior(len(data.inputs), len(data.outputs))
    account: list[str] = []
    if given.network is not None:
        account.append(_add_network(prior, given, names))
    if given.sets:
        account.append(_add_sets(prior, given, names))
    if given.statements:
        account.append(_add_statements(prior, given, names))
    return Resolved(prior, tuple(account))


class _Names:
    """Where the columns are, by the names that a user may write."""

    def __init__(self, data: Data) -> None:
        self.known = {"input": data.inputs, "output": data.outputs}
        shared = {n.removesuffix("_x") for n in data.inputs if n.endswith("_x")} & {
            n.removesuffix("_y") for n in data.outputs if n.endswith("_y")
        }
        self.own: dict[str, dict[str, int]] = {}
        self.plain: dict[str, list[str]] = {}
        for role, names in self.known.items():
            short = [n.removesuffix(ENDS[role]) for n in names]
            plain = [s if s in shared else n for s, n in zip(short, names, strict=True)]
            both = {name: place for place, name in enumerate(plain)}
            self.own[role] = both | {name: place for place, name in enumerate(names)}
            self.plain[role] = plain
        constant = [one for one in data.dropped if one.reason.startswith("constant")]
        table = {"X": "input", "Y": "output"}
        self.dropped = {(table[one.table], one.name) for one in constant if one.table in table}

    def find(self, role: str, name: str) -> int | None:
        return self.own[role].get(name)

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
            f"{self.source} must say one thing of {names}, but {before.place} says "
            f"{_tell(before)} and {now.place} {_tell(now)}; remove one of the two"
        )


def _tell(statement: Statement) -> str:
    weight = "" if statement.weight is None else f" with weight {statement.weight:g}"
    return statement.kind + weight


def _add_statements(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    source = f"--prior ({given.files.get('prior', 'statements')})"
    said, passed, used = _Said(source), 0, 0
    for statement in given.statements:
        add = {"level": _add_level, "together": _add_company, "apart": _add_company}.get(
            statement.kind, _add_pair
        )
        done = add(prior, statement, names, said)
        used, passed = used + done, passed + (not done)
    left = f"; {passed} about constant columns were passed over" if passed else ""
    return f"{source}: {used} of {len(given.statements)} statements used{left}"


def _add_pair(prior: Prior, statement: Statement, names: _Names, said: _Said) -> bool:
    first, second = statement.first, statement.second
    turned = names.find("output", first) is not None and names.find("input", second) is not None
    straight = names.find("input", first) is not None and names.find("output", second) is not None
    if turned and not straight:
        raise InputError(
            f"{said.source} must lead from an input to an output, but {statement.place} leads from "
            f"the output {quote(first)} to the input {quote(second)}, which would close a cycle; "
            f"swap the two"
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


def _add_company(prior: Prior, statement: Statement, names: _Names, said: _Said) -> bool:
    pair = statement.first, statement.second
    for role, alike in (("input", prior.inputs_alike), ("output", prior.outputs_alike)):
        one, other = (names.find(role, name) for name in pair)
        if one is None or other is None:
            continue
        if one == other:
            raise InputError(
                f"{said.source} must speak of two different columns, but {statement.place} names "
                f"{quote(pair[0])} twice; name another"
            )
        if said.check((role, min(one, other), max(one, other)), statement):
            weight = (statement.weight or 0.0) * (1 if statement.kind == "together" else -1)
            alike[one, other] = alike[other, one] = weight
        return True
    _check_company(names, statement, said)
    return False


def _check_company(names: _Names, statement: Statement, said: _Said) -> None:
    """Return where a name is that of a constant column; refuse any other."""
    for name in (statement.first, statement.second):
        found = any(names.find(role, name) is not None for role in ENDS)
        if not found and not any(names.is_dropped(role, name) for role in ENDS):
            _raise_unknown(names, tuple(ENDS), name, statement, said)
    if not any(names.is_dropped(r, n) for r in ENDS for n in (statement.first, statement.second)):
        raise InputError(
            f"{said.source} must put two inputs or two outputs {statement.kind}, but "
            f"{statement.place} names one of each ({quote(statement.first)}, "
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
            f"{said.source} must leave each input a level, but by {statement.place} that of "
            f"{quote(statement.first)} would be at least {prior.lowest[row]} and at most "
            f"{prior.highest[row]}; remove one of its levels"
        )
    return True


def _look_up(names: _Names, role: str, name: str, statement: Statement, said: _Said) -> int | None:
    """The place of a name; None for a constant column."""
    place = names.find(role, name)
    if place is None and not names.is_dropped(role, name):
        _raise_unknown(names, (role,), name, statement, said)
    return place


def _raise_unknown(
    names: _Names, roles: Sequence[str], name: str, statement: Statement, said: _Said
) -> None:
    choices = [choice for role in roles for choice in names.known[role]]
    hint = suggest(name, choices, listed=False)
    hint = hint or f"; they are called {quote_some(choices)}"
    what = f"an {' or '.join(roles)}"
    other = next((r for r in ENDS if r not in roles and names.find(r, name) is not None), None)
    but = f"is an {other}" if other else "no table has"
    raise InputError(
        f"{said.source} must name {what} there, but {statement.place} names {quote(name)}, which "
        f"{but}{hint}"
    )


def _add_sets(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    """Make edges to a latent cheaper for members of a set, inputs and outputs apart."""
    source = f"--gene-sets ({given.files.get('gene_sets', 'sets')})"
    used, found = set(), {}
    for role, alike in (("input", prior.inputs_alike), ("output", prior.outputs_alike)):
        place = {name: p for p, name in enumerate(names.plain[role])}
        most = MAX_OF_A_SIDE * len(place)
        members: set[int] = set()
        for name, genes in given.sets.items():
            own = np.array(sorted(place[gene] for gene in genes & place.keys()), int)
            members |= set(own.tolist())
            if FEWEST_MEMBERS <= len(own) <= most:
                used.add(name)
                alike[np.ix_(own, own)] = given.set_weight
        np.fill_diagonal(alike, 0.0)
        found[role] = f"{len(members)} of {len(place)} {role}s"
        if not members and role == "output" and found["input"].startswith("0 "):
            _raise_strangers(source, names, sorted(next(iter(given.sets.values()))))
    return (
        f"{source}: {found['input']} and {found['output']} are in sets; {len(used)} of "
        f"{len(given.sets)} sets hold two or more of them, but not more than half"
    )


def _add_network(prior: Prior, given: PriorKnowledge, names: _Names) -> str:
    """Make pairs without a way less likely, or rule them out; what is not in it is left alone."""
    source = f"--network ({given.files.get('network', 'network')})"
    network = given.network
    if network is None:
        return f"{source}: none"
    rows, columns = (_find_members(names.plain[role], network.place) for role in ENDS)
    if not len(rows) or not len(columns):
        _raise_strangers(source, names, network.names, side="input" if not len(rows) else "output")
    starts, ends = (
        [names.plain[role][p] for p in places]
        for role, places in zip(ENDS, (rows, columns), strict=True)
    )
    ways = network.find_ways(starts, ends, given.steps, directed=given.is_directed)
    part = np.ix_(rows, columns)
    if given.is_mask:
        prior.order[part] = np.where(ways, 0, -1)
    else:
        prior.odds[part] = np.where(ways, 0.0, -given.network_weight)
    done = "ruled out" if given.is_mask else "made less likely"
    return (
        f"{source}: {len(rows)} of {len(names.plain['input'])} inputs and {len(columns)} of "
        f"{len(names.plain['output'])} outputs are in it; {int((~ways).sum())} of {ways.size} "
        f"pairs have no way within {given.steps} steps and were {done}"
    )


def _find_members(names: Sequence[str], place: Mapping[str, int]) -> np.ndarray:
    return np.array([p for p, name in enumerate(names) if name in place], int)


def _raise_strangers(
    source: str, names: _Names, others: Sequence[str], side: str | None = None
) -> None:
    roles = tuple(ENDS) if side is None else (side,)
    own = [name for role in roles for name in names.plain[role]]
    raise InputError(
        f"{source} must speak of the {' or '.join(f'{role}s' for role in roles)} of the tables, "
        f"but has none of them (such as {quote_some(own)}); it has names such as "
        f"{quote_some(others)}: give a file that spells them as the tables do"
    )
