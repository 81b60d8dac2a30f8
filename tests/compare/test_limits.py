import os
import subprocess
import sys
import time

import pytest

from rinn.compare.limits import run_limited


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # one that nobody waits for is dead too
        return file.read().rpartition(")")[2].split()[0] != "Z"


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_command_within_its_limit():
    ended = run_limited([sys.executable, "-c", "import sys; sys.exit('it broke')"], 60)
    assert (ended.code, ended.error, ended.is_stopped) == (1, "it broke", False)
    assert run_limited([sys.executable, "-c", "pass"], 60).code == 0


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(600)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes in /proc")
def test_at_its_limit_a_command_is_killed_with_its_children(tmp_path):
    path = tmp_path / "pid"
    ended = run_limited([sys.executable, "-c", PARENT, str(path)], 2)
    assert ended.code is None
    assert ended.is_stopped
    assert 2 <= ended.seconds < 20
    pid = int(path.read_text())
    wait_for(lambda: not is_alive(pid))


WORKERS = """
import resource
from joblib import Parallel, delayed
def work():
    while True: pass
resource.setrlimit(resource.RLIMIT_CPU, (1, 9))
Parallel(2, backend="loky")(delayed(work)() for _ in range(2))
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no limits of processor time")
def test_a_worker_over_the_limit_of_processor_time_is_the_limit():
    ended = run_limited([sys.executable, "-c", WORKERS], 60)
    assert ended.code == 1
    assert ended.is_stopped
    alone = "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, 9))\nwhile True: pass"
    assert run_limited([sys.executable, "-c", alone], 60).is_stopped


LIMITED = """
import sys
from rinn.compare.limits import run_limited
run_limited([sys.executable, "-c", sys.argv[1], sys.argv[2]], 600)
"""
CHILD = """
import os, sys, time
from rinn.compare.limits import end_with_parent
end_with_parent()
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes in /proc")
def test_a_child_ends_with_a_parent_that_is_killed(tmp_path):
    path = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", LIMITED, CHILD, str(path)])
    wait_for(lambda: path.exists() and path.read_text())
    pid = int(path.read_text())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_alive(pid))
