"""The ways to use several machines in jobs/cluster, each run as its scheduler does, without the scheduler.

Slurm's script and GNU parallel's get a `PATH` in which other programs have the names of thumbjob and scontrol.
The Kubernetes manifest is compared with the schema that Kubernetes publishes, and the command of its pods is run.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from conftest import album
from job import THUMBJOB

CLUSTER = Path("jobs/cluster").absolute()
PARTS = 6


@pytest.fixture
def place(tmp_path):
    """A folder with a few pictures and their lists, and `bin` for programs."""
    album(tmp_path / "photos", 24)
    subprocess.run([THUMBJOB, "split", "photos", "--into", "lists", "--parts", str(PARTS)], cwd=tmp_path, check=True)
    (tmp_path / "bin").mkdir()
    os.symlink(Path(THUMBJOB).absolute(), tmp_path / "bin/thumbjob")
    return tmp_path


def program(place, name, text):
    """Puts a shell script into PATH."""
    file = place / "bin" / name
    file.unlink(missing_ok=True)
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)


def run(place, *words, **variables):
    environment = {**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}", **variables}
    return subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, timeout=120, check=False)


def thumbnails(place):
    return sorted(str(path.relative_to(place / "thumbs")) for path in (place / "thumbs").rglob("*.jpg"))


def sources(place):
    return sorted(path.name for path in (place / "photos").iterdir())


# Slurm


def task(place, number, **variables):
    return run(place, CLUSTER / "slurm.sh", "lists", "thumbs", "--size", "64", SLURM_ARRAY_TASK_ID=str(number),
               SLURM_JOB_ID="77", **variables)


def test_the_tasks_of_a_slurm_array_make_all_thumbnails(place):
    for number in range(PARTS):
        result = task(place, number)
        assert result.returncode == 0, result.stderr
        assert f"share {number}/{PARTS}: " in result.stderr
    assert thumbnails(place) == sources(place)


@pytest.mark.parametrize(("status", "restarts", "is_requeued"), [
    (75, "", True), (75, "4", True), (75, "5", False), (1, "", False), (0, "", False), (64, "", False)])
def test_a_slurm_task_starts_again_only_if_it_stopped_early(place, status, restarts, is_requeued):
    program(place, "thumbjob", f"exit {status}")
    program(place, "scontrol", "echo \"$@\" > requeued")
    result = task(place, 0, **({"SLURM_RESTART_COUNT": restarts} if restarts else {}))
    assert result.returncode == status
    assert (place / "requeued").exists() == is_requeued
    if is_requeued:
        assert (place / "requeued").read_text() == "requeue 77\n"


def test_a_slurm_task_passes_signals_on_and_waits_for_the_end(place):
    program(place, "thumbjob", "trap 'echo stopped; exit 75' USR2\nwhile :; do kill -USR2 $PPID; sleep 0.1; done")
    program(place, "scontrol", "echo \"$@\"")
    result = task(place, 0)
    assert result.returncode == 75
    assert result.stdout == "stopped\nrequeue 77\n"


# GNU parallel


@pytest.fixture
def parallel(place):
    """The same, with a list of machines: only this one."""
    (place / "hosts").write_text(":\n")
    return place


def test_gnu_parallel_makes_all_lists(parallel):
    result = run(parallel, CLUSTER / "parallel.sh", "hosts", "lists", "thumbs", "--size", "64")
    assert result.returncode == 0, result.stderr
    assert thumbnails(parallel) == sources(parallel)


def test_failed_sources_are_reported_once_and_the_others_made(parallel):
    broken = parallel / "photos/IMG_0003.jpg"
    broken.unlink()
    broken.write_bytes(b"no picture")
    result = run(parallel, CLUSTER / "parallel.sh", "hosts", "lists", "thumbs", "--size", "64")
    assert result.returncode == 1
    assert result.stderr.count("IMG_0003.jpg: ") == 1
    assert len(thumbnails(parallel)) == len(sources(parallel)) - 1


def test_a_list_whose_machine_fails_is_tried_again(parallel):
    # The list that comes first fails once, as if its machine had gone.
    program(parallel, "thumbjob",
            f"mkdir tried 2>/dev/null && exit 255\nexec {shlex.quote(str(Path(THUMBJOB).absolute()))} \"$@\"")
    result = run(parallel, CLUSTER / "parallel.sh", "hosts", "lists", "thumbs", "--size", "64")
    assert result.returncode == 0, result.stderr
    assert thumbnails(parallel) == sources(parallel)


def test_a_list_that_always_fails_is_named_in_the_end(parallel):
    program(parallel, "thumbjob",
            f"case \"$*\" in *lists/0004) echo x >> tries; exit 75;; esac\n"
            f"exec {shlex.quote(str(Path(THUMBJOB).absolute()))} \"$@\"")
    result = run(parallel, CLUSTER / "parallel.sh", "hosts", "lists", "thumbs", "--size", "64")
    assert result.returncode == 75
    assert result.stderr.endswith("parallel.sh: not done: 0004\n")
    assert (parallel / "tries").read_text() == "x\n" * 3


@pytest.mark.parametrize("script", ["slurm.sh", "parallel.sh"])
def test_a_script_without_arguments_tells_its_usage(place, script):
    result = run(place, CLUSTER / script)
    assert result.returncode == 64
    assert "LISTS OUT" in result.stderr


# Kubernetes


@pytest.fixture(scope="module")
def jobs():
    return list(yaml.safe_load_all((CLUSTER / "kubernetes.yaml").read_text()))


@pytest.mark.parametrize("version", ["1.29", "1.33", kubernetes_validate.latest_version()])
def test_the_manifest_follows_the_schema_of_kubernetes(jobs, version):
    for job in jobs:
        kubernetes_validate.validate(job, version, strict=True)


def test_the_schema_rejects_a_misspelled_field(jobs):
    wrong = json.loads(json.dumps(jobs[1]).replace("backoffLimitPerIndex", "backofLimitPerIndex"))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.33", strict=True)


def test_the_pods_of_all_indexes_make_all_thumbnails(place, jobs):
    def command(job):
        words = job["spec"]["template"]["spec"]["containers"][0]["command"]
        return [word.replace("/photos", "photos").replace("/work/", "") for word in words]

    split, run_list = command(jobs[0]), command(jobs[1])
    completions = jobs[1]["spec"]["completions"]
    assert split[-1] == str(completions)
    result = run(place, *split)
    assert result.returncode == 0, result.stderr
    # An index without a source first, then those with one.
    sizes = {int(path.name): path.stat().st_size for path in (place / "lists").iterdir() if path.name.isdigit()}
    assert sorted(sizes) == list(range(completions))
    for index in [min(sizes, key=sizes.get)] + [index for index, size in sizes.items() if size > 0]:
        result = run(place, *run_list, JOB_COMPLETION_INDEX=str(index))
        assert result.returncode == 0, result.stderr
    assert thumbnails(place) == sources(place)
