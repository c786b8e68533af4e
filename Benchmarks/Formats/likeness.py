"""How near a thumbnail is to what it should be: the whole picture decoded by Pillow, over white, upright and brought to
sRGB, then resized with Lanczos-3 to the size that the thumbnail has.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy
from PIL import Image, ImageCms, ImageOps
from skimage.metrics import structural_similarity

from pillow_thumbnail import WIDE, eight_bits

SRGB = ImageCms.createProfile("sRGB")
WINDOW = 11  # pixels, that of SSIM with sigma 1.5
SSIM = {"data_range": 255, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
SQUARES = 16  # along each side, of at least 4 × 4 pixels: single ones differ with each filter

Image.MAX_IMAGE_PIXELS = None  # what is too large, the programs that are compared say


@dataclass(frozen=True)
class Likeness:
    ssim: float | None  # mean of red, green and blue; none where a side is shorter than its window
    difference: float  # mean of the absolute differences of the samples, 0 to 255


def decoded(picture: Path | BinaryIO) -> Image.Image:
    """The whole picture as RGB in sRGB, upright, over white."""
    with Image.open(picture) as image:
        profile = image.info.get("icc_profile")
        upright = ImageOps.exif_transpose(image)
    if upright.mode in WIDE:
        upright = eight_bits(upright)
    alpha = None
    if upright.mode in ("PA", "LA", "RGBA", "RGBa") or "transparency" in upright.info:
        upright = upright.convert("RGBA")
        alpha = upright.getchannel("A")
        upright = upright.convert("RGB")
    elif upright.mode not in ("L", "RGB", "CMYK", "LAB"):
        upright = upright.convert("RGB")
    color = in_srgb(upright, profile)
    if alpha is not None:
        color = Image.composite(color, Image.new("RGB", color.size, "white"), alpha)
    return color


def in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile:
        try:
            return ImageCms.profileToProfile(
                image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), SRGB,
                renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB") or image
        except (ImageCms.PyCMSError, OSError):
            pass  # a damaged profile, or one for other colours: programs pass over it
    return image.convert("RGB")


def likeness(first: Image.Image, second: Image.Image) -> Likeness:
    """Of two RGB pictures of the same size."""
    pixels = [numpy.asarray(image) for image in (first, second)]
    ssim = None
    if min(first.size) >= WINDOW:
        ssim = float(structural_similarity(*pixels, channel_axis=2, **SSIM))
    return Likeness(ssim, difference(first, second))


def luma(image: Image.Image) -> numpy.ndarray:
    return numpy.asarray(image, numpy.float32) @ numpy.array((0.299, 0.587, 0.114), numpy.float32)  # as in JPEG


def luma_ssim(first: numpy.ndarray, second: numpy.ndarray) -> float:
    """Of the luma of two pictures of the same size."""
    return float(structural_similarity(first, second, **SSIM))


def difference(first: Image.Image, second: Image.Image) -> float:
    """The mean of the absolute differences of the samples of two RGB pictures of the same size, 0 to 255."""
    return float(differences(first, second).mean())


def of_squares(first: Image.Image, second: Image.Image) -> float:
    """The largest difference of the means of a colour in 16 × 16 parts of two RGB pictures of the same size, 0 to 255.

    It shows what a mean over everything hides, such as a tile that is missing.
    """
    count = tuple(max(1, min(SQUARES, side // 4)) for side in first.size)
    means = [image.resize(count, Image.Resampling.BOX) for image in (first, second)]
    return float(differences(*means).max())


def differences(first: Image.Image, second: Image.Image) -> numpy.ndarray:
    return numpy.abs(numpy.subtract(numpy.asarray(first), numpy.asarray(second), dtype=numpy.int16))


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    return image.resize(size, Image.Resampling.LANCZOS)
