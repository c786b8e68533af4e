"""make_formats.py PHOTO FOLDER: one picture of 6000 × 4000 pixels in every format that thumbjob reads.

PHOTO is brought to that size, and to 96 × 64 for FOLDER/small. What is in FOLDER already is kept. Needs vips (Debian:
libvips-tools), heif-enc (libheif-examples), avifenc (libavif-bin), tiffcp (libtiff-tools), and Pillow.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy
from PIL import Image

import heif_grid
import raw_file

SIZE, SMALL = (6000, 4000), (96, 64)
TILE = 512
# The presets take a fifth of the time of the default ones. Decoders have as much to do for their files.
HEVC = ["-q", "80", "-p", "chroma=420", "-p", "preset=veryfast"]
AV1 = ["--avif", "-q", "70", "-p", "chroma=420", "-p", "speed=8"]


class Source:
    """The picture in the forms that encoders want, each made when it is first asked for."""

    def __init__(self, photo: Path, work: Path, size: tuple[int, int] = SIZE):
        self.photo, self.work, self.size = photo, work, size

    @cached_property
    def eight_bits(self) -> Path:
        file = self.work / "8.v"
        width, height = self.size
        run("vips", "thumbnail", self.photo, file, width, "--height", height, "--crop", "centre", "--size", "both")
        # Without EXIF or profile: what stays of the photograph is its pixels.
        plain = self.work / "plain.png"
        run("vips", "pngsave", file, plain, "--compression", 1, "--strip")
        run("vips", "copy", plain, file)
        return file

    @cached_property
    def sixteen_bits(self) -> Path:
        """Blurred a little, so that the lower bits are not a copy of the upper ones."""
        wide, file = self.work / "wide.v", self.work / "16.v"
        run("vips", "colourspace", self.eight_bits, wide, "rgb16")
        run("vips", "gaussblur", wide, file, 0.5)
        return file

    @cached_property
    def png(self) -> Path:
        return self.eight_bits.with_name("plain.png")

    @cached_property
    def image(self) -> Image.Image:
        _ = self.eight_bits
        with Image.open(self.png) as image:
            return image.convert("RGB")

    @cached_property
    def palette(self) -> Image.Image:
        return self.image.quantize(256)


@dataclass(frozen=True)
class Recipe:
    name: str
    suffix: str
    make: Callable[[Source, Path], None]


def vips(save: str, *options: object, sixteen: bool = False) -> Callable[[Source, Path], None]:
    def make(source: Source, target: Path) -> None:
        run("vips", save, source.sixteen_bits if sixteen else source.eight_bits, target, *options)
    return make


def heif(*options: object) -> Callable[[Source, Path], None]:
    def make(source: Source, target: Path) -> None:
        _ = source.eight_bits
        run("heif-enc", *options, source.png, "-o", target)
    return make


def ten_bits(source: Source, target: Path) -> None:
    """By avifenc, since heif-enc 1.15 ends with an assertion of libaom when it is to write more than 8 bits."""
    with tempfile.TemporaryDirectory(dir=source.work) as work:
        png = Path(work, "16.png")
        run("vips", "pngsave", source.sixteen_bits, png, "--compression", 1)
        run("avifenc", "-d", 10, "-y", 420, "-s", 9, "--min", 20, "--max", 32, png, target)


def transparent(source: Source, target: Path) -> None:
    """Opaque at the left, invisible at the right."""
    image = source.image.copy()
    image.putalpha(Image.linear_gradient("L").rotate(90).resize(source.size))
    image.save(target, compress_level=3)


def palette(source: Source, target: Path) -> None:
    source.palette.save(target)


def one_strip(source: Source, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=source.work) as work:
        rows = Path(work, "rows.tif")
        run("vips", "tiffsave", source.eight_bits, rows)
        run("tiffcp", "-r", source.size[1], "-c", "zip:2", rows, target)


def grid(*options: str) -> Callable[[Source, Path], None]:
    """Tiles of 512 × 512, as phones have them; those at the edges repeat the last row and column."""
    def make(source: Source, target: Path) -> None:
        width, height = source.size
        columns, rows = -(-width // TILE), -(-height // TILE)
        pixels = numpy.asarray(source.image)
        pixels = numpy.pad(
            pixels, ((0, rows * TILE - height), (0, columns * TILE - width), (0, 0)), mode="edge")
        with tempfile.TemporaryDirectory(dir=source.work) as work:
            def encode(number: int) -> Path:
                top, left = number // columns * TILE, number % columns * TILE
                file = Path(work, f"{number}.png")
                Image.fromarray(pixels[top:top + TILE, left:left + TILE]).save(file, compress_level=1)
                run("heif-enc", *options, file, "-o", file.with_suffix(target.suffix))
                return file.with_suffix(target.suffix)
            with ThreadPoolExecutor() as pool:
                tiles = list(pool.map(encode, range(columns * rows)))
            heif_grid.join(tiles, columns, source.size, target)
    return make


def raw(source: Source, target: Path) -> None:
    pixels = numpy.asarray(source.image)
    mosaic = numpy.empty(pixels.shape[:2], "<u2")
    for down, right, component in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2)):
        mosaic[down::2, right::2] = pixels[down::2, right::2, component]
    # As many cameras write it: too small for a thumbnail.
    small = source.image.resize((160, 107))
    with tempfile.TemporaryDirectory(dir=source.work) as work:
        preview = Path(work, "preview.jpg")
        source.image.save(preview, quality=85)
        raw_file.write(target, source.size, (mosaic * 257).tobytes(), preview.read_bytes(), small.tobytes(), small.size)


RECIPES = (
    Recipe("JPEG", ".jpg", vips("jpegsave", "--Q", 90, "--subsample-mode", "on")),
    Recipe("PNG", ".png", vips("pngsave", "--filter", "all")),
    Recipe("PNG interlaced", ".png", vips("pngsave", "--filter", "all", "--interlace")),
    Recipe("PNG with alpha", ".png", transparent),
    Recipe("PNG 16 bits", ".png", vips("pngsave", "--filter", "all", sixteen=True)),
    Recipe("PNG palette", ".png", palette),
    Recipe("WebP", ".webp", vips("webpsave", "--Q", 80, "--effort", 2)),
    Recipe("WebP lossless", ".webp", vips("webpsave", "--lossless", "--effort", 1)),
    Recipe("GIF", ".gif", palette),
    Recipe("TIFF", ".tif", vips("tiffsave")),
    Recipe("TIFF LZW", ".tif", vips("tiffsave", "--compression", "lzw", "--predictor", "horizontal")),
    Recipe("TIFF deflate", ".tif", vips("tiffsave", "--compression", "deflate", "--predictor", "horizontal")),
    Recipe("TIFF one strip", ".tif", one_strip),
    Recipe("TIFF JPEG tiles", ".tif", vips(
        "tiffsave", "--compression", "jpeg", "--Q", 85, "--tile", "--tile-width", 256, "--tile-height", 256)),
    Recipe("TIFF pyramid", ".tif", vips(
        "tiffsave", "--compression", "jpeg", "--Q", 85, "--tile", "--tile-width", 256, "--tile-height", 256,
        "--pyramid")),
    Recipe("TIFF 16 bits", ".tif", vips("tiffsave", "--compression", "lzw", sixteen=True)),
    Recipe("HEIC grid", ".heic", grid(*HEVC)),
    Recipe("HEIC single", ".heic", heif(*HEVC)),
    Recipe("AVIF", ".avif", heif(*AV1)),
    Recipe("AVIF 10 bits", ".avif", ten_bits),
    Recipe("AVIF grid", ".avif", grid(*AV1)),
    Recipe("DNG", ".dng", raw),
)


def make_all(photo: Path, folder: Path, size: tuple[int, int]) -> None:
    """The pictures that are not yet in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [recipe for recipe in RECIPES if not path_of(recipe, folder).exists()]
    if not missing:
        return
    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as work:
        source = Source(photo.absolute(), Path(work), size)
        for recipe in missing:
            target = path_of(recipe, folder)
            # Made beside and renamed, so that half a file is never taken for a whole one.
            part = Path(work, "part" + recipe.suffix)
            recipe.make(source, part)
            part.rename(target)
            print(f"{target.name}: {target.stat().st_size / 2**20:.1f} MiB", file=sys.stderr)


def path_of(recipe: Recipe, folder: Path) -> Path:
    return folder / (recipe.name.replace(" ", "-").lower() + recipe.suffix)


def run(*command: object) -> None:
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False)
    if done.returncode != 0:
        sys.exit(f"make_formats.py: {command[0]}: {done.stderr.strip() or done.stdout.strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(description="one picture in every format")
    parser.add_argument("photo", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    make_all(options.photo, options.folder, SIZE)
    make_all(options.photo, options.folder / "small", SMALL)


if __name__ == "__main__":
    main()
