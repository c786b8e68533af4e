"""Unusual files of other formats than JPEG, each written for one danger: bombs, circles, impossible sizes.

For some it is certain what must become of them: `MADE`, made as the same picture as a good file, or `FAILED`.
"""

import struct
import zlib
from dataclasses import dataclass

import others
from others import HEIGHT, PALETTE, WIDTH, gifs, heifs, pngs, tiff_pictures, tiffs, webps

MADE, FAILED = "made", "failed"
# Good files with the same pixels (others.py).
_PHOTO, _POSTERIZED = "photo-0.png", "posterized-0.gif"
HUGE = (1 << 31) - 1


@dataclass(frozen=True)
class OddFile:
    name: str
    data: bytes
    kind: str
    expected: str | None = None  # MADE, FAILED, or the name of a good file; None: it may be made or refused

    @property
    def is_impossible(self):
        return self.expected == FAILED

    @property
    def is_good(self):
        return self.expected not in (None, FAILED)

    @property
    def twin(self):
        return self.expected if self.expected not in (None, MADE, FAILED) else None


def odd_files():
    found = []
    for name, make in (("PNG", _pngs), ("GIF", _gifs), ("WebP", _webps), ("TIFF", _tiffs), ("HEIF", _heifs)):
        for title, data, *expected in make():
            stem, _, suffix = title.rpartition(".")
            file_name = f"odd-{stem.replace(' ', '-')}.{suffix}"
            found.append(OddFile(file_name, data, f"unusual {name}", *expected))
    return found


# PNG


def _png(width, height, color_type, depth, data, before=b"", after=b"", is_interlaced=False):
    head = pngs.header(width & 0xFFFFFFFF, height & 0xFFFFFFFF, color_type, depth, is_interlaced)
    return pngs.file(head, before, zlib.compress(data, 9), after)


def _zeros(mebibytes):
    """Compressed zeros."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(mebibytes)) + packer.flush()


def _with(*chunks, after=()):
    """A good picture with more chunks before and after its data."""
    return pngs.encoded(
        others.rgb(), 2, 8, before=b"".join(pngs.chunk(*each) for each in chunks),
        after=b"".join(pngs.chunk(*each) for each in after))


def _pngs():
    row = bytes(1 + 4 * 3)
    for width, height in ((0, 4), (4, 0), (0, 0), (HUGE, 1), (1, HUGE), (HUGE, HUGE), (-1, -1), (1 << 31, 4)):
        yield f"size {width} {height}.png", _png(width, height, 2, 8, row * 4), FAILED
    for color_type, depth in ((1, 8), (2, 4), (3, 16), (5, 8), (7, 8), (255, 255), (0, 0), (2, 32)):
        yield f"kind {color_type} {depth}.png", _png(4, 4, color_type, depth, row * 4), FAILED
    yield "one row of many.png", _png(4, 4000, 2, 8, row), FAILED
    yield "bomb of one bit.png", _png(12000, 12000, 0, 1, bytes(12000 * 1501)), MADE
    yield "bomb that is not needed.png", pngs.file(pngs.header(100, 100, 0, 8), b"", _zeros(64))
    yield "interlaced bomb.png", pngs.file(pngs.header(900000, 900000, 6, 16, True), b"", _zeros(16)), FAILED
    profile = b"name\0\0" + _zeros(64)
    yield "bomb of a profile.png", _with((b"iCCP", profile))
    yield "bomb of a text.png", _with((b"zTXt", profile)), _PHOTO
    yield "many texts.png", _with(*[(b"tEXt", b"a\0b")] * 5000), _PHOTO
    yield "many pieces.png", pngs.encoded(others.rgb(), 2, 8, parts=1 << 30), _PHOTO
    yield "empty pieces.png", pngs.encoded(others.rgb(), 2, 8, before=pngs.chunk(b"IDAT", b"") * 1000), _PHOTO
    yield "frames off the picture.png", _with(
        (b"acTL", struct.pack(">2I", HUGE, 0)),
        after=[(b"fcTL", struct.pack(">5I2H2B", 0, HUGE, HUGE, HUGE, HUGE, 0, 0, 9, 9)), (b"fdAT", bytes(9))]), _PHOTO
    yield "hidden frame first.png", _with((b"acTL", struct.pack(">2I", 1, 0))), _PHOTO
    yield "no palette.png", _png(4, 4, 3, 8, bytes(20)), FAILED
    palette = pngs.chunk(b"PLTE", bytes(9))
    yield "beyond the palette.png", _png(4, 4, 3, 8, bytes(5) + b"\0\xff\xff\xff\xff" * 3, palette)
    yield "palette of 257.png", _png(4, 4, 3, 8, bytes(20), pngs.chunk(b"PLTE", bytes(771)))
    yield "palette of 4 bytes.png", _png(4, 4, 3, 8, bytes(20), pngs.chunk(b"PLTE", bytes(4))), FAILED
    yield "too many alphas.png", _png(4, 4, 3, 8, bytes(20), palette + pngs.chunk(b"tRNS", bytes(256)))
    yield "two headers.png", _with((b"IHDR", struct.pack(">2I5B", 9, 9, 8, 6, 0, 0, 0)))
    yield "no end.png", _with()[:-12]
    for kind, body in ((b"gAMA", bytes(4)), (b"gAMA", b"\xff" * 4), (b"cHRM", bytes(32)), (b"cHRM", b"\xff" * 32),
                       (b"eXIf", b"MM\0*\xff\xff\xff\xff"), (b"eXIf", b""), (b"cICP", b"\xff" * 4), (b"sRGB", b"\xff"),
                       (b"iCCP", b"n\0\0none"), (b"iCCP", b""), (b"tRNS", b"\xff" * 7), (b"pHYs", bytes(2))):
        yield f"{kind.decode()} of {len(body)} bytes {body[:2].hex()}.png", _with((kind, body))


# GIF


def _gif_of(width, height, frame, table=PALETTE, before=b"", end=b";"):
    return gifs.screen(width, height, table, 8) + before + frame + end


def _gifs():
    data = gifs.compressed(b"".join(others.indices()), 8)
    whole = gifs.frame(0, 0, WIDTH, HEIGHT, 8, data)
    for left, top, width, height in ((9, 9, WIDTH, HEIGHT), (65535, 65535, 9, 7), (0, 0, 0, 0), (0, 0, 65535, 65535)):
        frame = gifs.frame(left, top, width, height, 8, data)
        yield f"frame {left} {top} {width} {height}.gif", _gif_of(WIDTH, HEIGHT, frame)
    for width, height in ((0, 0), (1, 1), (65535, 65535)):
        yield f"screen {width} {height}.gif", _gif_of(width, height, whole)
    yield "no palette.gif", _gif_of(WIDTH, HEIGHT, whole, b"")
    for size in (0, 1, 9, 12, 255):
        yield f"codes of {size} bits.gif", _gif_of(WIDTH, HEIGHT, gifs.frame(0, 0, WIDTH, HEIGHT, size, data))
    for name, codes in (("FF", b"\xff" * 3000), ("zeros", bytes(3000)), ("nothing", b"")):
        yield f"codes of {name}.gif", _gif_of(WIDTH, HEIGHT, gifs.frame(0, 0, WIDTH, HEIGHT, 8, codes)), FAILED
    yield "no frame.gif", _gif_of(WIDTH, HEIGHT, b""), FAILED
    yield "no end.gif", _gif_of(WIDTH, HEIGHT, whole, end=b"")
    yield "many frames.gif", _gif_of(WIDTH, HEIGHT, whole + gifs.frame(0, 0, 1, 1, 8, b"\0\1\2\3") * 30000)
    yield "many comments.gif", _gif_of(WIDTH, HEIGHT, whole, before=b"!\xfe\1a\0" * 100000), _POSTERIZED
    yield "bomb.gif", _gif_of(9000, 9000, gifs.frame(0, 0, 9000, 9000, 8, gifs.compressed(bytes(300000), 8)))
    yield "endless extension.gif", _gif_of(WIDTH, HEIGHT, b"!\xff" + b"\xff" * 65000), FAILED


# WebP


def _webps():
    plain = webps.encoded(b"".join(others.rgb()), WIDTH, HEIGHT)
    parts = webps.pictures_of(plain)
    lossy = webps.pictures_of(webps.encoded(b"".join(others.rgb()), WIDTH, HEIGHT, 80))
    for width, height in ((1 << 24, 1 << 24), (WIDTH + 1, HEIGHT), (1, 1)):
        yield f"canvas {width} {height}.webp", webps.extended(width, height, *parts)
    for x, y in ((1 << 24, 0), (200, 100), (0xFFFFFE, 0xFFFFFE)):
        frame = webps.frame(x, y, WIDTH, HEIGHT, *parts)
        yield f"frame at {x} {y}.webp", webps.extended(WIDTH, HEIGHT, webps.ANIMATION, frame, is_animated=True)
    yield "frame of another size.webp", webps.extended(
        WIDTH, HEIGHT, webps.ANIMATION, webps.frame(0, 0, 9, 9, *parts), is_animated=True), FAILED
    yield "no frame.webp", webps.extended(WIDTH, HEIGHT, webps.ANIMATION, is_animated=True), FAILED
    yield "frames in frames.webp", webps.extended(
        WIDTH, HEIGHT, webps.ANIMATION, webps.frame(0, 0, WIDTH, HEIGHT, webps.frame(0, 0, WIDTH, HEIGHT, *parts)),
        is_animated=True)
    yield "alpha without a picture.webp", webps.extended(WIDTH, HEIGHT, webps.chunk(b"ALPH", bytes(99))), FAILED
    yield "alpha of zeros.webp", webps.extended(WIDTH, HEIGHT, webps.chunk(b"ALPH", bytes(99)), *lossy, has_alpha=True)
    yield "two pictures.webp", webps.extended(WIDTH, HEIGHT, *parts, *lossy)
    yield "many chunks.webp", webps.extended(WIDTH, HEIGHT, *[webps.chunk(b"teXt", b"ab")] * 500, *parts), _PHOTO
    for size in (0, 4, HUGE, 0xFFFFFFFF):
        yield f"size {size}.webp", plain[:4] + struct.pack("<I", size) + plain[8:]
    side = 16383
    head = struct.pack("<I", side - 1 | side - 1 << 14)
    yield "lossless bomb.webp", webps.riff(webps.chunk(b"VP8L", b"\x2f" + head + bytes(4000)))
    key = b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<2H", side, side)
    yield "lossy bomb.webp", webps.riff(webps.chunk(b"VP8 ", key + bytes(4000)))
    yield "no size.webp", webps.riff(webps.chunk(b"VP8 ", key[:6] + bytes(4000))), FAILED
    yield "empty.webp", webps.riff(), FAILED


# TIFF


def _tiff(*entries, **options):
    """A good picture, some of whose entries are others."""
    changed = {each[0]: each for each in entries}
    file = tiffs.Structure(**options)
    rows = b"".join(others.rgb())
    place = file.add(rows)
    usual = [
        (0x100, tiffs.LONG, [WIDTH]), (0x101, tiffs.LONG, [HEIGHT]), (0x102, tiffs.SHORT, [8] * 3),
        (0x103, tiffs.SHORT, [1]), (0x106, tiffs.SHORT, [2]), (0x111, tiffs.LONG, [place]), (0x115, tiffs.SHORT, [3]),
        (0x116, tiffs.LONG, [HEIGHT]), (0x117, tiffs.LONG, [len(rows)])]
    merged = {**{each[0]: each for each in usual}, **changed}
    return file.chain([each for each in merged.values() if each[2] is not None])


def _circular(directory_link):
    file = _tiff()
    start = struct.unpack_from("<I", file.data, 4)[0]
    struct.pack_into("<I", file.data, directory_link or file.link, start)
    return bytes(file.data)


def _tiffs():
    values = {
        0x100: (0, 1, HUGE), 0x101: (0, 1, HUGE), 0x116: (0, HUGE), 0x111: (0, HUGE), 0x117: (0, 1, HUGE),
        0x103: (0, 2, 3, 4, 5, 6, 7, 8, 34925, 32773, 50000, 50001, 65535), 0x106: (0, 1, 3, 4, 5, 6, 8, 32803, 65535),
        0x115: (0, 1, 2, 4, 65535), 0x11C: (0, 2, 9), 0x112: (0, 9), 0x13D: (2, 3, 99), 0x10A: (2,), 0x153: (2, 3, 9),
        0x152: (9,), 0x142: (0, 16, HUGE), 0x14A: (0, 8, HUGE)}
    for tag, numbers in values.items():
        for number in numbers:
            kind = tiffs.SHORT if number < 65536 else tiffs.LONG
            yield f"tag {tag:x} is {number}.tif", bytes(_tiff((tag, kind, [number])).data)
    for tag in (0x100, 0x101, 0x102, 0x103, 0x106, 0x111, 0x115, 0x117):
        yield f"without tag {tag:x}.tif", bytes(_tiff((tag, 0, None)).data)
    for depth in (0, 1, 2, 7, 12, 16, 24, 32, 64, 65, 65535):
        yield f"depth {depth}.tif", bytes(_tiff((0x102, tiffs.SHORT, [depth] * 3)).data)
    yield "different depths.tif", bytes(_tiff((0x102, tiffs.SHORT, [8, 4, 16])).data)
    yield "depth of one sample.tif", bytes(_tiff((0x102, tiffs.SHORT, [8])).data)
    yield "circle of pages.tif", _circular(None)
    tiles = [(0x142, tiffs.LONG, [1 << 30]), (0x143, tiffs.LONG, [1 << 30]), (0x144, tiffs.LONG, [8]),
             (0x145, tiffs.LONG, [99])]
    yield "huge tiles.tif", bytes(_tiff(*tiles, (0x111, 0, None), (0x117, 0, None)).data), FAILED
    chain = tiffs.Structure()
    for _ in range(3000):
        chain.chain([(0x100, tiffs.LONG, [9]), (0x101, tiffs.LONG, [9])])
    yield "many pages.tif", bytes(chain.data)
    yield "many entries.tif", b"II*\0\x08\0\0\0\xff\xff" + bytes(65535 * 12)
    side = 12000
    bomb = tiffs.Structure()
    data = zlib.compress(bytes(side * side // 8), 9)
    bomb.chain([
        (0x100, tiffs.LONG, [side]), (0x101, tiffs.LONG, [side]), (0x102, tiffs.SHORT, [1]),
        (0x103, tiffs.SHORT, [tiff_pictures.DEFLATE]), (0x106, tiffs.SHORT, [1]),
        (0x111, tiffs.LONG, [bomb.add(data)]), (0x115, tiffs.SHORT, [1]), (0x116, tiffs.LONG, [side]),
        (0x117, tiffs.LONG, [len(data)])])
    yield "bomb.tif", bytes(bomb.data), MADE
    big = bytearray(tiff_pictures.encoded(others.rgb(), WIDTH, 3, 2, is_big=True))
    for name, value in (("far", (1 << 63) - 1), ("negative", (1 << 64) - 1), ("self", 8)):
        struct.pack_into("<Q", big, 8, value)
        yield f"big {name}.tif", bytes(big), FAILED
    yield "only a head.tif", b"II*\0\x08\0\0\0", FAILED


# HEIF


def _item(file, kind, data, *properties, in_item_data=True):
    return file.add(heifs.Item(kind, data, list(properties), in_item_data))


def _grid(rows, columns, width, height):
    return struct.pack(">4B2H", 0, 0, rows - 1, columns - 1, width, height)


def _heifs():
    for suffix, coded in (("heic", heifs.HEVC), ("avif", heifs.AV1)):
        for rows, columns, tiles in ((256, 256, 1), (2, 2, 1), (1, 1, 4), (2, 2, 0)):
            file = heifs.File(suffix)
            numbers = [file.picture(coded) for _ in range(tiles)]
            size = heifs.size(columns * 64, rows * 64)
            grid = _item(file, "grid", _grid(rows, columns, columns * 64 & 0xFFFF, rows * 64 & 0xFFFF), size)
            file.refer("dimg", grid, numbers)
            yield f"grid {rows} {columns} of {tiles}.{suffix}", file.bytes(grid)
        yield f"same tile.{suffix}", _same_tile(suffix, coded)
        for name, link in (("dimg", 1), ("thmb", 1), ("auxl", 1), ("cdsc", 1)):
            file = heifs.File(suffix)
            file.picture(coded)
            file.refer(name, 1, [link])
            yield f"{name} to itself.{suffix}", file.bytes(1)
        for depth in (2, 60):
            file = heifs.File(suffix)
            inner = file.picture(coded)
            for _ in range(depth):
                grid = _item(file, "grid", _grid(1, 1, 64, 64), heifs.size(64, 64))
                file.refer("dimg", grid, [inner])
                inner = grid
            yield f"grids in grids {depth}.{suffix}", file.bytes(inner)
        file = heifs.File(suffix)
        grids = [_item(file, "grid", _grid(1, 1, 64, 64), heifs.size(64, 64)) for _ in range(2)]
        file.refer("dimg", grids[0], [grids[1]])
        file.refer("dimg", grids[1], [grids[0]])
        yield f"circle of grids.{suffix}", file.bytes(grids[0]), FAILED
        for width, height in ((0, 0), (64, 0), (HUGE, HUGE), (0xFFFFFFFF, 64), (63, 65), (1, 1)):
            file = heifs.File(suffix)
            file.add(heifs.Item(coded.kind, coded.data, [heifs.size(width, height), coded.property]))
            yield f"size {width} {height}.{suffix}", file.bytes(1)
        for name, turn in (
            ("irot", b"\xff"), ("imir", b"\xff"), ("clap", bytes(32)), ("clap", b"\xff" * 32), ("pasp", bytes(8)),
        ):
            yield f"{name} {turn[:1].hex()}.{suffix}", heifs.single(coded, None, heifs.box(name.encode(), turn))
        file = heifs.File(suffix)
        file.add(heifs.Item(coded.kind, coded.data, [heifs.size(64, 64)]))
        yield f"no configuration.{suffix}", file.bytes(1)
        file = heifs.File(suffix)
        file.add(heifs.Item(coded.kind, b"", [heifs.size(64, 64), coded.property]))
        yield f"no data.{suffix}", file.bytes(1), FAILED
        whole = heifs.single(coded)
        at = whole.index(b"mdat") - 4
        for name, size in (("to the end", 0), ("of 64 bits", 1), ("shorter than its head", 7), ("huge", 0xFFFFFFFF)):
            yield f"box {name}.{suffix}", whole[:at] + struct.pack(">I", size) + whole[at + 4 :]
        yield f"boxes in boxes.{suffix}", whole[: whole.index(b"meta") - 4] + _nested(20000)
        yield f"no primary.{suffix}", heifs.File(suffix).bytes(1), FAILED
        yield f"many items.{suffix}", _many_items(suffix, coded)


def _same_tile(suffix, coded):
    file = heifs.File(suffix)
    tile = file.picture(coded)
    grid = _item(file, "grid", _grid(8, 8, 512, 512), heifs.size(512, 512))
    file.refer("dimg", grid, [tile] * 64)
    return file.bytes(grid)


def _many_items(suffix, coded):
    file = heifs.File(suffix)
    for _ in range(2000):
        file.picture(coded)
    return file.bytes(1)


def _nested(depth):
    data = b""
    for _ in range(depth):
        data = heifs.box(b"meta", data)
    return data
