"""desktop_cache.py CORPUS [--count N]: what it takes to fill the cache of thumbnails that file managers share, with
thumbjob and as GNOME does.

Makes small photos out of those in CORPUS, and hard links of them in folders of 1,000, as many_files.py does; --whole
takes the photos as they are. Links to one file are photos of their own here, because a cache names an entry after the
path. All caches are temporary, and only `large` (256 pixels) is filled:

- thumbjob --layout freedesktop fills an empty cache, and runs again, with nothing to do;
- GNOME's DesktopThumbnailFactory (libgnome-desktop) makes the first --subset photos one by one, into a cache of its
  own: can_thumbnail, generate_thumbnail, save_thumbnail. GNOME's Files makes half as many at once as there are
  processors, with two processors one. For each photo, the factory starts a thumbnailer in a sandbox (bwrap);
- that thumbnailer, gdk-pixbuf-thumbnailer, makes the same photos without factory and sandbox, a process for each. If
  the sandbox does not work, as in some containers, this alone is measured, and the output says so.

Times of thumbjob are from start to exit. Those of the others are without the start of the Python process that calls
them. Memory is what all processes of a run have held together at most in resident memory, sampled, or what the largest
one has held as the kernel counts it, whichever is more. For the others this counts the Python process, which is smaller
than a file manager.

Then it checks the caches: each photo has an entry and nothing else is there; of a sample, names, texts and permissions
are as the standard says, GNOME finds the entries valid, and not for photos of another time; the second run has left
them as they were; GNOME's own entries have the same names and sizes. Exit status 1 means that a check has failed.

Writes desktops.md and desktops.json to --out. THUMBJOB in the environment names another program than the release
build. Needs the Debian packages gir1.2-gnomedesktop-3.0, python3-gi, libgdk-pixbuf2.0-bin and bubblewrap.
"""

# No large import, and no list of all photos, before everything is measured: to the kernel a child has held what its
# parent held when it began. Where `gi` or hashlib is needed, it is imported there.
import argparse
import contextlib
import ctypes
import datetime
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

import bench
from many_files import IN_FOLDER, THUMBJOB, link, without_mark

SIDES = (480, 640, 960, 1280)  # the boxes of the small photos
# Of the folder of all photos. Its characters are those in which programs that make URIs have differed.
TREE = "Größe #1 (50%) & ~mehr; 'x', [y]"
SIZE = 256
FOLDER = "large"
SAMPLE = 500  # entries that are checked at most
OPTIONS = ["--layout", "freedesktop", "-s", str(SIZE), "--quiet", "--progress", "none", "--status", "off"]
PYTHON = "/usr/bin/python3"  # the system's, for which Debian has `gi`
AS_GNOME = "--as-gnome"  # the argument with which this file runs as that program
THUMBNAILER = "/usr/bin/gdk-pixbuf-thumbnailer"
PACKAGES = ("gir1.2-gnomedesktop-3.0", "python3-gi", "libgdk-pixbuf2.0-bin", "bubblewrap")
FRESH, AGAIN = "thumbjob, empty cache", "thumbjob, nothing to do"
GNOME, ALONE = "GNOME, one by one", "gdk-pixbuf-thumbnailer alone, one by one"
FIGURES = ("seconds", "cpu_seconds")


@dataclass(frozen=True)
class Run:
    photos: int
    seconds: float
    cpu_seconds: float
    memory: int  # bytes that all processes held together at most
    entries: int  # that the run has added
    failed: str = ""  # why not all are made


def main() -> None:
    parser = argparse.ArgumentParser(description="the cache of file managers, filled by thumbjob and as GNOME does")
    parser.add_argument("corpus", type=Path, help="what photos.sh has laid out, or another folder of photos")
    parser.add_argument("--count", type=int, default=100_000, metavar="N", help="how many photos (default: 100000)")
    parser.add_argument("--subset", type=int, default=500, metavar="N", help="how many GNOME makes (default: 500)")
    parser.add_argument("--whole", action="store_true", help="takes the photos as they are, not small ones")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where to make them (default: for temporary files)")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    options = parser.parse_args()
    check_needs(options)
    options.out.mkdir(parents=True, exist_ok=True)
    become_subreaper()
    with tempfile.TemporaryDirectory(prefix="desktop-cache-", dir=options.folder) as work:
        distinct, each = lay_out(options, Path(work))
        runs, kept = measure(options, Path(work))
        wrong = checks(options.count, Path(work), kept, not runs[GNOME].failed)
    notes = []
    if runs[GNOME].failed:
        why = runs.pop(GNOME).failed
        notes.append(f"GNOME's factory makes nothing here, so only the program that it would start is measured: {why}")
    title = (
        f"{options.count:,} photos, {distinct} of them different, {each / 1000:.0f} kB each; "
        f"{datetime.date.today().isoformat()}, {bench.machine()}; {'; '.join(versions())}")
    text = "\n\n".join([table(runs, options.count), *notes, title]) + "\n"
    (options.out / "desktops.md").write_text(text)
    (options.out / "desktops.json").write_text(json.dumps(as_json(title, runs, notes, wrong), indent=1) + "\n")
    print(text)
    if wrong:
        fail("\n  ".join(["the caches are not as they should be:", *wrong]))


def check_needs(options: argparse.Namespace) -> None:
    """Fails at once where the benchmark would otherwise fail after minutes."""
    if options.count < 1 or options.subset < 1:
        fail("--count and --subset start at 1")
    for needed in (options.corpus, THUMBJOB):
        if not needed.exists():
            fail(f"{needed} is not there")
    loads = [PYTHON, "-c", "import gi; gi.require_version('GnomeDesktop', '3.0')"]
    if not shutil.which(THUMBNAILER) or not shutil.which(PYTHON) or subprocess.run(loads, check=False).returncode != 0:
        fail(f"GNOME's library is missing: apt-get install {' '.join(PACKAGES)}")


def fail(why: str) -> None:
    sys.exit(f"desktop_cache.py: {why}")


# The photos


def lay_out(options: argparse.Namespace, work: Path) -> tuple[int, float]:
    """Makes the tree of photos; how many different ones there are, and their mean bytes."""
    photos = options.corpus / "photos" if (options.corpus / "photos").is_dir() else options.corpus
    small = work / "small"
    if options.whole:
        shutil.copytree(photos, small)
    else:
        sizes = [word for side in SIDES for word in ("-s", str(side))]
        subprocess.run([THUMBJOB, photos, "-o", small, *sizes, "--quiet", "--status", "off"], check=True)
    found = sorted(small.rglob("*.jpg"))
    if not found:
        fail(f"no photos in {photos}")
    for photo in found:
        if not options.whole:
            photo.write_bytes(without_mark(photo.read_bytes()))
        # A time in the past with a fraction of a second, which caches leave out.
        os.utime(photo, ns=(0, 1_600_000_000_750_000_000))
    each = sum(photo.stat().st_size for photo in found) / len(found)
    # So that the first ones are of all kinds.
    random.Random(1).shuffle(found)
    link(found, work / TREE, options.count)
    # Or the kernel would still write while programs are measured.
    os.sync()
    return len(found), each


def path_of(work: Path, place: int) -> Path:
    """The photo to which many_files.link has given this number."""
    return work / TREE / f"{place // IN_FOLDER:04}" / f"IMG_{place:07}.jpg"


# Measuring


def measure(options: argparse.Namespace, work: Path) -> tuple[dict[str, Run], bool]:
    """What each way took, and whether the second run of thumbjob has left the entries as they were."""
    count, subset = options.count, min(options.subset, options.count)
    ours = [str(THUMBJOB), str(work / TREE), *OPTIONS]
    runs = {FRESH: run(ours, work / "thumbjob", count)}
    before = states(count, work)
    runs[AGAIN] = run(ours, work / "thumbjob", count)
    kept = states(count, work) == before
    listed = list_photos(work, range(subset))
    runs[GNOME] = run([PYTHON, __file__, AS_GNOME, "factory", listed], work / "gnome", subset)
    runs[ALONE] = run([PYTHON, __file__, AS_GNOME, "thumbnailer", listed], work / "alone", subset)
    for name in (GNOME, ALONE):
        # Where the sandbox does not work, GNOME already fails to make the first one.
        if runs[name].entries != subset and not (name == GNOME and runs[name].entries == 0):
            fail(f"{name}: {runs[name].entries} of {subset} made: {runs[name].failed}")
    return runs, kept


def list_photos(work: Path, places: range) -> str:
    """A file with the paths of photos."""
    listed = work / "list"
    listed.write_text("\0".join(str(path_of(work, place)) for place in places))
    return str(listed)


def run(command: list[str], cache: Path, photos: int) -> Run:
    """Runs a command with a cache. If it prints JSON, figures there count instead of those from outside."""
    had = entries(cache)
    with tempfile.TemporaryFile("w+") as output:
        begun, used = own_peak(), processor_time(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment(cache), stdin=subprocess.DEVNULL, stdout=output)
        try:
            with bench.Sampler(process.pid) as sampler:
                _, status, usage = os.wait4(process.pid, 0)
                seconds = time.monotonic() - start
        except BaseException:
            process.kill()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        for helper in bench.children(os.getpid()):
            os.kill(helper, signal.SIGKILL)
        reap()
        if process.returncode != 0:
            fail(f"{' '.join(command)}: exit status {process.returncode}")
        output.seek(0)
        told = json.loads(output.read() or "{}")
    largest = usage.ru_maxrss * 1024
    memory = max(sampler.together, largest if largest > begun else 0)
    cpu_seconds = processor_time(resource.RUSAGE_CHILDREN) - used
    figures = {"seconds": seconds, "cpu_seconds": cpu_seconds, **told}
    print(f"{photos} photos, {figures['seconds']:.2f} s: {' '.join(command)}", file=sys.stderr)
    return Run(photos, memory=memory, entries=entries(cache) - had, **figures)


def environment(cache: Path) -> dict[str, str]:
    """Without the user's settings, which may switch thumbnails off."""
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "GSETTINGS_BACKEND": "memory"}


def entries(cache: Path) -> int:
    folder = cache / "thumbnails" / FOLDER
    return sum(1 for _ in os.scandir(folder)) if folder.is_dir() else 0


def processor_time(whose: int) -> float:
    """Seconds of this process, or of those that it has waited for."""
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def become_subreaper() -> None:
    """Processes that outlive their parents, such as those in bwrap's sandbox, become children of this one.

    When it waits for them, the kernel adds what they took.
    """
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def reap(options: int = 0) -> None:
    """Waits for the children that there are, or with WNOHANG for those that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options) != (0, 0):
            pass


def own_peak() -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


# GNOME: what the system's Python runs in a process of its own


def as_gnome(way: str, listed: Path) -> None:
    """Does something with the listed photos, and prints JSON."""
    paths = listed.read_text().split("\0")
    ways = {"factory": by_factory, "thumbnailer": by_thumbnailer, "lookup": look_up}
    print(json.dumps(ways[way](paths)))


def factory_and_uri():
    import gi
    gi.require_version("GnomeDesktop", "3.0")
    from gi.repository import GLib, GnomeDesktop
    large = GnomeDesktop.DesktopThumbnailSize.LARGE
    return GnomeDesktop.DesktopThumbnailFactory.new(large), GLib.filename_to_uri


def by_factory(paths: list[str]) -> dict:
    factory, uri_of = factory_and_uri()
    become_subreaper()
    started = Started()
    for path in paths:
        uri, modified = uri_of(path), int(os.stat(path).st_mtime)
        if not factory.can_thumbnail(uri, "image/jpeg", modified):
            return {"failed": f"no thumbnailer for {path}"}
        try:
            factory.save_thumbnail(factory.generate_thumbnail(uri, "image/jpeg"), uri, modified)
        except Exception as error:  # GLib.Error, or there is no picture to save
            return {"failed": str(error)}
        reap(os.WNOHANG)
    return started.figures()


def by_thumbnailer(paths: list[str]) -> dict:
    folder = Path(os.environ["XDG_CACHE_HOME"], "thumbnails", FOLDER)
    folder.mkdir(parents=True)
    started = Started()
    for place, path in enumerate(paths):
        command = [THUMBNAILER, "-s", str(SIZE), uri_of_path(path), str(folder / f"{place}.png")]
        made = subprocess.run(command, check=False)
        if made.returncode != 0:
            return {"failed": f"{THUMBNAILER} {path}: exit status {made.returncode}"}
    return started.figures()


class Started:
    """What this process and those that it has waited for take from now on."""

    def __init__(self) -> None:
        self._start, self._cpu_seconds = time.monotonic(), self._used()

    @staticmethod
    def _used() -> float:
        return sum(map(processor_time, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    def figures(self) -> dict[str, float]:
        seconds = time.monotonic() - self._start
        reap()
        return {"seconds": seconds, "cpu_seconds": self._used() - self._cpu_seconds}


def look_up(paths: list[str]) -> dict:
    """For each photo its URI, the entry that GNOME finds for it, and the one for a photo a second younger."""
    factory, uri_of = factory_and_uri()
    found = []
    for path in paths:
        uri, modified = uri_of(path), int(os.stat(path).st_mtime)
        found.append((uri, factory.lookup(uri, modified), factory.lookup(uri, modified + 1)))
    return {"found": found}


def uri_of_path(path: str | Path) -> str:
    return "file://" + quote(str(path), safe="/!$&'()*+,=:@~")


# Checking


def sample(count: int) -> range:
    return range(0, count, -(-count // SAMPLE))


def entry_of(cache: Path, photo: Path) -> Path:
    from hashlib import md5
    digest = md5(uri_of_path(photo).encode(), usedforsecurity=False).hexdigest()
    return cache / "thumbnails" / FOLDER / f"{digest}.png"


def states(count: int, work: Path) -> list[tuple[int, int] | None]:
    """By which one sees whether an entry has been written anew."""
    entries = (entry_of(work / "thumbjob", path_of(work, place)) for place in sample(count))
    return [(entry.stat().st_ino, entry.stat().st_mtime_ns) if entry.exists() else None for entry in entries]


def checks(count: int, work: Path, kept: bool, with_gnome: bool) -> list[str]:
    """What is wrong, at most a few lines for each check."""
    cache = work / "thumbjob"
    photos = [path_of(work, place) for place in sample(count)]
    wrong = list(wrong_files(cache, count))
    if not kept:
        wrong.append("the second run has written entries anew")
    wrong += first(line for photo in photos for line in wrong_entry(entry_of(cache, photo), photo))
    looked = subprocess.run(
        [PYTHON, __file__, AS_GNOME, "lookup", list_photos(work, sample(count))], check=True, capture_output=True,
        text=True, env=environment(cache))
    wrong += first(wrong_lookups(cache, photos, json.loads(looked.stdout)["found"]))
    if with_gnome:
        wrong += first(unlike(cache, work / "gnome"))
    return wrong


def first(lines: Iterator[str], most: int = 5) -> list[str]:
    found = list(lines)
    return found[:most] + ([f"and {len(found) - most} more"] if len(found) > most else [])


def wrong_files(cache: Path, count: int) -> Iterator[str]:
    if (made := entries(cache)) != count:
        yield f"{made} entries for {count} photos"
    others = {path.name for path in (cache / "thumbnails").iterdir()} - {FOLDER, ".thumbjob"}
    if others:
        yield f"the cache also has {', '.join(sorted(others))}"
    for folder in (cache / "thumbnails", cache / "thumbnails" / FOLDER):
        if (mode := stat.S_IMODE(folder.stat().st_mode)) != 0o700:
            yield f"{folder.name} has permissions {mode:o}"


def wrong_entry(entry: Path, photo: Path) -> Iterator[str]:
    if not entry.exists():
        yield f"no entry {entry.name} for {photo}"
        return
    if (mode := stat.S_IMODE(entry.stat().st_mode)) != 0o600:
        yield f"{entry.name} has permissions {mode:o}"
    size, texts = read_png(entry)
    facts = photo.stat()
    wanted = {
        "Thumb::URI": uri_of_path(photo), "Thumb::MTime": str(int(facts.st_mtime)), "Thumb::Size": str(facts.st_size),
        "Thumb::Mimetype": "image/jpeg"}
    for key, value in wanted.items():
        if texts.get(key) != value:
            yield f"{entry.name} has {key} {texts.get(key)}, not {value}"
    if max(size) != SIZE:
        yield f"{entry.name} has {size[0]} × {size[1]} pixels"


def read_png(file: Path) -> tuple[tuple[int, int], dict[str, str]]:
    """Width and height, and the texts that are not compressed."""
    data, place, texts = file.read_bytes(), 8, {}
    while place < len(data):
        length, kind = int.from_bytes(data[place:place + 4]), data[place + 4:place + 8]
        if kind == b"tEXt":
            key, _, text = data[place + 8:place + 8 + length].decode("latin-1").partition("\0")
            texts[key] = text
        place += length + 12
    return (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])), texts


def wrong_lookups(cache: Path, photos: list[Path], found: list[list[str | None]]) -> Iterator[str]:
    for photo, (uri, entry, of_younger) in zip(photos, found, strict=True):
        if uri != uri_of_path(photo):
            yield f"to GNOME, {photo} is {uri}"
        if entry != str(entry_of(cache, photo)):
            yield f"GNOME finds {entry} for {photo}"
        if of_younger is not None:
            yield f"GNOME finds an entry for a younger {photo}"


def unlike(cache: Path, gnome: Path) -> Iterator[str]:
    """Entries of GNOME that thumbjob has not made, or in another size. Programs round half pixels as they like."""
    for entry in (gnome / "thumbnails" / FOLDER).iterdir():
        ours = cache / "thumbnails" / FOLDER / entry.name
        if not ours.exists():
            yield f"only GNOME has made {entry.name}"
            continue
        theirs, size = read_png(entry)[0], read_png(ours)[0]
        if any(abs(a - b) > 1 for a, b in zip(theirs, size, strict=True)):
            yield f"{entry.name} has {size} pixels, and GNOME's {theirs}"


# Telling


def table(runs: dict[str, Run], count: int) -> str:
    lines = [
        f"| {SIZE} pixels | photos | seconds | each | × thumbjob | processor time each | × thumbjob | {count:,} take "
        "| memory | entries made |", "|" + " --- |" * 10]
    for name, run in runs.items():
        compared = [f"{ratio(runs, name, figure):.1f}×" if name in (GNOME, ALONE) else "" for figure in FIGURES]
        each, cpu_each = run.seconds / run.photos, run.cpu_seconds / run.photos
        lines.append(
            f"| {name} | {run.photos:,} | {run.seconds:.2f} | {milliseconds(each)} | {compared[0]} "
            f"| {milliseconds(cpu_each)} | {compared[1]} | {span(each * count)} | {bench.mebibytes(run.memory)} "
            f"| {run.entries:,} |")
    return "\n".join(lines)


def ratio(runs: dict[str, Run], name: str, figure: str) -> float:
    """How many times as much for each photo as thumbjob takes to make it."""
    each = [getattr(run, figure) / run.photos for run in (runs[name], runs[FRESH])]
    return each[0] / each[1]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def versions() -> list[str]:
    command = ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libgnome-desktop-3-20*", *PACKAGES[2:]]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()


def as_json(title: str, runs: dict[str, Run], notes: list[str], wrong: list[str]) -> dict:
    ratios = {name: {figure: ratio(runs, name, figure) for figure in FIGURES} for name in runs if name != FRESH}
    figures = {}
    for name, run in runs.items():
        each = {f"{figure}_each": getattr(run, figure) / run.photos for figure in FIGURES}
        figures[name] = {**asdict(run), **each}
    return {"title": title, "runs": figures, "times_thumbjob": ratios, "notes": notes, "wrong": wrong}


if __name__ == "__main__":
    if sys.argv[1:2] == [AS_GNOME]:
        as_gnome(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
