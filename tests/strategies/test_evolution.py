import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rinn.config import EvolutionSettings
from rinn.nets.redundant import ACTIVATIONS, run_net
from rinn.strategies.evolution import fitness
from rinn.strategies.evolution.breeding import (
    Populations,
    best_weights,
    draw_breeding,
    evolve_segment,
    start_populations,
)
from rinn.strategies.evolution.fitness import KERNELS, choose_kernel, group_samples, measure_fitness
from rinn.strategies.evolution.genes import (
    LEGAL,
    STEPS,
    EvolutionSpec,
    count_genes,
    count_mutations,
    cut_genes,
    make_hyper,
    mark_weights,
    read_weights,
)

# As one program, as within `evolve_segment`: operation by operation it would take much longer.
measure = jax.jit(measure_fitness, static_argnums=0)
draw = jax.jit(draw_breeding, static_argnums=(0, 1))

INPUTS, OUTPUTS = 3, 2
SPEC = EvolutionSpec("mse", "relu", layers=3, width=4, population=11, mutations=5)
SETTINGS = {
    "elite_ratio": [0.4, 0.7, 0.1],
    "mutation_rate": [0.01, 0.06, 0.03],
    "l1": [0.0, 0.5, 2.0],
    "legal": ["even", "uneven", "even"],
    "seed": [5, 6, 2**32 - 1],
}


def settings(*which, **changes):
    chosen = [{name: values[i] for name, values in SETTINGS.items()} for i in which]
    return [EvolutionSettings(**one | changes) for one in chosen]


def hyper_of(*which, spec=SPEC, **changes):
    made = make_hyper(spec, INPUTS, OUTPUTS, settings(*which, **changes))
    return jax.tree.map(jnp.asarray, made)


def draw_data(loss="mse", samples=30, inputs=INPUTS, outputs=OUTPUTS):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(inputs, samples))
    y = rng.normal(size=(outputs, samples)) + x[:1]
    return x, (y > 0).astype(float) if loss == "bce" else y


def samples_of(loss="mse", **sizes):
    return jax.tree.map(jnp.asarray, group_samples(*draw_data(loss, **sizes), loss))


def evolve(hyper, *segments, spec=SPEC, samples=None):
    populations = start_populations(spec, hyper, INPUTS, OUTPUTS)
    for generations in segments:
        samples = samples_of(spec.loss) if samples is None else samples
        populations = evolve_segment(spec, populations, hyper, samples, generations)
    return populations


def draw_genes(spec, sets, inputs=INPUTS, outputs=OUTPUTS):
    rng = np.random.default_rng(8)
    shape = (sets, spec.population, count_genes(spec, inputs, outputs))
    return rng.integers(-3, 4, shape).astype(np.int8)


def literal_fitness(spec, row, step, l1, x, y):
    """Fitness as it is written in the paper, one network, in float64."""
    weights = read_weights(spec, row * np.float64(step), len(x), len(y))
    h = np.zeros((spec.width, x.shape[1]))
    for layer in range(spec.layers):
        z = weights.inputs[layer] @ x + weights.bias[layer][:, None]
        if layer:
            z = z + weights.hidden[layer - 1] @ h
        h = np.maximum(z, 0)
    predicted = weights.output @ h + weights.output_bias[:, None]
    if spec.loss == "mse":
        losses = (predicted - y) ** 2
    else:
        losses = np.logaddexp(0, predicted) - y * predicted
    every = np.concatenate([part.ravel() for part in weights[:3]])
    return -losses.sum(axis=0).mean() - l1 * np.abs(every).mean()


def test_a_network_of_two_weights_and_two_biases_by_hand():
    spec = EvolutionSpec("mse", "relu", layers=1, width=1, population=2, mutations=1)
    net = EvolutionSettings(elite_ratio=1, mutation_rate=0, l1=10, legal="even")
    hyper = make_hyper(spec, 1, 1, [net])
    # h = max(0.4 x + 0.2, 0), y = 1.0 h - 0.2; the second network is empty.
    genes = jnp.array([[[2, 1, 5, -1], [0, 0, 0, 0]]], jnp.int8)
    samples = group_samples(np.array([[1.0, -1.0]]), np.array([[1.0, 0.0]]), "mse")
    fitness = measure(spec, genes, jax.tree.map(jnp.asarray, hyper), samples)
    by_hand = -((0.4 - 1.0) ** 2 + (-0.2 - 0.0) ** 2) / 2 - 10 * (0.4 + 1.0) / 2
    np.testing.assert_allclose(fitness, [[by_hand, -0.5]], rtol=1e-6)


@pytest.mark.parametrize("loss", ["mse", "bce"])
@pytest.mark.parametrize("kernel", sorted(KERNELS.keys() - {"pallas"}))
def test_fitness_is_what_the_paper_writes(kernel, loss):
    spec = dataclasses.replace(SPEC, kernel=kernel, loss=loss)
    genes, hyper, (x, y) = draw_genes(spec, 3), hyper_of(0, 1, 2), draw_data(loss)
    fitness = measure(spec, jnp.asarray(genes), hyper, samples_of(loss))
    for s in range(3):
        l1, step = SETTINGS["l1"][s], STEPS[SETTINGS["legal"][s]]
        literal = [literal_fitness(spec, row, step, l1, x, y) for row in genes[s]]
        np.testing.assert_allclose(fitness[s], literal, rtol=1e-5)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("kernel", sorted(KERNELS.keys() - {"pallas"}))
def test_fitness_is_that_of_the_network_that_is_returned(kernel, name):
    spec = dataclasses.replace(SPEC, kernel=kernel, activation=name)
    genes, hyper, samples = draw_genes(spec, 1), hyper_of(0), samples_of()
    fitness = measure(spec, jnp.asarray(genes), hyper, samples)[0]
    x, y = (values.astype(np.float32) for values in draw_data())
    for row, found in zip(genes[0], fitness, strict=True):
        weights = read_weights(spec, row * np.float32(0.2), INPUTS, OUTPUTS)
        predicted = run_net(weights, ACTIVATIONS[name], x)
        assert -found == pytest.approx(float(((predicted - y) ** 2).sum(axis=0).mean()), rel=1e-5)


@pytest.mark.parametrize("loss", ["mse", pytest.param("bce", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("layers", "width", "inputs", "outputs", "samples"),
    [
        (2, 5, 7, 20, 130),
        pytest.param(8, 8, 16, 16, 200, marks=pytest.mark.slow),
        pytest.param(3, 12, 20, 3, 40, marks=pytest.mark.slow),
        pytest.param(2, 16, 64, 64, 9, marks=pytest.mark.slow),
    ],
)
def test_the_kernel_for_gpus_computes_the_same(loss, layers, width, inputs, outputs, samples):
    shape = {"layers": layers, "width": width}
    spec = EvolutionSpec(loss, "sigmoid", **shape, population=5, mutations=1)
    genes = jnp.asarray(draw_genes(spec, 2, inputs, outputs))
    data = samples_of(loss, samples=samples, inputs=inputs, outputs=outputs)
    same = [
        measure(dataclasses.replace(spec, kernel=kernel), genes, hyper_of(0, 1), data)
        for kernel in ("cached", "batched", "interpreted")
    ]
    np.testing.assert_allclose(same[1], same[0], rtol=2e-6)
    np.testing.assert_allclose(same[2], same[0], rtol=2e-6)


def test_the_kernel_for_gpus_is_accepted_by_its_compiler():
    spec = dataclasses.replace(SPEC, kernel="pallas", loss="bce")
    measure = jax.jit(functools.partial(measure_fitness, spec))
    traced = measure.trace(jnp.asarray(draw_genes(spec, 1)), hyper_of(0), samples_of("bce"))
    assert "triton" in traced.lower(lowering_platforms=("cuda",)).as_text()


def test_networks_too_large_for_the_kernel_are_batched():
    assert choose_kernel("cpu", 8, 8, 16, 16) == "cached"
    assert choose_kernel("gpu", 8, 8, 16, 16) == "pallas"
    assert {choose_kernel("gpu", *shape) for shape in ((1, 8, 16, 16), (8, 17, 16, 16))} == {
        "batched"
    }
    assert choose_kernel("gpu", 8, 8, 650, 84) == "batched"


def test_populations_taken_in_portions_are_the_same(monkeypatch):
    spec = dataclasses.replace(SPEC, kernel="batched")
    genes, hyper, samples = jnp.asarray(draw_genes(spec, 3)), hyper_of(0, 1, 2), samples_of()
    whole = measure(spec, genes, hyper, samples)
    monkeypatch.setattr(fitness, "CHUNK_BYTES", 2 * 4 * 11 * 4 * 30)  # two sets at a time
    portions = jax.jit(functools.partial(measure_fitness, spec))(genes, hyper, samples)
    np.testing.assert_allclose(portions, whole, rtol=1e-6)


def test_a_network_that_overflows_is_the_last():
    spec = EvolutionSpec("mse", "relu", layers=60, width=4, population=11, mutations=5)
    genes = jnp.full((1, 11, count_genes(spec, INPUTS, OUTPUTS)), 25, jnp.int8)
    fitness = measure(spec, genes, hyper_of(1, spec=spec), samples_of())
    assert (fitness == -jnp.inf).all()


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_samples_with_the_same_inputs_are_merged_without_loss(loss):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (INPUTS, 90)), rng.integers(0, 2, (OUTPUTS, 90))
    merged = group_samples(x, y, loss)
    assert merged.x.shape == (INPUTS, 8)
    spec = dataclasses.replace(SPEC, loss=loss)
    genes = draw_genes(spec, 1)
    fitness = measure(spec, jnp.asarray(genes), hyper_of(1), merged)[0]
    literal = [literal_fitness(spec, row, 0.1, 0.5, x, y) for row in genes[0]]
    np.testing.assert_allclose(fitness, literal, rtol=1e-5)


def test_samples_that_all_differ_stay_apart():
    x, y = draw_data()
    merged = group_samples(x, y, "mse")
    assert merged.x.shape == x.shape
    assert merged.floor == 0
    assert merged.sample_weight.sum() == pytest.approx(1)


def test_genes_are_cut_into_the_parts_of_a_network():
    row = np.arange(count_genes(SPEC, INPUTS, OUTPUTS))
    weights = read_weights(SPEC, row, INPUTS, OUTPUTS)
    assert [part.shape for part in weights] == [(3, 4, 3), (2, 4, 4), (2, 4), (3, 4), (2,)]
    np.testing.assert_array_equal(np.sort(np.concatenate([p.ravel() for p in weights])), row)
    marked = np.concatenate([part.ravel() for part in weights[:3]])
    np.testing.assert_array_equal(np.sort(marked), np.nonzero(mark_weights(SPEC, 3, 2))[0])
    first, later, *_ = cut_genes(SPEC, row, INPUTS, OUTPUTS)
    assert first.shape == (4, 3 + 1)
    assert later.shape == (2, 4, 4 + 3 + 1)


def test_best_fitness_never_falls_and_elites_are_sorted():
    hyper = hyper_of(0, 1, 2)
    populations, best = evolve(hyper, 1), np.full(3, -np.inf)
    for _ in range(30):
        populations = evolve_segment(SPEC, populations, hyper, samples_of(), 1)
        fitness = np.asarray(populations.elite_fitness)
        assert (fitness[:, 0] >= best).all()
        assert (np.diff(np.where(np.isinf(fitness), -1e9, fitness), axis=1) <= 0).all()
        np.testing.assert_array_equal(np.isfinite(fitness).sum(axis=1), hyper.elites)
        best = fitness[:, 0]


def test_genes_are_always_legal():
    populations = evolve(hyper_of(0, 1, 2), 40)
    for s, name in enumerate(SETTINGS["legal"]):
        found = set(np.unique(np.abs(populations.children[s]))) - {0}
        assert found <= set(LEGAL[name])
        assert len(found) > 5


def test_segments_may_be_cut_anywhere():
    hyper = hyper_of(0, 1, 2)
    whole = evolve(hyper, 9)
    for cut in ((3, 3, 3), (1, 8)):
        for one, other in zip(whole, evolve(hyper, *cut), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_population_alone_is_what_it_is_among_others():
    together = evolve(hyper_of(0, 1, 2), 15)
    for s in (0, 2):
        alone = evolve(hyper_of(s), 15)
        most = alone.elites.shape[1]
        np.testing.assert_array_equal(alone.children[0], together.children[s])
        np.testing.assert_array_equal(alone.elites[0], together.elites[s, :most])
        np.testing.assert_array_equal(alone.elite_fitness[0], together.elite_fitness[s, :most])


def test_one_generation_is_that_of_a_literal_loop():
    hyper = hyper_of(0, 1, 2)
    before = jax.tree.map(np.asarray, evolve(hyper, 9))
    after = evolve_segment(SPEC, before, hyper, samples_of(), 1)
    fitness = np.asarray(measure(SPEC, before.children, hyper, samples_of()))
    for s in range(3):
        own = jax.tree.map(lambda leaf: leaf[s], hyper)  # noqa: B023
        draws = draw(SPEC, (INPUTS, OUTPUTS), before.generation, own)
        draws, children = jax.tree.map(np.asarray, (draws, after.children[s]))
        everyone = np.concatenate([before.children[s], before.elites[s]])
        everyones = np.concatenate([fitness[s], before.elite_fitness[s]])
        elites = everyone[sorted(range(len(everyone)), key=lambda i: -everyones[i])]
        np.testing.assert_array_equal(after.elites[s], elites[: len(before.elites[s])])
        for child in range(SPEC.population):
            born = []
            for gene in range(elites.shape[1]):
                first = draws.first[child, gene // 32] >> (gene % 32) & 1
                born.append(elites[draws.parents[0 if first else 1, child], gene])
            for j in range(int(own.mutations)):
                born[int(draws.indices[j, child])] = draws.values[j, child]
            np.testing.assert_array_equal(children[child], born)


def test_draws_are_spread_evenly():
    spec = dataclasses.replace(SPEC, population=20_000)
    one = jax.tree.map(lambda leaf: leaf[0], hyper_of(1))
    draws = draw(spec, (INPUTS, OUTPUTS), jnp.int32(4), one)
    genes = count_genes(spec, INPUTS, OUTPUTS)
    used = int(one.mutations)
    assert (draws.indices[used:] == genes).all()
    counts = np.bincount(np.ravel(draws.indices[:used]), minlength=genes)
    assert len(counts) == genes
    assert np.abs(counts / counts.mean() - 1).max() < 0.2
    values, seen = np.unique(draws.values[:used], return_counts=True)
    positive = LEGAL["uneven"]
    np.testing.assert_array_equal(values, sorted([0, *positive, *(-v for v in positive)]))
    np.testing.assert_allclose(seen / seen.sum() * 27, np.where(values == 0, 5, 1), rtol=0.05)
    parents, seen = np.unique(draws.parents, return_counts=True)
    np.testing.assert_array_equal(parents, np.arange(int(one.elites)))
    np.testing.assert_allclose(seen / seen.mean(), 1, atol=0.1)
    bits = np.unpackbits(np.asarray(draws.first).view(np.uint8), axis=1)  # [individual, gene]
    together = np.corrcoef(bits, rowvar=False)
    assert bits.mean(axis=0) == pytest.approx(0.5, abs=0.02)
    assert np.abs(together - np.eye(len(together))).max() < 0.04


def test_a_gene_that_is_drawn_twice_gets_one_value():
    spec = dataclasses.replace(SPEC, population=500, mutations=60)
    one = jax.tree.map(lambda leaf: leaf[0], hyper_of(0, spec=spec, mutation_rate=1.0))
    draws = draw(spec, (INPUTS, OUTPUTS), jnp.int32(0), one)
    places, values = np.asarray(draws.indices), np.asarray(draws.values)
    twice = 0
    for child in range(spec.population):
        pairs = set(zip(places[:, child], values[:, child], strict=True))
        assert len(pairs) == len(set(places[:, child]))
        twice += len(pairs) < spec.mutations
    assert twice > 100


def test_at_min_one_gene_mutates():
    assert count_mutations(1e-9, 1680) == 1
    assert count_mutations(0.006, 1680) == 10
    hyper = hyper_of(0, 1, 2, mutation_rate=1e-9)
    one = jax.tree.map(lambda leaf: leaf[0], hyper)
    children = evolve(hyper, 1).children[0]
    places = draw(SPEC, (INPUTS, OUTPUTS), jnp.int32(0), one).indices
    genes = count_genes(SPEC, INPUTS, OUTPUTS)
    assert ((places < genes).sum(axis=0) == 1).all()
    assert ((np.asarray(children) != 0).sum(axis=1) <= 1).all()
    assert np.asarray(children).any()


def test_at_least_two_individuals_mate():
    assert make_hyper(SPEC, 3, 2, settings(0, elite_ratio=0.01)).elites.tolist() == [2]


def test_a_huge_price_leaves_no_weight():
    hyper = hyper_of(0, 1, 2, l1=1e6)
    populations = evolve(hyper, 60)
    weights, fitness = best_weights(SPEC, populations, hyper, INPUTS, OUTPUTS)
    for net in weights:
        assert not any(part.any() for part in net[:3])
    assert (fitness > -10).all()


@pytest.mark.parametrize("loss", ["mse", pytest.param("bce", marks=pytest.mark.slow)])
def test_a_small_problem_is_solved(loss):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (INPUTS, 200))
    y = np.stack([x[0] | x[1], x[2]])
    samples = group_samples(x, 2.0 * y if loss == "mse" else y, loss)
    spec = EvolutionSpec(loss, "relu", layers=2, width=4, population=60, mutations=3)
    hyper = hyper_of(0, 1, spec=spec, l1=0.1)
    populations = evolve(hyper, 400, spec=spec, samples=samples)
    weights, fitness = best_weights(spec, populations, hyper, INPUTS, OUTPUTS)
    assert (fitness > (-0.3 if loss == "mse" else -0.5)).all()
    for net in weights:
        predicted = np.asarray(run_net(net, ACTIVATIONS["relu"], x.astype(np.float32)))
        middle = 1 if loss == "mse" else 0
        np.testing.assert_array_equal(predicted > middle, y == 1)


def test_the_best_individual_is_the_first_elite():
    hyper = hyper_of(0, 1, 2)
    populations = evolve(hyper, 20)
    weights, fitness = best_weights(SPEC, populations, hyper, INPUTS, OUTPUTS)
    x, y = draw_data()
    for s in range(3):
        step = STEPS[SETTINGS["legal"][s]]
        row = np.asarray(populations.elites)[s, 0]
        literal = literal_fitness(SPEC, row, step, SETTINGS["l1"][s], x, y)
        assert fitness[s] == pytest.approx(literal, rel=1e-5)
        np.testing.assert_allclose(weights[s].output.ravel() / step % 1 % 1, 0, atol=1e-4)


def test_the_start_is_all_zero():
    populations = start_populations(SPEC, hyper_of(0, 1, 2), INPUTS, OUTPUTS)
    assert isinstance(populations, Populations)
    assert populations.children.shape == (3, 11, count_genes(SPEC, INPUTS, OUTPUTS))
    assert populations.elites.shape[1] == 8
    assert not populations.children.any()
    assert (populations.elite_fitness == -np.inf).all()
