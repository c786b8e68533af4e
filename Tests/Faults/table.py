"""The tables of docs/faults.md: writes them, and compares them with what has just happened."""

import re
from collections import defaultdict
from dataclasses import dataclass

import places

BEGIN, END = "<!-- make faults -->", "<!-- /make faults -->"


@dataclass(frozen=True)
class Row:
    """What became of one fault or change."""

    place: str
    call: str  # or what happens to the place
    kind: str  # an error's name; empty for a change
    ending: str
    status: str
    left: str

    @property
    def rest(self):
        return self.ending, self.status, self.left


# The kinds that the kernel has no error name for, in words.
_KINDS = {
    "short": "transfers less", "ahead": "is set ahead", "back": "is set back",
    "ENOSPC from then on": "the disk is full from then on", "EROFS from then on": "the disk is read-only from then on",
}


def _table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# What a fault of the calls may do that depend on the machine.
_HARMLESS = {
    "nothing changes": "nothing changes, or a message with `-v`",
    "a message; everything is made": "nothing changes, or a message with `-v`",
}


def row(place, call, kind, ending, status, left):
    if place == places.OF_KERNEL and ending in _HARMLESS:
        call, kind, ending = "all", "all", _HARMLESS[ending]
    return Row(place, call, kind, ending, status, left)


def text(scenes, rows, changes):
    """The list of jobs, the tables of faults, one for each place, and that of changes."""
    jobs = "\n".join(f"- {scene.what}: `thumbjob {' '.join(scene.arguments)}`" for scene in scenes)
    parts = [f"The jobs that were disturbed:\n\n{jobs}"]
    by_place = defaultdict(list)
    for found in rows:
        by_place[found.place].append(found)
    for place in sorted(by_place):
        groups = defaultdict(set)
        for found in by_place[place]:
            groups[(found.call, found.rest)].add(_KINDS.get(found.kind, found.kind))
        lines = [[f"`{call}`", ", ".join(sorted(kinds)), *rest] for (call, rest), kinds in sorted(groups.items())]
        parts.append(f"### {place[0].upper()}{place[1:]}\n\n" + _table(
            ["call", "faults", "what happens", "exit status", "left behind"], lines))
    groups = sorted({(found.place, found.call, *found.rest) for found in changes})
    parts.append("## What changes while it runs\n\n" + _table(
        ["what", "changes", "what happens", "exit status", "left behind"], [list(group) for group in groups]))
    return "\n\n".join(parts)


def quoted(document, tables):
    """The document with these tables."""
    start, end = document.index(BEGIN) + len(BEGIN), document.index(END)
    return f"{document[:start]}\n{tables}\n{document[end:]}"


def _cells(line):
    return [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []


def read(document):
    """The rows of a document: a set of faults, and one of changes."""
    names = {words: kind for kind, words in _KINDS.items()}
    faults, changes = set(), set()
    place = None
    for line in document[document.index(BEGIN) : document.index(END)].splitlines():
        if match := re.match(r"#{2,3} (.*)", line):
            place = match[1][0].lower() + match[1][1:]
        cells = [cell.strip() for cell in _cells(line)]
        if len(cells) != 5 or cells[0] in ("---", "call", "what"):
            continue
        first, second, *rest = cells
        if first.startswith("`"):
            for kind in second.split(", "):
                faults.add(Row(place, first.strip("`"), names.get(kind, kind), *rest))
        else:
            changes.add(Row(first, second, "", *rest))
    return faults, changes


def differences(document, rows, changes):
    """The rows that the document does not have: what it says is not what has happened."""
    known_faults, known_changes = read(document)
    missing = {*rows} - known_faults | {*changes} - known_changes
    return sorted(
        f"not in the document: {found.place}, {found.call} {found.kind}: {', '.join(found.rest)}" for found in missing)
