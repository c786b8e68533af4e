"""Signals and requests while sources are fetched: prompt ends, no remains, every fetch in the lists."""

import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from job import THUMBJOB, HeldJob
from network_run import environment, other_files, place, run, thumbnails
from servers.files import ServedFile
from servers.photos import is_whole, large_photo, small_photo
from servers.scripted import ScriptedServer
from waiting import eventually

PROMPT_SECONDS = 1
PER_HOST = 4
GOOD = 6
HELD = 20


class HalfHeldServer(ScriptedServer):
    """Some sources arrive; the transfers of the others stop in the middle until `let_go`."""

    def __init__(self):
        super().__init__(self.script)
        self.is_held = True
        self.photo = ServedFile(large_photo(False), tag="a", modified=1_400_000_000)

    def script(self, exchange):
        if "good" in exchange.request.target:
            return ServedFile(small_photo(), tag="b")(exchange)
        if self.is_held:
            return self.photo.held(exchange, 300_000)
        self.photo(exchange)

    @property
    def good_urls(self):
        return [self.url(f"/good/{index}.jpg") for index in range(GOOD)]

    @property
    def held_urls(self):
        return [self.url(f"/held/{index}.jpg") for index in range(HELD)]


@pytest.fixture
def server():
    with HalfHeldServer() as server:
        yield server


@pytest.fixture
def job(start, server):
    """A job that has made the good sources and is in the middle of as many others as it may be."""
    job = start("--allow-private", "--per-host", str(PER_HOST), "--backlog", "100", kind=HeldJob)
    job.give(*server.good_urls)
    eventually("the good ones are made", lambda: job.counters()["made"] == GOOD)
    job.give(*server.held_urls)
    job.end_list()
    eventually("all others are listed", lambda: job.counters().get("total") == GOOD + HELD)
    assert server.wait(lambda: server.in_flight == PER_HOST and sum(
        sent >= 300_000 for sent in server.sent.values()) >= PER_HOST)
    return job


def seconds_to_end(job, number):
    """Sends a signal, and measures the time until the process has ended."""
    process = os.pidfd_open(job.process.pid)
    start = time.monotonic()
    job.process.send_signal(number)
    ended, _, _ = select.select([process], [], [], 30)
    seconds = time.monotonic() - start
    os.close(process)
    assert ended, f"it has not ended 30 s after signal {number}: {job.stderr}"
    return seconds


def leaves_only_whole_thumbnails(job, count):
    paths = list(job.thumbs.rglob("*.jpg"))
    assert len(paths) == count and all(is_whole(path) for path in paths)
    assert other_files(job.thumbs) <= {f".thumbjob/{name}" for name in ("ledger", "settings", "tree")}


@pytest.mark.parametrize("number, status", [(signal.SIGUSR2, 75), (signal.SIGHUP, 75), (signal.SIGTERM, 143),
                                            (signal.SIGINT, 130)])
def test_a_signal_ends_slow_transfers_at_once(job, number, status):
    seconds = seconds_to_end(job, number)
    print(f"{number.name} in the middle of {PER_HOST} transfers: ended after {1000 * seconds:.0f} ms")
    assert job.exit_status() % 256 == status, job.stderr
    leaves_only_whole_thumbnails(job, GOOD)
    assert seconds < PROMPT_SECONDS


def test_after_usr2_the_same_command_makes_the_rest(job, server, start):
    seconds_to_end(job, signal.SIGUSR2)
    server.is_held = False
    again = start(*server.good_urls, *server.held_urls, "--allow-private", folder=job.folder)
    assert again.exit_status() == 0, again.stderr
    leaves_only_whole_thumbnails(again, GOOD + HELD)


def test_status_and_metrics_count_the_fetches(job, server):
    fetches = job.ask("GET", "/status").json()["fetches"]
    assert (fetches["fetched"], fetches["unchanged"], fetches["failed"]) == (GOOD, 0, 0)
    assert fetches["running"] >= PER_HOST and fetches["running"] + fetches["waiting"] == HELD
    assert fetches["bytes"] == sum(sent for target, sent in server.sent.items() if "good" in target)
    metrics = job.ask("GET", "/metrics").text.splitlines()
    for outcome in ("fetched", "unchanged", "failed"):
        assert f'thumbjob_fetches_total{{outcome="{outcome}"}} {fetches[outcome]}' in metrics
    for state in ("running", "waiting"):
        assert f'thumbjob_fetch_operations{{state="{state}"}} {fetches[state]}' in metrics
    assert f"thumbjob_fetched_bytes_total {fetches['bytes']}" in metrics


def threads(job, name):
    tasks = Path(f"/proc/{job.process.pid}/task").iterdir()
    return sum((task / "comm").read_text().strip() == name for task in tasks)


def test_a_list_of_files_has_no_threads_for_fetches(start, server, tmp_path):
    (tmp_path / "photo.jpg").write_bytes(small_photo())
    job = start("--allow-private", kind=HeldJob)
    job.give(tmp_path / "photo.jpg")
    eventually("the file is made", lambda: job.counters()["made"] == 1)
    assert (threads(job, "watchdog"), threads(job, "transfers")) == (1, 0)
    job.give(*server.good_urls)
    eventually("the others are made", lambda: job.counters()["made"] == 1 + GOOD)
    assert (threads(job, "watchdog"), threads(job, "transfers")) == (2, 1)
    job.end_list()
    assert job.exit_status() == 0, job.stderr


def test_the_second_term_ends_it_without_waiting(job):
    job.process.send_signal(signal.SIGTERM)
    seconds = seconds_to_end(job, signal.SIGTERM)
    assert job.exit_status() % 256 == 143 and seconds < PROMPT_SECONDS
    leaves_only_whole_thumbnails(job, GOOD)


def test_after_kill_9_everything_is_made_and_nothing_differs(job, server, tmp_path, start):
    job.process.kill()
    job.process.wait()
    assert all(is_whole(path) for path in job.thumbs.rglob("*.jpg"))
    server.is_held = False
    again = start(*server.good_urls, *server.held_urls, "--allow-private", folder=job.folder)
    assert again.exit_status() == 0, again.stderr
    assert "up to date" in again.stderr
    leaves_only_whole_thumbnails(again, GOOD + HELD)
    clean = run(tmp_path, sources=server.good_urls + server.held_urls)
    assert thumbnails(again.thumbs) == clean.thumbnails


def test_usr1_lists_the_fetches_by_their_urls(job, server):
    job.process.send_signal(signal.SIGUSR1)
    eventually("it answers", lambda: "fetching" in job.stderr)
    running = [url for url in server.held_urls if server.sent[url.removeprefix(server.url(""))] >= 300_000]
    assert len(running) == PER_HOST
    eventually("all of them are there", lambda: all(f"fetch {url}" in job.stderr for url in running))
    print("\n".join(line for line in job.stderr.splitlines() if "fetch" in line)[:2000])


def test_the_status_lists_the_fetches_by_their_urls(job, server):
    result = subprocess.run(
        [THUMBJOB, "status", str(job.process.pid)], check=False, capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL, env=environment(job.folder))
    print(result.stdout)
    assert result.returncode == 0, result.stderr
    titles = [operation["description"] for operation in job.status()["running"]]
    for url in server.held_urls[:PER_HOST]:
        assert f"fetch {url}" in titles
        assert url.removeprefix("http://") in result.stdout

    def listed():
        operations = job.ask("GET", "/operations?limit=250").json()["operations"]
        return {operation["description"]: operation for operation in operations}

    operations = listed()
    for url in server.held_urls:
        assert operations[f"fetch {url}"]["state"] in ("running", "waiting")
    first = f"fetch {server.held_urls[0]}"
    eventually("its progress is told", lambda: 0 < listed()[first].get("fraction", 0) < 1)
    assert (listed()[first]["state"], listed()[first]["stage"]) == ("running", "receiving")


def test_cancelling_a_fetch_cancels_its_source_alone(job, server):
    url = server.held_urls[0]
    identifiers = {operation["description"]: operation["id"] for operation in job.status()["running"]}
    job.command("DELETE", f"/operations/{identifiers[f'fetch {url}']}")
    eventually("it is cancelled", lambda: job.counters()["cancelled"] >= 1)
    # Its connection is free for another source.
    server.wait(lambda: server.in_flight == PER_HOST)
    server.is_held = False
    with server.changed:
        for connection in server.connections:
            connection.shutdown(2)
    status = job.exit_status()
    assert job.thumbs / place(url) not in list(job.thumbs.rglob("*.jpg"))
    leaves_only_whole_thumbnails(job, GOOD + HELD - 1)
    assert "1 cancelled" in job.stderr and status in (1, 75), job.stderr


# A host that asks to wait

BUSY = 24


def throttled(seconds):
    """A script that gives a photo only after it has asked to wait once."""

    def script(exchange):
        if exchange.number == 1:
            return exchange.answer(status="429 Too Many Requests", Retry_After=str(seconds))
        ServedFile(small_photo())(exchange)

    return script


def waiting_fetches(job):
    waiting = job.ask("GET", "/operations?state=waiting&limit=250").json()["operations"]
    return [operation for operation in waiting if operation["description"].startswith("fetch ")]


def test_a_host_that_asks_to_wait_holds_no_place_and_others_go_on(start):
    with ScriptedServer(throttled(60)) as busy, ScriptedServer(ServedFile(small_photo())) as good:
        job = start("--allow-private", "--backlog", "100", kind=HeldJob)
        job.give(*(busy.url(f"/{index}.jpg") for index in range(BUSY)))
        eventually("all of the busy host wait", lambda: len(waiting_fetches(job)) == BUSY)
        # Those that had no connection when the first one was told to wait have asked for nothing.
        assert len(busy.requests) <= PER_HOST
        fetches = waiting_fetches(job)
        assert all(re.fullmatch(
            rf"waits for \d\d:\d\d:\d\d, before which 127.0.0.1:{busy.port} wants no request", fetch["why_it_waits"])
            for fetch in fetches), fetches[0]
        job.give(*(good.url(f"/{index}.jpg") for index in range(40)))
        eventually("those of the other host are made", lambda: job.counters()["made"] == 40, seconds=20)
        assert len(waiting_fetches(job)) == BUSY and job.counters()["failed"] == 0
        job.process.send_signal(signal.SIGUSR1)
        eventually("USR1 tells until when", lambda: "before which" in job.stderr)
        assert f"0 of 16 fetching, {BUSY} waiting" in job.stderr
        assert seconds_to_end(job, signal.SIGUSR2) < PROMPT_SECONDS
        assert job.exit_status() == 75
        # What waits was cancelled, and not asked for again.
        assert len(busy.requests) <= PER_HOST


def test_sources_that_wait_for_their_time_fill_the_backlog_and_no_more(start):
    with ScriptedServer(throttled(60)) as busy:
        job = start("--allow-private", "--max", "2", "--backlog", "6", kind=HeldJob)
        job.give(*(busy.url(f"/{index}.jpg") for index in range(60)))
        eventually("the backlog is full", lambda: job.counters()["waiting"] == 6)
        assert job.status()["counters"]["found"] <= 6 + 2 + 2


def test_sources_are_made_when_their_time_has_come(tmp_path):
    asked = {}

    def script(exchange):
        asked.setdefault(exchange.request.target, []).append(time.monotonic())
        throttled(3)(exchange)

    with ScriptedServer(script) as busy:
        first = time.monotonic()
        result = run(tmp_path, *(busy.url(f"/{index}.jpg") for index in range(PER_HOST)))
    assert result.status == 0 and result.summary["made"] == PER_HOST and result.lines == [], result.stderr
    # All are asked for twice, and each waits at least as long as it was told.
    assert all(len(times) == 2 and times[1] - times[0] >= 3 for times in asked.values()), asked
    assert time.monotonic() - first < 20
