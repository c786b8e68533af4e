"""The structure of files of other formats than JPEG: their parts, and the fields that say sizes, places and numbers.

Only good files are read here. What a field means matters for the values that are put into it.
"""

import struct
import zlib
from dataclasses import dataclass, field

# What a field says.
LENGTH, OFFSET, COUNT, SIDE, KIND, VALUE = "length", "offset", "count", "side", "kind", "value"


@dataclass(frozen=True)
class Field:
    at: int
    size: int  # bytes
    meaning: str
    order: str = "big"

    def read(self, data):
        return int.from_bytes(data[self.at : self.at + self.size], self.order)

    def written(self, data, value):
        new = (value % (1 << 8 * self.size)).to_bytes(self.size, self.order)
        return data[: self.at] + new + data[self.at + self.size :]


@dataclass
class Layout:
    fields: list[Field] = field(default_factory=list)
    parts: list[tuple[int, int]] = field(default_factory=list)  # beginning and end of each chunk, box, block or entry
    # Makes checksums right again.
    repaired: object = None
    # Bytes that mean nothing, and the places where they may be inserted.
    meaningless: tuple[bytes, list[int]] | None = None

    def add(self, at, size, meaning, order="big"):
        self.fields.append(Field(at, size, meaning, order))


def layout_of(suffix, data):
    return {
        "png": _png, "gif": _gif, "webp": _webp, "heic": _heif, "avif": _heif, "raf": _raf, "bmp": _bmp,
        "ico": _icon, "tga": _tga, "psd": _psd, "jxl": _jxl, "jp2": _jp2,
    }.get(suffix, _tiff)(data)


# PNG


def _chunks(data):
    at = 8
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4])
        yield at, end
        at = end


def _png(data):
    layout = Layout(repaired=_with_checksums)
    for at, end in _chunks(data):
        layout.parts.append((at, end))
        layout.add(at, 4, LENGTH)
        layout.add(at + 4, 4, KIND)
        kind = data[at + 4 : at + 8]
        if kind == b"IHDR":
            layout.add(at + 8, 4, SIDE)
            layout.add(at + 12, 4, SIDE)
            for place in range(16, 21):
                layout.add(at + place, 1, VALUE)
        if kind in (b"fcTL", b"acTL"):
            for place in range(at + 8, end - 7, 4):
                layout.add(place, 4, SIDE)
    starts = [at for at, _ in layout.parts]
    between = [at for at in starts[1:] if data[at + 4 : at + 8] != b"IDAT"]
    text = b"teXt" + b"words"
    layout.meaningless = struct.pack(">I", 5) + text + struct.pack(">I", zlib.crc32(text)), between
    return layout


def _with_checksums(data):
    """The file with the right checksum after each chunk, as far as chunks can be told."""
    fixed = bytearray(data)
    for at, end in _chunks(data):
        if end > len(data):
            break
        fixed[end - 4 : end] = struct.pack(">I", zlib.crc32(data[at + 4 : end - 4]))
    return bytes(fixed)


# GIF


def _table(flags):
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _gif(data):
    layout = Layout()
    for at in (6, 8):
        layout.add(at, 2, SIDE, "little")
    for at in (10, 11, 12):
        layout.add(at, 1, VALUE)
    at = 13 + _table(data[10])
    layout.parts.append((13, at))
    frames = []
    while data[at] != 0x3B:
        start = at
        layout.add(at, 1, KIND)
        if data[at] == 0x2C:
            frames.append(at)
            for place in (1, 3, 5, 7):
                layout.add(at + place, 2, SIDE, "little")
            layout.add(at + 9, 1, VALUE)
            at += 10 + _table(data[at + 9])
            layout.add(at, 1, VALUE)
            at += 1
        else:
            layout.add(at + 1, 1, KIND)
            at += 2
        while data[at]:
            layout.add(at, 1, LENGTH)
            at += 1 + data[at]
        at += 1
        layout.parts.append((start, at))
    layout.parts.append((at, at + 1))
    layout.meaningless = b"!\xfe\x05words\0", [13 + _table(data[10]), *frames[1:], at]
    # A control extension must be followed by its frame.
    if frames and data[frames[0] - 8 : frames[0] - 5] != b"!\xf9\4":
        layout.meaningless[1].append(frames[0])
    return layout


# BMP, icons, TGA, Photoshop


def _bitmap(layout, data, at):
    """The header of a bitmap, and what follows it."""
    size = int.from_bytes(data[at : at + 4], "little")
    layout.add(at, 4, LENGTH, "little")
    for place in (4, 8):
        layout.add(at + place, 4, SIDE, "little")
    layout.add(at + 14, 2, KIND, "little")
    layout.add(at + 16, 4, KIND, "little")
    layout.add(at + 32, 4, COUNT, "little")
    for place in range(40, size, 4):
        layout.add(at + place, 4, VALUE, "little")
    layout.parts += [(at, at + size), (at + size, len(data))]
    layout.meaningless = b"words", [len(data)]
    return layout


def _bmp(data):
    layout = Layout()
    layout.add(10, 4, OFFSET, "little")
    return _bitmap(layout, data, 14)


def _icon(data):
    layout = Layout()
    layout.add(4, 2, COUNT, "little")
    for place in (6, 7):
        layout.add(place, 1, SIDE)
    layout.add(14, 4, LENGTH, "little")
    layout.add(18, 4, OFFSET, "little")
    return _bitmap(layout, data, 22)


def _tga(data):
    layout = Layout(parts=[(0, 18), (18, len(data))], meaningless=(b"words", [len(data)]))
    for at in (1, 2, 7, 16, 17):
        layout.add(at, 1, KIND)
    layout.add(0, 1, LENGTH)
    for at in (3, 5):
        layout.add(at, 2, COUNT, "little")
    for at in (12, 14):
        layout.add(at, 2, SIDE, "little")
    return layout


def _psd(data):
    layout = Layout(parts=[(0, 26), (26, len(data))], meaningless=(b"words", [len(data)]))
    for at, size, meaning in (
        (4, 2, KIND), (12, 2, COUNT), (14, 4, SIDE), (18, 4, SIDE), (22, 2, KIND), (24, 2, KIND), (26, 4, LENGTH),
        (30, 4, LENGTH), (34, 8 if data[5] == 2 else 4, LENGTH)):
        layout.add(at, size, meaning)
    at = 42 if data[5] == 2 else 38
    layout.add(at, 2, KIND)
    # The sizes of some packed rows.
    for place in range(at + 2, at + 22, 2):
        layout.add(place, 2, LENGTH)
    return layout


# JPEG XL and JPEG 2000


def _outer_boxes(data):
    """The boxes of a file, each with its beginning and end."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4])
        end = len(data) if size == 0 else at + size
        yield at, min(end, len(data))
        at = end


_FREE = b"\0\0\0\x0dfreewords"


def _jxl(data):
    layout = Layout()
    if data[:2] == b"\xff\x0a":
        layout.parts += [(0, 2), (2, len(data))]
        layout.meaningless = b"words", [len(data)]
    else:
        layout.meaningless = _FREE, [at for at, _ in list(_outer_boxes(data))[2:]]
        layout.parts += list(_outer_boxes(data))
        for at, _ in layout.parts:
            layout.add(at, 4, LENGTH)
            layout.add(at + 4, 4, KIND)
    # The headers are fields of bits.
    for at in range(layout.parts[-1][0], min(layout.parts[-1][0] + 40, len(data))):
        layout.add(at, 1, VALUE)
    return layout


def _jp2(data):
    layout = Layout()
    start = 0
    if data[4:8] == b"jP  ":
        layout.parts += list(_outer_boxes(data))
        for at, _ in layout.parts:
            layout.add(at, 4, LENGTH)
            layout.add(at + 4, 4, KIND)
        layout.meaningless = _FREE, [layout.parts[-1][0]]
        start = layout.parts[-1][0] + 8
    # Marker segments up to the first tile-part.
    at = start + 2
    while data[at : at + 2] not in (b"\xff\x93", b""):
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
        layout.parts.append((at, end))
        layout.add(at + 2, 2, LENGTH)
        if data[at : at + 2] == b"\xff\x51":
            for place in range(at + 6, at + 38, 4):
                layout.add(place, 4, SIDE)
            layout.add(at + 38, 2, COUNT)
        else:
            for place in range(at + 4, end):
                layout.add(place, 1, VALUE)
        at = end
    layout.parts.append((at, len(data)))
    if start == 0:
        layout.meaningless = b"\xff\x64\0\x09\0\1words", [at for at, _ in layout.parts[1:]]
    return layout


# WebP


def _webp(data):
    layout = Layout()
    layout.add(0, 4, KIND)
    layout.add(4, 4, LENGTH, "little")
    _riff(layout, data, 12, len(data))
    # An unknown chunk at the end, counted by the RIFF header.
    layout.repaired = _with_riff_size
    layout.meaningless = b"teXt" + struct.pack("<I", 6) + b"words\n", [len(data)] if data[12:16] == b"VP8X" else []
    return layout


def _riff(layout, data, at, limit):
    while at + 8 <= limit:
        size = struct.unpack_from("<I", data, at + 4)[0]
        end = at + 8 + size + size % 2
        kind = data[at : at + 4]
        layout.parts.append((at, end))
        layout.add(at, 4, KIND)
        layout.add(at + 4, 4, LENGTH, "little")
        if kind == b"VP8X":
            layout.add(at + 8, 4, VALUE, "little")
            layout.add(at + 12, 3, SIDE, "little")
            layout.add(at + 15, 3, SIDE, "little")
        if kind == b"ANMF":
            for place in (8, 11, 14, 17):
                layout.add(at + place, 3, SIDE, "little")
            _riff(layout, data, at + 24, end)
        if kind == b"VP8 ":
            for place in (8, 11):
                layout.add(at + place, 3, VALUE, "little")
            for place in (14, 16):
                layout.add(at + place, 2, SIDE, "little")
        if kind == b"VP8L":
            layout.add(at + 9, 4, SIDE, "little")
        if kind == b"ALPH":
            layout.add(at + 8, 1, VALUE)
        at = end


def _with_riff_size(data):
    return data[:4] + struct.pack("<I", len(data) - 8) + data[8:]


# TIFF and RAW

_WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 13: 4}
_DIRECTORIES = (0x14A, 0x8769)
# Offsets and sizes of strips, tiles and previews; counts; sides.
_MEANINGS = {
    0x111: OFFSET, 0x144: OFFSET, 0x201: OFFSET, 0x14A: OFFSET, 0x8769: OFFSET, 0x117: LENGTH, 0x145: LENGTH,
    0x202: LENGTH, 0x100: SIDE, 0x101: SIDE, 0x142: SIDE, 0x143: SIDE, 0x116: SIDE, 0x115: COUNT, 0x103: KIND,
    0x106: KIND, 0x102: COUNT}


def _tiff(data):
    layout = Layout()
    order = "big" if data[:2] == b"MM" else "little"
    is_big = data[2:4] in (b"+\0", b"\0+")
    layout.add(2, 2, KIND, order)
    link = Field(8, 8, OFFSET, order) if is_big else Field(4, 4, OFFSET, order)
    layout.fields.append(link)
    _chain(layout, data, link, is_big, set())
    layout.meaningless = b"words", [len(data)]
    return layout


def _chain(layout, data, link, is_big, seen):
    count_size, entry_size, inside = (8, 20, 8) if is_big else (2, 12, 4)
    order = link.order
    while (at := link.read(data)) and at not in seen and at + count_size <= len(data):
        seen.add(at)
        count = Field(at, count_size, COUNT, order)
        layout.fields.append(count)
        place = at + count_size
        for _ in range(count.read(data)):
            layout.parts.append((place, place + entry_size))
            tag = int.from_bytes(data[place : place + 2], order)
            kind = int.from_bytes(data[place + 2 : place + 4], order)
            layout.add(place, 2, KIND, order)
            layout.add(place + 2, 2, KIND, order)
            number = Field(place + 4, inside, COUNT, order)
            layout.fields.append(number)
            width, values = _WIDTHS.get(kind, 1), number.read(data)
            value = Field(place + 4 + inside, inside, OFFSET, order)
            start = value.at if width * values <= inside else value.read(data)
            if start != value.at:
                layout.fields.append(value)
            for index in range(min(values, 4) if width > 1 else 0):
                each = Field(start + index * width, width, _MEANINGS.get(tag, VALUE), order)
                layout.fields.append(each)
                if tag in _DIRECTORIES:
                    _chain(layout, data, each, is_big, seen)
            place += entry_size
        link = Field(place, inside, OFFSET, order)
        layout.fields.append(link)


def _raf(data):
    layout = Layout()
    layout.add(84, 4, OFFSET)
    layout.add(88, 4, LENGTH)
    layout.parts += [(0, 84), (84, 100), (100, len(data))]
    layout.meaningless = b"words", [len(data)]
    return layout


# HEIF

_CONTAINERS = {b"meta": 4, b"iprp": 0, b"ipco": 0, b"iinf": 6, b"iref": 4}


def _heif(data):
    layout = Layout()
    _boxes(layout, data, 0, len(data))
    layout.meaningless = struct.pack(">I", 13) + b"freewords", [len(data)]
    return layout


def _boxes(layout, data, at, limit):
    while at + 8 <= limit:
        end = at + int.from_bytes(data[at : at + 4])
        kind, body = data[at + 4 : at + 8], at + 8
        layout.parts.append((at, end))
        layout.add(at, 4, LENGTH)
        layout.add(at + 4, 4, KIND)
        if kind in _CONTAINERS:
            if kind == b"iinf":
                layout.add(body + 4, 2, COUNT)
            _boxes(layout, data, body + _CONTAINERS[kind], end)
        elif kind == b"iloc":
            layout.add(body + 4, 2, VALUE)
            layout.add(body + 6, 2, COUNT)
            for place in range(body + 8, end, 16):
                for offset in (0, 2):
                    layout.add(place + offset, 2, VALUE)
                layout.add(place + 6, 2, COUNT)
                layout.add(place + 8, 4, OFFSET)
                layout.add(place + 12, 4, LENGTH)
        elif kind == b"ispe":
            layout.add(body + 4, 4, SIDE)
            layout.add(body + 8, 4, SIDE)
        elif kind == b"idat":
            for place in (2, 3):
                layout.add(body + place, 1, COUNT)
            for place in (4, 6):
                layout.add(body + place, 2, SIDE)
        elif kind == b"ipma":
            layout.add(body + 4, 4, COUNT)
            for place in range(body + 8, end):
                layout.add(place, 1, VALUE)
        elif kind in (b"dimg", b"auxl"):
            for place in range(body, end, 2):
                layout.add(place, 2, VALUE)
        elif kind in (b"pitm", b"infe"):
            layout.add(body + 4, 2, VALUE)
        elif kind in (b"hvcC", b"av1C", b"colr"):
            for place in range(body, min(end, body + 30)):
                layout.add(place, 1, VALUE)
        at = end
