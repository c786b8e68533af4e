"""A thumbjob process: its streams are read all the time, or not for a while, and its events are counted."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import memory
from waiting import HangError, eventually

# The last lines of each stream that are kept for the report on a violation.
KEPT_LINES = 3000
# Words of faults that no run may print.
FAULTS = re.compile(r"Fatal error|an internal fault|Crash|Backtrace|Sanitizer")
_OUTCOMES = {"passed-over": "passed_over", "not-read": "not_read", "own-thumbnail": "own_thumbnails",
             "duplicate": "duplicates"}


class Reader:
    """Reads the lines of a stream on a thread of its own, except while it is stalled."""

    def __init__(self, stream, name, on_line):
        self.lines = deque(maxlen=KEPT_LINES)
        self.flowing = threading.Event()
        self.flowing.set()
        self._stream, self._on_line = stream, on_line
        self.thread = threading.Thread(target=self._read, name=name, daemon=True)
        self.thread.start()

    def _read(self):
        rest = b""
        with self._stream:
            while True:
                self.flowing.wait()
                part = os.read(self._stream.fileno(), 1 << 16)
                if not part:
                    break
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    self._receive(line)
        if rest:
            self._receive(rest)

    def _receive(self, line):
        text = line.decode(errors="replace")
        self.lines.append(text)
        self._on_line(text)


class Ledger:
    """What a process has told about its sources."""

    def __init__(self):
        self.outcomes = Counter()  # by the name of the field in the summary
        self.told = Counter()  # how often it told what became of a source
        self.pressure = Counter()  # by level
        self.level = "normal"  # the last one
        self.disk_faults = 0
        self.summary = None
        self.problems = []

    def receive(self, line):
        """Counts a line. Returns the event, or nil if it is none."""
        if self.summary:
            self._add(f"it printed a line after the summary: {line[:80]!r}")
        try:
            event = json.loads(line)
        except ValueError:
            self._add(f"it printed a line that is no JSON: {line[:80]!r}")
            return None
        match event["event"]:
            case "summary":
                self.summary = event
            case "source":
                self.told[event["source"]] += 1
                self.outcomes[_OUTCOMES.get(event["outcome"], event["outcome"])] += 1
                self.disk_faults += event.get("kind") == "disk"
            case "pressure":
                self.level = event["level"]
                self.pressure[self.level] += 1
        return event

    def _add(self, problem):
        if len(self.problems) < 5:
            self.problems.append(problem)


class Process:
    """A running thumbjob.

    - parameter on_event: called with each event, on the thread that reads them.
    """

    def __init__(self, command, folder, environment, log, has_list=False, on_event=lambda event: None):
        self.log = log
        self.ledger = Ledger()
        self.sent = Counter()  # signals, and what was asked over the status endpoint
        self.faults = []
        self.listings = Listings()
        self.highest_budget = 0  # of those that were asked for
        self._on_event = on_event
        log.add(f"start {' '.join(map(str, command))}")
        self.popen = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE if has_list else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid = self.popen.pid
        self.stdout = Reader(self.popen.stdout, "stdout", self._receive)
        self.stderr = Reader(self.popen.stderr, "stderr", self._read_message)

    def _receive(self, line):
        event = self.ledger.receive(line)
        if event:
            self._on_event(event)

    def _read_message(self, line):
        if FAULTS.search(line):
            self.faults.append(line[:200])
        self.listings.receive(line)

    @property
    def is_running(self):
        return self.popen.poll() is None

    @property
    def told(self):
        return sum(self.ledger.outcomes.values())

    def send(self, number):
        """Sends a signal, if the process still runs."""
        name = signal.Signals(number).name
        if not self.is_running:
            return False
        self.popen.send_signal(number)
        self.sent[name] += 1
        self.log.add(name)
        return True

    def wait_until_armed(self, seconds):
        """Waits until the process handles signals itself. Before, while the system loads it, they would kill it."""
        wanted = 1 << (signal.SIGUSR1 - 1)

        def is_armed():
            return not self.is_running or memory.status_field(self.pid, "SigBlk", 16) & wanted

        eventually("it blocks the signals that it handles", is_armed, seconds)

    def flow(self):
        """Reads both streams again."""
        self.stdout.flowing.set()
        self.stderr.flowing.set()

    def wait(self, seconds):
        """Waits for the end and for the last lines, and returns the exit status."""
        try:
            status = self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise HangError(f"it did not end within {seconds:.0f} s") from None
        self.flow()
        for reader in (self.stdout, self.stderr):
            reader.thread.join(seconds)
        self.log.add(f"exit status {status}")
        return status

    def kill(self):
        """Ends the process if it still runs."""
        self.flow()
        if self.is_running:
            self.popen.kill()
        self.popen.wait()


class Listings:
    """Reads the replies to USR1 on standard error."""

    _RUNNING = re.compile(r"thumbjob: (\d+) of (\d+) running$")
    _WAITING = re.compile(r"thumbjob: (\d+) of (\d+) waiting(?:: .+)?$")
    _TALLY = re.compile(r"thumbjob: (\d+) found · (\d+) made · (\d+) up to date · (\d+) failed · (\d+) cancelled$")
    _END = re.compile(r"thumbjob: .* so far · at most (\d+) running, (\d+) waiting$")
    # An operation that has ended keeps its place until its end is handled.
    _OPERATION = re.compile(
        r"  #\d+ (?:thumbnail .+ → .+|recognize .+): (running|waiting|succeeded|failed|cancelled)\b.*$")
    _REST = re.compile(r"  … and \d+ more$")

    def __init__(self):
        self.count = 0  # complete replies
        self.problems = []
        self.highest_max = 0  # the highest limits that were asked for; 0 if unknown
        self.highest_backlog = 0
        self._part, self._stated, self._listed = None, 0, 0

    def receive(self, line):
        if found := self._RUNNING.match(line):
            self._begin("running", found, self.highest_max)
        elif found := self._WAITING.match(line):
            self._finish_part()
            self._begin("waiting", found, self.highest_backlog)
        elif self._part and line.startswith("  "):
            self._receive_operation(line)
        elif self._part:
            self._finish_part()
        if found := self._TALLY.match(line):
            total, *parts = map(int, found.groups())
            if sum(parts) > total:
                self._add(f"the listing counts more sources than it found: {line}")
        if self._END.match(line):
            self.count += 1

    def _begin(self, part, found, highest):
        self._part, self._stated, self._listed = part, int(found[1]), 0
        if highest and self._stated > highest:
            self._add(f"the listing has {self._stated} {part}, and the limit was never more than {highest}")

    def _receive_operation(self, line):
        if self._REST.match(line):
            self._listed = self._stated
        elif self._OPERATION.match(line):
            self._listed += 1
        else:
            self._add(f"the listing has an unknown line: {line!r}")

    def _finish_part(self):
        if self._part and self._listed != self._stated:
            self._add(f"the listing says {self._stated} {self._part} and lists {self._listed}")
        self._part = None

    def _add(self, problem):
        if len(self.problems) < 5:
            self.problems.append(problem)
