"""What is known of files of other formats than JPEG: of PNG files whether they are whole, of others nothing.

The reader of PNG shares no code with libpng. It is stricter: any wrong checksum is a fault.
"""

import zlib
from dataclasses import dataclass

import pngs

# The bit depths of each colour type.
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# More is not decoded here.
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Judgement:
    """As `oracle.Opinion`."""

    is_whole: bool | None  # None: nobody knows
    reason: str = "nothing known"
    is_arithmetic = False

    def __str__(self):
        return self.reason


class FaultError(ValueError):
    """What is wrong with a file."""


def judgement_of(name, data):
    if not name.endswith(".png"):
        return Judgement(None)
    try:
        kinds = _read(data)
    except FaultError as fault:
        return Judgement(False, str(fault))
    return Judgement(None, "its profile is not read") if b"iCCP" in kinds else Judgement(True, "whole")


def _expect(condition, fault):
    if not condition:
        raise FaultError(fault)


def _read(data):
    """Checks a file. Returns the types of its chunks."""
    _expect(data[:8] == pngs.SIGNATURE, "no signature")
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    _expect(kinds[0] == b"IHDR" and kinds.count(b"IHDR") == 1 and len(chunks[0][1]) == 13, "no header")
    header = chunks[0][1]
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    depth, color_type, *methods, interlacing = header[8:]
    _expect(0 < width < 1 << 31 and 0 < height < 1 << 31, "impossible size")
    _expect(depth in _DEPTHS.get(color_type, ()) and methods == [0, 0] and interlacing < 2, "impossible kind")
    places = [index for index, kind in enumerate(kinds) if kind == b"IDAT"]
    _expect(places and places == list(range(places[0], places[-1] + 1)), "data not in a row")
    unknown = {kind for kind in kinds if not kind[0] & 32} - {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
    _expect(not unknown, "unknown critical chunk")
    palettes = [(index, body) for index, (kind, body) in enumerate(chunks) if kind == b"PLTE"]
    if color_type == 3:
        _expect(len(palettes) == 1 and palettes[0][0] < places[0], "no palette")
    for index, body in palettes:
        _expect(0 < len(body) <= 768 and len(body) % 3 == 0 and index < places[0], "wrong palette")
        _expect(color_type in (2, 3, 6) and len(palettes) == 1, "palette without use")
    _check_alphas([body for kind, body in chunks if kind == b"tRNS"], color_type, [body for _, body in palettes])
    step = pngs.CHANNELS[color_type] * depth
    _check_rows(_inflated(b"".join(chunks[index][1] for index in places)), width, height, step, interlacing)
    return kinds


def _check_alphas(bodies, color_type, palettes):
    sizes = {0: {2}, 2: {6}, 3: set(range(1, len(palettes[0]) // 3 + 1)) if palettes else set()}
    for body in bodies:
        _expect(len(body) in sizes.get(color_type, ()) and len(bodies) == 1, "wrong alphas")


def _chunks(data):
    at = 8
    while True:
        size = int.from_bytes(data[at : at + 4])
        end = at + 12 + size
        _expect(end <= len(data), "the file ends early")
        kind, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        _expect(zlib.crc32(kind + body) == int.from_bytes(data[end - 4 : end]), f"wrong checksum at {at}")
        yield kind, body
        if kind == b"IEND":
            return
        at = end


def _inflated(data):
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise FaultError(f"zlib: {error}") from error
    _expect(inflater.eof, "the data ends early, or is too long to know")
    return found


def _check_rows(data, width, height, step, is_interlaced):
    at = 0
    for left, top, right, down in pngs.PASSES if is_interlaced else [(0, 0, 1, 1)]:
        columns = len(range(left, width, right))
        size = (columns * step + 7) // 8
        for _ in range(top, height, down) if columns else ():
            _expect(at + size < len(data), "rows are missing")
            _expect(data[at] < 5, "a filter that does not exist")
            at += 1 + size
    _expect(at == len(data), "too much data")
