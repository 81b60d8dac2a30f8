import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser

import networkx as nx
import pytest

from rinn.cli import run as run_command
from rinn.errors import InputError
from rinn.graphs.files import load_graph, write_graph
from rinn.report.serve import open_server
from run_folders import write_run

HOSTILE = [
    "<script>alert(1)</script>".replace("/", "\u2215"),
    '"><img src=x onerror=alert(1)>',
    "it's & \u202egnp.exe 😀",
    "a" * 200,
    "100%2e%2e",
]


@pytest.fixture
def serve():
    """Serve a folder; `serve(folder)` gives the server."""
    servers = []

    def start(folder):
        server = open_server(folder)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server, path, method="GET", **headers):
    """One request; gives status, headers and content."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    headers = {"Host": f"127.0.0.1:{server.server_port}"} | headers
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def ask_raw(server, content):
    """Bytes as they are; gives all that comes back."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        line.sendall(content)
        line.shutdown(socket.SHUT_WR)
        parts = []
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.fixture
def runs(tmp_path):
    root = tmp_path / "runs"
    write_run(root / "first", created="2026-03-01T10:20:30+0000")
    write_run(root / "deep" / "second", created="2026-03-02T10:20:30+0000")
    (root / "first" / "weights.safetensors").write_bytes(b"secret")
    (root / "first" / ".lock").write_bytes(b"secret")
    (root / "first" / "notes.txt").write_bytes(b"secret")
    (root / "report.html").write_bytes(b"secret")  # of no run
    (tmp_path / "secret.json").write_bytes(b"secret")
    (tmp_path / "graph.json").write_bytes(b"secret")
    return root


class Page(HTMLParser):
    """Tags, links and text of a page."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.links, self.texts, self.cards = [], [], [], []
        self.feed(content.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        assert not [name for name in attrs if name.startswith("on") or name == "style"]
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "li":
            self.cards.append(attrs)

    def handle_data(self, data):
        self.texts.append(data)


def test_the_index_names_every_run_newest_first(serve, runs):
    server = serve(runs)
    status, headers, content = ask(server, "/")
    page = Page(content)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.links == ["/run/deep/second/report.html", "/run/first/report.html"]
    assert page.tags.count("svg") == 2
    assert {"2 runs", "deep/second", "first", "data/or/x.csv", "0.88"} <= set(page.texts)
    assert page.cards[1]["data-latents-f1"] == "0.875"
    for link in page.links:
        assert ask(server, link)[2] == b"<!doctype html><title>report</title>"


def test_one_run_opens_its_report(serve, runs):
    server = serve(runs / "first")
    status, headers, _ = ask(server, "/")
    assert (status, headers["Location"]) == (302, "/run/report.html")
    assert ask(server, "/run/report.html")[0] == 200


def test_one_run_that_is_not_finished_says_so(serve, tmp_path):
    server = serve(write_run(tmp_path / "run", status="running"))
    status, _, content = ask(server, "/")
    assert status == 200
    assert b"Not finished: 2 networks trained so far" in content


def test_an_empty_folder_says_what_to_do(serve, tmp_path):
    assert b"rinn fit" in ask(serve(tmp_path), "/")[2]


def test_new_runs_appear(serve, runs):
    server = serve(runs)
    assert len(Page(ask(server, "/")[2]).cards) == 2
    write_run(runs / "third")
    assert len(Page(ask(server, "/")[2]).cards) == 3


def test_damaged_runs_are_in_the_index(serve, runs):
    (runs / "broken").mkdir()
    (runs / "broken" / "manifest.json").write_text("{")
    page = Page(ask(serve(runs), "/")[2])
    assert len(page.cards) == 3
    assert "Damaged: manifest.json is missing or cannot be read." in page.texts


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("report.html", "text/html; charset=utf-8"),
        ("graph.json", "application/json; charset=utf-8"),
        ("trials.csv", "text/csv; charset=utf-8"),
    ],
)
def test_files_have_their_types_and_lengths(serve, runs, name, kind):
    server = serve(runs)
    expected = (runs / "first" / name).read_bytes()
    status, headers, content = ask(server, f"/run/first/{name}")
    assert (status, content) == (200, expected)
    assert headers["Content-Type"] == kind
    status, headers, content = ask(server, f"/run/first/{name}", "HEAD")
    assert (status, content) == (200, b"")
    assert headers["Content-Length"] == str(len(expected))


@pytest.mark.parametrize(
    "path",
    ["/", "/run/first/report.html", "/run/first/nothing"],
)
def test_every_answer_is_guarded(serve, runs, path):
    _, headers, _ = ask(serve(runs), path)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "Python" not in headers["Server"]


def test_a_report_can_ask_for_nothing(serve, runs):
    policy = ask(serve(runs), "/run/first/report.html")[1]["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-downloads" in policy
    assert not {"allow-same-origin", "connect-src", "'self'"} & set(policy.split())


def test_the_index_holds_its_style_and_script(serve, runs):
    status, _, content = ask(serve(runs), "/")
    assert status == 200
    assert b"color-scheme" in content
    assert b'getElementById("runs")' in content
    assert b"Content-Security-Policy" in content


@pytest.mark.parametrize(
    "path",
    [
        "/run/first/weights.safetensors",
        "/run/first/.lock",
        "/run/first/notes.txt",
        "/run/report.html",
        "/run/../graph.json",
        "/run/first/../../../graph.json",
        "/run/%2e%2e/graph.json",
        "/run/first/%2e%2e/%2e%2e/graph.json",
        "/run/..%2fgraph.json",
        "/run/first%2f..%2f..%2fgraph.json",
        "/run/..%5cgraph.json",
        "/run/%252e%252e/graph.json",
        "//graph.json",
        "/run//first/report.html",
        "/run/first//report.html",
        "/run/first/report.html/",
        "/run/first/report.html%00",
        "/run/first%00/report.html",
        "/run/first/REPORT.HTML",
        "/etc/passwd",
        "/run//etc/passwd",
        "/first/report.html",
        "http://127.0.0.1/run/first/report.html",
        "file:///etc/passwd",
    ],
)
def test_no_path_leads_elsewhere(serve, runs, path):
    status, _, content = ask(serve(runs), path)
    assert (status, content) == (404, b"No run here has such a file.\n")


def test_absolute_paths_are_not_served(serve, runs, tmp_path):
    server = serve(runs)
    for path in (f"{tmp_path}/graph.json", f"/run{tmp_path}/graph.json"):
        assert ask(server, path)[0] == 404


def test_links_are_not_served(serve, runs, tmp_path):
    (runs / "first" / "graph.json").unlink()
    os.symlink(tmp_path / "graph.json", runs / "first" / "graph.json")
    write_run(tmp_path / "outside")
    os.symlink(tmp_path / "outside", runs / "linked")
    os.symlink("/", runs / "first" / "root")
    server = serve(runs)
    assert ask(server, "/run/first/graph.json")[0] == 404
    assert ask(server, "/run/linked/report.html")[0] == 404
    page = ask(server, "/")[2]
    assert b"linked" not in page
    assert b"secret" not in page


def test_a_link_to_the_folder_itself_is_fine(serve, runs, tmp_path):
    os.symlink(runs, tmp_path / "elsewhere")
    assert ask(serve(tmp_path / "elsewhere"), "/run/first/report.html")[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1", ""]
)
def test_other_hosts_are_refused(serve, runs, host):
    server = serve(runs)
    for path in ("/", "/run/first/report.html"):
        status, _, content = ask(server, path, Host=host.format(port=server.server_port))
        assert status == 421
        assert server.url.encode() in content


def test_localhost_is_this_machine(serve, runs):
    server = serve(runs)
    assert ask(server, "/", Host=f"localhost:{server.server_port}")[0] == 200


def test_no_host_or_two_are_refused(serve, runs):
    server = serve(runs)
    host = f"Host: 127.0.0.1:{server.server_port}\r\n".encode()
    assert b" 421 " in ask_raw(server, b"GET / HTTP/1.0\r\n\r\n").splitlines()[0]
    twice = b"GET / HTTP/1.1\r\n" + host + b"Host: evil.example\r\n\r\n"
    assert b" 421 " in ask_raw(server, twice).splitlines()[0]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "MKCOL"])
def test_only_reading(serve, runs, method):
    server = serve(runs)
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    status, headers, _ = ask(server, "/run/first/graph.json", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "line",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"<script> / HTTP/1.1\r\n\r\n",
        b"\x00\xff\xfe\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /run/\xff\xfe/report.html HTTP/1.1\r\nHost: evil\r\n\r\n",
    ],
)
def test_nonsense_gets_an_answer_that_repeats_nothing(serve, runs, line):
    server = serve(runs)
    answer = ask_raw(server, line)
    assert b"script" not in answer.partition(b"\r\n\r\n")[2]
    assert b"200 OK" not in answer
    assert ask(server, "/")[0] == 200


def test_hostile_names_stay_text(serve, tmp_path):
    root = tmp_path / "<b>root&"
    for number, name in enumerate(HOSTILE):
        write_run(
            root / name,
            report=f"report {number}",
            command=["rinn", "fit", '<i>"/x.csv'],
            settings={"strategy": "<s>'\""},
        )
    server = serve(root)
    content = ask(server, "/")[2]
    page = Page(content)
    assert not {"i", "s", "b", "img"} & set(page.tags)
    assert page.tags.count("script") == 1
    shown = {name.replace("\u202e", "\ufffd") for name in HOSTILE}
    assert shown <= set(page.texts)
    assert {card["data-name"] for card in page.cards} == shown
    found = {ask(server, link)[2] for link in page.links}
    assert found == {f"report {number}".encode() for number in range(len(HOSTILE))}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_no_text(serve, tmp_path):
    name = os.fsdecode(b"run\xff\xfe")
    write_run(tmp_path / name)
    server = serve(tmp_path)
    page = Page(ask(server, "/")[2])
    assert page.links == ["/run/run%FF%FE/report.html"]
    assert ask(server, page.links[0])[0] == 200


def test_only_this_machine(serve, runs):
    assert serve(runs).server_address[0] == "127.0.0.1"


def test_what_cannot_be_served(serve, runs, tmp_path):
    with pytest.raises(InputError, match=r"but .*missing is not a folder; name one"):
        open_server(tmp_path / "missing")
    with pytest.raises(InputError, match="--port must be from 0 to 65535, got 65536"):
        open_server(runs, 65536)
    port = serve(runs).server_port
    with pytest.raises(InputError, match=f"--port must be free, but {port} cannot be used"):
        open_server(runs, port)


def test_command_refuses_what_is_no_folder(tmp_path, capsys):
    assert run_command(["view", str(tmp_path / "missing")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_command_serves_until_it_is_interrupted(runs):
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import rinn.cli; rinn.cli.main()"
    )
    words = [sys.executable, "-c", code, "view", str(runs), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        port = int(re.search(r" at http://127\.0\.0\.1:(\d+)/ ", line).group(1))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/")
        assert b"Runs in" in connection.getresponse().read()
        connection.close()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")


def test_command_opens_a_browser(runs, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("rinn.report.serve.ViewServer.serve_forever", stop)
    assert run_command(["view", str(runs), "--open"]) == 0
    assert opened[0] in capsys.readouterr().out


def test_two_runs_are_compared(serve, runs):
    graph = load_graph(runs / "first" / "graph.json")
    latent = next(node for node, role in graph.nodes(data="role") if role == "latent")
    child = next(iter(graph.successors(latent)))
    changed = nx.relabel_nodes(graph, {latent: "renamed"})
    changed.remove_edge("renamed", child)
    parent = next(iter(graph.predecessors(latent)))
    write_graph(changed, runs / "deep" / "second" / "graph.json")
    server = serve(runs)
    status, headers, content = ask(server, "/compare?run=first&run=deep/second")
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    page = Page(content)
    words = " ".join(page.texts)
    assert page.links == ["/", "/run/first/report.html", "/run/deep/second/report.html"]
    common = graph.number_of_edges() - 1
    assert f"Edges: {common} in both, 1 only in first, 0 only in deep/second." in words
    rows = [row.split("</td>") for row in content.decode().split("<tr>") if ">renamed<" in row]
    assert any(child in row[3] and parent in row[2] for row in rows)
    assert page.tags.count("svg") == 1
    assert "script" not in page.tags


@pytest.mark.parametrize("query", ["", "run=first", "run=first&run=..", "run=first&run=other"])
def test_only_runs_of_the_index_are_compared(serve, runs, query):
    assert ask(serve(runs), f"/compare?{query}")[0] == 404


def test_a_run_that_has_no_graph_cannot_be_compared(serve, runs):
    (runs / "first" / "graph.json").write_text("{}")
    status, _, content = ask(serve(runs), "/compare?run=first&run=deep/second")
    assert status == 200
    assert b"nothing to compare: first: Damaged: graph.json" in content


def test_reports_of_several_runs_lead_back_to_the_index(serve, runs):
    page = '<!doctype html><header><div class="top"><p class="brand">rinn</p></div></header>'
    (runs / "first" / "report.html").write_text(page)
    _, headers, content = ask(serve(runs), "/run/first/report.html")
    assert Page(content).links == ["/"]
    assert int(headers["Content-Length"]) == len(content)
    alone = ask(serve(runs / "first"), "/run/report.html")[2]
    assert alone.decode() == page
