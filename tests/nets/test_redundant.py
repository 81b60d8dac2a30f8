import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rinn import config
from rinn.nets.redundant import (
    ACTIVATIONS,
    Weights,
    activate,
    draw_weights,
    penalty,
    penalty_slope,
    run_hidden,
    run_net,
)

RELU = jax.nn.relu


def _draw(layers=4, width=5, inputs=3, outputs=2, initialiser="he", seed=0):
    return draw_weights(np.random.default_rng(seed), initialiser, layers, width, inputs, outputs)


def _by_the_formula(weights, x):
    """h_i = relu([h_(i-1), x] W_i + b_i) with the paper's concatenation, samples first."""
    h = np.maximum(x @ weights.inputs[0].T + weights.bias[0], 0)
    for i in range(1, len(weights.inputs)):
        w = np.concatenate(
            [weights.hidden[i - 1].T, weights.inputs[i].T]
        )  # [hidden + input, hidden]
        h = np.maximum(np.concatenate([h, x], axis=1) @ w + weights.bias[i], 0)
    return h @ weights.output.T + weights.output_bias


@pytest.mark.parametrize("fused_inputs", [False, True])
def test_forward_pass_is_the_papers_formula(fused_inputs):
    rng = np.random.default_rng(1)
    weights = Weights(*(part + 0.1 * rng.normal(size=part.shape) for part in _draw()))
    x = rng.normal(size=(7, 3))
    found = run_net(weights, RELU, jnp.asarray(x.T), fused_inputs=fused_inputs).T
    np.testing.assert_allclose(found, _by_the_formula(weights, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fused_inputs", [False, True])
def test_plain_networks_read_the_inputs_once(fused_inputs):
    rng = np.random.default_rng(1)
    weights = draw_weights(rng, "he", 3, 5, 4, 2, redundant=False)
    assert weights.inputs.shape == (1, 5, 4)
    x = rng.normal(size=(4, 7))
    h = np.maximum(weights.inputs[0] @ x, 0)
    for w in weights.hidden:
        h = np.maximum(w @ h, 0)
    found = run_net(weights, RELU, jnp.asarray(x), fused_inputs=fused_inputs)
    np.testing.assert_allclose(found, weights.output @ h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run_hidden(weights, RELU, weights.inputs @ x)[-1], h, rtol=1e-4)


def test_nodes_that_are_not_alive_pass_nothing_on():
    weights = _draw()
    node_mask = np.ones((4, 5), np.float32)
    node_mask[2, 1:] = 0
    cut = weights.hidden.copy()
    cut[2, :, 1:] = 0
    x = jnp.asarray(np.random.default_rng(2).normal(size=(3, 6)))
    found = run_net(weights, RELU, x, node_mask=node_mask)
    np.testing.assert_allclose(found, run_net(weights._replace(hidden=cut), RELU, x), rtol=1e-5)


def test_slope_of_the_penalty():
    weights = _draw()
    slope = penalty_slope(weights, 0.3, 0.2)
    for a, b in zip(slope, jax.grad(penalty)(weights, 0.3, 0.2), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    nothing = Weights(*(np.zeros_like(part) for part in weights))
    assert not any(part.any() for part in penalty_slope(nothing, 0.3, 0.2))


def test_gradient_equals_that_of_plain_products():
    weights, x = _draw(), jnp.asarray(np.random.default_rng(2).normal(size=(3, 6)))

    def plain(w):
        h = RELU(w.inputs[0] @ x + w.bias[0][:, None])
        for i in range(1, len(w.inputs)):
            h = RELU(w.hidden[i - 1] @ h + w.inputs[i] @ x + w.bias[i][:, None])
        return jnp.sum((w.output @ h + w.output_bias[:, None]) ** 2)

    ours = jax.grad(lambda w: jnp.sum(run_net(w, RELU, x) ** 2))(weights)
    for a, b in zip(ours, jax.grad(plain)(weights), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_one_hidden_layer_has_no_hidden_products():
    weights = _draw(layers=1)
    assert weights.hidden.shape == (0, 5, 5)
    assert run_net(weights, RELU, jnp.ones((3, 2))).shape == (2, 2)


def test_activities_end_in_the_output():
    weights, x = _draw(), jnp.ones((3, 4))
    h = run_hidden(weights, RELU, weights.inputs @ x)
    assert np.shape(h) == (4, 5, 4)
    out = weights.output @ h[-1] + weights.output_bias[:, None]
    np.testing.assert_allclose(out, run_net(weights, RELU, x), rtol=1e-5)


def test_penalty_leaves_biases_free():
    weights = Weights(*(np.full_like(part, -2.0) for part in _draw()))
    count = sum(part.size for part in weights[:3])
    assert float(penalty(weights, jnp.float32(0.5), jnp.float32(0.0))) == pytest.approx(count)
    assert float(penalty(weights, jnp.float32(0.0), jnp.float32(0.25))) == pytest.approx(count)


@pytest.mark.parametrize(
    ("initialiser", "fan"), [("he", 30 + 40), ("normal", 30 + 40), ("xavier", 30 + 40 + 40)]
)
def test_spread_of_the_starting_weights(initialiser, fan):
    weights = _draw(layers=8, width=40, inputs=30, outputs=9, initialiser=initialiser)
    assert weights.hidden.std() == pytest.approx(np.sqrt(2 / fan), rel=0.03)
    if initialiser != "normal":
        assert np.abs(weights.hidden).max() <= 2.01 * np.sqrt(2 / fan) / 0.8796
    assert not weights.bias.any()
    assert weights.inputs.dtype == np.float32


def test_first_layer_has_its_own_fan_in():
    weights = _draw(layers=3, width=60, inputs=200, outputs=2)
    assert weights.inputs[0].std() == pytest.approx(np.sqrt(2 / 200), rel=0.05)
    assert weights.inputs[1].std() == pytest.approx(np.sqrt(2 / 260), rel=0.05)


EXPECTED = {
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "softplus": lambda z: np.log1p(np.exp(z)),
}


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_each_network_gets_its_own_function(name):
    names = tuple(ACTIVATIONS)
    z = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
    found = jax.jit(activate, static_argnums=0)(names, jnp.int32(names.index(name)), z)
    np.testing.assert_allclose(found, EXPECTED[name](z), rtol=1e-5, atol=1e-6)


def test_settings_know_the_same_names():
    assert set(config.ACTIVATIONS) == set(ACTIVATIONS)
