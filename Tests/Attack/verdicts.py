"""The rule of the attack: thumbjob's verdict on a file, compared with that of the oracle, if there is one."""

from dataclasses import dataclass
from enum import StrEnum

from oracle import Opinion
from readers import Judgement
from runs import Outcome


class Finding(StrEnum):
    SILENT = "silent but wrong"
    REFUSED = "refused but whole"
    REMARKED = "remarked but whole"
    CHANGED = "whole but another picture"
    CRASHED = "the decoder crashed"
    MADE = "made but impossible"
    FAULTY = "the oracle finds a fault in a good file"


# The bytes at the end of arithmetic-coded data that nobody can miss (Sources/CLibJPEG/arith_watch.h).
MOST_UNNOTICED = 16


@dataclass(frozen=True)
class Facts:
    """All that is known of a file at one size."""

    outcome: Outcome
    opinion: Opinion | Judgement
    is_good: bool  # nothing is wrong with it, by the way in which it was made
    is_same: bool  # its thumbnail is that of the file from which it was made
    lost: int = 0  # bytes of picture data that are certainly missing
    is_impossible: bool = False  # no picture can be made of it

    @property
    def is_whole(self):
        """None: nobody knows."""
        return self.opinion.is_whole and not self._is_known_cut

    @property
    def _is_known_cut(self):
        """Whether data is missing that libjpeg does not miss, but the attack does, because it removed it.

        An encoder leaves out the zeros at the end of arithmetic-coded data (ITU-T T.81, D.1.8), and libjpeg's decoder
        reads zeros there without a warning. No data at all is legal too: it means zeros only.
        """
        opinion = self.opinion
        return opinion.is_arithmetic and self.lost > MOST_UNNOTICED and not opinion.has_empty_interval


def judged(facts):
    """What is wrong with thumbjob's verdict; None if nothing is."""
    if facts.outcome.is_crash:
        return Finding.CRASHED
    if facts.is_impossible:
        return Finding.MADE if facts.outcome.is_made else None
    return _of_good(facts) if facts.is_good else _of_mutant(facts)


def _of_good(facts):
    if facts.is_whole is False:
        return Finding.FAULTY
    if not facts.outcome.is_made:
        return Finding.REFUSED
    if not facts.outcome.is_silent:
        return Finding.REMARKED
    return None if facts.is_same else Finding.CHANGED


def _of_mutant(facts):
    if facts.outcome.is_silent:
        # If the thumbnail is the same, the damage is where the thumbnail does not need it. Where no oracle can read the
        # file, only missing bytes are certain damage.
        is_damaged = facts.lost > 0 if facts.is_whole is None else not facts.is_whole
        return Finding.SILENT if is_damaged and not facts.is_same else None
    if not facts.is_whole or _is_stricter(facts):
        return None
    return Finding.REMARKED if facts.outcome.is_made else Finding.REFUSED


def _is_stricter(facts):
    """Whether the reason is damage that libjpeg does not report."""
    error = facts.outcome.error or ""
    # libjpeg drops what comes after the 64th coefficient. No encoder writes it (ITU-T T.81, F.1.2.2).
    if "a block has too many coefficients" in error:
        return True
    # libjpeg does not report that arithmetic-coded data ends early.
    return facts.opinion.is_arithmetic and error.startswith("truncated: ")


def is_unseen(facts):
    """Whether damage changes the thumbnail, and nobody sees it: the file is a legal one of another picture."""
    return not facts.is_good and facts.outcome.is_silent and facts.is_whole is not False and not facts.is_same


def is_only_remarked(facts):
    """Whether damage changes the thumbnail, and thumbjob makes it, but with a remark."""
    return not facts.is_good and facts.outcome.is_made and not facts.outcome.is_silent and not facts.is_same
