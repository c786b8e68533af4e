"""What a job makes of all its thumbnails: a manifest, a contact sheet and a gallery; and the rules for these files.

Each is whole, and either the older one or one that agrees with the events of the run. What could not be made is named.
"""

import errno
import json
import re
from dataclasses import dataclass

import places


@dataclass(frozen=True)
class Join:
    kind: str  # as in its event
    option: str
    path: str  # as in the option
    name: str  # for people

    def has(self, path):
        return path == self.path or path.startswith(f"{self.path}/")


# Each is in a folder of its own, so that a file without a name is known by its folder.
_MANIFEST = Join("manifest", "--manifest", "manifest/m.json", places.OF_MANIFEST)
_SHEET = Join("contact-sheet", "--contact-sheet", "sheet/sheet.pdf", places.OF_SHEET)
_GALLERY = Join("gallery", "--html", "web", places.OF_GALLERY)
_DATA = "web/page/data.js"

JOINS = (_MANIFEST, _SHEET, _GALLERY)
PLACES = tuple(join.name for join in JOINS)
FOLDERS = tuple(join.path.split("/")[0] for join in JOINS)
ARGUMENTS = (*(word for join in JOINS for word in (join.option, join.path)), "--sheet-grid", "2x1")

_IN_PLACE = ("made", "up-to-date")
# Why one is not made although the run did not stop.
_WITHHELD = "it would lack photos that could not be read"
# With these the whole disk is at fault.
_DISK_FAULTS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def is_part(path):
    """Whether a file is one of these, and no temporary file."""
    return any(join.has(path) for join in JOINS) and not path.endswith(".tmp")


def outcomes(result):
    """What the events say of each, by kind."""
    kinds = {join.kind for join in JOINS}
    events = [event for event in result.events if isinstance(event, dict)]
    return {event["event"]: event for event in events if event["event"] in kinds}


def not_made(result):
    """The names of those that have failed, for people."""
    said = outcomes(result)
    return [join.name for join in JOINS if said.get(join.kind, {}).get("outcome") == "failed"]


def are_withheld(result):
    """Whether they were not made because they would lack photos."""
    return any(event.get("error") == _WITHHELD for event in outcomes(result).values())


def problems(scene, reference, fault, result):
    """What is wrong with them after a disturbed run: a list of lines."""
    if not scene.has_joins:
        return []
    found = []
    before = {path: value[0] for path, value in reference.before.items() if is_part(path)}
    said = outcomes(result)
    for join in JOINS:
        event = said.get(join.kind, {})
        outcome = event.get("outcome")
        paths = {*before, *result.joins, *(reference.result.joins if outcome in _IN_PLACE else ())}
        for path in sorted(filter(join.has, paths)):
            found += _of_file(reference, result, path, before.get(path), outcome)
        if outcome == "failed":
            found += _of_failure(scene, join, fault, result)
        elif _is_refused_late(join, fault):
            found.append(f"{join.name} is {outcome}, although its last bytes may not be on the disk")
        elif outcome in _IN_PLACE:
            if _lacks_photos(result):
                found.append(f"{join.name} is {outcome}, although it lacks photos that could not be read")
        elif event.get("error") == _WITHHELD:
            found += _of_withheld(join, result)
        elif result.status in (0, 1, 73) and result.summary:
            found.append(f"{join.name} is {outcome or 'not mentioned'}, and the exit status is {result.status}")
    return found


def _is_refused_late(join, fault):
    """Whether the disk refused the bytes only when the file was closed, as network file systems do."""
    place = fault.rules[0].place if fault.call == "close" else ""
    return fault.error in _DISK_FAULTS and place.endswith("/.thumbjob.tmp") and fault.place == join.name


def _lacks_photos(result):
    """Whether there may be photos that the run has not found."""
    summary = result.summary or {}
    return bool(summary.get("walk_problems") or summary.get("missing"))


def _of_withheld(join, result):
    found = []
    if not any(line.startswith("thumbjob: ") and join.path in line and _WITHHELD in line for line in result.errors):
        found.append(f"no line says why {join.name} was not made")
    if not _lacks_photos(result):
        found.append(f"{join.name} is not made for photos that could not be read, but all could be")
    return found


def _of_file(reference, result, path, old, outcome):
    value, expected = result.joins.get(path), reference.result.joins.get(path)
    if value is None:
        return [f"{path} is gone"] if old else [f"{path} is said to be in place, and is not there"]
    fault = _damage(path, value)
    if fault:
        return [f"{path} {fault}"]
    if outcome in _IN_PLACE:
        return [f"{path} {line}" for line in _differences(reference, result, path, value)]
    # Some files of a gallery that could not be completed are new.
    if value != old and not (_GALLERY.has(path) and outcome == "failed" and value == expected):
        return [f"{path} was replaced, but it is {outcome or 'not mentioned'}"]
    return []


def _of_failure(scene, join, fault, result):
    found = []
    start = f"thumbjob: {join.kind.replace('-', ' ')}: "
    # What it needs of each photo is stored in the output folder, and its thumbnails are there.
    files = (join.path,) if fault.place == join.name else (join.path, *scene.outs)
    if not any(line.startswith(tuple(start + file for file in files)) for line in result.errors):
        found.append(f"no line names {join.name}, which could not be made")
    expected = (74,) if fault.error in _DISK_FAULTS else (73, 74)
    if result.status not in expected:
        found.append(f"{join.name} could not be made, and the exit status is {result.status}")
    return found


# Contents


def _damage(path, value):
    """Why a file is not whole; None if it is."""
    try:
        if path == _MANIFEST.path:
            _entries(value)
        elif path == _DATA:
            _pictures(value)
    except (ValueError, KeyError, TypeError) as error:
        return f"is not whole: {error}"
    if path == _SHEET.path:
        # The end says where the table of objects is.
        end = re.search(rb"\nstartxref\n(\d+)\n%%EOF\n?$", value)
        if not value.startswith(b"%PDF-1.7") or not end or not value[int(end[1]) :].startswith(b"xref\n"):
            return "is not whole"
    return None


def _entries(manifest):
    """What a manifest says, by source."""
    sources = json.loads(manifest)["sources"]
    found = {entry["source"].removeprefix("../"): entry for entry in sources}
    if len(found) < len(sources):
        raise ValueError("it lists a source twice")
    return found


def _pictures(data):
    """What the list of a gallery says, by source."""
    begin, end = b"window.gallery=", b"};\n"
    if not data.startswith(begin) or not data.endswith(end):
        raise ValueError("it has no beginning or no end")
    gallery = json.loads(data[len(begin) : -2])
    return {f"photos/{entry['source']}": entry for entry in (*gallery["pictures"], *gallery["missing"])}


def _differences(reference, result, path, value):
    """How a file in place differs from that of the undisturbed run, other than the photos that have failed explain."""
    expected = reference.result.joins.get(path)
    if value == expected:
        return []
    failed = _failed(result) - _failed(reference.result)
    if path not in (_MANIFEST.path, _DATA):
        return [] if path == _SHEET.path and (failed or _has_marks(result)) else ["is not that of the undisturbed run"]
    read = _entries if path == _MANIFEST.path else _pictures
    entries, wanted = read(value), read(expected)
    lines = [f"does not list {source}" for source in sorted(wanted.keys() - entries.keys())]
    for source, entry in entries.items():
        if source in failed:
            if "thumbnails" in entry:
                lines.append(f"has thumbnails of {source}, which has failed")
        elif entry != wanted.get(source):
            lines.append(f"differs at {source}: {entry}")
    return lines


def _has_marks(result):
    """Whether the contact sheet has a mark in place of a thumbnail that could not be read, and a line says so."""
    warnings = outcomes(result)[_SHEET.kind].get("warnings", ())
    return bool(warnings) and all(
        any(_SHEET.path in line and warning in line for line in result.errors) for warning in warnings)


def _failed(result):
    """The sources without thumbnails of this run."""
    return {source for source, event in result.by_source.items() if event["outcome"] in ("failed", "cancelled")}
