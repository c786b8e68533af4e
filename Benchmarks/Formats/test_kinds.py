import unittest

from kinds import kind


def ftyp(major: bytes, *compatible: bytes) -> bytes:
    return (16 + 4 * len(compatible)).to_bytes(4) + b"ftyp" + major + bytes(4) + b"".join(compatible)


class KindTests(unittest.TestCase):
    def test_tiff_headers_are_raw_by_their_name_or_by_canons_mark(self) -> None:
        self.assertEqual(kind(b"II*\0\x08\0\0\0", "a.tif"), "TIFF")
        self.assertEqual(kind(b"II*\0\x08\0\0\0", "a/b.DNG"), "RAW")
        self.assertEqual(kind(b"II*\0\x10\0\0\0CR\x02\0", "a.tif"), "RAW")
        self.assertEqual(kind(b"MM\0+\0\x08\0\0"), "TIFF")

    def test_the_major_brand_comes_before_the_compatible_ones(self) -> None:
        self.assertEqual(kind(ftyp(b"heic", b"mif1", b"avif")), "HEIF")
        self.assertEqual(kind(ftyp(b"avif", b"mif1")), "AVIF")

    def test_a_general_brand_is_told_by_the_compatible_ones(self) -> None:
        self.assertEqual(kind(ftyp(b"mif1", b"mif1", b"avif")), "HEIF")
        self.assertEqual(kind(ftyp(b"xxxx", b"mif1", b"avif")), "AVIF")
        self.assertEqual(kind(ftyp(b"crx ", b"crx ", b"isom")), "RAW")

    def test_films_and_sound_are_no_pictures(self) -> None:
        self.assertIsNone(kind(ftyp(b"qt  ", b"qt  ")))
        self.assertIsNone(kind(ftyp(b"M4A ", b"isom")))

    def test_brands_beyond_the_box_do_not_count(self) -> None:
        self.assertIsNone(kind(ftyp(b"qt  ") + b"avif" * 8))

    def test_short_and_other_files(self) -> None:
        for head in (b"", b"\x89PNG", b"RIFF\0\0\0\0WAVE", b"GIF88a", b"BM"):
            self.assertIsNone(kind(head))


if __name__ == "__main__":
    unittest.main()
