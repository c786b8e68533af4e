"""suites.py FOLDER: what thumbjob makes of pictures that others test with, beside what other programs make of them.

FOLDER is what fetch_suites.py has laid out. Each program is started once for each picture, with a time limit.
Thumbnails of the same picture are compared: sizes, and the mean difference of the samples. verdicts.py names what may
come out.

Writes two tables to --out: suites.md has a line for each suite and format, and suites.tsv one for each picture.
--expected names a file of differences that have a reason. Exit status 1 if there is a difference without one, or, over
all pictures, a reason without a difference.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import likeness
from kinds import HEAD, kind
from outcomes import CRASHED, LATE, MADE, Outcome, outcome
from thumbnailers import THUMBNAILERS, Thumbnailer, missing, named
from verdicts import VERDICTS, Compared, near, read_expected, unexplained, unused, verdict

OURS = "thumbjob"


@dataclass(frozen=True)
class Entry:
    name: str  # suite/path
    kind: str
    verdict: str
    outcomes: dict[str, Outcome]
    compared: tuple[Compared, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description="thumbjob beside other programs, over pictures that others test with")
    parser.add_argument("folder", type=Path, help="what fetch_suites.py has laid out")
    parser.add_argument("--programs", default=",".join(program.name for program in THUMBNAILERS), help="(default: all)")
    parser.add_argument("--suites", metavar="NAMES", help="only these, with commas between")
    parser.add_argument("--kinds", metavar="NAMES", help="only these formats, with commas between")
    parser.add_argument("--sample", type=int, metavar="N", help="at most so many of each format of a suite")
    parser.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="for one thumbnail (default: 30)")
    parser.add_argument("--seconds", type=float, default=7200, metavar="N", help="for everything (default: 7200)")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="differences that have a reason")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    options = parser.parse_args()
    programs = named(options.programs)
    if lines := missing(programs):
        sys.exit("\n".join(f"suites.py: {line}" for line in lines))
    expected = read_expected(options.expected.read_text()) if options.expected else []
    pictures = chosen(options)
    if not pictures:
        sys.exit(f"suites.py: {options.folder} has no such pictures; fetch_suites.py fetches them")

    deadline = time.monotonic() + options.seconds
    # On the same file system as the pictures, so that these can be linked.
    with tempfile.TemporaryDirectory(prefix=".work-", dir=options.folder) as work, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        def entry(name: str) -> Entry | None:
            if time.monotonic() > deadline:
                return None
            return examine(options.folder / name, name, pictures[name], programs, options.limit, Path(work))
        entries = []
        for number, found in enumerate(pool.map(entry, pictures), 1):
            entries += [found] if found else []
            if number % 100 == 0:
                print(f"{number} of {len(pictures)}", file=sys.stderr)
    return tell(entries, len(pictures) - len(entries), programs, expected, options)


def chosen(options: argparse.Namespace) -> dict[str, str]:
    """The format of each picture, by suite/path. A sample is always the same one."""
    pictures: dict[str, str] = {}
    for file in sorted(options.folder.rglob("*")):
        if not file.is_file() or file.relative_to(options.folder).parts[0].startswith("."):
            continue
        name = str(file.relative_to(options.folder))
        with file.open("rb") as opened:
            of_file = kind(opened.read(HEAD), name)
        if of_file is None or (options.suites and name.split("/")[0] not in options.suites.split(",")):
            continue
        if not options.kinds or of_file in options.kinds.split(","):
            pictures[name] = of_file
    if options.sample is None:
        return pictures
    taken: Counter[tuple[str, str]] = Counter()
    kept = set()
    for name in sorted(pictures, key=lambda name: hashlib.sha256(name.encode(errors="surrogateescape")).digest()):
        group = (name.split("/")[0], pictures[name])
        taken[group] += 1
        if taken[group] <= options.sample:
            kept.add(name)
    return {name: of_file for name, of_file in pictures.items() if name in kept}


def examine(
    picture: Path, name: str, of_file: str, programs: list[Thumbnailer], limit: float, folder: Path,
) -> Entry:
    work = Path(tempfile.mkdtemp(dir=folder))
    try:
        outcomes = {program.name: outcome(program, picture, work, limit) for program in programs}
        peers = {program: made for program, made in outcomes.items() if program != OURS and made.kind == MADE}
        ours = outcomes.get(OURS, Outcome("left out"))
        compared = tuple(
            compare(ours.thumbnail, program, made.thumbnail) for program, made in peers.items()
            if ours.thumbnail and made.thumbnail)
        what = verdict(ours.kind == MADE, ours.kind in (CRASHED, LATE), len(peers), compared)
        return Entry(name, of_file, what, outcomes, compared)
    finally:
        shutil.rmtree(work)


def compare(ours: Path, program: str, theirs: Path) -> Compared:
    first, second = likeness.decoded(ours), likeness.decoded(theirs)
    difference = None
    if near(first.size, second.size):
        difference = likeness.likeness(first, likeness.resized(second, first.size)).difference
    return Compared(program, first.size, second.size, difference)


# Telling


def tell(
    entries: list[Entry], left: int, programs: list[Thumbnailer], expected: list, options: argparse.Namespace,
) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "suites.tsv").write_text(rows(entries, programs), errors="replace")
    (options.out / "suites.md").write_text(summary(entries, programs))
    print((options.out / "suites.md").read_text())
    print(f"Every picture: {options.out / 'suites.tsv'}")
    if left:
        print(f"{left} pictures were not looked at, because the time was over")
    if OURS not in [program.name for program in programs]:
        return 0
    verdicts = {entry.name: entry.verdict for entry in entries}
    without = unexplained(verdicts, expected)
    for entry in entries:
        if entry.name in without:
            print(f"UNEXPLAINED: {entry.name}: {entry.verdict}: {details(entry)}")
    whole = not left and not options.suites and not options.kinds and options.sample is None
    stale = unused(verdicts, expected) if whole else []
    for one in stale:
        print(f"NOT NEEDED: {one.pattern} | {one.verdict} | {one.reason}")
    return 1 if without or stale else 0


def details(entry: Entry) -> str:
    of_ours = entry.outcomes[OURS]
    words = [f"thumbjob {of_ours.kind} {of_ours.said}".strip()]
    for program, made in entry.outcomes.items():
        if program == OURS:
            continue
        beside = next((one for one in entry.compared if one.program == program), None)
        words.append(f"{program} {described(beside)}" if beside else f"{program} {made.kind}")
    return "; ".join(words)


def described(one: Compared) -> str:
    if one.difference is None:
        return f"{one.theirs[0]} × {one.theirs[1]} and not {one.ours[0]} × {one.ours[1]}"
    return f"{one.difference:.1f} off"


def rows(entries: list[Entry], programs: list[Thumbnailer]) -> str:
    names = [program.name for program in programs]
    peers = [name for name in names if name != OURS]
    head = ["picture", "format", "verdict", *names]
    head += [f"beside {name}" for name in peers] + [f"{name} said" for name in names]
    lines = ["\t".join(head)]
    for entry in entries:
        beside = {one.program: described(one) for one in entry.compared}
        cells = [
            entry.name, entry.kind, entry.verdict, *(entry.outcomes[name].kind for name in names),
            *(beside.get(name, "") for name in peers), *(entry.outcomes[name].said for name in names)]
        lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    return "\n".join(lines) + "\n"


def summary(entries: list[Entry], programs: list[Thumbnailer]) -> str:
    head = ["suite", "format", "pictures", *(f"{program.name} made" for program in programs)]
    ours = OURS in [program.name for program in programs]
    head += VERDICTS if ours else ()
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        for suite in (entry.name.split("/")[0], "**all**"):
            groups.setdefault((suite, entry.kind), []).append(entry)
    for (suite, of_file), group in sorted(groups.items(), key=lambda pair: (pair[0][0] == "**all**", pair[0])):
        cells = [suite, of_file, str(len(group))]
        cells += [str(sum(e.outcomes[program.name].kind == MADE for e in group)) for program in programs]
        counts = Counter(entry.verdict for entry in group)
        cells += [str(counts[what] or "") for what in VERDICTS] if ours else []
        lines.append(f"| {' | '.join(cells)} |")
    crashes = Counter(
        (program, made.kind) for entry in entries for program, made in entry.outcomes.items()
        if made.kind in (CRASHED, LATE))
    lines += ["", *(f"{program}: {what}: {count}" for (program, what), count in sorted(crashes.items()))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
