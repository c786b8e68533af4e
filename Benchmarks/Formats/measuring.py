"""Runs one command, and measures it together with all processes that it starts.

Processor time is what the kernel reports when a process is waited for: its own, and that of the children it has waited
for. This process is the subreaper (prctl(2)) of the command: a helper that outlives it becomes a child of this process,
which ends it, waits for it, and adds its time.

Memory is the sum, over all processes of the command, of the most that each held in resident memory (VmHWM), read
again and again while they run. It is too high if they do not all hold the most at the same time, and counts memory that
two of them share twice: so the figure for a program with helper processes is never too good. What a process takes in
its last milliseconds is missed by that, but not by the kernel's figure for the largest process (ru_maxrss), so the
larger of both counts. ru_maxrss itself begins with what the process held that started the command, so it counts
only above that.
"""

import ctypes
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SAMPLING = 0.001  # seconds between two looks at memory
PR_SET_CHILD_SUBREAPER = 36
SAID = 4000  # characters of what a command prints that are kept


@dataclass(frozen=True)
class Run:
    status: int  # exit status; negative is the signal that ended it
    timed_out: bool
    seconds: float
    cpu_seconds: float
    memory: int  # bytes
    said: str  # the end of what it printed
    out: str  # its standard output, if that was asked for


def become_subreaper() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def run(command: list[str], limit: float, environment: dict[str, str] | None = None, keep_output: bool = False) -> Run:
    """One command at a time: what belongs to it is told from the children of this process."""
    with tempfile.TemporaryFile("w+", errors="replace") as said, tempfile.TemporaryFile("w+", errors="replace") as out:
        before = own_peak()
        start = time.monotonic()
        process = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=out if keep_output else said, stderr=said, start_new_session=True)
        with Sampler() as sampler:
            timed_out = not ended(process.pid, start + limit)
            if timed_out:
                os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        largest = usage.ru_maxrss * 1024
        cpu_seconds = usage.ru_utime + usage.ru_stime + end_orphans()
        memory = max(sampler.together, largest if largest > before else 0)
        said.seek(max(0, said.seek(0, os.SEEK_END) - SAID))
        out.seek(0)
        return Run(
            process.returncode, timed_out, seconds, cpu_seconds, memory, said.read(), out.read() if keep_output else "")


def ended(process: int, deadline: float) -> bool:
    """Waits until the process has ended, but leaves it to be waited for."""
    descriptor = os.pidfd_open(process)
    try:
        return bool(select.select([descriptor], [], [], max(0, deadline - time.monotonic()))[0])
    finally:
        os.close(descriptor)


def end_orphans() -> float:
    """Ends what the command has left behind; the processor seconds of that."""
    seconds = 0.0
    while True:
        for child in children(os.getpid()):
            os.kill(child, signal.SIGKILL)
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


class Sampler:
    """Looks again and again at what the descendants of this process have held at most, on a thread of its own."""

    def __init__(self) -> None:
        self._peaks: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    @property
    def together(self) -> int:
        return sum(self._peaks.values())

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.is_set():
            for process in descendants(os.getpid()):
                # The latest figure and not the largest: until a new process runs its program, it has its parent's.
                if held := peak(process):
                    self._peaks[process] = held
            self._ended.wait(SAMPLING)


def descendants(process: int) -> Iterator[int]:
    for child in children(process):
        yield child
        yield from descendants(child)


def children(process: int) -> list[int]:
    """The kernel lists the children of each thread apart."""
    found: list[int] = []
    try:
        for thread in os.scandir(f"/proc/{process}/task"):
            found += map(int, Path(thread.path, "children").read_text().split())
    except OSError:
        pass  # it is just ending
    return found


def peak(process: int) -> int:
    """The most resident memory that a process has held since it was started; 0 if it is just ending."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def own_peak() -> int:
    return peak(os.getpid())
