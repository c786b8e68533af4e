"""The files of the model: what is where, which of them a run finds, and what may be said to be gone.

Paths are texts below the scratch folder, in which bytes that are not UTF-8 are escaped as Python does.
"""

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

from trees import WORKING, Entry, entry

_JPEG = (".jpg", ".jpeg", ".jpe", ".jfif")
_OTHERS = (".png", ".gif", ".webp", ".tif", ".tiff", ".heic")
_KEPT_BY_SYSTEMS = ("@eaDir", "lost+found")


def snapshot(root, tops) -> dict[str, Entry]:
    """Everything below some folders, without what thumbjob keeps for itself."""
    found = {}

    def visit(relative):
        there = entry(os.path.join(root, relative))
        if there is None:
            return
        found[relative] = there
        if there.kind == "folder":
            for name in sorted(os.listdir(os.path.join(root, relative))):
                if name != WORKING:
                    visit(f"{relative}/{name}")

    for top in tops:
        visit(top)
    return found


def below(path: str, folder: str) -> str | None:
    """The rest of a path below a folder."""
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def is_named_jpeg(name: str) -> bool:
    return any(name.lower().endswith(ending) and len(name) > len(ending) for ending in _JPEG)


def is_named_picture(name: str) -> bool:
    return is_named_jpeg(name) or any(name.lower().endswith(ending) and len(name) > len(ending) for ending in _OTHERS)


def is_hidden(name: str) -> bool:
    return name.startswith(".") or name in _KEPT_BY_SYSTEMS


def mirrored(relative: str) -> str:
    """The place of the thumbnail of a source that has this path in the tree."""
    return relative if is_named_jpeg(os.path.basename(relative)) else relative + ".jpg"


@dataclass
class Walked:
    """What a walk finds that follows no links."""

    files: list[str]
    hidden: int = 0
    links: int = 0
    special: int = 0


def walk(files: dict[str, Entry], folder: str, reads_hidden=False) -> Walked:
    """The files below a folder, as far as a run finds them."""
    found, left_out = Walked([]), set()
    for path in sorted(files, key=lambda path: path.split("/")):
        inner = below(path, folder)
        if inner is None or any(path.startswith(f"{other}/") for other in left_out):
            continue
        kind = files[path].kind
        if is_hidden(os.path.basename(path)) and not reads_hidden:
            found.hidden += 1
            left_out.add(path)
        elif kind == "file":
            found.files.append(path)
        elif kind == "link":
            found.links += 1
        elif kind == "special":
            found.special += 1
    return found


def state(root, path: str, followed=False) -> str:
    """What docs/ledger.md says of a source: `there`, `gone`, or why that cannot be known: `empty`, `link`."""
    full = os.path.join(root, path)
    try:
        status = os.lstat(full)
    except NotADirectoryError:
        return "gone"
    except FileNotFoundError:
        return _state_below(os.path.dirname(full))
    except OSError:
        return "there"
    if stat.S_ISREG(status.st_mode):
        return "there"
    if not stat.S_ISLNK(status.st_mode):
        return "gone"
    if not os.path.exists(full):
        return "link"
    return "there" if followed and os.path.isfile(full) else "gone"


def _state_below(folder: str) -> str:
    while folder != "/":
        if os.path.lexists(folder):
            if os.path.islink(folder) and not os.path.exists(folder):
                return "link"
            return "gone" if os.listdir(folder) else "empty"
        folder = os.path.dirname(folder)
    return "gone"
