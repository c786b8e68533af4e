#!/usr/bin/env python3
"""lint-rooms.py < the output of `swift package dump-package`: fails where a library or a folder uses more than it may.

BoundedQueue is for any work, so it must depend neither on image code and libjpeg nor on packages of others, except with
traits that are off by default. Within each library of Sources, no two folders may use each other, directly or through
others.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

ALLOWED = {"BoundedQueue": {"Locking"}, "Caching": {"Locking"}}
# The one circle: an operation asks its queue for memory, and the queue runs the operation.
ALLOWED_USES = {(Path("Sources/BoundedQueue/Operation"), Path("Sources/BoundedQueue"))}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
DECLARATION = re.compile(
    r"^(?:(?:public|package|final|indirect|@\w+) )*(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.MULTILINE
)
NAME = re.compile(r"\b[A-Z]\w+")


def dependency_faults(targets: dict, defaults: set[str]) -> list[str]:
    """One line for each library that depends on more than it may."""

    def reached(name: str) -> set[str]:
        """The names of all targets and products that it needs. A dependency is {"kind": [name, ..., condition]}."""
        values = [value for dependency in targets.get(name, []) for value in dependency.values()]
        direct = {value[0] for value in values if set((value[-1] or {}).get("traits") or defaults) & defaults}
        return direct.union(*map(reached, direct))

    surplus = {name: sorted(reached(name) - allowed) for name, allowed in ALLOWED.items()}
    return [f"Package.swift: {name} must not depend on {', '.join(more)}" for name, more in surplus.items() if more]


def circles(room: Path) -> list[str]:
    """One line for each two folders of a room that use each other. A folder uses the types that others declare.

    A name that is declared in two folders counts for neither, so that it can hide a circle but not invent one.
    """
    texts = {file: COMMENT_OR_STRING.sub("", file.read_text()) for file in sorted(room.rglob("*.swift"))}
    places = defaultdict(set)
    for file, text in texts.items():
        for name in DECLARATION.findall(text):
            places[name].add(file.parent)
    uses = defaultdict(lambda: defaultdict(set))
    for file, text in texts.items():
        for name in set(NAME.findall(text)):
            for folder in places[name] if len(places[name]) == 1 else ():
                if folder != file.parent and (file.parent, folder) not in ALLOWED_USES:
                    uses[file.parent][folder].add(f"{file.name}: {name}")

    def reaches(start: Path, goal: Path) -> bool:
        seen, open_folders = set(), list(uses[start])
        while open_folders:
            folder = open_folders.pop()
            if folder == goal:
                return True
            if folder not in seen:
                seen.add(folder)
                open_folders += list(uses[folder])
        return False

    faults = []
    for folder in sorted({file.parent for file in texts}):
        for other, names in sorted(uses[folder].items()):
            if reaches(other, folder):
                faults.append(f"{folder} must not use {other}, which uses it: {', '.join(sorted(names)[:5])}")
    return faults


def main() -> int:
    package = json.load(sys.stdin)
    targets = {target["name"]: target["dependencies"] for target in package["targets"]}
    [defaults] = [set(trait["enabledTraits"]) for trait in package["traits"] if trait["name"] == "default"]
    faults = dependency_faults(targets, defaults)
    for room in sorted(Path("Sources").iterdir()):
        faults += circles(room)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
