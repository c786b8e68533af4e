import unittest

from verdicts import (
    CRASHED,
    DIFFERS,
    NONE,
    OURS_ONLY,
    PEERS_ONLY,
    SAME,
    TOLERANCE,
    TOLERANCE_OF_SQUARES,
    Compared,
    Expected,
    Testimony,
    fitted,
    read_expected,
    unused,
    verdict,
)

LIKE = Compared("a", (256, 171), (256, 170), TOLERANCE, TOLERANCE_OF_SQUARES)
UNLIKE = Compared("b", (256, 171), (256, 171), TOLERANCE + 0.1, 0)
TURNED = Compared("c", (256, 171), (171, 256), None, None)


class VerdictTests(unittest.TestCase):
    def test_one_like_thumbnail_is_enough(self) -> None:
        self.assertEqual(verdict(True, False, 3, [UNLIKE, TURNED, LIKE]), SAME)

    def test_another_look_or_size_differs(self) -> None:
        self.assertEqual(verdict(True, False, 2, [UNLIKE, TURNED]), DIFFERS)

    def test_one_square_that_is_missing_differs(self) -> None:
        self.assertFalse(Compared("a", (256, 256), (256, 256), 0.5, TOLERANCE_OF_SQUARES + 1).same)

    def test_who_made_one(self) -> None:
        self.assertEqual(verdict(True, False, 0, []), OURS_ONLY)
        self.assertEqual(verdict(False, False, 1, []), PEERS_ONLY)
        self.assertEqual(verdict(False, False, 0, []), NONE)

    def test_a_crash_comes_first(self) -> None:
        self.assertEqual(verdict(False, True, 0, []), CRASHED)

    def test_the_size_of_a_thumbnail(self) -> None:
        self.assertEqual(fitted((6000, 4000), 256), (256, 171))
        self.assertEqual(fitted((100, 256), 256), (100, 256))
        self.assertEqual(fitted((1, 10_000), 32), (1, 32))


class TestimonyTests(unittest.TestCase):
    def test_a_witness_supports_a_thumbnail_that_is_like_its_picture(self) -> None:
        for what in (DIFFERS, OURS_ONLY):
            self.assertTrue(Testimony(LIKE).supports(what))
            self.assertTrue(Testimony(LIKE, "premature end").supports(what))
            self.assertFalse(Testimony(UNLIKE).supports(what))
            self.assertFalse(Testimony(None, "cannot be shown").supports(what))

    def test_a_witness_supports_a_refusal_if_it_refuses_or_says_that_the_file_is_damaged(self) -> None:
        self.assertTrue(Testimony(None, "CRC error").supports(PEERS_ONLY))
        self.assertFalse(Testimony(None).supports(PEERS_ONLY))

    def test_nothing_supports_a_crash(self) -> None:
        self.assertFalse(Testimony(LIKE, "cannot be shown").supports(CRASHED))


class ExpectedTests(unittest.TestCase):
    EXPECTED = (
        "# for people\n\ntiff/*.tiff | differs | tifftopnm | Pillow | vips do otherwise\n"
        "png/a.png | peers only | pngcheck | broken\n")
    WITNESSES = ("tifftopnm", "pngcheck")

    def test_lines_with_a_pattern_a_verdict_a_witness_and_a_reason(self) -> None:
        self.assertEqual(read_expected(self.EXPECTED, self.WITNESSES), [
            Expected("tiff/*.tiff", DIFFERS, "tifftopnm", "Pillow | vips do otherwise"),
            Expected("png/a.png", PEERS_ONLY, "pngcheck", "broken")])

    def test_a_line_that_lacks_something_or_has_another_verdict(self) -> None:
        for line in ("png/a.png | differs | pngcheck", "png/a.png | differs | pngcheck | ",
                     "png/a.png | same | pngcheck | fine", "png/a.png | crashed | pngcheck | old"):
            with self.assertRaisesRegex(ValueError, "line 1: not PATTERN"):
                read_expected(line, self.WITNESSES)

    def test_a_witness_that_nobody_knows(self) -> None:
        with self.assertRaisesRegex(ValueError, "line 1: there is no witness browser"):
            read_expected("png/a.png | differs | browser | gamma", self.WITNESSES)

    def test_only_the_verdict_that_a_line_names_is_explained(self) -> None:
        line = read_expected(self.EXPECTED, self.WITNESSES)[0]
        self.assertTrue(line.explains("tiff/a.tiff", DIFFERS))
        self.assertFalse(line.explains("tiff/a.tiff", PEERS_ONLY))
        self.assertFalse(line.explains("png/a.png", DIFFERS))

    def test_a_line_without_a_difference(self) -> None:
        expected = read_expected(self.EXPECTED, self.WITNESSES)
        found = [("tiff/a.tiff", SAME), ("tiff/a.tiff", DIFFERS), ("png/a.png", SAME)]  # in two sizes
        self.assertEqual(unused(found, expected), [expected[1]])

    def test_a_line_that_is_not_always_needed(self) -> None:
        expected = read_expected("jpeg/a.jpg | ours only? | tifftopnm | takes long\n", self.WITNESSES)
        self.assertEqual(expected, [Expected("jpeg/a.jpg", OURS_ONLY, "tifftopnm", "takes long", True)])
        self.assertEqual(unused([("jpeg/a.jpg", SAME)], expected), [])


if __name__ == "__main__":
    unittest.main()
