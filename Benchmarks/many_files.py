"""many_files.py PHOTOS [--count N] [--folder DIR]: what each further file costs thumbjob, among
very many small ones.

Makes small photos out of those in PHOTOS, and hard links of them in folders of 1,000. Then runs thumbjob twice: the
first run makes all thumbnails, the second finds all of them up to date. The time of a run is from start to exit. Its
memory is resident set size: the most that the kernel has counted, and what it held after a quarter of the time, so that
one sees whether it grows with the number of files.

System calls are counted by strace, in runs of their own over the first ten folders, because strace makes each call
slow; without strace the table says so. The calls of start and end count, too; they are a few hundred.

THUMBJOB in the environment names another program than the release build.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).absolute().parent
THUMBJOB = Path(os.environ.get("THUMBJOB", HERE.parent / ".build/release/thumbjob")).absolute()
SIDES = (160, 240, 320, 480)  # the boxes of the small photos
IN_FOLDER = 1_000
TRACED_FOLDERS = 10
SAMPLING = 0.02  # seconds between two looks at memory
OPTIONS = ["-s", "64", "--quiet", "--progress", "none", "--status", "off"]
MARK = b"thumbjob "


@dataclass(frozen=True)
class Run:
    seconds: float
    cpu_seconds: float
    quarter: int  # KiB resident after a quarter of the time
    most: int  # KiB resident at most


def main() -> None:
    parser = argparse.ArgumentParser(description="thumbjob over very many small photos")
    parser.add_argument("photos", type=Path, help="a folder of photos, to make the small ones of")
    parser.add_argument("--count", type=int, default=100_000, metavar="N", help="how many files (default: 100000)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where to make them (default: for temporary files)")
    parser.add_argument("--max", type=int, metavar="N", help="operations at once (default: as thumbjob has it)")
    options = parser.parse_args()
    if options.count < 1:
        fail("--count starts at 1")
    for needed in (options.photos, THUMBJOB):
        if not needed.exists():
            fail(f"{needed} is not there")
    width = [] if options.max is None else ["--max", str(options.max)]
    with tempfile.TemporaryDirectory(prefix="many-files-", dir=options.folder) as work:
        tree, out = Path(work, "tree"), Path(work, "out")
        small = small_photos(options.photos, Path(work, "small"))
        link(small, tree, options.count)
        command = [str(THUMBJOB), str(tree), "-o", str(out), *OPTIONS, *width]
        runs = {"fresh": run(command), "up to date": run(command)}
        made = sum(len(files) for folder, _, files in os.walk(out) if ".thumbjob" not in folder)
        if made != options.count:
            fail(f"{made} thumbnails of {options.count} photos")
        traced = folders(options.count)[:TRACED_FOLDERS]
        calls = count_calls([str(tree / name) for name in traced], Path(work, "traced"), width)
        print(table(options.count, runs, calls, min(options.count, TRACED_FOLDERS * IN_FOLDER)))


def fail(why: str) -> None:
    sys.exit(f"many_files.py: {why}")


# The files


def small_photos(photos: Path, folder: Path) -> list[Path]:
    sizes = [word for side in SIDES for word in ("-s", str(side))]
    subprocess.run([THUMBJOB, photos, "-o", folder, *sizes, "--quiet", "--status", "off"], check=True)
    small = sorted(folder.rglob("*.jpg"))
    for photo in small:
        photo.write_bytes(without_mark(photo.read_bytes()))
    return small


def without_mark(jpeg: bytes) -> bytes:
    """A thumbnail of thumbjob without the comment by which it would pass over it."""
    end = 4 + int.from_bytes(jpeg[4:6])  # of the JFIF segment, which comes first
    if jpeg[end:end + 2] != b"\xff\xfe" or not jpeg.startswith(MARK, end + 4):
        fail("a small photo has no mark where one was expected")
    return jpeg[:end] + jpeg[end + 2 + int.from_bytes(jpeg[end + 2:end + 4]):]


def folders(count: int) -> list[str]:
    return [f"{number:04}" for number in range(-(-count // IN_FOLDER))]


def link(small: list[Path], tree: Path, count: int) -> None:
    for number, name in enumerate(folders(count)):
        (tree / name).mkdir(parents=True)
        for place in range(number * IN_FOLDER, min(count, (number + 1) * IN_FOLDER)):
            os.link(small[place % len(small)], tree / name / f"IMG_{place:07}.jpg")


# Measuring


def run(command: list[str]) -> Run:
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    samples: list[int] = []
    while True:
        # WNOWAIT: the process stays, so that its memory can be read until it is waited for.
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            break
        samples.append(resident(process.pid))
        time.sleep(SAMPLING)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        fail(f"exit status {process.returncode}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, samples[len(samples) // 4] if samples else 0, usage.ru_maxrss)


def resident(pid: int) -> int:
    """KiB that a process holds now; 0 once it has ended."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def count_calls(sources: list[str], out: Path, width: list[str]) -> dict[str, list[tuple[str, int]]]:
    """The calls of a fresh run and of one that finds all up to date, by name; empty without strace."""
    if shutil.which("strace") is None:
        return {}
    counted = {}
    for name in ("fresh", "up to date"):
        summary = out.with_name("calls")
        command = [str(THUMBJOB), *sources, "-o", str(out), *OPTIONS, *width]
        subprocess.run(["strace", "-f", "-c", "-S", "calls", "-U", "calls,name", "-o", summary, *command], check=True)
        rows = [line.split() for line in summary.read_text().splitlines()]
        counted[name] = [(row[1], int(row[0])) for row in rows if len(row) == 2 and row[0].isdigit()]
    return {name: [call for call in calls if call[0] != "total"] for name, calls in counted.items()}


# Telling


def table(count: int, runs: dict[str, Run], calls: dict[str, list[tuple[str, int]]], traced: int) -> str:
    lines = [
        f"| {count:,} files | files/s | processor µs a file | MiB at a quarter | MiB at most | system calls a file |",
        "| --- | --- | --- | --- | --- | --- |"]
    for name, run in runs.items():
        each = f"{sum(number for _, number in calls[name]) / traced:.1f}" if calls else "strace is not installed"
        lines.append(
            f"| {name} | {count / run.seconds:,.0f} | {run.cpu_seconds / count * 1e6:.1f} "
            f"| {run.quarter / 1024:.0f} | {run.most / 1024:.0f} | {each} |")
    for name, counted in calls.items():
        common = ", ".join(f"{call} {number / traced:.2f}" for call, number in counted if number >= traced / 20)
        lines += ["", f"{name}: {common}"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
