"""A real SLURM on this machine: jobs are cancelled, and the client is killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rinn.cli import run

pytestmark = pytest.mark.slow

RESULTS = ("trials.csv", "graph.json", "edges.csv", "weights.safetensors")
SCRIPT = Path(__file__).with_name("slurm_node.sh")
FILE = """
kind: slurm
jobs: 2
cores: 1
memory: 2GB
walltime: "00:20:00"
log_directory: {logs}
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A SLURM of one node; skipped where it is not installed or this is not root."""
    if shutil.which("slurmctld") is None or shutil.which("munged") is None or os.getuid():
        pytest.skip("needs root and Debian's packages slurm-wlm and munge")
    folder = tmp_path / "slurm"
    for parent in (tmp_path, *list(tmp_path.parents)[:2]):
        parent.chmod(0o755)  # munge has a user of its own
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    subprocess.run(["bash", SCRIPT, "start", folder], check=True)
    yield
    subprocess.run(["scancel", "--user", "root"], check=False)
    subprocess.run(["bash", SCRIPT, "stop", folder], check=True)


def list_jobs():
    done = subprocess.run(["squeue", "--noheader", "--states=R", "--format=%i"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    return done.stdout.split()


def wait_for(find, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := find():
            return found
        time.sleep(0.2)
    raise AssertionError("it took too long")


def read(folder):
    return {name: (folder / name).read_bytes() for name in RESULTS}


def test_a_run_survives_cancelled_jobs_and_a_killed_client(slurm, tmp_path):
    assert run(["simulate", "or", "--out", str(tmp_path / "or")]) == 0
    (tmp_path / "slurm.yaml").write_text(FILE.format(logs=tmp_path / "logs"))
    tables = [str(tmp_path / "or" / name) for name in ("x.csv", "y.csv")]
    settings = ["--effects", "corrected", "--trials", "64", "--epochs", "100"]
    command = [sys.executable, "-c", "from rinn.cli import main; main()", "fit", *tables, *settings]
    subprocess.run([*command, "--out", tmp_path / "here", "--quiet"], check=True)
    there = [*command, "--out", tmp_path / "there", "--cluster", tmp_path / "slurm.yaml"]

    with (tmp_path / "first.log").open("w") as log:
        client = subprocess.Popen(there, stderr=log, stdout=log)
        wait_for(lambda: list((tmp_path / "there").glob("[nw]*/*.npz")))  # nets or work
        client.send_signal(signal.SIGKILL)
        client.wait()
    assert not (tmp_path / "there" / "graph.json").exists()
    subprocess.run(["scancel", *list_jobs()], check=True)

    with (tmp_path / "second.log").open("w") as log:
        client = subprocess.Popen(there, stderr=log, stdout=log)
        first = wait_for(lambda: list_jobs() if "2 workers" in (tmp_path / "second.log").read_text()
                         else [])  # fmt: skip
        subprocess.run(["scancel", first[0]], check=True)
        assert client.wait(timeout=600) == 0
    assert read(tmp_path / "there") == read(tmp_path / "here")
    text = (tmp_path / "second.log").read_text()
    assert re.search(r"Cluster tcp://\S+: \d workers?", text)
    print(text)
