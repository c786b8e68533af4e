"""The mark of a thumbnail, by which it is told from other files and by which it names its source."""

import os
import re
from dataclasses import dataclass
from functools import cache

# After the JFIF segment: the fingerprints of the settings, of the contents and of the source.
_MARK = re.compile(
    rb"\xff\xd8\xff\xe0\x00\x10.{14}\xff\xfe\x00.thumbjob [0-9a-f]{16}(?:=[0-9a-f]{16})?(?: ([0-9a-f]{16}))?",
    re.DOTALL)
_HEAD = 20
_COMMENT = b"\xff\xfe"


@dataclass(frozen=True)
class Thumbnail:
    """What a file with a mark says."""

    key: str  # stands for its source; empty if it names none
    pixels: bytes  # the file without its comments: the mark, and the description of the source


def thumbnail(data: bytes) -> Thumbnail | None:
    """Reads a file; None if it has no mark."""
    found = _MARK.match(data)
    if not found:
        return None
    rest = _HEAD
    while data[rest : rest + 2] == _COMMENT:
        rest += 2 + int.from_bytes(data[rest + 2 : rest + 4], "big")
    return Thumbnail((found[1] or b"").decode(), data[:_HEAD] + data[rest:])


@cache
def key(source: str) -> str:
    """What a mark has for a source: FNV-1a of the path from an output folder, all of which are beside the sources."""
    value = 0xCBF29CE484222325
    for byte in os.fsencode(f"../{source}"):
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


class Sources:
    """The paths that sources may have had, by their keys."""

    def __init__(self, paths=()):
        self._known = {key(path): path for path in paths}

    def note(self, paths):
        """Knows more paths."""
        for path in paths:
            self._known.setdefault(key(path), path)

    def of(self, key: str) -> str | None:
        """The source that a key stands for; None if it is not known."""
        return self._known.get(key)
