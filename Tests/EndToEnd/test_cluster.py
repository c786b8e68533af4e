"""The ways to use several machines in jobs/cluster, each run as its scheduler does, without the scheduler.

The scripts get a `PATH` in which other programs have the names of thumbjob, scontrol and kubectl. The Kubernetes
manifests are compared with the schema that Kubernetes publishes, and the commands of their pods are run.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from PIL import Image

from conftest import album
from job import THUMBJOB, eventually

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


def test_a_cancelled_slurm_task_says_what_it_has_made_and_remembers_it(place):
    # More than are made before the signal.
    for index in range(1000):
        os.link(place / "photos/IMG_0001.jpg", place / f"photos/more{index}.jpg")
    run(place, "thumbjob", "split", "photos", "--into", "all", "--parts", "1")
    task = subprocess.Popen(
        [CLUSTER / "slurm.sh", "all", "thumbs", "--size", "400"], cwd=place, text=True, stderr=subprocess.PIPE,
        env={**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "0"},
        start_new_session=True)
    eventually("some are made", lambda: len(thumbnails(place)) > 2)
    # As `scancel` does: thumbjob and the shell get the signal.
    os.killpg(task.pid, signal.SIGTERM)
    errors = task.communicate(timeout=60)[1]
    assert task.returncode == 143
    assert "stopped by TERM; run the same command again to go on" in errors
    made = len(thumbnails(place))
    assert run(place, "thumbjob", "report", "thumbs").stdout.startswith(f"{made} sources: {made} made ")


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


def documents(name):
    return list(yaml.safe_load_all((CLUSTER / name).read_text()))


@pytest.fixture(scope="module")
def jobs():
    return documents("kubernetes-split.yaml") + documents("kubernetes.yaml")


@pytest.mark.parametrize("version", ["1.29", "1.33", kubernetes_validate.latest_version()])
def test_the_manifests_follow_the_schema_of_kubernetes(jobs, version):
    for document in jobs + documents("kubernetes-claims.yaml"):
        kubernetes_validate.validate(document, version, strict=True)


def test_the_schema_rejects_a_misspelled_field(jobs):
    wrong = json.loads(json.dumps(jobs[1]).replace("backoffLimitPerIndex", "backofLimitPerIndex"))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, "1.33", strict=True)


def test_a_namespace_with_the_restricted_profile_accepts_the_pods(jobs):
    # https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    for job in jobs:
        pod = job["spec"]["template"]["spec"]
        rights = pod["securityContext"]
        assert rights["runAsNonRoot"] and rights["runAsUser"] > 0
        assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod)
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "ports" not in container
        assert all(set(volume) == {"name", "persistentVolumeClaim"} for volume in pod["volumes"])
        # Not a part of the profile.
        assert pod["automountServiceAccountToken"] is False


def test_the_jobs_have_the_claims_of_the_example_and_no_number_that_depends_on_that_of_the_lists(jobs):
    claims = {claim["metadata"]["name"] for claim in documents("kubernetes-claims.yaml")}
    for job in jobs:
        volumes = job["spec"]["template"]["spec"]["volumes"]
        assert {volume["persistentVolumeClaim"]["claimName"] for volume in volumes} == claims
        assert not {"maxFailedIndexes", "suspend"} & set(job["spec"])


def words(job):
    return job["spec"]["template"]["spec"]["containers"][0]["command"]


def test_the_pods_of_all_indexes_make_all_thumbnails(place, jobs):
    def command(job):
        return [word.replace("/photos", "photos").replace("/work/", "") for word in words(job)]

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


@pytest.fixture
def pod(jobs):
    """Runs the command of a pod as its user, where only the claim `thumbs` can be written."""
    if os.geteuid() != 0:
        pytest.skip("only root can become the user of the pods")
    folder = Path(tempfile.mkdtemp(prefix="thumbjob-pod-"))
    folder.chmod(0o755)
    album(folder / "photos", 6)
    Image.new("RGBA", (300, 200), (255, 0, 0, 128)).save(folder / "photos/picture.png")
    (folder / "work").mkdir()
    # As Kubernetes does for `fsGroup`.
    os.chown(folder / "work", 0, jobs[0]["spec"]["template"]["spec"]["securityContext"]["fsGroup"])
    (folder / "work").chmod(0o2775)

    def run_pod(job, **variables):
        rights = job["spec"]["template"]["spec"]["securityContext"]
        mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro / && exec setpriv \"$@\""
        command = [f"{folder}{word}" if word.startswith(("/photos", "/work/")) else word for word in words(job)]
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", mount, str(folder / "work"),
             f"--reuid={rights['runAsUser']}", f"--regid={rights['runAsGroup']}", f"--groups={rights['fsGroup']}",
             "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", str(Path(THUMBJOB).absolute()), *command[1:]],
            env={"PATH": os.defpath, **variables}, cwd="/", capture_output=True, text=True, timeout=120, check=False)

    yield folder, run_pod
    shutil.rmtree(folder)


def test_the_pods_run_as_a_user_that_may_only_write_to_the_claim_for_thumbnails(pod, jobs):
    folder, run_pod = pod
    result = run_pod(jobs[0])
    assert result.returncode == 0, result.stderr
    for index in range(jobs[1]["spec"]["completions"]):
        if (folder / f"work/lists/{index:04}").stat().st_size > 0:
            result = run_pod(jobs[1], JOB_COMPLETION_INDEX=str(index))
            assert (result.returncode, result.stderr) == (0, "")
    made = sorted(path.name for path in (folder / "work/thumbs").glob("*.jpg"))
    assert made == [f"IMG_{index:04}.jpg" for index in range(6)] + ["picture.png.jpg"]


KUBECTL = """
echo "$@" >> calls
case "$*" in
  *"wait --for=condition=complete"*) [ "$(grep -c condition=complete calls)" -gt 2 ] && [ "$ENDS" = complete ] ;;
  *"wait --for=condition=failed"*) [ "$ENDS" = failed ] ;;
  *"get job/thumbjob-split"*) [ "$ENDS" != removed ] ;;
esac
"""


@pytest.mark.parametrize(("ends", "status", "is_started"), [("complete", 0, True), ("failed", 1, False),
                                                           ("removed", 1, False)])
def test_the_thumbnails_are_started_only_after_a_split_that_succeeded(place, ends, status, is_started):
    program(place, "kubectl", KUBECTL)
    result = run(place, CLUSTER / "kubernetes.sh", "--namespace", "photos", ENDS=ends)
    assert result.returncode == status
    calls = (place / "calls").read_text().splitlines()
    assert all(call.startswith("--namespace photos ") for call in calls)
    applied = [call.split("/")[-1] for call in calls if " apply " in call]
    assert applied == ["kubernetes-split.yaml"] + ["kubernetes.yaml"] * is_started
    assert ("the split failed" in result.stderr) == (ends == "failed")
