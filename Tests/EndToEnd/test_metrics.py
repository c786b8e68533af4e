"""GET /metrics of a running job, over its private socket: the format, by Prometheus's own checker, and the values."""

import os
import shutil
import subprocess

import pytest

from job import SLOW, HeldJob, UnixSession, ended
from waiting import eventually

PROMTOOL = os.environ.get("PROMTOOL") or shutil.which("promtool") or ".build/prometheus/usr/bin/promtool"
PICTURES = 24
# How many of them the job gets at first.
FIRST = 14


@pytest.fixture(scope="module")
def job(pictures, start_for_all):
    job = start_for_all("--max", "2", "--backlog", str(PICTURES), "--size", "400", *SLOW, kind=HeldJob)
    job.give(*(pictures / f"IMG_{index:04}.jpg" for index in range(FIRST)))
    job.private = UnixSession(job.socket_path)
    yield job
    job.private.close()


def ask(job, path):
    answer = job.private.get("http://localhost" + path, timeout=45)
    assert answer.status_code == 200
    return answer


def samples(job):
    """The values of all samples, by name and labels."""
    lines = ask(job, "/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def check_metrics(text):
    """Has promtool check metrics."""
    check = subprocess.run(
        [PROMTOOL, "check", "metrics"], check=False, input=text, capture_output=True, timeout=30)
    assert (check.returncode, check.stdout + check.stderr) == (0, b"")


def test_only_its_user_can_open_the_private_socket(job):
    eventually("the private socket is open", job.socket_path.is_socket)
    assert job.socket_path.stat().st_mode & 0o777 == 0o600
    assert job.socket_path.parent.stat().st_mode & 0o777 == 0o700


def test_promtool_accepts_the_metrics_of_a_running_job(job):
    eventually("a thumbnail is made", lambda: job.counters()["made"] > 0)
    answer = ask(job, "/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    check_metrics(answer.content)


def test_counters_agree_with_the_status_near_the_end(job, pictures):
    eventually("the first sources have ended", lambda: ended(job.counters()) == FIRST, 60)
    # Nothing must change between the two answers.
    job.command("POST", "/pause")
    job.give(*(pictures / f"IMG_{index:04}.jpg" for index in range(FIRST, PICTURES)))
    job.end_list()
    eventually("the others wait", lambda: job.counters()["waiting"] == PICTURES - FIRST)
    metrics, counters = samples(job), ask(job, "/status").json()["counters"]
    assert counters["made"] == FIRST
    for outcome in ("made", "up_to_date", "passed_over", "failed", "cancelled"):
        assert metrics[f'thumbjob_sources_total{{outcome="{outcome}"}}'] == counters[outcome]
    assert metrics["thumbjob_sources_found_total"] == counters["found"] == PICTURES
    assert metrics["thumbjob_thumbnails_total"] == counters["thumbnails"]
    assert metrics["thumbjob_written_bytes_total"] == counters["bytes_written"]
    assert metrics["thumbjob_read_bytes_total"] == counters["bytes_read"]
    assert metrics['thumbjob_operations{state="waiting"}'] == counters["waiting"]
    assert metrics["thumbjob_operation_work_seconds_count"] == counters["made"]
    assert metrics['thumbjob_state{state="paused"}'] == 1


def test_every_thumbnail_is_on_disk_in_the_end(job):
    before = samples(job)
    job.command("POST", "/resume")
    assert job.exit_status() == 0
    made = list(job.thumbs.rglob("*.jpg"))
    assert len(made) == 2 * PICTURES
    # The counters were on their way to the final values.
    assert before["thumbjob_thumbnails_total"] < 2 * PICTURES
    assert before["thumbjob_written_bytes_total"] < sum(path.stat().st_size for path in made)
    assert f"{2 * PICTURES} thumbnails of {PICTURES} pictures in " in job.stderr
