from itertools import pairwise

import jax
import numpy as np
import pytest

from rinn.strategies.belief import (
    DECAY,
    GAUSSIAN_RATE,
    SPREAD,
    Machine,
    Pretraining,
    Stack,
    _draw_start,
    _draw_uniforms,
    _plan_steps,
    contrast,
    pretrain,
    unroll,
)

SIZES = (7, 5, 3)


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _settings(nets=3, sizes=SIZES, rate=0.1, seed=0):
    return Pretraining(
        sizes=np.tile(sizes, (nets, 1)),
        learning_rate=np.full(nets, rate, np.float32),
        seed=np.arange(seed, seed + nets),
    )


def _binary(samples=256):
    """Three causes, each of which turns four of the twelve outputs on, and a little noise."""
    rng = np.random.default_rng(1)
    causes = rng.integers(0, 2, size=(3, samples))
    noise = rng.random((12, samples)) < 0.05
    return (np.repeat(causes, 4, axis=0) ^ noise).astype(np.float32)


def _gaussian(samples=256):
    rng = np.random.default_rng(2)
    y = np.repeat(rng.normal(size=(3, samples)), 4, axis=0) + rng.normal(size=(12, samples)) / 2
    return ((y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)).astype(np.float32)


def _train(settings, y, binary=True, width=7, epochs=2, **more):
    stacks = pretrain(settings, y, binary=binary, width=width, epochs=epochs, batch=32, **more)
    return jax.tree.map(np.asarray, stacks)


def _take(stacks, net):
    return Stack(*(part[net] for part in stacks))


def _reconstruct(stack, y, *, binary, sizes=SIZES):
    """Up through the machines and down again, each cut to its own size, in float64."""
    layers = [len(y), *sizes]
    up = [stack.first, *stack.rest]
    visible_bias = [stack.output_bias, *stack.visible_bias]
    cut = [w[:above, :below] for w, (below, above) in zip(up, pairwise(layers), strict=True)]
    h = y.astype(float)
    for w, bias in zip(cut, stack.hidden_bias, strict=True):
        h = _sigmoid(w @ h + bias[: len(w), None])
    for w, bias in reversed(list(zip(cut, visible_bias, strict=True))):
        z = w.T @ h + bias[: w.shape[1], None]
        h = _sigmoid(z)
    return h if binary else z


def _error(stacks, y, *, binary, **more):
    nets = range(len(stacks.first))
    found = [_reconstruct(_take(stacks, net), y, binary=binary, **more) for net in nets]
    return np.mean((np.stack(found) - y) ** 2)


def _run_unrolled(weights, y):
    h = _sigmoid(weights.inputs[0] @ y + weights.bias[0][:, None])
    for w, bias in zip(weights.hidden, weights.bias[1:], strict=True):
        h = _sigmoid(w @ h + bias[:, None])
    return weights.output @ h + weights.output_bias[:, None]


def _draw_stack(width=6, outputs=4, layers=3):
    rng = np.random.default_rng(3)
    return Stack(
        first=rng.normal(size=(width, outputs)),
        rest=rng.normal(size=(layers - 1, width, width)),
        hidden_bias=rng.normal(size=(layers, width)),
        visible_bias=rng.normal(size=(layers - 1, width)),
        output_bias=rng.normal(size=outputs),
    )


@pytest.mark.parametrize("sizes", [(5, 3, 2), (2, 5, 3)])
def test_unrolled_is_up_and_down_through_the_machines(sizes):
    stack = _draw_stack()
    weights = unroll(stack, sizes)
    y = np.random.default_rng(4).normal(size=(4, 9))
    found = _run_unrolled(weights, y)
    expected = _reconstruct(stack, y, binary=False, sizes=sizes)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert weights.inputs.shape == (1, 5, 4)
    assert weights.hidden.shape == (4, 5, 5)
    assert weights.bias.shape == (5, 5)
    assert weights.output.dtype == np.float32


def test_unrolled_by_hand():
    stack = Stack(
        first=np.array([[1.0, -1.0], [2.0, 0.0], [9.0, 9.0]]),
        rest=np.array([[[0.5, 1.0, 9.0], [9.0, 9.0, 9.0], [9.0, 9.0, 9.0]]]),
        hidden_bias=np.array([[0.0, -1.0, 9.0], [0.25, 9.0, 9.0]]),
        visible_bias=np.array([[0.1, 0.2, 9.0]]),
        output_bias=np.array([3.0, 4.0]),
    )
    weights = unroll(stack, (2, 1))
    np.testing.assert_array_equal(weights.inputs, [[[1, -1], [2, 0]]])
    np.testing.assert_array_equal(weights.hidden, [[[0.5, 1], [0, 0]], [[0.5, 0], [1, 0]]])
    np.testing.assert_array_equal(weights.output, [[1, 2], [-1, 0]])
    np.testing.assert_allclose(weights.bias, [[0, -1], [0.25, 0], [0.1, 0.2]])
    np.testing.assert_array_equal(weights.output_bias, [3, 4])


def test_one_machine_unrolls_to_one_hidden_layer():
    weights = unroll(_draw_stack(layers=1), (5,))
    assert weights.hidden.shape == (0, 5, 5)
    assert weights.bias.shape == (1, 5)


@pytest.mark.parametrize("binary", [True, False])
def test_contrast_is_the_textbook_loop(binary):
    rng = np.random.default_rng(5)
    w, c, b = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
    v = rng.integers(0, 2, size=(4, 5)) if binary else rng.normal(size=(4, 5))
    uniforms = rng.random((3, 5))
    slope = Machine(np.zeros((3, 4)), np.zeros(3), np.zeros(4))
    for n in range(5):
        hidden = [_sigmoid(c[j] + sum(w[j, i] * v[i, n] for i in range(4))) for j in range(3)]
        on = [float(uniforms[j, n] < hidden[j]) for j in range(3)]
        back = [b[i] + sum(w[j, i] * on[j] for j in range(3)) for i in range(4)]
        back = [_sigmoid(z) for z in back] if binary else back
        again = [_sigmoid(c[j] + sum(w[j, i] * back[i] for i in range(4))) for j in range(3)]
        for j in range(3):
            slope.hidden_bias[j] += (hidden[j] - again[j]) / 5
            for i in range(4):
                slope.weights[j, i] += (hidden[j] * v[i, n] - again[j] * back[i]) / 5
        for i in range(4):
            slope.visible_bias[i] += (v[i, n] - back[i]) / 5
    values = (np.float32(part) for part in (v, uniforms))
    machine = Machine(*(np.float32(part) for part in (w, c, b)))
    found = contrast(machine, *values, np.ones(4, bool), np.ones(3, bool), binary=binary)
    for ours, theirs in zip(found, slope, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_contrast_leaves_padding_at_zero():
    rng = np.random.default_rng(6)
    seen, node_mask = np.array([True, True, True, False]), np.array([True, True, False])
    w = np.where(node_mask[:, None] & seen, rng.normal(size=(3, 4)), 0).astype(np.float32)
    v = np.where(seen[:, None], rng.random((4, 5)), 0).astype(np.float32)
    machine = Machine(w, np.zeros(3, np.float32), np.zeros(4, np.float32))
    slope = contrast(
        machine, v, rng.random((3, 5)).astype(np.float32), seen, node_mask, binary=True
    )
    assert not np.asarray(slope.weights)[2].any()
    assert not np.asarray(slope.weights)[:, 3].any()
    assert slope.hidden_bias[2] == 0
    assert slope.visible_bias[3] == 0
    assert np.asarray(slope.weights)[:2, :3].all()


def _write_out(y, binary, seed, rate, decay, momentum):
    """The whole training of one stack as plain loops in float64, from the same draws."""
    start, plan = _draw_start(seed, SIZES, 7, 12), _plan_steps(256, 2, 32, momentum)
    data, machines = y.astype(float), []
    sizes = [len(y), *SIZES]
    for layer, (below, size) in enumerate(pairwise(sizes)):
        gaussian = layer == 0 and not binary
        step_size = rate * GAUSSIAN_RATE if gaussian else rate
        w = (start.first if layer == 0 else start.rest[layer - 1])[:size, :below].astype(float)
        c, means = np.zeros(size), data.mean(axis=1)
        b = means if gaussian else np.log(means / (1 - means))
        speed = [np.zeros_like(part) for part in (w, c, b)]
        for number, uses, keep in zip(*plan, strict=True):
            v = data[:, uses]
            uniforms = np.asarray(_draw_uniforms(start.words[layer], number, 32))[:size]
            hidden = _sigmoid(w @ v + c[:, None])
            back = w.T @ (uniforms < hidden) + b[:, None]
            back = back if gaussian else _sigmoid(back)
            again = _sigmoid(w @ back + c[:, None])
            slope = (
                (hidden @ v.T - again @ back.T) / 32 - decay * w,
                (hidden - again).mean(axis=1),
                (v - back).mean(axis=1),
            )
            speed = [keep * old + step_size * new for old, new in zip(speed, slope, strict=True)]
            w, c, b = (part + more for part, more in zip((w, c, b), speed, strict=True))
        machines.append(Machine(w, c, b))
        data = _sigmoid(w @ data + c[:, None])
    return machines


@pytest.mark.parametrize("binary", [True, False])
def test_pretraining_written_out(binary):
    y = _binary() if binary else _gaussian()
    stacks = _train(_settings(seed=5), y, binary, decay=0.1, momentum=(0.7, 0.0))
    machines = _write_out(y, binary, seed=6, rate=0.1, decay=0.1, momentum=(0.7, 0.0))
    stack = _take(stacks, 1)
    weights, visible_bias = [stack.first, *stack.rest], [stack.output_bias, *stack.visible_bias]
    for layer, (w, c, b) in enumerate(machines):
        size, below = w.shape
        np.testing.assert_allclose(weights[layer][:size, :below], w, atol=1e-5)
        np.testing.assert_allclose(stack.hidden_bias[layer][:size], c, atol=1e-5)
        np.testing.assert_allclose(visible_bias[layer][:below], b, atol=1e-5)


def test_plan_of_the_steps():
    plan = _plan_steps(10, 7, 4, (0.5, 0.9))
    assert plan.uses.shape == (14, 4)
    epochs = plan.uses.reshape(7, 8)
    assert all(len(set(epoch)) == 8 for epoch in epochs.tolist())
    assert set(plan.uses.ravel()) == set(range(10))
    np.testing.assert_allclose(plan.momentum, [0.5] * 10 + [0.9] * 4)
    assert _plan_steps(10, 2, 32, (0.5, 0.9)).uses.shape == (2, 10)


def test_draws_are_uniform_and_of_their_own():
    words = np.random.default_rng(7).integers(2**32, size=50).astype(np.uint32)
    draws = np.stack([_draw_uniforms(words, np.uint32(step), 40) for step in range(4)])
    assert draws.min() >= 0
    assert draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.015)
    assert draws.std() == pytest.approx(12**-0.5, abs=0.01)
    between = np.corrcoef(draws.reshape(200, 40))
    assert np.abs(between[~np.eye(200, dtype=bool)]).mean() < 0.15  # 0.126 by chance


def test_rate_zero_leaves_the_start():
    y = _binary()
    stacks = _train(_settings(nets=8, rate=0.0), y, epochs=2, decay=DECAY)
    again = _train(_settings(nets=8, rate=0.0), y, epochs=2, decay=0.5)
    for one, other in zip(stacks, again, strict=True):
        np.testing.assert_array_equal(one, other)
    means = y.mean(axis=1)
    np.testing.assert_allclose(stacks.output_bias[0], np.log(means / (1 - means)), rtol=1e-5)
    # Hidden nodes that are on half the time: the log odds of the machines above are near zero.
    assert np.abs(stacks.visible_bias).max() < 0.05
    assert not stacks.hidden_bias.any()
    assert stacks.first.std() == pytest.approx(SPREAD, rel=0.1)
    assert stacks.rest[:, 0, :5, :7].std() == pytest.approx(SPREAD, rel=0.1)


def test_constant_columns_have_finite_biases():
    y = _binary()
    y[0], y[1] = 0, 1
    stacks = _train(_settings(), y)
    assert all(np.isfinite(part).all() for part in stacks)


def test_width_changes_nothing():
    y = _binary()
    narrow, wide = (_train(_settings(), y, width=width) for width in (7, 20))
    np.testing.assert_allclose(wide.first[:, :7], narrow.first, atol=1e-6)
    np.testing.assert_allclose(wide.rest[:, :, :7, :7], narrow.rest, atol=1e-6)
    np.testing.assert_allclose(wide.hidden_bias[:, :, :7], narrow.hidden_bias, atol=1e-6)
    np.testing.assert_allclose(wide.visible_bias[:, :, :7], narrow.visible_bias, atol=1e-6)
    np.testing.assert_allclose(wide.output_bias, narrow.output_bias, atol=1e-6)
    real = np.arange(20) < np.array(SIZES)[:, None]  # [layer, width]
    assert not wide.first[:, ~real[0]].any()
    assert not wide.rest[:, ~(real[1:, :, None] & real[:-1, None])].any()
    assert not wide.hidden_bias[:, ~real].any()
    assert not wide.visible_bias[:, ~real[:-1]].any()


def test_one_alone_is_one_among_many():
    y = _binary()
    sizes = np.array([[7, 5, 3], [6, 4, 2], [7, 3, 2], [4, 3, 1]] * 3)
    rates = np.linspace(0.01, 0.3, 12, dtype=np.float32)
    settings = Pretraining(sizes, rates, np.arange(12))
    many = _train(settings, y)
    for net in (0, 1, 7, 11):
        alone = _train(Pretraining(*(part[net : net + 1] for part in settings)), y)
        for one, other in zip(alone, many, strict=True):
            np.testing.assert_allclose(one[0], other[net], atol=1e-5)


def test_seed_decides():
    y = _binary()
    one, again, other = (_train(_settings(seed=seed), y) for seed in (3, 3, 4))
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.abs(one.first - other.first).max() > 1e-3
    np.testing.assert_array_equal(one.first[1], other.first[0])


def test_data_are_left_alone():
    y = _binary()
    kept = y.copy()
    _train(_settings(), y)
    np.testing.assert_array_equal(y, kept)


@pytest.mark.parametrize(
    ("make", "binary", "rate", "factor"), [(_binary, True, 0.3, 0.5), (_gaussian, False, 0.5, 0.6)]
)
def test_training_makes_the_reconstruction_better(make, binary, rate, factor):
    y = make()
    start = _train(_settings(rate=0.0), y, binary=binary, epochs=60)
    end = _train(_settings(rate=rate), y, binary=binary, epochs=60)
    before, after = (_error(stacks, y, binary=binary) for stacks in (start, end))
    assert before == pytest.approx(np.mean(y.var(axis=1)), rel=0.01)
    assert after < factor * before


def test_divergence_is_not_an_error():
    y = _gaussian()
    stacks = _train(_settings(rate=1e4), y, binary=False, epochs=60)
    assert not np.isfinite(stacks.first).all()
    weights = unroll(_take(stacks, 0), SIZES)
    assert not np.isfinite(weights.output).all()


def test_width_below_a_size_is_refused():
    with pytest.raises(ValueError, match="broadcast"):
        _train(_settings(), _binary(), width=6)
