"""DM word for word, one test and one set at a time: slow, and independent of rinn's own."""

import ctypes

import numpy as np
from scipy import stats


def literal_dm(x, y, alpha_pc, alpha_sober):
    """The edges of DM's graph; nodes are ("X", i), ("L", k) and ("Y", j), counted from 0."""
    n, p = x.shape
    q = y.shape[1]
    data = np.hstack([x, y])
    r = np.corrcoef(data, rowvar=False)
    parents = []
    for j in range(q):
        parents.append(set())
        for i in range(p):
            if not is_independent(r, n, i, p + j, [], alpha_pc):
                parents[j].add(i)
    causes, under, effects = literal_link(parents)
    for a in range(len(causes)):
        for b in sorted(effects[a]):
            first, second = p + min(under[a]), p + min(under[b])
            if is_independent(r, n, first, second, sorted(causes[a]), alpha_sober):
                effects[a].remove(b)
                causes[b] = causes[b] | causes[a]
    edges = {(("X", i), ("L", k)) for k in range(len(causes)) for i in causes[k]}
    edges |= {(("L", k), ("Y", j)) for k in range(len(under)) for j in under[k]}
    edges |= {(("L", a), ("L", b)) for a in range(len(causes)) for b in effects[a]}
    return edges


def literal_link(parents):
    """Latents from parent sets: their inputs, their outputs, and the effects of each."""
    causes, under = [], []
    for j in range(len(parents)):
        if not parents[j] or any(parents[j] == known for known in causes):
            continue
        causes.append(set(parents[j]))
        under.append({k for k in range(len(parents)) if parents[k] == parents[j]})

    slot = {}
    for k in range(len(causes)):
        slot[len(causes[k]), sum(java_hash(f"X{i}") for i in causes[k])] = k
    order = [slot[key] for key in sorted(slot)]

    effects = [set() for _ in causes]
    for a in order:
        for b in order:
            if a == b or causes[a] == causes[b]:
                continue
            if causes[a].issubset(causes[b]):
                effects[a].add(b)
                S = set(causes[a])
                m = len(causes[b])
                for c in range(len(causes)):
                    if (
                        causes[c] != S
                        and causes[c].issuperset(S)
                        and (len(causes[c]) > m or c == b)
                    ):
                        causes[c] = causes[c] - S
    return causes, under, effects


def is_independent(r, n, i, j, given, alpha):
    freedom = n - 3 - len(given)
    if freedom <= 0:
        return False
    block = r[np.ix_([i, j, *given], [i, j, *given])]
    if np.linalg.matrix_rank(block, tol=1e-9, hermitian=True) < len(block):
        return False
    inverse = np.linalg.inv(block)
    partial = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    z = np.sqrt(freedom) * np.abs(np.arctanh(partial))
    return bool(z < stats.norm.ppf(1 - alpha / 2))


def java_hash(name):
    terms = [ord(letter) * 31**power for power, letter in enumerate(reversed(name))]
    return ctypes.c_int32(sum(terms)).value
