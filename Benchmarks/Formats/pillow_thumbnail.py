"""pillow_thumbnail.py PICTURE TARGET BOX QUALITY SUBSAMPLING: a thumbnail by Pillow, as its careful users make it.

HEIC is read by pillow-heif, everything else by Pillow itself.
"""

import sys
from pathlib import Path

from PIL import Image, ImageOps
from pillow_heif import register_heif_opener

WIDE = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")

register_heif_opener()


def make(picture: Path, target: Path, box: int, quality: int, subsampling: int) -> None:
    with Image.open(picture) as opened:
        image = opened
        profile = image.info.get("icc_profile")
        # A palette's numbers cannot be averaged.
        if image.mode in ("1", "P", "PA", "LA") or "transparency" in image.info:
            image = image.convert("RGBA")
        elif image.mode in WIDE:
            image = eight_bits(image)
        # Asks libjpeg for a fraction (`draft`), and reduces by whole numbers before it resizes.
        image.thumbnail((box, box), Image.Resampling.LANCZOS, reducing_gap=2)
        image = ImageOps.exif_transpose(image)
    if image.mode == "RGBA":
        white = Image.new("RGBA", image.size, "white")
        white.alpha_composite(image)
        image = white
    if image.mode not in ("L", "RGB", "CMYK"):
        image = image.convert("RGB")
        profile = None
    image.save(target, quality=quality, subsampling=subsampling, icc_profile=profile)


def eight_bits(image: Image.Image) -> Image.Image:
    """Of samples of 16 bits; Pillow would cut those above 255 off."""
    return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
