"""GIF files, written without a library (GIF89a specification)."""

import struct


def blocks(data):
    parts = [data[start : start + 255] for start in range(0, len(data), 255)]
    return b"".join(bytes((len(part),)) + part for part in parts) + b"\0"


def uncompressed(indices, bits):
    """Codes of single pixels, with clear codes so often that all have the same length."""
    codes, clear = [], 1 << bits
    for place, index in enumerate(indices):
        codes += [clear, index] if place % (clear - 2) == 0 else [index]
    codes.append(clear + 1)
    number = sum(code << (place * (bits + 1)) for place, code in enumerate(codes))
    return number.to_bytes((len(codes) * (bits + 1) + 7) // 8, "little")


def compressed(indices, bits):
    """Codes with a dictionary, which is cleared when it is full."""
    out, waiting, filled = bytearray(), 0, 0
    clear = 1 << bits
    table, width, following = {}, bits + 1, clear + 2

    def put(code):
        nonlocal waiting, filled
        waiting |= code << filled
        filled += width
        while filled >= 8:
            out.append(waiting & 255)
            waiting >>= 8
            filled -= 8

    put(clear)
    prefix = indices[0]
    for index in indices[1:]:
        if (known := table.get((prefix, index))) is not None:
            prefix = known
            continue
        put(prefix)
        if following < 4096:
            table[prefix, index] = following
            # The decoder knows this code one step later.
            if following == 1 << width and width < 12:
                width += 1
            following += 1
        else:
            put(clear)
            table, width, following = {}, bits + 1, clear + 2
        prefix = index
    put(prefix)
    put(clear + 1)
    width = 8
    if filled:
        put(0)
    return bytes(out)


def screen(width, height, table, bits):
    return b"GIF89a" + struct.pack("<2H3B", width, height, 0x80 | bits - 1 if table else bits - 1, 0, 0) + table


def control(transparent=None, delay=0):
    """A graphic control extension."""
    has_color = transparent is not None
    return b"!\xf9\4" + struct.pack("<BHB", has_color, delay, transparent or 0) + b"\0"


def frame(left, top, width, height, bits, data, is_interlaced=False, table=b""):
    flags = 0x40 * is_interlaced | (0x80 | bits - 1 if table else 0)
    return b"," + struct.pack("<4HB", left, top, width, height, flags) + table + bytes((bits,)) + blocks(data)


def interlaced(rows):
    return [*rows[0::8], *rows[4::8], *rows[2::4], *rows[1::2]]
