"""The sources of the jobs: small photos of each kind that thumbjob decodes differently, and files that it does not."""

import random
import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import heifs
import jpegs
import pngs

WIDTH, HEIGHT = 480, 320
MODIFIED = 1_700_000_000


def _ppm(seed):
    """Waves of colour with noise, so that a file has enough bytes to be read in several pieces."""
    generator = random.Random(seed)
    rows = bytearray()
    steps = [generator.randrange(1, 7) for _ in range(3)]
    for y in range(HEIGHT):
        noise = generator.randbytes(WIDTH * 3)
        row = bytes((steps[c] * x + y * (c + 1)) // 4 & 0xE0 for x in range(WIDTH) for c in range(3))
        rows += bytes(a | b >> 3 for a, b in zip(row, noise, strict=True))
    return jpegs.ppm(WIDTH, HEIGHT, bytes(rows))


@cache
def jpeg(seed, *options):
    return jpegs.encoded(_ppm(seed), "-quality", "75", *options)


def baseline(seed=1):
    return jpeg(seed)


def progressive(seed=2):
    return jpeg(seed, "-progressive")


def arithmetic(seed=3):
    """A file that only libjpeg decodes."""
    return jpeg(seed, "-arithmetic")


def broken(seed=4):
    """A file that ends in its header, so that it fails before a decoder process is asked."""
    return jpeg(seed)[:100]


# The beginning of a RAW file of a kind that is not read.
UNREAD = b"FOVb" + bytes(100)


def flawed(seed=5):
    """A file with stray bytes before its end marker. Its thumbnail is made with a remark."""
    data = jpeg(seed)
    return data[:-2] + bytes(range(1, 100)) + data[-2:]


@cache
def png():
    return pngs.encoded([[(x * y + c * 40) % 256 for x in range(300) for c in range(3)] for y in range(200)], 2, 8)


def heic():
    """A grid of tiles."""
    return heifs.tiled(heifs.HEVC, 3, 4)
