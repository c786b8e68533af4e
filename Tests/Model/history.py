"""What the model remembers of an output folder, beside the ledger that thumbjob keeps there."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from tree import WORKING, below


def identity(path) -> tuple[int, int] | None:
    """Which folder is at a path."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


@dataclass
class Memory:
    """One output folder.

    What the ledger has is known only within bounds: a run that was killed may or may not have written its last entries.
    """

    known: set[str] = field(default_factory=set)  # sources that the ledger has for certain
    ever: set[str] = field(default_factory=set)  # sources that it may have
    disks: dict[str, set] = field(default_factory=dict)  # the identities that it may have of each folder
    saved: dict[str, set] = field(default_factory=dict)  # those that the copy of the ledger may have
    copies: set[str] = field(default_factory=set)  # copies of thumbnails, which are not thumbjob's
    sizes: set[str] = field(default_factory=set)  # the folders of sizes that runs have used
    trees: set[tuple] = field(default_factory=set)  # the folders that runs have mirrored, and their patterns
    is_damaged: bool = False  # whether the ledger may be unreadable
    kills: int = 0  # runs that were killed since the last one that ended by itself

    def forget(self):
        """The ledger is lost, or is an older one."""
        self.known.clear()
        self.disks = {path: there | {None} for path, there in self.disks.items()}

    def restored(self):
        """The copy of the ledger has taken its place."""
        self.forget()
        self.is_damaged = False
        for path, there in self.saved.items():
            self.disks[path] = self.disks.get(path, {None}) | there

    def learn(self, result):
        """Learns from the events of a run what the ledger may have."""
        for source, event in result.by_source.items():
            if event["outcome"] in ("made", "failed"):
                self.ever.add(source)
            if event.get("kind") == "collision":
                self.known.discard(source)

    def saw(self, folder, sources, mounts, is_certain: bool, replaces: bool, has_parts=False):
        """Notes which disks a run has met.

        - parameter is_certain: whether the ledger has them now.
        - parameter replaces: whether others that it had are replaced.
        - parameter has_parts: whether the run was made in parts, whose ledgers may not know of others yet.
        """
        for path in [*sources, *(mount for mount in mounts if any(below(mount, source) for source in sources))]:
            now = identity(Path(folder, path))
            is_mount = path in sources or os.path.ismount(Path(folder, path))
            # A folder without photos that the ledger knows is no place of photos yet.
            if now is None or not is_mount or not any(below(source, path) for source in self.ever):
                continue
            is_certain = is_certain and any(below(source, path) for source in self.known)
            if (replaces and is_certain) or (path not in self.disks and is_certain):
                self.disks[path] = {now}
            elif path not in self.disks:
                self.disks[path] = {None, now}
            elif None in self.disks[path] or replaces or has_parts:
                self.disks[path] = self.disks[path] | {now}
                if is_certain and not has_parts:
                    self.disks[path] = self.disks[path] - {None}

    def replaced(self, folder, sources, mounts, is_certain: bool):
        """Notes that a run with --prune=force has met what is at the paths below its sources now.

        A disk that is not mounted is forgotten; another folder is remembered instead of the former.
        """
        for path in [path for path in self.disks if any(path == one or below(path, one) for one in sources)]:
            now = identity(Path(folder, path))
            if now is None:
                continue
            is_left = path in mounts and not os.path.ismount(Path(folder, path))
            left = {None if there is None or (is_left and there[0] != now[0]) else now for there in self.disks[path]}
            self.disks[path] = left if is_certain else self.disks[path] | left

    def may_be_other(self, folder, path) -> bool:
        """Whether the ledger may have another disk at a path than there is now."""
        now = identity(Path(folder, path))
        return any(there is not None and there != now for there in self.disks.get(path, ()))

    def is_other(self, folder, path) -> bool:
        """Whether the ledger has another disk at a path for certain."""
        there = self.disks.get(path, ())
        return len(there) == 1 and None not in there and self.may_be_other(folder, path)


LEFT = re.compile(r"^(settings.*|tree|ledger.*)$")


def leftovers(out: Path) -> list[str]:
    """What a run may not leave in an output folder."""
    found = []
    for top, folders, files in os.walk(out):
        inside = WORKING in Path(top).parts
        for name in [*files, *folders]:
            if (inside and not LEFT.match(name)) or (not inside and name.startswith(".thumbjob-")):
                found.append(str(Path(top, name).relative_to(out)))
    return sorted(found)
