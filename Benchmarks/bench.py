"""bench.py CORPUS: thumbjob beside other thumbnailers, over the sets of photographs that photos.sh lays out.

All programs make thumbnails in a box of 256 × 256 at quality 80, in two processes or threads, into an empty folder,
and turn photographs upright. In each round every program runs once; the next round starts with the next program. A
first round, which does not count, warms the page cache, except for `many`, whose files are those of `photos`. Ratios
are medians of the ratios within a round: what slows the machine for a while slows both. The set `one` is a single
small photograph: there the time to start and to end counts.

Each program runs the fastest command that we found for it at equal quality. By quality.py's mean SSIM over photos, at
quality 95 without subsampling, thumbjob and Pillow have 0.977, vipsthumbnail and pyvips 0.976, and GraphicsMagick with
`-resize` 0.975. Left out for their quality are `gm mogrify -thumbnail` (0.961), which takes 4 % less, and OpenCV
(0.968) and simplejpeg (0.967), which take about Pillow's time; for their time ImageMagick (0.975) and Pillow-SIMD
(0.977), which has to be compiled and gains little.

GraphicsMagick and vipsthumbnail start through the ld.so of the folder that programs.sh has laid out, because the
system's libraries may be older. That does not slow them: `gm version` takes 9.7 ms this way, and 9.5 ms when
installed; `vipsthumbnail --vips-version` takes 29 ms instead of 43 ms, because it does not find its modules for other
kinds of files.

Times are of the whole run, from start to exit. Memory is resident set size: the most that the largest process held, as
the kernel counts it, and the most that all processes held together, sampled, where shared pages count once for each.

Writes bench.md, bench.json and bench.svg to --out; --quote FILE also puts the first table between the lines
`<!-- make bench -->` and `<!-- /make bench -->` of FILE.
"""

# No large import before everything is measured: to the kernel a child has held what its parent held when it began.
import argparse
import contextlib
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

HERE = Path(__file__).absolute().parent
THUMBJOB = Path(os.environ.get("THUMBJOB", HERE.parent / ".build/release/thumbjob")).absolute()
# What programs.sh has laid out.
PROGRAMS = Path(os.environ.get("PROGRAMS", HERE.parent / ".build/programs")).absolute()
FOLDERS = ("camera", "web", "photos", "many")
SETS = (*FOLDERS, "one")
SAMPLING = 0.02  # seconds between two looks at memory
BEGIN, END = "<!-- make bench -->\n", "<!-- /make bench -->\n"


@dataclass(frozen=True)
class Contender:
    name: str
    # Source folder and output folder to command; run in the source folder.
    command: Callable[[Path, Path], list[str]]
    only: tuple[str, ...] = FOLDERS
    environment: dict[str, str] = field(default_factory=dict)
    sizes: int = 1  # of each photograph


@dataclass(frozen=True)
class Run:
    seconds: float
    cpu_seconds: float
    largest: int  # bytes that the largest process held
    together: int  # bytes that all held at once
    written: int  # bytes of thumbnails


def thumbjob(workers: int, sizes: str = "256") -> Callable[[Path, Path], list[str]]:
    boxes = [part for size in sizes.split(",") for part in ("-s", size)]
    options = [*f"--max {workers} --force -q 80 --quiet".split(), *boxes]
    return lambda source, out: [str(THUMBJOB), str(source), "-o", str(out), *options]


def program(name: str) -> list[str]:
    """The command for a program of PROGRAMS, which runs with the libraries there and not with the system's."""
    libraries = [folder for folder in PROGRAMS.glob("usr/lib/*-linux-*") if folder.is_dir()]
    paths = [*libraries, PROGRAMS / "usr/lib", *(folder / part for folder in libraries for part in ("blas", "lapack"))]
    loader = next(folder / file.name for folder in libraries for file in folder.glob("ld-linux-*.so.*"))
    return [str(loader), "--library-path", ":".join(map(str, paths)), str(PROGRAMS / "usr/bin" / name)]


def halves(name: str, options: str) -> Callable[[Path, Path], list[str]]:
    """Two processes, each with photographs of half of the bytes: more take longer to start than they gain at the end.

    Halves of equally many photographs would leave one process idle for a third of the time.
    """
    def build(source: Path, out: Path) -> list[str]:
        shares: list[list[str]] = [[], []]
        held = [0, 0]
        for photo in largest_first(source):
            lighter = held.index(min(held))
            shares[lighter].append(str(photo.relative_to(source)))
            held[lighter] += photo.stat().st_size
        command = [*program(name), *(option.replace("OUT", str(out)) for option in options.split())]
        first, second = ([*command, *share] for share in shares)
        if not shares[1]:
            return first
        # Waits for both, even if the first has failed.
        return ["sh", "-c", f"{shlex.join(second)} & {shlex.join(first)}; status=$?; wait $! && exit $status"]
    return build


def python(library: str, sizes: str = "256") -> Callable[[Path, Path], list[str]]:
    return lambda source, out: [sys.executable, str(HERE / "peer.py"), library, sizes, str(source), str(out)]


CONTENDERS = (
    Contender("thumbjob", thumbjob(2), only=SETS),
    # Without the cache, which is for those who use an image twice.
    Contender(
        "vipsthumbnail", halves("vipsthumbnail", "--vips-cache-max=0 -s 256 -o OUT/%s.jpg[Q=80,keep=icc]"), only=SETS,
        environment={"VIPS_CONCURRENCY": "1"}),
    Contender("pyvips", python("pyvips"), environment={"VIPS_CONCURRENCY": "1"}),
    Contender("Pillow", python("pillow")),
    # -size lets libjpeg decode at a fraction.
    Contender(
        "GraphicsMagick",
        halves(
            "gm", "mogrify -create-directories -output-directory OUT -auto-orient -size 256x256 -resize 256x256 "
            "-quality 80"),
        only=SETS, environment={"OMP_NUM_THREADS": "1"}),
    Contender("thumbjob --max 4", thumbjob(4), only=("photos",)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="thumbjob beside other thumbnailers")
    parser.add_argument("corpus", type=Path, help="what photos.sh has laid out")
    parser.add_argument("--sets", default=",".join(SETS), help=f"with commas between (default: {','.join(SETS)})")
    parser.add_argument("--rounds", type=int, default=7, help="that count (default: 7)")
    parser.add_argument("--many-rounds", type=int, default=1, help="over the 2,000 of many (default: 1)")
    parser.add_argument("--one-rounds", type=int, default=50, help="over the small photograph of one (default: 50)")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    parser.add_argument("--quote", type=Path, metavar="FILE", help="a file to put the first table into")
    options = parser.parse_args()
    sets = options.sets.split(",")
    rounds = {**dict.fromkeys(SETS, options.rounds), "many": options.many_rounds, "one": options.one_rounds}
    check(options.corpus, sets, rounds)
    check_quote(options.quote, BEGIN, END)
    options.out.mkdir(parents=True, exist_ok=True)

    measured: dict[str, dict[str, list[Run]]] = {}
    for name in sets:
        measured[name] = measure(name, (options.corpus / name).absolute(), rounds[name])
    counts = ", ".join(f"{name} {rounds[name]}" for name in sets)
    title = f"Rounds: {counts}; {datetime.date.today().isoformat()}, {machine()}; {'; '.join(versions())}"
    (options.out / "bench.json").write_text(json.dumps(as_json(title, measured), indent=1) + "\n")
    quoted = f"{overview(measured)}\n\n{title}\n"
    (options.out / "bench.md").write_text(quoted + "\n" + details(measured))
    print((options.out / "bench.md").read_text())
    if options.quote:
        quote(quoted, options.quote, BEGIN, END)
    draw(measured, options.out / "bench.svg")


def check(corpus: Path, sets: list[str], rounds: dict[str, int]) -> None:
    """Fails at once where the benchmark would otherwise fail after minutes."""
    for name in sets:
        if name not in SETS:
            fail(f"{name} is no set; there are {', '.join(SETS)}")
        if rounds[name] < 1:
            fail(f"{name} needs at least one round")
        if not (corpus / name).is_dir():
            fail(f"{corpus / name} is not there; run Benchmarks/photos.sh {corpus}")
    if not THUMBJOB.exists():
        fail(f"{THUMBJOB} is not there; run `make build`, or say in THUMBJOB where it is")
    for name in ("vipsthumbnail", "gm"):
        if not (PROGRAMS / "usr/bin" / name).exists():
            fail(f"{PROGRAMS} has no {name}; run Benchmarks/programs.sh {PROGRAMS}")


def check_quote(file: Path | None, begin: str, end: str) -> None:
    """Fails at once where `quote` would fail after minutes."""
    if file and re.search(f"^{begin}(.*\n)*?{end}", file.read_text(), re.MULTILINE) is None:
        fail(f"{file} has no lines {begin.strip()} and {end.strip()}")


def quote(text: str, file: Path, begin: str, end: str) -> None:
    """Puts a text between two lines of a file."""
    document = file.read_text()
    before, after = document.split(begin)[0], document.split(end)[1]
    file.write_text(f"{before}{begin}{text}{end}{after}")


def fail(why: str) -> None:
    sys.exit(f"bench.py: {why}")


def photos(folder: Path) -> list[Path]:
    return list(folder.rglob("*.jpg"))


def largest_first(folder: Path) -> list[Path]:
    return sorted(photos(folder), key=lambda photo: (-photo.stat().st_size, photo))


# Measuring


def measure(
    name: str, source: Path, rounds: int, contenders: tuple[Contender, ...] = CONTENDERS
) -> dict[str, list[Run]]:
    # The kernel would still write the thousands of files of the set before.
    os.sync()
    contenders = tuple(contender for contender in contenders if name in contender.only)
    runs: dict[str, list[Run]] = {contender.name: [] for contender in contenders}
    warm_up = name != "many"  # whose files are those of photos
    for number in range(rounds + warm_up):
        for place in range(len(contenders)):
            contender = contenders[(place + number) % len(contenders)]
            run = run_once(contender, source)
            if number > 0 or not warm_up:
                runs[contender.name].append(run)
            print(f"{name} {number}: {contender.name} {run.seconds:.2f} s", file=sys.stderr)
    return runs


def run_once(contender: Contender, source: Path) -> Run:
    with tempfile.TemporaryDirectory() as work:
        out = Path(work, "out")
        out.mkdir()
        command = contender.command(source, out)
        with open(Path(work, "said"), "w+") as said:
            start = time.monotonic()
            process = subprocess.Popen(
                command, cwd=source, env={**os.environ, **contender.environment}, stdin=subprocess.DEVNULL,
                stdout=said, stderr=said)
            try:
                with Sampler(process.pid) as sampler:
                    _, status, usage = os.wait4(process.pid, 0)
                    seconds = time.monotonic() - start
            except BaseException:
                process.kill()
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            made, wanted = len(photos(out)), len(photos(source)) * contender.sizes
            if process.returncode != 0 or made != wanted:
                fail(
                    f"{contender.name} over {source}: exit status {process.returncode}, {made} of {wanted} made: "
                    f"{said.read()[-300:].strip()}")
        written = sum(photo.stat().st_size for photo in photos(out))
        largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Run(seconds, usage.ru_utime + usage.ru_stime, largest, max(sampler.together, largest), written)


class Sampler:
    """Looks again and again at what a process and its descendants hold, on a thread of its own."""

    def __init__(self, process: int):
        self.together = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, args=(process,))

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self, process: int) -> None:
        while not self._ended.wait(SAMPLING):
            self.together = max(self.together, resident(process))


def resident(process: int, stack_of_parent: int = 0) -> int:
    """Bytes that a process and its descendants hold; those that are just ending do not count.

    A process whose stack is where its parent's is has not yet run a program of its own: its memory is that of its
    parent, which must not count twice.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    pages, stack = int(fields[21]), int(fields[25])
    held = 0 if stack == stack_of_parent else pages * os.sysconf("SC_PAGE_SIZE")
    return held + sum(resident(child, stack) for child in children(process))


def children(process: int) -> list[int]:
    """The kernel lists the children of each thread apart."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # it is just ending
        for thread in os.scandir(f"/proc/{process}/task"):
            found += map(int, Path(thread.path, "children").read_text().split())
    return found


# Telling


def machine() -> str:
    clock = re.search(r"^cpu MHz\s*: ([\d.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    speed = f" at {float(clock[1]) / 1000:.1f} GHz" if clock else ""
    return f"{os.cpu_count()} cores{speed}"


def versions() -> list[str]:
    from importlib.metadata import version
    def said(name: str, option: str) -> str:
        return subprocess.run([*program(name), option], check=True, capture_output=True, text=True).stdout
    found = {
        "vipsthumbnail": re.search(r"[\d.]+", said("vipsthumbnail", "--vips-version")),
        "GraphicsMagick": re.search(r"[\d.]+( snapshot-\d+)?", said("gm", "version"))}
    return [
        *(f"{name} {match[0]}" for name, match in found.items() if match),
        f"pyvips with libvips {version('pyvips-binary')}", f"Pillow {version('pillow')}"]


def ratio(runs: dict[str, list[Run]], name: str, figure: str = "seconds") -> float:
    """How many times as much as thumbjob's."""
    rounds = zip(runs[name], runs["thumbjob"], strict=True)
    return median(getattr(run, figure) / getattr(ours, figure) for run, ours in rounds)


def peers(runs: dict[str, list[Run]]) -> list[str]:
    return [name for name in runs if not name.startswith("thumbjob")]


def overview(measured: dict[str, dict[str, list[Run]]]) -> str:
    lines = ["| | " + " | ".join(measured) + " |", "|" + " --- |" * (len(measured) + 1)]
    # The programs of all sets, since not every set has all of them.
    for name in dict.fromkeys(name for runs in measured.values() for name in ["thumbjob", *peers(runs)]):
        cells = []
        for runs in measured.values():
            if name not in runs:
                cells.append("")
                continue
            time = duration(median(run.seconds for run in runs[name]))
            cells.append(f"**{time}**" if name == "thumbjob" else f"{time} · {ratio(runs, name):.1f}×")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    for kind, figure in (("time", "seconds"), ("processor time", "cpu_seconds")):
        best = [min(ratio(runs, name, figure) for name in peers(runs)) for runs in measured.values()]
        lines.append(f"| {kind} of the best of the others | " + " | ".join(f"{b:.2f}×" for b in best) + " |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def details(measured: dict[str, dict[str, list[Run]]]) -> str:
    lines = []
    for name, runs in measured.items():
        lines += [
            f"### {name}, rounds: {len(runs['thumbjob'])}", "",
            "| | median | shortest to longest | × thumbjob | CPU | × thumbjob | largest process | all processes |",
            "|" + " --- |" * 8]
        for contender, all_runs in runs.items():
            times = sorted(run.seconds for run in all_runs)
            lines.append(
                f"| {contender} | {duration(median(times))} | {duration(times[0])} to {duration(times[-1])} "
                f"| {ratio(runs, contender):.2f} | {duration(median(run.cpu_seconds for run in all_runs))} "
                f"| {ratio(runs, contender, 'cpu_seconds'):.2f} "
                f"| {mebibytes(max(run.largest for run in all_runs))} "
                f"| {mebibytes(max(run.together for run in all_runs))} |")
        lines.append("")
    return "\n".join(lines)


def mebibytes(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"


def as_json(title: str, measured: dict[str, dict[str, list[Run]]]) -> dict:
    sets = {name: {contender: [asdict(run) for run in all_runs] for contender, all_runs in runs.items()}
            for name, runs in measured.items()}
    return {"title": title, "sets": sets}


def draw(measured: dict[str, dict[str, list[Run]]], file: Path) -> None:
    from charts import COLORS, INK, pyplot, save
    figure, axes = pyplot.subplots(
        2, len(measured), figsize=(3.2 * len(measured), 4.4), layout="constrained", squeeze=False)
    labels: list[str] = []  # of the last column that has any
    for column, (name, runs) in enumerate(measured.items()):
        names = ["thumbjob", *peers(runs)][::-1]
        colors = [COLORS[0] if contender == "thumbjob" else INK for contender in names]
        times = [[run.seconds for run in runs[contender]] for contender in names]
        middle = [median(values) for values in times]
        spread = [
            [m - min(values) for m, values in zip(middle, times, strict=True)],
            [max(values) - m for m, values in zip(middle, times, strict=True)]]
        memory = [max(run.together for run in runs[contender]) / 2**20 for contender in names]
        axes[0][column].barh(names, middle, color=colors, xerr=spread, ecolor=COLORS[1])
        axes[1][column].barh(names, memory, color=colors)
        axes[0][column].set_title(name)
        axes[0][column].set_xlabel("seconds, shortest to longest")
        axes[1][column].set_xlabel("MiB held by all processes")
        for axis in axes[:, column]:
            axis.grid(axis="x")
            if names == labels:
                axis.set_yticklabels([])
        labels = names
    save(figure, file)


if __name__ == "__main__":
    main()
