"""Many models of one graph at once: the compiled program that refits them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from rinn.config import Stream
from rinn.data.likelihoods import Units
from rinn.data.problem import Problem, weigh_observed
from rinn.nets.training import measure_losses
from rinn.refit.model import TANH_UNITS, GraphModel, rescale, standardise
from rinn.refit.packing import PackedWeights, Sources, lay_out, pack, unpack
from rinn.refit.starts import fit_quadratics, perturb

# Weight decay of the hidden units in each restart; validation decides which to keep. Of four
# simulated datasets the linear one needs much, which leaves nothing but the linear part; logic and
# products need little or none.
WEIGHT_DECAYS = (0.0, 0.3, 1.0, 10.0)
# Twice or eight times as many barely lower the validation loss of noisy data: on development draws
# of the paper's four datasets by less than 0.0015 of an output's variance.
STEPS = 500
STEPS_PER_CHECK = 25
WARM_UP = 50
BATCH = 256
RATE = 0.02
SQUARES = 0.99  # Adam's memory of squared slopes: shorter than usual, as the training is
MAX_CHECKED = 4096  # validation samples that decide when to stop


def refit_models(
    parents: Mapping[str, tuple[str, ...]],
    problem: Problem,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    seed: int = 0,
    device: jax.Device | None = None,
) -> list[GraphModel]:
    """Fit several models on each split and keep the one that validates best."""
    layout = lay_out(parents, inputs, outputs)
    x, scales = _code_inputs(problem.x, inputs)
    left, offset = [problem.y] * len(problem.splits), None
    if problem.adjustment is not None:
        left = list(problem.y - problem.adjustment.expected)  # [split][output, sample]
        offset = problem.adjustment.offset
    weight = None
    if problem.observed is not None:
        everything = np.arange(problem.y.shape[1])
        weight = np.asarray(weigh_observed(problem, everything), np.float32)
        left = [values * problem.observed for values in left]
    starts = []
    for s, split in enumerate(problem.splits):
        seen = x[:, split.train]
        guess = fit_quadratics(parents, seen, left[s][:, split.train], inputs, outputs)
        for r in range(len(WEIGHT_DECAYS)):
            rng = np.random.default_rng([seed, Stream.REFIT_STARTS, s, r])
            starts.append(standardise(perturb(rng, guess), seen))
    shape = len(problem.splits), len(WEIGHT_DECAYS)
    packed = [pack(layout, model) for model in starts]
    arrays = (
        jax.tree.map(lambda *parts: np.stack(parts).reshape(*shape, *parts[0].shape), *packed),
        layout.sources,
        layout.outputs,
        np.pad(x, ((0, 1), (0, 0))),
        problem.y,
        _order_samples(problem, seed),
        _decay_rate(),
        np.array(WEIGHT_DECAYS, np.float32),
        np.stack([split.validation[:MAX_CHECKED] for split in problem.splits]),
        problem.likelihood.make_units(),
        offset,
        weight,
    )
    with jax.default_matmul_precision("highest"):
        trained = _train(problem.loss, *jax.device_put(arrays, device or _find_cpu()))
    fitted, losses = jax.device_get(trained)
    models = []
    for s, split in enumerate(problem.splits):
        best = jax.tree.map(lambda leaf, s=s: leaf[s, losses[s].argmin()], fitted)
        model = rescale(unpack(layout, best, parents, inputs, outputs), scales)
        models.append(standardise(model, problem.x[:, split.train]))
    return models


def _find_cpu() -> jax.Device:
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # JAX was told to have no CPU
        return jax.local_devices()[0]


def _code_inputs(
    x: Float[np.ndarray, "input sample"], inputs: Sequence[str]
) -> tuple[np.ndarray, dict[str, tuple[float, float]]]:
    """Bring 0/1 inputs to -1 and 1, where the hidden units of a start can tell them apart."""
    coded, scales = x.copy(), {}
    for row, name in enumerate(inputs):
        if np.isin(x[row], (0, 1)).all():
            coded[row], scales[name] = 2 * x[row] - 1, (-1.0, 2.0)
    return coded, scales


def _order_samples(problem: Problem, seed: int) -> Int[np.ndarray, "step split sample"]:
    """Which training samples each step sees: each split in one random order after another."""
    size = min(BATCH, *(len(split.train) for split in problem.splits))
    columns = []
    for number, split in enumerate(problem.splits):
        rng = np.random.default_rng([seed, Stream.REFIT_BATCHES, number])
        rounds = -(-STEPS * size // len(split.train))
        rows = np.concatenate([rng.permutation(split.train) for _ in range(rounds)])
        columns.append(rows[: STEPS * size].reshape(STEPS, size))
    return np.stack(columns, axis=1).astype(np.int32)


def _decay_rate() -> Float[np.ndarray, " step"]:
    step = np.arange(STEPS)
    rate = RATE * (1 + np.cos(np.pi * step / STEPS)) / 2
    return (rate * np.minimum(1, (step + 1) / WARM_UP)).astype(np.float32)


class _Progress(NamedTuple):
    """Every model in the middle of its training, and as it was when it validated best."""

    weights: PackedWeights
    memory: Any
    best: Float[Any, "split restart"]
    best_weights: PackedWeights


class _Seen(NamedTuple):
    """Samples of each split; offset and weight where there are covariates or missing values."""

    x: Float[Any, "*split input sample"]
    y: Float[Any, "*split output sample"]
    offset: Float[Any, "*split output sample"] | None
    weight: Float[Any, "*split output sample"] | None


@functools.partial(jax.jit, static_argnums=0)
def _train(
    loss: str,
    weights: PackedWeights,
    sources: tuple[Sources, ...],
    outputs: Int[Array, " output"],
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    order: Int[Array, "step split use"],
    rates: Float[Array, " step"],
    decays: Float[Array, " restart"],
    held: Int[Array, "split use"],
    units: Units,
    offset: Float[Array, "split output sample"] | None,
    weight: Float[Array, "output sample"] | None,
) -> tuple[PackedWeights, Float[Array, "split restart"]]:
    """Train every model of [split, restart] arrays; returns each at its best, and that loss."""
    adam = optax.scale_by_adam(b2=SQUARES)

    def find_loss(weights: PackedWeights, seen: _Seen) -> Array:
        raw = run_levels(weights, sources, outputs, seen.x)
        raw = raw if seen.offset is None else raw + seen.offset
        losses = measure_losses(loss, raw, seen.y, units)
        return jnp.mean(losses if seen.weight is None else losses * seen.weight)

    def step_one(
        weights: PackedWeights, memory: Any, decay: Array, seen: _Seen, rate: Array
    ) -> tuple[PackedWeights, Any]:
        slope = jax.grad(find_loss)(weights, seen)
        direction, memory = adam.update(slope, memory)
        moved = jax.tree.map(lambda w, d: w - rate * d, weights, direction)
        return _decay_hidden(moved, 1 - rate * decay), memory

    over_restarts = jax.vmap(step_one, (0, 0, 0, None, None))
    step = jax.vmap(over_restarts, (0, 0, None, 0, None))
    check = jax.vmap(jax.vmap(find_loss, (0, None)))

    def see(rows: Array) -> _Seen:
        weights = None if weight is None else _take(weight, rows)
        # Every split has offsets of its own.
        own = None if offset is None else jnp.take_along_axis(offset, rows[:, None], axis=2)
        return _Seen(_take(x, rows), _take(y, rows), own, weights)

    held_out = see(held)

    def run_step(state: tuple[PackedWeights, Any], now: tuple[Array, Array]) -> tuple[Any, None]:
        rows, rate = now
        return step(*state, decays, see(rows), rate), None

    def run_part(state: _Progress, part: tuple[Array, Array]) -> tuple[_Progress, None]:
        (weights, memory), _ = jax.lax.scan(run_step, (state.weights, state.memory), part)
        losses = check(weights, held_out)  # [split, restart]
        better = losses < state.best

        def keep(new: Array, old: Array) -> Array:
            return jnp.where(better.reshape(*better.shape, *[1] * (new.ndim - 2)), new, old)

        kept = jax.tree.map(keep, weights, state.best_weights)
        return _Progress(weights, memory, jnp.where(better, losses, state.best), kept), None

    memory = jax.vmap(jax.vmap(adam.init))(weights)
    worst = jnp.full(weights[0].bias.shape[:2], jnp.inf)
    state = _Progress(weights, memory, worst, weights)
    parts = jax.tree.map(lambda a: a.reshape(-1, STEPS_PER_CHECK, *a.shape[1:]), (order, rates))
    state, _ = jax.lax.scan(run_part, state, parts)
    return state.best_weights, state.best


def run_levels(
    weights: PackedWeights,
    sources: tuple[Sources, ...],
    outputs: Int[Array, " output"],
    x: Float[Array, "input sample"],
) -> Float[Array, "output sample"]:
    """Compute the outputs of one packed model; x has one empty row more than there are inputs."""
    latents = jnp.zeros((1, x.shape[1]), x.dtype)
    for level, read in zip(weights, sources, strict=True):
        parents = jnp.concatenate([x[read.inputs], latents[read.latents]], axis=1)
        rows = jnp.concatenate([level.hidden, level.weights[:, None]], axis=1)
        mixed = jnp.einsum("nhp,npb->nhb", rows, parents)  # [node, hidden + 1, sample]
        mixed, linear = mixed[:, :-1] + level.hidden_bias[:, :, None], mixed[:, -1]
        parts = jnp.tanh(mixed[:, :TANH_UNITS]), mixed[:, TANH_UNITS:] ** 2
        phi = jnp.concatenate(parts, axis=1)
        values = jnp.einsum("nh,nhb->nb", level.output_weights, phi) + linear
        values = values + level.bias[:, None]
        latents = jnp.concatenate([latents, values])
    return latents[outputs]


def _take(
    values: Float[Array, "column sample"], rows: Int[Array, "split use"]
) -> Float[Array, "split column use"]:
    return values[:, rows].transpose(1, 0, 2)


def _decay_hidden(weights: PackedWeights, factor: Float[Array, ""]) -> PackedWeights:
    return tuple(
        level._replace(output_weights=level.output_weights * factor, hidden=level.hidden * factor)
        for level in weights
    )
