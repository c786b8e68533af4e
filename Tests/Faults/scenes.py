"""The jobs that are disturbed. Together they make every kind of call that a run can make."""

import errno
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import joins
import photos
import places
from preload import FOREVER, Rule


@dataclass(frozen=True)
class Scene:
    name: str
    arguments: tuple[str, ...]
    what: str  # for people
    files: dict = field(hash=False, compare=False)  # the bytes of each source and of each other file, by path
    # What has happened since an earlier run of the same job; None if there was none.
    changes: object = None
    # Rules that hold in every run, also in the undisturbed one.
    always: tuple[Rule, ...] = ()
    folders: tuple[str, ...] = ()  # that are there before
    outs: tuple[str, ...] = ("thumbs",)
    status: int = 0  # of an undisturbed run
    # The names of places that this job is about; empty: all places. Calls about others fail only once, with one error:
    # other jobs have the rest.
    focus: tuple[str, ...] = ()

    @property
    def has_json(self):
        return "--json" in self.arguments

    @property
    def has_joins(self):
        return "--manifest" in self.arguments

    @property
    def written(self):
        """The folders that a run writes to."""
        return (*self.outs, *joins.FOLDERS) if self.has_joins else self.outs

    @property
    def photos(self):
        return {path for path in self.files if re.match(r"photos/.*\.(jpg|x3f|png|heic)$", path)}

    def lay_out(self, folder):
        """Writes the files into a new folder."""
        (folder / "run").mkdir(parents=True, mode=0o700)
        for name in self.folders:
            (folder / name).mkdir(parents=True)
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (photos.MODIFIED, photos.MODIFIED))


def copy(template, folder):
    """Copies a laid out job. Thumbnails get a later time of change than photos, as if a run had made them."""
    shutil.copytree(template, folder, ignore=lambda place, names: [
        name for name in names if Path(place) == template and name.startswith("thumbs")])
    outs = [path for path in template.iterdir() if path.name.startswith("thumbs")]
    if outs:
        _let_clock_tick(folder)
    for out in outs:
        shutil.copytree(out, folder / out.name, symlinks=True)
        _let_clock_tick(folder)


def _let_clock_tick(folder):
    """Waits until files that are changed from now on have a later time, by the clock of the file system."""
    probe = folder / "probe"
    probe.touch()
    start = probe.stat().st_ctime_ns
    while True:
        probe.touch()
        if probe.stat().st_ctime_ns > start:
            break
        time.sleep(0.001)
    probe.unlink()


_PHOTOS = {
    "photos/a.jpg": photos.baseline(),
    "photos/below/b.jpg": photos.progressive(),
    "photos/c.jpg": photos.arithmetic(),
    "photos/d.x3f": photos.UNREAD,
    "photos/notes.txt": b"words\n",
}
# A picture of one piece, one of tiles, and a JPEG file with a fault: what decoder processes decode.
_PICTURES = {
    "photos/a.jpg": photos.baseline(),
    "photos/b.png": photos.png(),
    "photos/below/c.heic": photos.heic(),
    "photos/d.jpg": photos.flawed(),
}


def replace_photo(folder):
    path = folder / "photos/a.jpg"
    path.write_bytes(photos.baseline(7))
    os.utime(path, (photos.MODIFIED + 10, photos.MODIFIED + 10))


def _changed(folder):
    """Since the last run a photo was replaced, a thumbnail removed, and a photo touched."""
    replace_photo(folder)
    (folder / "thumbs/below/b.jpg").unlink()
    os.utime(folder / "photos/c.jpg", (photos.MODIFIED, photos.MODIFIED))


def _other_settings(folder):
    """The settings of the last run are gone, so each thumbnail's own mark tells how it was made."""
    (folder / "thumbs/.thumbjob/settings").unlink()


_ONE = ("--max", "1", "--json", "--progress", "none")
_WITH_BROKEN = {**_PHOTOS, "photos/broken.jpg": photos.broken()}
_JOINS = ("photos", "-o", "thumbs", "-s", "100", *joins.ARGUMENTS, "--status", "off", *_ONE)
# What a file system does that has no files without a name.
_ALL_NAMED = Rule("create_unnamed", "*", "error", errno.EOPNOTSUPP, 1, FOREVER)

SCENES = (
    Scene(
        "new", ("photos", "-o", "thumbs", "-s", "small=48", "-s", "large=160", *_ONE),
        "a folder of photos of several kinds, in two sizes, with the private status socket", _PHOTOS),
    Scene(
        "again",
        ("photos", "-o", "thumbs", "-s", "100", "--durable", "--trace", "trace.json", "--status", "unix:sock", *_ONE),
        "the same after a photo was replaced and a thumbnail removed, with `--durable`, `--trace` and `--status`",
        _WITH_BROKEN, _changed, status=1),
    Scene(
        "marks", ("photos", "-o", "thumbs", "-s", "100", "--status", "off", *_ONE),
        "up-to-date thumbnails whose settings file is lost", _PHOTOS, _other_settings),
    Scene(
        "list",
        ("--files0-from", "list", "-o", "thumbs", "-s", "100", "--name", "%d/%s-small", "--status", "off", "-v",
         "--max", "1", "--progress", "none"),
        "a list of files, named by a pattern, with messages for people",
        {**_PHOTOS, "list": b"photos/a.jpg\0photos/below/b.jpg\0photos/c.jpg\0"}),
    Scene(
        "file", ("job.yml", "--status", "off", *_ONE),
        "a job file with two outputs, on a file system that has no files without a name",
        {**_PHOTOS, "job.yml": b"sources: photos\noutputs:\n  - {out: thumbs-a, size: 48}\n  - {out: thumbs-b, "
                               b"size: 160, progressive: yes}\n"},
        outs=("thumbs-a", "thumbs-b"), always=(_ALL_NAMED,)),
    Scene(
        "across", ("photos", "-o", "thumbs", "-s", "100", "--status", "off", *_ONE),
        "an output folder with a subfolder on another file system, both without such files", _PHOTOS,
        folders=("thumbs/below",),
        always=(
            _ALL_NAMED,
            Rule("rename", "thumbs/.thumbjob/run-*.tmp -> thumbs/below/*.jpg", "error", errno.EXDEV, 1, FOREVER))),
    Scene(
        "joins", _JOINS, "a manifest, a contact sheet and a gallery of photos, one of which is broken", _WITH_BROKEN,
        status=1, focus=(*joins.PLACES, places.OF_ENTRIES, "a thumbnail")),
    Scene(
        "pictures", ("photos", "-o", "thumbs", "-s", "40", "--status", "off", *_ONE),
        "pictures of other formats, and a photo with a flaw, which decoder processes decode", _PICTURES,
        focus=(places.OF_DECODERS, places.OF_DECODER_MEMORY, places.OF_DECODER_PROGRAM)),
    Scene(
        "joins-again", (*_JOINS, "-s", "small=48"), "the same, with a second size, after a photo was replaced",
        _WITH_BROKEN, replace_photo, status=1, focus=(*joins.PLACES, "a thumbnail")),
    Scene(
        "joins-named", _JOINS, "the same on a file system that has no files without a name", _WITH_BROKEN, status=1,
        focus=(places.OF_MANIFEST, places.OF_SHEET, places.OF_ENTRIES),
        always=(_ALL_NAMED,)),
)
