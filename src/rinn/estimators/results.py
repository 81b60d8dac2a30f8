"""A fitted estimator holds its run folder: it is saved, loaded, reported, plotted and exported."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import networkx as nx
import numpy as np
from sklearn.utils.validation import check_is_fitted

from rinn.config import check_choice
from rinn.errors import InputError
from rinn.estimators.columns import Columns, guess_columns
from rinn.files import check_target, read_file, replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rinn.runs.read import RunContents

ESTIMATOR = "estimator.json"
MAX_SHOWN = 40  # inputs, and outputs, in the picture of a notebook


@dataclass(frozen=True)
class EstimatorRecord:
    """estimator.json: what an estimator knows beside its run folder."""

    columns: Columns
    parameters: dict[str, Any]


class RunResults:
    """What every fitted estimator can do with its run."""

    _strategy: ClassVar[str]
    _files: dict[str, bytes]
    _columns: Columns
    graph_: nx.DiGraph

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run folder that `rinn fit` would write, with its report.

        Every command reads it: `rinn view`, `rinn draw`, `rinn whatif` and the others. `load`
        opens it again. The tables themselves are not in it.

        Args:
            path: a folder that is new, empty, or of this very run.

        Returns:
            The folder.

        Raises:
            InputError: the folder holds something else, or cannot be written.

        Example:
            >>> import tempfile
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> again = RINN.load(model.save(tempfile.mkdtemp()))
            >>> bool((again.predict(data.x) == model.predict(data.x)).all(axis=None))
            True
        """
        from rinn.report.html.page import write_report
        from rinn.runs.folder import RUN, open_output

        check_is_fitted(self, "graph_")
        folder = Path(path)
        manifest = json.loads(self._files[RUN.manifest])
        with open_output(folder, manifest | {"status": "running"}, RUN) as output:
            if not output.is_complete:
                for name, content in self._files.items():
                    if name != RUN.manifest:
                        replace_file(folder / name, content)
                replace_file(folder / RUN.manifest, self._files[RUN.manifest])
                write_report(folder)
            output.discard_work()
        return folder

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Open a run folder as a fitted estimator.

        Args:
            path: a folder that `save` or `rinn fit` has written.

        Returns:
            The estimator. One that was saved predicts the same to the last bit. Of a run of the
            command line only the columns that it used are known: `predict` finds them in X by name,
            and gives the outputs of the graph.

        Raises:
            InputError: it is no finished run folder, a file is damaged, or the run has another
                strategy.

        Example:
            >>> import tempfile
            >>> from pathlib import Path
            >>> from rinn import RINN, RunSettings, fit_run, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> folder = Path(tempfile.mkdtemp())
            >>> data.x.to_csv(folder / "x.csv"), data.y.to_csv(folder / "y.csv")
            (None, None)
            >>> tables = folder / "x.csv", folder / "y.csv"
            >>> settings = RunSettings(effects="regression", bootstraps=2)
            >>> _ = fit_run(*tables, folder / "run", settings, quiet=True)
            >>> RINN.load(folder / "run").predict(data.x).shape
            (99, 6)
        """
        from rinn.runs.read import load_run

        run = load_run(path)
        settings = run.manifest.settings
        if settings.strategy != cls._strategy:
            raise InputError(
                f"RUN must have been made with the strategy {cls._strategy!r}, but {run.folder} "
                f"was made with {settings.strategy!r}; load it with the estimator of that name"
            )
        record = _read_estimator(run)
        names = inspect.signature(cls).parameters
        known = settings.to_json() | record.parameters | {"random_state": settings.seed}
        model = cls(**{name: known[name] for name in names if name in known})
        model._adopt(run, record)
        model.n_features_in_ = len(record.columns.x)  # type: ignore[attr-defined]
        if record.columns.has_x_names:
            model.feature_names_in_ = np.array(record.columns.x, object)  # type: ignore[attr-defined]
        return model

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, force: bool = False
    ) -> Path:
        """Write the report of the run: one HTML file that needs nothing else.

        Args:
            path: the file.
            title: of the page.
            force: whether to replace a file that exists.

        Returns:
            The file.

        Raises:
            InputError: the file exists, or cannot be written.

        Example:
            >>> import tempfile
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> model.report(f"{tempfile.mkdtemp()}/report.html").name
            'report.html'
        """
        from rinn.report.html.page import render_page

        file = _check_file(path, force)
        with self._open() as run:
            replace_file(file, render_page(run, title).encode("utf-8", "replace"))
        return file

    def plot(
        self,
        kind: str = "graph",
        *,
        title: str = "",
        width: float | None = None,
        font_size: float | None = None,
    ) -> Figure:
        """Draw a figure of the run, as `rinn draw` does.

        Args:
            kind: one of the figures that `rinn draw --help` lists, such as graph, selection or
                curves.
            title: above the figure.
            width: in millimetres; journals ask for 85 or 180.
            font_size: of the usual text, in points.

        Returns:
            A matplotlib figure; its `savefig` writes it to a file.

        Raises:
            InputError: there is no such figure, or the run has no data for it.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> type(model.plot()).__name__
            'Figure'
        """
        from rinn.report.figures.folders import FIGURES, Absent, Looks

        figure = FIGURES[check_choice("kind", kind, FIGURES)]
        looks = Looks(width=width, font_size=font_size, title=title)
        with self._open() as run:
            try:
                return figure.draw(run, looks)
            except Absent as error:
                raise InputError(
                    f"kind must be a figure that the run has data for, got {kind!r}, but {error}; "
                    f"choose another figure"
                ) from None

    def export(
        self, kind: str, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | Path:
        """Write the graph in the format of another program.

        Args:
            kind: one of the formats that `rinn export --help` lists, such as graphml or lavaan.
            path: the file; without one the text is returned.
            force: whether to replace files that exist.

        Returns:
            The text, or the file.

        Raises:
            InputError: there is no such format, or a file exists or cannot be written.

        Example:
            >>> from rinn import RINN, make_dataset
            >>> data = make_dataset("random", samples=99, inputs=5, outputs=6, latents=2)
            >>> model = RINN(effects="regression", bootstraps=2).fit(data.x, data.y)
            >>> model.export("dot").splitlines()[0]
            'digraph {'
        """
        from rinn.graphs.export import EXPORTS, export_graph

        check_is_fitted(self, "graph_")
        export = EXPORTS[check_choice("format", kind, EXPORTS)]
        if path is None:
            return export.encode(self.graph_).decode()
        for file in export.files(Path(path)):
            _check_file(file, force)
        export_graph(self.graph_, path, kind)
        return Path(path)

    def _adopt(self, run: RunContents, record: EstimatorRecord) -> None:
        """Keep the results of a run, and its folder."""
        raise NotImplementedError

    @contextlib.contextmanager
    def _open(self) -> Iterator[RunContents]:
        """The run folder, for as long as it is needed."""
        from rinn.runs.read import load_run

        check_is_fitted(self, "graph_")
        with tempfile.TemporaryDirectory(prefix="rinn-") as folder:
            for name, content in self._files.items():
                (Path(folder) / name).write_bytes(content)
            yield load_run(folder)

    def _repr_html_inner(self) -> str:
        return f"{self._draw()}{super()._repr_html_inner()}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **given: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**given)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = f"{self._draw()}{bundle['text/html']}"
        return bundle

    def _draw(self) -> str:
        """The graph as inline SVG above scikit-learn's own picture; nothing before the fit."""
        if not hasattr(self, "graph_"):
            return ""
        from rinn.report.html.notebook import draw_in_notebook

        return draw_in_notebook(self.graph_, type(self).__name__, MAX_SHOWN)


def pack_run(run: RunContents, record: EstimatorRecord) -> dict[str, bytes]:
    """The files of a run by name; the report is made from them."""
    from rinn.runs.read import FILES

    found = [name for name in FILES if (run.folder / name).is_file()]
    files = {name: read_file(run.folder / name, name) for name in found}
    if record.columns.is_known:
        content = {"columns": asdict(record.columns), "parameters": record.parameters}
        files[ESTIMATOR] = json.dumps(content, indent=1).encode()
    return files


def list_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a file can hold; an object, as a random generator, is left out."""
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }
    return {n: v for n, v in plain.items() if v is None or isinstance(v, str | int | float)}


def _read_estimator(run: RunContents) -> EstimatorRecord:
    from rinn.runs.manifest import read_record

    path = run.folder / ESTIMATOR
    if not path.exists():
        return EstimatorRecord(guess_columns(run), {})
    try:
        record: EstimatorRecord = read_record(
            EstimatorRecord, json.loads(read_file(path, ESTIMATOR))
        )
        sizes = len(record.columns.inputs), len(record.columns.outputs), len(record.columns.means)
        fits = sizes == (len(run.inputs), len(run.outputs), len(record.columns.y))
        fits &= set(record.columns.inputs) <= set(range(len(record.columns.x)))
        fits &= set(record.columns.outputs) <= set(range(len(record.columns.y)))
    except (OSError, ValueError, RecursionError):
        fits = False
    if not fits:
        raise run.reject(ESTIMATOR)
    return record


def _check_file(path: str | os.PathLike[str], force: bool) -> Path:
    file = Path(path)
    check_target(file)
    if os.path.lexists(file) and not force:
        raise InputError(
            f"cannot write {file}: it exists; name another file, or replace it with force=True"
        )
    return file
