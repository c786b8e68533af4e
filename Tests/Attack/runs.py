"""Runs thumbjob over a folder of files, and checks what holds for every run."""

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import jpeg
import program

# The files that thumbjob keeps in its own folder in the output folder. Any other file there is a left temporary file.
KEPT = {Path(".thumbjob/tree"), Path(".thumbjob/settings"), Path(".thumbjob/ledger")}
# The memory that one operation may hold, and how much more than that and the process's own it may be at the most:
# buffers of threads, and the pages of the program that are read meanwhile.
BUDGET, TOLERANCE = 256 << 20, 96 << 20
# What is said of a file without a flaw.
_NOTES = re.compile(r"only the first |its default image is shown|its largest preview has only ")
# A thumbnail that is worse than it was asked for, which is also said without -v.
_SHORTFALL = "its largest preview has only "
# A decoder process that has not ended as it should. If it takes too much memory, that is said in other words.
_CRASHES = re.compile(
    r"the decoder (crashed|made a forbidden|ended with|sent |was killed)|killed the decoder|"
    r"the system (does not start the program|refuses a decoder)|contradicts itself|a fault of thumbjob")


@dataclass(frozen=True)
class Outcome:
    """What thumbjob says of one file."""

    outcome: str
    error: str | None
    warnings: tuple[str, ...]
    thumbnail: str | None  # a digest of the thumbnail without its comments

    @property
    def is_made(self):
        return self.outcome == "made"

    @property
    def is_silent(self):
        return self.is_made and all(_NOTES.match(warning) for warning in self.warnings)

    @property
    def is_crash(self):
        return bool(_CRASHES.search(self.error or ""))

    def __str__(self):
        return f"{self.outcome}: {self.error or '; '.join(self.warnings) or 'no remark'}"


@dataclass
class Run:
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # what is wrong with the run as a whole
    seconds: float = 0


def run(thumbjob, folder, out, size, most_running, seconds):
    """Makes thumbnails of all files in a folder.

    - parameter seconds: if the run takes longer, it is ended, and that is a problem.
    """
    files = sorted(folder.iterdir())
    result = Run()
    command = [thumbjob, folder.name, "-o", out.name, "--size", str(size), "--json", "--max", str(most_running),
               "--progress", "none", "--status", "off", "--force", "--memory", str(BUDGET)]
    environment = program.environment(folder.parent / "runtime")
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, cwd=folder.parent, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        try:
            status, most_memory = _ended(process, seconds, result)
        finally:
            # If the attack was stopped; otherwise it has ended.
            process.kill()
            process.wait()
        output.seek(0)
        errors.seek(0)
        events, lines = _events(output.read(), result), os.fsdecode(errors.read()).splitlines()
    result.seconds = time.monotonic() - start
    if status < 0:
        result.problems.append(f"it was ended by {signal.Signals(-status).name}")
    _check_sources(events, files, folder, out, result)
    _check_lines(lines, folder, result)
    _check_status(events, status, result)
    _check_memory(events, most_memory, result)
    _check_rest(events, out, result)
    return result


def _ended(process, seconds, result):
    """Waits for the end. Returns the exit status, and the most memory that the process or a child of it has held."""
    ended = os.pidfd_open(process.pid)
    try:
        if not select.select([ended], [], [], seconds)[0]:
            process.kill()
            result.problems.append(f"it did not end within {seconds:.0f} s")
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        os.close(ended)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss << 10


def _events(output, result):
    events = []
    for line in output.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            result.problems.append(f"it printed a line that is no JSON: {line[:80]!r}")
    return events


def _thumbnails(event, folder):
    return [folder / thumbnail["path"] for thumbnail in event.get("thumbnails", ())]


def _check_sources(events, files, folder, out, result):
    counts = Counter()
    for event in events:
        if event["event"] != "source":
            continue
        name = Path(event["source"]).name
        counts[name] += 1
        digest = None
        if event["outcome"] == "made":
            path = next(iter(_thumbnails(event, out.parent)), None)
            try:
                digest = hashlib.sha256(jpeg.without_comments(path.read_bytes())).hexdigest()
            except (OSError, AttributeError, jpeg.MalformedError) as error:
                result.problems.append(f"the thumbnail of {name} is not there, or no whole JPEG file: {error}")
        result.outcomes[name] = Outcome(
            event["outcome"], event.get("error"), tuple(event.get("warnings", ())), digest)
        if "an internal fault" in (event.get("error") or "") or event.get("kind") == "timeout":
            result.problems.append(f"{name}: {event['error']}")
    for file in files:
        if counts[file.name] != 1:
            result.problems.append(f"it told {counts[file.name]} times what became of {file.name}")
            result.outcomes.setdefault(file.name, Outcome("nothing told", None, (), None))


def _check_lines(lines, folder, result):
    """Whether one line says why, for each file that failed or whose thumbnail is too small, and for no other."""
    said = Counter(match[1] for line in lines if (match := re.match(rf"thumbjob: {folder.name}/([^:]+): .", line)))
    for name, outcome in result.outcomes.items():
        is_short = any(warning.startswith(_SHORTFALL) for warning in outcome.warnings)
        expected = 1 if outcome.outcome == "failed" or is_short else 0
        if said[name] != expected:
            result.problems.append(f"{said[name]} lines are about {name}, and not {expected}")
        if not (outcome.error or "").isprintable():
            result.problems.append(f"the reason for {name} is no printable line: {outcome.error!r}")


def _check_memory(events, most_memory, result):
    summary = next((event for event in events if event["event"] == "summary"), {})
    bound = summary.get("baseline_bytes", 0) + BUDGET + TOLERANCE
    if summary and most_memory > bound:
        result.problems.append(f"it held {most_memory >> 20} MiB, more than {bound >> 20}")


def _check_status(events, status, result):
    outcomes = Counter(outcome.outcome for outcome in result.outcomes.values())
    expected = 1 if outcomes["failed"] else 0
    if status >= 0 and status != expected:
        result.problems.append(f"the exit status is {status}, and should be {expected}")
    summary = next((event for event in events if event["event"] == "summary"), {})
    told = {"made": outcomes["made"], "failed": outcomes["failed"], "exit_status": expected}
    for name, value in told.items():
        if summary.get(name) != value:
            result.problems.append(f"the summary says {name} {summary.get(name)}, and should say {value}")


def _check_rest(events, out, result):
    """Whether the output folder has no other files than the thumbnails."""
    expected = {path for event in events if event["event"] == "source" for path in _thumbnails(event, out.parent)}
    expected |= {out / path for path in KEPT}
    for path in sorted(out.rglob("*")):
        if path.is_file() and path not in expected:
            result.problems.append(f"it left the file {path.relative_to(out.parent)}")
