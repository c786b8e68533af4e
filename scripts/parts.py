#!/usr/bin/env python3
"""parts.py PART... [-- PART...]...: runs the parts of `make test`, and stops when one fails.

The parts before the first `--` run first. Each group after that runs beside the other groups, its own parts one after
the other. The output of a part is in .build/parts; the end of it is shown if the part fails. The last lines show how
long each part took and kept processors busy, and how many tests ran in no part and why.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LOGS = Path(".build/parts")
# The lines of a part that failed which are shown.
SHOWN = 150
# How Swift Testing tells of a test that has passed or was skipped, and pytest of skipped ones.
PASSED = re.compile(r"✔ Test (\S+?\(.*\)|\".*\") (?:with \d+ test cases? )?passed after ")
SKIPPED = re.compile(r'➜ Test (?P<test>\S+?\(.*\)|".*") skipped(?:: "(?P<reason>.*)"|\.?)$')
SKIPPED_BY_PYTEST = re.compile(r"^SKIPPED \[(?P<count>\d+)\] \S+ (?P<reason>.*)$")


@dataclass(frozen=True)
class Time:
    seconds: float
    busy: float  # of the processors, which parts beside each other share

    def __str__(self):
        return f"{minutes(self.seconds)} ({minutes(self.busy)} busy)"


class Parts:
    def __init__(self):
        self.times: dict[str, Time] = {}
        self.failed: str | None = None
        # Guards `_running` and `failed`. A signal handler, which calls `end`, may interrupt a thread that has it.
        self._lock = threading.RLock()
        self._running: dict[str, subprocess.Popen] = {}

    def run(self, names: list[str]):
        """Runs parts one after the other."""
        for name in names:
            start = time.monotonic()
            with (LOGS / f"{name}.log").open("wb") as log, self._lock:
                if self.failed:
                    return
                # A process group of its own, so that all that the part has started can be ended. No session of its own,
                # because Linux shares the processors between sessions whatever their niceness.
                process = self._running[name] = subprocess.Popen(
                    ["make", "--no-print-directory", name, "WHOLE=yes"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, process_group=0)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.times[name] = Time(time.monotonic() - start, usage.ru_utime + usage.ru_stime)
            with self._lock:
                del self._running[name]
                if self.failed:
                    return
                if process.returncode != 0:
                    self.failed = name
                    self._end_all()
                    return
            print(f"{name} {self.times[name]}", flush=True)

    def run_beside(self, groups: list[list[str]]):
        """Runs groups of parts beside each other."""
        threads = [threading.Thread(target=self.run, args=(names,)) for names in groups]
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
            # As with Control-C, after which the tests clean up. It may just have ended.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)


def minutes(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def reasons(names: list[str]) -> str:
    """The reasons for tests that were skipped and ran in no other part, each with the number of tests."""
    found: Counter = Counter()
    passed: set[str] = set()
    skipped: dict[str, str] = {}
    for name in names:
        for line in (LOGS / f"{name}.log").read_text(errors="replace").splitlines():
            if match := PASSED.search(line):
                passed.add(match[1])
            elif match := SKIPPED.search(line):
                skipped[match["test"]] = match["reason"] or "no reason given"
            elif match := SKIPPED_BY_PYTEST.search(line):
                found[match["reason"]] += int(match["count"])
    found.update(reason for test, reason in skipped.items() if test not in passed)
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
    told = " · ".join(f"{name} {parts.times[name]}" for name in names)
    print(f"minutes: {told} · in all {minutes(time.monotonic() - start)}")
    print(f"skipped: {reasons(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
