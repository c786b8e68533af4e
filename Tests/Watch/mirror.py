"""Compares a folder of thumbnails with the folder of photos that it should mirror."""

import os
import time
from pathlib import Path


def files(top: Path) -> set[str]:
    """The paths of all files below `top`, without those that thumbjob keeps for itself."""
    found = set()
    for folder, names, here in os.walk(top):
        if ".thumbjob" in names:
            names.remove(".thumbjob")
        found.update(os.path.relpath(os.path.join(folder, name), top) for name in here)
    return found


def differences(photos: Path, thumbnails: Path) -> list[str]:
    """One line for each photo without a current thumbnail, and each thumbnail without a photo."""
    wanted, there = files(photos), files(thumbnails)
    lines = [f"{name}: has no thumbnail" for name in sorted(wanted - there)]
    lines += [f"{name}: its photo is gone" for name in sorted(there - wanted)]
    for name in sorted(wanted & there):
        if (photos / name).stat().st_mtime_ns != (thumbnails / name).stat().st_mtime_ns:
            lines.append(f"{name}: of another version of its photo")
    return lines


def wait_until_equal(photos: Path, thumbnails: Path, seconds: float) -> tuple[float, list[str]]:
    """Waits until the thumbnails mirror the photos.

    Returns the seconds that took, and the differences that are left after the given time.
    """
    start = time.monotonic()
    while True:
        lines = differences(photos, thumbnails)
        passed = time.monotonic() - start
        if not lines or passed > seconds:
            return passed, lines
        time.sleep(0.02)
