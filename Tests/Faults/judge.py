"""The rules that every disturbed run must keep, and a word for how it ended."""

import json
import os
import re
from dataclasses import dataclass

import joins

DOCUMENTED = {0, 1, 64, 65, 66, 69, 71, 73, 74, 75}
# Each source is counted in exactly one of these.
_COUNTS = (
    "made", "up_to_date", "failed", "cancelled", "duplicates", "not_read", "own_thumbnails", "passed_over",
    "would_make",
)
# The temporary name of a manifest, of a contact sheet or of a file of a gallery.
_NAMED = re.compile(r"/\.thumbjob(-\d+-\d+)?\.tmp$")
# Where a file system has no files without a name, a file has such a name for the moment until it is unlinked.
_UNLINKED = re.compile(r"/\.thumbjob-\d+-\d+\.tmp$")


@dataclass
class Reference:
    """A scene as it is and goes without a fault."""

    before: dict  # the files before the run
    result: object
    after: object  # the result of a second run


def steady_tree(tree):
    """The files of the output folders as they should be in the end. How the settings are kept is not part of it."""
    return {path: value for path, value in tree.items() if "/.thumbjob/" not in path}


def is_complete(reference, result):
    """Whether the thumbnails, and what is made of them, are those of the undisturbed run."""
    return has_thumbnails(reference, result) and result.joins == reference.result.joins


def has_thumbnails(reference, result):
    """Whether the thumbnails are those of the undisturbed run."""
    return steady_tree(result.tree) == steady_tree(reference.result.tree)


def ends_alike(reference, result):
    """Whether a run ends as the undisturbed one does. It may have made what was up to date."""
    expected = reference.result
    failures = [(run.summary or {}).get("failed", 0) + (run.summary or {}).get("walk_problems", 0)
                for run in (expected, result)]
    return result.status == expected.status and failures[0] == failures[1] and is_complete(reference, result)


def leftovers(tree):
    """What a run may not leave in an output folder."""
    rest = re.compile(r"\.thumbjob/(?!settings|tree$|ledger)|/\.thumbjob-run-|\.tmp$")
    return sorted(path for path in tree if rest.search(path))


def problems(scene, reference, fault, result):
    """What is wrong with a disturbed run: a list of lines."""
    if result.is_late:
        return ["it did not end in time"]
    if is_known_end(fault, result):
        return []
    if result.status < 0:
        return [f"it was ended by signal {-result.status}: {' / '.join(result.errors)[-300:]}"]
    if result.status not in DOCUMENTED:
        return [f"the exit status {result.status} is not documented: {' / '.join(result.errors)[-300:]}"]
    found = []
    if fault.is_invisible and not is_same(reference, result):
        found.append(f"it differs from the undisturbed run: {difference(reference, result)}")
    found += _of_tree(scene, reference, fault, result)
    found += _of_status(scene, reference, fault, result)
    found += _of_message(reference, fault, result)
    found += joins.problems(scene, reference, fault, result)
    if result.trace is not None and result.status in (0, 1) and not _is_json(result.trace):
        found.append("the trace is no JSON")
    return found


def _is_json(data):
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


# SwiftNIO, with which the status endpoint is made, ends the process where the system gives it no event queue or thread.
_OF_NIO = ("epoll_create", "eventfd", "timerfd_create", "epoll_ctl", "pthread_create")


def is_known_end(fault, result):
    """Whether the process was ended as docs/faults.md says."""
    return fault.call in _OF_NIO and result.status in (-4, -5) and any("NIOPosix/" in line for line in result.errors)


def is_same(reference, result):
    """Whether a run does, and says on standard output, the same as the undisturbed one.

    A source that is not tried may be told of before or after one that is being made.
    """
    told, expected = (sorted(map(str, run.events)) for run in (result, reference.result))
    return result.status == reference.result.status and told == expected and is_complete(reference, result)


def difference(reference, result):
    expected = reference.result
    parts = []
    if result.status != expected.status:
        parts.append(f"exit status {result.status} instead of {expected.status}")
    lines = [str(event) for event in result.events if event not in expected.events]
    lines += [f"missing: {event}" for event in expected.events if event not in result.events]
    parts += lines[:2]
    paths = {path for path, value in steady_tree(result.tree).items() if steady_tree(expected.tree).get(path) != value}
    paths |= steady_tree(expected.tree).keys() - result.tree.keys()
    made, wanted = result.joins, expected.joins
    paths |= {path for path in made.keys() | wanted.keys() if made.get(path) != wanted.get(path)}
    parts += [f"other files: {', '.join(sorted(paths))}"] if paths else []
    return "; ".join(parts + result.errors[:2])


def _of_tree(scene, reference, fault, result):
    found = []
    expected, before = steady_tree(reference.result.tree), reference.before
    for path, value in steady_tree(result.tree).items():
        if path not in leftovers(result.tree) and value not in (expected.get(path), before.get(path)):
            found.append(f"{path} is neither the thumbnail of the undisturbed run nor the older one")
    if not _may_be_gone(scene, fault):
        found += [f"the thumbnail {path} is gone" for path in steady_tree(before)
                  if path.split("/")[0] in scene.outs and path not in result.tree]
    if not _may_leave(fault):
        found += [f"it left {path}" for path in [*leftovers(result.tree), *result.rest]]
    for path in scene.files:
        if result.sources.get(path) != before[path]:
            found.append(f"it changed the source {path}")
    for event in result.by_source.values():
        if event["outcome"] == "made":
            found += [f"{made['path']} was made, and is not there" for made in event["thumbnails"]
                      if result.tree.get(made["path"]) != expected.get(made["path"])]
    return found


def _may_be_gone(scene, fault):
    """With --durable, a thumbnail that is in place is removed again if the disk does not have its name."""
    return "--durable" in scene.arguments and fault.place == "an output folder" and fault.call in ("open", "fsync")


def _may_leave(fault):
    """Whether the fault keeps the run from removing its files. The next run does."""
    is_lasting = fault.kind == "EROFS from then on"
    return is_lasting or fault.call == "unlink" or (fault.place, fault.call) == ("the socket's place", "stat") or (
        fault.place == "the run's own folder" and fault.call in ("open", "fstat", "fdopendir", "readdir"))


def _of_status(scene, reference, fault, result):
    found = []
    status, summary = result.status, result.summary
    if status == 0 and not is_complete(reference, result):
        found.append(f"the exit status is 0, but not everything is made: {difference(reference, result)}")
    if not scene.has_json:
        return found
    if summary is None:
        if status in (0, 1, 75):
            found.append(f"the exit status is {status}, but there is no summary")
        return found
    if summary["exit_status"] != status and fault.place != "standard output":
        found.append(f"the summary says exit status {summary['exit_status']}, and it is {status}")
    total = sum(summary[name] for name in _COUNTS)
    if total != summary["found"]:
        found.append(f"the summary does not add up: {total} instead of {summary['found']}")
    outcomes = [event["outcome"] for event in result.by_source.values()]
    if fault.place != "standard output":
        found += [f"{outcomes.count(name)} sources are {name}, and the summary says {summary[name]}"
                  for name in ("made", "failed", "cancelled") if outcomes.count(name) != summary[name]]
    is_bad = summary["failed"] or summary["walk_problems"] or summary["missing"]
    if status == 0 and (is_bad or summary["work_remains"]):
        found.append("the exit status is 0, but the summary has failures or work that remains")
    if status == 1 and not is_bad:
        found.append("the exit status is 1, but the summary has no failure")
    if status == 75 and not summary["work_remains"]:
        found.append("the exit status is 75, but no work remains")
    return found


def problems_of_next(reference, fault, after):
    """The next run must make everything that is missing, and remove what is left."""
    found = []
    if after.status != reference.after.status:
        found.append(f"the next run ends with {after.status}: {after.errors[:3]}")
    if not is_complete(reference, after):
        found.append("the next run does not make everything right")
    left = [*leftovers(after.tree), *after.rest]
    return found + [f"the next run left {path}" for path in left if not _may_stay(fault, path)]


def _may_stay(fault, path):
    """Whether a file could not be unlinked at once. Its name is that of one process, and no later run can tell it from
    a file that another run is just writing, so it stays."""
    is_of_unlink = fault.call == "unlink" and fault.rules[0].place.endswith("/.thumbjob-*.tmp")
    return _UNLINKED.search(path) and (is_of_unlink or fault.kind == "EROFS from then on")


def left_in_words(paths):
    """What a run has left, for the table. The next run removes it."""
    def word(path):
        if path.endswith("sock"):
            return "the socket"
        if "/.thumbjob/" in path:
            return "the run's own folder"
        return "a temporary file" if _NAMED.search(path) else "another file"
    words = {word(path) for path in paths}
    if not words:
        return "nothing"
    stays = any(_UNLINKED.search(path) and "/.thumbjob/" not in path for path in paths)
    return " and ".join(sorted(words)) + ("" if stays else ", until the next run")


def new_lines(reference, result):
    """The lines of standard error that the undisturbed run does not have, but for figures."""
    def plain(line):
        # A run that takes a second says how fast it was.
        return re.sub(r"[\d.]+( [kKMG]i?B)?", "#", re.sub(r", [\d.]+ a second", "", line))
    expected = {plain(line) for line in reference.result.errors}
    return [line for line in result.errors if plain(line) not in expected]


def _of_message(reference, fault, result):
    """A run that ends otherwise must say why, and name the file."""
    lines = new_lines(reference, result)
    if ends_alike(reference, result) or fault.error is None or fault.place == "standard error":
        return []
    if result.status == 75 and any("run the same command again" in line for line in lines):
        return []  # the source was missing only for a moment
    text = os.strerror(fault.error)
    said = [line for line in lines if line.startswith("thumbjob: ")]
    if not said:
        return [f"it says nothing of the fault: {difference(reference, result)}"]
    if not any(text in line for line in said) and not _says_otherwise(fault, said):
        return [f"it does not say “{text}”: {' / '.join(said)}"]
    return []


# Where the system's words would help less than others do.
_OTHER_WORDS = (
    ("ENOENT", "no such file or folder|disappeared during the walk|no such job file|leads nowhere|working folder|"
               "was removed while the run|decoder was not found"),
    ("EACCES", "decoder was not found|may not be executed"),
    ("EAGAIN", "thread"),
    ("EADDRINUSE", "in use by another process"),
    ("EMFILE", "too many open files|Too many open files"),
)


def _says_otherwise(fault, said):
    return any(fault.kind == kind and re.search(words, line) for kind, words in _OTHER_WORDS for line in said)


def ending(reference, fault, result):
    """How a run ended, for the table."""
    if is_known_end(fault, result):
        return "SwiftNIO ends the process"
    if is_same(reference, result):
        return "a message; everything is made" if new_lines(reference, result) else "nothing changes"
    if ends_alike(reference, result):
        return "everything is made, also what was up to date"
    if not result.summary and (64 <= result.status <= 73 or (result.status == 74 and not _has_made(reference, result))):
        return "the run does not start; what an earlier one has made stays"
    if is_complete(reference, result):
        return "everything is made, and the run ends with an error"
    if any("run the same command again" in line for line in result.errors):
        return "the run stops"
    if joins.are_withheld(result):
        return "it is named; thumbnails are made, nothing is made of all of them, and an older one stays"
    if joins.not_made(result) and has_thumbnails(reference, result):
        return "it is not made, and an older one stays; everything else is made"
    # What is made of all thumbnails is only mentioned if it did.
    if not joins.outcomes(result) and (
            64 <= result.status <= 73 or (result.status == 74 and not _has_made(reference, result))):
        return "the run does not start; what an earlier one has made stays"
    if _failed(result) <= _failed(reference.result):
        return "it is named; everything else is made"
    return "the photo fails; the others are made"


def _failed(result):
    """How many photos have failed."""
    if result.summary:
        return result.summary["failed"]
    return sum(line.startswith("thumbjob: photos/") for line in result.errors)


def _has_made(reference, result):
    return any(reference.before.get(path) != value for path, value in steady_tree(result.tree).items())


def shown_status(reference, result):
    """The exit status for the table: 0 if it is that of the undisturbed run."""
    if result.status < 0:
        return "a signal"  # which one depends on the processor
    return "0" if ends_alike(reference, result) else str(result.status)
