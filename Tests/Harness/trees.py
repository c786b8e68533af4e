"""The files below a folder."""

import os
from pathlib import Path

# The folder that thumbjob keeps for itself in an output folder.
WORKING = ".thumbjob"


def files(top, with_working=False):
    """The paths below `top` of all entries that are no folders, sorted.

    - parameter with_working: whether those that thumbjob keeps for itself are among them.
    """
    found = []
    for folder, folders, names in os.walk(top):
        if not with_working and WORKING in folders:
            folders.remove(WORKING)
        found += (os.path.relpath(os.path.join(folder, name), top) for name in names)
    return sorted(found)


def thumbnails(top):
    """The bytes of all files below `top` that are named as JPEG files are, by their paths."""
    # A source may be in a folder that is named as the one that thumbjob keeps for itself.
    return {path: Path(top, path).read_bytes() for path in files(top, with_working=True) if path.endswith(".jpg")}


def others(top):
    """The paths of all other files, also of those that thumbjob keeps for itself."""
    return {path for path in files(top, with_working=True) if not path.endswith(".jpg")}
