"""The steps that change files: what each does, and how one is chosen at random.

A step is a dictionary, so that it can be written to a file and repeated. One whose files are not there does nothing: so
any part of a list of steps can be repeated.
"""

import contextlib
import os
import random
import shutil
import time
import unicodedata
from pathlib import Path

from pool import LONG, PHOTOS
from tree import entry, is_hidden, snapshot

ROOTS = ("photos", "more")
AWAY = ("photos-away", "more-away")
MOUNT = "photos/disk"
# What thumbjob does not bear yet. Remove a name when it does:
# - tree: the thumbnails of photos that are gone, after the output folder has mirrored several folders
# - other-ledgers: whose thumbnail something is, if only the ledger of another part, or of a job's second output, knows
NOT_YET = {"tree", "other-ledgers"}

_FOLDERS = ("", "2024", "2024/album", "small", "256", "scan.png", "disk", "Case", "case", "Größe", "16x16", "caf\udce9")
_NFD = unicodedata.normalize("NFD", "ä.jpg")
_NAMES = ("a.jpg", "A.jpg", "a.JPG", "b.jpg", "c.jpeg", "scan.png", "scan.png.jpg", "ä.jpg", _NFD, "\udce4.jpg",
          "-dash.jpg", "x y.jpg", "new\nline.jpg", "small", "256", "note.txt", ".hidden.jpg", "lost+found", "a.png")
# Seconds since 1970: few, so that photos often have equal times.
_TIMES = (1_700_000_000, 1_700_000_001, 1_700_000_002, 1_600_000_000)
_YEARS = (1601, 1676, 1678, 1902, 1969, 2038, 2107, 2261, 2263, 2400, 2446)
_MODES = (0o644, 0o600, 0o444, 0o664)


class Chooser:
    """Chooses steps that change files. What it looks at, only steps change: so the same seed gives the same steps."""

    def __init__(self, root: Path, generator: random.Random, contents: list[bytes], may_mount: bool, focus: int):
        """- parameter focus: how many times as often source folders and disks come and go."""
        self.root, self.random, self.contents = root, generator, contents
        self.may_mount, self.focus = may_mount, focus

    def _there(self, kind: str) -> list[str]:
        found = snapshot(self.root, ROOTS)
        return [path for path, there in found.items() if there.kind == kind and path not in ROOTS]

    def _path(self) -> str:
        roots = ("photos", "photos", "photos", "more")
        parts = (self.random.choice(roots), self.random.choice(_FOLDERS), self.random.choice(_NAMES))
        return "/".join(part for part in parts if part)

    def _content(self) -> int:
        dice = self.random.random()
        if dice < 0.25:
            return self.random.randrange(len(self.contents))
        return self.random.choice(PHOTOS if dice < 0.88 else LONG)

    def write(self):
        when = self.random.choice(_TIMES) if self.random.random() < 0.6 else None
        return {"do": "write", "path": self._path(), "content": self._content(), "time": when}

    def rewrite(self):
        """Another content under the same name, with the time of the former: another of its kind, if that is long."""
        files = self._there("file")
        if not files:
            return self.write()
        path = self.random.choice(files)
        is_long = (self.root / path).stat().st_size > 4096
        return {"do": "rewrite", "path": path, "is_new": self.random.random() < 0.5,
                "content": self.random.choice(LONG) if is_long else self._content()}

    def move(self):
        files = self._there("file")
        if not files:
            return self.write()
        other = self.random.choice(files) if self.random.random() < 0.2 else self._path()
        return {"do": "move", "path": self.random.choice(files), "to": other}

    def swap(self):
        kind = self.random.choice(("file", "file", "folder"))
        there = self._there(kind)
        if len(there) < 2:
            return self.write()
        one, other = self.random.sample(there, 2)
        return {"do": "swap", "path": one, "to": other}

    def remove(self):
        there = self._there(self.random.choice(("file", "file", "file", "link", "special")))
        return {"do": "remove", "path": self.random.choice(there)} if there else self.write()

    def move_folder(self):
        folders = self._there("folder")
        if not folders:
            return self.write()
        name = self.random.choice(_FOLDERS[1:])
        return {"do": "move", "path": self.random.choice(folders), "to": f"{self.random.choice(ROOTS)}/{name}"}

    def remove_folder(self):
        folders = self._there("folder")
        return {"do": "remove", "path": self.random.choice(folders)} if folders else self.write()

    def copy(self):
        """As cp -p does: a file or a folder with its times."""
        there = self._there(self.random.choice(("file", "file", "folder")))
        if not there:
            return self.write()
        path = self.random.choice(there)
        return {"do": "copy", "path": path, "to": self._path() if self.random.random() < 0.7 else f"{path}-2.jpg"}

    def link(self):
        what = self.random.choice(("file", "folder", "nowhere", "hard"))
        there = self._there("folder" if what == "folder" else "file")
        if what != "nowhere" and not there:
            return self.write()
        target = "nowhere" if what == "nowhere" else self.random.choice(there)
        return {"do": "link", "path": self._path(), "to": target, "is_hard": what == "hard"}

    def pipe(self):
        return {"do": "pipe", "path": self._path()}

    def mode(self):
        files = self._there("file")
        if not files:
            return self.write()
        return {"do": "mode", "path": self.random.choice(files), "mode": self.random.choice(_MODES)}

    def touch(self):
        files = self._there("file")
        if not files:
            return self.write()
        return {"do": "touch", "path": self.random.choice(files), "time": self.random.choice(_TIMES)}

    def year(self):
        files = self._there("file")
        if not files:
            return self.write()
        when = (self.random.choice(_YEARS) - 1970) * 31_556_952
        return {"do": "touch", "path": self.random.choice(files), "time": when}

    def to_folder(self):
        files = self._there("file")
        if not files:
            return self.write()
        return {"do": "to-folder", "path": self.random.choice(files), "content": self._content()}

    def to_file(self):
        folders = self._there("folder")
        if not folders:
            return self.write()
        return {"do": "to-file", "path": self.random.choice(folders), "content": self._content()}

    def root(self):
        """A source folder goes away, comes back, or is swapped with the other."""
        return {"do": self.random.choice(("away", "back", "back")), "path": self.random.choice(ROOTS)}

    def swap_roots(self):
        return {"do": "swap", "path": ROOTS[0], "to": ROOTS[1]}

    def disk(self):
        if not self.may_mount:
            return self.write()
        how = self.random.choice(("mount", "mount", "unmount", "note"))
        return {"do": how, "path": MOUNT, "disk": self.random.choice((1, 1, 1, 2))}

    _SEEN = ((write, 30), (rewrite, 12), (move, 10), (swap, 5), (remove, 9), (move_folder, 4), (remove_folder, 2),
             (copy, 5), (link, 4), (pipe, 1), (to_folder, 2), (to_file, 2))
    _UNSEEN = ((mode, 3), (touch, 4), (year, 2))
    _FOLDERS = ((root, 2), (swap_roots, 1), (disk, 4))

    def choose(self, is_watched=False) -> dict:
        """- parameter is_watched: only changes that docs/watch.md promises to see."""
        kinds = self._SEEN
        if not is_watched:
            kinds += self._UNSEEN + tuple((kind, weight * self.focus) for kind, weight in self._FOLDERS)
        kind = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return kind(self) | ({"is_watched": True} if is_watched else {})


def apply(root: Path, step: dict, contents: list[bytes], disks):
    """Carries out a step, as far as its files are there."""
    # An error is that a name is taken, or that a folder would be moved into itself.
    with contextlib.suppress(OSError):
        _DO[step["do"]](root, step, contents, disks)


def _parent(path: Path):
    path.parent.mkdir(parents=True, exist_ok=True)


def _write(root, step, contents, disks):
    path = root / step["path"]
    if not (root / step["path"].split("/")[0]).is_dir():
        return
    _parent(path)
    # Within one tick of the clock, nothing could tell the new contents from the old.
    time.sleep(0.004)
    _unlink_if_unseen(path, step)
    there = entry(path)
    # A pipe would wait for a reader.
    if there and there.kind in ("link", "special"):
        path.unlink()
    path.write_bytes(contents[step["content"]])
    if step["time"] is not None:
        os.utime(path, (step["time"], step["time"]))


def _unlink_if_unseen(path, step):
    """Nothing tells a watch that a file is written through another of its hard links."""
    if step.get("is_watched") and os.path.isfile(path) and os.stat(path).st_nlink > 1:
        os.unlink(path)


def _rewrite(root, step, contents, disks):
    path = root / step["path"]
    # A pipe would wait for a reader.
    if (there := entry(path)) is None or there.kind == "special":
        return
    status = os.lstat(path)
    time.sleep(0.004)
    if step["is_new"]:
        new = path.with_name(".new")
        new.write_bytes(contents[step["content"]])
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        new.rename(path)
    else:
        _unlink_if_unseen(path, step)
        path.write_bytes(contents[step["content"]])
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _move(root, step, contents, disks):
    path, other = root / step["path"], root / step["to"]
    if path.is_symlink() or not path.exists() or step["to"].startswith(step["path"] + "/"):
        return
    _parent(other)
    path.rename(other)


def _swap(root, step, contents, disks):
    path, other = root / step["path"], root / step["to"]
    entries = entry(path), entry(other)
    if None in entries or f"{step['to']}/".startswith(f"{step['path']}/"):
        return
    if f"{step['path']}/".startswith(f"{step['to']}/"):
        return
    middle = root / "swapped"
    path.rename(middle)
    other.rename(path)
    middle.rename(other)


def _remove(root, step, contents, disks):
    path = root / step["path"]
    if path.is_dir() and not path.is_symlink():
        # A disk that is mounted in it is not emptied.
        if any(os.path.ismount(Path(top)) for top, _, _ in os.walk(path)):
            return
        shutil.rmtree(path)
    else:
        path.unlink()


def _copy(root, step, contents, disks):
    path, other = root / step["path"], root / step["to"]
    if other.exists() or other.is_symlink() or step["to"].startswith(step["path"] + "/"):
        return
    _parent(other)
    if path.is_dir():
        if not any(os.path.ismount(Path(top)) for top, _, _ in os.walk(path)):
            shutil.copytree(path, other, symlinks=True, ignore=_special)
    else:
        shutil.copy2(path, other)


def _special(folder, names):
    return [name for name in names if (there := entry(os.path.join(folder, name))) and there.kind == "special"]


def _link(root, step, contents, disks):
    path = root / step["path"]
    _parent(path)
    if step["is_hard"]:
        os.link(root / step["to"], path)
    else:
        path.symlink_to(root / step["to"])


def _pipe(root, step, contents, disks):
    _parent(root / step["path"])
    os.mkfifo(root / step["path"])


def _mode(root, step, contents, disks):
    if not (root / step["path"]).is_symlink():
        (root / step["path"]).chmod(step["mode"])


def _touch(root, step, contents, disks):
    if (root / step["path"]).is_file():
        os.utime(root / step["path"], (step["time"], step["time"]), follow_symlinks=False)


def _to_folder(root, step, contents, disks):
    path = root / step["path"]
    path.unlink()
    path.mkdir()
    (path / "b.jpg").write_bytes(contents[step["content"]])


def _to_file(root, step, contents, disks):
    path = root / step["path"]
    if os.path.lexists(path) and not path.is_dir():
        return
    _remove(root, step, contents, disks)
    path.write_bytes(contents[step["content"]])


def _away(root, step, contents, disks):
    if not (root / f"{step['path']}-away").exists() and not os.path.ismount(root / MOUNT):
        (root / step["path"]).rename(root / f"{step['path']}-away")


def _back(root, step, contents, disks):
    path = root / step["path"]
    if (root / f"{step['path']}-away").exists() and not path.exists():
        (root / f"{step['path']}-away").rename(path)


def _mount(root, step, contents, disks):
    if disks:
        (root / step["path"]).mkdir(exist_ok=True)
        disks.put(step["disk"], step["path"])


def _unmount(root, step, contents, disks):
    if disks:
        disks.take(step["path"])


def _note(root, step, contents, disks):
    """A file that is no photo, mostly where nothing is mounted."""
    note = root / step["path"] / "note.txt"
    if (root / step["path"]).is_dir() and not os.path.lexists(note):
        note.write_bytes(b"a note\n")


_DO = {"write": _write, "rewrite": _rewrite, "move": _move, "swap": _swap, "remove": _remove, "copy": _copy,
       "link": _link, "pipe": _pipe, "mode": _mode, "touch": _touch, "to-folder": _to_folder, "to-file": _to_file,
       "away": _away, "back": _back, "mount": _mount, "unmount": _unmount, "note": _note}
KINDS = frozenset(_DO)

assert all(is_hidden(name) for name in (".hidden.jpg", "lost+found"))
