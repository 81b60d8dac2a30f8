"""What TCI shows while it works."""

from __future__ import annotations

from rich.console import Console

from rinn.runs.progress import WorkProgress


class ScoringProgress(WorkProgress):
    """Counts the DEGs that are scored, of the data and of each permutation; use as a context."""

    def __init__(self, degs: int, permutations: int, console: Console, quiet: bool = False) -> None:
        super().__init__("scoring", degs * (1 + permutations), console, quiet)
        self._degs, self._permutations, self._done = degs, permutations, 0

    def __call__(self, degs: int) -> None:
        """Take note of DEGs that are newly done."""
        self._done += degs
        self.show(self._done)

    def _words(self) -> str:
        passes, degs = divmod(self._done, self._degs)
        if passes == 0:
            return f"{degs}/{self._degs} DEGs"
        within = f", {degs}/{self._degs} DEGs of the next" if degs else ""
        return f"{passes - 1}/{self._permutations} permutations{within}"
