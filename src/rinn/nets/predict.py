"""What trained networks say about samples: predictions, activities, test error and AUROC."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rinn.data.likelihoods import BINARY, Likelihood
from rinn.data.problem import Problem, add_offset, weigh_observed
from rinn.nets.groups import TrainedNet
from rinn.nets.maps import NetMaps, map_net
from rinn.nets.redundant import ACTIVATIONS, Weights, run_hidden, run_net


@dataclass(frozen=True)
class NetView:
    """What one network says: its maps and the spread of its hidden nodes over the samples."""

    maps: NetMaps
    spread: Float[np.ndarray, "layer hidden"]


@dataclass(frozen=True)
class TestScores:
    """Error and AUROC of each network on the test samples.

    The error is the mean squared error in the user's units, the binary cross-entropy, or the mean
    deviance of outputs of several kinds; AUROC the mean over outputs that show both classes.
    """

    error: tuple[float, ...]
    auroc: tuple[float, ...] | None

    def to_json(self) -> dict[str, object]:
        """Mean and standard deviation over the networks."""
        result: dict[str, object] = {"error": _spread(self.error), "auroc": None}
        if self.auroc is not None:
            result["auroc"] = _spread(self.auroc)
        return result


def predict_net(
    net: TrainedNet, x: Float[np.ndarray, "input sample"]
) -> Float[np.ndarray, "output sample"]:
    """Outputs of one network in its own units: logits, or standardised values."""
    with on_cpu():
        return np.asarray(run_net(net.weights, ACTIVATIONS[net.trial.net.activation], x))


def predict_samples(
    nets: Sequence[TrainedNet],
    x: Float[np.ndarray, "input sample"],
    likelihood: Likelihood,
    offset: Float[np.ndarray, "split output sample"] | None = None,
) -> Float[np.ndarray, "net sample output"]:
    """Predictions of each network in the user's units, with the offset of covariates."""
    raw = np.stack([predict_net(net, x).T for net in nets]).astype(np.float64)
    if offset is not None:
        raw = raw + np.stack([offset[net.trial.split].T for net in nets])
    return likelihood.to_units(raw)


def find_activities(
    net: TrainedNet, x: Float[np.ndarray, "input sample"]
) -> Float[np.ndarray, "layer hidden sample"]:
    """The value of every hidden node of one network for every sample."""
    with on_cpu():
        from_inputs = [part @ x for part in net.weights.inputs]
        return np.stack(run_hidden(net.weights, ACTIVATIONS[net.trial.net.activation], from_inputs))


def move_inputs(
    nets: Sequence[TrainedNet],
    x: Float[np.ndarray, "input sample"],
    which: np.ndarray,
    low: Float[np.ndarray, "*move"],
    high: Float[np.ndarray, "*move"],
) -> Float[np.ndarray, "move output sample"]:
    """The mean network's output with an input at `high` less that at `low`, for each move."""
    low, high = (np.broadcast_to(end, which.shape).astype(np.float32) for end in (low, high))
    total: np.ndarray | float = 0.0
    with on_cpu():
        for net in nets:
            moved = np.asarray(_move(net.trial.net.activation, net.weights, x, which, low, high))
            total = total + moved.astype(np.float64)
    return np.asarray(total / len(nets))


@functools.partial(jax.jit, static_argnums=0)
def _move(
    activation: str,
    weights: Weights,
    x: Float[Array, "input sample"],
    which: Array,
    low: Float[Array, " move"],
    high: Float[Array, " move"],
) -> Float[Array, "move output sample"]:
    """The outputs with an input at `high` less those with it at `low`, for each of `which`."""
    at_rest = jnp.einsum("lhi,is->lhs", weights.inputs, x)

    def run(i: Array, value: Array) -> Float[Array, "output sample"]:
        moved = at_rest + weights.inputs[:, :, i, None] * (value - x[i])
        h = run_hidden(weights, ACTIVATIONS[activation], moved)[-1]
        return weights.output @ h  # the bias is the same on both sides

    return jax.vmap(lambda i, a, b: run(i, b) - run(i, a))(which, low, high)


def view_net(net: TrainedNet, problem: Problem) -> NetView:
    """Maps of one network, and how much its hidden nodes vary outside the test set."""
    maps = map_trained(net)
    values = find_activities(net, problem.x[:, problem.seen])[-len(maps.hidden) :]
    return NetView(maps, values.std(axis=2))


def map_trained(net: TrainedNet) -> NetMaps:
    """Maps of one network; of an autoencoder those of its decoder."""
    return map_net(net.weights, decoder=net.trial.net.kind == "belief")


def score_test(nets: Sequence[TrainedNet], problem: Problem) -> TestScores:
    """Measure networks on the test samples."""
    x = problem.x[:, problem.test]
    return score_predictions([_predict_test(net, problem, x) for net in nets], problem)


def score_predictions(
    predicted: Iterable[Float[np.ndarray, "output sample"]], problem: Problem
) -> TestScores:
    """Measure predictions of the test samples, each in the networks' units; see `score_test`."""
    y = problem.y[:, problem.test].astype(np.float64)
    weight = weigh_observed(problem, problem.test)
    binary = problem.likelihood.find(BINARY)
    errors, areas = [], []
    for raw in predicted:
        if problem.loss == "mse":
            each = ((raw - y) * problem.y_scale.std[:, None]) ** 2
        else:
            each = problem.likelihood.measure(raw, y)
        errors.append(float(np.mean(each * weight)))
        areas.append(_auroc(problem, y[binary], raw[binary], binary))
    observed = binary.any() and not np.isnan(areas).all()
    return TestScores(tuple(errors), tuple(areas) if observed else None)


def find_test_losses(
    nets: Sequence[TrainedNet], problem: Problem
) -> Float[np.ndarray, "net sample"]:
    """The loss of each network for each test sample, in the networks' units."""
    x, y = problem.x[:, problem.test], problem.y[:, problem.test].astype(np.float64)
    weight = weigh_observed(problem, problem.test)
    losses = []
    for net in nets:
        each = problem.likelihood.measure(_predict_test(net, problem, x), y)  # [output, sample]
        losses.append((each * weight).mean(axis=0))
    return np.stack(losses)


def _predict_test(
    net: TrainedNet, problem: Problem, x: Float[np.ndarray, "input sample"]
) -> Float[np.ndarray, "output sample"]:
    """Outputs for the test samples in the networks' units, with the offset of covariates."""
    raw = predict_net(net, x).astype(np.float64)
    return add_offset(problem, net.trial.split, problem.test, raw)


def _auroc(
    problem: Problem,
    y: Float[np.ndarray, "output sample"],
    raw: Float[np.ndarray, "output sample"],
    binary: np.ndarray,
) -> float:
    """The mean over binary outputs of which the test samples show both classes."""
    from sklearn.metrics import roc_auc_score  # late: long to load, and for 0/1 outputs only

    observed = np.ones(y.shape, bool)
    if problem.observed is not None:
        observed = problem.observed[binary][:, problem.test]
    areas = []
    for value, guess, rows in zip(y, raw, observed, strict=True):
        is_one = value[rows] > 0  # whatever its scale, a 1 lies above its mean
        if is_one.any() and not is_one.all():
            areas.append(roc_auc_score(is_one, guess[rows]))
    return float(np.mean(areas)) if areas else float("nan")


def on_cpu() -> AbstractContextManager[object]:
    """A context for small work in exact float32, which a GPU would round."""
    try:
        return jax.default_device(jax.local_devices(backend="cpu")[0])
    except RuntimeError:  # JAX was told to have no CPU
        return nullcontext()


def _spread(values: Sequence[float]) -> dict[str, float]:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {"mean": float(np.mean(values)), "sd": sd}
