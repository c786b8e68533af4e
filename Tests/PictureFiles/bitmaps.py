"""BMP, ICO, TGA and Photoshop files, written without a library. Rows are bytes from left to right, the first on top."""

import struct


def _padded(row):
    return row + bytes(-len(row) % 4)


def _swapped(row, channels):
    """Blue, green, red and alpha instead of red, green, blue and alpha."""
    out = bytearray(row)
    out[0::channels], out[2::channels] = row[2::channels], row[0::channels]
    return bytes(out)


def _run_lengths(row):
    """Runs of BMP: of one index, or three and more indices as they are."""
    out, place = b"", 0
    while place < len(row):
        end = place + 1
        while end < len(row) and row[end] == row[place] and end - place < 255:
            end += 1
        out += bytes((end - place, row[place]))
        place = end
    return out + b"\0\0"


def _header(width, height, bits, size, compression=0, colors=0):
    return struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, size, 2835, 2835, colors, 0)


def bmp(rows, width, channels, palette=b"", has_runs=False, is_top_down=False):
    """Of indices with one channel and a palette of red, green and blue; of colours with three; with alpha with four."""
    height = len(rows)
    if channels > 1:
        coded = [_padded(_swapped(row, channels)) for row in rows]
    else:
        coded = [_run_lengths(row) if has_runs else _padded(row) for row in rows]
    data = b"".join(coded if is_top_down else reversed(coded)) + (b"\0\1" if has_runs else b"")
    table = b"".join(_swapped(palette[at : at + 3], 3) + b"\0" for at in range(0, len(palette), 3))
    header = _header(width, -height if is_top_down else height, 8 * channels, len(data), int(has_runs), len(table) // 4)
    if channels == 4:
        masks = struct.pack("<4I", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
        longer = (struct.pack("<I", 108), header[4:16], struct.pack("<I", 3), header[20:], masks, b"BGRs", bytes(48))
        header = b"".join(longer)
    start = 14 + len(header) + len(table)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + header + table + data


def icon(rows, width):
    """Of colours, with a mask of which nothing is transparent."""
    height = len(rows)
    mask = bytes((width + 31) // 32 * 4) * height
    data = b"".join(_padded(_swapped(row, 3)) for row in reversed(rows)) + mask
    picture = _header(width, 2 * height, 24, len(data)) + data
    return struct.pack("<3H4B2H2I", 0, 1, 1, width % 256, height % 256, 0, 0, 1, 24, len(picture), 22) + picture


def tga(rows, width, channels, palette=b"", has_runs=False):
    """Of indices or grey with one channel, of colours with three, with alpha with four."""
    kind = (1 if palette else 3 if channels == 1 else 2) + (8 if has_runs else 0)
    head = struct.pack(
        "<3B2HB4H2B", 0, bool(palette), kind, 0, len(palette) // 3, 24 if palette else 0, 0, 0, width, len(rows),
        8 * channels, 0x28 if channels == 4 else 0x20)
    data = b"".join(_swapped(row, channels) if channels > 1 else row for row in rows)
    if has_runs:
        # Parts of up to 128 pixels as they are, which go on in the next row.
        parts = (data[at : at + 128 * channels] for at in range(0, len(data), 128 * channels))
        data = b"".join(bytes((len(part) // channels - 1,)) + part for part in parts)
    return head + _swapped(palette, 3) + data


def _packed(row):
    parts = (row[at : at + 128] for at in range(0, len(row), 128))
    return b"".join(bytes((len(part) - 1,)) + part for part in parts)


def psd(rows, width, channels, bits=8, is_packed=True, is_large=False):
    """The merged picture of a Photoshop file: grey or, with 1 bit, black and white with one channel; RGB with three."""
    sizes, data = [], b""
    for channel in range(channels):
        for row in rows:
            coded = _packed(row[channel::channels]) if is_packed else row[channel::channels]
            sizes.append(len(coded))
            data += coded
    mode = 3 if channels == 3 else 0 if bits == 1 else 1
    head = struct.pack(">4sH6x H2I2H", b"8BPS", 2 if is_large else 1, channels, len(rows), width, bits, mode)
    table = struct.pack(f">{len(sizes)}{'I' if is_large else 'H'}", *sizes) if is_packed else b""
    return head + bytes(8) + bytes(8 if is_large else 4) + struct.pack(">H", is_packed) + table + data
