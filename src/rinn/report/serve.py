"""A small web server for run folders: this machine only, reading only, listed files only."""

from __future__ import annotations

import os
import shutil
import socketserver
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from rinn.errors import InputError
from rinn.report.folders import (
    REPORT,
    find_runs,
    find_type,
    is_run,
    open_file,
    read_address,
    write_address,
)
from rinn.report.index import CardBox, render_index
from rinn.report.pair import render_pair

ADDRESS = "127.0.0.1"
TIMEOUT = 20  # seconds for a request
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# Pages have their style and script inside, and say themselves which.
PAGE_POLICY = f"{NOTHING}; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
# A report may run its script, but has no origin: it cannot load the files of other runs.
REPORT_POLICY = (
    f"{PAGE_POLICY} blob:; font-src data:; sandbox allow-scripts allow-downloads allow-modals"
)
FILE_POLICY = f"{NOTHING}; sandbox"
# The report of one of several runs has a link back to the index.
TOP, BACK = b'<div class="top">', b'<p class="brand"><a href="/">All runs</a></p>'
SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def open_server(path: str | os.PathLike[str], port: int = 0) -> ViewServer:
    """Open a server for a run folder, or for a folder of runs."""
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
        super().__init__((ADDRESS, port), _Handler)

    def server_bind(self) -> None:
        """Bind without looking up this machine's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that leave in the middle of an answer."""

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{ADDRESS}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ViewServer
    timeout = TIMEOUT

    def do_GET(self) -> None:
        """Answer with a page or a file."""
        hosts = [[f"{name}:{self.server.server_port}"] for name in (ADDRESS, "localhost")]
        if self.headers.get_all("Host", []) not in hosts:
            # A page elsewhere could give its own name this machine's address, and then read all.
            self._send_line(
                HTTPStatus.MISDIRECTED_REQUEST, f"This server answers to {self.server.url}"
            )
            return
        path, _, query = self.path.split("#", 1)[0].partition("?")
        if path == "/":
            self._answer_index()
        elif path == "/compare":
            self._answer_pair(query)
        else:
            self._answer_file(path)

    def do_HEAD(self) -> None:
        """Answer like `do_GET`, without the content."""
        self.do_GET()

    def _answer_index(self) -> None:
        runs = list(find_runs(self.server.root))
        cards = [self.server.cards.get(parts) for parts in runs]
        if runs == [()] and cards[0].has_report:
            address = write_address([REPORT])
            self._send_line(HTTPStatus.FOUND, f"The report is at {address}", Location=address)
            return
        page = render_index(self.server.root.name or "this folder", cards)
        content = page.encode("utf-8", errors="backslashreplace")
        self._start(HTTPStatus.OK, find_type(REPORT), PAGE_POLICY, len(content), content)

    def _answer_pair(self, query: str) -> None:
        """Two runs side by side; only runs that the index lists."""
        wanted = [
            tuple(name.split("/"))
            for name in parse_qs(query, errors="surrogateescape").get("run", [])
        ]
        runs = set(find_runs(self.server.root))
        if len(wanted) != 2 or not set(wanted) <= runs:
            self._send_line(HTTPStatus.NOT_FOUND, "At least one of these runs is not here.")
            return
        page = render_pair(self.server.root, [self.server.cards.get(parts) for parts in wanted])
        content = page.encode("utf-8", errors="backslashreplace")
        self._start(HTTPStatus.OK, find_type(REPORT), PAGE_POLICY, len(content), content)

    def _answer_file(self, path: str) -> None:
        parts = read_address(path)
        in_run = parts is not None and is_run(self.server.root, parts[:-1])
        file = open_file(self.server.root, parts) if parts and in_run else None
        if parts is None or file is None:
            self._send_line(HTTPStatus.NOT_FOUND, "No run here has such a file.")
            return
        with file:
            kind, size = find_type(parts[-1]), os.fstat(file.fileno()).st_size
            policy = REPORT_POLICY if parts[-1] == REPORT else FILE_POLICY
            if parts[-1] == REPORT and len(parts) > 1:
                content = file.read().replace(TOP, TOP + BACK, 1)
                self._start(HTTPStatus.OK, kind, policy, len(content), content)
                return
            # A browser would run scripts in XML.
            download = {"Content-Disposition": "attachment"} if "xml" in kind else {}
            self._start(HTTPStatus.OK, kind, policy, size, b"", **download)
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)

    def _send_line(self, status: HTTPStatus, line: str, **headers: str) -> None:
        """Answer with a line of text."""
        content = f"{line}\n".encode()
        self._start(status, find_type(".txt"), FILE_POLICY, len(content), content, **headers)

    def _start(
        self, status: int, kind: str, policy: str, size: int, content: bytes, **headers: str
    ) -> None:
        self.send_response(status)
        kinds = {"Content-Security-Policy": policy, "Content-Type": kind}
        for name, value in (SAFETY | kinds | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what could not be understood, without repeating any of it."""
        if not hasattr(self, "headers"):  # the request line itself was wrong
            self.command, self.request_version = "GET", "HTTP/1.0"
        if code == HTTPStatus.NOT_IMPLEMENTED:  # a method that has no do_... here
            line = "This server is read-only."
            self._send_line(HTTPStatus.METHOD_NOT_ALLOWED, line, Allow="GET, HEAD")
        else:
            self._send_line(HTTPStatus(code), HTTPStatus(code).phrase)

    def version_string(self) -> str:
        """Reveal nothing about this machine."""
        return "rinn"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the terminal quiet."""
