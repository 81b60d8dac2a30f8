import json

import pandas as pd
import pytest

from rinn.data.log import LogEntry, ReadLog
from rinn.errors import InputError
from rinn.genomics.readers.matrices import GeneTable

LOG = ReadLog(
    "x.maf",
    "MAF",
    (
        LogEntry("read", "rows", 2000, "all"),
        LogEntry("dropped", "genes", 4, "why", ("a", "b", "c", "d")),
    ),
    {"class": {"Silent": 1000}},
)


def test_print():
    assert str(LOG) == (
        "MAF: x.maf\n"
        "  read         2,000 rows: all\n"
        "  dropped          4 genes: why ('a', 'b', 'c' and 1 more)\n"
        "  class: Silent 1,000"
    )
    reading = GeneTable(pd.DataFrame({"TP53": [1]}), LOG, "mutation", "0 or 1")
    assert str(reading).startswith("mutation of 1 samples x 1 genes (0 or 1)\nMAF: x.maf\n")


def test_round_trip_through_json():
    assert ReadLog.from_dict(json.loads(json.dumps(LOG.as_dict()))) == LOG


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"source": "a", "format": "b", "entries": [{}], "tallies": {}},
    ],
)
def test_what_is_no_log(plain):
    with pytest.raises(InputError, match="the log must be what ReadLog"):
        ReadLog.from_dict(plain)
