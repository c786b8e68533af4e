#!/usr/bin/env python3
"""without.py [CAPABILITY ...]: removes each capability of a job in turn, builds the rest and runs its tests.

A capability is a folder of Sources/Jobs/Capabilities and a line in the tables of Sources/Jobs/Kinds. With it go those
that stand on it, by the comments in the table, and the tests that name one of its types or that are called after it:
JobTests+NAME.swift, JobTests+OTHER+NAME.swift. The work is done in a copy, .build-without, which stays for the next
time.
"""

import argparse
import filecmp
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / ".build-without"
FOLDERS = Path("Sources/Jobs/Capabilities")
KINDS = Path("Sources/Jobs/Kinds")
TESTS = Path("Tests/JobsTests")
LINE = re.compile(r"^ +(\w+)\.self,(?:  // stands on (.+))?\n", re.MULTILINE)
DECLARATION = re.compile(
    r"^(?:(?:public|package|final|indirect|@\w+) )*(?:struct|class|enum|protocol|actor) (\w+)", re.MULTILINE
)
NAME = re.compile(r"\b[A-Z]\w+")
COMMENT = re.compile(r"//[^\n]*")


def types(folder: Path) -> set[str]:
    """The types that the files of a folder declare."""
    return {name for file in folder.rglob("*.swift") for name in DECLARATION.findall(file.read_text())}


def table(root: Path) -> dict[str, tuple[Path, set[str]]]:
    """For each type in the tables: its folder, and the types that it stands on. Types of other folders are left out."""
    needed: dict[str, set[str]] = {}
    for file in sorted((root / KINDS).rglob("*.swift")):
        for name, others in LINE.findall(file.read_text()):
            needed.setdefault(name, set()).update(others.split(", ") if others else [])
    folders = {name: folder for folder in sorted((root / FOLDERS).iterdir()) for name in types(folder)}
    return {name: (folders[name].relative_to(root), others) for name, others in needed.items() if name in folders}


def with_dependents(name: str, known: dict[str, tuple[Path, set[str]]]) -> list[str]:
    """A capability and those that stand on it, also by way of others."""
    removed = {name}
    while more := {other for other, (_, needs) in known.items() if needs & removed} - removed:
        removed |= more
    return [other for other in known if other in removed]


def remove(root: Path, removed: list[str], known: dict[str, tuple[Path, set[str]]]) -> list[str]:
    """Removes capabilities from a copy of the project.

    Returns: the names of the files of tests that went with them.
    """
    gone: set[str] = set()
    called: set[str] = set()
    for name in removed:
        folder = root / known[name][0]
        gone |= types(folder)
        called.add(folder.name)
        shutil.rmtree(folder)
    for file in (root / KINDS).rglob("*.swift"):
        text = file.read_text()
        if (rest := LINE.sub(lambda line: "" if line[1] in removed else line[0], text)) != text:
            file.write_text(rest)
    files = []
    for file in sorted((root / TESTS).glob("*.swift")):
        named = gone & set(NAME.findall(COMMENT.sub("", file.read_text())))
        if named or called & set(file.stem.split("+")):
            file.unlink()
            files.append(file.name)
    return files


def run(command: list[str], log: Path) -> bool:
    """Runs a command in the copy. The log has what it prints."""
    with log.open("w") as output:
        return subprocess.run(command, cwd=COPY, stdout=output, stderr=subprocess.STDOUT, check=False).returncode == 0


def copy() -> None:
    """Brings the copy to the state of the sources. What is equal stays untouched, so that it is not built again."""
    names = ["Package.swift", "Package.resolved", "Sources", "Tests", "docs", "jobs", "README.md", "CONTRIBUTING.md"]
    wanted = {path.relative_to(ROOT) for name in names for path in files_of(ROOT / name)}
    for path in {path.relative_to(COPY) for name in names for path in files_of(COPY / name)} - wanted:
        (COPY / path).unlink()
    for path in wanted:
        if not (COPY / path).exists() or not filecmp.cmp(ROOT / path, COPY / path, shallow=False):
            (COPY / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, COPY / path)


def files_of(path: Path) -> list[Path]:
    """The files of a folder, or the path itself if it is one."""
    return [file for file in [path, *path.rglob("*")] if file.is_file()]


def try_without(name: str, known: dict[str, tuple[Path, set[str]]], options: argparse.Namespace) -> bool:
    """Removes one capability and prints a line of the table."""
    copy()
    removed = with_dependents(name, known)
    files = remove(COPY, removed, known)
    log = COPY / f"without-{name}.log"
    start = time.monotonic()
    result = "passed"
    if not run([options.swift, "build", "--build-tests"], log):
        result = "not built"
    elif not run([options.swift, "test", "--skip-build", "--disable-xctest", "--filter", "JobsTests"], log):
        result = "failed"
    tests = re.findall(r"Test run with (\d+) tests", log.read_text(errors="replace"))
    print(
        f"{name:16}  {', '.join(removed[1:] if removed[0] == name else removed) or '-':34}  {len(files):5}"
        f"  {tests[-1] if tests else '-':>5}  {time.monotonic() - start:6.0f} s  {result}",
        flush=True,
    )
    if result != "passed":
        print(f"  see {log.relative_to(ROOT)}")
    return result == "passed"


def main() -> int:
    known = table(ROOT)
    parser = argparse.ArgumentParser(description="removes each capability in turn, builds the rest and runs its tests")
    parser.add_argument("capabilities", nargs="*", metavar="CAPABILITY", help=f"all by default: {', '.join(known)}")
    parser.add_argument("--swift", default="swift", help="Swift's program")
    options = parser.parse_args()
    if unknown := set(options.capabilities) - set(known):
        parser.error(f"no capability: {', '.join(sorted(unknown))}")
    print(f"{'without':16}  {'and what stands on it':34}  files  tests      time")
    results = [try_without(name, known, options) for name in options.capabilities or known]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
