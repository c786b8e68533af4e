"""Is what thumbjob made of a picture what other programs make of it? And which differences are known, with a reason?

A verdict is one of:
  same          it made a thumbnail like that of at least one other program
  differs       it made one, and so did others, but theirs look otherwise or have another size
  ours only     it made one, and no other program did
  peers only    others made one, and it did not
  none          no program made one
  crashed       thumbjob or its helper crashed, or it was not done in time
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

SAME, DIFFERS, OURS_ONLY, PEERS_ONLY, NONE, CRASHED = VERDICTS = (
    "same", "differs", "ours only", "peers only", "none", "crashed")
# Those that need a reason. What only thumbjob makes may be a file that it should refuse.
IN_NEED = (DIFFERS, OURS_ONLY, PEERS_ONLY, CRASHED)
# The mean difference of samples, 0 to 255, up to which two thumbnails are taken for the same: filters and roundings
# differ, and small pictures of sharp lines more than photographs.
TOLERANCE = 6.0


@dataclass(frozen=True)
class Compared:
    """Our thumbnail beside one other."""

    program: str
    ours: tuple[int, int]
    theirs: tuple[int, int]
    difference: float | None  # none if the sizes are too far apart

    @property
    def same(self) -> bool:
        return near(self.ours, self.theirs) and self.difference is not None and self.difference <= TOLERANCE


def near(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Programs round the shorter side up, down, or to the nearest."""
    return all(abs(one - other) <= 1 for one, other in zip(first, second, strict=True))


def verdict(made: bool, crashed: bool, peers_made: int, compared: Iterable[Compared]) -> str:
    if crashed:
        return CRASHED
    if not made:
        return PEERS_ONLY if peers_made else NONE
    if not peers_made:
        return OURS_ONLY
    return SAME if any(one.same for one in compared) else DIFFERS


@dataclass(frozen=True)
class Expected:
    pattern: str  # of suite/path
    verdict: str
    reason: str
    # Whether the others come out alike only on fast machines, or only on slow ones.
    may_be_same: bool = False

    def explains(self, name: str, verdict: str) -> bool:
        return verdict == self.verdict and fnmatchcase(name, self.pattern)


def read_expected(text: str) -> list[Expected]:
    """A line for each: pattern, verdict and reason, with ` | ` between them; lines that begin with # are for people.

    A question mark after the verdict says that it may also be `same`.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ", 2)]
        if len(parts) != 3 or parts[1].removesuffix("?") not in IN_NEED or not parts[2]:
            raise ValueError(f"line {number}: not PATTERN | {' or '.join(IN_NEED)} | REASON")
        found.append(Expected(parts[0], parts[1].removesuffix("?"), parts[2], parts[1].endswith("?")))
    return found


def unexplained(verdicts: dict[str, str], expected: list[Expected]) -> list[str]:
    """The names whose verdict needs a reason and has none."""
    return [
        name for name, of_name in verdicts.items()
        if of_name in IN_NEED and not any(one.explains(name, of_name) for one in expected)]


def unused(verdicts: dict[str, str], expected: list[Expected]) -> list[Expected]:
    """Reasons that nothing needs any more."""
    return [
        one for one in expected
        if not one.may_be_same and not any(one.explains(name, of_name) for name, of_name in verdicts.items())]
