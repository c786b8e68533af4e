#!/usr/bin/env python3
"""parts.py PART... [-- PART...]...: runs the parts of `make test`, and stops when one fails.

The parts before the first `--` run first. Each group after that runs beside the other groups, its own parts one after
the other. The output of a part is in .build/parts; the end of it is shown if the part fails. The last lines show how
long each part took, and how many tests were skipped and why.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

LOGS = Path(".build/parts")
# The lines of a part that failed which are shown.
SHOWN = 150
# How Swift Testing and pytest tell of a skipped test.
SKIPPED = re.compile(r'Test .* skipped(?:: "(?P<swift>.*)"|\.?)$|^SKIPPED \[(?P<count>\d+)\] \S+ (?P<python>.*)$')


class Parts:
    def __init__(self):
        self.seconds: dict[str, float] = {}
        self.failed: str | None = None
        # Guards `_running` and `failed`. A signal handler, which calls `end`, may interrupt a thread that has it.
        self._lock = threading.RLock()
        self._running: dict[str, subprocess.Popen] = {}

    def run(self, names: list[str], niceness: int = 0):
        """Runs parts one after the other."""
        for name in names:
            start = time.monotonic()
            with (LOGS / f"{name}.log").open("wb") as log, self._lock:
                if self.failed:
                    return
                # A process group of its own, so that all that the part has started can be ended. No session of its own,
                # because Linux shares the processors between sessions whatever their niceness.
                command = ["make", "--no-print-directory", name, "BUILT=yes"]
                process = self._running[name] = subprocess.Popen(
                    ["nice", "-n", str(niceness), *command],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, process_group=0)
            status = process.wait()
            self.seconds[name] = time.monotonic() - start
            with self._lock:
                del self._running[name]
                if self.failed:
                    return
                if status != 0:
                    self.failed = name
                    self._end_all()
                    return
            print(f"{name} {minutes(self.seconds[name])}", flush=True)

    def run_beside(self, groups: list[list[str]]):
        """Runs groups of parts beside each other. The later ones have more time of the processors if they want it."""
        threads = [
            threading.Thread(target=self.run, args=(names, 5 * (len(groups) - 1 - index)))
            for index, names in enumerate(groups)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self):
        """Ends the parts that run, because the user wants it."""
        with self._lock:
            self.failed = self.failed or "interrupted"
            self._end_all()

    def _end_all(self):
        for process in self._running.values():
            # As with Control-C, after which the tests clean up.
            os.killpg(process.pid, signal.SIGINT)


def minutes(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def reasons(names: list[str]) -> str:
    """The reasons for skipped tests, each with the number of tests."""
    found: Counter = Counter()
    for name in names:
        for line in (LOGS / f"{name}.log").read_text(errors="replace").splitlines():
            if match := SKIPPED.search(line):
                found[match["swift"] or match["python"] or "no reason given"] += int(match["count"] or 1)
    return ", ".join(f"{count} ({reason})" for reason, count in found.most_common()) or "nothing"


def main(words: list[str]) -> int:
    os.chdir(Path(__file__).resolve().parents[1])
    groups: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    LOGS.mkdir(parents=True, exist_ok=True)
    for log in LOGS.iterdir():
        log.unlink()
    parts = Parts()
    signal.signal(signal.SIGINT, lambda *_: parts.end())
    signal.signal(signal.SIGTERM, lambda *_: parts.end())
    start = time.monotonic()
    parts.run(groups[0])
    parts.run_beside(groups[1:])
    if parts.failed:
        log = LOGS / f"{parts.failed}.log"
        if log.exists():
            print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-SHOWN:]))
            print(f"{parts.failed} failed; all of its output: {log}")
        return 1
    names = [name for group in groups for name in group]
    told = " · ".join(f"{name} {minutes(parts.seconds[name])}" for name in names)
    print(f"minutes: {told} · in all {minutes(time.monotonic() - start)}")
    print(f"skipped: {reasons(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
