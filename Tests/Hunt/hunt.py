#!/usr/bin/env python3
"""Looks for tests that fail now and then: runs parts of `make test` again and again, each time in other circumstances.

Prints a table of the tests that have failed, with how often in which circumstance, and keeps the log of each failure.
"""

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import circumstances

ROOT = Path(__file__).resolve().parents[2]
# Not lint: it does not depend on the circumstances.
PARTS = ("unit", "command", "race", "lessons", "memory", "endpoint", "package", "attack-sample", "attack-serve-sample",
         "faults-sample", "soak-sample", "model-sample")
_FAILED = (
    re.compile(r"✘ Test (?P<name>\S+\(.*?\)) (?:with \d+ test cases? )?failed after"),
    re.compile(r"^(?:FAILED|ERROR) (?P<name>[^\s(]\S*)"),
    re.compile(r"^(?:FAIL|ERROR): (?P<name>\S+)"),
    re.compile(r"^SUMMARY: (?P<name>\w+: .{0,80})"),
)


def failures(text: str) -> list[str]:
    """The names of the tests that have failed, as the logs of all kinds of tests tell them."""
    found = []
    for line in text.splitlines():
        for pattern in _FAILED:
            match = pattern.search(line)
            if match and match["name"] not in found:
                found.append(match["name"])
    return found


def table(counts: dict[str, Counter], runs: Counter, names: list[str]) -> str:
    """A line for each test that has failed, a column for each circumstance."""
    rows = [["test", *names], ["runs", *(str(runs[name]) for name in names)]]
    for test in sorted(counts, key=lambda test: -counts[test].total()):
        rows.append([test, *(str(counts[test][name] or "") for name in names)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(names) + 1)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    known = ", ".join(f"{one.name} ({one.what})" for one in circumstances.ALL)
    parser.add_argument("--runs", type=int, default=1, help="how often in each circumstance (default: 1)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of `make test` (default: {','.join(PARTS)})")
    parser.add_argument("--in", dest="names", default=",".join(one.name for one in circumstances.ALL),
                        help=f"the circumstances (default: all): {known}")
    parser.add_argument("--keep", type=Path, default=ROOT / ".build/hunt", help="the folder of the logs of failures")
    options = parser.parse_args()
    try:
        wanted = circumstances.named(options.names)
    except ValueError as error:
        parser.error(str(error))
    parts = options.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    options.keep.mkdir(parents=True, exist_ok=True)
    counts: dict[str, Counter] = defaultdict(Counter)
    runs: Counter = Counter()
    missing = {}
    for number in range(1, options.runs + 1):
        for one in wanted:
            if one.name in missing:
                continue
            start = time.monotonic()
            try:
                with circumstances.brought_about(one, ROOT) as run:
                    for part in parts:
                        for test in _run(run, part, one.name, number, options.keep):
                            counts[test][one.name] += 1
            except circumstances.MissingError as error:
                missing[one.name] = str(error)
                continue
            runs[one.name] += 1
            print(f"{one.name}, run {number}: {(time.monotonic() - start) / 60:.1f} minutes", flush=True)
    print(table(counts, runs, [one.name for one in wanted if runs[one.name] or one.name not in missing]))
    for name, reason in missing.items():
        print(f"not run in {name}: {reason}")
    if counts:
        print(f"logs: {options.keep}")
    return 1 if counts else 0


def _run(run, part: str, name: str, number: int, keep: Path) -> list[str]:
    log = keep / f"{part}-{name}-{number}.log"
    status = run(["make", "--no-print-directory", part], log)
    if status == 0:
        log.unlink()
        return []
    found = failures(log.read_text(errors="replace")) or [f"{part} ended with {status}"]
    print(f"{part} in {name}: {', '.join(found)}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
