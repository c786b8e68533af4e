"""Compares a folder of thumbnails with the folder of photos that it should mirror."""

import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

from trees import files


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
