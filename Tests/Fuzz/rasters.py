"""rasters.py: small PNG and GIF files, as the first inputs of their fuzz targets."""

import struct
import zlib

import gifs as gif_files
import pngs as png_files
from pngs import chunk

WIDTH, HEIGHT = 9, 7
# Each colour type with its bit depths, and how many samples its pixels have.
PNG_KINDS = [
    (0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (1, 2, 4, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))]
# The last two bytes of an input choose the request (pictures.c). The decoders are told to repair checksums, and to
# compress the data of some files.
REPAIRED, COMPRESSED = 0x40, 0x80
CHOICES = (0x0009, 0x4012, 0x2025)


def scanlines(channels, depth, is_interlaced):
    data = b""
    for number, (left, top, right, down) in enumerate(png_files.PASSES if is_interlaced else [(0, 0, 1, 1)]):
        columns = len(range(left, WIDTH, right))
        size = (columns * channels * depth + 7) // 8
        for row in range(top, HEIGHT, down) if columns else ():
            data += bytes([(row + number) % 5]) + bytes((row * 37 + index * 11) % 256 for index in range(size))
    return data


def png(color_type, channels, depth, is_interlaced, is_compressed, extra=b""):
    data = scanlines(channels, depth, is_interlaced)
    colors = bytes(index * 7 % 256 for index in range(3 << depth))
    palette = chunk(b"PLTE", colors) if color_type == 3 else b""
    keys = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: b"\0\x7f"}
    key = chunk(b"tRNS", keys[color_type]) if color_type in keys else b""
    head = png_files.header(WIDTH, HEIGHT, color_type, depth, is_interlaced)
    return png_files.file(head, extra + palette + key, zlib.compress(data) if is_compressed else data)


def color_chunks(is_compressed):
    """Everything that says what colours are, with an EXIF block and the chunks of an animation."""
    profile = struct.pack(">I4sI4s4s4s", 160, b"lcms", 0x02400000, b"mntr", b"RGB ", b"XYZ ")
    profile += b"\0" * 12 + b"acsp" + b"\0" * 28 + struct.pack(">3i", 63190, 65536, 54061)
    profile = profile.ljust(128, b"\0") + struct.pack(">I4sII", 1, b"wtpt", 144, 16) + b"\0" * 16
    exif = b"MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    white = (31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
    return b"".join((
        chunk(b"cICP", bytes((9, 16, 0, 1))),
        chunk(b"iCCP", b"name\0\0" + (zlib.compress(profile) if is_compressed else profile)), chunk(b"sRGB", b"\0"),
        chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"cHRM", struct.pack(">8I", *white)), chunk(b"eXIf", exif),
        chunk(b"acTL", struct.pack(">2I", 2, 0)), chunk(b"fcTL", b"\0" * 26), chunk(b"tEXt", b"Title\0text")))


def pngs():
    found = {}
    for color_type, channels, depths in PNG_KINDS:
        for depth in depths:
            for is_interlaced in (False, True):
                for is_compressed in (False, True):
                    extra = color_chunks(is_compressed) if is_interlaced else b""
                    name = f"{color_type}-{depth}-{int(is_interlaced)}-{int(is_compressed)}"
                    found[name] = png(color_type, channels, depth, is_interlaced, is_compressed, extra)
    return found


def gif(bits, is_interlaced, has_local_table, extension, left=0):
    table = bytes(index * 7 % 256 for index in range(3 << bits))
    data = gif_files.uncompressed([index * 5 % (1 << bits) for index in range(WIDTH * HEIGHT)], bits)
    local = table if has_local_table else b""
    frame = gif_files.frame(left, 0, WIDTH, HEIGHT, bits, data, is_interlaced, local)
    return gif_files.screen(WIDTH, HEIGHT, table, bits) + extension + frame + b";"


def gifs():
    control = b"!\xf9\4\1\0\0\2\0"
    repeated = b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0"
    found = {}
    for bits in (2, 3, 8):
        for is_interlaced in (False, True):
            found[f"{bits}-{int(is_interlaced)}"] = gif(bits, is_interlaced, False, b"")
            found[f"{bits}-{int(is_interlaced)}-local"] = gif(bits, is_interlaced, True, control + repeated, left=3)
    return found


def decoded(files, flags):
    """The files with the bytes that choose a request; `flags` are those of a file's name."""
    return {
        f"{name}-{choice:x}": data + struct.pack(">H", choice | flags(name)) for name, data in files.items()
        for choice in CHOICES}


def png_flags(name):
    return REPAIRED if name.endswith("-1") else REPAIRED | COMPRESSED


def inputs():
    """The inputs of each target."""
    return {
        "png-header": pngs(), "gif-header": gifs(), "decode-png": decoded(pngs(), png_flags),
        "decode-gif": decoded(gifs(), lambda _: 0)}
