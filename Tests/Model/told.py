"""What a run tells of its sources elsewhere: in the report, in the manifest, and beside a run into an empty folder."""

import os

from case import IN_THE_WAY, Case
from marks import thumbnail
from tree import Entry, is_named_picture

from runs import path_text


def reported(case: Case, lines: list[dict]) -> list[str]:
    """`thumbjob report` tells of each source of the run what became of it.

    - parameter lines: of `--json`, with `source` as a path below the scratch folder.
    """
    found, by_source = [], {line["source"]: line for line in lines}
    for source in case.sources:
        event, line = case.events.get(source), by_source.get(source)
        number = case.pool.number(case.after[source].data)
        if number is None:
            continue
        is_made = case.learned.outcome(number, is_named_picture(os.path.basename(source))) == "made"
        told = event["outcome"] if event else "up-to-date"
        if told == "failed" and event.get("kind") == "source":
            if not line or line["outcome"] != "failed":
                found.append(f"report: {source!r} has failed, and it says {line and line['outcome']}")
        elif is_made and told in ("made", "up-to-date"):
            if not line or line["outcome"] != "made":
                found.append(f"report: {source!r} is {told}, and it says {line and line['outcome']}")
        elif line and line["outcome"] == "failed" and told != "failed":
            found.append(f"report: {source!r} is {told}, and it says failed")
    return found


def listed(case: Case, manifest: dict, folder: str) -> list[str]:
    """The manifest has each photo with its thumbnails.

    - parameter folder: that of the manifest, from which its paths lead.
    """
    def path(value):
        return os.path.normpath(os.path.join(folder, path_text(value)))

    found = []
    entries = {path(line["source"]): line for line in manifest["sources"]}
    for source in case.sources:
        number = case.pool.number(case.after[source].data)
        if number is None:
            continue
        event = case.events.get(source)
        outcome = case.learned.outcome(number, is_named_picture(os.path.basename(source)))
        if event and event["outcome"] == "failed":
            outcome = "failed"
        line = entries.pop(source, None)
        if outcome == "passed-over":
            if line:
                found.append(f"manifest: {source!r} is no image, and is listed")
        elif line is None:
            found.append(f"manifest: {source!r} is not listed")
        elif outcome == "made":
            places = {f"{output.out}/{inner}" for output in case.spec.outputs
                      for inner in output.places(case.spec.relative(source))}
            there = {path(made["path"]) for made in line.get("thumbnails", ())}
            if there != places:
                found.append(f"manifest: {source!r} has {sorted(there)} instead of {sorted(places)}")
            elif "thumbhash" not in line or "width" not in line:
                found.append(f"manifest: {source!r} is not described")
        elif line.get("outcome") != outcome:
            found.append(f"manifest: {source!r} is {outcome}, and it says {line.get('outcome')}")
    return found + [f"manifest: {source!r} is listed, and is no source" for source in entries]


def like_fresh(case: Case, result, fresh: dict[str, Entry]) -> list[str]:
    """What a run into an empty folder has made is there, too, but for sources whose place is taken.

    - parameter fresh: the files of that folder, `fresh`.
    """
    found = []
    for source, event in result.by_source.items():
        told = case.events.get(source, {})
        if event["outcome"] != "made" or told.get("kind") in IN_THE_WAY:
            continue
        for made in event["thumbnails"]:
            path = path_text(made["path"])
            there = case.after.get(path.removeprefix("fresh/"))
            ours, wanted = there and case.is_ours(path.removeprefix("fresh/"), there), thumbnail(fresh[path].data)
            if not ours:
                found.append(f"fresh: {source!r} has no thumbnail {path!r}")
            elif ours.pixels != wanted.pixels and not _is_known(case, ours.pixels):
                found.append(f"fresh: {path!r} differs from that of a fresh run")
    return found


def _is_known(case: Case, pixels: bytes) -> bool:
    """Whether the pixels are those that a process of its own has decoded."""
    places = [(output, size) for output in range(len(case.spec.outputs)) for size in range(2)]
    known = [case.learned.pixels(number, *place) for number in range(len(case.pool.all)) for place in places]
    return any(pixels in one and len(one) > 1 for one in known)
