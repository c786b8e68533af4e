"""cold_disks.py: thumbjob on disks whose files are not in memory: seconds, seeks and bytes.

The disks are simulated (simulated_disk.py) and mounted anew for each run, so that nothing is in memory. On the spinning
one, three ways to read are compared:

- names in random order: each operation reads its own file, in the order in which the folder lists them (`--readers 0`,
  what other programs do);
- names in the order of the places: the same, but the folder lists the files in the order of their places;
- read-ahead: one reader reads file after file in the order of their places (`--readers 1`, what `auto` does on a
  spinning disk).

On a disk over the network, and on one of flash, it is the operations themselves against the readers. The last two are
no simulations: a file system in memory and the disk of --folder, with its cache dropped where the rights allow it.
There, readers should make no difference.

The ways take turns in each round. Ratios are medians of the ratios within a round, spread in brackets. All thumbnails
are compared with those of the first run, byte for byte. Writes cold-disks.md and cold-disks.json to --out; --quote FILE
also puts the table between the lines `<!-- make bench-disks -->` and `<!-- /make bench-disks -->` of FILE. Exit status
1 if thumbnails differ.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import bench

SIMULATED = Path(__file__).with_name("simulated_disk.py")
PATIENCE = 20  # seconds for a disk to be mounted
BEGIN, END = "<!-- make bench-disks -->\n", "<!-- /make bench-disks -->"


@dataclass(frozen=True)
class Way:
    name: str
    readers: str
    sorted: bool = False


@dataclass(frozen=True)
class Disk:
    name: str
    kind: str | None  # of simulated_disk.py; None if it is real
    ways: tuple[Way, ...]


SELF = Way("names in random order", "0")
SORTED = Way("names in the order of the places", "0", sorted=True)
DISKS = (
    Disk("spinning", "spinning", (SELF, SORTED, Way("read-ahead, 1 reader", "1"))),
    Disk("network, 10 ms", "network", (SELF, Way("read-ahead, 8 readers", "8"))),
    Disk("flash, 80 µs", "flash", (SELF, Way("read-ahead, 1 reader", "1"))),
    Disk("memory", None, (SELF, Way("auto", "auto"), Way("read-ahead, 1 reader", "1"))),
    Disk("the disk here", None, (SELF, Way("auto", "auto"), Way("read-ahead, 1 reader", "1"))),
)


def wait_for(condition, process):
    end = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            sys.exit(f"the disk cannot be mounted: {process.stderr.read()}")
        time.sleep(0.05)


def thumbnails(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.jpg"))}


class Bench:
    def __init__(self, given, work):
        self.given, self.work = given, work
        self.expected = {}

    def run(self, photos, way):
        """Makes the thumbnails, and returns the seconds."""
        out = self.work / "thumbs"
        shutil.rmtree(out, ignore_errors=True)
        begin = time.monotonic()
        subprocess.run(
            [self.given.thumbjob, photos, "-o", out, "--readers", way.readers, "--quiet", "--max", str(self.given.max)],
            check=True, stdin=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        made = thumbnails(out)
        if made != self.expected.setdefault(photos, made) or len(made) != self.given.count:
            sys.exit(f"{way.name} on {photos}: the thumbnails are not those of the first run")
        return {"seconds": seconds}

    def simulated(self, disk, way):
        mount = self.work / disk.kind
        mount.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, SIMULATED, mount, self.given.photos, str(self.given.count), "--kind", disk.kind,
             *(["--sorted"] if way.sorted else [])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: os.path.ismount(mount), process)
            figures = self.run(mount, way)
        finally:
            subprocess.run(["fusermount3", "-u", mount], check=True)
        counters = json.loads(process.communicate(timeout=PATIENCE)[0])
        return figures | {key: counters[key] for key in ("seeks", "bytes", "requests")}

    def real(self, photos, way):
        try:
            Path("/proc/sys/vm/drop_caches").write_text("1")
        except OSError:
            print("the cache cannot be dropped here; files are in memory", file=sys.stderr)
        return self.run(photos, way)

    def lay_out(self, folder):
        """Copies of the photos, as many as a simulated disk has, in folders of a hundred."""
        photos = sorted(path for path in self.given.photos.iterdir() if path.is_file())
        for index in range(self.given.count):
            photo = photos[index % len(photos)]
            place = folder / f"{index // 100:04}" / f"{index:06}{photo.suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(photo, place)
        return folder

    def measure(self, disk):
        if disk.kind is None:
            where = self.given.memory if disk.name == "memory" else self.work
            with tempfile.TemporaryDirectory(dir=where) as folder:
                photos = self.lay_out(Path(folder) / "photos")
                os.sync()
                return self.rounds(disk, lambda way: self.real(photos, way))
        return self.rounds(disk, lambda way: self.simulated(disk, way))

    def rounds(self, disk, measure):
        found = {way.name: [] for way in disk.ways}
        for number in range(self.given.rounds):
            for index in range(len(disk.ways)):
                way = disk.ways[(index + number) % len(disk.ways)]
                found[way.name].append(measure(way))
                print(f"{disk.name}, {way.name}: {found[way.name][-1]}", file=sys.stderr)
        return found


def table(results):
    lines = ["| disk | read | seconds | faster | seeks a photo | MB |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for disk, ways in results["disks"].items():
        base = next(iter(ways.values()))
        for way, rounds in ways.items():
            ratios = sorted(first["seconds"] / this["seconds"] for first, this in zip(base, rounds, strict=True))
            faster = "" if rounds is base else f"{median(ratios):.2f} × [{ratios[0]:.2f} to {ratios[-1]:.2f}]"
            seeks = f"{median(r['seeks'] for r in rounds) / results['count']:.1f}" if "seeks" in rounds[0] else ""
            megabytes = f"{median(r['bytes'] for r in rounds) / 1e6:.0f}" if "bytes" in rounds[0] else ""
            seconds = median(r["seconds"] for r in rounds)
            lines.append(f"| {disk} | {way} | {seconds:.1f} | {faster} | {seeks} | {megabytes} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbjob", type=Path, required=True)
    parser.add_argument("--photos", type=Path, required=True, help="a folder of photos")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a folder in memory")
    parser.add_argument("--folder", type=Path, default=None, help="a folder on a real disk; default: that of TMPDIR")
    parser.add_argument("--disks", nargs="*", help="only those whose names begin so")
    parser.add_argument("--quote", type=Path, metavar="FILE", help="a file to put the table into")
    given = parser.parse_args()
    bench.check_quote(given.quote, BEGIN, END)
    given.thumbjob = given.thumbjob.absolute()
    given.photos = given.photos.absolute()
    disks = [disk for disk in DISKS if not given.disks or disk.name.startswith(tuple(given.disks))]
    with tempfile.TemporaryDirectory(dir=given.folder) as work:
        run = Bench(given, Path(work))
        results = {"count": given.count, "disks": {disk.name: run.measure(disk) for disk in disks}}
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "cold-disks.json").write_text(json.dumps(results, indent=2))
    text = table(results)
    (given.out / "cold-disks.md").write_text(text)
    if given.quote:
        bench.quote(text, given.quote, BEGIN, END)
    print(text)


if __name__ == "__main__":
    main()
