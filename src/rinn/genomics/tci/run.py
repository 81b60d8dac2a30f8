"""A TCI run from start to end: two or three files in, a folder out."""

from __future__ import annotations

import hashlib
import io
import os
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from rinn.files import import_extra, replace_file
from rinn.genomics.tci.calls import Tci, find_drivers
from rinn.genomics.tci.events import Events, fingerprint_events, load_events
from rinn.genomics.tci.inference import NO_CAUSE
from rinn.genomics.tci.prior import Prior, make_prior
from rinn.genomics.tci.settings import TciSettings
from rinn.runs.folder import FORMAT, RUN, find_versions, open_output
from rinn.runs.progress import WorkProgress
from rinn.runs.terminal import Terminal

PACKAGES = ("rinn", "numpy", "scipy", "pandas", "pyarrow")

CAUSES = "causes.parquet"
ROUND = "null{:05d}.npy"
# Rows of causes.parquet made at once.
ROWS_AT_ONCE = 2**20


@dataclass(frozen=True)
class TciResult:
    """What a finished TCI folder holds, for showing it."""

    folder: Path
    manifest: dict[str, Any]


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
    """
    console = console or Terminal(stderr=True)
    settings = settings or TciSettings()
    import_extra("pyarrow", "parquet", f"{CAUSES}, a file of the result,")
    events = load_events(x_path, y_path, tissue_path)
    weights = make_prior(events, prior, other)
    manifest = _describe(events, weights, settings, command or [])
    manifest["tables"] |= {"x": x_path.name, "y": y_path.name}
    with open_output(out, manifest, RUN) as folder:
        manifest = folder.stored
        if not folder.is_complete:
            started = time.monotonic()
            rounds = _load_rounds(out / "work", len(events.sgas))

            def save(cutoffs: np.ndarray) -> None:
                content = io.BytesIO()
                np.save(content, cutoffs)
                rounds.append(cutoffs)
                replace_file(out / "work" / ROUND.format(len(rounds) - 1), content.getbuffer())

            passes = len(rounds), settings.permutations
            with ScoringProgress(len(events.degs), *passes, console, quiet) as report:
                result = find_drivers(
                    events, settings, weights,
                    done=tuple(rounds), save=save, cores=cores, report=report,
                )  # fmt: skip
            replace_file(out / CAUSES, pack_causes(result))
            for name, table in make_tables(result).items():
                folder.write_table(name, table)
            seconds, summary = time.monotonic() - started, result.summarise()
            done = {"seconds": seconds, "summary": summary, "status": "complete"}
            manifest = manifest | done
            folder.write_manifest(manifest)
        folder.discard_work()
    return TciResult(out, manifest)


def _load_rounds(work: Path, sgas: int) -> list[np.ndarray]:
    """The cut-offs of permutations that an earlier session has made, up to the first missing."""
    rounds: list[np.ndarray] = []
    while (path := work / ROUND.format(len(rounds))).exists():
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
        "versions": find_versions(PACKAGES),
    }


class ScoringProgress(WorkProgress):
    """Counts the DEGs that are scored, of the data and of each permutation; a context."""

    def __init__(
        self, degs: int, resumed: int, permutations: int, console: Console, quiet: bool = False
    ) -> None:
        super().__init__("scoring", degs * (1 + permutations - resumed), console, quiet)
        self._degs, self._resumed_rounds = degs, resumed
        self._permutations, self._done = permutations, 0

    def __call__(self, degs: int) -> None:
        """Add DEGs that are newly done."""
        self._done += degs
        self.show(self._done)

    def _describe(self) -> str:
        passes, degs = divmod(self._done, self._degs)
        if passes == 0:
            return f"{degs}/{self._degs} DEGs"
        within = f", {degs}/{self._degs} DEGs of the next" if degs else ""
        rounds = passes - 1 + self._resumed_rounds
        return f"{rounds}/{self._permutations} permutations{within}"


def make_tables(result: Tci) -> dict[str, pd.DataFrame]:
    """Make the tables of a result, by file name; causes are apart since they are many."""
    events, calls, features = result.events, result.calls, result.features
    samples, sgas, degs, names = (
        np.array(each, object)
        for each in (name_samples(result), events.sgas, events.degs, events.causes)
    )
    drivers = calls.drivers.assign(sga=sgas)
    order = np.lexsort([-drivers["called"].to_numpy(), ~drivers["driver"].to_numpy()])
    called, targets, causes = calls.calls, calls.targets, result.causes
    of_deg = targets["deg"].to_numpy(int)
    called = called.assign(sample=samples[called["tumour"]], sga=sgas[called["sga"]])
    tables = {
        "drivers.csv": drivers.iloc[order],
        "calls.csv": called[["sample", "sga", "degs"]],
        "targets.csv": targets.assign(sga=sgas[targets["sga"]], deg=degs[of_deg]),
        "degs.csv": pd.DataFrame(
            {
                "deg": events.degs,
                "prevalence": events.expressed.mean(axis=0),
                "global_driver": names[causes.drivers[:, 0]],
                "global_posterior": causes.driver_posteriors[:, 0],
                "second": names[causes.drivers[:, 1]],
                "second_posterior": causes.driver_posteriors[:, 1],
                "drivers": np.bincount(of_deg, minlength=len(degs)),
                "selected": np.isin(np.arange(len(degs)), features.degs),
            }
        ),
    }
    if not features.sgas or not features.degs:
        return tables
    kept = list(features.sgas), list(features.degs)
    x = pd.DataFrame(events.altered[:, kept[0]].toarray(), columns=sgas[kept[0]])
    y = pd.DataFrame(events.expressed[:, kept[1]].astype(np.int8), columns=degs[kept[1]])
    for table in (x, y) if events.samples else ():
        # an empty header is read as one of ids too
        table.insert(0, "" if "sample" in table else "sample", list(samples))
    return tables | {"x.csv": x, "y.csv": y}


def pack_causes(result: Tci) -> memoryview:
    """Write the causes of each DEG in each tumour as Parquet, a part of the tumours at a time.

    A row has `sample`, `deg`, `rank` (1 for the best cause), `cause` and `posterior`.
    """
    from pyarrow import parquet

    content = io.BytesIO()
    batches = _list_causes(result)
    first = next(batches)
    with parquet.ParquetWriter(content, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for table in batches:
            writer.write_table(table)
    return content.getbuffer()


def name_samples(result: Tci) -> list[str]:
    """The ids of the samples; where there are none, the number of the row from 1 on."""
    samples = result.events.samples
    return list(samples or map(str, range(1, result.events.altered.shape[0] + 1)))


def _list_causes(result: Tci) -> Iterator[Any]:
    """Tables of Arrow."""
    import pyarrow as pa

    top, posterior = result.causes.top, result.causes.posterior
    tumours, degs, ranks = top.shape
    names = {
        "sample": pa.array(name_samples(result), pa.string()),
        "deg": pa.array(result.events.degs, pa.string()),
        "cause": pa.array(result.events.causes, pa.string()),
    }
    rows = max(1, ROWS_AT_ONCE // max(1, degs * ranks))
    for start in range(0, tumours, rows):
        batch = top[start : start + rows]
        tumour, deg, rank = np.nonzero(batch != NO_CAUSE)
        codes = {
            "sample": tumour.astype(np.int32) + np.int32(start),
            "deg": deg.astype(np.int32),
            "cause": batch[tumour, deg, rank],
        }
        columns: dict[str, Any] = {
            name: pa.DictionaryArray.from_arrays(pa.array(code), names[name])
            for name, code in codes.items()
        }
        columns["rank"] = pa.array(rank.astype(np.int16) + np.int16(1))
        columns["posterior"] = pa.array(posterior[start : start + rows][tumour, deg, rank])
        yield pa.table({n: columns[n] for n in ("sample", "deg", "rank", "cause", "posterior")})
