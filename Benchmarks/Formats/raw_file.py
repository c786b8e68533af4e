"""Writes a RAW file of a camera as DNG (Adobe's specification 1.4): a small RGB picture in the first directory, in its
first sub-directory the sensor's samples, and in the second a JPEG of full size, by which programs show it quickly.

The numbers of tags are those of TIFF 6.0, TIFF/EP and DNG.
"""

from collections.abc import Sequence
from pathlib import Path

BYTE, ASCII, SHORT, LONG, RATIONAL, SRATIONAL = 1, 2, 3, 4, 5, 10
BYTES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8, SRATIONAL: 8}
Entry = tuple[int, int, bytes]  # tag, type, values

NEW_SUBFILE_TYPE, WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 254, 256, 257, 258, 259, 262
MAKE, MODEL, STRIP_OFFSETS, ORIENTATION, SAMPLES, ROWS_PER_STRIP = 271, 272, 273, 274, 277, 278
STRIP_BYTES, SUB_IFDS, CFA_DIM, CFA, DNG_VERSION = 279, 330, 33421, 33422, 50706
WHITE_LEVEL, MATRIX, NEUTRAL, ILLUMINANT = 50717, 50721, 50728, 50778
# From XYZ to the sensor's colours, in ten-thousandths: those of sRGB.
SRGB_MATRIX = (32405, -15371, -4985, -9693, 18760, 416, 556, -2040, 10572)


def write(target: Path, size: tuple[int, int], mosaic: bytes, preview: bytes, small: bytes, small_size: tuple[int, int],
          orientation: int = 1) -> None:
    """`mosaic` has 16 bits for each pixel, little-endian, `preview` is a JPEG file, `small` is RGB."""
    header = 8
    offsets = [header]
    for content in (mosaic, preview, small):
        offsets.append(offsets[-1] + len(content) + len(content) % 2)
    first = offsets[-1]

    def directories(raw_at: int, preview_at: int) -> list[list[Entry]]:
        main = [
            long(NEW_SUBFILE_TYPE, 1), *strip(small_size, (8, 8, 8), 1, 2, offsets[2], len(small)),
            (MAKE, ASCII, b"Synthetic\0"), (MODEL, ASCII, b"Camera\0"), short(ORIENTATION, orientation),
            long(SUB_IFDS, raw_at, preview_at), (DNG_VERSION, BYTE, bytes([1, 4, 0, 0])),
            (MATRIX, SRATIONAL, rationals(SRGB_MATRIX, 10000)), (NEUTRAL, RATIONAL, rationals((1, 1, 1), 1)),
            short(ILLUMINANT, 21)]
        raw = [
            long(NEW_SUBFILE_TYPE, 0), *strip(size, (16,), 1, 32803, offsets[0], len(mosaic)),
            short(CFA_DIM, 2, 2), (CFA, BYTE, bytes([0, 1, 1, 2])), short(WHITE_LEVEL, 65535)]
        jpeg = [long(NEW_SUBFILE_TYPE, 1), *strip(size, (8, 8, 8), 7, 6, offsets[1], len(preview))]
        return [main, raw, jpeg]

    # The length of a directory does not depend on the offsets in it.
    lengths = [len(directory(entries, 0)) for entries in directories(0, 0)]
    places = [first, first + lengths[0], first + lengths[0] + lengths[1]]
    with target.open("wb") as file:
        file.write(b"II*\0" + first.to_bytes(4, "little"))
        for content in (mosaic, preview, small):
            file.write(content + bytes(len(content) % 2))
        for entries, place in zip(directories(places[1], places[2]), places, strict=True):
            file.write(directory(entries, place))


def directory(entries: list[Entry], place: int) -> bytes:
    """An image file directory, and after it the values that do not fit into its entries."""
    entries = sorted(entries)
    fixed = 2 + 12 * len(entries) + 4
    table, values = len(entries).to_bytes(2, "little"), b""
    for tag, kind, content in entries:
        table += tag.to_bytes(2, "little") + kind.to_bytes(2, "little")
        table += (len(content) // BYTES[kind]).to_bytes(4, "little")
        if len(content) <= 4:
            table += content.ljust(4, b"\0")
        else:
            table += (place + fixed + len(values)).to_bytes(4, "little")
            values += content + bytes(len(content) % 2)
    return table + bytes(4) + values


def strip(size: tuple[int, int], bits: tuple[int, ...], compression: int, photometric: int, at: int,
          length: int) -> list[Entry]:
    return [
        long(WIDTH, size[0]), long(HEIGHT, size[1]), short(BITS, *bits), short(COMPRESSION, compression),
        short(PHOTOMETRIC, photometric), long(STRIP_OFFSETS, at), short(SAMPLES, len(bits)),
        long(ROWS_PER_STRIP, size[1]), long(STRIP_BYTES, length)]


def short(tag: int, *values: int) -> Entry:
    return tag, SHORT, b"".join(value.to_bytes(2, "little") for value in values)


def long(tag: int, *values: int) -> Entry:
    return tag, LONG, b"".join(value.to_bytes(4, "little") for value in values)


def rationals(numerators: Sequence[int], denominator: int) -> bytes:
    return b"".join(
        part.to_bytes(4, "little", signed=True) for numerator in numerators for part in (numerator, denominator))
