"""thumbnail_formats.py CORPUS: thumbnails as JPEG, WebP, AVIF and PNG, by thumbjob and others, equally like the photos.

thumbjob makes thumbnails at quality 80. For each other program, and each of its settings, the quality is searched at
which the mean SSIM of luma is the same: the lowest that is not more than 0.0005 below thumbjob's. What a thumbnail
should be, likeness.py says. Each program is shown at its usual setting, and at the fastest one with which it needs no
more bytes than thumbjob; or else at the one with which it needs the fewest. PNG has no quality, only settings.

Processor time is for one thumbnail, from a JPEG photograph, all in one run of one thread. Without the start of the
program: that is the time for a picture of 64 × 64 pixels. All take turns, and medians over the rounds count.

cwebp and avifenc only encode. They get thumbjob's PNG thumbnails as pixels that need no decoding: PPM, and YUV4MPEG
with half of the chroma. Beside them is thumbjob's encoding alone: what a thumbnail in this format takes in addition
where one as JPEG is made anyway. For avifenc, quality is 63 minus the quantizer.

Writes thumbnail-formats.md and thumbnail-formats.json to --out.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from statistics import fmean, median

from PIL import Image

import likeness
import measuring
from formats import machine
from thumbnail_programs import BY_NAME, ENDINGS, OURS, PROGRAMS, Call, Program, fast_png, numbered
from thumbnailers import THUMBJOB, said

# The sides of the boxes, and how many photographs: the larger they are, the longer they take.
COUNTS = {256: 12, 1024: 4, 2048: 2}
SETS = ("camera", "web", "photos")
QUALITY = 80  # of thumbjob
TOLERANCE = 0.0005  # of the mean SSIM
MORE = 1.01  # times thumbjob's bytes count as no more: a step of the quality is larger
START = 64  # pixels along each side of the picture that shows what a start takes
LIMIT = 600  # seconds for one command


@dataclass
class Row:
    """One program with one setting, in one format and size."""

    program: str
    options: str
    quality: int
    bytes: float  # mean
    ssim: float  # mean
    only_encodes: bool = False
    seconds: list[float] = field(default_factory=list)  # of each round, for one thumbnail
    memory: int = 0

    @property
    def time(self) -> float:
        return median(self.seconds)


Rows = dict[str, list[Row]]  # by format; thumbjob's usual setting first


def main() -> int:
    parser = argparse.ArgumentParser(description="thumbnails in all formats, by thumbjob and others, equally good")
    parser.add_argument("corpus", type=Path, help="what photos.sh has laid out")
    parser.add_argument("--sizes", default="256,1024,2048", help="(default: 256,1024,2048)")
    parser.add_argument("--formats", default=",".join(ENDINGS), help="(default: all four)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    options = parser.parse_args()
    sizes, formats = list(map(int, options.sizes.split(","))), options.formats.split(",")
    for program in BY_NAME.values():
        if not shutil.which(program.needs or program.name):
            sys.exit(f"thumbnail_formats.py: {program.name} is not there: run `make bench-deps`")
    photos = motifs(options.corpus)
    os.environ["VIPS_CONCURRENCY"] = "1"
    measuring.become_subreaper()
    results: dict[int, Rows] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as work:
            results[size] = Size(size, chosen(photos, size), Path(work)).measure(formats, options.rounds)
    aom = said(["avifenc", "--version"], r"Version: .*")
    title = (
        f"Rounds: {options.rounds}; {datetime.date.today().isoformat()}, {machine()}; "
        f"thumbjob {said([str(THUMBJOB), '--version'], r'.*')}; "
        f"vipsthumbnail {said(['vipsthumbnail', '--vips-version'], r'[0-9][0-9.]*')}; {libraries()}; avifenc {aom}")
    text = "\n\n".join([summary(results), *(details(size, rows) for size, rows in results.items()), title]) + "\n"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "thumbnail-formats.md").write_text(text)
    figures = {
        size: {name: [asdict(row) for row in of_format] for name, of_format in rows.items()}
        for size, rows in results.items()}
    (options.out / "thumbnail-formats.json").write_text(json.dumps({"title": title, "sizes": figures}, indent=1) + "\n")
    print(text)
    return 0


def libraries() -> str:
    import pyvips as vips
    from PIL import __version__ as version
    return f"pyvips with libvips {'.'.join(str(vips.version(part)) for part in range(3))}; Pillow {version}"


def motifs(corpus: Path) -> list[Path]:
    """A photograph of each motif that all sets have, from the sets in turn; none with a profile of its colours."""
    names = set.intersection(*({photo.name for photo in (corpus / name).glob("*.jpg")} for name in SETS))
    photos = [corpus.absolute() / SETS[place % len(SETS)] / name for place, name in enumerate(sorted(names))]
    if not photos:
        sys.exit(f"thumbnail_formats.py: {corpus} has no photographs; run `make corpus`")
    return photos


def chosen(photos: list[Path], size: int) -> list[Path]:
    found = []
    for photo in photos:
        with Image.open(photo) as image:
            if max(image.size) >= size and "icc_profile" not in image.info:
                found.append(photo)
    return found[:COUNTS.get(size, 6)]


class Size:
    """The thumbnails of one size."""

    def __init__(self, size: int, photos: list[Path], work: Path):
        self.size, self.photos, self.work = size, photos, work
        self.wanted: dict[tuple[str, tuple[int, int]], object] = {}  # luma, by photograph and size of the thumbnail
        self.whole = {photo.stem: likeness.decoded(photo) for photo in photos}
        # What a search encodes: the thumbnails of each program without loss.
        self.sources = {
            program.name: self.lossless(program) for program in BY_NAME.values() if program.input == "jpg"}
        ours = self.sources[OURS]
        for ending, write in (("ppm", Image.Image.save), ("y4m", write_y4m)):
            for picture in ours:
                with Image.open(picture) as image:
                    write(image.convert("RGB"), picture.with_suffix(f".{ending}"))
        for program in PROGRAMS:
            if program.input != "jpg":
                self.sources[program.name] = [picture.with_suffix(f".{program.input}") for picture in ours]

    def lossless(self, program: Program) -> list[Path]:
        return self.made(program, Call(self.photos, self.folder(), self.size, "png", fast_png(program.name), 100))

    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.work))

    def made(self, program: Program, call: Call) -> list[Path]:
        """Runs a program whose time does not count."""
        for command in program.commands(call):
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode != 0:
                raise SystemExit(f"thumbnail_formats.py: {' '.join(command[:12])} ...: {done.stderr[-2000:]}")
        return [call.out / f"{picture.stem}.{ENDINGS[call.format]}" for picture in call.pictures]

    def row(self, program: Program, name: str, options: str, quality: int) -> Row:
        """Makes the thumbnails of the search."""
        pictures = self.photos if program.name == OURS else self.sources[program.name]
        call = Call(pictures, self.folder(), self.size, name, options, quality)
        files = self.made(program, call)
        row = Row(
            program.name, options, quality, fmean(file.stat().st_size for file in files),
            fmean(self.ssim(picture.stem, file) for picture, file in zip(pictures, files, strict=True)),
            program.input != "jpg")
        shutil.rmtree(call.out)
        return row

    def ssim(self, stem: str, file: Path) -> float:
        small = likeness.decoded(file)
        if (stem, small.size) not in self.wanted:
            self.wanted[stem, small.size] = likeness.luma(likeness.resized(self.whole[stem], small.size))
        return likeness.luma_ssim(self.wanted[stem, small.size], likeness.luma(small))

    def measure(self, formats: list[str], rounds: int) -> Rows:
        rows: Rows = {name: self.ours(name) for name in formats}
        searches = [(program, name) for name in formats for program in PROGRAMS if name in program.options]
        with ThreadPool() as pool:
            for (_, name), found in zip(searches, pool.starmap(
                    lambda program, name: self.search(program, name, rows[name][0]), searches), strict=True):
                rows[name] += found
        if "jpeg" in rows:
            for name in rows.keys() - {"jpeg"}:
                ours = rows[name][0]
                rows[name].insert(1, Row(OURS, "encoding alone", QUALITY, ours.bytes, ours.ssim, True))
        for number in range(rounds):
            self.round(rows, number)
        return rows

    def ours(self, name: str) -> list[Row]:
        # The slowest AVIF files take minutes.
        efforts = () if name == "jpeg" else (0,) if name == "avif" and self.size > 256 else (0, 9)
        program = BY_NAME[OURS]
        return [self.row(program, name, options, QUALITY) for options in ("", *numbered("--effort {}", *efforts))]

    def search(self, program: Program, name: str, ours: Row) -> list[Row]:
        """With the fastest options that need no more bytes, or else the fewest, and with the usual ones."""
        usual = self.equal(program, name, program.usual[name], ours, QUALITY)
        guess = usual.quality if usual else QUALITY
        found = {program.usual[name]: usual}

        def fits(options: str) -> bool:
            if options not in found:
                found[options] = self.equal(program, name, options, ours, guess)
            row = found[options]
            return row is not None and row.bytes <= ours.bytes * MORE

        options = program.options[name]
        # Those before the usual ones are faster. Where they are in no order, the middle is as good.
        place = options.index(program.usual[name]) if program.usual[name] in options else len(options) // 2
        fastest = first(options, fits, place)
        rows = [row for row in found.values() if row]
        best = found[fastest] if fastest else min(rows, key=lambda row: row.bytes, default=None)
        return [row for row in (best, usual if usual is not best else None) if row]

    def equal(self, program: Program, name: str, options: str, ours: Row, guess: int) -> Row | None:
        """At the lowest quality that is like thumbjob's; none if there is none."""
        if name == "png":
            return self.row(program, name, options, QUALITY)
        tried: dict[int, Row] = {}

        def passes(quality: int) -> bool:
            if quality not in tried:
                tried[quality] = self.row(program, name, options, quality)
            return tried[quality].ssim >= ours.ssim - TOLERANCE

        quality = lowest(passes, min(guess, program.best), program.best)
        print(f"{self.size} {name}: {program.name} {options}: {quality}", file=sys.stderr)
        return tried[quality] if quality is not None else None

    def round(self, rows: Rows, number: int) -> None:
        """Every row once, beginning with another one in each round."""
        turns = [(name, row) for name, of_format in rows.items() for row in of_format]
        turns = turns[number % len(turns):] + turns[:number % len(turns)]
        for name, row in turns:
            row.seconds.append(self.timed(name, row))
        for name, of_format in rows.items():
            for row in of_format:
                if row.options == "encoding alone":
                    row.seconds[-1] -= rows["jpeg"][0].seconds[-1]
            times = ", ".join(f"{row.program} {row.options} {row.seconds[-1] * 1000:.1f}" for row in of_format)
            print(f"{self.size} {name} {number}: {times} ms", file=sys.stderr)

    def timed(self, name: str, row: Row) -> float:
        """Seconds for one thumbnail, without the start."""
        program = BY_NAME[row.program]
        options, formats = (row.options, name) if row.options != "encoding alone" else ("", f"jpeg,{name}")
        pictures = self.photos if program.input == "jpg" else self.sources[program.name]
        seconds = []
        for given in (pictures, [self.small(program.input)]):
            call = Call(given, self.folder(), self.size, formats, options, row.quality)
            commands = program.commands(call)
            runs = [measuring.run(command, LIMIT) for command in commands]
            if any(run.status != 0 for run in runs):
                sys.exit(f"thumbnail_formats.py: {commands[0][:12]} failed: {runs[0].said}")
            row.memory = max(row.memory, *(run.memory for run in runs))
            seconds.append((sum(run.cpu_seconds for run in runs), len(runs)))
            shutil.rmtree(call.out)
        (whole, count), (start, _) = seconds
        return (whole - count * start) / len(pictures)

    def small(self, ending: str) -> Path:
        path = self.work / f"start.{ending}"
        if not path.exists():
            image = Image.new("RGB", (START, START), "grey")
            write_y4m(image, path) if ending == "y4m" else image.save(path)
        return path


def write_y4m(image: Image.Image, path: Path) -> None:
    """The samples of JPEG, with chroma at half of luma's along each side."""
    luma, *chroma = image.convert("YCbCr").split()
    planes = (luma, *(plane.reduce(2) for plane in chroma))
    head = f"YUV4MPEG2 W{image.width} H{image.height} F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL\nFRAME\n"
    path.write_bytes(head.encode() + b"".join(plane.tobytes() for plane in planes))


def lowest(passes: Callable[[int], bool], guess: int, best: int) -> int | None:
    """The lowest number from 1 to `best` that passes, as all above it do. None: none passes."""
    low, high = 0, best + 1  # fails, passes
    step = 2
    at = guess
    while high - low > 1:
        if passes(at):
            high = at
            at = max(low + 1, at - step) if low == 0 else (low + high) // 2
        else:
            low = at
            at = min(high - 1, at + step) if high > best else (low + high) // 2
        step *= 2
    return high if high <= best else None


def first(options: tuple[str, ...], fits: Callable[[str], bool], place: int) -> str | None:
    """The first that fits, as all after it do; looked for step by step from a place. None: none fits."""
    while place < len(options) and not fits(options[place]):
        place += 1
    while 0 < place < len(options) and fits(options[place - 1]):
        place -= 1
    return options[place] if place < len(options) else None


# Telling


def summary(results: dict[int, Rows]) -> str:
    """thumbjob beside the fastest that needs no more bytes."""
    lines = [
        "| size | format | thumbjob | fastest with no more bytes | time | bytes | encoding alone "
        "| fastest encoder with no more bytes | time | bytes |", "|" + " --- |" * 10]
    for size, rows in results.items():
        for name, of_format in rows.items():
            cells = []
            for only_encodes in (False, True):
                mine = [row for row in of_format if row.program == OURS and row.only_encodes == only_encodes]
                peers = [row for row in of_format if row.program != OURS and row.only_encodes == only_encodes]
                cells += compared(mine[0], peers) if mine else [""] * 4
            lines.append(f"| {size} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def compared(ours: Row, peers: list[Row]) -> list[str]:
    own = f"{milliseconds(ours)} · {kilobytes(ours)}"
    fit = [row for row in peers if row.bytes <= ours.bytes * MORE]
    if not fit:
        return [own, "none" if peers else "", "", ""]
    best = min(fit, key=lambda row: row.time)
    return [
        own, f"{best.program} {best.options}: {milliseconds(best)} · {kilobytes(best)}",
        f"{ours.time / best.time:.2f}×", f"{ours.bytes / best.bytes:.2f}×"]


def details(size: int, rows: Rows) -> str:
    head = "| format | program | quality | time | bytes | SSIM | memory |"
    lines = [f"**{size} pixels**", "", head, "|" + " --- |" * 7]
    for name, of_format in rows.items():
        for row in of_format:
            what = f"{row.program} `{row.options}`" if row.options else row.program
            alone = " (only encodes)" if row.only_encodes and row.program != OURS else ""
            lines.append(
                f"| {name} | {what}{alone} | {row.quality if name != 'png' else ''} | {milliseconds(row)} "
                f"| {kilobytes(row)} | {row.ssim:.4f} | {row.memory / 2**20:.0f} MiB |")
    return "\n".join(lines)


def milliseconds(row: Row) -> str:
    return f"{row.time * 1000:.1f} ms"


def kilobytes(row: Row) -> str:
    return f"{row.bytes / 1000:.1f} kB"


if __name__ == "__main__":
    sys.exit(main())
