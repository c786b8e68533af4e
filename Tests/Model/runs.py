"""Runs of thumbjob: their options, and what they say."""

import base64
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import hang
from tree import below, mirrored

import program

# The seconds after which a run over some dozens of tiny photos hangs.
_SECONDS = 60
# Stands for the status of a run that had to be ended.
HUNG = -1000
DOCUMENTED = {0, 1, 64, 65, 66, 69, 71, 73, 74, 75, 130, 143}
_COUNTS = ("made", "up_to_date", "failed", "cancelled", "duplicates", "not_read", "own_thumbnails", "passed_over")
JOINS = {"manifest": ("--manifest", "list.json"), "html": ("--html", "web"), "sheet": ("--contact-sheet", "sheet.pdf")}
JOIN_KEYS = {"manifest": "manifest", "html": "html", "sheet": "contact-sheet"}


@dataclass(frozen=True)
class Output:
    out: str
    sizes: tuple[str, ...] = ("16",)
    quality: int = 80
    name: str | None = None

    def size_folders(self) -> list[str]:
        """The folders of the sizes; one empty text if there is a single size."""
        if len(self.sizes) == 1:
            return [""]
        return [size.split("=")[0] if "=" in size else _box(size) for size in self.sizes]

    def place(self, relative: str) -> str:
        """The place of a source's thumbnail below the folder of its size."""
        if self.name is None:
            return mirrored(relative)
        folder, file = os.path.split(relative)
        dot = file.rfind(".")
        stem, ending = (file[:dot], file[dot + 1 :]) if dot > 0 else (file, "")
        place = self.name.replace("%d", folder).replace("%s", stem).replace("%e", ending)
        return mirrored("/".join(part for part in place.split("/") if part))

    def places(self, relative: str) -> list[str]:
        """The places of a source's thumbnails, in the order of the sizes."""
        place = self.place(relative)
        return [f"{folder}/{place}" if folder else place for folder in self.size_folders()]


def _box(size: str) -> str:
    plain = size.rstrip("^!")
    return (plain if "x" in plain else f"{plain}x{plain}") + {"^": "-fill", "!": "-exact"}.get(size[-1], "")


@dataclass(frozen=True)
class Spec:
    """A job: what it reads, where it writes, and how."""

    sources: tuple[str, ...]
    outputs: tuple[Output, ...]
    prune: str | None = None
    flags: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    max: int = 2

    @property
    def shape(self):
        """What decides about the bytes of the thumbnails."""
        return tuple((output.sizes, output.quality) for output in self.outputs)

    @property
    def root(self) -> str:
        """The folder whose tree the thumbnails mirror; empty for the scratch folder."""
        return self.sources[0] if len(self.sources) == 1 else ""

    @property
    def outs(self) -> list[str]:
        return [output.out for output in self.outputs]

    @property
    def follows(self) -> bool:
        return "--follow" in self.flags

    def relative(self, source: str) -> str:
        return below(source, self.root) if self.root else source

    def plain(self, isolate: str) -> "Spec":
        """The job that shows what an undisturbed run makes of the contents."""
        outputs = tuple(replace(output, out=f"{isolate}-{index}", name=None)
                        for index, output in enumerate(self.outputs))
        return Spec(("photos",), outputs, flags=("--isolate", isolate))

    def arguments(self, folder: Path, file="job.yml") -> list:
        """The command line. For several outputs it writes a job file into the folder."""
        joins = [text for join in self.joins for text in JOINS[join]]
        common = [*self.flags, *joins, "--max", str(self.max)]
        if self.prune:
            common.append("--prune" if self.prune == "yes" else f"--prune={self.prune}")
        if len(self.outputs) == 1:
            output = self.outputs[0]
            sizes = [text for size in output.sizes for text in ("-s", size)]
            name = ["--name", output.name] if output.name else []
            return [*self.sources, "-o", output.out, *sizes, "-q", str(output.quality), *name, *common]
        lines = ["sources:", *(f"  - {json.dumps(source)}" for source in self.sources), "outputs:"]
        for output in self.outputs:
            lines += [f"  - out: {output.out}", f"    quality: {output.quality}",
                      "    sizes: [" + ", ".join(f'"{size}"' for size in output.sizes) + "]"]
            lines += [f'    name: "{output.name}"'] if output.name else []
        (folder / file).write_text("\n".join(lines) + "\n")
        return [file, *common]

    def record(self) -> dict:
        return asdict(self)

    @staticmethod
    def read(record: dict) -> "Spec":
        outputs = tuple(Output(**{**output, "sizes": tuple(output["sizes"])}) for output in record["outputs"])
        lists = {name: tuple(record[name]) for name in ("sources", "flags", "joins")}
        return Spec(outputs=outputs, prune=record["prune"], max=record["max"], **lists)


def path_text(value) -> str:
    """A path of --json."""
    return value if isinstance(value, str) else os.fsdecode(base64.b64decode(value["bytes"]))


@dataclass
class Result:
    """How a process has ended, and what it said."""

    command: list
    status: int
    errors: str
    events: list = field(default_factory=list)
    folder: str = ""  # the scratch folder, if the paths in the events are absolute

    @property
    def summary(self) -> dict | None:
        return next((event for event in self.events if event["event"] == "summary"), None)

    @property
    def by_source(self) -> dict[str, dict]:
        events = [event for event in self.events if event["event"] == "source"]
        return {self.path(event["source"]): event for event in events}

    def path(self, value) -> str:
        """A path below the scratch folder."""
        text = path_text(value)
        return below(text, self.folder) or text if self.folder else text

    @property
    def is_quiet(self) -> bool:
        """Whether it ended by itself, with everything made or its failures named."""
        return self.status in (0, 1) and self.summary is not None

    def problems(self, signalled=()) -> list[str]:
        """What is wrong with the end of the process alone."""
        if self.status == HUNG:
            return [f"hang: {self.errors}"]
        allowed = DOCUMENTED | {-number for number in signalled}
        if self.status not in allowed:
            return [f"status: it ended with {self.status}: {self.errors[-300:]}"]
        if "Fatal error" in self.errors or "runtime error" in self.errors:
            return [f"status: it printed {self.errors[-300:]}"]
        summary = self.summary
        if summary is None or self.status not in (0, 1, 75):
            return []
        found = []
        total = sum(summary[name] for name in _COUNTS)
        if total != summary["found"] and "gone" not in summary:
            found.append(f"summary: its counts add up to {total}, and it found {summary['found']}")
        outcomes = [event["outcome"] for event in self.events if event["event"] == "source"]
        if "gone" not in summary:
            found += [f"summary: {outcomes.count(name)} sources are {name}, and it says {summary[name]}"
                      for name in ("made", "failed", "cancelled") if outcomes.count(name) != summary[name]]
        is_bad = summary["failed"] or summary["walk_problems"] or summary["missing"]
        if (self.status == 0 and is_bad) or (self.status == 1 and not is_bad):
            found.append(f"summary: the exit status is {self.status}, and it says failed {summary['failed']}")
        return found


class Program:
    """Starts thumbjob."""

    def __init__(self, path: Path, runtime: Path):
        self.path = path
        self._running = []
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.environment = program.environment(runtime)

    def start(self, arguments, folder: Path) -> subprocess.Popen:
        process = subprocess.Popen(
            [self.path, *arguments], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._running = [one for one in self._running if one.returncode is None] + [process]
        return process

    def end_all(self):
        """Ends what still runs because a step was given up."""
        for process in self._running:
            if process.poll() is None:
                process.kill()
                process.wait()

    def start_job(self, spec: Spec, folder: Path, *more: str, file="job.yml") -> subprocess.Popen:
        quiet = ("--json", "--status", "off", "--pressure-source", "off", "--memory", "64M")
        return self.start([*spec.arguments(folder, file), *quiet, *more], folder)

    def run(self, spec: Spec, folder: Path, *more: str) -> Result:
        return finish(self.start_job(spec, folder, *more))

    def killed(self, spec: Spec, folder: Path, number: int, delay: float) -> Result:
        """A run that gets a signal after so many seconds, if it still runs."""
        process = self.start_job(spec, folder)
        time.sleep(delay)
        process.send_signal(number)
        return finish(process)

    def report(self, out: str, folder: Path) -> Result:
        return finish(self.start(["report", out, "--json"], folder))


def finish(process: subprocess.Popen, seconds: float = _SECONDS) -> Result:
    """Waits for the end of a process. One that hangs is ended."""
    out, errors, where = hang.finish(process, seconds)
    if where:
        return Result(process.args, HUNG, f"{where}\nit had said {os.fsdecode(errors)[-3000:]}")
    events = []
    for line in out.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            # Only a process that was killed leaves half a line.
            if process.returncode >= 0:
                return Result(process.args, -1001, "it printed a line that is no JSON: " + os.fsdecode(line)[:80])
    return Result(process.args, process.returncode, os.fsdecode(errors), events)
