#!/usr/bin/env python3
"""coverage.py FOLDER PROGRAM... : prints the share of lines that the tests run, for each room, and files that they run
less than the rest. FOLDER has the profiles that the instrumented PROGRAMs wrote."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# A file with less than this share of its lines is named.
LOW = 0.8


def tool(name):
    """Of the Swift toolchain, because the format of profiles differs between versions of LLVM."""
    swift = os.path.realpath(subprocess.check_output(["which", "swift"], text=True).strip())
    return os.path.join(os.path.dirname(swift), name)


def lines_of(folder, programs):
    """Lines that were run and all lines, by file."""
    merged = folder / "all.profdata"
    # A process that may write no large file has left an invalid profile.
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
