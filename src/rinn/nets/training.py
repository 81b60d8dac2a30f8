"""The compiled program that trains a batch of networks for a segment of epochs.

The network is written for one; `vmap` adds the net axis, a second `vmap` the split axis, and
`scan` the steps.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rinn.data.likelihoods import Units, measure_mixed
from rinn.nets.optimisers import descend, find_rates, start_moments
from rinn.nets.redundant import Weights, activate, penalty, penalty_slope, run_net
from rinn.nets.states import (
    CONVERGED,
    DIVERGED,
    EXHAUSTED,
    RUNNING,
    CompileSpec,
    Hyperparameters,
    Losses,
    NetState,
    ValidationSet,
)

MANY_WEIGHTS = 2_000_000


def start_net(spec: CompileSpec, weights: Weights, optimiser: Int[Any, ""]) -> NetState:
    """One network before its first epoch."""
    zero, none = jnp.float32(0), jnp.int32(0)
    return NetState(
        weights=weights,
        moments=start_moments(spec.optimisers, optimiser, weights),
        gradient=jax.tree.map(jnp.zeros_like, weights) if spec.accumulate else None,
        best=jnp.float32(jnp.inf),
        bad_epochs=none,
        epoch=none,
        status=none,
        train_loss=zero,
        validation_loss=zero,
        validation_error=zero,
    )


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def train_segment(
    spec: CompileSpec,
    state: NetState,
    hyper: Hyperparameters,
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    units: Units,
    order: Int[Array, "epoch split use"],
    validation: ValidationSet,
    offset: Float[Array, "split output sample"] | None = None,
    weight: Float[Array, "output sample"] | None = None,
) -> tuple[NetState, Losses]:
    """Train every network of [split, net] arrays for as many epochs as `order` has."""
    step = _over_nets(functools.partial(_step_net, spec, units), shared=5)
    check = _over_nets(functools.partial(_check_net, spec, units), shared=1)
    # An iteration of the loop costs a GPU 5 % of a step of many networks; unrolling saves it.
    size = sum(leaf.size for leaf in jax.tree.leaves(state.weights))
    unroll = 4 if spec.fused_inputs and size >= MANY_WEIGHTS else 1

    def run_epoch(state: NetState, uses: Int[Array, "split use"]) -> tuple[NetState, Losses]:
        xs, ys = _portion(x, uses, spec.micro_batch), _portion(y, uses, spec.micro_batch)
        numbers = jnp.broadcast_to(
            jnp.arange(len(xs))[:, None], xs.shape[:2]
        )  # [micro_batch, split]
        added = None if offset is None else _portion_each(offset, uses, spec.micro_batch)
        weights = None if weight is None else _portion(weight, uses, spec.micro_batch)
        state = state._replace(gradient=jax.tree.map(jnp.zeros_like, state.gradient))

        def run_micro_batch(state: NetState, portion: Any) -> tuple[NetState, Array]:
            return step(state, hyper, *portion)

        state, losses = jax.lax.scan(
            run_micro_batch, state, (xs, ys, numbers, added, weights), unroll=unroll
        )
        # Portions left over at the end fill no batch, and do not count.
        used = len(xs) // hyper.accumulation_steps * hyper.accumulation_steps  # [split, net]
        counts = jnp.arange(len(xs))[:, None, None] < used
        mean = jnp.sum(losses, axis=0, where=counts) / used
        mean = jnp.where(state.status == RUNNING, mean, state.train_loss)
        state = check(state._replace(train_loss=mean), hyper, validation)
        return state, Losses(state.train_loss, state.validation_loss)

    return jax.lax.scan(run_epoch, state, order)


def _over_nets(function: Any, shared: int) -> Any:
    """Map a one-network function of (state, hyper, shared...) over [split, net]."""
    over_nets = jax.vmap(function, in_axes=(0, 0) + (None,) * shared)
    return jax.vmap(over_nets, in_axes=(0, 0) + (0,) * shared)


def _portion(
    values: Float[Array, "column sample"], uses: Int[Array, "split use"], micro_batch: int
) -> Float[Array, "micro_batch split column portion"]:
    splits, used = uses.shape
    taken = values[:, uses].reshape(len(values), splits, used // micro_batch, micro_batch)
    return taken.transpose(2, 1, 0, 3)


def _portion_each(
    values: Float[Array, "split column sample"], uses: Int[Array, "split use"], micro_batch: int
) -> Float[Array, "micro_batch split column portion"]:
    """As `_portion`, where every split has values of its own."""
    splits, used = uses.shape
    taken = jnp.take_along_axis(values, uses[:, None], axis=2)  # [split, column, use]
    return taken.reshape(splits, -1, used // micro_batch, micro_batch).transpose(2, 0, 1, 3)


def _step_net(
    spec: CompileSpec,
    units: Units,
    state: NetState,
    hyper: Hyperparameters,
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    number: Int[Array, ""],
    offset: Float[Array, "output sample"] | None,
    weight: Float[Array, "output sample"] | None,
) -> tuple[NetState, Float[Array, ""]]:
    """One portion of samples for one network, and a step where its batch is full."""

    def data_loss(weights: Weights) -> Float[Array, ""]:
        predicted = _predict(spec, weights, hyper, x, offset)
        losses = measure_losses(spec.loss, predicted, y, units)
        return jnp.mean(losses if weight is None else losses * weight)

    loss, gradient = jax.value_and_grad(data_loss)(state.weights)
    running = state.status == RUNNING
    due, kept = running, None
    if spec.accumulate:
        gradient = jax.tree.map(jnp.add, state.gradient, gradient)
        full = (number + 1) % hyper.accumulation_steps == 0
        due = running & full
        kept = jax.tree.map(lambda g: jnp.where(full, 0.0, g), gradient)
        gradient = jax.tree.map(lambda g: g / hyper.accumulation_steps, gradient)
    slope = penalty_slope(state.weights, hyper.l1, hyper.l2, _threshold(state, hyper))
    gradient = jax.tree.map(jnp.add, gradient, slope)
    rates = find_rates(
        spec.optimisers,
        hyper.optimiser,
        state.moments.steps,
        learning_rate=_rate(state, hyper),
    )
    weights, moments = descend(rates, due, gradient, state.moments, state.weights)
    return state._replace(weights=weights, moments=moments, gradient=kept), loss


def _check_net(
    spec: CompileSpec,
    units: Units,
    state: NetState,
    hyper: Hyperparameters,
    validation: ValidationSet,
) -> NetState:
    """The end of an epoch: validation, early stopping and status."""
    loss, error = _validate(spec, units, state.weights, hyper, validation)
    cost = loss + penalty(state.weights, hyper.l1, hyper.l2, _threshold(state, hyper))
    better = cost < state.best * hyper.tolerance
    bad_epochs = jnp.where(better | (state.epoch < hyper.anneal_start), 0, state.bad_epochs + 1)
    epoch = state.epoch + 1
    status = jnp.where(epoch >= hyper.epochs, EXHAUSTED, RUNNING)
    status = jnp.where(bad_epochs >= hyper.patience, CONVERGED, status)
    status = jnp.where(jnp.isfinite(cost), status, DIVERGED)
    checked = state._replace(
        best=jnp.where(better, cost, state.best),
        bad_epochs=bad_epochs,
        epoch=epoch,
        status=status,
        validation_loss=loss,
        validation_error=error,
    )
    running = state.status == RUNNING
    return jax.tree.map(lambda new, old: jnp.where(running, new, old), checked, state)


def _threshold(state: NetState, hyper: Hyperparameters) -> Float[Array, ""]:
    """The threshold of the penalty: none before training anneals."""
    return jnp.where(state.epoch < hyper.anneal_start, jnp.inf, hyper.mcp_threshold)


def _rate(state: NetState, hyper: Hyperparameters) -> Float[Array, ""]:
    """The learning rate, which falls geometrically while training anneals."""
    left = jnp.maximum(hyper.epochs - hyper.anneal_start, 1)
    progress = jnp.clip((state.epoch - hyper.anneal_start) / left, 0.0, 1.0)
    return hyper.learning_rate * hyper.final_lr_factor**progress


def _validate(
    spec: CompileSpec,
    units: Units,
    weights: Weights,
    hyper: Hyperparameters,
    validation: ValidationSet,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Mean loss in the networks' units and mean error in the user's, portion by portion."""

    def add(
        totals: tuple[Array, Array], portion: ValidationSet
    ) -> tuple[tuple[Array, Array], None]:
        predicted = _predict(spec, weights, hyper, portion.x, portion.offset)
        losses = measure_losses(spec.loss, predicted, portion.y, units)  # [output, sample]
        losses = losses if portion.weight is None else losses * portion.weight
        loss = jnp.sum(losses.mean(axis=0) * portion.sample_weight)
        errors = losses * units.std[:, None] ** 2 if spec.loss == "mse" else losses
        error = jnp.sum(errors.mean(axis=0) * portion.sample_weight)
        return (totals[0] + loss, totals[1] + error), None

    return jax.lax.scan(add, (jnp.float32(0), jnp.float32(0)), validation)[0]


def _predict(
    spec: CompileSpec,
    weights: Weights,
    hyper: Hyperparameters,
    x: Float[Array, "input sample"],
    offset: Float[Array, "output sample"] | None,
) -> Float[Array, "output sample"]:
    def activation(z: Float[Array, "hidden sample"]) -> Float[Array, "hidden sample"]:
        return activate(spec.activations, hyper.activation, z)

    node_mask = hyper.node_mask if spec.padded else None
    raw = run_net(weights, activation, x, fused_inputs=spec.fused_inputs, node_mask=node_mask)
    return raw if offset is None else raw + offset


def measure_losses(
    loss: str,
    raw: Float[Array, "output sample"],
    y: Float[Array, "output sample"],
    units: Units,
) -> Float[Array, "output sample"]:
    """What `Likelihood.measure` does, within a compiled program."""
    if loss == "mse":
        return (raw - y) ** 2
    if loss == "bce":
        return jax.nn.softplus(raw) - y * raw
    return jnp.asarray(measure_mixed(jnp, raw, y, units))
