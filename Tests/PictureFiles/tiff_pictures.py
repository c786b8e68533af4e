"""TIFF files with pictures: strips and tiles, several compressions, both byte orders (TIFF 6.0)."""

import base64
import zlib

from tiffs import LONG, SHORT, Structure

NONE, FAX3, FAX4, LZW, JPEG, DEFLATE, PACKBITS = 1, 3, 4, 5, 7, 8, 32773
_CLEAR, _END = 256, 257


def lzw(data):
    """Codes with a dictionary; the first bit is the highest, and codes become longer one code early."""
    out, waiting, filled = bytearray(), 0, 0
    table, width, following = {}, 9, 258

    def put(code):
        nonlocal waiting, filled
        waiting = waiting << width | code
        filled += width
        while filled >= 8:
            filled -= 8
            out.append(waiting >> filled & 255)
        waiting &= (1 << filled) - 1

    put(_CLEAR)
    prefix = None
    for value in data:
        if prefix is None:
            prefix = value
            continue
        if (known := table.get((prefix, value))) is not None:
            prefix = known
            continue
        put(prefix)
        table[prefix, value] = following
        following += 1
        if following == 4094:
            put(_CLEAR)
            table, width, following = {}, 9, 258
        elif following + 1 > 1 << width:
            width += 1
        prefix = value
    if prefix is not None:
        put(prefix)
    following += 1
    if following + 1 > 1 << width and width < 12:
        width += 1
    put(_END)
    if filled:
        out.append(waiting << (8 - filled) & 255)
    return bytes(out)


def packbits(data):
    out = bytearray()
    for start in range(0, len(data), 128):
        part = data[start : start + 128]
        if len(set(part)) == 1 and len(part) > 1:
            out += bytes((257 - len(part), part[0]))
        else:
            out += bytes((len(part) - 1,)) + part
    return bytes(out)


_CODERS = {NONE: bytes, LZW: lzw, DEFLATE: zlib.compress, PACKBITS: packbits}


def _differences(row, channels):
    """The horizontal predictor."""
    left = bytes(channels) + row[:-channels]
    return bytes(a - b & 255 for a, b in zip(row, left, strict=True))


def _blocks(rows, channels, strip, tile):
    """The bytes of each strip or tile; tiles are padded with zeros."""
    if not tile:
        return [rows[y : y + strip] for y in range(0, len(rows), strip)]
    width, height = tile
    found = []
    for y in range(0, len(rows), height):
        for x in range(0, len(rows[0]), width * channels):
            part = [row[x : x + width * channels].ljust(width * channels, b"\0") for row in rows[y : y + height]]
            found.append(part + [bytes(width * channels)] * (height - len(part)))
    return found


def encoded(
    rows, width, channels, photometric, bits=8, compression=NONE, strip=16, tile=None, is_planar=False,
    has_predictor=False, order="<", is_big=False, more=(),
):
    """A file of rows of bytes. Tiles and planes are for 8 bits only."""
    file = Structure(order, big=is_big)
    planes = [[row[c::channels] for row in rows] for c in range(channels)] if is_planar else [rows]
    each = 1 if is_planar else channels
    places, sizes = [], []
    for plane in planes:
        for block in _blocks(plane, each, strip, tile):
            lines = [_differences(row, each) for row in block] if has_predictor else block
            data = _CODERS[compression](b"".join(lines))
            places.append(file.add(data))
            sizes.append(len(data))
    entries = [
        (0x100, LONG, [width]), (0x101, LONG, [len(rows)]), (0x102, SHORT, [bits] * channels),
        (0x103, SHORT, [compression]), (0x106, SHORT, [photometric]), (0x115, SHORT, [channels]),
        (0x11C, SHORT, [2 if is_planar else 1]), *more]
    if has_predictor:
        entries.append((0x13D, SHORT, [2]))
    if tile:
        entries += [(0x142, LONG, [tile[0]]), (0x143, LONG, [tile[1]]), (0x144, LONG, places), (0x145, LONG, sizes)]
    else:
        entries += [(0x111, LONG, places), (0x116, LONG, [strip]), (0x117, LONG, sizes)]
    return bytes(file.chain(entries).data)


# A grey picture of 8 × 8 pixels.
_SMALL_JPEG = base64.b64decode(
    "/9j/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAAL"
    "CAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AO//Z")
# White rows of CCITT's group 4, each one bit long.
_FAX = bytes([255] * 2 + [0, 0x10, 1])


def _one_strip(compression, data, width, height, bits):
    file = Structure()
    place = file.add(data)
    photometric = 0 if bits == 1 else 1
    return bytes(file.chain([
        (0x100, LONG, [width]), (0x101, LONG, [height]), (0x102, SHORT, [bits]), (0x103, SHORT, [compression]),
        (0x106, SHORT, [photometric]), (0x111, LONG, [place]), (0x115, SHORT, [1]), (0x116, LONG, [height]),
        (0x117, LONG, [len(data)])]).data)


def partial():
    """Files by name whose only strip is whole, or lacks rows, columns or its end; and one of LZW without Clear code."""
    return {
        "jpeg": _one_strip(JPEG, _SMALL_JPEG, 8, 8, 8),
        "jpeg-of-another-size": _one_strip(JPEG, _SMALL_JPEG, 30, 30, 8),
        "jpeg-without-end": _one_strip(JPEG, _SMALL_JPEG[:-2], 8, 8, 8),
        "fax": _one_strip(FAX4, _FAX, 25, 16, 1), "fax-without-rows": _one_strip(FAX4, _FAX, 25, 64, 1),
        "fax-of-group-3": _one_strip(FAX3, _FAX, 25, 16, 1),
        "lzw-without-clear": _one_strip(LZW, bytes([0x20, 0x90, 0xA0, 0x20]), 2, 1, 8),
    }
