#!/usr/bin/env python3
"""coverage.py FOLDER PROGRAM...: prints the line coverage of each room, and the files with low coverage.

FOLDER has the profiles that the instrumented PROGRAMs wrote.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# A file is listed if the tests run less than this share of its lines.
LOW = 0.8


def tool(name):
    """The path of an LLVM tool of the Swift toolchain. The format of profiles differs between versions of LLVM."""
    swift = os.path.realpath(subprocess.check_output(["which", "swift"], text=True).strip())
    return os.path.join(os.path.dirname(swift), name)


def lines_of(folder, programs):
    """How many lines were run, and how many there are, for each file."""
    merged = folder / "all.profdata"
    # A process with a limit on the size of its files leaves an invalid profile.
    subprocess.run(
        [tool("llvm-profdata"), "merge", "-sparse", "-failure-mode=all", "-o", merged, *folder.glob("*.profraw")],
        check=True, stderr=subprocess.DEVNULL)
    objects = [argument for program in programs[1:] for argument in ("-object", program)]
    export = subprocess.check_output(
        [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}", programs[0], *objects])
    found = {}
    for file in json.loads(export)["data"][0]["files"]:
        name = os.path.relpath(file["filename"])
        if name.startswith("Sources/"):
            lines = file["summary"]["lines"]
            found[name] = (lines["covered"], lines["count"])
    return found


def main(folder, programs):
    files = lines_of(Path(folder), programs)
    rooms = defaultdict(list)
    for name, lines in files.items():
        rooms[name.split("/")[1]].append(lines)
    rooms["**all**"] = list(files.values())
    print("| room | lines | run by tests |\n| --- | ---: | ---: |")
    for room, lines in rooms.items():
        covered, count = (sum(column) for column in zip(*lines, strict=True))
        print(f"| {room} | {count:,} | {100 * covered / count:.1f} % |")
    print()
    for name, (covered, count) in sorted(files.items(), key=lambda item: item[1][0] / max(item[1][1], 1)):
        if covered < LOW * count:
            print(f"{name}: {covered} of {count} lines")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
