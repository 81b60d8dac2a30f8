"""A preparation as text on a terminal."""

from __future__ import annotations

from rinn.genomics.prepare.run import Preparation


def list_words(found: Preparation) -> list[str]:
    """Write the accounts of files and steps, the warnings, and what to do next.

    Args:
        found: what `prepare` returned.

    Returns:
        Lines of plain text.
    """
    words = [str(account) for account in found.prepared.accounts] if found.prepared else []
    summary = found.manifest["summary"]
    sizes = (
        f"{summary['tumours']:,} tumours, {summary['inputs']:,} inputs, "
        f"{summary['outputs']:,} outputs"
    )
    tissues = summary["tissues"]
    if len(tissues) > 1:
        sizes += f", {len(tissues):,} tissues"
    words += summary["warnings"]
    words.append(f"{'wrote' if found.prepared else 'made before:'} {found.folder}: {sizes}")
    words.append(f"open {found.folder / 'summary.html'}")
    more = f" --covariates {found.folder / 'covariates.csv'}" if summary["covariates"] else ""
    folder = found.folder
    words.append(f"next: rinn fit {folder / 'x.csv'} {folder / 'y.csv'}{more} --out run")
    return words
