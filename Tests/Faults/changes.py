"""What others do to the files while a job runs: a photo changes while it is read, the output folder vanishes.

Each change is made while a call waits (`wait` in fault.c), so it happens at the same moment in every run.
"""

import os
import shutil
from dataclasses import dataclass

import judge
import photos
from preload import Rule

_PHOTOS = ("photos/a.jpg", "photos/below/b.jpg", "photos/c.jpg")


@dataclass(frozen=True)
class Change:
    scene: str
    rule: Rule  # the call that waits
    what: str
    path: str  # of the file that changes
    act: object

    def __call__(self, folder):
        path = folder / self.path
        if not path.exists():
            return  # not yet
        self.act(path)
        if self.is_of_source and path.exists() and self.act is not _replace_alike:
            # As a change does it, but the same in each run.
            os.utime(path, (photos.MODIFIED + 20, photos.MODIFIED + 20))

    @property
    def is_of_source(self):
        return self.path.startswith("photos/")

    def __str__(self):
        return f"{self.scene}: {self.path} {self.what} at {self.rule.call} {self.rule.place} {self.rule.first}"


def _cut(path):
    os.truncate(path, path.stat().st_size // 2)


def _empty(path):
    os.truncate(path, 0)


def _append(path):
    with open(path, "ab") as file:
        file.write(bytes(4096))


def replace(path):
    new = path.with_name("new")
    new.write_bytes(photos.baseline(8))
    os.rename(new, path)


def _replace_alike(path):
    """By another photo with the same time of change, as a restored copy has it."""
    new = path.with_name("new")
    new.write_bytes(photos.baseline(9))
    os.utime(new, (photos.MODIFIED, photos.MODIFIED))
    os.rename(new, path)


def _overwrite(path):
    with open(path, "r+b") as file:
        file.write(photos.baseline(8))
        file.truncate()


def _remove_folder(path):
    """Again and again, because a thread of the program adds and removes a file of the ledger meanwhile."""
    while path.exists():
        shutil.rmtree(path, ignore_errors=True)


def _remove(path):
    if path.is_dir():
        _remove_folder(path)
    else:
        path.unlink()


def _move(path):
    path.rename(path.with_name("moved"))


def _become_file(path):
    _remove_folder(path)
    path.write_bytes(b"")


_OF_SOURCES = {
    "is cut to half": _cut, "is emptied": _empty, "grows": _append, "is replaced": replace,
    "is replaced by one of the same time": _replace_alike, "is overwritten": _overwrite, "is removed": _remove,
}
_OF_OUTPUTS = {"is removed": _remove, "is moved": _move, "becomes a file": _become_file}


def _waiting(call):
    return Rule(call.name, call.place, "wait", 0, call.number, call.number)


def changes_of(scene, log, is_sample):
    """All changes of a scene, given the log of its undisturbed run."""
    for path in _PHOTOS[:1] if is_sample else _PHOTOS:
        reads = [call for call in log.calls if call.place == path and call.name in ("open", "pread", "close")]
        moments = [reads[0], reads[1], reads[len(reads) // 2], reads[-2], reads[-1]]
        for what, act in _OF_SOURCES.items():
            for call in moments[2:3] if is_sample else moments:
                yield Change(scene.name, _waiting(call), what, path, act)
    out = scene.outs[0]
    for call in log.calls:
        if call.name not in ("create", "write", "rename", "mkdir") or not call.place.startswith(f"{out}/"):
            continue
        if is_sample and (call.name != "rename" or "/3.tmp" not in call.place):
            continue
        rule = _waiting(call)
        for what, act in _OF_OUTPUTS.items():
            yield Change(scene.name, rule, what, out, act)
        yield Change(scene.name, rule, "is removed", f"{out}/.thumbjob", _remove)


def changed_reference(place, scene, change):
    """What a job makes of the files as they are after a change: the results of a first and of a second run."""
    place.prepare(scene)
    if change.is_of_source:
        change(place.job)
    return place.run(scene), place.run(scene)


def problems(change, reference, changed, result, after):
    """What is wrong with a run during which something changed, and with the one after it."""
    if result.is_late:
        return ["it did not end in time"]
    if result.status < 0 or result.status not in judge.DOCUMENTED:
        return [f"it ended with {result.status}: {' / '.join(result.errors)[-300:]}"]
    found = []
    old, new = judge.steady_tree(reference.result.tree), judge.steady_tree(changed[0].tree)
    for path, (data, _) in judge.steady_tree(result.tree).items():
        whole = [tree[path][0] for tree in (old, new) if path in tree]
        if not change.is_of_source and data not in whole and path != change.path:
            found.append(f"{path} is not the thumbnail of its photo")
    found += [f"it left {path}" for path in judge.leftovers(result.tree)]
    if result.status != 0 and not any(line.startswith("thumbjob: ") for line in result.errors):
        found.append(f"it says nothing of the change: {result.errors}")
    expected = 73 if change.act is _become_file else changed[1].status
    if after.status != expected:
        found.append(f"the next run ends with {after.status} instead of {expected}: {after.errors[:2]}")
    if change.act is _become_file:
        return found  # for people to remove
    made = judge.steady_tree(after.tree)
    # The thumbnails of a photo that is gone, or that is damaged now, stay.
    wrong = {path for path, value in new.items() if made.get(path) != value} | (made.keys() - new.keys() - old.keys())
    found += [f"after the next run {path} is not the thumbnail of its photo" for path in sorted(wrong)]
    found += [f"the next run left {path}" for path in judge.leftovers(after.tree)]
    return found


def ending(change, reference, result, after):
    """What became of the run and of the next one, for the table."""
    if change.is_of_source:
        if result.status:
            return "the photo fails; the others are made"
        is_again = judge.steady_tree(after.tree) != judge.steady_tree(result.tree)
        return "it is made from what was read" + ("; the next run makes it again" if is_again else "")
    if result.status == 0:
        return "everything is made" if judge.is_complete(reference, result) else "everything is made there"
    return "the run does not start" if result.status == 73 else (
        "the run stops" if result.summary and result.summary["work_remains"] else "photos fail")
