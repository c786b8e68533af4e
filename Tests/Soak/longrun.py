"""One process that lives for the whole soak: it is given sources for as long as the soak takes, and disturbed.

From time to time it rests: it gets no sources, all clients leave, its limits are those of the start. Then its open
files must be those of the first rest.
"""

import fcntl
import os
import random
import threading
import time
from contextlib import suppress

import checks
import decoders
import doors
import samples
from disturb import Disturber
from endpoint import Address, Endpoint
from process import HangError, eventually
from sources import RECIPES, digest, folder_problems

NAME = "the long-lived process"
MAX, BACKLOG, BUDGET = 2, 8, 64 << 20
LEAST_BETWEEN_RESTS = 10
# A job closes the connections of clients that have left at once. The rest is for a busy machine.
CLOSING_SECONDS = 120
# The sources on their way to the process wait in a pipe of this size, so that it comes to rest soon.
_PIPE = 4096
# A source is given a second time in so many cases, to find it up to date.
_AGAIN = 0.1
# Idle threads of Dispatch end when they like, so their number at rest may be higher than before by as many as may run.
_IDLE_THREADS = 16
# The kind of failure of a source whose decoder process was killed.
_KILLED = "decoder"


class Feed:
    """Gives sources to a process, checks each thumbnail, and removes both."""

    def __init__(self, folder, pictures, generator):
        self.folder, self.pictures = folder, pictures
        self.recipe = RECIPES[1]
        self.given = 0
        self.problems = []
        self._random = random.Random(generator.random())
        self._number = 0
        self._kept = []  # sources that were given twice, until the next rest
        self._again = []  # sources that were cancelled, or whose decoder process was killed
        self._lock = threading.Lock()
        self._open = threading.Event()  # whether it gives sources
        self._is_idle = threading.Event()
        self._only_again = self._has_ended = False
        self.has_killed = lambda: False  # whether decoder processes were killed

    def start(self, stream):
        self._stream = stream
        with suppress(OSError):
            fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, _PIPE)
        self.go_on()
        threading.Thread(target=self._run, name="feed", daemon=True).start()

    def go_on(self):
        self._is_idle.clear()
        self._open.set()

    def hold(self):
        """No further source is written after this."""
        self._open.clear()
        # At the latest, the process reads once it is resumed.
        return self._is_idle.wait

    def _run(self):
        while True:
            if not self._open.is_set():
                self._is_idle.set()
                self._open.wait()
            if self._has_ended:
                break
            path = self._next()
            if path is None:
                self._open.clear()
                continue
            try:
                self._stream.write(os.fsencode(path) + b"\0")
                self._stream.flush()
            except OSError:
                break  # the process has ended
            self.given += 1
        self._is_idle.set()
        with suppress(OSError):
            self._stream.close()

    def _next(self):
        with self._lock:
            if self._again:
                return self._again.pop()
        if self._only_again:
            return None
        self._number += 1
        # Mostly small ones, because what leaks for each source does so whatever its size.
        pictures = self._random.choices((self.pictures.small, self.pictures.good, self.pictures.all), (16, 8, 1))[0]
        picture = self._random.choice(pictures)
        return f"feed/{picture.link(self.folder / 'feed', self._number)}"

    def receive(self, event):
        """Checks what became of a source. Called on the thread that reads the events."""
        if event["event"] != "source":
            return
        path, outcome = event["source"], event["outcome"]
        if outcome == "cancelled" or (event.get("kind") == _KILLED and self.has_killed()):
            with self._lock:
                self._again.append(path)
            return
        picture = self.pictures.picture(path)
        if outcome != picture.outcome[self.recipe.name]:
            self._add(f"{path} of {picture.path.name} is {outcome}: {event.get('error')}")
        expected = self.pictures.expected(self.recipe, path)
        thumbs = self.folder / "thumbs"
        told = {os.path.relpath(thumbnail["path"], "thumbs") for thumbnail in event.get("thumbnails", ())}
        if outcome == "made" and told != set(expected):
            self._add(f"{path} has the thumbnails {sorted(told)}, not {sorted(expected)}")
        for place, wanted in expected.items():
            self._check(thumbs / place, wanted)
        if outcome == "made" and self._random.random() < _AGAIN and not self._only_again:
            with self._lock:
                self._again.append(path)
                self._kept.append(path)
        else:
            self._remove(path)

    def _check(self, path, expected):
        try:
            problem = None if digest(path) in expected else "differs from that of an undisturbed run"
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        if problem:
            self._add(f"the thumbnail {path.relative_to(self.folder)} {problem}")

    def _remove(self, path):
        for place in self.pictures.expected(self.recipe, path):
            (self.folder / "thumbs" / place).unlink(missing_ok=True)
        (self.folder / path).unlink(missing_ok=True)

    def forget_kept(self):
        """Removes the sources that were given twice. Only at rest: the second time must be over."""
        with self._lock:
            # A kept source that still waits to be given again stays.
            kept, self._kept = self._kept, [path for path in self._kept if path in self._again]
        for path in kept:
            if path not in self._kept:
                self._remove(path)

    @property
    def has_more(self):
        with self._lock:
            return bool(self._again)

    def give_only_again(self):
        self._only_again = True

    def end(self):
        self._has_ended = True
        self._open.set()

    def _add(self, problem):
        if len(self.problems) < 10:
            self.problems.append(problem)


class LongRun:
    def __init__(self, setting, pictures):
        self.setting = setting
        self.random = setting.generator("long")
        self.folder = setting.folder / "long"
        (self.folder / "thumbs").mkdir(parents=True)
        self.feed = Feed(self.folder, pictures, self.random)
        self.problems = []
        self.first_rest = None
        self.job = None
        self.thread = threading.Thread(target=self._run, name=NAME)
        self.thread.start()

    def _run(self):
        door = doors.FIFODoor(self.folder)
        disturber = None
        try:
            self.job = job = self.setting.launch(
                NAME, ["--files0-from", "-", "-o", "thumbs", *self.feed.recipe.options, "--max", str(MAX),
                       "--backlog", str(BACKLOG), "--memory", str(BUDGET), "--progress", "none", "--status",
                       "127.0.0.1:0"],
                self.folder, door, has_list=True, is_long=True, on_event=self.feed.receive)
            job.listings.highest_max, job.listings.highest_backlog = MAX, BACKLOG
            job.highest_budget = BUDGET
            self.feed.has_killed = lambda: job.sent[decoders.KILLED] > 0
            disturber = self._disturber(job, door)
            self.feed.start(job.popen.stdin)
            self._live(job, disturber)
            disturber.send_away()
            self.feed.end()
            status = job.wait(self.setting.patience)
            self._judge(job, status)
        except HangError as error:
            self.problems.append(str(error))
        except Exception as error:
            self.problems.append(f"the soak itself failed: {error!r}")
            raise
        finally:
            if disturber:
                self.problems += disturber.problems
                disturber.send_away()
            self.feed.end()
            door.close()
            if self.job:
                self.setting.finished("long", self.job, "its list ended", self.problems + self.feed.problems)
            # Where it ended early, something is wrong, and the rest of the soak would show no more.
            self.setting.end = min(self.setting.end, time.monotonic())

    def _disturber(self, job, door):
        address = self.setting.socket(job)
        ask = Endpoint(job, address, self.setting.patience) if address else None
        client = (self.setting.thumbjob, self.setting.environment) if address else None
        return Disturber(job, ask, self._tcp(job) or address, door, self.random, self.setting.patience, client=client)

    def _tcp(self, job):
        def link():
            lines = [line for line in list(job.stderr.lines) if "status at http://127.0.0.1:" in line]
            return lines or not job.is_running

        lines = eventually("it prints the address of its status", link, self.setting.patience)
        return None if lines is True else Address(host="127.0.0.1", port=int(lines[0].split(":")[-1].strip("/")))

    def _live(self, job, disturber):
        setting = self.setting
        between = max(LEAST_BETWEEN_RESTS, setting.seconds / 24)
        next_rest = time.monotonic() + between / 3
        while not setting.is_over and job.is_running:
            if self.problems or self.feed.problems or disturber.problems:
                break
            disturber.act()
            time.sleep(self.random.expovariate(2))
            if time.monotonic() > next_rest:
                self._rest(job, disturber)
                self.feed.go_on()
                next_rest = time.monotonic() + between
        # Sources that were cancelled or lost are given again until each is made.
        self.feed.give_only_again()
        self._rest(job, disturber)
        while self.feed.has_more and job.is_running:
            self.feed.go_on()
            eventually("the cancelled and lost sources are given again",
                       lambda: not self.feed.has_more or not job.is_running, setting.patience)
            self._rest(job, disturber)

    def _rest(self, job, disturber):
        """Comes to rest, and compares the open files with those of the first rest."""
        disturber.send_away()
        disturber.change_limits({"max": MAX, "backlog": BACKLOG, "budget_bytes": BUDGET})
        idle, patience = self.feed.hold(), self.setting.patience
        eventually("the feed rests", lambda: idle(0.1) or not job.is_running, patience)
        if not job.is_running:
            return
        eventually("everything given is done", lambda: self._is_done(job, disturber), patience)
        self.feed.forget_kept()
        if self.first_rest is None:
            # Clients have to be gone before the files are counted.
            eventually("the files are those without clients", lambda: self._settled(job), patience)
            self.first_rest = self.setting.sampler.rest(job.track)
            self._most_files = self.first_rest.files - self._files_of_decoders(job)
            return
        # More files may be open for a moment, such as the journal of the ledger while entries are written.
        most = self._most_files
        try:
            eventually("", lambda: not job.is_running or self._files(job) <= most, CLOSING_SECONDS)
        except HangError:
            self.problems.append(f"at rest it has {self._files(job)} open files, and had {most}: {self._names(job)}")
        if not job.is_running:
            return
        now = self.setting.sampler.rest(job.track)
        if now and now.threads > self.first_rest.threads + _IDLE_THREADS:
            self.problems.append(f"at rest it has {now.threads} threads, and had {self.first_rest.threads}")

    def _is_done(self, job, disturber):
        if not job.is_running:
            return True
        if not disturber.ask:
            return job.told >= self.feed.given
        status = disturber.ask.ask("GET", "/status")
        if status is None:
            return True
        counters = status["counters"]
        ended = sum(counters[name] for name in ("made", "up_to_date", "failed", "cancelled", "passed_over"))
        return ended >= self.feed.given and status["pressure"]["level"] == "normal"

    def _now(self, job):
        return samples.sample(job.pid, 0) or samples.Sample(0, 0, 0, 0)

    def _files(self, job):
        """The open files, those for decoder processes apart: these end and start as they are needed."""
        return self._now(job).files - self._files_of_decoders(job)

    def _files_of_decoders(self, job):
        return decoders.FILES * len(decoders.of(job.pid))

    def _settled(self, job):
        """Whether the number of files has not changed for a while."""
        files = set()
        for _ in range(10):
            files.add(self._now(job).files)
            time.sleep(samples.INTERVAL)
        return len(files) == 1 or not job.is_running

    def _names(self, job):
        names = []
        with suppress(OSError):
            for name in os.listdir(f"/proc/{job.pid}/fd"):
                with suppress(OSError):
                    names.append(os.readlink(f"/proc/{job.pid}/fd/{name}"))
        return ", ".join(sorted(names))

    def _judge(self, job, status):
        end = checks.End(
            status, job.sent, job.ledger, given=self.feed.given, is_list=True,
            highest_max=job.listings.highest_max, highest_backlog=job.listings.highest_backlog, faults=job.faults)
        self.problems += checks.problems(end)
        self.problems += samples.growth_problems(job.track, job.ledger.outcomes["made"])
        if self.feed.has_more:
            self.problems.append("cancelled or lost sources were not made when they were given again")
        self.feed.forget_kept()
        self.problems += folder_problems(self.folder / "thumbs", {}, is_complete=True)
