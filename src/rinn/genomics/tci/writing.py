"""What TCI found as tables, with the names of samples and genes."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from rinn.genomics.tci.drivers import Tci
from rinn.genomics.tci.inference import NO_CAUSE

CAUSES = "causes.parquet"
# Rows of causes.parquet made at once.
ROWS_AT_ONCE = 2**20


def make_tables(found: Tci) -> dict[str, pd.DataFrame]:
    """Make the tables of a result, by file name; causes are apart since they are many.

    Args:
        found: what TCI found.

    Returns:
        `drivers.csv` has a row for each SGA, `calls.csv` for each driver in a tumour,
        `targets.csv` for each target of a driver, `degs.csv` for each DEG; `x.csv` and `y.csv`
        are the columns kept, and missing where no SGA or no DEG is.
    """
    tables = {
        "drivers.csv": _name_drivers(found),
        "calls.csv": _name_calls(found),
        "targets.csv": _name_targets(found),
        "degs.csv": _describe_degs(found),
    }
    if found.features.sgas and found.features.degs:
        tables |= _keep_columns(found)
    return tables


def pack_causes(found: Tci) -> memoryview:
    """Write the causes of each DEG in each tumour as Parquet, a part of the tumours at a time.

    A row has `sample`, `deg`, `place` (1 for the best cause), `cause` and `posterior`.
    """
    content = io.BytesIO()
    batches = _list_causes(found)
    first = next(batches)
    with parquet.ParquetWriter(content, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for table in batches:
            writer.write_table(table)
    return content.getbuffer()


def name_samples(found: Tci) -> list[str]:
    """The ids of the samples; where there are none, the number of the row from 1 on."""
    samples = found.events.samples
    return list(samples or map(str, range(1, found.events.altered.shape[0] + 1)))


def _list_causes(found: Tci) -> Iterator[pa.Table]:
    top, posterior = found.causes.top, found.causes.posterior
    tumours, degs, places = top.shape
    names = {
        "sample": pa.array(name_samples(found), pa.string()),
        "deg": pa.array(found.events.degs, pa.string()),
        "cause": pa.array(found.events.causes, pa.string()),
    }
    rows = max(1, ROWS_AT_ONCE // max(1, degs * places))
    for start in range(0, tumours, rows):
        some = top[start : start + rows]
        tumour, deg, place = np.nonzero(some != NO_CAUSE)
        codes = {
            "sample": tumour.astype(np.int32) + np.int32(start),
            "deg": deg.astype(np.int32),
            "cause": some[tumour, deg, place],
        }
        columns: dict[str, pa.Array] = {
            name: pa.DictionaryArray.from_arrays(pa.array(code), names[name])
            for name, code in codes.items()
        }
        columns["place"] = pa.array(place.astype(np.int16) + np.int16(1))
        columns["posterior"] = pa.array(posterior[start : start + rows][tumour, deg, place])
        yield pa.table({n: columns[n] for n in ("sample", "deg", "place", "cause", "posterior")})


def _name_drivers(found: Tci) -> pd.DataFrame:
    table = found.calls.drivers.copy()
    table["sga"] = _name(found.events.sgas, table["sga"])
    order = np.lexsort([-table["called"].to_numpy(), ~table["driver"].to_numpy()])
    return table.iloc[order]


def _name_calls(found: Tci) -> pd.DataFrame:
    table = found.calls.calls
    return pd.DataFrame(
        {
            "sample": _name(name_samples(found), table["tumour"]),
            "sga": _name(found.events.sgas, table["sga"]),
            "degs": table["degs"],
        }
    )


def _name_targets(found: Tci) -> pd.DataFrame:
    table = found.calls.targets.copy()
    table["sga"] = _name(found.events.sgas, table["sga"])
    table["deg"] = _name(found.events.degs, table["deg"])
    return table


def _describe_degs(found: Tci) -> pd.DataFrame:
    """For each DEG its global driver and the next, and how many drivers it is a target of."""
    events, causes = found.events, found.causes
    names = np.array(events.causes, object)
    targets = found.calls.targets["deg"].to_numpy(int)
    kept = np.zeros(len(events.degs), bool)
    kept[list(found.features.degs)] = True
    return pd.DataFrame(
        {
            "deg": events.degs,
            "prevalence": events.expressed.mean(axis=0),
            "global_driver": names[causes.drivers[:, 0]],
            "global_posterior": causes.shares[:, 0],
            "second": names[causes.drivers[:, 1]],
            "second_posterior": causes.shares[:, 1],
            "drivers": np.bincount(targets, minlength=len(events.degs)),
            "selected": kept,
        }
    )


def _keep_columns(found: Tci) -> dict[str, pd.DataFrame]:
    events, features = found.events, found.features
    sgas, degs = list(features.sgas), list(features.degs)
    x = pd.DataFrame(events.altered[:, sgas].toarray(), columns=_name(events.sgas, sgas))
    y = pd.DataFrame(events.expressed[:, degs].astype(np.int8), columns=_name(events.degs, degs))
    tables = {"x.csv": x, "y.csv": y}
    if events.samples is not None:
        for table in tables.values():
            table.insert(0, _free_name("sample", table), list(events.samples))
    return tables


def _free_name(name: str, table: pd.DataFrame) -> str:
    """A name for the ids that no gene has; an empty header is read as one of ids too."""
    return "" if name in table.columns else name


def _name(names: tuple[str, ...] | list[str], codes: pd.Series | list[int]) -> list[str]:
    return [names[code] for code in codes]
