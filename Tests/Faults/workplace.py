"""Runs a job with disturbed calls, and collects what it did."""

import json
import os
import select
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import joins
import preload
import program
import scenes
from trees import entry

# What differs between two runs that do the same.
_MEASURED = ("_seconds", "_per_second", "peak_", "baseline_bytes", "memory_limit", "pressure_source", "budget_bytes")


@dataclass
class Result:
    status: int  # negative: ended by this signal
    lines: list = field(default_factory=list)  # of standard output
    errors: list = field(default_factory=list)  # the lines of standard error
    tree: dict = field(default_factory=dict)  # the files of the output folders
    joins: dict = field(default_factory=dict)  # the bytes of what it has made of all thumbnails
    rest: list = field(default_factory=list)  # other files that the run has left
    sources: dict = field(default_factory=dict)
    trace: bytes | None = None
    log: preload.Log = None
    seconds: float = 0
    is_late: bool = False  # it was ended because it took too long

    @property
    def events(self):
        """The events of --json, without what is measured. A line that is no JSON is a text."""
        events = []
        for line in self.lines:
            try:
                events.append(_steady(json.loads(line)))
            except ValueError:
                events.append(line)
        return events

    @property
    def summary(self):
        found = [event for event in self.events if isinstance(event, dict) and event["event"] == "summary"]
        return found[-1] if found else None

    @property
    def by_source(self):
        found = [event for event in self.events if isinstance(event, dict) and event["event"] == "source"]
        return {event["source"]: event for event in found}


def _steady(event):
    return {key: value for key, value in event.items() if not any(part in key for part in _MEASURED)}


class Gate:
    """Two pipes, over which a call of the program says that it waits, and is told to go on."""

    def __init__(self):
        go_read, self._go = os.pipe()
        self._waits, waits_write = os.pipe()
        self.ends = go_read, waits_write  # of the program

    def pass_after(self, action, limit):
        """Acts as soon as a call waits, and lets it go on. Does nothing if the process ends before."""
        self._close_ends()  # so that the end of the process is seen
        readable, _, _ = select.select([self._waits], [], [], limit)
        if readable and os.read(self._waits, 1):
            action()
            os.write(self._go, b"\0")

    def _close_ends(self):
        for end in self.ends:
            os.close(end)
        self.ends = ()

    def close(self):
        self._close_ends()
        os.close(self._go)
        os.close(self._waits)


class Workplace:
    """A folder in which one run at a time takes place, always under the same path."""

    def __init__(self, folder, thumbjob, library, limit):
        self.folder = folder
        self.job = folder / "job"
        self.thumbjob, self.library, self.limit = thumbjob, library, limit
        self._templates = {}
        folder.mkdir(parents=True)

    def prepare(self, scene):
        """The job as it is before the run, from a template that is made once."""
        if scene.name not in self._templates:
            shutil.rmtree(self.job, ignore_errors=True)
            scene.lay_out(self.job)
            if scene.changes:
                before = self.run(scene)
                if before.status != scene.status:
                    raise RuntimeError(f"the first run of {scene.name} failed: {before.errors}")
                scene.changes(self.job)
            template = self.folder / f"template-{scene.name}"
            shutil.copytree(self.job, template)
            self._templates[scene.name] = template
        shutil.rmtree(self.job, ignore_errors=True)
        scenes.copy(self._templates[scene.name], self.job)

    def files(self):
        """The files as they are before the run."""
        return tree_of(self.job)

    def run(self, scene, rules=(), action=None):
        """Runs the job as it is.

        - parameter action: called while a call waits (see `wait` in fault.c).
        """
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        gate = Gate() if action else None
        environment = {
            **program.environment(self.job / "run"), "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C",
            **preload.environment(self.library, self.job, log, [*rules, *scene.always], gate and gate.ends)}
        start = time.monotonic()
        process = subprocess.Popen(
            [self.thumbjob, *scene.arguments], cwd=self.job, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=gate.ends if gate else ())
        is_late = False
        try:
            if gate:
                gate.pass_after(lambda: action(self.job), self.limit)
            output, errors = process.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            is_late = True
        finally:
            process.kill()  # if the test was stopped; otherwise it has ended
            if gate:
                gate.close()
        result = Result(
            process.returncode, os.fsdecode(output).splitlines(), os.fsdecode(errors).splitlines(),
            log=preload.read_log(log, self.job), seconds=time.monotonic() - start, is_late=is_late)
        self._look(scene, result)
        return result

    def _look(self, scene, result):
        files = tree_of(self.job)
        for path, value in files.items():
            if path.split("/")[0] in scene.outs:
                result.tree[path] = value
            elif path in scene.files:
                result.sources[path] = value
            elif scene.has_joins and joins.is_part(path):
                result.joins[path] = value[0]
            elif path == "trace.json":
                result.trace = value[0]
            else:
                result.rest.append(path)


def tree_of(folder):
    """The bytes and the time of change of each file; for other entries, their kind."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            there, key = entry(path), os.path.relpath(path, folder)
            if there.kind == "file":
                found[key] = there.data, there.modified
            else:
                found[key] = "socket" if stat.S_ISSOCK(there.mode) else "other", 0
        for name in folders:
            if name.startswith("run-"):
                found[os.path.relpath(os.path.join(place, name), folder)] = "folder", 0
    return found
