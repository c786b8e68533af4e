import io
import tempfile
import unittest
from pathlib import Path

from PIL import Image

from verdicts import DIFFERS, PEERS_ONLY
from witnesses import Shown, Witness, command, testimony

WITNESS = Witness("a", "true", command("true"))
GREY = Image.new("RGB", (400, 200), (90, 90, 90))


class WitnessTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.picture = self.folder / "a.ppm"
        GREY.save(self.picture)

    def thumbnail(self, missing: int = 0) -> Path:
        """Of GREY, with so many white rows at the bottom."""
        image = Image.new("RGB", (256, 128), "white")
        image.paste(GREY.resize((256, 128 - missing)))
        image.save(self.folder / "thumbnail.jpg")
        return self.folder / "thumbnail.jpg"

    def test_a_program_that_writes_to_its_output_and_one_that_writes_a_file(self) -> None:
        for words in (("cat", "PICTURE"), ("cp", "PICTURE", "OUT")):
            shown = command(*words)(self.picture, self.folder, 10)
            self.assertEqual((shown.picture.size, shown.refused), ((400, 200), ""))

    def test_a_program_that_shows_what_it_can_and_says_that_more_is_missing(self) -> None:
        shown = command("sh", "-c", "cat $0; echo premature end >&2; exit 2", "PICTURE")(self.picture, self.folder, 10)
        self.assertEqual((shown.picture.size, shown.refused), ((400, 200), "premature end"))

    def test_a_program_that_shows_nothing(self) -> None:
        self.assertEqual(command("false")(self.picture, self.folder, 10), Shown(None, "exit status 1"))
        self.assertEqual(command("sleep", "10")(self.picture, self.folder, 0.1), Shown(None, "takes too long"))

    def test_a_picture_that_its_exif_data_turn(self) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        turned = self.folder / "b.jpg"
        GREY.save(turned, exif=exif)
        written = io.BytesIO()
        GREY.save(written, "PPM")
        (self.folder / "plain").write_bytes(written.getvalue())
        shown = command("cat", str(self.folder / "plain"), upright=False)(turned, self.folder, 10)
        self.assertEqual(shown.picture.size, (200, 400))

    def test_a_whole_thumbnail_is_supported_and_one_that_lacks_a_sixteenth_is_not(self) -> None:
        shown = Shown(GREY)
        self.assertTrue(testimony(WITNESS, shown, self.thumbnail(), 256).supports(DIFFERS))
        self.assertFalse(testimony(WITNESS, shown, self.thumbnail(missing=8), 256).supports(DIFFERS))

    def test_another_shape_is_not_supported(self) -> None:
        found = testimony(WITNESS, Shown(GREY.rotate(90, expand=True)), self.thumbnail(), 256)
        self.assertFalse(found.supports(DIFFERS))
        self.assertEqual(str(found), "128 × 256 and not 256 × 128")

    def test_colours_may_be_converted_after_the_picture_is_reduced(self) -> None:
        dark = Image.new("RGB", GREY.size, (20, 20, 20))
        self.assertFalse(testimony(WITNESS, Shown(dark), self.thumbnail(), 256).supports(DIFFERS))
        sizes = []

        def lighter(small: Image.Image) -> Image.Image:
            sizes.append(small.size)
            return small.point(lambda value: value + 70)
        self.assertTrue(testimony(WITNESS, Shown(dark, "", lighter), self.thumbnail(), 256).supports(DIFFERS))
        self.assertEqual(sizes, [(256, 128)])

    def test_a_refusal_is_supported_by_another_one_only(self) -> None:
        self.assertTrue(testimony(WITNESS, Shown(None, "CRC error"), None, 256).supports(PEERS_ONLY))
        self.assertFalse(testimony(WITNESS, Shown(GREY), None, 256).supports(PEERS_ONLY))


if __name__ == "__main__":
    unittest.main()
