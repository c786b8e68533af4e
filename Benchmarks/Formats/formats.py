"""formats.py FOLDER: thumbjob beside other thumbnailers, with one picture of 24 megapixels in every format.

FOLDER is what make_formats.py has made. Every program makes one thumbnail of one picture, with one thread for computing
where it lets its user choose. In each round every program runs once; the next round starts with the next program. A
first round, which does not count, warms the page cache. Ratios are medians of the ratios within a round: what slows the
machine for a while slows both. measuring.py says how time and memory are measured, and thumbnailers.py what is run.

Part of the memory is the program itself, with its libraries. So the same is measured with a picture of 96 × 64 pixels
in the same format, and the table also says what is held beyond that: what the large picture takes.

SSIM is that of a thumbnail at quality 95 without subsampling with what it should be: see likeness.py. What a DNG should
be is the picture that it was made of.

Writes formats.md and formats.json to --out; --quote FILE also puts the table between the lines
`<!-- make bench-formats -->` and `<!-- /make bench-formats -->` of FILE. Exit status 1 if thumbjob fails at a picture,
or misses an aim: the processor time of vipsthumbnail, and its memory for the picture, times what AIMS says.
"""

import argparse
import datetime
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

# No large import here: measuring.py's figures for memory begin with what this process holds.
import measuring
from thumbnailers import BOX, FINE, USUAL, Quality, Thumbnailer, missing, named, thumbnail_in

BEGIN, END = "<!-- make bench-formats -->\n", "<!-- /make bench-formats -->\n"
OURS, PEER = "thumbjob", "vipsthumbnail"
# What a picture's name begins with, and the most that thumbjob may take, as parts of vipsthumbnail's processor time and
# memory for the picture. The first that fits counts. vipsthumbnail too reads plain TIFF and lossy WebP row by row, so
# that these miss the aim: the means that thumbjob holds count for much there.
AIMS = (
    ("webp", 1.0, 0.25), ("png", 1.0, 0.25), ("gif", 1.0, 0.25), ("tiff", 1.0, 0.25), ("heic-grid", 1.0, 0.25),
    ("heic", 1.0, 0.5), ("avif", 0.5, 0.5), ("", 1.0, None),
)


@dataclass
class Result:
    """One program with one picture."""

    runs: list[measuring.Run] = field(default_factory=list)
    failure: str | None = None
    small_memory: int = 0  # bytes held for a small picture of the same format
    ssim: float | None = None

    @property
    def cpu_seconds(self) -> float:
        return median(run.cpu_seconds for run in self.runs)

    @property
    def seconds(self) -> float:
        return median(run.seconds for run in self.runs)

    @property
    def memory(self) -> int:
        return max(run.memory for run in self.runs)

    @property
    def beyond(self) -> int:
        return max(0, self.memory - self.small_memory)


# How often a small picture is made. Its median counts: a helper process may end before its memory is looked at.
SMALL_RUNS = 9

Results = dict[str, dict[str, Result]]  # by picture and program


def main() -> int:
    parser = argparse.ArgumentParser(description="thumbjob beside other thumbnailers, in every format")
    parser.add_argument("folder", type=Path, help="what make_formats.py has made")
    parser.add_argument(
        "--only", default="", metavar="NAMES", help="beginnings of the pictures' names, with commas between")
    parser.add_argument("--programs", default="thumbjob,vipsthumbnail,Pillow,ImageMagick", help="(default: all four)")
    parser.add_argument("--rounds", type=int, default=5, help="that count (default: 5)")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="for one thumbnail (default: 120)")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    parser.add_argument("--quote", type=Path, metavar="FILE", help="a file to put the table into")
    options = parser.parse_args()
    programs = named(options.programs)
    pictures = [
        picture for picture in sorted(options.folder.glob("*.*"))
        if picture.name.startswith(tuple(options.only.split(",")))]
    check(options, programs, pictures)
    measuring.become_subreaper()

    results: Results = {}
    with tempfile.TemporaryDirectory() as work:
        for picture in pictures:
            results[picture.name] = measure(picture, programs, options, Path(work))
        # Only now: this imports libraries.
        for picture in pictures:
            rate(picture, reference_of(picture), results[picture.name], Path(work))
    versions = "; ".join(f"{program.name} {program.version()}" for program in programs)
    title = f"Rounds: {options.rounds}; {datetime.date.today().isoformat()}, {machine()}; {versions}"
    missed = faults(results)
    text = f"{table(results, programs)}\n\n{title}\n"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "formats.md").write_text(text + "".join(f"\n{line}" for line in failures(results)) + "\n")
    (options.out / "formats.json").write_text(json.dumps(as_json(title, results), indent=1) + "\n")
    print((options.out / "formats.md").read_text())
    for line in missed:
        print(f"MISSED: {line}")
    if options.quote:
        before, after = options.quote.read_text().split(BEGIN)[0], options.quote.read_text().split(END)[1]
        options.quote.write_text(f"{before}{BEGIN}{text}{END}{after}")
    return 1 if missed else 0


def check(options: argparse.Namespace, programs: list[Thumbnailer], pictures: list[Path]) -> None:
    """Fails at once where the benchmark would otherwise fail after minutes."""
    lines = missing(programs)
    if not pictures:
        lines.append(f"{options.folder} has no such pictures; make_formats.py makes them")
    lines += [
        f"{options.folder}/small has no {picture.name}; make_formats.py makes it" for picture in pictures
        if not (options.folder / "small" / picture.name).exists()]
    if options.rounds < 1:
        lines.append("--rounds starts at 1")
    if options.quote and re.search(f"^{BEGIN}(.*\n)*?{END}", options.quote.read_text(), re.MULTILINE) is None:
        lines.append(f"{options.quote} has no lines {BEGIN.strip()} and {END.strip()}")
    if lines:
        sys.exit("\n".join(f"formats.py: {line}" for line in lines))


# Measuring


def measure(
    picture: Path, programs: list[Thumbnailer], options: argparse.Namespace, work: Path,
) -> dict[str, Result]:
    results = {program.name: Result() for program in programs}
    for number in range(options.rounds + 1):
        for place in range(len(programs)):
            program = programs[(place + number) % len(programs)]
            result = results[program.name]
            if result.failure:
                continue
            run, thumbnail = make(program, picture, work, USUAL, options.limit)
            if thumbnail is None:
                result.failure = why(run)
                print(f"{picture.name}: {program.name} failed: {result.failure}", file=sys.stderr)
                continue
            if number > 0:
                result.runs.append(run)
            print(f"{picture.name} {number}: {program.name} {run.cpu_seconds:.2f} s", file=sys.stderr)
    for program in programs:
        if not results[program.name].failure:
            small = picture.parent / "small" / picture.name
            runs = [make(program, small, work, USUAL, options.limit)[0] for _ in range(SMALL_RUNS)]
            results[program.name].small_memory = int(median(run.memory for run in runs))
            _, thumbnail = make(program, picture, work, FINE, options.limit)
            if thumbnail:
                thumbnail.rename(work / f"{picture.name}-{program.name}.jpg")
    return results


def make(
    program: Thumbnailer, picture: Path, work: Path, quality: Quality, limit: float,
) -> tuple[measuring.Run, Path | None]:
    out = Path(tempfile.mkdtemp(dir=work))
    run = measuring.run(program.command(picture.absolute(), out, quality, BOX), limit, program.environment, True)
    return run, thumbnail_in(out) if run.status == 0 else None


def why(run: measuring.Run) -> str:
    if run.timed_out:
        return f"not done after {run.seconds:.0f} s"
    lines = (run.said.strip() or run.out.strip()).splitlines()
    # The last line of a Python program's message says what happened; the first line of other programs'.
    line = (lines[-1] if "Traceback" in run.said else lines[0]) if lines else "nothing was said"
    return f"exit status {run.status}: {line[:200]}"


def reference_of(picture: Path) -> Path:
    return picture.with_name("tiff.tif") if picture.suffix == ".dng" else picture


def rate(picture: Path, reference: Path, results: dict[str, Result], work: Path) -> None:
    import likeness
    whole = likeness.decoded(reference)
    for name, result in results.items():
        thumbnail = work / f"{picture.name}-{name}.jpg"
        if thumbnail.exists():
            small = likeness.decoded(thumbnail)
            if max(small.size) < min(BOX, max(whole.size)):
                result.failure = f"its thumbnail has only {small.width} × {small.height} pixels"
                continue
            result.ssim = likeness.likeness(likeness.resized(whole, small.size), small).ssim


# Telling


def machine() -> str:
    clock = re.search(r"^cpu MHz\s*: ([\d.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{os.cpu_count()} cores" + (f" at {float(clock[1]) / 1000:.1f} GHz" if clock else "")


def ratio(results: dict[str, Result], figure: str) -> float | None:
    """Thumbjob's part of vipsthumbnail's."""
    ours, peer = results.get(OURS), results.get(PEER)
    if not ours or not peer or ours.failure or peer.failure or not ours.runs or not peer.runs:
        return None
    rounds = zip(ours.runs, peer.runs, strict=True)
    return median(getattr(mine, figure) / getattr(theirs, figure) for mine, theirs in rounds)


def picture_ratio(results: dict[str, Result]) -> float | None:
    """Thumbjob's part of what vipsthumbnail holds beyond a small picture."""
    if ratio(results, "memory") is None or not results[PEER].beyond:
        return None
    return results[OURS].beyond / results[PEER].beyond


def aims(picture: str) -> tuple[float, float | None]:
    return next((cpu, memory) for name, cpu, memory in AIMS if picture.startswith(name))


def faults(results: Results) -> list[str]:
    lines = []
    for picture, of_picture in results.items():
        if OURS in of_picture and (failure := of_picture[OURS].failure):
            lines.append(f"{picture}: {failure}")
        cpu_aim, memory_aim = aims(picture)
        parts = (
            (ratio(of_picture, "cpu_seconds"), cpu_aim, "processor time"),
            (picture_ratio(of_picture), memory_aim, "memory for the picture"))
        for taken, aim, what in parts:
            if aim and taken and taken > aim:
                lines.append(f"{picture}: {taken:.2f} times the {what} of vipsthumbnail, more than {aim}")
    return lines


def table(results: Results, programs: list[Thumbnailer]) -> str:
    """Processor seconds, memory and SSIM of each."""
    compared = {OURS, PEER} <= {program.name for program in programs}
    ratios = ["processor time", "memory", "for the picture"] if compared else []
    head = ["CPU s · MiB (for the picture) · SSIM", *(program.name for program in programs), *ratios]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for picture, of_picture in results.items():
        cells = [cell(of_picture[program.name]) for program in programs]
        if compared:
            for figure in ("cpu_seconds", "memory"):
                part = ratio(of_picture, figure)
                cells.append(f"{part:.2f}×" if part else "")
            part = picture_ratio(of_picture)
            cells.append(f"{part:.2f}×" if part else "")
        lines.append(f"| {picture} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(result: Result) -> str:
    if result.failure:
        return "failed"
    similar = f"{result.ssim:.4f}" if result.ssim is not None else "?"
    memory = f"{result.memory / 2**20:.1f} ({result.beyond / 2**20:.1f})"
    return f"{result.cpu_seconds:.3f} · {memory} · {similar}"


def failures(results: Results) -> list[str]:
    return [
        f"- {picture}: {name} failed: {result.failure}" for picture, of_picture in results.items()
        for name, result in of_picture.items() if result.failure]


def as_json(title: str, results: Results) -> dict:
    def runs(result: Result) -> list[dict]:
        kept = ("seconds", "cpu_seconds", "memory")
        return [{name: value for name, value in asdict(run).items() if name in kept} for run in result.runs]
    return {"title": title, "pictures": {
        picture: {name: {
            "failure": result.failure, "ssim": result.ssim, "small_memory": result.small_memory, "runs": runs(result)}
            for name, result in of_picture.items()}
        for picture, of_picture in results.items()}}


if __name__ == "__main__":
    sys.exit(main())
