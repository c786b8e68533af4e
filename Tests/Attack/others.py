"""Good files of other formats than JPEG. Those of one group hold the same pixels, so their thumbnails are the same."""

import struct
import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import bitmaps
import gifs
import heifs
import jp2s
import jxls
import pictures
import pngs
import tiff_pictures
import tiffs
import webps
from files import GoodFile, encode

WIDTH, HEIGHT = 231, 157
# The colours of GIF files and palettes: six levels of each of three colours.
LEVELS = bytes(level * 51 for level in range(6))
PALETTE = bytes(LEVELS[index // each % 6] for index in range(216) for each in (36, 6, 1)).ljust(768, b"\0")


@cache
def rgb():
    """The rows of a photo."""
    picture = pictures.picture("photo-odd")
    row = picture.width * 3
    return tuple(picture.rows[y * row : y * row + WIDTH * 3] for y in range(HEIGHT))


@cache
def indices():
    """The same with the colours of the palette, as rows of their numbers."""
    return tuple(
        bytes((row[x] + 25) // 51 * 36 + (row[x + 1] + 25) // 51 * 6 + (row[x + 2] + 25) // 51
              for x in range(0, len(row), 3)) for row in rgb())


@cache
def posterized():
    return tuple(b"".join(PALETTE[index * 3 : index * 3 + 3] for index in row) for row in indices())


@cache
def bits():
    """Black and white, as rows of 0 and 1."""
    return tuple(bytes(row[x + 1] > 120 for x in range(0, len(row), 3)) for row in rgb())


@cache
def rgba():
    """With a ramp of alpha."""
    return tuple(
        b"".join(row[x * 3 : x * 3 + 3] + bytes((min(x * 255 // (WIDTH - 1) + y % 2, 255),)) for x in range(WIDTH))
        for y, row in enumerate(rgb()))


def _wide(rows):
    """Samples of 16 bits."""
    return [[sample * 257 for sample in row] for row in rows]


def _gif(is_interlaced=False, is_compressed=True, before=b"", after=b""):
    rows = gifs.interlaced(indices()) if is_interlaced else indices()
    code = gifs.compressed if is_compressed else gifs.uncompressed
    picture = gifs.frame(0, 0, WIDTH, HEIGHT, 8, code(b"".join(rows), 8), is_interlaced)
    return gifs.screen(WIDTH, HEIGHT, PALETTE, 8) + before + picture + after + b";"


def _animated_gif():
    second = gifs.frame(3, 2, 9, 7, 8, gifs.compressed(bytes(63), 8))
    return _gif(before=b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0" + gifs.control(delay=5), after=gifs.control() + second)


def _apng():
    control = struct.pack(">5I2H2B", 0, WIDTH, HEIGHT, 0, 0, 1, 10, 0, 0)
    second = struct.pack(">5I2H2B", 1, 9, 7, 2, 3, 1, 10, 0, 0)
    data = pngs.zlib.compress(bytes(7 * 28))
    return pngs.encoded(
        rgb(), 2, 8, before=pngs.chunk(b"acTL", struct.pack(">2I", 2, 0)) + pngs.chunk(b"fcTL", control),
        after=pngs.chunk(b"fcTL", second) + pngs.chunk(b"fdAT", struct.pack(">I", 2) + data))


def _webp_group(rows, channels):
    plain = webps.encoded(b"".join(rows), WIDTH, HEIGHT)
    parts = webps.pictures_of(plain)
    yield plain
    yield webps.extended(WIDTH, HEIGHT, *parts, has_alpha=channels == 4)
    small = webps.pictures_of(webps.encoded(bytes(48), 4, 4))
    yield webps.extended(
        WIDTH, HEIGHT, webps.ANIMATION, webps.frame(0, 0, WIDTH, HEIGHT, *parts), webps.frame(2, 2, 4, 4, *small),
        is_animated=True, has_alpha=channels == 4)


def _tiff(rows=None, channels=3, **options):
    return tiff_pictures.encoded(
        rows or rgb(), WIDTH, channels, options.pop("photometric", 2), **options)


def _photos():
    """The groups of pixels that several formats can hold."""
    yield "photo", [
        ("png", pngs.encoded(rgb(), 2, 8)), ("png", pngs.encoded(rgb(), 2, 8, True)),
        ("png", pngs.encoded(_wide(rgb()), 2, 16, parts=9)), ("png", _apng()),
        *(("webp", data) for data in _webp_group(rgb(), 3)),
        ("tif", _tiff()), ("tif", _tiff(compression=tiff_pictures.LZW, has_predictor=True)),
        ("tif", _tiff(compression=tiff_pictures.DEFLATE, order=">")), ("tif", _tiff(tile=(64, 48))),
        ("tif", _tiff(compression=tiff_pictures.PACKBITS, is_planar=True)), ("tif", _tiff(is_big=True, strip=HEIGHT)),
        ("bmp", bitmaps.bmp(rgb(), WIDTH, 3)), ("bmp", bitmaps.bmp(rgb(), WIDTH, 3, is_top_down=True)),
        ("ico", bitmaps.icon(rgb(), WIDTH)), ("tga", bitmaps.tga(rgb(), WIDTH, 3)),
        ("tga", bitmaps.tga(rgb(), WIDTH, 3, has_runs=True)), ("psd", bitmaps.psd(rgb(), WIDTH, 3)),
        ("psd", bitmaps.psd(rgb(), WIDTH, 3, is_packed=False, is_large=True)),
    ]
    palette = pngs.chunk(b"PLTE", PALETTE[:648])
    map_of_colors = [(0x140, tiffs.SHORT, [PALETTE[index * 3 + c] * 257 for c in range(3) for index in range(256)])]
    yield "posterized", [
        ("gif", _gif()), ("gif", _gif(is_interlaced=True)), ("gif", _gif(is_compressed=False)),
        ("gif", _animated_gif()),
        ("png", pngs.encoded(indices(), 3, 8, before=palette)), ("png", pngs.encoded(posterized(), 2, 8)),
        ("webp", webps.encoded(b"".join(posterized()), WIDTH, HEIGHT)),
        ("tif", _tiff(indices(), 1, photometric=3, more=map_of_colors)), ("tif", _tiff(posterized())),
        ("bmp", bitmaps.bmp(indices(), WIDTH, 1, PALETTE)),
        ("bmp", bitmaps.bmp(indices(), WIDTH, 1, PALETTE, has_runs=True)),
        ("tga", bitmaps.tga(indices(), WIDTH, 1, PALETTE)),
    ]
    packed = [pngs.packed(row, 1) for row in bits()]
    white_is_zero = [bytes(value ^ 255 for value in row) for row in packed]
    yield "bits", [
        ("png", pngs.encoded(bits(), 0, 1)), ("png", pngs.encoded(bits(), 0, 1, True)),
        ("png", pngs.encoded([[value * 15 for value in row] for row in bits()], 0, 4)),
        ("tif", _tiff(packed, 1, photometric=1, bits=1, compression=tiff_pictures.LZW)),
        ("tif", _tiff(white_is_zero, 1, photometric=0, bits=1)),
        ("psd", bitmaps.psd(white_is_zero, WIDTH, 1, bits=1)),
        ("tga", bitmaps.tga([bytes(255 * value for value in row) for row in bits()], WIDTH, 1, has_runs=True)),
    ]
    yield "alpha", [
        ("png", pngs.encoded(rgba(), 6, 8)), ("png", pngs.encoded(_wide(rgba()), 6, 16, True)),
        *(("webp", data) for data in _webp_group(rgba(), 4)),
        ("tif", _tiff(rgba(), 4, more=[(0x152, tiffs.SHORT, [2])])),
        ("bmp", bitmaps.bmp(rgba(), WIDTH, 4)), ("tga", bitmaps.tga(rgba(), WIDTH, 4)),
    ]


def _codec_groups():
    """Pictures that only their own format can hold."""
    lossy = webps.encoded(b"".join(rgb()), WIDTH, HEIGHT, 80)
    yield "lossy", [
        ("webp", lossy), ("webp", webps.extended(WIDTH, HEIGHT, *webps.pictures_of(lossy))),
        ("webp", webps.extended(WIDTH, HEIGHT, webps.ANIMATION, webps.frame(
            0, 0, WIDTH, HEIGHT, *webps.pictures_of(lossy)), is_animated=True))]
    yield "lossy-alpha", [("webp", webps.encoded(b"".join(rgba()), WIDTH, HEIGHT, 80))]
    for name, data in jxls.FILES.items():
        yield f"jxl-{name}", [("jxl", data)]
    for name, data in jp2s.FILES.items():
        yield f"jp2-{name}", [("jp2", data)]
    for suffix, coded, alpha in (
        ("heic", heifs.HEVC, heifs.HEVC_ALPHA), ("avif", heifs.AV1, heifs.AV1_ALPHA),
    ):
        yield f"{suffix}-single", [(suffix, heifs.single(coded))]
        yield f"{suffix}-alpha", [(suffix, heifs.single(coded, alpha))]
        yield f"{suffix}-grid", [(suffix, heifs.tiled(coded, 3, 4))]
        yield f"{suffix}-cropped-grid", [(suffix, heifs.tiled(coded, 3, 4, width=230, height=170))]
    yield "heic-slices", [("heic", heifs.tiled(heifs.HEVC_SLICES, 2, 2))]


def _raw_group():
    """Files of cameras. A preview stands in for the picture, so each has a whole JPEG file."""
    for name, data in tiffs.directories(_preview).items():
        if not name.startswith("tiff"):
            yield f"raw-{name}", [(name, data)]


@cache
def _preview(width, height, orientation=0):
    """A JPEG file of this size."""
    picture = pictures.picture("photo-wide")
    starts = [y % picture.height * picture.width * 3 for y in range(height)]
    rows = b"".join(picture.rows[start : start + width * 3] for start in starts)
    data = encode(pictures.Picture("preview", width, height, False, rows), ["-quality", "80", "-sample", "2x2"])
    return data[:2] + tiffs.oriented(orientation) + data[2:] if orientation else data


def good_files():
    """All of them. The first of each group is the twin of the others."""
    found = []
    for group, members in (*_photos(), *_codec_groups(), *_raw_group()):
        twin = None
        for number, (suffix, data) in enumerate(members):
            file = GoodFile(f"{group}-{number}", group, _KINDS.get(suffix, "RAW"), (), data, suffix, twin)
            twin = twin or file.file_name
            found.append(file)
    return found


_KINDS = {
    "png": "PNG", "gif": "GIF", "webp": "WebP", "tif": "TIFF", "heic": "HEIC", "avif": "AVIF",
    "bmp": "BMP", "ico": "icon", "tga": "TGA", "psd": "Photoshop", "jxl": "JPEG XL", "jp2": "JPEG 2000"}
