"""Photos for the servers, and the comparison of thumbnails."""

import functools
import io
import re

from PIL import Image

import jpegs


def picture(width, height, hue=0, grain=25):
    """Resembles a photo of leaves: large forms, and grain that makes its JPEG file large."""
    size = (width, height)
    forms = Image.effect_noise((width // 16, height // 16), 90).resize(size, Image.Resampling.BICUBIC)
    fine = Image.effect_noise(size, grain)
    light = Image.linear_gradient("L").resize(size)
    value = Image.blend(Image.blend(forms, light, 0.4), fine, 0.4)
    return Image.merge("HSV", [Image.new("L", size, hue % 256), forms, value]).convert("RGB")


@functools.cache
def small_photo(hue=0):
    """The bytes of a small photo."""
    file = io.BytesIO()
    picture(360, 240, hue).save(file, "JPEG", quality=85)
    return file.getvalue()


@functools.cache
def large_photo(progressive):
    """The bytes of a large photo, of several megabytes. Both kinds have the same picture."""
    pixels = io.BytesIO()
    large_picture().save(pixels, "PPM")
    return jpegs.encoded(pixels.getvalue(), "-quality", "92", *(["-progressive"] if progressive else []))


@functools.cache
def large_picture():
    return picture(3200, 2400, hue=60)


def segments(jpeg):
    """Yields the marker, the start and the end of each segment. That of a scan has its entropy-coded data."""
    assert jpeg[:2] == b"\xff\xd8", "not a JPEG file"
    at = 2
    while jpeg[at + 1] != 0xD9:
        marker, end = jpeg[at + 1], at + 2 + int.from_bytes(jpeg[at + 2 : at + 4])
        if marker == 0xDA:
            end = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]").search(jpeg, end).start()
        yield marker, at, end
        at = end


def without_comments(jpeg):
    """The bytes of a JPEG file without its comments; thumbjob marks its thumbnails with one."""
    return b"".join(jpeg[start:end] for marker, start, end in segments(jpeg) if marker != 0xFE)


def end_of_dc(jpeg, lacking):
    """Where the scans of a progressive file end that give the DC coefficients, of which so many bits may lack."""
    for marker, start, end in segments(jpeg):
        if marker == 0xDA:
            spectral_start, _, successive = jpeg[start + 5 + 2 * jpeg[start + 4] :][:3]
            if spectral_start == 0 and successive & 15 == lacking:
                return end
    raise AssertionError("no such scan")


def is_whole(path):
    """Whether a file is a JPEG file that a decoder reads to its end."""
    data = path.read_bytes()
    if not data.endswith(b"\xff\xd9"):
        return False
    with Image.open(io.BytesIO(data)) as image:
        image.load()
    return True
