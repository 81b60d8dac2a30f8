"""Which cluster a name or a file stands for."""

import sys

import dask_jobqueue
import pytest

from rinn.cluster import connect
from rinn.cluster.connect import open_workers, read_cluster_file
from rinn.errors import ClusterError, InputError


def open_named(name):
    with open_workers(name) as workers:
        return workers


@pytest.fixture
def started(monkeypatch):
    """The values that a SLURM cluster was started with; no job is submitted."""
    values = {}

    class Fake:
        def __init__(self, **given):
            if "typo" in given:
                raise TypeError("unexpected keyword argument 'typo'")
            values.update(given)

        def adapt(self, minimum_jobs, maximum_jobs):
            values["jobs"] = minimum_jobs, maximum_jobs

    monkeypatch.setattr(dask_jobqueue, "SLURMCluster", Fake)
    monkeypatch.setattr(dask_jobqueue, "SGECluster", Fake)
    return values


def write(folder, text):
    path = folder / "cluster.yaml"
    path.write_text(text)
    return path


def test_no_cluster_is_no_workers():
    assert open_named(None) is None


def test_nothing_is_started_before_there_is_a_task(monkeypatch):
    monkeypatch.setattr(connect, "start_processes", lambda environments: 1 / 0)
    assert open_named("local:3").summaries == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slurm", "cluster must be local:N, local:gpus, the address .* got 'slurm'"),
        (
            "local:two",
            "cluster must be local:N with a whole number N, or local:gpus, got 'local:two'",
        ),
        ("local:0", "the N of local:N must be a whole number from 1 to 1024, got 0"),
        ("nowhere.yaml", "nowhere.yaml"),
    ],
)
def test_a_wrong_name_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        open_named(name)


def test_gpus_are_counted(monkeypatch):
    monkeypatch.setattr(connect, "list_gpus", lambda: [])
    with pytest.raises(InputError, match="nvidia-smi lists no GPU; choose local:N"):
        open_named("local:gpus")
    monkeypatch.setattr(connect, "list_gpus", lambda: ["GPU-a", "GPU-b"])
    environments = connect._count_processes("gpus")
    assert environments == [{"CUDA_VISIBLE_DEVICES": "GPU-a"}, {"CUDA_VISIBLE_DEVICES": "GPU-b"}]


def test_gpus_are_listed_by_nvidia_smi(monkeypatch, tmp_path):
    command = tmp_path / "nvidia-smi"
    command.write_text("#!/bin/sh\necho GPU-1234\necho GPU-5678\n")
    command.chmod(0o755)
    monkeypatch.setattr(connect.shutil, "which", lambda name: str(command))
    assert connect.list_gpus() == ["GPU-1234", "GPU-5678"]


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(connect, "SECONDS_TO_CONNECT", 0.2)
    message = r"no scheduler answers at 'tcp://127\.0\.0\.1:9'"
    with open_workers("tcp://127.0.0.1:9") as workers, pytest.raises(ClusterError, match=message):
        _ = workers.client


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"distributed is not installed; .* 'rinn\[cluster\]'"):
        open_named("local:2")


def test_a_file_describes_jobs(tmp_path, started):
    path = write(tmp_path, "kind: slurm\njobs: 3\ncores: 4\nmemory: 8GB\nqueue: long\n")
    read_cluster_file(path)()
    assert started.pop("job_script_prologue") == ["export JAX_NUM_CPU_DEVICES=1", "export NPROC=1"]
    assert started == {"cores": 4, "memory": "8GB", "processes": 4, "queue": "long", "jobs": (3, 3)}


def test_jobs_with_gpus_have_a_worker_for_each(tmp_path, started):
    text = "kind: slurm\njobs: 2\ncores: 8\nmemory: 32GB\ngpus: 2\njob_extra_directives: [--x]\n"
    read_cluster_file(write(tmp_path, text))()
    assert started["processes"] == 2
    assert started["job_extra_directives"] == ["--x", "--gres=gpu:2"]
    assert "job_script_prologue" not in started


def test_dask_jobqueue_takes_what_a_file_says(tmp_path):
    """The script of a job, by the real class, without submitting it."""
    text = "kind: slurm\ncores: 4\nmemory: 8GB\nwalltime: '01:30:00'\nqueue: long\ngpus: 1\n"
    values = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "_start", lambda *given: values.update(given[3]))
        read_cluster_file(write(tmp_path, text))()
    job = dask_jobqueue.slurm.SLURMJob("tcp://127.0.0.1:9", "job", **values)
    for line in ("#SBATCH -p long", "#SBATCH -t 01:30:00", "#SBATCH --gres=gpu:1"):
        assert line in job.job_script()


def test_kubernetes_is_an_operator(tmp_path, monkeypatch):
    class KubeCluster:
        def __init__(self, **given):
            self.given = given

    module = type(sys)("dask_kubernetes.operator")
    module.KubeCluster = KubeCluster
    monkeypatch.setitem(sys.modules, "dask_kubernetes", type(sys)("dask_kubernetes"))
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", module)
    path = write(tmp_path, "kind: kubernetes\njobs: 5\nname: rinn\nimage: rinn:latest\n")
    cluster = read_cluster_file(path)()
    assert cluster.given == {"n_workers": 5, "name": "rinn", "image": "rinn:latest"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: [slurm", "cannot be read as one in line 1"),
        ("- slurm", "must hold keys and values, such as kind: slurm, but holds list"),
        ("kind: slum\n", "kind in .* must be one of slurm, .* did you mean 'slurm'"),
        ("kind: slurm\njobs: none\n", "jobs in .* must be a whole number"),
        ("kind: slurm\ncores: 4\n", "must say how many cores and how much memory .* only cores"),
        ("kind: sge\ncores: 4\nmemory: 1GB\ngpus: 1\n", "gpus in .* must be left out for the kind"),
        ("kind: slurm\ncores: 4\nmemory: 1GB\ntypo: 1\n", "must hold what SLURMCluster takes"),
        ("kind: kubernetes\n", "dask-kubernetes is not installed; install it"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, started, text, message):
    with pytest.raises(InputError, match=message):
        read_cluster_file(write(tmp_path, text))()
