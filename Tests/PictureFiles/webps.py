"""WebP files: pictures encoded by libwebp, in RIFF containers written here."""

import ctypes
import struct


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def riff(*chunks):
    data = b"".join(chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WEBP" + data


def encoded(pixels, width, height, quality=None):
    """A file without an extended header. Without a quality it is lossless. Four bytes a pixel have alpha."""
    library = ctypes.CDLL("libwebp.so.7")
    channels = len(pixels) // (width * height)
    name = f"WebPEncode{'Lossless' if quality is None else ''}{'RGBA' if channels == 4 else 'RGB'}"
    encode = getattr(library, name)
    encode.restype = ctypes.c_size_t
    output = ctypes.c_void_p()
    more = [] if quality is None else [ctypes.c_float(quality)]
    size = encode(pixels, width, height, width * channels, *more, ctypes.byref(output))
    if size == 0:
        raise RuntimeError("libwebp does not encode the picture")
    data = ctypes.string_at(output, size)
    library.WebPFree(output)
    return data


def chunks(data):
    """The chunks of a file, with their headers."""
    found, at = [], 12
    while at + 8 <= len(data):
        end = at + 8 + struct.unpack_from("<I", data, at + 4)[0]
        end += end % 2
        found.append(data[at:end])
        at = end
    return found


def _short(value):
    return struct.pack("<I", value)[:3]


def extended(width, height, *chunks, has_alpha=False, is_animated=False, flags=0):
    flags |= 0x10 * has_alpha | 0x02 * is_animated
    return riff(chunk(b"VP8X", struct.pack("<I", flags) + _short(width - 1) + _short(height - 1)), *chunks)


def frame(x, y, width, height, *chunks):
    head = _short(x // 2) + _short(y // 2) + _short(width - 1) + _short(height - 1) + _short(100) + b"\0"
    return chunk(b"ANMF", head + b"".join(chunks))


ANIMATION = chunk(b"ANIM", b"\xff\xff\xff\xff\0\0")


def pictures_of(data):
    """The chunks of a file that hold the picture, without its extended header."""
    return [each for each in chunks(data) if each[:4] in (b"ALPH", b"VP8 ", b"VP8L")]
