"""The steps that change output folders from outside: thumbnails, ledgers, and files of others there."""

import contextlib
import os
import random
import shutil
from pathlib import Path

from marks import thumbnail
from tree import WORKING

OUTS = ("t0", "t1", "t2")
SMALL = "t2"
_NAMES = ("a.jpg", "photos", "small", "2024", "256/a.jpg", "notes.txt", "scan.png.jpg", "2024/b.jpg")


class OutChooser:
    """Chooses steps that change output folders."""

    def __init__(self, generator: random.Random, may_mount: bool):
        self.random, self.may_mount = generator, may_mount

    def choose(self) -> dict:
        kinds = ((self._thumbnail, 10), (self._foreign, 3), (self._ledger, 4), (self._copy, 2), (self._lost, 1))
        kinds += ((self._fill, 3),) if self.may_mount else ()
        return self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()

    def _out(self) -> str:
        return self.random.choices(OUTS, (6, 3, 2))[0]

    def _thumbnail(self):
        how = self.random.choice(("remove", "empty", "cut", "touch", "mode", "swap"))
        return {"do": "thumbnail", "out": self._out(), "how": how, "nth": self.random.randrange(1000)}

    def _foreign(self):
        return {"do": "foreign", "out": self._out(), "path": self.random.choice(_NAMES),
                "content": self.random.choice((0, 30, 33)), "is_removed": self.random.random() < 0.6}

    def _ledger(self):
        how = self.random.choice(("remove", "remove", "cut", "flip", "save", "save", "restore"))
        return {"do": "ledger", "out": self._out(), "how": how, "at": self.random.random()}

    def _copy(self):
        return {"do": "copy-thumbnail", "out": self._out(), "nth": self.random.randrange(1000),
                "to": self.random.choice(("out", "photos/thumb.jpg", "more/thumb.jpg"))}

    def _lost(self):
        return {"do": "lost", "out": self._out(), "what": self.random.choice((WORKING, "settings", "tree", ""))}

    def _fill(self):
        return {"do": self.random.choice(("fill", "unfill")), "left": self.random.choice((0, 0, 1, 2, 4, 8, 16, 32))}


def _thumbnails(world, out: str) -> list[Path]:
    found = []
    for top, folders, files in os.walk(world.root / out):
        if WORKING in folders:
            folders.remove(WORKING)
        for name in files:
            path = Path(top, name)
            is_copy = str(path.relative_to(world.root)) in world.memories[out].copies
            if not is_copy and not path.is_symlink() and thumbnail(path.read_bytes()):
                found.append(path)
    return sorted(found)


def _change_thumbnail(world, step):
    found = _thumbnails(world, step["out"])
    if not found:
        return
    path = found[step["nth"] % len(found)]
    match step["how"]:
        case "remove":
            path.unlink()
        case "empty":
            os.truncate(path, 0)
        case "cut":
            os.truncate(path, 200)
        case "touch":
            os.utime(path, (1_500_000_000, 1_500_000_000))
        case "mode":
            path.chmod(0o600)
        case "swap":
            other = found[step["nth"] // 7 % len(found)]
            middle = path.with_name("swapped")
            path.rename(middle)
            if other != path:
                other.rename(path)
                middle.rename(other)
            else:
                middle.rename(path)


def _foreign(world, step):
    """A file of others, perhaps in the place of a thumbnail; or all of them go."""
    path = world.root / step["out"] / step["path"]
    if step["is_removed"]:
        for other in _NAMES:
            there = world.root / step["out"] / other
            if there.is_file() and not thumbnail(there.read_bytes()):
                there.unlink()
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(world.pool.all[step["content"]])


def _ledger(world, step):
    memory, kept = world.memories[step["out"]], world.root / "kept" / step["out"]
    folder = world.root / step["out"] / WORKING
    ledgers = list(folder.glob("ledger*")) if folder.is_dir() else []
    match step["how"]:
        case "remove":
            for path in ledgers:
                path.unlink()
            memory.forget()
            memory.is_damaged = False
        case "cut" | "flip":
            for path in ledgers:
                size = path.stat().st_size
                if step["how"] == "cut":
                    os.truncate(path, int(size * step["at"]))
                elif size:
                    with path.open("r+b") as file:
                        file.seek(int(size * step["at"]))
                        byte = file.read(1)
                        file.seek(-1, os.SEEK_CUR)
                        file.write(bytes([byte[0] ^ 0xFF]))
            memory.forget()
            memory.is_damaged = bool(ledgers)
        case "save":
            if not memory.is_damaged:
                shutil.rmtree(kept, ignore_errors=True)
                kept.mkdir(parents=True)
                for path in ledgers:
                    shutil.copy2(path, kept)
                memory.saved = dict(memory.disks)
        case "restore":
            if kept.is_dir() and folder.is_dir():
                for path in ledgers:
                    path.unlink()
                for path in kept.iterdir():
                    shutil.copy2(path, folder)
                memory.restored()


def _copy_thumbnail(world, step):
    found = _thumbnails(world, step["out"])
    if not found:
        return
    path = found[step["nth"] % len(found)]
    if step["to"] == "out":
        other = world.root / step["out"] / f"copied-{step['nth'] % 5}.jpg"
        world.memories[step["out"]].copies.add(str(other.relative_to(world.root)))
    else:
        other = world.root / step["to"]
    if other.parent.is_dir() and (other.is_file() or not os.path.lexists(other)) and not other.is_symlink():
        shutil.copy2(path, other)


def _lost(world, step):
    """The folder of thumbjob's own files is removed, one of them, or all that is in the output folder."""
    out, memory = world.root / step["out"], world.memories[step["out"]]
    if step["what"] in (WORKING, ""):
        shutil.rmtree(out / WORKING, ignore_errors=True)
        memory.forget()
        memory.is_damaged = False
        # Nothing tells any more in which folders there are thumbnails of other sizes.
        memory.sizes.clear()
    else:
        (out / WORKING / step["what"]).unlink(missing_ok=True)
    if step["what"] == "":
        for name in os.listdir(out) if out.is_dir() else ():
            path = out / name
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        memory.copies.clear()


def _fill(world, step):
    if not world.disks:
        return
    filler = world.root / SMALL / "filler"
    filler.unlink(missing_ok=True)
    with filler.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), bytes(4096))
        except OSError:
            pass
        file.truncate(max(0, os.fstat(file.fileno()).st_size - 4096 * step["left"]))


def _unfill(world, step):
    (world.root / SMALL / "filler").unlink(missing_ok=True)


_DO = {"thumbnail": _change_thumbnail, "foreign": _foreign, "ledger": _ledger, "copy-thumbnail": _copy_thumbnail,
       "lost": _lost, "fill": _fill, "unfill": _unfill}
KINDS = frozenset(_DO)


def apply(world, step):
    # An error is that what it would change is not there.
    with contextlib.suppress(OSError):
        _DO[step["do"]](world, step)
