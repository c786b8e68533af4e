"""Folders of sources and of thumbnails: what is in them."""

import os
import stat
from dataclasses import dataclass

# The folder in an output folder that thumbjob keeps for itself.
WORKING = ".thumbjob"


@dataclass(frozen=True)
class Entry:
    """What is at a path."""

    kind: str  # file, folder, link or special
    mode: int
    modified: int  # nanoseconds since 1970
    data: bytes = b""  # the contents of a file, the target of a link


def entry(path) -> Entry | None:
    """What is at a path, or None if nothing is. A link is not followed."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            return Entry("file", status.st_mode, status.st_mtime_ns, file.read())
    if stat.S_ISLNK(status.st_mode):
        return Entry("link", status.st_mode, status.st_mtime_ns, os.fsencode(os.readlink(path)))
    kind = "folder" if stat.S_ISDIR(status.st_mode) else "special"
    return Entry(kind, status.st_mode, status.st_mtime_ns)


def files(top) -> set[str]:
    """The paths below `top` of all files, without those that thumbjob keeps for itself."""
    found = set()
    for folder, names, here in os.walk(top):
        if WORKING in names:
            names.remove(WORKING)
        found.update(os.path.relpath(os.path.join(folder, name), top) for name in here)
    return found
