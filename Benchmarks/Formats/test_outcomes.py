import json
import unittest
from pathlib import Path

from outcomes import CRASHED, MADE, PASSED_OVER, REFUSED, of_peer, of_thumbjob

HERE = Path(__file__)  # a file that is there


def printed(**event: object) -> str:
    return json.dumps({"event": "source", **event}) + '\n{"event":"summary"}\n'


class OutcomeTests(unittest.TestCase):
    def test_what_thumbjob_says_of_a_source(self) -> None:
        self.assertEqual(of_thumbjob(0, printed(outcome="made"), "", HERE).kind, MADE)
        self.assertEqual(of_thumbjob(0, printed(outcome="not-read", type="svg"), "", None).said, "svg")
        self.assertEqual(of_thumbjob(0, printed(outcome="passed-over"), "", None).kind, PASSED_OVER)
        refused = of_thumbjob(1, printed(outcome="failed", error="truncated"), "", None)
        self.assertEqual((refused.kind, refused.said), (REFUSED, "truncated"))

    def test_what_counts_as_a_crash_of_thumbjob(self) -> None:
        for status, text in ((-11, ""), (1, ""), (0, printed(outcome="made")), (0, printed(outcome="duplicate"))):
            self.assertEqual(of_thumbjob(status, text, "", None).kind, CRASHED)

    def test_a_helper_that_crashes_is_a_crash_and_one_that_needs_more_memory_is_not(self) -> None:
        for error, kind in (
                ("the decoder crashed: signal 11, Segmentation fault", CRASHED),
                ("the decoder made a forbidden system call, and the kernel killed it", CRASHED),
                ("the decoder needs more memory than 4 MiB", REFUSED)):
            self.assertEqual(of_thumbjob(1, printed(outcome="failed", error=error), "", None).kind, kind)

    def test_what_others_leave_behind(self) -> None:
        self.assertEqual(of_peer(0, "", HERE).kind, MADE)
        self.assertEqual(of_peer(0, "", None).kind, REFUSED)
        self.assertEqual(of_peer(1, "odd\nmore", HERE).said, "odd")
        self.assertEqual(of_peer(1, "Traceback\n at\nOSError: cut off", None).said, "OSError: cut off")
        self.assertEqual(of_peer(-11, "", HERE).kind, CRASHED)


if __name__ == "__main__":
    unittest.main()
