import unittest

from outcomes import MADE, Outcome
from suites import Entry, classes
from verdicts import DIFFERS, PEERS_ONLY, SAME


def entry(name: str, of_file: str, box: int, verdict: str, supported: bool = False) -> Entry:
    return Entry(name, of_file, box, verdict, {"thumbjob": Outcome(MADE)}, (), (), supported)


class ClassTests(unittest.TestCase):
    def test_each_picture_counts_once_by_the_size_that_is_worst(self) -> None:
        lines = classes([
            entry("a/1.png", "PNG", 32, SAME), entry("a/1.png", "PNG", 256, SAME),
            entry("a/2.png", "PNG", 32, DIFFERS, supported=True), entry("a/2.png", "PNG", 256, SAME),
            entry("a/3.heic", "HEIF", 32, PEERS_ONLY), entry("a/3.heic", "HEIF", 256, DIFFERS, supported=True),
        ]).splitlines()
        self.assertEqual(lines[2:], [
            "| HEIF | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 of 1 |", "| PNG | 2 | 0 | 0 | 0 | 1 | 1 | 0 | 1 of 1 |",
            "| all | 3 | 0 | 1 | 0 | 1 | 1 | 0 | 1 of 2 |"])


if __name__ == "__main__":
    unittest.main()
