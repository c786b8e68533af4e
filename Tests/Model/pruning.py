"""The rules of removing: what may be gone after a run, what must be, and why a run may refuse to remove."""

import os
import re

from case import IN_THE_WAY, Case
from tree import WORKING, below, is_named_picture, mirrored

from files import NOT_YET


def removed(case: Case, path: str, source: str | None, wanted) -> list[str]:
    # Whether a folder is needed in its place.
    needed = [place for places in wanted.values() for place in places]
    is_in_the_way = any(place.startswith(path + "/") for place in (*needed, *case.after))
    if source is None:
        # It was made by a run that did not live to tell.
        is_allowed = case.spec.prune or case.is_watch or is_in_the_way
        return [] if is_allowed else [f"kept: {path!r} is gone without --prune"]
    what = case.state(source)
    is_in = [folder for folder in case.spec.sources if below(source, folder)]
    if what == "gone" and (is_in_the_way or (is_in and _has_moved(case, path))):
        return []
    if not (case.spec.prune or case.is_watch):
        return [f"kept: {path!r} of {source!r} is gone without --prune"]
    if not is_in and case.is_watch and what != "there":
        return []  # a photo of the watch may have got the place, and have gone again
    if not is_in:
        return [f"kept: {path!r} was removed, and {source!r}, {what}, is in no source of the run"]
    if any(_is_refused(case, folder) for folder in is_in):
        return [f"kept: {path!r} was removed, although the run refused to"]
    if what == "there":
        # A size that the job does not have any more.
        # In a watch, it may have been gone for a while, and get its place no more, or be no sound photo any more.
        is_taken = case.events.get(source, {}).get("kind") in IN_THE_WAY
        is_refused = case.is_watch and (is_taken or not _is_sound(case, source))
        if path in wanted.get(source, ()) and not is_refused:
            return [f"kept: {path!r} was removed, and {source!r} is there"]
        return []
    # A watch may have seen that it went, before something else came there.
    if case.spec.prune == "force" or case.is_watch:
        return []
    if what != "gone":
        return [f"kept: {path!r} was removed, and {source!r} is only out of reach: {what}"]
    for folder in [*is_in, *(mount for mount in case.mounts if below(source, mount))]:
        if any(case.memories[out].is_other(case.root, folder) for out in case.spec.outs):
            return [f"kept: {path!r} was removed, and {folder!r}, where {source!r} was, is another folder or disk now"]
    if not case.is_watch and not any(case.state(other) == "there" for other in _ever(case) if below(other, is_in[0])):
        return [f"kept: {path!r} was removed, and none of the photos of {is_in[0]} is there"]
    return []


def _has_moved(case: Case, path: str) -> bool:
    """Whether a thumbnail of the same picture is in a place of the same output where none was."""
    before = case.thumbnails({path: case.before[path]})[path]
    new = {other: there for other, there in case.after.items() if other not in case.before}
    out = path.split("/")[0]
    return any(
        other.split("/")[0] == out and ours.pixels == before.pixels for other, ours in case.thumbnails(new).items())


def _is_sound(case: Case, source: str) -> bool:
    there = case.after.get(source)
    number = case.pool.number(there.data) if there else None
    return number is not None and case.learned.outcome(number, is_named_picture(os.path.basename(source))) == "made"


def _ever(case: Case) -> set[str]:
    return set().union(*(case.memories[out].ever for out in case.spec.outs))


def _is_refused(case: Case, folder: str) -> bool:
    return any(reason.startswith(f"{folder} ") or f"of {folder} " in reason for _, reason in _reasons(case))


_REFUSED = re.compile(
    r"thumbjob: --prune: (nothing|not everything) removed, because (.*?)(?:; --prune=(\w+) .*)?$", re.MULTILINE)


def _reasons(case: Case) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for result in case.results for found in _REFUSED.finditer(result.errors)]


def refusals(case: Case) -> list[str]:
    """A refusal to remove is justified by the rules."""
    return [f"refusal: {reason}" for _, reason in _reasons(case) if not _is_justified(case, reason)]


def _is_justified(case: Case, reason: str) -> bool:
    memories = [case.memories[out] for out in case.spec.outs]
    if reason == "not all sources could be read":
        return any(result.summary["walk_problems"] for result in case.results)
    if reason.startswith("ledger "):
        return any(memory.is_damaged for memory in memories)
    for folder in case.spec.sources:
        full = case.root / folder
        known = {path for out in case.spec.outs for path in case.memories[out].known if below(path, folder)}
        if reason.startswith(f"{folder} is empty"):
            return not os.listdir(full)
        if f"of {folder} was found" in reason:
            return not any(case.state(path) == "there" for path in known)
        if reason.startswith(f"{folder} is another folder"):
            return case.spec.prune != "force" and any(memory.may_be_other(case.root, folder) for memory in memories)
        if found := re.match(rf"(\d+) of (\d+) photos of {re.escape(folder)} are gone", reason):
            gone, total = int(found[1]), int(found[2])
            lost = {path for path in _ever(case) if below(path, folder) and case.state(path) == "gone"}
            # A photo that several ledgers have is counted more than once.
            several = any(len(list((case.root / out / WORKING).glob("ledger*"))) > 1 for out in case.spec.outs)
            is_right = several or len(case.spec.outs) > 1 or gone <= len(lost)
            return case.spec.prune == "yes" and 2 * gone > total and is_right
    return False


def pruned(case: Case) -> list[str]:
    """Nothing is left of sources that are gone, as far as the ledger has them."""
    memories = [case.memories[out] for out in case.spec.outs]
    if any(memory.is_damaged for memory in memories) or not all(result.is_quiet for result in case.results):
        return []
    if any(extent == "nothing" for extent, _ in _reasons(case)):
        return []
    known = set().union(*(memory.known for memory in memories))
    sizes = {""}.union(*(memory.sizes for memory in memories))
    found = []
    for path, ours in case.thumbnails(case.after).items():
        out, inner = path.split("/", 1)
        source = case.source_of(ours)
        # Where runs have mirrored other folders, the thumbnails of those stay.
        if "tree" in NOT_YET and len(case.memories[out].trees) > 1:
            continue
        if out not in case.spec.outs or source not in known or case.state(source) != "gone":
            continue
        folders = [folder for folder in case.spec.sources if below(source, folder)]
        if not folders or any(_is_refused(case, folder) for folder in folders):
            continue
        disks = [mount for mount in case.mounts if below(source, mount)]
        if any(memory.may_be_other(case.root, mount) for memory in memories for mount in disks):
            continue
        relative = case.spec.relative(source)
        places = {place for output in case.spec.outputs if output.out == out for place in output.places(relative)}
        places |= {f"{size}/{mirrored(relative)}".lstrip("/") for size in sizes}
        if inner in places:
            found.append(f"orphan: {path!r} is left, and {source!r} is gone")
    return found


def refused(case: Case) -> list[str]:
    """Why the run did not remove, in its words."""
    return [reason for _, reason in _reasons(case)]


def extents(case: Case) -> set[str]:
    """What it did not remove: `nothing` was removed, or `not everything`."""
    return {extent for extent, _ in _reasons(case)}
