import unittest

from verdicts import (
    CRASHED,
    DIFFERS,
    NONE,
    OURS_ONLY,
    PEERS_ONLY,
    SAME,
    TOLERANCE,
    Compared,
    Expected,
    read_expected,
    unexplained,
    unused,
    verdict,
)

LIKE = Compared("a", (256, 171), (256, 170), TOLERANCE)
UNLIKE = Compared("b", (256, 171), (256, 171), TOLERANCE + 0.1)
TURNED = Compared("c", (256, 171), (171, 256), None)


class VerdictTests(unittest.TestCase):
    def test_one_like_thumbnail_is_enough(self) -> None:
        self.assertEqual(verdict(True, False, 3, [UNLIKE, TURNED, LIKE]), SAME)

    def test_another_look_or_size_differs(self) -> None:
        self.assertEqual(verdict(True, False, 2, [UNLIKE, TURNED]), DIFFERS)

    def test_sizes_may_be_rounded_otherwise_but_not_more(self) -> None:
        self.assertTrue(LIKE.same)
        self.assertFalse(Compared("a", (256, 171), (256, 173), 0.0).same)

    def test_who_made_one(self) -> None:
        self.assertEqual(verdict(True, False, 0, []), OURS_ONLY)
        self.assertEqual(verdict(False, False, 1, []), PEERS_ONLY)
        self.assertEqual(verdict(False, False, 0, []), NONE)

    def test_a_crash_comes_first(self) -> None:
        self.assertEqual(verdict(False, True, 0, []), CRASHED)


class ExpectedTests(unittest.TestCase):
    EXPECTED = "# for people\n\ntiff/*.tiff | differs | Pillow | vips do otherwise\npng/a.png | peers only | broken\n"

    def test_lines_with_a_pattern_a_verdict_and_a_reason(self) -> None:
        self.assertEqual(read_expected(self.EXPECTED), [
            Expected("tiff/*.tiff", DIFFERS, "Pillow | vips do otherwise"),
            Expected("png/a.png", PEERS_ONLY, "broken")])

    def test_a_line_without_a_reason_or_with_another_verdict(self) -> None:
        for line in ("png/a.png | differs", "png/a.png | differs | ", "png/a.png | same | fine"):
            with self.assertRaisesRegex(ValueError, "line 1"):
                read_expected(line)

    def test_only_the_verdict_that_was_explained_is(self) -> None:
        verdicts = {"tiff/a.tiff": DIFFERS, "tiff/b.tiff": PEERS_ONLY, "png/a.png": PEERS_ONLY, "png/b.png": SAME}
        self.assertEqual(unexplained(verdicts, read_expected(self.EXPECTED)), ["tiff/b.tiff"])

    def test_a_reason_without_a_difference(self) -> None:
        expected = read_expected(self.EXPECTED)
        self.assertEqual(unused({"tiff/a.tiff": DIFFERS, "png/a.png": SAME}, expected), [expected[1]])

    def test_a_reason_that_is_not_always_needed(self) -> None:
        expected = read_expected("jpeg/a.jpg | ours only? | takes long\n")
        self.assertEqual(expected, [Expected("jpeg/a.jpg", OURS_ONLY, "takes long", True)])
        self.assertEqual(unused({"jpeg/a.jpg": SAME}, expected), [])
        self.assertEqual(unexplained({"jpeg/a.jpg": OURS_ONLY}, expected), [])
        self.assertEqual(unexplained({"jpeg/a.jpg": DIFFERS}, expected), ["jpeg/a.jpg"])


if __name__ == "__main__":
    unittest.main()
