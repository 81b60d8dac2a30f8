"""What must be said of prepared tables before anyone believes a graph of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from rinn.data.log import ReadLog
from rinn.data.warnings import warn_of_size
from rinn.errors import quote_some
from rinn.genomics.prepare.settings import PrepareSettings
from rinn.genomics.prepare.sources import Readings

# Genes on the Y chromosome, and those that silence an X: they tell men from women.
SEX_LINKED = frozenset(
    {"DDX3Y", "EIF1AY", "KDM5D", "NLGN4Y", "RPS4Y1", "RPS4Y2", "TMSB4Y", "TSIX", "TXLNGY", "USP9Y"}
    | {"UTY", "XIST", "ZFY", "JARID1D", "CYORF15A", "CYORF15B", "SMCY"}
)


def list_warnings(
    x: pd.DataFrame,
    y: pd.DataFrame,
    tissues: pd.Series,
    logs: Sequence[ReadLog],
    readings: Readings,
    settings: PrepareSettings,
) -> tuple[str, ...]:
    """List what the user must know of these tables."""
    words = [warn_of_size(*x.shape)]
    if settings.tissue_column is None:
        words.append(
            "No tissue was given: if the tumours are of several tissues, most of what is found "
            "will be tissue; pass --tissue-column."
        )
    if readings.mutations is None:
        words.append("There are no mutations: X is copy number alone.")
    elif readings.mutations.sequenced is None and settings.unsequenced == "drop":
        words.append(
            "No list says who was sequenced: tumours without any mutation in the file are left "
            "out, which makes alterations look more frequent than they are; pass --sequenced."
        )
    if readings.copy_number is None:
        words.append(
            "There is no copy number: amplified and deleted genes are not in X, and what the copy "
            "number of a gene does to its own expression stays in Y."
        )
    if any(step == "tci" for step, _ in settings.steps):
        words.append(
            "TCI chose the columns by looking at X and Y together, also at samples that a fit "
            "holds back: test errors and --null of rinn fit are then too favourable."
        )
    words += [_warn_of_reference(tissues, logs), _warn_of_copies(x), _warn_of_sex(y, settings)]
    if settings.unsequenced == "copy-number":
        words.append("Tumours that were not sequenced count as without mutation.")
    return tuple(word for word in words if word is not None)


def _warn_of_reference(tissues: pd.Series, logs: Sequence[ReadLog]) -> str | None:
    entries = [entry for each in logs for entry in each.entries]
    stood_in = [entry for entry in entries if entry.what == "tissues" and entry.action == "noted"]
    if not stood_in:
        return None
    return (
        f"In {stood_in[0].count} of {tissues.nunique()} tissues the reference has too few "
        f"samples for some or all genes, and the tumours themselves stood in: a change that most "
        f"of them share is not seen there."
    )


def _warn_of_copies(x: pd.DataFrame) -> str | None:
    copies = x.T.duplicated(keep=False)
    names = [str(name) for name in x.columns[copies]]
    if not names:
        return None
    return (
        f"{len(names)} inputs have the same tumours as another ({quote_some(names)}), as genes of "
        f"one amplified region do: no data can say which of them acts."
    )


def _warn_of_sex(y: pd.DataFrame, settings: PrepareSettings) -> str | None:
    names = sorted(str(name) for name in y.columns if str(name) in SEX_LINKED)
    if not names or {"sex", "gender"} & {word.lower() for word in settings.covariates}:
        return None
    return (
        f"{len(names)} outputs tell men from women ({quote_some(names)}): give sex with "
        f"--covariates, or leave them out with --exclude {','.join(names)}."
    )
