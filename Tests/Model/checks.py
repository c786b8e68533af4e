"""What must hold after a run. Each check gives lines that begin with the name of the rule that is broken."""

import os
from collections import defaultdict
from pathlib import Path

from case import IN_THE_WAY, Case, wanted_places
from history import leftovers
from marks import key
from pruning import pruned, refusals, removed
from tree import WORKING, Entry, below, is_named_jpeg, is_named_picture

from files import NOT_YET, ROOTS

# More runs that died than this, and a source may be taken for their cause.
_MOST_DEATHS = 3


def problems(case: Case) -> list[str]:
    """Everything that is wrong after a run that ended by itself."""
    found = untouched(case)
    if not case.spec.follows:
        found += current(case) + counted(case)
    found += kept(case)
    if case.spec.prune:
        found += refusals(case) + pruned(case)
    for out in case.spec.outs:
        found += [f"leftover: {out}/{path}" for path in leftovers(case.root / out)]
    return found


def untouched(case: Case) -> list[str]:
    """Nothing of others has changed: sources, and all that is in the output folders without being thumbjob's."""
    found = []
    for path, there in case.before.items():
        in_output = case.memory_of(path) is not None
        if in_output and (there.kind == "folder" or case.is_ours(path, there) or _is_empty(there)):
            continue
        now = case.after.get(path)
        if now is None:
            found.append(f"others: {path!r} is gone")
        elif now != there:
            found.append(f"others: {path!r} has changed: {_difference(there, now)}")
    for path, now in case.after.items():
        is_new = path not in case.before and now.kind != "folder"
        if is_new and not case.is_ours(path, now):
            found.append(f"others: {path!r} is new and is no thumbnail")
    return found


def _is_empty(there: Entry) -> bool:
    """An empty file in an output folder may be what a crash of the system has left of a thumbnail."""
    return there.kind == "file" and not there.data


def _difference(there: Entry, now: Entry) -> str:
    names = ("kind", "mode", "modified", "data")
    return ", ".join(name for name in names if getattr(there, name) != getattr(now, name))


def current(case: Case) -> list[str]:
    """Every source has exactly the thumbnails of its contents now, or is named."""
    found, replaced = [], _replaced(case)
    for source in case.sources:
        event, data = case.events.get(source), case.after[source].data
        number = case.pool.number(data)
        if number is None:
            continue  # a thumbnail among the photos
        outcome = case.learned.outcome(number, is_named_picture(os.path.basename(source)))
        told = event["outcome"] if event else None
        if told == "failed" and event.get("kind") in IN_THE_WAY:
            found += _in_the_way(case, source, event)
        elif outcome == "made":
            # A watch does not say that a photo which failed is up to date again.
            if told == "failed" and not (case.is_watch and not _right(case, source, number)):
                deaths = max(case.memories[out].kills for out in case.spec.outs)
                if not ("died" in event["error"] and deaths >= _MOST_DEATHS):
                    found.append(f"refused: the sound {source!r} failed: {event['error']}")
            elif source not in replaced:
                found += _right(case, source, number)
        elif told != outcome and not case.is_watch:
            found.append(f"named: {source!r} should be {outcome}, and the run tells {told}")
    return found


def _replaced(case: Case) -> set[str]:
    """The sources whose thumbnails another share may replace: with --force, the last one with a place gets it."""
    if len(case.results) == 1 or "--force" not in case.spec.flags:
        return set()
    owners = defaultdict(set)
    for source, places in wanted_places(case).items():
        for place in places:
            owners[place].add(source)
    return set().union(*(sources for sources in owners.values() if len(sources) > 1))


def _right(case: Case, source: str, number: int) -> list[str]:
    found = []
    for index, output in enumerate(case.spec.outputs):
        for size, inner in enumerate(output.places(case.spec.relative(source))):
            path = f"{output.out}/{inner}"
            there = case.after.get(path)
            ours = there and case.is_ours(path, there)
            if not ours:
                found.append(f"missing: {source!r} has no thumbnail {path!r}")
                continue
            if ours.pixels not in case.learned.pixels(number, index, size):
                found.append(f"stale: {path!r} is not the thumbnail of {source!r} as it is now")
            elif there.modified not in _times(case, case.after[source].modified):
                found.append(f"stale: {path!r} does not have the time of {source!r}")
            named = case.source_of(ours)
            if ours.key != key(source) and not (named and is_same(case.root / named, case.root / source)):
                found.append(f"mark: {path!r} names {named!r}, and is that of {source!r}")
    return found


def _times(case: Case, modified: int) -> tuple[int, int]:
    """The times that the thumbnail of a photo may have: that of the photo, or the nearest that its disk can keep."""
    probe = case.root.parent / "time"
    probe.touch()
    os.utime(probe, ns=(modified, modified))
    return modified, os.stat(probe).st_mtime_ns


def _in_the_way(case: Case, source: str, event: dict) -> list[str]:
    """Whether something has the place of a source that failed for this reason."""
    rival, seen = source.removesuffix(".jpg"), []
    if rival != source and not is_named_jpeg(rival) and rival in case.after and _is_picture(case, case.after[rival]):
        return []
    for output in case.spec.outputs:
        for inner in output.places(case.spec.relative(source)):
            path = f"{output.out}/{inner}"
            # What had the place may have been removed at the end of the run.
            there = case.after.get(path) or case.before.get(path)
            if there is None and not _is_blocked(case, path):
                continue
            ours = there and case.is_ours(path, there)
            if not ours:
                return []  # a file of others, or a folder
            owner, memory = case.source_of(ours), case.memories[output.out]
            # Whose thumbnail it is may be known to no ledger.
            is_known = owner and any(owner in case.memories[out].known for out in case.spec.outs)
            seen.append(f"{path!r} is that of {owner!r}: {owner and case.state(owner)}")
            folders = [folder for folder in (*case.mounts, *ROOTS) if owner and below(owner, folder)]
            if any(memory.may_be_other(case.root, folder) for folder in folders):
                return []  # the disk with the photo may be out of reach
            # A watch does not look again at a photo because another one, which it does not watch, is gone.
            is_anothers = owner != source and case.state(owner) != "gone"
            if is_anothers or not is_known or has_other_ledgers(case) or memory.is_damaged or case.is_watch:
                return []
    return [f"refused: nothing has the place of {source!r}; {'; '.join(seen)}: {event['error']}"]


def has_other_ledgers(case: Case) -> bool:
    """Whether the output folders have other ledgers than that of the run, which it does not ask yet."""
    count = sum(len(list((case.root / out / WORKING).glob("ledger*"))) for out in case.spec.outs)
    return "other-ledgers" in NOT_YET and count > 1


def _is_picture(case: Case, there: Entry) -> bool:
    """Whether a file is a picture, perhaps a damaged one. A sound one of its name would have a thumbnail."""
    number = case.pool.number(there.data)
    return there.kind == "file" and number is not None and case.learned.outcome(number, False) != "passed-over"


def _is_blocked(case: Case, path: str) -> bool:
    above = os.path.dirname(path)
    while above:
        there = case.after.get(above)
        if there and there.kind != "folder":
            return True
        above = os.path.dirname(above)
    return False


def counted(case: Case) -> list[str]:
    """The summary counts what there is."""
    if len(case.results) != 1 or case.is_watch:
        return []
    summary = case.results[0].summary
    wanted = {
        "found": len(case.sources), "hidden": sum(walked.hidden for walked in case.walks),
        "links_not_followed": sum(walked.links for walked in case.walks),
        "special_files": sum(walked.special for walked in case.walks)}
    return [f"summary: it says {name} {summary[name]}, and there are {count}"
            for name, count in wanted.items() if summary[name] != count]


def kept(case: Case) -> list[str]:
    """No thumbnail of a source that is there is lost, neither removed nor replaced by that of another source."""
    found = []
    after, wanted = case.thumbnails(case.after), wanted_places(case)
    for path, ours in case.thumbnails(case.before).items():
        source, now = case.source_of(ours), after.get(path)
        is_of_run = path.split("/")[0] in case.spec.outs
        if not is_of_run:
            if case.after.get(path) != case.before[path]:
                found.append(f"kept: {path!r} is in no output of the run, and has changed")
        elif now is None:
            found += removed(case, path, source, wanted)
        elif case.first is not None and source not in case.first:
            continue
        elif now.key != ours.key and source and case.state(source) == "there" and "--force" not in case.spec.flags:
            # Without the ledger, a thumbnail of the same contents may be that of a photo that was moved.
            is_known = source in case.memory_of(path).known and not has_other_ledgers(case)
            if now.pixels == ours.pixels and not is_known:
                continue
            loses = case.events.get(source, {}).get("kind") == "collision" or source in case.sources
            if not ((loses and path not in wanted.get(source, ())) or case.events.get(source, {}).get("kind")):
                other = case.source_of(now)
                if other and is_same(case.root / source, case.root / other):
                    continue
                found.append(f"kept: {path!r} was that of {source!r}, which is there, and is that of {other!r} now")
    return found


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file: one of them is a link, or a disk is mounted twice."""
    return one.exists() and other.exists() and os.path.samefile(one, other)
