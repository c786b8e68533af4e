"""PNG files of all kinds, written without a library (PNG specification, third edition)."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The samples of a pixel, by colour type.
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# Where the passes of an interlaced picture begin, and how far apart their pixels are.
PASSES = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(width, height, color_type, depth, is_interlaced=False):
    return chunk(b"IHDR", struct.pack(">2I5B", width, height, depth, color_type, 0, 0, is_interlaced))


def packed(samples, depth):
    """The bytes of a row of samples."""
    if depth == 8:
        return bytes(samples)
    if depth == 16:
        return b"".join(struct.pack(">H", sample) for sample in samples)
    each = 8 // depth
    samples = [*samples, *[0] * (-len(samples) % each)]
    return bytes(
        sum(sample << (8 - depth * (1 + index)) for index, sample in enumerate(samples[start : start + each]))
        for start in range(0, len(samples), each))


def filtered(kind, row, above, step):
    """A row of bytes after one of the five filters; `step` is the size of a pixel, one byte at least."""
    if kind == 0:
        return row
    left = bytes(step) + row[:-step]
    if kind < 3:
        other = left if kind == 1 else above
    elif kind == 3:
        other = bytes(a + b >> 1 for a, b in zip(left, above, strict=True))
    else:
        corner = bytes(step) + above[:-step]
        other = bytes(_paeth(a, b, c) for a, b, c in zip(left, above, corner, strict=True))
    return bytes(value - guess & 255 for value, guess in zip(row, other, strict=True))


def _paeth(left, above, corner):
    guess = left + above - corner
    distances = [abs(guess - left), abs(guess - above), abs(guess - corner)]
    return (left, above, corner)[distances.index(min(distances))]


def filtered_rows(rows, color_type, depth, is_interlaced=False, filters=(0, 1, 2, 3, 4)):
    """The data before compression. `rows` are lists of samples; each row has the next of the filters."""
    channels = CHANNELS[color_type]
    width = len(rows[0]) // channels
    step = max(channels * depth // 8, 1)
    data = bytearray()
    for left, top, right, down in PASSES if is_interlaced else [(0, 0, 1, 1)]:
        columns = range(left, width, right)
        if not columns:
            continue
        above = None
        for number, row in enumerate(rows[top::down]):
            picked = row if right == 1 else [row[x * channels + c] for x in columns for c in range(channels)]
            line = packed(picked, depth)
            kind = filters[number % len(filters)]
            data.append(kind)
            data += filtered(kind, line, above or bytes(len(line)), step)
            above = line
    return bytes(data)


def file(head, before, compressed, after=b"", parts=1):
    """A file of its IHDR chunk, chunks before the data, the data in so many chunks, and chunks after it."""
    size = max(-(-len(compressed) // parts), 1)
    data = b"".join(chunk(b"IDAT", compressed[at : at + size]) for at in range(0, len(compressed), size))
    return SIGNATURE + head + before + data + after + chunk(b"IEND", b"")


def encoded(rows, color_type, depth, is_interlaced=False, before=b"", after=b"", parts=1, filters=(0, 1, 2, 3, 4)):
    """A PNG file of rows of samples."""
    data = filtered_rows(rows, color_type, depth, is_interlaced, filters)
    head = header(len(rows[0]) // CHANNELS[color_type], len(rows), color_type, depth, is_interlaced)
    return file(head, before, zlib.compress(data, 6), after, parts)


def noise(width, height, color_type, generator):
    """A PNG file of 8 bits a sample with noise, so that a decoder has work."""
    rows = b"".join(
        b"\1" + bytes(generator.randrange(8) for _ in range(width * CHANNELS[color_type])) for _ in range(height))
    return file(header(width, height, color_type, 8), b"", zlib.compress(rows))
