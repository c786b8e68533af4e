#!/usr/bin/env python3
"""consumers.py [--apart] [PRODUCT ...]: builds a package that depends on a library of this one, for each of them.

Prints a table: the Swift packages that were resolved for it, the megabytes fetched, the seconds of a debug build, and
the warnings. Fails if a package other than this one was resolved, if the build warns or fails, or if the built program
fails.

Each package fetches a copy of the working tree as a version of thumbjob, as it would from the network. They share
compiled targets, unless --apart asks for the seconds of each alone.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "Consumers"
PRODUCTS = sorted(file.stem for file in PROGRAMS.glob("*.swift"))
VERSION = "1.0.0"
# The default traits are for the program: with them, Thumbnails needs lcms2 and libexif.
TRAITS = {"Thumbnails": ", traits: []"}
_MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "consumer", platforms: [.macOS(.v15)],
  dependencies: [.package(url: "{url}", from: "{version}"{traits})],
  targets: [.executableTarget(name: "consumer", dependencies: [.product(name: "{product}", package: "thumbjob")])])
"""


class BuildError(Exception):
    """A package could not be built, or its program failed."""


@dataclass(frozen=True)
class Result:
    """What it takes to depend on a product."""

    product: str
    packages: list[str]
    megabytes: float
    seconds: float
    warnings: list[str]

    @property
    def is_clean(self) -> bool:
        return self.packages == ["thumbjob"] and not self.warnings


def publish(folder: Path) -> str:
    """Copies the working tree into a repository, and tags it as a version. Returns its address."""
    repository = folder / "thumbjob"
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.split(b"\0")
    for name in map(os.fsdecode, filter(None, names)):
        if (ROOT / name).is_symlink() or (ROOT / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, repository / name, follow_symlinks=False)
    for words in (
        ["init", "-q"],
        ["add", "--all", "--force"],
        ["-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-q", "-m", VERSION],
        ["tag", VERSION],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository.as_uri()


def without_libraries(folder: Path) -> Path:
    """Makes a folder with a pkg-config that knows no library, as on a machine without them. Returns its path."""
    tool = folder / "bin" / "pkg-config"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    return tool.parent


def build(product: str, url: str, folder: Path, scratch: Path, swift: str = "swift") -> Result:
    """Builds the package for a product in a folder, and runs its program."""
    main = folder / "Sources" / "consumer" / "main.swift"
    main.parent.mkdir(parents=True)
    shutil.copy(PROGRAMS / f"{product}.swift", main)
    traits = TRAITS.get(product, "")
    (folder / "Package.swift").write_text(_MANIFEST.format(url=url, version=VERSION, product=product, traits=traits))
    # Warnings are not to be errors, as they are in CI.
    environment = {
        name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("THUMBJOB_")
    }
    environment["PATH"] = f"{without_libraries(folder)}:{environment['PATH']}"
    start = time.monotonic()
    done = subprocess.run(
        [swift, "build", "--scratch-path", scratch],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    seconds = time.monotonic() - start
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise BuildError(f"{product} was not built:\n{text}")
    run = subprocess.run([scratch / "debug" / "consumer"], text=True, capture_output=True, check=False)
    if run.returncode != 0 or not run.stdout:
        raise BuildError(f"the program with {product} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    pins = json.loads((folder / "Package.resolved").read_text())["pins"]
    fetched = sum(
        file.lstat().st_size for part in ("checkouts", "repositories") for file in (scratch / part).rglob("*")
    )
    return Result(
        product,
        sorted(pin["identity"] for pin in pins),
        fetched / 1e6,
        seconds,
        re.findall(r"^.*warning:.*$", text, re.MULTILINE),
    )


def build_all(products: list[str], apart: bool = False, swift: str = "swift"):
    """Builds the package for each product in turn. Yields a result for each."""
    with tempfile.TemporaryDirectory() as name:
        url = publish(Path(name))
        for product in products:
            folder = Path(name) / product
            yield build(product, url, folder, folder / ".build" if apart else Path(name) / "build", swift)


def main() -> int:
    parser = argparse.ArgumentParser(description="builds packages that depend on the libraries of this one")
    parser.add_argument("products", nargs="*", metavar="PRODUCT", help=f"all by default: {', '.join(PRODUCTS)}")
    parser.add_argument("--apart", action="store_true", help="compile everything for each product anew")
    parser.add_argument("--swift", default="swift", help="Swift's program")
    options = parser.parse_args()
    print(f"{'product':16}  packages     MB  seconds  warnings")
    is_clean = True
    for result in build_all(options.products or PRODUCTS, options.apart, options.swift):
        is_clean &= result.is_clean
        print(
            f"{result.product:16}  {len(result.packages):8}  {result.megabytes:5.0f}  {result.seconds:7.0f}"
            f"  {len(result.warnings):8}",
            flush=True,
        )
        for line in (
            [] if result.packages == ["thumbjob"] else [f"resolved: {', '.join(result.packages)}"]
        ) + result.warnings:
            print(f"  {line}")
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
