"""make_mixed.py PHOTOS FORMATS FOLDER [--count N]: a folder of pictures of all formats and many sizes.

The pictures are of 0.5, 2, 6, and 12 megapixels, each of another photograph of PHOTOS, in every format of
make_formats.py; and those of 24 megapixels in FORMATS, which make_formats.py has made. FOLDER/pictures has each once,
FOLDER/many as many as --count says, as links to these, a hundred in each folder. All together take less than 2 GiB.
What is there already is kept.
"""

import argparse
import os
import shutil
import sys
from math import sqrt
from pathlib import Path

from make_formats import make_all

MEGAPIXELS = (0.5, 2, 6, 12)
IN_FOLDER = 100


def main() -> None:
    parser = argparse.ArgumentParser(description="a folder of pictures of all formats and many sizes")
    parser.add_argument("photos", type=Path)
    parser.add_argument("formats", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000, metavar="N", help="how many (default: 2000)")
    options = parser.parse_args()
    photos = sorted(options.photos.glob("*.jpg"))
    if not photos:
        sys.exit(f"make_mixed.py: {options.photos} has no photographs")
    for number, megapixels in enumerate(MEGAPIXELS):
        make_all(photos[number % len(photos)], options.folder / "pictures" / str(megapixels), size(megapixels))
    folders = [options.folder / "pictures" / str(megapixels) for megapixels in MEGAPIXELS]
    pictures = [file for folder in (*folders, options.formats) for file in sorted(folder.glob("*.*"))]
    link(pictures, options.folder / "many", options.count)


def size(megapixels: float) -> tuple[int, int]:
    """Of a camera's shape, 3:2, with even sides: RAW files have two rows of their filter at least."""
    height = round(sqrt(megapixels * 1e6 / 1.5) / 2) * 2
    return round(height * 1.5 / 2) * 2, height


def link(pictures: list[Path], folder: Path, count: int) -> None:
    """Round and round, so that pictures of all formats and sizes are made at the same time."""
    if sum(len(files) for _, _, files in os.walk(folder)) == count:
        return
    shutil.rmtree(folder, ignore_errors=True)
    part = folder.with_name("many.part")
    shutil.rmtree(part, ignore_errors=True)
    order = spread(len(pictures))
    for number in range(count):
        picture = pictures[order[number % len(pictures)]]
        target = part / f"{number // IN_FOLDER:02}"
        target.mkdir(parents=True, exist_ok=True)
        os.link(picture, target / f"{number:04}{picture.suffix}")
    part.rename(folder)


def spread(count: int) -> list[int]:
    """0 to count - 1, in an order in which neighbours are far apart."""
    step = next(step for step in range(round(count * 0.618), 2 * count) if coprime(step, count)) if count > 1 else 1
    return [number * step % count for number in range(count)]


def coprime(first: int, second: int) -> bool:
    while second:
        first, second = second, first % second
    return first == 1


if __name__ == "__main__":
    main()
