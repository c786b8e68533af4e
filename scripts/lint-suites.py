#!/usr/bin/env python3
"""lint-suites.py PLAIN RACED CHECKED < the output of `swift package dump-package`: fails if `make test` omits a target.

Each argument has the names of the targets that are compiled in one way, with spaces between. Each suite of tests must
be in one of them, so that a part of `make test` runs it. Each other target must be in one, or be needed by one that is,
so that it is compiled.
"""

import json
import sys


def reached(names: set[str], dependencies: dict[str, set[str]]) -> set[str]:
    """The targets with these names, and all that they need."""
    found, open_names = set(), list(names)
    while open_names:
        name = open_names.pop()
        if name in dependencies and name not in found:
            found.add(name)
            open_names += dependencies[name]
    return found


def faults(targets: list[dict], ways: list[set[str]]) -> list[str]:
    # A dependency is {"kind": [name, ...]}.
    dependencies = {
        target["name"]: {value[0] for one in target["dependencies"] for value in one.values()} for target in targets}
    named = set().union(*ways)
    suites = {target["name"] for target in targets if target["type"] == "test"}
    found = [f"Makefile: there is no target {name}" for name in sorted(named - dependencies.keys())]
    found += [f"Makefile: no part of make test runs {name}" for name in sorted(suites - named)]
    left = dependencies.keys() - suites - reached(named, dependencies)
    return found + [f"Makefile: no part of make test compiles {name}" for name in sorted(left)]


def main() -> int:
    found = faults(json.load(sys.stdin)["targets"], [set(way.split()) for way in sys.argv[1:]])
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
