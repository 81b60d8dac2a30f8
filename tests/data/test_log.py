import json

import pandas as pd
import pytest

from rinn.data.log import Account, Entry, Reading, account_from_dict
from rinn.errors import InputError

ACCOUNT = Account(
    "x.maf",
    "MAF",
    (Entry("read", "rows", 2000, "all"), Entry("dropped", "genes", 4, "why", ("a", "b", "c", "d"))),
    {"class": {"Silent": 1000}},
)


def test_print():
    assert str(ACCOUNT) == (
        "MAF: x.maf\n"
        "  read         2,000 rows: all\n"
        "  dropped          4 genes: why ('a', 'b', 'c' and 1 more)\n"
        "  class: Silent 1,000"
    )
    reading = Reading(pd.DataFrame({"TP53": [1]}), ACCOUNT, "mutation", "0 or 1")
    assert str(reading).startswith("mutation of 1 samples x 1 genes (0 or 1)\nMAF: x.maf\n")


def test_round_trip_through_json():
    assert account_from_dict(json.loads(json.dumps(ACCOUNT.as_dict()))) == ACCOUNT


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"source": "a", "format": "b", "entries": [{}], "tallies": {}},
        {
            "source": "a",
            "format": "b",
            "entries": [{"action": "lost", "what": "a", "count": 1, "reason": "b"}],
            "tallies": {},
        },
    ],
)
def test_what_is_no_account(plain):
    with pytest.raises(InputError, match="the account must be what Account"):
        account_from_dict(plain)
