import unittest

import formats
from formats import Result, aims, faults, ratio, table
from measuring import Run
from thumbnailers import named


def result(*figures: tuple[float, int]) -> Result:
    return Result([Run(0, False, 1.0, cpu, memory << 20, "", "") for cpu, memory in figures], ssim=0.97)


class FormatsTests(unittest.TestCase):
    def test_the_ratio_is_the_median_of_those_within_a_round(self) -> None:
        results = {"thumbjob": result((1, 1), (10, 1), (3, 1)), "vipsthumbnail": result((2, 4), (20, 4), (2, 4))}
        self.assertEqual(ratio(results, "cpu_seconds"), 0.5)
        self.assertEqual(ratio(results, "memory"), 0.25)

    def test_no_ratio_beside_a_program_that_fails(self) -> None:
        self.assertIsNone(ratio({"thumbjob": result((1, 1)), "vipsthumbnail": Result(failure="no")}, "memory"))

    def test_missed_aims_and_failures_are_said(self) -> None:
        results = {
            "png.png": {"thumbjob": result((1, 6)), "vipsthumbnail": result((2, 10))},
            "avif.avif": {"thumbjob": result((1, 3)), "vipsthumbnail": result((1.5, 10))},
            "jpeg.jpg": {"thumbjob": result((1, 9)), "vipsthumbnail": result((2, 10))},
            "gif.gif": {"thumbjob": Result(failure="damaged"), "vipsthumbnail": result((1, 1))}}
        lines = faults(results)
        self.assertEqual([line.split(":")[0] for line in lines], ["png.png", "avif.avif", "gif.gif"])
        self.assertIn("0.60 times the memory", lines[0])
        self.assertIn("0.67 times the processor time", lines[1])

    def test_what_a_large_picture_takes_beyond_a_small_one(self) -> None:
        ours, peer = result((1, 30)), result((1, 60))
        ours.small_memory, peer.small_memory = 25 << 20, 40 << 20
        line = table({"gif.gif": {"thumbjob": ours, "vipsthumbnail": peer}}, named("thumbjob,vipsthumbnail"))
        self.assertTrue(line.endswith("| 1.00× | 0.50× | 0.25× |"), line)

    def test_aims_of_names_that_begin_alike(self) -> None:
        self.assertEqual(aims("heic-grid.heic"), (1.0, 0.25))
        self.assertEqual(aims("heic-single.heic"), (1.0, 0.5))
        self.assertEqual(aims("other.jpg"), (1.0, None))

    def test_the_table_names_what_fails(self) -> None:
        results = {"gif.gif": {"thumbjob": result((0.2, 8)), "vipsthumbnail": Result(failure="no loader")}}
        self.assertIn("| gif.gif | 0.200 · 8.0 (8.0) · 0.9700 | failed |  |  |  |",
                      table(results, named("vipsthumbnail,thumbjob")))
        self.assertEqual(formats.failures(results), ["- gif.gif: vipsthumbnail failed: no loader"])


if __name__ == "__main__":
    unittest.main()
