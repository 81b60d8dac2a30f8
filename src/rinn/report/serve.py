"""A small web server for run folders: this machine only, reading only, known files only."""

from __future__ import annotations

import os
import shutil
import socketserver
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from rinn.errors import InputError
from rinn.report.index import CardBox, write_index
from rinn.report.places import (
    HTML,
    REPORT,
    SERVED,
    TEXT,
    find_runs,
    is_run,
    open_file,
    read_address,
    write_address,
)

ADDRESS = "127.0.0.1"
ASSETS = {
    "/asset/style.css": "text/css; charset=utf-8",
    "/asset/index.js": "text/javascript; charset=utf-8",
}
SECONDS_TO_ASK = 20
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
INDEX_POLICY = f"{NOTHING}; style-src 'self'; script-src 'self'; img-src data:"
# A report brings its own style and script along. It may run them, but is nobody: it can ask for
# nothing, also not for the files of other runs.
REPORT_POLICY = (
    f"{NOTHING}; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; sandbox allow-scripts allow-downloads allow-modals"
)
FILE_POLICY = f"{NOTHING}; sandbox"
SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def open_server(path: str | os.PathLike[str], port: int = 0) -> ViewServer:
    """Open a server for a run folder, or for a folder of runs.

    Example:
        >>> open_server("nowhere")
        Traceback (most recent call last):
        rinn.errors.InputError: RUN must be a run folder or a folder of runs, but nowhere is not \
a folder; name one that 'rinn fit' has written
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(
            f"RUN must be a run folder or a folder of runs, but {folder} is not a folder; name one "
            f"that 'rinn fit' has written"
        )
    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, got {port}; 0 takes any free port")
    try:
        return ViewServer(folder.resolve(), port)
    except OSError as error:
        raise InputError(
            f"--port must be free, but {port} cannot be used ({error.strerror}); choose another, "
            f"or 0 for any free port"
        ) from None


class ViewServer(ThreadingHTTPServer):
    """Serves the runs in one folder."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would let others take the port over

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.cards = root, CardBox(root)
        super().__init__((ADDRESS, port), _Answerer)

    def server_bind(self) -> None:
        """Bind without asking the network for this machine's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that go away in the middle of an answer."""

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{ADDRESS}:{self.server_port}/"

    @property
    def hosts(self) -> set[str]:
        """The names by which a browser on this machine may know the server."""
        return {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}


class _Answerer(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ViewServer
    timeout = SECONDS_TO_ASK

    def do_GET(self) -> None:
        """Answer with a page or a file."""
        if self.headers.get_all("Host", []) not in [[host] for host in self.server.hosts]:
            # A page elsewhere could give its own name this machine's address, and then read all.
            self._say(HTTPStatus.MISDIRECTED_REQUEST, f"This server answers to {self.server.url}")
            return
        path = self.path.split("?", 1)[0].split("#", 1)[0]
        if path == "/":
            self._answer_index()
        elif path in ASSETS:
            self._send(HTTPStatus.OK, ASSETS[path], FILE_POLICY, _load_asset(path))
        else:
            self._answer_file(path)

    def do_HEAD(self) -> None:
        """Answer like `do_GET`, without the content."""
        self.do_GET()

    def _answer_index(self) -> None:
        runs = list(find_runs(self.server.root))
        cards = [self.server.cards.get(parts) for parts in runs]
        if runs == [()] and cards[0].has_report:
            there = write_address([REPORT])
            self._say(HTTPStatus.FOUND, f"The report is at {there}", Location=there)
            return
        page = write_index(self.server.root.name or "this folder", cards)
        content = page.encode("utf-8", errors="backslashreplace")
        self._send(HTTPStatus.OK, HTML, INDEX_POLICY, content)

    def _answer_file(self, path: str) -> None:
        parts = read_address(path)
        known = parts is not None and is_run(self.server.root, parts[:-1])
        file = open_file(self.server.root, parts) if parts and known else None
        if parts is None or file is None:
            self._say(HTTPStatus.NOT_FOUND, "There is no such file of a run here.")
            return
        with file:
            kind, is_report = SERVED[parts[-1]], parts[-1] == REPORT
            self.send_response(HTTPStatus.OK)
            self._send_headers(kind, REPORT_POLICY if is_report else FILE_POLICY)
            if kind.startswith("application/xml"):  # or a browser would run what is in it
                self.send_header("Content-Disposition", "attachment")
            size = os.fstat(file.fileno()).st_size
            self.send_header("Content-Length", str(size))
            self.end_headers()
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)

    def _say(self, status: HTTPStatus, words: str, **headers: str) -> None:
        """Answer with a line of plain text."""
        self._send(status, TEXT, FILE_POLICY, f"{words}\n".encode(), headers)

    def _send(
        self,
        status: HTTPStatus,
        kind: str,
        policy: str,
        content: bytes,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self._send_headers(kind, policy)
        for name, value in ((headers or {}) | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _send_headers(self, kind: str, policy: str) -> None:
        for name, value in SAFETY.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Content-Type", kind)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what could not be understood, without repeating any of it."""
        if not hasattr(self, "headers"):  # the request line itself was wrong
            self.command, self.request_version = "GET", "HTTP/1.0"
        if code == HTTPStatus.NOT_IMPLEMENTED:  # a method that has no do_... here
            self._say(HTTPStatus.METHOD_NOT_ALLOWED, "This server only shows.", Allow="GET, HEAD")
        else:
            self._say(HTTPStatus(code), HTTPStatus(code).phrase)

    def version_string(self) -> str:
        """Say no more of this machine than needed."""
        return "rinn"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the terminal quiet."""


@cache
def _load_asset(path: str) -> bytes:
    return resources.files("rinn.report").joinpath(Path(path).name).read_bytes()
