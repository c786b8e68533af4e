"""Is what thumbjob made of a picture what other programs make of it? And which differences are known, with a witness?

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
# Those that need a witness. What only thumbjob makes may be a file that it should refuse.
IN_NEED = (DIFFERS, OURS_ONLY, PEERS_ONLY)
# The mean difference of samples, 0 to 255, up to which two thumbnails are taken for the same: filters and roundings
# differ, and small pictures of sharp lines more than photographs.
TOLERANCE = 6.0
# The same for the mean colours of 16 × 16 squares, of which the worst counts.
TOLERANCE_OF_SQUARES = 24.0


@dataclass(frozen=True)
class Compared:
    """Our thumbnail beside one other."""

    program: str
    ours: tuple[int, int]
    theirs: tuple[int, int]
    # Both none if the sizes are too far apart.
    difference: float | None
    of_squares: float | None

    @property
    def same(self) -> bool:
        if self.difference is None or self.of_squares is None:
            return False
        return self.difference <= TOLERANCE and self.of_squares <= TOLERANCE_OF_SQUARES

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.theirs[0]} × {self.theirs[1]} and not {self.ours[0]} × {self.ours[1]}"
        return f"{self.difference:.1f} off, a square {self.of_squares:.0f}"


def near(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Programs round the shorter side up, down, or to the nearest."""
    return all(abs(one - other) <= 1 for one, other in zip(first, second, strict=True))


def fitted(size: tuple[int, int], box: int) -> tuple[int, int]:
    """The size of a thumbnail in a box of a picture of some size. Nothing is enlarged."""
    scale = min(1.0, box / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def verdict(made: bool, crashed: bool, peers_made: int, compared: Iterable[Compared]) -> str:
    if crashed:
        return CRASHED
    if not made:
        return PEERS_ONLY if peers_made else NONE
    if not peers_made:
        return OURS_ONLY
    return SAME if any(one.same for one in compared) else DIFFERS


@dataclass(frozen=True)
class Testimony:
    """What a witness, another decoder, makes of a file."""

    compared: Compared | None = None  # our thumbnail beside its picture, if both are there
    refused: str = ""  # why it refuses the file, or what it says is damaged

    def supports(self, verdict: str) -> bool:
        """Whether thumbjob was right, if its verdict was this one."""
        if verdict == PEERS_ONLY:
            return bool(self.refused)
        return verdict in (DIFFERS, OURS_ONLY) and self.compared is not None and self.compared.same

    def __str__(self) -> str:
        words = [str(self.compared)] if self.compared else []
        return "; ".join(words + ([f"says: {self.refused}"] if self.refused else [])) or "made a picture"


@dataclass(frozen=True)
class Expected:
    pattern: str  # of suite/path
    verdict: str
    witness: str
    reason: str
    # Whether the others come out alike only on some machines, or in some sizes.
    may_be_same: bool = False

    def explains(self, name: str, verdict: str) -> bool:
        return verdict == self.verdict and fnmatchcase(name, self.pattern)


def read_expected(text: str, witnesses: Iterable[str]) -> list[Expected]:
    """A line for each: pattern, verdict, witness and reason, with ` | ` between them; lines that begin with # are for
    people.

    A question mark after the verdict says that it may also be `same`.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ", 3)]
        if len(parts) != 4 or parts[1].removesuffix("?") not in IN_NEED or not parts[3]:
            raise ValueError(f"line {number}: not PATTERN | {' or '.join(IN_NEED)} | WITNESS | REASON")
        if parts[2] not in witnesses:
            raise ValueError(f"line {number}: there is no witness {parts[2]}; there are {', '.join(witnesses)}")
        found.append(Expected(parts[0], parts[1].removesuffix("?"), parts[2], parts[3], parts[1].endswith("?")))
    return found


def unused(verdicts: Iterable[tuple[str, str]], expected: list[Expected]) -> list[Expected]:
    """The lines that no picture needs any more, of these names and verdicts."""
    known = set(verdicts)
    return [
        one for one in expected
        if not one.may_be_same and not any(one.explains(name, of_name) for name, of_name in known)]
