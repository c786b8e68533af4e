"""The witnesses of suites-expected.txt: what another decoder makes of a file, where thumbjob is alone with its opinion.

Each shows the picture in full, or refuses the file or says what is damaged. Both happen: djpeg writes what it could
decode, and counts what it could not.
"""

import functools
import io
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
import tifffile
from PIL import Image, ImageCms, ImageOps, PngImagePlugin

import likeness
from browser import Browser
from outcomes import SAID
from verdicts import Compared, Testimony, fitted, near


@dataclass(frozen=True)
class Shown:
    """What a witness makes of a file."""

    picture: Image.Image | None = None  # RGB in sRGB, upright, over white
    refused: str = ""
    # Makes sRGB of the picture, if it is not yet, after it is reduced.
    converted: Callable[[Image.Image], Image.Image] = lambda image: image


@dataclass(frozen=True)
class Witness:
    name: str
    needs: str  # a program
    # Picture, empty folder for what it writes, seconds.
    show: Callable[[Path, Path, float], Shown]


def testimony(witness: Witness, shown: Shown, ours: Path | None, box: int) -> Testimony:
    """Compares what a witness shows with our thumbnail in a box."""
    if ours is None or shown.picture is None:
        return Testimony(None, shown.refused)
    return Testimony(compared(witness.name, ours, shown.picture, box, shown.converted), shown.refused)


def compared(
    name: str, ours: Path, theirs: Image.Image, box: int,
    converted: Callable[[Image.Image], Image.Image] = lambda image: image,
) -> Compared:
    """Our thumbnail beside a picture of at least its size."""
    thumbnail = likeness.decoded(ours)
    size = fitted(theirs.size, box)
    if not near(thumbnail.size, size):
        return Compared(name, thumbnail.size, size, None, None)
    # Pixels are averaged down to twice the size first, as by thumbjob: dots and lines of one pixel show the difference.
    small = theirs.resize(thumbnail.size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    small = converted(small)
    return Compared(
        name, thumbnail.size, size, likeness.difference(thumbnail, small), likeness.of_squares(thumbnail, small))


def command(*words: str, upright: bool = True) -> Callable[[Path, Path, float], Shown]:
    """A program that writes the picture to OUT, a PNG file, or else to its standard output."""
    def show(picture: Path, folder: Path, limit: float) -> Shown:
        file = folder / "picture.png"
        names = {"PICTURE": str(picture), "OUT": str(file)}
        filled = [re.sub("PICTURE|OUT", lambda name: names[name[0]], word) for word in words]
        try:
            done = subprocess.run(filled, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return Shown(None, "takes too long")
        said = (done.stderr or done.stdout[-SAID:]).decode(errors="replace").strip()[-SAID:]
        # heif-convert numbers the pictures of a file that has several.
        written = next((name for name in (file, folder / "picture-1.png") if name.exists()), None)
        try:
            found = likeness.decoded(written or io.BytesIO(done.stdout))
        except (OSError, ValueError, Image.DecompressionBombError):
            found = None
        if found and not upright:
            found = turned(found, picture)
        return Shown(found, "" if done.returncode == 0 else said or f"exit status {done.returncode}")
    return show


def turned(image: Image.Image, picture: Path) -> Image.Image:
    """As the EXIF data of a file ask for, if they can be read."""
    try:
        with Image.open(picture) as opened:
            image.getexif()[0x0112] = opened.getexif().get(0x0112, 1)
    except (OSError, ValueError, SyntaxError):
        return image
    return ImageOps.exif_transpose(image)


# The JPEGs that a camera puts into a RAW file, the largest first.
PREVIEWS = ("JpgFromRaw", "JpgFromRaw2", "PreviewImage", "OtherImage", "ThumbnailImage")


def exiftool(picture: Path, folder: Path, limit: float) -> Shown:
    def asked(tag: str) -> bytes:
        words = ["exiftool", "-b", "-n", f"-{tag}", str(picture)]
        return subprocess.run(words, capture_output=True, check=False, timeout=limit).stdout
    data = next((data for tag in PREVIEWS if (data := asked(tag))), b"")
    try:
        largest = likeness.decoded(io.BytesIO(data))
    except OSError:
        return Shown(None, "no preview that can be decoded")
    largest.getexif()[0x0112] = int((asked("Orientation").split() or [b"1"])[0])
    return Shown(ImageOps.exif_transpose(largest))


def within_extent(picture: Path, folder: Path, limit: float) -> Shown:
    """heif-convert, and of its picture the part that the file declares as its size (ispe), as exiftool reads it."""
    asked = subprocess.run(
        ["exiftool", "-s3", "-ImageSpatialExtent", str(picture)], capture_output=True, text=True, check=False,
        timeout=limit).stdout
    # Not a PNG file, because libpng refuses to write some profiles.
    file = folder / "picture.jpg"
    subprocess.run(
        ["heif-convert", "-q", "100", str(picture), str(file)], capture_output=True, check=False, timeout=limit)
    extent = re.fullmatch(r"(\d+)x(\d+)", asked.strip())
    if not extent or not file.exists():
        return Shown(None, "no picture, or no size")
    # The orientation of the EXIF data, which the copy has too, does not count for HEIF.
    with Image.open(file) as whole:
        part = whole.crop((0, 0, int(extent[1]), int(extent[2])))
        return Shown(likeness.in_srgb(part, whole.info.get("icc_profile")))


PADDING = 1024  # bytes


def avifdec_before_zeros(picture: Path, folder: Path, limit: float) -> Shown:
    """avifdec, of the file and zeros after it: it refuses a sequence of which any picture goes beyond the file."""
    padded = folder / "padded.avif"
    padded.write_bytes(picture.read_bytes() + bytes(PADDING))
    return command("avifdec", "PICTURE", "OUT")(padded, folder, limit)


def with_profile(picture: Path, folder: Path, limit: float) -> Shown:
    """Pillow and LittleCMS: relative colorimetric with black point compensation."""
    try:
        with Image.open(picture) as image:
            profile = ImageCms.ImageCmsProfile(io.BytesIO(image.info["icc_profile"]))
            return Shown(ImageCms.profileToProfile(
                image, profile, likeness.SRGB, renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
                outputMode="RGB", flags=ImageCms.Flags.BLACKPOINTCOMPENSATION))
    except (OSError, ValueError, KeyError, ImageCms.PyCMSError) as error:
        return Shown(None, str(error))


def with_lanczos(picture: Path, folder: Path, limit: float) -> Shown:
    """JPEG with half the chroma along both sides: libjpeg's samples, but those of chroma enlarged with Lanczos."""
    border = 4  # samples; the edges go on beyond it

    def enlarged(plane: Image.Image, size: tuple[int, int]) -> Image.Image:
        samples = numpy.pad(numpy.asarray(plane), border, mode="edge")
        large = Image.fromarray(samples).resize(
            (2 * samples.shape[1], 2 * samples.shape[0]), Image.Resampling.LANCZOS)
        return large.crop((2 * border, 2 * border, 2 * border + size[0], 2 * border + size[1]))

    data = picture.read_bytes() + b"\xff\xd9"  # the end that a file may lack
    with Image.open(io.BytesIO(data)) as whole, Image.open(io.BytesIO(data)) as half:
        whole.draft("YCbCr", whole.size)
        half.draft("YCbCr", (half.width // 2, half.height // 2))
        luma, (_, *chroma) = whole.getchannel(0), half.split()
        planes = [luma, *(enlarged(plane, whole.size) for plane in chroma)]
        return Shown(Image.merge("YCbCr", planes).convert("RGB"))


def of_light(light: numpy.ndarray) -> Image.Image:
    """RGB in sRGB of linear light, 0 to 1."""
    light = numpy.clip(light, 0, 1)
    coded = numpy.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return Image.fromarray((coded * 255 + 0.5).astype(numpy.uint8))


def with_tifffile(
    picture: Path, folder: Path, limit: float, is_linear: bool = False, number: int = 0,
) -> Shown:
    """The samples of a page, read without libtiff. 0 is black unless the file says otherwise."""
    try:
        with tifffile.TiffFile(picture) as opened:
            page = opened.pages[number]
            samples = page.asarray()
            is_planar = samples.ndim == 3 and page.planarconfig == tifffile.PLANARCONFIG.SEPARATE
            alpha = page.extrasamples[0] if page.extrasamples else None
            is_inverted = "PhotometricInterpretation" in page.tags and \
                page.photometric == tifffile.PHOTOMETRIC.MINISWHITE
    except (OSError, ValueError, tifffile.TiffFileError) as error:
        return Shown(None, str(error))
    largest = 1.0 if samples.dtype.kind == "f" else float(numpy.iinfo(samples.dtype).max)
    value = numpy.clip(samples / largest, 0, 1)
    value = numpy.moveaxis(value, 0, -1) if is_planar else value if value.ndim == 3 else value[..., None]
    colors = 3 if value.shape[-1] >= 3 else 1
    color = 1 - value[..., :colors] if is_inverted else value[..., :colors]
    if alpha is not None:
        part = value[..., colors:colors + 1]
        color = (color if alpha == tifffile.EXTRASAMPLE.ASSOCALPHA else color * part) + 1 - part
    color = numpy.broadcast_to(numpy.clip(color, 0, 1), (*color.shape[:2], 3))
    return Shown(of_light(color) if is_linear else Image.fromarray((color * 255 + 0.5).astype(numpy.uint8)))


class InBrowser:
    """One browser for all pictures, which is started for the first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.browser: Browser | None = None

    def show(self, picture: Path, folder: Path, limit: float) -> Shown:
        with self.lock:
            self.browser = self.browser or Browser()
            png, said = self.browser.show(picture)
        return Shown(likeness.decoded(io.BytesIO(png)) if png else None, said)

    def show_opaque(self, picture: Path, folder: Path, limit: float) -> Shown:
        """Of a PNG file whose pixels Pillow has mixed with white, as thumbjob does before it heeds gAMA."""
        with Image.open(picture) as opened:
            gamma, pixels = opened.info["gamma"], opened.convert("RGBA")
        white = Image.new("RGBA", pixels.size, "white")
        white.alpha_composite(pixels)
        return self.show_with(gamma, white.convert("RGB"), folder, limit)

    def show_reduced(self, picture: Path, folder: Path, limit: float) -> Shown:
        """Of an opaque PNG file whose samples Pillow has reduced, as thumbjob does before it heeds gAMA."""
        with Image.open(picture) as opened:
            gamma, pixels = opened.info["gamma"], opened.convert("RGB")
        return Shown(pixels, converted=lambda small: self.show_with(gamma, small, folder, limit).picture)

    def show_with(self, gamma: float, pixels: Image.Image, folder: Path, limit: float) -> Shown:
        chunks = PngImagePlugin.PngInfo()
        chunks.add(b"gAMA", round(gamma * 100_000).to_bytes(4))
        pixels.save(folder / "opaque.png", pnginfo=chunks)
        return self.show(folder / "opaque.png", folder, limit)

    def close(self) -> None:
        if self.browser:
            self.browser.close()


BROWSER = InBrowser()
WITNESSES = {witness.name: witness for witness in (
    Witness("browser", os.environ.get("CHROMIUM", "chromium"), BROWSER.show),
    Witness("avifdec", "avifdec", command("avifdec", "PICTURE", "OUT")),
    Witness("avifdec before zeros", "avifdec", avifdec_before_zeros),
    Witness("browser after mixing", os.environ.get("CHROMIUM", "chromium"), BROWSER.show_opaque),
    Witness("browser after reducing", os.environ.get("CHROMIUM", "chromium"), BROWSER.show_reduced),
    Witness("djpeg", "djpeg", command("djpeg", "PICTURE", upright=False)),
    # For pictures that are too large for anything else.
    Witness("djpeg 1/8", "djpeg", command("djpeg", "-scale", "1/8", "PICTURE", upright=False)),
    Witness("exiftool", "exiftool", exiftool),
    Witness("giftopnm", "giftopnm", command("giftopnm", "PICTURE")),
    Witness("heif-convert", "heif-convert", command("heif-convert", "PICTURE", "OUT")),
    Witness("heif-convert within ispe", "heif-convert", within_extent),
    # Checks sums, lengths and compressed data, and shows no picture.
    Witness("pngcheck", "pngcheck", command("pngcheck", "-q", "PICTURE")),
    Witness("Pillow with Lanczos", "true", with_lanczos),
    Witness("Pillow with the profile", "true", with_profile),
    # Reads TIFF without libtiff.
    Witness("tifffile", "true", with_tifffile),
    # The second reduced page.
    Witness("tifffile page 2", "true", functools.partial(with_tifffile, number=2)),
    Witness("tifffile, linear", "true", functools.partial(with_tifffile, is_linear=True)),
    Witness("vips", "vips", command("vips", "copy", "PICTURE[fail-on=error]", "OUT")),
    # The second reduced picture of a TIFF file.
    Witness("vips subifd=1", "vips", command("vips", "copy", "PICTURE[subifd=1]", "OUT")),
)}


def missing(witnesses: list[Witness]) -> list[str]:
    """What has to be installed before they can be asked, a line each."""
    return [
        f"the witness {witness.name} is not there: {witness.needs}" for witness in witnesses
        if not shutil.which(witness.needs)]
