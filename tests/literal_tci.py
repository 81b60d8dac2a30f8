"""TCI word for word, one tumour, one DEG, one cause and one count at a time: slow, independent.

Cause 0 is A0, cause h + 1 is SGA h. Tables are lists of lists of zeros and ones.
"""

import math

PRESENT, ABSENT, UNKNOWN = (2, 1), (1, 2), (1, 1)


def literal_tci(a, e, weights, v0, tissues=None, direction=True, model="mixture"):
    """For each tumour and DEG that it has: the posterior of each of its causes, by code.

    Also the global driver and the runner-up of each DEG, with their posteriors.
    """
    tumours, sgas, degs = len(a), len(a[0]), len(e[0])
    posteriors, drivers = {}, {}
    for i in range(degs):
        population = {}
        for h in range(sgas + 1):
            if h and direction and not goes_up(a, e, h, i):
                continue
            share = v0 if h == 0 else (1 - v0) * weights[h - 1] / sum(weights)
            if share > 0:
                population[h] = log_likelihood(a, e, h, i, None, tissues, model) + math.log(share)
        drivers[i] = best_two(population)
    for t in range(tumours):
        for i in range(degs):
            if not e[t][i]:
                continue
            own = [h for h in range(1, sgas + 1) if a[t][h - 1]]
            total = sum(weights[h - 1] for h in own)
            scores = {}
            for h in [0, *own]:
                if h and direction and not goes_up(a, e, h, i):
                    continue
                first, second = drivers[i][0][0], drivers[i][1][0]
                g = second if h == first else first
                share = v0 if h == 0 else (1 - v0) * weights[h - 1] / total
                scores[h] = log_likelihood(a, e, h, i, g, tissues, model) + math.log(share)
            posteriors[t, i] = normalise(scores)
    return posteriors, drivers


def log_likelihood(a, e, h, i, g, tissues, model):
    """L_pop where g is None, else L; with tissues, the mixture over them or their sum."""
    everyone = range(len(a))
    blind = group_likelihood(a, e, h, i, g, everyone)
    if tissues is None or len(set(tissues)) == 1:
        return blind
    if model == "strata":
        found = 0.0
        for c in sorted(set(tissues)):
            found += group_likelihood(a, e, h, i, g, [t for t in everyone if tissues[t] == c])
        return found
    terms = [math.log(0.5) + blind]
    for c in sorted(set(tissues)):
        inside = [t for t in everyone if tissues[t] == c]
        outside = [t for t in everyone if tissues[t] != c]
        apart = group_likelihood(a, e, h, i, g, inside) + group_likelihood(a, e, h, i, g, outside)
        terms.append(math.log(0.5) + math.log(len(inside) / len(a)) + apart)
    return log_sum(terms)


def group_likelihood(a, e, h, i, g, rows):
    """The log likelihood of DEG i in some tumours."""
    if h == 0:
        return marginal(e, i, list(rows), UNKNOWN)
    present = [t for t in rows if has(a, t, h)]
    others = [t for t in rows if not has(a, t, h)]
    if g is None:
        return marginal(e, i, present, PRESENT) + marginal(e, i, others, ABSENT)
    found = marginal(e, i, present, PRESENT)
    found += marginal(e, i, [t for t in others if has(a, t, g)], PRESENT if g else UNKNOWN)
    return found + marginal(e, i, [t for t in others if not has(a, t, g)], ABSENT)


def has(a, t, h):
    return h == 0 or a[t][h - 1] == 1


def marginal(e, i, rows, beta):
    n, k = 0, 0
    for t in rows:
        n += 1
        k += e[t][i]
    one, zero = beta
    found = math.lgamma(one + zero) - math.lgamma(n + one + zero)
    found += math.lgamma(k + one) - math.lgamma(one)
    return found + math.lgamma(n - k + zero) - math.lgamma(zero)


def goes_up(a, e, h, i):
    with_it = [t for t in range(len(a)) if has(a, t, h)]
    without = [t for t in range(len(a)) if not has(a, t, h)]
    high = (2 + sum(e[t][i] for t in with_it)) / (3 + len(with_it))
    return high > (1 + sum(e[t][i] for t in without)) / (3 + len(without))


def best_two(scores):
    """Codes and posteriors of the best and the next; ties go to the lower code."""
    shares = normalise(scores)
    ranked = sorted(scores, key=lambda h: (-scores[h], h))
    found = [(h, shares[h]) for h in ranked[:2]]
    return found if len(found) == 2 else [*found, (None, 0.0)]


def normalise(scores):
    total = log_sum(list(scores.values()))
    return {h: math.exp(score - total) for h, score in scores.items()}


def log_sum(terms):
    most = max(terms)
    return most + math.log(sum(math.exp(term - most) for term in terms))


def literal_frequency_weights(a):
    weights = [0.0] * len(a[0])
    for row in a:
        for h in range(len(row)):
            if row[h]:
                weights[h] += 1 / (sum(row) + 1)
    return weights


def literal_cutoffs(tops, sgas, significance):
    """From (SGA, posterior) of each top cause: the dense histogram of 1,000 bins, bin by bin."""
    cutoffs = []
    for h in range(sgas):
        counts = [0] * 1000
        for sga, posterior in tops:
            if sga == h:
                counts[min(int(posterior * 1000), 999)] += 1
        if not sum(counts):
            cutoffs.append(math.nan)
            continue
        best, nearest, seen = None, math.inf, 0
        for place in range(1000):
            seen += counts[place]
            distance = abs(seen / sum(counts) - (1 - significance))
            if distance < nearest:
                best, nearest = place, distance
        cutoffs.append((best + 1) / 1000)
    return cutoffs


def literal_calls(tops, a, cutoffs, min_degs, min_tumours, min_rate, min_target_rate):
    """From {(tumour, DEG): (SGA, posterior)}: calls by tumour, overall drivers, their targets."""
    links = {key: sga for key, (sga, posterior) in tops.items() if posterior >= cutoffs[sga]}
    calls = set()
    for t in range(len(a)):
        for h in range(len(a[0])):
            if sum(links.get((t, i)) == h for (s, i) in links if s == t) >= min_degs:
                calls.add((t, h))
    drivers, targets = set(), set()
    for h in range(len(a[0])):
        called = [t for t, sga in calls if sga == h]
        carriers = sum(row[h] for row in a)
        if len(called) < min_tumours or len(called) / carriers < min_rate:
            continue
        drivers.add(h)
        for i in {i for _, i in links}:
            if sum(links.get((t, i)) == h for t in called) / len(called) >= min_target_rate:
                targets.add((h, i))
    return calls, drivers, targets
