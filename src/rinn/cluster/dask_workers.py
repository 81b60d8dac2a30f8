"""The workers of a Dask cluster: tasks by futures, and what becomes of them when parts fail.

A task that was lost with its worker is computed again by another. What the tasks of a stage share
is itself a task, whose result stays on each worker that has asked for it, so that it is sent once
to each and made again where it is lost.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import math
import platform
import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rinn.cluster.tasks import Done, Tasks
from rinn.errors import ClusterError, InputError, count

if TYPE_CHECKING:
    from distributed import Client, Future

MIN_SECONDS = 10.0  # two worker processes start in four
SECONDS_BETWEEN_CHECKS = 2.0
SHORT, TASKS_AHEAD = 1.0, 4  # seconds of a short task, and how many of these a worker gets at once
PACKAGES = ("rinn", "jax", "jaxlib", "numpy", "scipy")  # others do not change results


@dataclass(frozen=True)
class WorkerSummary:
    """What a worker was and what it did."""

    name: str
    cpu: str
    tasks: int = 0
    seconds: float = 0.0  # that it has worked
    networks: int = 0


class DaskWorkers:
    """Runs tasks on a Dask cluster, to which it connects when the first one is added."""

    def __init__(
        self,
        connect: Callable[[], Client],
        device: str = "auto",
        *,
        notify: Callable[[str], None] = lambda text: None,
        min_seconds: float = MIN_SECONDS,
    ) -> None:
        self.device, self.min_seconds = device, min_seconds
        self._connect, self._notify = connect, notify
        self.summaries: dict[str, WorkerSummary] = {}

    @functools.cached_property
    def client(self) -> Client:
        """The connection; a sentence says to what."""
        client = self._connect()
        _wait_for_workers(client, self._notify)
        has_page = importlib.util.find_spec("bokeh") is not None
        page = f"; dashboard: {client.dashboard_link}" if has_page and client.dashboard_link else ""
        workers = count(len(client.nthreads()), "worker")
        self._notify(f"Cluster {_find_address(client)}: {workers}{page}.")
        return client

    @contextlib.contextmanager
    def open(self, function: Callable[..., Any], *shared: Any) -> Iterator[Tasks]:
        """Send what all calls of a function share once to each worker; no task is left behind."""
        tasks = _DaskTasks(self, function, shared)
        try:
            yield tasks
        finally:
            tasks.cancel()

    def count_networks(self, worker: str, networks: int) -> None:
        """Note that a worker has trained networks."""
        summary = self.summaries[worker]
        self.summaries[worker] = replace(summary, networks=summary.networks + networks)

    def count_task(self, address: str, name: str, cpu: str, seconds: float) -> None:
        """Note that a worker has finished a task."""
        now = self.summaries.get(address) or WorkerSummary(name, cpu)
        now = replace(now, tasks=now.tasks + 1, seconds=now.seconds + seconds)
        self.summaries[address] = now

    def check(self) -> None:
        """Raise ClusterError where the scheduler does not answer; wait where no worker is there."""
        try:
            if self.client.status == "running":
                _wait_for_workers(self.client, self._notify)
                return
        except (OSError, TimeoutError):
            pass
        raise _report_loss(self.client)


class _DaskTasks:
    """The tasks of one function on a cluster."""

    def __init__(
        self, workers: DaskWorkers, function: Callable[..., Any], shared: tuple[Any, ...]
    ) -> None:
        from distributed.protocol import pickle

        self._workers, self._client = workers, workers.client
        self._dumps = pickle.dumps
        # As bytes: Dask would look into containers for futures. The key is the content, so that
        # the same tables are not sent again.
        content = pickle.dumps((function, shared))
        key = f"rinn-shared-{hashlib.sha256(content).hexdigest()[:32]}"
        self._shared = self._client.submit(pickle.loads, content, key=key)
        self._threads = self._client.nthreads()
        self._waiting: deque[tuple[Any, bytes]] = deque()
        self._pending: dict[Any, tuple[Any, Future, str]] = {}
        self._seconds = math.inf  # of the last task
        self._due = 0.0
        self._finished: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def add(self, name: Any, *arguments: Any, near: str | None = None) -> None:
        """Call the function with these arguments and the shared ones, on `near` if it is there."""
        if near is None:
            self._waiting.append((name, self._dumps(arguments)))
        else:
            self._submit(name, self._dumps(arguments), near)

    def _submit(self, name: Any, arguments: bytes, worker: str) -> None:
        future = self._client.submit(
            call,
            self._shared,
            arguments,
            find_versions(),
            pure=False,
            workers=[worker],
            allow_other_workers=True,  # where it is gone
        )
        self._pending[future.key] = name, future, worker
        future.add_done_callback(self._finished.put)

    def _fill(self) -> None:
        """Give each free worker a task, and some more where they are short.

        Dask itself would give most to the worker that has what they share.
        """
        most = 1 if self._seconds >= SHORT else TASKS_AHEAD
        load = Counter(worker for _, _, worker in self._pending.values())
        while self._waiting and self._threads:
            worker = min(self._threads, key=lambda each: load[each] / self._threads[each])
            if load[worker] >= most * self._threads[worker]:
                return
            self._submit(*self._waiting.popleft(), worker)
            load[worker] += 1

    def __iter__(self) -> Iterator[Done]:
        """The tasks as they finish; ClusterError where the cluster fails."""
        while self._pending or self._waiting:
            self._fill()
            future = self._wait()
            if future is None or future.key not in self._pending:
                continue
            name, _, _ = self._pending.pop(future.key)
            address, worker, cpu, self._seconds, result = self._read(future)
            self._workers.count_task(address, worker, cpu, self._seconds)
            yield Done(name, result, address)

    def cancel(self) -> None:
        """Let the cluster forget the tasks that are not finished."""
        if self._client.status == "running":  # else it would wait for the scheduler for ever
            self._client.cancel([future for _, future, _ in self._pending.values()])
        self._pending = {}

    def _wait(self) -> Future | None:
        if time.monotonic() < self._due:
            with contextlib.suppress(queue.Empty):
                return self._finished.get(timeout=SECONDS_BETWEEN_CHECKS)
        self._workers.check()
        self._threads = self._client.nthreads()  # workers come and go
        self._due = time.monotonic() + SECONDS_BETWEEN_CHECKS
        return None

    def _read(self, future: Future) -> tuple[str, str, str, float, Any]:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            return future.result()
        except KilledWorker as error:
            raise ClusterError(_describe_kill(error)) from error
        except MemoryError as error:
            raise ClusterError(
                "a worker has too little memory for its task; give each worker more memory, or "
                "start fewer of them, and run the same command again: it resumes"
            ) from error
        except ModuleNotFoundError as error:
            raise InputError(
                f"workers must have rinn {find_versions()['rinn']} and what it needs installed, "
                f"but a worker lacks the package {error.name!r}; install it there"
            ) from error
        except (FutureCancelledError, OSError, TimeoutError) as error:
            raise _report_loss(self._client) from error


def call(
    shared: tuple[Callable[..., Any], tuple[Any, ...]], arguments: bytes, versions: dict[str, str]
) -> tuple[str, str, str, float, Any]:
    """Run one task on a worker: who has run it, on what, its seconds and its result."""
    from distributed import get_worker
    from distributed.protocol import pickle

    here = find_versions()
    if here != versions:
        differ = [name for name in versions if here[name] != versions[name]]
        theirs, ours = (
            ", ".join(f"{name} {each[name]}" for name in differ) for each in (here, versions)
        )
        raise InputError(
            f"workers must have the same versions as this process, {ours}, but a worker has "
            f"{theirs}; install the same on both"
        )
    worker = get_worker()
    started = time.perf_counter()
    function, common = shared
    result = function(*pickle.loads(arguments), *common)
    seconds = time.perf_counter() - started
    return worker.address, str(worker.name), find_cpu(), seconds, result


@functools.cache
def find_versions() -> dict[str, str]:
    """The versions of what decides a result."""
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return versions | {"python": ".".join(platform.python_version_tuple()[:2])}


@functools.cache
def find_cpu() -> str:
    """The model of this machine's CPU."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _wait_for_workers(client: Client, notify: Callable[[str], None]) -> None:
    if client.nthreads():
        return
    notify(f"No worker is connected to the scheduler {_find_address(client)}; waiting for one ...")
    while not client.nthreads():
        time.sleep(SECONDS_BETWEEN_CHECKS / 2)
    notify(f"{count(len(client.nthreads()), 'worker')} connected.")


def _find_address(client: Client) -> str:
    return str(client.scheduler.address) if client.scheduler else "of the cluster"


def _report_loss(client: Client) -> ClusterError:
    return ClusterError(
        f"the scheduler {_find_address(client)} no longer answers; what was "
        f"finished is saved, and the same command resumes once a scheduler runs"
    )


def _describe_kill(error: Any) -> str:
    limit = getattr(error.last_worker, "memory_limit", 0)
    size = f" of {limit / 1e9:.1f} GB" if limit else ""
    return (
        f"{error.allowed_failures + 1} workers ended while they ran the same task, most likely "
        f"because their memory{size} was not enough; give each worker more memory, or start "
        f"fewer of them, and run the same command again: it resumes"
    )
