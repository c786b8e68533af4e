"""Samples of processes while they run, and whether they stay flat."""

import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import memory

INTERVAL = 0.2
# A process that has made fewer sources says nothing about growth: its caches and pools still fill.
FEWEST_SOURCES = 2000
# The maxima of two quarters differ by chance, because the pictures that run at one moment are others, as are the limits
# that hold at that moment: at most four more places at once, of which each holds up to 6 MiB for the pictures of the
# soak. A leak of a kilobyte for each source is more than that after 25,000 sources.
RSS_MARGIN = 24 << 20
# At rest, nothing runs and nobody is connected. What remains is what the allocator keeps for its threads.
REST_MARGIN = 12 << 20


@dataclass(frozen=True)
class Sample:
    seconds: float  # since the start of the soak
    rss: int
    files: int
    threads: int


@dataclass
class Track:
    """The samples of one process."""

    name: str
    pid: int
    is_long: bool = False
    samples: list[Sample] = field(default_factory=list)
    rests: list[Sample] = field(default_factory=list)  # those with nothing to do and without clients

    def peak(self, what):
        return max((getattr(sample, what) for sample in self.samples), default=0)


def sample(pid, start):
    """Nil if the process is gone."""
    now = Sample(
        round(time.monotonic() - start, 3), memory.resident(pid), memory.open_files(pid), memory.threads(pid))
    # One that has just ended has no memory, and then no files or threads.
    return now if now.rss and now.files and now.threads else None


class Sampler:
    """Samples all processes at an interval, on a thread of its own."""

    def __init__(self, start):
        self.start = start
        self.tracks = []
        self._running = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    def follow(self, name, pid, is_long=False):
        track = Track(name, pid, is_long)
        with self._lock:
            self.tracks.append(track)
            self._running.append(track)
        return track

    def drop(self, track):
        with self._lock:
            if track in self._running:
                self._running.remove(track)

    def rest(self, track):
        now = sample(track.pid, self.start)
        if now:
            track.rests.append(now)
        return now

    def _run(self):
        while not self._ended.wait(INTERVAL):
            with self._lock:
                running = list(self._running)
            for track in running:
                now = sample(track.pid, self.start)
                if now:
                    track.samples.append(now)

    def end(self):
        self._ended.set()
        self._thread.join()


def quarters(values):
    """The maximum of each quarter."""
    size = len(values) / 4
    return [max(values[round(index * size) : round((index + 1) * size)]) for index in range(4)]


def growth_problems(track, made):
    """What grew in a long-lived process. The first quarter is the warm-up."""
    found = []
    if made < FEWEST_SOURCES:
        return found
    for samples, margin, where in ((track.samples, RSS_MARGIN, "at work"), (track.rests, REST_MARGIN, "at rest")):
        if len(samples) < 8:
            continue
        parts = quarters([each.rss for each in samples])
        if parts[3] > parts[1] + margin:
            shown = ", ".join(f"{part / (1 << 20):.1f}" for part in parts)
            found.append(
                f"the memory {where} grew by more than {margin >> 20} MiB after the second quarter: {shown} MiB")
    return found


def bound_problems(track, most_rss, most_files, most_threads):
    found = []
    for what, most, shown in (("rss", most_rss, "bytes of memory"), ("files", most_files, "open files"),
                              ("threads", most_threads, "threads")):
        peak = track.peak(what)
        if peak > most:
            found.append(f"it had {peak} {shown}, more than {most}")
    return found
