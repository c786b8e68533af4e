import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from thumbnail_formats import Row, compared, first, lowest, write_y4m


def row(program: str, kilobytes: float, milliseconds: float) -> Row:
    return Row(program, "-x", 80, kilobytes * 1000, 0.96, seconds=[milliseconds / 1000])


class ThumbnailFormatsTests(unittest.TestCase):
    def test_the_lowest_quality_that_passes_is_found_from_any_guess(self) -> None:
        for wanted in (1, 37, 100):
            for guess in (1, 40, 80, 100):
                self.assertEqual(lowest(lambda quality, wanted=wanted: quality >= wanted, guess, 100), wanted)
        self.assertIsNone(lowest(lambda quality: False, 80, 100))

    def test_the_first_option_that_fits_is_found_from_any_place(self) -> None:
        for place in range(3):
            self.assertEqual(first(("a", "b", "c"), lambda option: option >= "b", place), "b")
            self.assertIsNone(first(("a", "b", "c"), lambda option: False, place))

    def test_only_programs_that_need_no_more_bytes_are_compared(self) -> None:
        cells = compared(row("thumbjob", 10, 30), [row("large", 11, 5), row("slow", 5, 90), row("fast", 8, 60)])
        self.assertEqual(cells, ["30.0 ms · 10.0 kB", "fast -x: 60.0 ms · 8.0 kB", "0.50×", "1.25×"])
        self.assertEqual(compared(row("thumbjob", 10, 30), [row("large", 11, 5)])[1], "none")

    def test_odd_sides_round_up_for_chroma(self) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "picture.y4m")
            write_y4m(Image.new("RGB", (5, 3), "white"), path)
            head, _, samples = path.read_bytes().partition(b"FRAME\n")
        self.assertTrue(head.startswith(b"YUV4MPEG2 W5 H3 "))
        self.assertEqual(samples, b"\xff" * 15 + b"\x80" * 12)


if __name__ == "__main__":
    unittest.main()
