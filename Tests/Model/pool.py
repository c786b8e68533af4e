"""The contents that the photos of the model have, and the thumbnails that an undisturbed run makes of each."""

import random
import sys
from pathlib import Path

from marks import thumbnail

sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import jpegs
import pngs

_WIDTH, _HEIGHT = 24, 16
_PHOTOS, _PICTURES, _BROKEN, _LONG = 24, 4, 4, 4
# Every photo has this size or one byte more, so that one can replace another unnoticed by its size.
_BYTES = 800
# Long photos have the same bytes at both ends, of which a mark tells; only their sizes differ.
_LONG_BYTES, _ENDS = 12_000, 5000


def _jpeg(number: int) -> bytes:
    """A photo whose colours and gradients no other one has, filled up with a comment."""
    base = (number * 37 % 200, number * 91 % 200, number * 53 % 200)
    pixels = bytes(
        min(255, base[c] + (x * 2 if c == number % 3 else y * 3)) for y in range(_HEIGHT) for x in range(_WIDTH)
        for c in range(3))
    data = jpegs.encoded(jpegs.ppm(_WIDTH, _HEIGHT, pixels), "-quality", "90")
    room = _BYTES + number % 2 - len(data)
    if room < 4:
        raise ValueError(f"a photo has {len(data)} bytes")
    return data[:2] + b"\xff\xfe" + (room - 2).to_bytes(2, "big") + b"." * (room - 4) + data[2:]


def _long(number: int) -> bytes:
    """A photo that differs from the others of its kind only in its size and in the middle."""
    data, fill = _jpeg(number), b"\xff\xfe" + (_ENDS - 2).to_bytes(2, "big") + b"." * (_ENDS - 4)
    room = _LONG_BYTES + number - 2 * len(fill) - len(data)
    middle = b"\xff\xfe" + (room - 2).to_bytes(2, "big") + b"." * (room - 4)
    return data[:2] + fill + data[2:-2] + middle + fill + data[-2:]


def contents() -> list[bytes]:
    """Sound photos, pictures of another format, damaged photos of the same size, files that are none, long photos."""
    photos = [_jpeg(number) for number in range(_PHOTOS)]
    pictures = [pngs.noise(_WIDTH, _HEIGHT, 2, random.Random(number)) for number in range(_PICTURES)]
    # Cut off, and filled up to the same size, so that only a look at the contents tells.
    broken = [photos[number][: -40 - number] + bytes(40 + number) for number in range(_BROKEN)]
    others = [b"a note\n", b"another note, about nothing\n", b"", b"\xff\x0a" + bytes(range(60))]
    return photos + pictures + broken + others + [_long(number) for number in LONG]


# Which of the contents are the photos of usual size, and the long ones.
PHOTOS = range(_PHOTOS)
LONG = range(_PHOTOS + _PICTURES + _BROKEN + 4, _PHOTOS + _PICTURES + _BROKEN + 4 + _LONG)


class Reference:
    """What undisturbed runs make of the contents, with each kind of options. Learned when it is first needed."""

    def __init__(self, run, folder: Path):
        """- parameter run: calls thumbjob with the arguments of a `runs.Spec`, in a folder."""
        self._run, self._folder = run, folder
        self.all = contents()
        self._numbers = {data: number for number, data in enumerate(self.all)}
        self._known = {}
        self._layout()

    def _layout(self):
        photos = self._folder / "photos"
        photos.mkdir(parents=True)
        for number, data in enumerate(self.all):
            for name in ("jpg", "bin"):
                (photos / f"{number}.{name}").write_bytes(data)

    def number(self, data: bytes) -> int | None:
        return self._numbers.get(data)

    def of(self, spec) -> "Learned":
        """What the options of a job make of each of the contents."""
        shape = spec.shape
        if shape not in self._known:
            self._known[shape] = Learned(self, spec, self._run, self._folder / str(len(self._known)))
        return self._known[shape]


class Learned:
    def __init__(self, reference: Reference, spec, run, folder: Path):
        self._outcomes = {}  # by number and whether the name is that of a picture
        self._pixels = {}  # by number, index of the output and index of the size: a set
        folder.mkdir()
        (folder / "photos").symlink_to("../photos")
        # A source during which runs died is decoded in a process of its own, whose samples may differ a little.
        for way in ("auto", "always"):
            plain = spec.plain(way)
            result = run(plain, folder)
            events = result.by_source
            for number in range(len(reference.all)):
                for name in ("jpg", "bin"):
                    event = events.get(f"photos/{number}.{name}")
                    if way == "auto":
                        self._outcomes[number, name == "jpg"] = event["outcome"]
                    self._learn(number, name, plain, folder)

    def _learn(self, number, name, plain, folder):
        for index, output in enumerate(plain.outputs):
            for size, place in enumerate(output.places(f"{number}.{name}")):
                path = folder / output.out / place
                if path.exists():
                    self._pixels.setdefault((number, index, size), set()).add(thumbnail(path.read_bytes()).pixels)

    def outcome(self, number: int, is_named: bool) -> str:
        """What becomes of a file: `made`, `failed`, `passed-over` or `not-read`."""
        return self._outcomes[number, is_named]

    def pixels(self, number: int, output: int, size: int) -> set[bytes]:
        """The thumbnails, without their comments, that are right."""
        return self._pixels.get((number, output, size), set())
