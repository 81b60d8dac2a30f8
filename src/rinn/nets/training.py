"""Many networks at once: the compiled program that trains a batch of them for some epochs.

The network is written for one; `vmap` adds the net axis, a second `vmap` the split axis, and
`scan` the steps. Nothing here knows of files, searches or trials.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rinn.data.likelihoods import Units, measure_mixed
from rinn.nets import optimisers
from rinn.nets.activations import activate
from rinn.nets.redundant import Weights, penalty, penalty_slope, run_net

RUNNING, CONVERGED, EXHAUSTED, DIVERGED = range(4)
MANY_WEIGHTS = 2_000_000
STATUS_NAMES = ("running", "converged", "exhausted", "diverged")


@dataclass(frozen=True)
class Program:
    """What is fixed when a batch of networks is compiled.

    Samples arrive in portions of `tick`; a network whose batch size is a multiple of it adds the
    gradients of several portions up (`accumulate`) before it takes a step, so that networks of
    several batch sizes run in one program. `padded` says that some layers are narrower than the
    arrays that hold them; `wide` is explained in `run_net`.
    """

    loss: str
    activations: tuple[str, ...]
    optimisers: tuple[str, ...]
    tick: int
    accumulate: bool = False
    padded: bool = False
    wide: bool = False


class Traits(NamedTuple):
    """The settings of one network that may differ within a batch, as numbers."""

    learning_rate: Float[Any, ""]
    l1: Float[Any, ""]
    l2: Float[Any, ""]
    activation: Int[Any, ""]
    optimiser: Int[Any, ""]
    ticks: Int[Any, ""]
    epochs: Int[Any, ""]
    patience: Int[Any, ""]
    tolerance: Float[Any, ""]
    settles_at: Int[Any, ""]
    knee: Float[Any, ""]
    cooling: Float[Any, ""]
    alive: Float[Any, "layer hidden"]


class NetState(NamedTuple):
    """One network in the middle of its training."""

    weights: Weights
    memory: tuple[Any, ...]
    gradient: Any
    best: Float[Any, ""]
    stale: Int[Any, ""]
    epoch: Int[Any, ""]
    status: Int[Any, ""]
    train_loss: Float[Any, ""]
    validation_loss: Float[Any, ""]
    validation_error: Float[Any, ""]


class Losses(NamedTuple):
    """What networks lost in each epoch of a segment; of those that had stopped, the last again."""

    train: Float[Any, "epoch split net"]
    validation: Float[Any, "epoch split net"]


class Held(NamedTuple):
    """The validation samples of one split in equal portions; `share` sums to one."""

    x: Float[Any, "portion input sample"]
    y: Float[Any, "portion output sample"]
    share: Float[Any, "portion sample"]
    offset: Float[Any, "portion output sample"] | None = None
    weight: Float[Any, "portion output sample"] | None = None


def start_net(program: Program, weights: Weights) -> NetState:
    """One network before its first epoch."""
    zero, none = jnp.float32(0), jnp.int32(0)
    return NetState(
        weights=weights,
        memory=optimisers.start(program.optimisers, weights),
        gradient=jax.tree.map(jnp.zeros_like, weights) if program.accumulate else None,
        best=jnp.float32(jnp.inf),
        stale=none,
        epoch=none,
        status=none,
        train_loss=zero,
        validation_loss=zero,
        validation_error=zero,
    )


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def train_segment(
    program: Program,
    state: NetState,
    traits: Traits,
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    units: Units,
    order: Int[Array, "epoch split use"],
    held: Held,
    offset: Float[Array, "split output sample"] | None = None,
    weight: Float[Array, "output sample"] | None = None,
) -> tuple[NetState, Losses]:
    """Train every network of [split, net] arrays for as many epochs as `order` has."""
    step = _over_nets(functools.partial(_step_net, program, units), shared=5)
    check = _over_nets(functools.partial(_check_net, program, units), shared=1)
    # Going round the loop costs a GPU 5 % of a step of many networks; unrolling pays for those.
    size = sum(leaf.size for leaf in jax.tree.leaves(state.weights))
    unroll = 4 if program.wide and size >= MANY_WEIGHTS else 1

    def run_epoch(state: NetState, uses: Int[Array, "split use"]) -> tuple[NetState, Losses]:
        xs, ys = _portion(x, uses, program.tick), _portion(y, uses, program.tick)
        numbers = jnp.broadcast_to(jnp.arange(len(xs))[:, None], xs.shape[:2])  # [tick, split]
        added = None if offset is None else _portion_each(offset, uses, program.tick)
        weights = None if weight is None else _portion(weight, uses, program.tick)
        state = state._replace(gradient=jax.tree.map(jnp.zeros_like, state.gradient))

        def run_tick(state: NetState, portion: Any) -> tuple[NetState, Array]:
            return step(state, traits, *portion)

        state, losses = jax.lax.scan(
            run_tick, state, (xs, ys, numbers, added, weights), unroll=unroll
        )
        # Portions left over at the end fill no batch, and do not count.
        used = len(xs) // traits.ticks * traits.ticks  # [split, net]
        counts = jnp.arange(len(xs))[:, None, None] < used
        mean = jnp.sum(losses, axis=0, where=counts) / used
        mean = jnp.where(state.status == RUNNING, mean, state.train_loss)
        state = check(state._replace(train_loss=mean), traits, held)
        return state, Losses(state.train_loss, state.validation_loss)

    return jax.lax.scan(run_epoch, state, order)


def _over_nets(function: Any, shared: int) -> Any:
    """Map a one-network function of (state, traits, shared...) over [split, net]."""
    over_nets = jax.vmap(function, in_axes=(0, 0) + (None,) * shared)
    return jax.vmap(over_nets, in_axes=(0, 0) + (0,) * shared)


def _portion(
    values: Float[Array, "column sample"], uses: Int[Array, "split use"], tick: int
) -> Float[Array, "tick split column portion"]:
    splits, used = uses.shape
    taken = values[:, uses].reshape(len(values), splits, used // tick, tick)
    return taken.transpose(2, 1, 0, 3)


def _portion_each(
    values: Float[Array, "split column sample"], uses: Int[Array, "split use"], tick: int
) -> Float[Array, "tick split column portion"]:
    """As `_portion`, where every split has values of its own."""
    splits, used = uses.shape
    taken = jnp.take_along_axis(values, uses[:, None], axis=2)  # [split, column, use]
    return taken.reshape(splits, -1, used // tick, tick).transpose(2, 0, 1, 3)


def _step_net(
    program: Program,
    units: Units,
    state: NetState,
    traits: Traits,
    x: Float[Array, "input sample"],
    y: Float[Array, "output sample"],
    number: Int[Array, ""],
    offset: Float[Array, "output sample"] | None,
    weight: Float[Array, "output sample"] | None,
) -> tuple[NetState, Float[Array, ""]]:
    """One portion of samples for one network, and a step where its batch is full."""

    def data_loss(weights: Weights) -> Float[Array, ""]:
        predicted = _predict(program, weights, traits, x, offset)
        losses = measure_losses(program.loss, predicted, y, units)
        return jnp.mean(losses if weight is None else losses * weight)

    loss, gradient = jax.value_and_grad(data_loss)(state.weights)
    running = state.status == RUNNING
    due, kept = running, None
    if program.accumulate:
        gradient = jax.tree.map(jnp.add, state.gradient, gradient)
        full = (number + 1) % traits.ticks == 0
        due = running & full
        kept = jax.tree.map(lambda g: jnp.where(full, 0.0, g), gradient)
        gradient = jax.tree.map(lambda g: g / traits.ticks, gradient)
    priced = penalty_slope(state.weights, traits.l1, traits.l2, _knee(state, traits))
    gradient = jax.tree.map(jnp.add, gradient, priced)
    weights, memory = optimisers.descend(
        program.optimisers,
        traits.optimiser,
        due,
        _rate(state, traits),
        gradient,
        state.memory,
        state.weights,
    )
    return state._replace(weights=weights, memory=memory, gradient=kept), loss


def _check_net(
    program: Program, units: Units, state: NetState, traits: Traits, held: Held
) -> NetState:
    """The end of an epoch: validation loss, early stopping, status."""
    loss, error = _validate(program, units, state.weights, traits, held)
    cost = loss + penalty(state.weights, traits.l1, traits.l2, _knee(state, traits))
    better = cost < state.best * traits.tolerance
    stale = jnp.where(better | (state.epoch < traits.settles_at), 0, state.stale + 1)
    epoch = state.epoch + 1
    status = jnp.where(epoch >= traits.epochs, EXHAUSTED, RUNNING)
    status = jnp.where(stale >= traits.patience, CONVERGED, status)
    status = jnp.where(jnp.isfinite(cost), status, DIVERGED)
    checked = state._replace(
        best=jnp.where(better, cost, state.best),
        stale=stale,
        epoch=epoch,
        status=status,
        validation_loss=loss,
        validation_error=error,
    )
    running = state.status == RUNNING
    return jax.tree.map(lambda new, old: jnp.where(running, new, old), checked, state)


def _knee(state: NetState, traits: Traits) -> Float[Array, ""]:
    """Where the penalty bends now: nowhere before the network settles."""
    return jnp.where(state.epoch < traits.settles_at, jnp.inf, traits.knee)


def _rate(state: NetState, traits: Traits) -> Float[Array, ""]:
    """The learning rate now: it falls evenly, in its logarithm, while the network settles."""
    left = jnp.maximum(traits.epochs - traits.settles_at, 1)
    way = jnp.clip((state.epoch - traits.settles_at) / left, 0.0, 1.0)
    return traits.learning_rate * traits.cooling**way


def _validate(
    program: Program,
    units: Units,
    weights: Weights,
    traits: Traits,
    held: Held,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Mean loss in the networks' units and mean error in the user's, portion by portion."""

    def add(totals: tuple[Array, Array], portion: Held) -> tuple[tuple[Array, Array], None]:
        predicted = _predict(program, weights, traits, portion.x, portion.offset)
        losses = measure_losses(program.loss, predicted, portion.y, units)  # [output, sample]
        losses = losses if portion.weight is None else losses * portion.weight
        loss = jnp.sum(losses.mean(axis=0) * portion.share)
        errors = losses * units.std[:, None] ** 2 if program.loss == "mse" else losses
        error = jnp.sum(errors.mean(axis=0) * portion.share)
        return (totals[0] + loss, totals[1] + error), None

    return jax.lax.scan(add, (jnp.float32(0), jnp.float32(0)), held)[0]


def _predict(
    program: Program,
    weights: Weights,
    traits: Traits,
    x: Float[Array, "input sample"],
    offset: Float[Array, "output sample"] | None,
) -> Float[Array, "output sample"]:
    def activation(z: Float[Array, "hidden sample"]) -> Float[Array, "hidden sample"]:
        return activate(program.activations, traits.activation, z)

    alive = traits.alive if program.padded else None
    found = run_net(weights, activation, x, wide=program.wide, alive=alive)
    return found if offset is None else found + offset


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
