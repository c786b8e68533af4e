#!/usr/bin/env python3
"""lint-rooms.py < the output of `swift package dump-package`: fails where a library depends on more than it may.

BoundedQueue is for any work, so it must depend neither on image code and libjpeg nor on packages of others.
"""

import json
import sys

ALLOWED = {"BoundedQueue": {"Locking"}}


def main() -> int:
    targets = {target["name"]: target["dependencies"] for target in json.load(sys.stdin)["targets"]}

    def reached(name: str) -> set[str]:
        """The names of all targets and products that it depends on. A dependency is {"kind": [name, ...]}."""
        direct = {value[0] for dependency in targets.get(name, []) for value in dependency.values()}
        return direct.union(*map(reached, direct))

    faults = {name: sorted(reached(name) - allowed) for name, allowed in ALLOWED.items()}
    for name, surplus in faults.items():
        if surplus:
            print(f"Package.swift: {name} must not depend on {', '.join(surplus)}", file=sys.stderr)
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
