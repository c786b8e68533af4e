"""attack.py: makes thousands of damaged and unusual files, and compares thumbjob's verdicts with those of oracles.

The rule: what thumbjob makes without a remark, libjpeg finds whole, or the thumbnail is that of the undamaged file.
And a file that is whole is made, without a remark. PNG files have a reader of their own; of other formats only cut
files are certainly damaged. Files of the same pixels have the same thumbnail, and no file makes a decoder crash. Exits
with status 1 if a file or a run breaks a rule. The same seed makes the same files; --keep stores those that break a
rule, with a list of findings.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import damage
import files
import jpeg
import mutations
import odd
import oracle
import others
import pictures
import program
import readers
import runs
from jpeg import Part
from verdicts import Facts, Finding, is_only_remarked, is_unseen, judged

# All files get the same modification time, so that nothing but their bytes differs.
MODIFIED = 1_700_000_000
# Notes, which are no findings.
UNSEEN, ONLY_REMARKED = "changed unseen", "only remarked"
# How many findings are printed; --keep lists all.
MOST_OF_CLASS, MOST_PROBLEMS = 5, 50


@dataclass(frozen=True)
class Case:
    name: str  # of the file
    kind: str
    parent: str  # the name of the good file that it was made from
    how: str
    is_good: bool
    lost: int = 0  # bytes of picture data that are certainly missing
    is_impossible: bool = False  # no picture can be made of it


@dataclass(frozen=True)
class Report:
    """A finding about one file, or a note."""

    case: Case
    size: int
    what: str
    outcome: runs.Outcome
    opinion: oracle.Opinion | readers.Judgement

    def __str__(self):
        case = self.case
        return (
            f"{self.what}: {case.name} at size {self.size} ({case.kind}; {case.parent}: {case.how})\n"
            f"    thumbjob: {self.outcome}\n    oracle: {self.opinion}")


class Sources:
    """The folder of all files of the attack."""

    def __init__(self, folder, seed, count):
        self.folder = folder
        self.cases = []
        # Parts of good progressive files, by the name of the whole file. They show what a thumbnail needs.
        self.parts = {}
        drawn = pictures.all_pictures()
        good = files.usual_files(drawn) + files.scripted_files(drawn, seed, count)
        for file in good:
            self._add(Case(f"{file.name}.jpg", file.kind, f"{file.name}.jpg", "as it is", True), file.data)
            self._add_parts(file)
        for mutant in mutations.mutants(good, seed, count):
            parent = f"{mutant.parent.name}.jpg"
            case = Case(f"{mutant.name}.jpg", mutant.kind, parent, mutant.how, mutant.is_good, mutant.lost)
            self._add(case, mutant.data)
        self._add_others(seed, count)

    def _add_others(self, seed, count):
        """The files of other formats."""
        good = others.good_files()
        for file in good:
            twin = file.twin or file.file_name
            self._add(Case(file.file_name, file.kind, twin, f"the pixels of {twin}", True), file.data)
        for mutant in damage.mutants(good, seed, count):
            parent = mutant.parent.file_name
            self._add(Case(mutant.name, mutant.kind, parent, mutant.how, mutant.is_good, mutant.lost), mutant.data)
        for file in odd.odd_files():
            case = Case(
                file.name, file.kind, file.twin or file.name, "written by hand", file.is_good,
                is_impossible=file.is_impossible)
            self._add(case, file.data)

    def _add(self, case, data):
        self.cases.append(case)
        self._write(case.name, data)

    def _add_parts(self, file):
        # A picture without AC coefficients does not show what a thumbnail needs.
        if not jpeg.is_progressive(file.data) or file.picture in pictures.WITHOUT_DETAIL:
            return
        self.parts[f"{file.name}.jpg"] = names = {}
        for number, part in enumerate((Part.DC, Part.LOWEST, Part.COARSE)):
            names[part] = f"part-{number}-of-{file.name}.jpg"
            self._write(names[part], jpeg.only(part, file.data))

    def _write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        os.utime(path, (MODIFIED, MODIFIED))


class Attack:
    def __init__(self, thumbjob, sources, opinions):
        self.thumbjob = thumbjob
        self.sources = sources
        self.opinions = opinions
        self.findings = []
        self.notes = []  # damage that changes a thumbnail and is not reported, or only remarked
        self.problems = []  # of whole runs
        self.refused = set()  # the files that were refused at any size
        self.counts = defaultdict(Counter)  # by class

    def attack(self, size):
        """One run over all files with several operations at once, and one with a single one, which must be equal."""
        first = self._run(size, 4)
        again = self._run(size, 1)
        for name, outcome in first.outcomes.items():
            if again.outcomes[name] != outcome:
                self.problems.append(f"size {size}: {name} is {outcome}, but with --max 1 {again.outcomes[name]}")
        for case in self.sources.cases:
            self._judge(case, size, first.outcomes)
        return first.seconds + again.seconds

    def _run(self, size, most_running):
        folder = self.sources.folder
        out = folder.parent / "thumbs"
        result = runs.run(self.thumbjob, folder, out, size, most_running, 120 + len(self.sources.cases) / 2)
        self.problems += [f"size {size}, --max {most_running}: {problem}" for problem in result.problems]
        shutil.rmtree(out, ignore_errors=True)
        return result

    def _judge(self, case, size, outcomes):
        outcome, opinion = outcomes[case.name], self.opinions[case.name]
        is_same = outcome.thumbnail is not None and outcome.thumbnail == outcomes[case.parent].thumbnail
        if outcome.is_silent and not is_same and not case.is_good and opinion.is_whole is False:
            opinion = self._opinion_of_needed(case, outcomes) or opinion
        facts = Facts(outcome, opinion, case.is_good, is_same, case.lost, case.is_impossible)
        if not outcome.is_made:
            self.refused.add(case.name)
        finding = judged(facts)
        counts = self.counts[case.kind]
        counts["tried"] += 1
        counts["made" if outcome.is_silent else "remark" if outcome.is_made else "refused"] += 1
        if finding:
            counts["silent", size] += finding == Finding.SILENT
            counts["other"] += finding != Finding.SILENT
            self.findings.append(Report(case, size, finding, outcome, opinion))
        elif is_unseen(facts):
            counts["unseen"] += 1
            self.notes.append(Report(case, size, UNSEEN, outcome, opinion))
        elif is_only_remarked(facts):
            counts["only remarked"] += 1
            self.notes.append(Report(case, size, ONLY_REMARKED, outcome, opinion))

    @property
    def seen_at_other_sizes(self):
        """The damaged files that are refused at one size, and change the thumbnail unseen at another."""
        return {note.case.name for note in self.notes if note.what == UNSEEN} & self.refused

    def _opinion_of_needed(self, case, outcomes):
        """The opinion on the part of the file that its thumbnail needs.

        A thumbnail needs no more than a part of the undamaged file if it is the same with that part alone.
        """
        for part, name in self.sources.parts.get(case.parent, {}).items():
            if outcomes[name].thumbnail == outcomes[case.parent].thumbnail:
                return oracle.ask((self.sources.folder / case.name).read_bytes(), part)
        return None


def table(counts, sizes):
    """A line for each class, with the sums over all sizes; silent but wrong ones are shown for each size."""
    columns = {
        "tried": "tried", "made": "made", "made with a remark": "remark", "of these changed": "only remarked",
        "refused": "refused", "changed unseen": "unseen", "otherwise wrong": "other"}
    heads = ["class", *columns, *(f"silent but wrong at {size}" for size in sizes)]
    total = sum(counts.values(), Counter())
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for kind, figures in [*counts.items(), ("**all**", total)]:
        sums = [str(figures[name]) for name in columns.values()]
        rows.append([kind, *sums, *(str(figures["silent", size] or "none") for size in sizes)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def shown(findings, problems):
    """The lines to print: some findings of each class."""
    lines = problems[:MOST_PROBLEMS]
    seen = Counter()
    for report in findings:
        key = report.what, report.case.kind
        seen[key] += 1
        if seen[key] <= MOST_OF_CLASS:
            lines.append(str(report))
    lines += [f"{count - MOST_OF_CLASS} more: {what}, {kind}" for (what, kind), count in seen.items()
              if count > MOST_OF_CLASS]
    return lines


def keep(folder, attack, command):
    """Stores lists of findings and notes, the files that findings are about, and those that they were made from."""
    folder.mkdir(parents=True, exist_ok=True)
    for report in attack.findings:
        for name in {report.case.name, report.case.parent}:
            shutil.copy2(attack.sources.folder / name, folder / name)
    head = f"made by: {command}\nto see one again: thumbjob FILE -o OUT --size SIZE --json\n"
    others = [f"refused at another size: {name}" for name in sorted(attack.seen_at_other_sizes)]
    for name, reports in (("findings", [*attack.problems, *attack.findings]), ("notes", [*attack.notes, *others])):
        (folder / f"{name}.txt").write_text("\n".join([head, *map(str, reports)]) + "\n")


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbjob", type=Path, default=program.DEFAULT,
                        help="the program to attack (default: $THUMBJOB, or the debug build)")
    parser.add_argument("--seed", default="1", help="any text; another one makes other files (default: 1)")
    parser.add_argument("--per-class", type=int, default=125, help="files of each class (default: 125)")
    parser.add_argument("--sizes", default="32,96,256,600,1600", help="sizes of thumbnails (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="a folder for the lists of findings and notes, and for the files")
    return parser.parse_args(arguments)


def stop(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not interrupt the cleaning up
    sys.exit("stopped")


def run(options, thumbjob, sizes, start):
    """Attacks at each size, in a folder that is removed even at TERM."""
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with tempfile.TemporaryDirectory(prefix="thumbjob-attack-") as work:
            return run_in(Path(work) / "files", options, thumbjob, sizes, start)
    finally:
        signal.signal(signal.SIGTERM, before)


def run_in(folder, options, thumbjob, sizes, start):
    folder.mkdir()
    sources = Sources(folder, options.seed, options.per_class)
    jpegs = {case.name for case in sources.cases if case.name.endswith(".jpg")}
    opinions = oracle.opinions_of([folder / name for name in sorted(jpegs)])
    opinions |= {case.name: readers.judgement_of(case.name, (folder / case.name).read_bytes())
                 for case in sources.cases if case.name not in jpegs}
    seconds = time.monotonic() - start
    print(f"{len(opinions)} files, {len(jpegs)} of them JPEG, judged after {seconds:.0f} s", flush=True)
    attack = Attack(thumbjob, sources, opinions)
    for size in sizes:
        print(f"size {size}: {attack.attack(size):.0f} s", flush=True)
    if options.keep:
        keep(options.keep, attack, " ".join(sys.argv))
    return attack


def main(arguments):
    options = parsed(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    thumbjob = options.thumbjob.absolute()
    if not thumbjob.exists():
        sys.exit(f"{thumbjob} does not exist; build it, or name another with --thumbjob")
    start = time.monotonic()
    attack = run(options, thumbjob, sizes, start)
    print(table(attack.counts, sizes))
    for line in shown(attack.findings, attack.problems):
        print(line)
    print(f"refused at one size and changed unseen at another: {len(attack.seen_at_other_sizes)} files")
    found = len(attack.findings) + len(attack.problems)
    print(f"findings: {found or 'none'}, after {time.monotonic() - start:.0f} s")
    if found:
        print(f"the files are in {options.keep}" if options.keep else "--keep FOLDER keeps the files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
