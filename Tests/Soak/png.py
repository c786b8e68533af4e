"""Writes PNG files with noise, so that decoder processes have work."""

import struct
import zlib


def png(width, height, color_type, generator):
    """A PNG file of 8 bits a sample: grey (0), RGB (2) or RGBA (6)."""
    channels = {0: 1, 2: 3, 6: 4}[color_type]
    header = struct.pack(">2I5B", width, height, 8, color_type, 0, 0, 0)
    rows = b"".join(b"\1" + bytes(generator.randrange(8) for _ in range(width * channels)) for _ in range(height))
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
