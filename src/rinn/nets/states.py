"""What is fixed when a batch of networks is compiled, and what changes while it is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from jaxtyping import Float, Int

from rinn.nets.optimisers import Moments

RUNNING, CONVERGED, EXHAUSTED, DIVERGED = range(4)
STATUS_NAMES = ("running", "converged", "exhausted", "diverged")


@dataclass(frozen=True)
class CompileSpec:
    """What is fixed when a batch of networks is compiled.

    Samples arrive in micro-batches; a network whose batch size is a multiple of it accumulates the
    gradients of several before it takes a step, so that networks of several batch sizes run in one
    program. `padded`: some layers are narrower than their arrays; `fused_inputs`: see `run_net`.
    """

    loss: str
    activations: tuple[str, ...]
    optimisers: tuple[str, ...]
    micro_batch: int
    accumulate: bool = False
    padded: bool = False
    fused_inputs: bool = False


class Hyperparameters(NamedTuple):
    """The settings of one network that may differ within a batch, as numbers."""

    learning_rate: Float[Any, ""]
    l1: Float[Any, ""]
    l2: Float[Any, ""]
    activation: Int[Any, ""]
    optimiser: Int[Any, ""]
    accumulation_steps: Int[Any, ""]
    epochs: Int[Any, ""]
    patience: Int[Any, ""]
    tolerance: Float[Any, ""]
    anneal_start: Int[Any, ""]
    mcp_threshold: Float[Any, ""]
    final_lr_factor: Float[Any, ""]
    node_mask: Float[Any, "layer hidden"]


class NetState(NamedTuple):
    """One network in the middle of its training."""

    weights: Any
    moments: Moments
    gradient: Any
    best: Float[Any, ""]
    bad_epochs: Int[Any, ""]
    epoch: Int[Any, ""]
    status: Int[Any, ""]
    train_loss: Float[Any, ""]
    validation_loss: Float[Any, ""]
    validation_error: Float[Any, ""]


class Losses(NamedTuple):
    """Losses by epoch of a segment; those of stopped networks are repeated."""

    train: Float[Any, "epoch split net"]
    validation: Float[Any, "epoch split net"]


class ValidationSet(NamedTuple):
    """The validation samples of one split in equal portions; `sample_weight` sums to one."""

    x: Float[Any, "portion input sample"]
    y: Float[Any, "portion output sample"]
    sample_weight: Float[Any, "portion sample"]
    offset: Float[Any, "portion output sample"] | None = None
    weight: Float[Any, "portion output sample"] | None = None
