"""suites.py FOLDER: what thumbjob makes of pictures that others test with, beside what other programs make of them.

FOLDER is what fetch_suites.py has laid out. Each program is started once for each picture, with a time limit; thumbjob
once for each size, and the others for the largest one, which is then reduced; where a smaller one looks otherwise, they
too are asked for that size, because they may average samples before they convert colours. Thumbnails of the same
picture are compared: sizes, the mean difference of the samples, and that of the worst of 16 × 16 squares. verdicts.py
names what may come out.

Writes to --out: suites.md counts who made what, by format, and by suite, format and size; suites.tsv has a line for
each picture and size. --expected names differences, each with a witness: another decoder that must come to the same as
thumbjob, and is asked (witnesses.py). Exit status 1 if there is a difference without a witness, or one that says
otherwise, or, over all pictures, a line that no difference needs.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import likeness
import witnesses
from kinds import HEAD, kind
from outcomes import CRASHED, LATE, MADE, Outcome, outcome
from thumbnailers import BOX, THUMBNAILERS, Thumbnailer, missing, named
from verdicts import (
    DIFFERS,
    IN_NEED,
    NONE,
    OURS_ONLY,
    PEERS_ONLY,
    SAME,
    VERDICTS,
    Compared,
    Expected,
    Testimony,
    read_expected,
    unused,
    verdict,
)
from witnesses import WITNESSES, compared, testimony

OURS = "thumbjob"


@dataclass(frozen=True)
class Entry:
    name: str  # suite/path
    kind: str
    box: int
    verdict: str
    outcomes: dict[str, Outcome]
    compared: tuple[Compared, ...]
    # What the witnesses say that are named for this difference, and whether one of them supports thumbjob.
    witnesses: tuple[str, ...] = ()
    supported: bool = False

    @property
    def is_explained(self) -> bool:
        return self.supported or self.verdict not in (*IN_NEED, CRASHED)


@dataclass(frozen=True)
class Plan:
    folder: Path
    programs: list[Thumbnailer]
    boxes: list[int]  # ascending
    limit: float  # seconds for one thumbnail
    expected: list[Expected]


def main() -> int:
    parser = argparse.ArgumentParser(description="thumbjob beside other programs, over pictures that others test with")
    parser.add_argument("folder", type=Path, help="what fetch_suites.py has laid out")
    parser.add_argument("--programs", default=",".join(program.name for program in THUMBNAILERS), help="(default: all)")
    parser.add_argument("--sizes", default=str(BOX), metavar="PIXELS", help=f"with commas between (default: {BOX})")
    parser.add_argument("--suites", metavar="NAMES", help="only these, with commas between")
    parser.add_argument("--kinds", metavar="NAMES", help="only these formats, with commas between")
    parser.add_argument("--sample", type=int, metavar="N", help="at most so many of each format of a suite")
    parser.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="for one thumbnail (default: 30)")
    parser.add_argument("--seconds", type=float, default=7200, metavar="N", help="for everything (default: 7200)")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="differences, each with a witness")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="PIL")  # of pictures that are damaged on purpose
    programs = named(options.programs)
    expected = read_expected(options.expected.read_text(), WITNESSES) if options.expected else []
    lines = missing(programs) + witnesses.missing([WITNESSES[name] for name in {one.witness for one in expected}])
    if lines:
        sys.exit("\n".join(f"suites.py: {line}" for line in lines))
    pictures = chosen(options)
    if not pictures:
        sys.exit(f"suites.py: {options.folder} has no such pictures; fetch_suites.py fetches them")

    boxes = sorted(map(int, options.sizes.split(",")))
    plan = Plan(options.folder, programs, boxes, options.limit, expected)
    deadline = time.monotonic() + options.seconds
    # On the same file system as the pictures, so that these can be linked.
    with tempfile.TemporaryDirectory(prefix=".work-", dir=options.folder) as work, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        def examined(name: str) -> list[Entry]:
            if time.monotonic() > deadline:
                return []
            return list(examine(plan, name, pictures[name], Path(work)))
        entries, left = [], 0
        for number, found in enumerate(pool.map(examined, pictures), 1):
            entries += found
            left += not found
            if number % 100 == 0:
                print(f"{number} of {len(pictures)}", file=sys.stderr)
    witnesses.BROWSER.close()
    return tell(entries, left, programs, expected, options)


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


def examine(plan: Plan, name: str, of_file: str, folder: Path) -> Iterator[Entry]:
    picture = plan.folder / name
    work = Path(tempfile.mkdtemp(dir=folder))
    try:
        peers = {
            program.name: outcome(program, picture, work, plan.limit, plan.boxes[-1])
            for program in plan.programs if program.name != OURS}
        made = {
            program: likeness.decoded(of_peer.thumbnail) for program, of_peer in peers.items() if of_peer.thumbnail}
        for box in plan.boxes:
            ours = next(
                (outcome(program, picture, work, plan.limit, box) for program in plan.programs if program.name == OURS),
                Outcome("left out"))
            beside = tuple(compared(program, ours.thumbnail, theirs, box) for program, theirs in made.items()) \
                if ours.thumbnail else ()
            what = verdict(ours.kind == MADE, ours.kind in (CRASHED, LATE), len(made), beside)
            if what == DIFFERS and box < plan.boxes[-1]:
                beside = tuple(themselves(plan, picture, ours.thumbnail, box, work))
                what = verdict(True, False, len(made), beside)
            said = list(asked(plan, name, what, picture, ours, box, work))
            yield Entry(
                name, of_file, box, what, {**peers, OURS: ours}, beside, tuple(f"{who} {words}" for who, words in said),
                any(words.supports(what) for _, words in said))
    finally:
        shutil.rmtree(work)


def themselves(plan: Plan, picture: Path, ours: Path, box: int, work: Path) -> Iterator[Compared]:
    """Our thumbnail beside those that the others make in its size."""
    for program in plan.programs:
        theirs = outcome(program, picture, work, plan.limit, box).thumbnail if program.name != OURS else None
        if theirs:
            yield compared(program.name, ours, likeness.decoded(theirs), box)


def asked(
    plan: Plan, name: str, what: str, picture: Path, ours: Outcome, box: int, work: Path,
) -> Iterator[tuple[str, Testimony]]:
    """What the witnesses say that are named for this difference."""
    for who in dict.fromkeys(one.witness for one in plan.expected if one.explains(name, what)):
        shown = WITNESSES[who].show(picture.absolute(), Path(tempfile.mkdtemp(dir=work)), plan.limit)
        yield who, testimony(WITNESSES[who], shown, ours.thumbnail, box)


# Telling


def tell(
    entries: list[Entry], left: int, programs: list[Thumbnailer], expected: list, options: argparse.Namespace,
) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "suites.tsv").write_text(rows(entries, programs), errors="replace")
    tables = [classes(entries)] if OURS in [program.name for program in programs] else []
    (options.out / "suites.md").write_text("\n".join([*tables, summary(entries, programs)]))
    print((options.out / "suites.md").read_text())
    print(f"Every picture: {options.out / 'suites.tsv'}")
    if left:
        print(f"{left} pictures were not looked at, because the time was over")
    if OURS not in [program.name for program in programs]:
        return 0
    without = [entry for entry in entries if not entry.is_explained]
    for entry in without:
        print(f"UNEXPLAINED: {entry.name} in {entry.box}: {entry.verdict}: {details(entry)}")
    whole = not left and not options.suites and not options.kinds and options.sample is None
    stale = unused([(entry.name, entry.verdict) for entry in entries], expected) if whole else []
    for one in stale:
        print(f"NOT NEEDED: {one.pattern} | {one.verdict} | {one.witness} | {one.reason}")
    return 1 if without or stale else 0


def details(entry: Entry) -> str:
    of_ours = entry.outcomes[OURS]
    words = [f"thumbjob {of_ours.kind} {of_ours.said}".strip()]
    for program, made in entry.outcomes.items():
        if program == OURS:
            continue
        beside = next((one for one in entry.compared if one.program == program), None)
        words.append(f"{program} {beside}" if beside else f"{program} {made.kind}")
    return "; ".join(words + [f"witness {words}" for words in entry.witnesses])


def rows(entries: list[Entry], programs: list[Thumbnailer]) -> str:
    names = [program.name for program in programs]
    peers = [name for name in names if name != OURS]
    head = ["picture", "format", "size", "verdict", "witnesses", *names]
    head += [f"beside {name}" for name in peers] + [f"{name} said" for name in names]
    lines = ["\t".join(head)]
    for entry in entries:
        beside = {one.program: str(one) for one in entry.compared}
        cells = [
            entry.name, entry.kind, str(entry.box), entry.verdict, "; ".join(entry.witnesses),
            *(entry.outcomes[name].kind for name in names),
            *(beside.get(name, "") for name in peers), *(entry.outcomes[name].said for name in names)]
        lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    return "\n".join(lines) + "\n"


# The verdicts as classes, the first of which counts that a picture has in any size.
CLASSES = {
    CRASHED: "crashed", PEERS_ONLY: "only others", OURS_ONLY: "only thumbjob", DIFFERS: "both, not alike",
    SAME: "both, alike", NONE: "neither"}


def classes(entries: list[Entry]) -> str:
    """How many pictures of each format are made by whom, and how many of those in need of a witness have one."""
    lines = [f"| format | pictures | {' | '.join(CLASSES.values())} | with a witness |", "|" + " --- |" * 9]
    pictures: dict[str, list[Entry]] = {}
    for entry in entries:
        pictures.setdefault(entry.name, []).append(entry)
    for of_file in [*sorted({entry.kind for entry in entries}), "all"]:
        group = [found for found in pictures.values() if of_file in (found[0].kind, "all")]
        counts = Counter(next(what for what in CLASSES if what in [e.verdict for e in found]) for found in group)
        needy = [found for found in group if any(entry.verdict in (*IN_NEED, CRASHED) for entry in found)]
        witnessed = sum(all(entry.is_explained for entry in found) for found in needy)
        cells = [of_file, len(group), *(counts[what] for what in CLASSES), f"{witnessed} of {len(needy)}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def summary(entries: list[Entry], programs: list[Thumbnailer]) -> str:
    head = ["suite", "format", "size", "pictures", *(f"{program.name} made" for program in programs)]
    ours = OURS in [program.name for program in programs]
    head += VERDICTS if ours else ()
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    groups: dict[tuple[str, str, int], list[Entry]] = {}
    for entry in entries:
        for suite in (entry.name.split("/")[0], "**all**"):
            groups.setdefault((suite, entry.kind, entry.box), []).append(entry)
    for (suite, of_file, box), group in sorted(groups.items(), key=lambda pair: (pair[0][0] == "**all**", pair[0])):
        cells = [suite, of_file, str(box), str(len(group))]
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
