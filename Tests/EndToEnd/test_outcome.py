"""The outcome of a run in its last event, for each way to end: what came out of it and why."""

import json
import os
import signal

import pytest
import requests

from job import SLOW, HeldJob
from waiting import eventually


class Listener:
    """Reads the events of a job."""

    def __init__(self, job):
        answer = job.ask("GET", "/events", stream=True)
        self.lines = answer.iter_lines(chunk_size=1)
        self.last = None  # the data of the last `counters`
        self.read(lambda: self.last)

    def read(self, is_enough=lambda: False):
        """Reads to the end, or until it is enough."""
        name = None
        for line in self.lines:
            if line.startswith(b"event: "):
                name = line[7:]
            if line.startswith(b"data: ") and name == b"counters":
                self.last = json.loads(line[6:])
            if is_enough():
                return


class Run:
    """A job and its listener."""

    def __init__(self, job):
        self.job = job
        self.listener = Listener(job)

    def outcome(self):
        """Waits for the end and reads the outcome, which must agree with the state and the exit status."""
        self.listener.read()
        last = self.listener.last
        assert last["state"] == "finished" and "eta_seconds" not in last
        assert last["running"] == last["waiting"] == []
        assert last["outcome"].pop("exit_status") == self.job.exit_status() % 256
        return last["outcome"]


@pytest.fixture
def held(start):
    """Starts jobs with a held list, in a folder of a job that has ended if one is given."""
    return lambda *arguments, folder=None: Run(start(*arguments, kind=HeldJob, folder=folder))


def test_all_made(held, pictures):
    run = held()
    run.job.give(*(pictures / f"IMG_000{index}.jpg" for index in range(3)))
    run.job.end_list()
    assert run.outcome() == {"result": "complete", "text": "all 3 made"}
    assert run.job.exit_status() == 0


def test_all_up_to_date(held, pictures):
    first, more = [pictures / "IMG_0001.jpg", pictures / "IMG_0002.jpg"], [pictures / "IMG_0003.jpg"]
    folder = None
    for sources, text in [
        (first, "all 2 made"), (first, "all up to date: 2 sources"), (first + more, "all done: 1 made, 2 up to date"),
    ]:
        run = held(folder=folder)
        run.job.give(*sources)
        run.job.end_list()
        assert run.outcome() == {"result": "complete", "text": text}
        folder = run.job.folder


def test_no_picture_found(held):
    run = held()
    run.job.end_list()
    assert run.outcome() == {"result": "complete", "text": "nothing to do: no picture found"}


def test_some_failed(held, pictures, broken_picture):
    run = held()
    run.job.give(broken_picture, pictures / "IMG_0001.jpg", pictures / "IMG_0002.jpg")
    run.job.end_list()
    assert run.outcome() == {"result": "failed", "text": "1 failed, 2 made"}
    assert run.job.exit_status() == 1


def test_a_source_that_cannot_be_read(held, tmp_path, pictures):
    run = held()
    run.job.give(pictures / "IMG_0001.jpg", tmp_path / "none.jpg")
    run.job.end_list()
    assert run.outcome() == {"result": "failed", "text": "1 place could not be read, 1 made"}
    assert run.job.exit_status() == 1


@pytest.mark.parametrize("number, status", [(signal.SIGUSR2, 75), (signal.SIGHUP, 75), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal(held, pictures, number, status):
    run = held()
    run.job.give(pictures / "IMG_0001.jpg")
    eventually("it is made", lambda: run.job.counters()["made"])
    run.job.process.send_signal(number)
    name = signal.Signals(number).name.removeprefix("SIG")
    assert run.outcome() == {
        "result": "stopped", "cause": "signal",
        "text": f"stopped by {name}: 1 made; run the same command again to go on"}
    assert run.job.exit_status() % 256 == status


def test_stopped_by_a_user(held, pictures):
    run = held()
    run.job.command("POST", "/pause")
    run.job.give(*(pictures / f"IMG_000{index}.jpg" for index in range(5)))
    eventually("some wait", lambda: run.job.counters()["waiting"])
    run.job.command("POST", "/cancel")
    outcome = run.outcome()
    assert (outcome["result"], outcome["cause"]) == ("stopped", "user")
    assert outcome["text"].startswith("stopped by a user through the status endpoint: ")
    assert run.job.exit_status() == 75


def test_an_operation_that_a_user_cancelled(held, pictures):
    run = held()
    run.job.command("POST", "/pause")
    run.job.give(pictures / "IMG_0001.jpg", pictures / "IMG_0002.jpg")
    waiting = eventually("one waits", lambda: run.job.status()["waiting"])
    run.job.command("DELETE", f"/operations/{waiting[0]['id']}")
    run.job.command("POST", "/resume")
    run.job.end_list()
    assert run.outcome() == {
        "result": "stopped", "cause": "user",
        "text": "1 cancelled by the user: 1 made; run the same command again to go on"}


def test_stopped_after_its_time(held):
    run = held("--for", "1s")
    assert run.outcome() == {
        "result": "stopped", "cause": "time",
        "text": "stopped because its time (--for) is over: nothing made; run the same command again to go on"}


def test_stopped_after_too_many_failures(held, broken_picture):
    run = held("--halt", "1")
    run.job.give(broken_picture)
    outcome = run.outcome()
    assert (outcome["result"], outcome["cause"]) == ("stopped", "failures")
    assert outcome["text"] == ("stopped because too many sources failed (--halt): 1 failed; "
                               "repair or --exclude the failed sources, or raise --halt")


def test_stopped_by_memory_pressure(held, monkeypatch, tmp_path):
    watched = tmp_path / "pressure"
    os.mkfifo(watched)
    manager = os.open(watched, os.O_RDWR)
    monkeypatch.setenv("MEMORY_PRESSURE_WATCH", str(watched))
    run = held("--on-pressure", "cancel")
    os.write(manager, b"x")
    outcome = run.outcome()
    os.close(manager)
    assert (outcome["result"], outcome["cause"]) == ("stopped", "pressure")
    assert run.job.exit_status() == 75


def test_a_killed_job_tells_no_outcome(start, pictures):
    listener = Listener(job := start(pictures, "--max", "1", *SLOW))
    job.process.kill()
    # The stream is cut off, which HTTP clients report.
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        listener.read()
    assert listener.last["state"] == "running" and "outcome" not in listener.last
