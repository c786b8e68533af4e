"""The library that disturbs calls (fault.c): builds it, writes its rules, and reads its log."""

import errno
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = [Path(__file__).with_name(f"fault{part}.c") for part in ("", "_calls", "_clocks", "_processes")]
FOREVER = 1 << 40

# The parts of a path that differ between runs.
_VARYING = (
    (re.compile(r"\brun-[0-9a-z]+"), "run-*"),
    (re.compile(r"\.thumbjob-\d+-\d+\.tmp"), ".thumbjob-*.tmp"),  # where a file system has none without a name
    (re.compile(r"/#\d+ \(deleted\)$"), "/#*"),  # a file without a name
    (re.compile(r"^/proc/\d+/"), "/proc/*/"),
    (re.compile(r":\[\d+\]"), ":[*]"),
    (re.compile(r"/task/\d+/"), "/task/*/"),
    (re.compile(r"^run/\d+\.sock"), "run/*.sock"),
)


def build(compiler, folder):
    """Compiles the library into a folder. Returns its path."""
    library = folder / "fault.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, *SOURCES, "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Call:
    """A call as the log has it. Calls of the same name and place are told apart by their number, from 1."""

    name: str
    place: str  # relative to the job's folder, with * for what differs between runs
    module: str  # of the caller
    site: str  # the caller's place in it
    number: int = 1

    @property
    def is_of_program(self):
        """Whether the program itself has made the call, and not a library that it is linked with."""
        return not re.match(r"lib.*\.so", self.module) or self.module.startswith("libswiftGlibc")


@dataclass(frozen=True)
class Rule:
    call: str
    place: str  # as in Call; * stands for any text
    effect: str
    value: int = 0
    first: int = 1
    last: int = 1

    def line(self, folder):
        place = self.place
        if place in (".", "./."):
            place = f"{folder}{place[1:]}"
        elif not _OTHERS.match(place):
            place = " -> ".join(f"{folder}/{part}" for part in place.split(" -> "))
        pattern = re.sub(r"([\[\]?\\])", r"\\\1", place)
        return f"{self.call} {self.first} {self.last} {self.effect} {self.value} {pattern}"

    def __str__(self):
        what = errno.errorcode.get(self.value, "?") if self.effect == "error" else (
            f"{self.effect} {self.value}".removesuffix(" 0"))
        if self.last == FOREVER:
            numbers = f" from number {self.first}"
        else:
            numbers = f" {self.first}" if self.first == self.last else f" {self.first} to {self.last}"
        return f"{self.call} {self.place}{numbers}: {what}"


# Places that are no files.
_OTHERS = re.compile(
    r"(stdout|stderr|process|memory|no file|no path|too long|real|monotonic|boot|raw|thread|other|\w+:.*|[/*].*)$")


def normal(place, folder):
    """The place without what differs between runs."""
    if place == f"{folder}/.":
        return "./."
    place = place.replace(f"{folder}/", "").replace(str(folder), ".")
    for pattern, text in _VARYING:
        place = pattern.sub(text, place)
    return place


def environment(library, folder, log, rules, gate=None):
    """The variables that load the library into a program that starts in a folder."""
    # A relative path, because the loader takes a space in a path for the end of the name.
    variables = {"LD_PRELOAD": os.path.relpath(library, folder), "FAULT_LOG": str(log)}
    if rules:
        variables["FAULTS"] = "\n".join(rule.line(folder) for rule in rules)
    if gate:
        variables["FAULT_GATE"] = f"{gate[0]} {gate[1]}"
    return variables


@dataclass
class Log:
    calls: list
    disturbed: list  # of the calls


def read_log(path, folder):
    log = Log([], [])
    seen = {}
    try:
        # The name of a file may have what else ends a line.
        lines = os.fsdecode(path.read_bytes()).split("\n")[:-1]
    except FileNotFoundError:
        return log
    for line in lines:
        name, place, caller = line.split("\t")
        module, _, site = caller.rpartition("+")
        call = Call(name.removeprefix("!"), normal(place, folder), module, site)
        if line.startswith("!"):
            log.disturbed.append(call)
            continue
        key = call.name, call.place
        seen[key] = seen.get(key, 0) + 1
        log.calls.append(Call(call.name, call.place, module, site, seen[key]))
    return log
