"""The run folder: write, read, resume.

A run folder holds manifest.json, trials.csv, weights.safetensors, graph.json, graph.graphml,
edges.csv, refit.json, activity.csv, effects.csv, curves.csv, scores.json and report.html; while
networks are trained also `work/` (groups in progress) and `nets/` (groups that are done). The
manifest is written first. Every file is replaced whole, so that a run that is killed at any moment
can go on. Only files with names that a run gives are ever removed, and only beside its manifest.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np
import pandas as pd
import safetensors.numpy
from safetensors import safe_open

from rinn.config import Trial, read_net
from rinn.errors import InputError
from rinn.files import (
    encode_table,
    holds_manifest,
    lock_folder,
    make_folder,
    read_file,
    remove_files,
    remove_parts,
    replace_file,
)
from rinn.nets.curves import NO_CURVE
from rinn.nets.groups import BatchState, SavedBatch, TrainedNet
from rinn.nets.redundant import Weights

FORMAT = 1
MANIFEST = "manifest.json"
WEIGHTS = "weights.safetensors"
IDENTITY = ("format", "settings", "data")
WORK = ("work", "nets")
_WORK_FILE = re.compile(r"[0-9]{4,}\.npz|null[0-9]{5,}\.npy")
_T = TypeVar("_T")
RESULTS = ("train_loss", "validation_loss", "validation_error")

_SPREAD = {"mean": float, "sd": float}
_SCORE = {"precision?": float, "recall?": float, "f1": float}
_TEST = {"loss": str, "samples": int, "error": _SPREAD, "auroc?": (_SPREAD, None)}
_SENTENCE = {"sentence": str}
# What a manifest says, as `has_shape` checks it; those of `rinn tci` have other tables.
_MANIFEST: dict[str, Any] = {
    "status?": str,
    "settings": dict,
    "data": {"*": str},
    "created?": str,
    "seconds?": float,
    "command?": [str],
    "plan?": str,
    "versions?": {"rinn?": str},
    "device?": {"platform": str, "kind?": str, "count?": int},
    "tables?": {
        "x?": str,
        "y?": str,
        "samples?": int,
        "inputs?": [str],
        "outputs?": [str],
        "dropped?": [{"table": str, "name": str, "reason": str}],
    },
    "warnings?": [str],
    "effects?": {"source": str, "sentence": str},
    "fit?": _SENTENCE | {"chi2": float, "df": int, "p": float},
    "networks?": {"trained?": int, "sets?": int, "kept?": [int], "nearest?": [int]},
    "test?": (_TEST, None),
    "test_of_ten?": (_TEST, None),
    "outputs?": _SENTENCE,
    "covariates?": _SENTENCE | {"notes?": [str]},
    "comparison?": {"sentence?": str, "carries?": bool},
    "null?": _SENTENCE,
    "prior?": {
        "sentence?": str,
        "account?": [str],
        "dropped_inputs?": [str],
        "counts?": {"contradictions?": int},
        "contradictions?": [
            {"input": str, "output": str, "says": str, "evidence": float, "without": float,
             "reported": bool},
        ],
    },
    "scores?": {
        "paper?": {
            "hidden": _SCORE | {"threshold?": (float, None)},
            "input?": (_SCORE | {"threshold?": (float, None)}, None),
            "threshold?": (float, None),
        },
        "graph": {
            "latents": _SCORE,
            "edges": _SCORE,
            "latent_edges?": (_SCORE, None),
            "shd?": int,
            "order_errors?": int,
            "twins?": int,
            "twins_found?": int,
        },
    },
}  # fmt: skip
_KEPT = {
    "nets": [
        {"trial": int, "setting": int, "split": int, "net": dict, "status": str, "epochs": int}
        | dict.fromkeys(RESULTS, Real)
    ],
    "notes": {"loss?": str},
}


class RunFolder:
    """One run's folder, locked while it is open; `Saver` of the search."""

    def __init__(self, folder: Path, trials: Sequence[Trial]) -> None:
        self.folder = folder
        self._trials = {trial.number: trial for trial in trials}

    def load_finished(self, group: int) -> list[TrainedNet] | None:
        """The networks of a group that is done, or None."""
        return _read_arrays(self._group("nets", group), self._unpack_nets)

    def save_finished(self, group: int, nets: list[TrainedNet]) -> None:
        """Keep a group that is done; its batch in progress is then no longer needed."""
        _write_arrays(self._group("nets", group), _pack_nets(nets))
        self._group("work", group).unlink(missing_ok=True)

    def load_batch(self, group: int) -> tuple[SavedBatch, list[TrainedNet]] | None:
        """A group's batch and its finished networks, or None."""
        return _read_arrays(self._group("work", group), self._unpack_batch)

    def save_batch(self, group: int, batch: BatchState, nets: list[TrainedNet]) -> None:
        """Keep a group in the middle of its training."""
        leaves = jax.tree.leaves(batch.state)
        arrays = {f"state.{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        arrays |= {"members": batch.members, "epoch": np.array(batch.epoch)}
        arrays |= {"leaves": np.array(len(leaves))}
        arrays |= {"curves": np.concatenate(batch.curves)} if batch.curves else {}
        _write_arrays(self._group("work", group), arrays | _pack_nets(nets))

    def write_json(self, name: str, value: dict[str, Any]) -> None:
        """Write a JSON file of the run."""
        text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        # A path that is not UTF-8 has lone surrogates, which JSON spells as backslashreplace does.
        replace_file(self.folder / name, text.encode(errors="backslashreplace"))

    def write_table(self, name: str, table: pd.DataFrame) -> None:
        """Write a CSV file of the run."""
        replace_file(self.folder / name, encode_table(table))

    def discard_work(self) -> None:
        """Remove the networks that were not kept, once everything else is written."""
        for name in WORK:
            folder = self.folder / name
            remove_files(folder, _WORK_FILE)
            remove_parts(folder)
            with contextlib.suppress(OSError):  # what is not the run's own stays
                folder.rmdir()

    def _group(self, kind: str, group: int) -> Path:
        return self.folder / kind / f"{group:04d}.npz"

    def _unpack_batch(self, arrays: dict[str, np.ndarray]) -> tuple[SavedBatch, list[TrainedNet]]:
        leaves = [arrays[f"state.{i}"] for i in range(int(arrays["leaves"]))]
        curves = (arrays["curves"],) if "curves" in arrays else ()
        saved = SavedBatch(arrays["members"], leaves, int(arrays["epoch"]), curves)
        return saved, self._unpack_nets(arrays)

    def _unpack_nets(self, arrays: dict[str, np.ndarray]) -> list[TrainedNet]:
        nets = []
        for place, number in enumerate(arrays["nets.trial"]):
            scalars = {name: float(arrays[f"nets.{name}"][place]) for name in RESULTS}
            parts = (arrays[f"net.{place}.{part}"] for part in Weights._fields)
            nets.append(
                TrainedNet(
                    trial=self._trials[int(number)],
                    weights=Weights(*parts),
                    status=str(arrays["nets.status"][place]),
                    epochs=int(arrays["nets.epochs"][place]),
                    **scalars,
                    curve=arrays.get(f"net.{place}.curve", NO_CURVE),
                )
            )
        return nets


@contextlib.contextmanager
def open_run(
    folder: Path, manifest: dict[str, Any], trials: Sequence[Trial]
) -> Iterator[RunFolder]:
    """Open a new run folder, or one that was made by the same command."""
    _check_same_run(folder, manifest)
    with lock_folder(folder):
        run = RunFolder(folder, trials)
        if not _check_same_run(folder, manifest):  # another process may have begun since
            run.write_json(MANIFEST, manifest)
        if load_manifest(folder).get("status") != "complete":
            for name in WORK:
                make_folder(folder / name)
        yield run


def load_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run folder."""
    if not folder.is_dir():
        raise InputError(f"RUN must be a run folder, but {folder} is not a folder")
    try:
        found = json.loads(read_file(folder / MANIFEST, MANIFEST))
        if not has_shape(found, _MANIFEST):
            raise ValueError("a value is missing or of another type")
        return {key: found[key] for key in IDENTITY} | found
    except (OSError, ValueError, KeyError, RecursionError):
        raise InputError(
            f"RUN must be a folder that 'rinn fit' has written, but {folder} has no readable "
            f"{MANIFEST}"
        ) from None


def read_columns(manifest: Mapping[str, Any], folder: Path) -> tuple[tuple[str, ...], ...]:
    """Read the names of a run's inputs and outputs out of its manifest."""
    tables = manifest.get("tables", {})
    inputs, outputs = (tuple(tables.get(part, ())) for part in ("inputs", "outputs"))
    both = inputs + outputs
    if not inputs or not outputs or len(set(both)) < len(both):
        raise InputError(
            f"RUN must name its inputs and outputs, but manifest.json in {folder} does not; make "
            f"the run again"
        )
    return inputs, outputs


def has_shape(value: object, shape: Any) -> bool:
    """Say whether a value of a JSON file is what its reader expects.

    Example:
        >>> shape = {"names": [str], "loss?": (float, None)}
        >>> has_shape({"names": ["a"], "loss": 1}, shape), has_shape({"names": [3]}, shape)
        (True, False)
    """
    if isinstance(shape, tuple):
        return any(has_shape(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(one, shape[0]) for one in value)
    if isinstance(shape, dict) and "*" in shape:
        return isinstance(value, dict) and has_shape([*value.values()], [shape["*"]])
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            has_shape(value[name.rstrip("?")], one)
            if name.rstrip("?") in value
            else name.endswith("?")
            for name, one in shape.items()
        )
    if shape is None or isinstance(value, bool):
        return value is None if shape is None else shape is bool
    if shape is float:
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, shape)


def save_kept(path: Path, nets: Sequence[TrainedNet], notes: dict[str, Any]) -> None:
    """Write the kept networks as safetensors, with settings and scales as JSON text."""
    arrays = {
        f"{net.trial.number}.{part}": np.ascontiguousarray(value)
        for net in nets
        for part, value in zip(Weights._fields, net.weights, strict=True)
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
        if not has_shape(about, _KEPT):
            raise ValueError("a value is missing or of another type")
        return [_restore(entry, arrays) for entry in about["nets"]], about["notes"]
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError):
        raise InputError(
            f"RUN must hold the weights of its kept networks, but {path.name} is missing or "
            f"damaged; finish the run with 'rinn fit', or remove the folder and make it anew"
        ) from None


def _describe(net: TrainedNet) -> dict[str, Any]:
    trial = net.trial
    return {
        "trial": trial.number,
        "setting": trial.setting,
        "split": trial.split,
        "net": trial.net.__dict__,
        "status": net.status,
        "epochs": net.epochs,
        **{name: getattr(net, name) for name in RESULTS},
    }


def choose_nets(
    nets: Sequence[TrainedNet], manifest: dict[str, Any], which: str
) -> list[TrainedNet]:
    """Find the networks that a manifest names."""
    known = {net.trial.number: net for net in nets}
    found = [known.get(number) for number in manifest.get("networks", {}).get(which, ())]
    chosen = [net for net in found if net is not None and _fits(net, manifest["tables"])]
    if len(chosen) < len(found):
        raise InputError(
            f"RUN must hold the networks that its {MANIFEST} names, but {WEIGHTS} holds others; "
            f"make the run again"
        )
    return chosen


def _fits(net: TrainedNet, tables: dict[str, Any]) -> bool:
    """Whether a network has the inputs and outputs of the run; a belief network reads outputs."""
    read = tables["outputs" if net.trial.net.kind == "belief" else "inputs"]
    ends = net.weights.inputs.shape[-1], len(net.weights.output)
    return ends == (len(read), len(tables["outputs"]))


def _restore(entry: dict[str, Any], arrays: dict[str, np.ndarray]) -> TrainedNet:
    weights = Weights(*(arrays[f"{entry['trial']}.{part}"] for part in Weights._fields))
    _check_weights(weights)
    return TrainedNet(
        trial=Trial(entry["trial"], entry["setting"], entry["split"], read_net(entry["net"])),
        weights=weights,
        status=entry["status"],
        epochs=entry["epochs"],
        **{name: entry[name] for name in RESULTS},
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


def _check_same_run(folder: Path, manifest: dict[str, Any]) -> bool:
    """Whether the folder holds this very run, begun or complete; refuse any other's."""
    if not holds_manifest(folder, MANIFEST, "run"):
        return False
    if link := next((name for name in WORK if (folder / name).is_symlink()), None):
        raise InputError(
            f"--out must be a folder of this run, but {link} in {folder} is a link; remove it, or "
            f"choose another folder"
        )
    found = load_manifest(folder)
    differing = _differences({key: found[key] for key in IDENTITY}, manifest)
    if differing:
        raise InputError(
            f"--out must be a new folder or one of this very run, but {folder} was made with other "
            f"{', '.join(differing)}; choose another folder, or repeat that run's command"
        )
    if found.get("status") != "complete":
        _check_can_go_on(folder, found, manifest)
    return True


def _check_can_go_on(folder: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A run that has begun goes on with the same networks, divided into the same groups."""
    if found.get("plan") != wanted.get("plan"):
        version = found.get("versions", {}).get("rinn", "unknown")
        raise InputError(
            f"--out must hold a run that this release can go on with, but {folder} was begun by "
            f"rinn {version}, which planned other networks; choose another folder"
        )
    theirs, ours = (about.get("device", {}).get("platform") for about in (found, wanted))
    if theirs != ours:
        raise InputError(
            f"--device must stay the same until a run is complete, but {folder} was begun on the "
            f"{theirs} and would continue on the {ours}; pass --device {theirs}, or choose another "
            f"folder"
        )


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    words = []
    for key in IDENTITY:
        ours, theirs = found.get(key), wanted[key]
        if isinstance(ours, dict) and isinstance(theirs, dict):
            names = sorted(ours.keys() | theirs.keys())
            changed = [name for name in names if ours.get(name) != theirs.get(name)]
            if key == "settings":
                words += [f"{n} ({ours.get(n)}, now {theirs.get(n)})" for n in changed]
            else:
                words += [f"{key} ({name})" for name in changed]
        elif ours != theirs:
            words.append(key)
    return words


def _pack_nets(nets: Sequence[TrainedNet]) -> dict[str, np.ndarray]:
    arrays = {
        "nets.trial": np.array([net.trial.number for net in nets], np.int64),
        "nets.status": np.array([net.status for net in nets], "U16"),
        "nets.epochs": np.array([net.epochs for net in nets], np.int64),
    }
    for name in RESULTS:
        arrays[f"nets.{name}"] = np.array([getattr(net, name) for net in nets], np.float64)
    for place, net in enumerate(nets):
        for part, value in zip(Weights._fields, net.weights, strict=True):
            arrays[f"net.{place}.{part}"] = value
        arrays[f"net.{place}.curve"] = net.curve
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
