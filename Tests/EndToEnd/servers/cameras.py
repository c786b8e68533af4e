"""Files as cameras and phones write them: small pictures, and megabytes that no thumbnail needs."""

import functools
import io
import random
import struct

import heifs
import jpegs
from servers.photos import picture
from tiffs import LONG, Structure, multi_picture

SENSOR = 12 << 20
METADATA = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
PREVIEW = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")


def noise(count, seed=1):
    return random.Random(seed).randbytes(count)


@functools.cache
def jpeg(width, height, progressive=False):
    pixels = io.BytesIO()
    picture(width, height, hue=80).save(pixels, "PPM")
    return jpegs.encoded(pixels.getvalue(), "-quality", "88", *(["-progressive"] if progressive else []))


def full():
    return jpeg(2400, 1600)


def medium():
    return jpeg(1200, 800, True)


def small():
    return jpeg(162, 108)


def sensor(structure, compression):
    """The directory of a sensor's data."""
    page = structure.page(2464, 1640, photometric=32803, samples=1, compression=compression)
    return [(tag, kind, [structure.add(noise(SENSOR))] if tag == 0x111 else values) for tag, kind, values in page]


def text(value):
    return value.encode() + b"\0"


def dng():
    file = Structure()
    inner = [
        file.directory(file.jpeg(medium(), [(0xFE, LONG, [1])])),
        file.directory(sensor(file, 7)), file.directory(file.jpeg(full(), [(0xFE, LONG, [1])]))]
    file.chain(file.page(256, 171, [(0x10F, 2, text("A Phone")), (0x14A, LONG, inner), (0xC612, 1, [1, 4, 0, 0])]))
    return bytes(file.data)


def nef():
    file = Structure(">")
    inner = [file.directory(file.jpeg(full())), file.directory(sensor(file, 34713)), file.directory(file.jpeg(small()))]
    file.chain(file.page(
        160, 120, [(0x112, 3, [8]), (0x10F, 2, text("NIKON CORPORATION")), (0x14A, LONG, inner)], subfile=1))
    return bytes(file.data)


def cr2():
    file = Structure(prefix=b"CR\2\0\0\0\0\0")
    data = full()
    file.chain([
        (0x112, 3, [6]), (0x10F, 2, text("Canon")), (0x103, 3, [6]), (0x111, LONG, [file.add(data)]),
        (0x117, LONG, [len(data)])])
    file.chain(file.jpeg(small()))
    file.chain(sensor(file, 6))
    return bytes(file.data)


def arw():
    file = Structure()
    inner = [file.directory(sensor(file, 32767))]
    file.chain(file.jpeg(full(), [(0x10F, 2, text("SONY")), (0x14A, LONG, inner), (0xC634, 1, [1, 2, 3, 4])]))
    file.chain(file.jpeg(small()))
    return bytes(file.data)


def raf():
    data = full()
    head = b"FUJIFILMCCD-RAW 0201".ljust(84, b"\0") + struct.pack(">4I", 148, len(data), 148 + len(data), SENSOR)
    return head.ljust(148, b"\0") + data + noise(SENSOR)


def cr3():
    exif = bytes(Structure().chain([(0x112, 3, [3])]).data)
    thumbnail = heifs.box(b"THMB", bytes(16) + small())
    movie = heifs.box(b"moov", heifs.box(b"uuid", METADATA + heifs.box(b"CMT1", exif) + thumbnail))
    preview = heifs.box(b"uuid", PREVIEW + bytes(7) + b"\1" + heifs.box(b"PRVW", bytes(16) + full()))
    start = heifs.box(b"ftyp", b"crx " + struct.pack(">I", 1) + b"crx isom")
    return start + movie + heifs.box(b"mdat", noise(SENSOR)) + preview


def heic(coded=heifs.HEVC):
    """A grid, a thumbnail, tags and a profile, and much that has nothing to do with them."""
    file = heifs.File("avif" if coded.kind == "av01" else "heic")
    file.add(heifs.Item("mime", noise(300_000)))
    tags = bytes(Structure().chain([(0x112, 3, [6]), (0x8298, 2, text("Nobody"))]).data)
    primary = file.grid(coded, 4, 4, heifs.colors())
    file.refer("cdsc", file.add(heifs.Item("Exif", bytes(4) + tags)), [primary])
    file.add(heifs.Item("mime", noise(3 << 20)))
    file.refer("thmb", file.picture(coded, heifs.colors()), [primary])
    file.add(heifs.Item("mime", noise(2 << 20)))
    return file.bytes(primary)


def av1(image):
    """A picture as an item of a file: what Pillow has coded, and how it is decoded."""
    file = io.BytesIO()
    image.save(file, "AVIF", quality=85, speed=10)
    data = file.getvalue()
    configuration, coded = data.index(b"av1C"), data.index(b"mdat")
    size = int.from_bytes(data[configuration - 4 : configuration])
    properties = [
        heifs.size(*image.size), heifs.box(b"av1C", data[configuration + 4 : configuration - 4 + size]), heifs.colors()]
    return heifs.Item("av01", data[coded + 4 :], properties)


@functools.cache
def phone_photo():
    """A picture of 8 megapixels with a thumbnail of 512 × 384 pixels after it."""
    image = picture(3264, 2448, hue=30)
    file = heifs.File("avif")
    primary = file.add(av1(image))
    file.refer("thmb", file.add(av1(image.resize((512, 384)))), [primary])
    return file.bytes(primary)


def with_previews(progressive):
    """A JPEG file with two previews after the picture (Multi-Picture Format)."""
    return multi_picture(jpeg(3200, 2400, progressive), [jpeg(1440, 1080), jpeg(720, 540)])


RAW = {"a.dng": dng, "b.nef": nef, "c.cr2": cr2, "d.arw": arw, "e.raf": raf, "f.cr3": cr3}
