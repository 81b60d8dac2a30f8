"""A cluster by its name: processes of this machine, a scheduler that runs, or a batch queue."""

from __future__ import annotations

import contextlib
import importlib
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rinn.cluster.dask_workers import DaskWorkers
from rinn.config import check_choice, check_integer, count_cores
from rinn.errors import ClusterError, InputError, quote
from rinn.files import read_file

if TYPE_CHECKING:
    from distributed import Client, SpecCluster

MAX_PROCESSES = 1024
SECONDS_TO_CONNECT = 20
INSTALL = "install it with pip install 'rinn[cluster]'"
FORMS = "local:N, local:gpus, the address of a scheduler (tcp://host:8786) or a YAML file"
# The queues of dask-jobqueue, and the classes that submit jobs to them.
QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "moab": "MoabCluster",
    "htcondor": "HTCondorCluster",
}
KUBERNETES = "kubernetes"
GPU_DIRECTIVES = {"slurm": "--gres=gpu:{}", "pbs": "-l ngpus={}", "lsf": "-gpu num={}"}
# Each worker computes on one core: its programs run beside those of the others.
ONE_CORE = {"JAX_NUM_CPU_DEVICES": "1", "NPROC": "1"}


@contextlib.contextmanager
def open_workers(
    cluster: str | Client | DaskWorkers | None,
    device: str = "auto",
    notify: Callable[[str], None] = lambda text: None,
) -> Iterator[DaskWorkers | None]:
    """The workers of a cluster, started when the first task needs them; None without a cluster."""
    if cluster is None or isinstance(cluster, DaskWorkers):
        yield cluster
        return
    if not isinstance(cluster, str):
        yield DaskWorkers(lambda: cluster, device, notify=notify)
        return
    _import("distributed")
    connect = _find_cluster(cluster)
    with contextlib.ExitStack() as stack:
        yield DaskWorkers(lambda: connect(stack), device, notify=notify)


def find_client() -> Client | None:
    """Dask's default client, where there is one; within a task of Dask there is none.

    A task that waited for other tasks would keep the worker that they need.
    """
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client, get_worker

    with contextlib.suppress(ValueError):
        get_worker()
        return None
    with contextlib.suppress(ValueError):
        return default_client()
    return None


def _find_cluster(name: str) -> Callable[[contextlib.ExitStack], Client]:
    """How to connect to a named cluster; InputError before anything is started."""
    kind, _, rest = name.partition(":")
    if "://" in name:
        return lambda stack: _connect(name, stack)
    if kind == "local":
        processes = _count_processes(rest)
        return lambda stack: _connect(start_processes(processes), stack)
    path = Path(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"cluster must be {FORMS}, got {quote(name)}; choose one of these")
    start = read_cluster_file(path)
    return lambda stack: _connect(start(), stack)


def _connect(cluster: Any, stack: contextlib.ExitStack) -> Client:
    """Connect to an address or to a cluster that was started, which is closed in the end."""
    from distributed import Client

    if not isinstance(cluster, str):
        stack.enter_context(cluster)
    try:
        client = Client(cluster, set_as_default=False, timeout=SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as error:
        where = cluster if isinstance(cluster, str) else cluster.scheduler_address
        raise ClusterError(
            f"no scheduler answers at {quote(where)} ({type(error).__name__}); start one with "
            f"'dask scheduler' and workers with 'dask worker', or check the address"
        ) from error
    return stack.enter_context(client)


def _count_processes(text: str) -> list[dict[str, str]]:
    """The environment of each process of local:N or local:gpus."""
    if text == "gpus":
        gpus = list_gpus()
        if not gpus:
            raise InputError(
                "cluster must name processes that this machine can run, got 'local:gpus' but "
                "nvidia-smi lists no GPU; choose local:N for N processes on its cores"
            )
        return [{"CUDA_VISIBLE_DEVICES": gpu} for gpu in gpus]
    number = text or str(count_cores())
    if not number.isdecimal():
        raise InputError(
            f"cluster must be local:N with a whole number N, or local:gpus, got "
            f"{quote(f'local:{text}')}; choose for example local:{count_cores()}"
        )
    return [{"JAX_PLATFORMS": "cpu"}] * check_integer(
        "the N of local:N", int(number), 1, MAX_PROCESSES
    )


def list_gpus() -> list[str]:
    """The identifiers of the NVIDIA GPUs of this machine."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    query = [command, "--query-gpu=uuid", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)  # noqa: S603
    return [line.strip() for line in done.stdout.splitlines() if line.startswith("GPU-")]


def start_processes(environments: list[dict[str, str]]) -> SpecCluster:
    """One worker for each environment, reachable from this machine alone."""
    from distributed import Nanny, Scheduler, SpecCluster
    from distributed.system import MEMORY_LIMIT

    here = "127.0.0.1"
    memory = MEMORY_LIMIT // len(environments)
    options = {"nthreads": 1, "host": here, "memory_limit": memory}
    # Dask's profiler, which looks at the stack a hundred times a second, costs about 5 %.
    config = {"distributed.worker.profile.enabled": False}
    options |= {"silence_logs": logging.CRITICAL, "config": config}
    specs: dict[Any, Any] = {
        number: {"cls": Nanny, "options": options | {"env": ONE_CORE | own}}
        for number, own in enumerate(environments)
    }
    scheduler = {
        "cls": Scheduler,
        "options": {"host": here, "dashboard": True, "dashboard_address": f"{here}:0"},
    }
    return SpecCluster(specs, scheduler, silence_logs=logging.CRITICAL, name="rinn")


def read_cluster_file(path: Path) -> Callable[[], Any]:
    """How to start the cluster that a YAML file describes; InputError where it is wrong.

    `kind` is a queue of dask-jobqueue or kubernetes, `jobs` the number of jobs, `gpus` that of the
    GPUs of each job. All other keys go to the class of that kind.
    """
    import yaml

    try:
        values = yaml.safe_load(read_file(path, f"cluster file {path}").decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" in line {line + 1}"
        raise InputError(
            f"cluster must name a YAML file, but {path} cannot be read as one{where}; write one "
            f"key and value a line, such as kind: slurm"
        ) from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InputError(
            f"{path} must hold keys and values, such as kind: slurm, but holds "
            f"{type(values).__name__}; see docs/cluster.md"
        )
    kind = check_choice(f"kind in {path}", values.pop("kind", None), [*QUEUES, KUBERNETES])
    jobs = check_integer(f"jobs in {path}", values.pop("jobs", 1), 1, MAX_PROCESSES)
    gpus = check_integer(f"gpus in {path}", values.pop("gpus", 0), 0, MAX_PROCESSES)
    if kind == KUBERNETES:
        return lambda: _start(path, "dask_kubernetes.operator", "KubeCluster",
                              {"n_workers": jobs} | values)  # fmt: skip
    if "cores" not in values or "memory" not in values:
        raise InputError(
            f"{path} must say how many cores and how much memory a job has, but has only "
            f"{', '.join(values) or 'no such key'}; add for example cores: 4 and memory: 8GB"
        )
    values.setdefault("processes", values["cores"])
    if gpus:
        if kind not in GPU_DIRECTIVES and "job_extra_directives" not in values:
            raise InputError(
                f"gpus in {path} must be left out for the kind {kind!r}, whose jobs ask for GPUs "
                f"in their own way; write that under job_extra_directives"
            )
        asked = [GPU_DIRECTIVES[kind].format(gpus)] if kind in GPU_DIRECTIVES else []
        values["job_extra_directives"] = [*values.get("job_extra_directives", []), *asked]
        values["processes"] = gpus
    if not gpus:
        lines = [f"export {name}={value}" for name, value in ONE_CORE.items()]
        values["job_script_prologue"] = [*values.get("job_script_prologue", []), *lines]
    _import("dask_jobqueue")
    return lambda: _start(path, "dask_jobqueue", QUEUES[kind], values, jobs)


def _start(path: Path, module: str, name: str, values: dict[str, Any], jobs: int = 0) -> Any:
    cluster_class = getattr(_import(module), name)
    try:
        cluster = cluster_class(**values)
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path} must hold what {name} takes, but: {reason}; see the "
            f"documentation of {module.partition('.')[0].replace('_', '-')}"
        ) from error
    if jobs:
        cluster.adapt(minimum_jobs=jobs, maximum_jobs=jobs)  # a job that ends is submitted again
    return cluster


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0].replace("_", "-")
        how = "install it" if package == "dask-kubernetes" else INSTALL
        raise InputError(
            f"cluster must be left out where {package} is not installed; {how}"
        ) from None
