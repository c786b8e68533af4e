"""What all parts of the soak share: its folder, options, figures and violations."""

import os
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import checks
import program
import samples
from disturb import Log
from endpoint import TOKEN, Address
from process import Process, eventually

# After so many, the soak ends.
MOST_VIOLATIONS = 20
# The address of a unix socket has at most 107 bytes, of which the name of the socket takes some.
_LONGEST_FOLDER = 80


@dataclass
class Totals:
    """The figures of the table."""

    runs: int = 0
    made: int = 0
    up_to_date: int = 0
    cancelled: int = 0
    requeued: int = 0
    sent: Counter = field(default_factory=Counter)
    pressure: Counter = field(default_factory=Counter)
    endings: Counter = field(default_factory=Counter)

    def add(self, job, ending):
        self.runs += 1
        self.sent.update(job.sent)
        self.pressure.update(job.ledger.pressure)
        self.endings[ending] += 1
        self.made += job.ledger.outcomes["made"]
        self.cancelled += job.ledger.outcomes["cancelled"]
        if job.ledger.summary:
            self.up_to_date += job.ledger.summary["up_to_date"]
            self.requeued += job.ledger.summary["requeued"]


class Setting:
    def __init__(self, options, folder):
        self.folder = folder
        self.seed, self.patience, self.keep = options.seed, options.patience, options.keep
        self.thumbjob = options.thumbjob.absolute()
        self.seconds = options.minutes * 60
        self.start = self.end = self.sampler = None  # until it begins
        self.totals = Totals()
        self.skipped = {}  # what this machine or user does not permit, with the reason
        self.violations = []
        self.was_stopped = False  # by a signal; what happens afterwards says nothing
        self.running = {}  # processes by their names
        self._lock = threading.Lock()
        self._runtime = folder / "run"
        self._runtime.mkdir(mode=0o700)
        if len(os.fsencode(folder)) > _LONGEST_FOLDER:
            self.skipped["the status endpoint"] = "the path of the temporary folder is too long for a socket"
        self.environment = program.environment(self._runtime, THUMBJOB_TOKEN=TOKEN)

    def begin(self):
        """Starts the clock, and sampling. Before, the sources are made, which may take long on a busy machine."""
        self.start = time.monotonic()
        self.end = self.start + self.seconds
        self.sampler = samples.Sampler(self.start)

    @property
    def is_over(self):
        return time.monotonic() >= self.end or len(self.violations) >= MOST_VIOLATIONS

    def generator(self, name):
        return random.Random(f"{self.seed} {name}")

    def launch(self, name, arguments, folder, door, prefix=(), is_long=False, **options):
        """Starts a process, and waits until it handles signals."""
        log = Log(self.start)
        log.add(f"seed {self.seed}, {name}, pressure from {door.name}")
        command = [*prefix, self.thumbjob, *arguments, "--json"]
        job = Process(command, folder, {**self.environment, **door.variables}, log, **options)
        with self._lock:
            self.running[name] = job
        job.track = self.sampler.follow(name, job.pid, is_long)
        job.wait_until_armed(self.patience)
        return job

    def finished(self, name, job, ending, found):
        """Counts a process that has ended or was killed, and keeps what is known of it if something is wrong."""
        job.kill()
        self.sampler.drop(job.track)
        found = [*found, *job.listings.problems]
        if job.track.samples:
            most_max = job.listings.highest_max or checks.MOST_MAX
            found += samples.bound_problems(
                job.track, (job.highest_budget or checks.DEFAULT_BUDGET) + checks.BASELINE,
                checks.OTHER_FILES + checks.FILES_OF_OPERATION * most_max,
                checks.OTHER_THREADS + checks.THREADS_OF_OPERATION * most_max)
        with self._lock:
            self.running.pop(name, None)
            self.totals.add(job, ending)
        if found and not self.was_stopped:
            self.violate(name, found, job)

    def violate(self, name, found, job=None):
        with self._lock:
            self.violations += [f"{name}: {problem}" for problem in found]
            folder = self.keep / name
            folder.mkdir(parents=True, exist_ok=True)
        (folder / "problems.txt").write_text("\n".join([f"seed {self.seed}, {name}", *found]) + "\n")
        if job:
            (folder / "actions.txt").write_text("\n".join(job.log.lines) + "\n")
            (folder / "stdout.txt").write_text("\n".join(job.stdout.lines) + "\n")
            (folder / "stderr.txt").write_text("\n".join(job.stderr.lines) + "\n")
        for problem in found[:5]:
            print(f"{name}: {problem}", flush=True)
        print(f"{name}: the actions and the output are in {folder}", flush=True)

    def socket(self, job):
        """The address of the private socket, as soon as it is there; nil if there is none, or if the job ends."""
        if "the status endpoint" in self.skipped:
            return None
        path = self._runtime / f"{job.pid}.sock"
        eventually("the private socket is there", lambda: path.exists() or not job.is_running, self.patience)
        return Address(path=path) if path.exists() else None

    def left_sockets(self, ended):
        """The sockets of jobs that do not run, after one has ended. A killed job leaves its own, and the next removes
        it."""
        running = {str(job.pid) for job in list(self.running.values()) if job is not ended}
        return [path.name for path in self._runtime.iterdir() if path.stem not in running]

    def stop(self):
        """Ends everything at once."""
        self.was_stopped = True
        self.end = time.monotonic()
        for job in list(self.running.values()):
            job.kill()

    def close(self):
        for job in list(self.running.values()):
            job.kill()
        if self.sampler:
            self.sampler.end()
