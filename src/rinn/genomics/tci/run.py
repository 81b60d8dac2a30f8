"""A TCI run from start to end: two or three files in, a folder out."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import os
import platform
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rinn.errors import InputError
from rinn.files import replace_file
from rinn.genomics.tci.drivers import find_drivers
from rinn.genomics.tci.events import Events, fingerprint_events, load_events
from rinn.genomics.tci.prior import Prior, make_prior
from rinn.genomics.tci.progress import ScoringProgress
from rinn.genomics.tci.settings import TciSettings
from rinn.genomics.tci.writing import CAUSES, make_tables, pack_causes
from rinn.runs.folder import FORMAT, MANIFEST, RunFolder, load_manifest, open_run
from rinn.runs.terminal import Terminal

PACKAGES = ("rinn", "numpy", "scipy", "pandas", "pyarrow")


@dataclass(frozen=True)
class TciResult:
    """What a finished TCI folder holds, for showing it."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def summary(self) -> dict[str, Any]:
        """What was called and kept, in numbers."""
        summary: dict[str, Any] = self.manifest["summary"]
        return summary


def run_tci(
    x_path: Path,
    y_path: Path,
    out: Path,
    settings: TciSettings | None = None,
    *,
    tissue_path: Path | None = None,
    prior: str | os.PathLike[str] = "frequency",
    other: float | None = None,
    cores: int | None = None,
    console: Console | None = None,
    quiet: bool = False,
    command: list[str] | None = None,
) -> TciResult:
    """Find drivers from files and write everything into a folder.

    The same call again goes on with the permutations that an interrupted run has not made, and
    returns at once from a run that is complete.

    Args:
        x_path: alterations, samples x genes, zeros and ones.
        y_path: expression changes for the same samples, zeros and ones.
        out: the folder.
        settings: by default those of `TciSettings`.
        tissue_path: the tissue of each sample, for the tissue-aware likelihood.
        prior: frequency, uniform or a file.
        other: the prior of A0, all causes that are not measured.
        cores: threads to use; changes no result.
        console: where progress is shown.
        quiet: show nothing.
        command: the words that make this run again, for the manifest.

    Returns:
        What the folder holds now.

    Raises:
        InputError: before anything is written.
        KeyboardInterrupt: after the permutations that are done are saved.
    """
    console = console or Terminal(stderr=True)
    settings = settings or TciSettings()
    events = load_events(x_path, y_path, tissue_path)
    weights = make_prior(events, prior, other)
    manifest = _describe(events, weights, settings, command or [])
    manifest["tables"] |= {"x": x_path.name, "y": y_path.name}
    with open_run(out, manifest, []) as folder:
        stored = load_manifest(out)
        if stored.get("status") != "complete":
            started = time.monotonic()
            summary = _work(folder, events, weights, settings, cores, console, quiet)
            seconds = time.monotonic() - started
            manifest |= {
                "created": stored.get("created", ""),
                "seconds": seconds,
                "summary": summary,
            }
            folder.write_json(MANIFEST, manifest | {"status": "complete"})
        folder.discard_work()
    return TciResult(out, load_manifest(out))


def _work(
    folder: RunFolder,
    events: Events,
    prior: Prior,
    settings: TciSettings,
    cores: int | None,
    console: Console,
    quiet: bool,
) -> dict[str, Any]:
    """Find the drivers and write them; returns the summary."""
    work = folder.folder / "work"
    done = _load_rounds(work, len(events.sgas))
    number = len(done)

    def save(cutoffs: np.ndarray) -> None:
        nonlocal number
        content = io.BytesIO()
        np.save(content, cutoffs)
        replace_file(_round_path(work, number), content.getbuffer())
        number += 1

    with ScoringProgress(len(events.degs), settings.permutations, console, quiet) as report:
        found = find_drivers(
            events, settings, prior, done=done, save=save, cores=cores, report=report
        )
    replace_file(folder.folder / CAUSES, pack_causes(found))
    for name, table in make_tables(found).items():
        folder.write_table(name, table)
    return found.summarise()


def _round_path(work: Path, number: int) -> Path:
    return work / f"null{number:05d}.npy"


def _load_rounds(work: Path, sgas: int) -> list[np.ndarray]:
    """The cut-offs of permutations that an earlier sitting has made, up to the first missing."""
    rounds: list[np.ndarray] = []
    while (path := _round_path(work, len(rounds))).exists():
        try:
            cutoffs = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
        except (ValueError, EOFError, OSError, zipfile.BadZipFile):
            break
        if not isinstance(cutoffs, np.ndarray) or cutoffs.shape != (sgas,):
            break
        rounds.append(cutoffs)
    return rounds


def _describe(
    events: Events, prior: Prior, settings: TciSettings, command: list[str]
) -> dict[str, Any]:
    """The manifest: what the run is (settings, data) and how it was made."""
    about = {"method": "tci", "prior": prior.name, "other": prior.other, **settings.to_json()}
    weights = hashlib.sha256(np.ascontiguousarray(prior.weights, "<f8").tobytes()).hexdigest()
    return {
        "format": FORMAT,
        "status": "running",
        "settings": about,
        "data": fingerprint_events(events) | {"prior": weights},
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": command,
        "tables": {
            "samples": events.altered.shape[0],
            "sgas": len(events.sgas),
            "degs": len(events.degs),
            "tissues": sorted(set(events.tissues or ())),
            "dropped": [entry.__dict__ for entry in events.dropped],
        },
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES}
        | {"python": platform.python_version()},
    }


def load_tci(folder: Path) -> TciResult:
    """Read the manifest of a finished TCI folder.

    Raises:
        InputError: it is not such a folder, or the run is not complete.
    """
    manifest = load_manifest(folder)
    if manifest["settings"].get("method") != "tci" or manifest.get("status") != "complete":
        raise InputError(
            f"RUN must be a folder that 'rinn tci' has finished, but {folder} is another run's or "
            f"not complete; repeat its command"
        )
    return TciResult(folder, manifest)
