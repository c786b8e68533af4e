"""The pictures that the attack encodes, as PPM or PGM. Each is the same in every run."""

import math
import random
from dataclasses import dataclass
from functools import cache

# Samples of a texture. Rows are windows into it, so that a picture of a million pixels takes few Python steps.
_TEXTURE = 16384


@dataclass(frozen=True)
class Picture:
    name: str
    width: int
    height: int
    is_grey: bool
    rows: bytes

    @property
    def pnm(self):
        return b"P%d %d %d 255\n" % (5 if self.is_grey else 6, self.width, self.height) + self.rows


def _clipped(value):
    return min(max(int(value), 0), 255)


def _texture(generator, noise):
    """A sum of waves with noise: neighbours resemble each other, as in a photo."""
    waves = [
        (generator.uniform(8, 40), generator.uniform(0, 7), generator.choice((5, 11, 23, 61, 149, 397)))
        for _ in range(5)
    ]
    step = 2 * math.pi / _TEXTURE
    return bytes(
        _clipped(128 + sum(a * math.sin(p + n * step * i) for a, p, n in waves) + generator.gauss(0, noise))
        for i in range(_TEXTURE))


def _joined(width, height, channels):
    """A picture of one row function for each channel."""
    rows = bytearray(width * height * len(channels))
    for y in range(height):
        start = y * width * len(channels)
        for index, row in enumerate(channels):
            rows[start + index : start + width * len(channels) : len(channels)] = row(y)
    return bytes(rows)


def _photo(generator, width, height, count, noise=6.0):
    """Soft waves, a horizon and a few objects with hard edges."""
    textures = [_texture(generator, noise) for _ in range(2)]
    boxes = []
    for _ in range(3 + height // 200):
        left, top = generator.randrange(width), generator.randrange(height)
        boxes.append((left, top, left + max(width // 6, 8), top + max(height // 9, 8)))

    def channel(shift):
        def row(y):
            offset = int(3000 + 2500 * math.sin(y / 97 + shift) + 60 * math.sin(y / 7))
            texture = textures[y > height * 0.6]
            line = bytearray((texture + texture)[offset : offset + width])
            for index, (left, top, right, bottom) in enumerate(boxes):
                if top <= y < bottom:
                    count = min(right, width) - left
                    line[left : left + count] = bytes([(40 + 53 * index + 60 * shift) % 256]) * count
            return line

        return row

    return _joined(width, height, [channel(index) for index in range(count)])


def _gradient(_, width, height, count):
    line = bytes(255 * x // width for x in range(width))

    def channel(index):
        return lambda y: line if index == 0 else bytes([255 * y // height if index == 1 else 128]) * width

    return _joined(width, height, [channel(index) for index in range(count)])


def _flat(generator, width, height, count):
    return bytes(generator.randrange(30, 220) for _ in range(count)) * (width * height)


def _middle_grey(_, width, height, count):
    """All coefficients are zero, so arithmetic-coded data is empty."""
    return b"\x80" * (width * height * count)


def _checkers(_, width, height, count):
    """Squares that are no multiples of blocks."""
    line = bytes(255 * (x // 11 % 2) for x in range(width))
    inverse = bytes(255 - value for value in line)
    return _joined(width, height, [lambda y: (line, inverse)[y // 11 % 2]] * count)


def _text(generator, width, height, count):
    """Black runs on white in lines, like text."""
    lines = []
    for _ in range(8):
        line = bytearray(b"\xff" * width)
        x = 10
        while x < width:
            end = x + generator.choice((1, 1, 2, 2, 3, 6))
            line[x:end] = b"\x10" * (min(end, width) - x)
            x = end + generator.choice((1, 2, 3, 3, 12))
        lines.append(bytes(line))
    blank = b"\xff" * width
    return _joined(width, height, [lambda y: blank if y % 14 > 8 else lines[(y // 3 + y // 14) % 8]] * count)


def _noise(generator, width, height, count):
    return generator.randbytes(width * height * count)


# Reductions of at least 16 use the decoder of blocks at 1/8, of 7.2 at 1/4, and smaller ones libjpeg
# (Sources/Thumbnails/DecodePlan.swift). So at each of the usual sizes, some of these use each way. They are narrow,
# so that decoding them stays quick.
_SHAPES = {
    "photo": (_photo, 220, 720, False),
    "photo-wide": (_photo, 700, 250, False),
    "photo-tall": (_photo, 150, 2400, False),
    "photo-long": (_photo, 6600, 90, False),
    "photo-grey": (_photo, 300, 640, True),
    "photo-odd": (_photo, 523, 347, False),
    "photo-tiny": (_photo, 61, 45, False),
    "gradient": (_gradient, 190, 600, False),
    "flat": (_flat, 160, 900, False),
    "flat-grey": (_flat, 170, 560, True),
    "middle-grey": (_middle_grey, 150, 530, False),
    "checkers": (_checkers, 210, 650, False),
    "text": (_text, 200, 1700, True),
    "noise": (_noise, 200, 620, False),
}

# The pictures of one colour, whose AC coefficients are zero.
WITHOUT_DETAIL = frozenset(("flat", "flat-grey", "middle-grey"))


@cache
def picture(name):
    draw, width, height, is_grey = _SHAPES[name]
    rows = draw(random.Random(name), width, height, 1 if is_grey else 3)
    return Picture(name, width, height, is_grey, rows)


def all_pictures():
    return {name: picture(name) for name in _SHAPES}
