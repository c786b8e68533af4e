#!/usr/bin/env python3
"""watch.py: changes thousands of photos below a running `thumbjob watch`, and fails if the thumbnails do not follow.

It prints a table. After each step the thumbnails must mirror the photos within a time limit. Over many events, memory
and open files must not grow.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))
sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

from mirror import differences, wait_until_equal
from watched import Watched

import jpegs
import program

SIDE = 64
# Memory may grow by this much over all rounds: pages that the allocator keeps, and tables that get their final size.
MEMORY_MARGIN = 4 << 10  # KiB
# The events of a round, without those in its folder, which may be gone before it is watched.
PER_ROUND = 7
SYSCTL = Path("/proc/sys/fs/inotify/max_queued_events")


def photo() -> bytes:
    """A small photo, so that the steps measure the watch and not the decoder."""
    pixels = bytes((x * y * (c + 1)) & 0xFF for y in range(SIDE) for x in range(SIDE) for c in range(3))
    return jpegs.encoded(jpegs.ppm(SIDE, SIDE, pixels), "-quality", "75")


class Steps:
    def __init__(self, watched: Watched, limit: float, settled: float):
        self.watched, self.limit, self.settled, self.faults = watched, limit, settled, []

    def wait(self) -> tuple[float, list[str]]:
        return wait_until_equal(self.watched.photos, self.watched.thumbnails, self.settled)

    def run(self, name: str, body):
        body()
        seconds, left = self.wait()
        self.watched.drain()
        print(f"{name:48} {seconds:6.2f} s", flush=True)
        if left:
            self.faults.append(f"{name}: {len(left)} differences, such as {left[0]}")
        elif seconds > self.limit:
            self.faults.append(f"{name}: mirrored after {seconds:.1f} s, later than {self.limit} s")


def few_changes(watched: Watched, data: bytes, count: int, steps: Steps):
    photos = watched.photos
    outside = photos.parent / "outside"

    def copy_in():
        for number in range(count):
            (photos / f"{number}.jpg").write_bytes(data)

    def move():
        (photos / "moved").mkdir()
        for number in range(count // 10):
            (photos / f"{number}.jpg").rename(photos / "moved" / f"{number}.jpg")

    def delete():
        for number in range(count // 10, count // 5):
            (photos / f"{number}.jpg").unlink()

    def tree():
        for number in range(count // 5):
            folder = outside / f"{number % 7}" / f"{number % 3}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.jpg").write_bytes(data)
        outside.rename(photos / "tree")

    def overflow():
        queued = int(SYSCTL.read_text())

        def flood():
            for number in range(queued):
                (photos / f"flood-{number % 2}.jpg").write_bytes(data)
            (photos / "tree").rename(outside)
            for number in range(count // 2, count // 2 + count // 10):
                (photos / f"{number}.jpg").unlink()
                (photos / f"new-{number}.jpg").write_bytes(data)

        watched.stop_for(flood)

    steps.run(f"{count} files copied in", copy_in)
    steps.run(f"{count // 10} moved", move)
    steps.run(f"{count // 10} deleted", delete)
    steps.run(f"a tree of {count // 5} files in 29 folders moved in", tree)
    steps.run("an overflow: a tree moved out, files new and gone", overflow)
    if "changes at once" not in watched.log.read_text():
        steps.faults.append("the kernel's queue did not overflow")


def many_events(watched: Watched, data: bytes, events: int, steps: Steps):
    """Files written, renamed and removed, and folders made and removed, again and again."""
    busy = watched.photos / "busy"
    busy.mkdir()

    def some(rounds: int):
        for number in range(rounds):
            a, b = busy / f"{number % 200}.jpg", busy / f"{number % 200}-b.jpg"
            a.write_bytes(data)  # made, closed
            a.rename(b)  # from, to
            folder = busy / f"folder-{number % 50}"
            folder.mkdir(exist_ok=True)  # made
            (folder / "c.jpg").write_bytes(data)
            (folder / "c.jpg").unlink()
            folder.rmdir()  # removed
            b.unlink()  # removed
            if number % 100 == 0:
                watched.drain()

    rounds = events // PER_ROUND
    some(rounds // 10)
    steps.wait()
    time.sleep(1)  # the settled state, after which growth counts
    before, files = watched.memory, watched.descriptors
    start = time.monotonic()
    some(rounds)
    took = time.monotonic() - start
    seconds, left = steps.wait()
    time.sleep(1)
    after, files_after = watched.memory, watched.descriptors
    print(
        f"{events:,} events in {took:.0f} s, mirrored after {seconds:.2f} s: RSS {before} to {after} KiB, "
        f"open files {files} to {files_after}"
    )
    if left:
        steps.faults.append(f"many events: {len(left)} differences, such as {left[0]}")
    if after > before + MEMORY_MARGIN:
        steps.faults.append(f"memory grew from {before} to {after} KiB")
    if files_after > files:
        steps.faults.append(f"open files grew from {files} to {files_after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=program.DEFAULT)
    parser.add_argument("--count", type=int, default=1000, help="files copied in")
    parser.add_argument("--events", type=int, default=100_000, help="events over which nothing may grow")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds until the thumbnails mirror the photos")
    parser.add_argument("--settled", type=float, default=60, help="seconds after which a step is given up")
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="thumbjob-watch-"))
    watched = None
    try:
        watched = Watched(os.path.abspath(arguments.program), work, "--size", "32", "--status", "off")
        steps, data = Steps(watched, arguments.limit, arguments.settled), photo()
        few_changes(watched, data, arguments.count, steps)
        many_events(watched, data, arguments.events, steps)
        status = watched.end()
        if status != 143:
            steps.faults.append(f"exit status {status} after TERM, not 143")
        last = differences(watched.photos, watched.thumbnails)
        steps.faults += [f"after the end: {line}" for line in last[:3]]
        working = list((watched.thumbnails / ".thumbjob").glob("run-*"))
        steps.faults += [f"left over: {path.name}" for path in working]
        for fault in steps.faults:
            print(f"FAULT {fault}")
        if steps.faults:
            print(watched.log.read_text()[-2000:], file=sys.stderr)
        return 1 if steps.faults else 0
    finally:
        if watched is not None and watched.process.poll() is None:
            watched.process.kill()
            watched.process.wait()
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
