"""Trained networks in files: checkpoints of a search in progress, and the kept ones at its end."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors.numpy
from safetensors import safe_open

from rinn.config import Trial, read_net
from rinn.errors import InputError
from rinn.files import replace_file
from rinn.nets.curves import NO_CURVE
from rinn.nets.groups import SavedBatch, TrainedNet
from rinn.nets.redundant import Weights
from rinn.runs.manifest import read_record

WEIGHTS = "weights.safetensors"
RESULTS = ("train_loss", "validation_loss", "validation_error")
_T = TypeVar("_T")


class Checkpoints:
    """The networks of a search in a run folder: `Saver` of `run_search`."""

    def __init__(self, folder: Path, trials: Iterable[Trial]) -> None:
        self.folder = folder
        self._trials = {trial.number: trial for trial in trials}

    def load_finished(self, group: int) -> list[TrainedNet] | None:
        """The networks of a group that is done, or None."""
        return _read_arrays(self._path("nets", group), self._unpack_nets)

    def save_finished(self, group: int, nets: list[TrainedNet]) -> None:
        """Keep a group that is done; its batch in progress is then no longer needed."""
        _write_arrays(self._path("nets", group), _pack_nets(nets))
        self._path("work", group).unlink(missing_ok=True)

    def load_batch(self, group: int) -> tuple[SavedBatch, list[TrainedNet]] | None:
        """A group's batch and its finished networks, or None."""
        return _read_arrays(self._path("work", group), self._unpack_batch)

    def save_batch(self, group: int, batch: SavedBatch, nets: list[TrainedNet]) -> None:
        """Keep a group in the middle of its training."""
        arrays = {f"leaf.{i}": leaf for i, leaf in enumerate(batch.leaves)}
        arrays |= {"members": batch.members, "epoch": np.array(batch.epoch)}
        arrays |= {"leaves": np.array(len(batch.leaves))}
        arrays |= {"curves": np.concatenate(batch.curves)} if batch.curves else {}
        _write_arrays(self._path("work", group), arrays | _pack_nets(nets))

    def _path(self, kind: str, group: int) -> Path:
        return self.folder / kind / f"{group:04d}.npz"

    def _unpack_batch(self, arrays: dict[str, np.ndarray]) -> tuple[SavedBatch, list[TrainedNet]]:
        leaves = [arrays[f"leaf.{i}"] for i in range(int(arrays["leaves"]))]
        curves = (arrays["curves"],) if "curves" in arrays else ()
        saved = SavedBatch(arrays["members"], leaves, int(arrays["epoch"]), curves)
        return saved, self._unpack_nets(arrays)

    def _unpack_nets(self, arrays: dict[str, np.ndarray]) -> list[TrainedNet]:
        return [
            TrainedNet(
                trial=self._trials[int(number)],
                weights=Weights(*(arrays[f"net.{i}.{part}"] for part in Weights._fields)),
                status=str(arrays["nets.status"][i]),
                epochs=int(arrays["nets.epochs"][i]),
                **{name: float(arrays[f"nets.{name}"][i]) for name in RESULTS},
                curve=arrays.get(f"net.{i}.curve", NO_CURVE),
            )
            for i, number in enumerate(arrays["nets.trial"])
        ]


def _pack_nets(nets: Sequence[TrainedNet]) -> dict[str, np.ndarray]:
    arrays = {
        "nets.trial": np.array([net.trial.number for net in nets], np.int64),
        "nets.status": np.array([net.status for net in nets], "U16"),
        "nets.epochs": np.array([net.epochs for net in nets], np.int64),
    }
    for name in RESULTS:
        arrays[f"nets.{name}"] = np.array([getattr(net, name) for net in nets], np.float64)
    for i, net in enumerate(nets):
        parts = net.weights._asdict() | {"curve": net.curve}
        arrays |= {f"net.{i}.{part}": value for part, value in parts.items()}
    return arrays


def _write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    replace_file(path, content.getbuffer())


def _read_arrays(path: Path, unpack: Callable[[dict[str, np.ndarray]], _T]) -> _T | None:
    """Read a file of arrays; None where it is missing or damaged, to train its networks again."""
    try:
        content = io.BytesIO(path.read_bytes())
        # Given a path, np.load would leave the file open where it is not an archive.
        with np.load(content, allow_pickle=False) as arrays:
            return unpack(dict(arrays))
    except (OSError, EOFError, LookupError, ValueError, TypeError, zipfile.BadZipFile, zlib.error):
        return None


@dataclass(frozen=True)
class _KeptNet:
    """What weights.safetensors says of a network."""

    trial: int
    setting: int
    split: int
    net: dict[str, Any]
    status: str
    epochs: int
    train_loss: Any  # may be NaN
    validation_loss: Any
    validation_error: Any


def save_kept(path: Path, nets: Sequence[TrainedNet], notes: dict[str, Any]) -> None:
    """Write the kept networks as safetensors, with settings and scales as JSON text."""
    arrays = {
        f"{net.trial.number}.{part}": np.ascontiguousarray(value)
        for net in nets
        for part, value in net.weights._asdict().items()
    }
    about = {"nets": [_describe(net) for net in nets], "notes": notes}
    # One entry: safetensors writes several in an order that changes from call to call.
    replace_file(path, safetensors.numpy.save(arrays, metadata={"rinn": json.dumps(about)}))


def load_kept(path: Path) -> tuple[list[TrainedNet], dict[str, Any]]:
    """Read what `save_kept` wrote."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads(file.metadata()["rinn"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        notes: dict[str, Any] = read_record(dict[str, Any], about["notes"])
        kept = read_record(tuple[_KeptNet, ...], about["nets"])
        return [_restore(entry, arrays) for entry in kept], notes
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError):
        raise InputError(
            f"RUN must hold the weights of its kept networks, but {path.name} is missing or "
            f"damaged; finish the run with 'rinn fit', or make the run again"
        ) from None


def _describe(net: TrainedNet) -> dict[str, Any]:
    """The fields of `_KeptNet`."""
    trial = net.trial
    names = {"trial": trial.number, "setting": trial.setting, "split": trial.split}
    results = {name: getattr(net, name) for name in ("status", "epochs", *RESULTS)}
    return names | {"net": dict(vars(trial.net))} | results


def _restore(entry: _KeptNet, arrays: dict[str, np.ndarray]) -> TrainedNet:
    weights = Weights(*(arrays[f"{entry.trial}.{part}"] for part in Weights._fields))
    _check_weights(weights)
    return TrainedNet(
        trial=Trial(entry.trial, entry.setting, entry.split, read_net(entry.net)),
        weights=weights,
        status=entry.status,
        epochs=entry.epochs,
        **{name: float(getattr(entry, name)) for name in RESULTS},
        curve=NO_CURVE,
    )


def _check_weights(weights: Weights) -> None:
    """Raise ValueError where the arrays of a network do not fit together."""
    layers, width = weights.bias.shape
    readers, nodes, _ = weights.inputs.shape
    outputs = len(weights.output)
    fits = readers in (1, layers) and nodes == width
    fits &= weights.hidden.shape == (layers - 1, width, width)
    fits &= weights.output.shape == (outputs, width) and weights.output_bias.shape == (outputs,)
    fits &= all(part.dtype.kind == "f" and np.isfinite(part).all() for part in weights)
    if not fits:
        raise ValueError("weights must be finite numbers of shapes that fit together")
