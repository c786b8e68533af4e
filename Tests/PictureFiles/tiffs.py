"""Small TIFF structures, RAW files and multi-picture files. What is in them is the head of a JPEG, or any other."""

import struct

SHORT, LONG, UNDEFINED = 3, 4, 7


class Structure:
    """A TIFF or BigTIFF structure that grows: what is added gets an offset."""

    def __init__(self, order="<", magic=42, prefix=b"", big=False):
        self.order, self.big = order, big
        letters = b"II" if order == "<" else b"MM"
        head = struct.pack(order + "HHHQ", 43, 8, 0, 0) if big else struct.pack(order + "HI", magic, 0)
        self.data = bytearray(letters + head + prefix)
        self.link = 8 if big else 4

    def add(self, data):
        self.data += b"\0" * (len(self.data) % 2)
        offset = len(self.data)
        self.data += data
        return offset

    def directory(self, entries):
        """Adds a directory of (tag, type, values), where values are numbers or bytes, and returns its offset."""
        packed = b""
        for tag, kind, values in sorted(entries):
            if isinstance(values, bytes):
                count, value = len(values), values
            else:
                letter = {1: "B", SHORT: "H", LONG: "I"}[kind]
                count, value = len(values), struct.pack(f"{self.order}{len(values)}{letter}", *values)
            inside = 8 if self.big else 4
            if len(value) > inside:
                value = struct.pack(self.order + ("Q" if self.big else "I"), self.add(value))
            packed += struct.pack(self.order + ("HHQ" if self.big else "HHI"), tag, kind, count)
            packed += value.ljust(inside, b"\0")
        count = struct.pack(self.order + ("Q" if self.big else "H"), len(entries))
        return self.add(count + packed + b"\0" * (8 if self.big else 4))

    def chain(self, entries):
        """Adds a directory as the next of the chain."""
        offset = self.directory(entries)
        width = 8 if self.big else 4
        self.data[self.link : self.link + width] = struct.pack(self.order + ("Q" if self.big else "I"), offset)
        self.link = len(self.data) - width
        return self

    def page(self, width, height, more=(), photometric=2, samples=3, compression=1, subfile=0):
        return [
            (0xFE, LONG, [subfile]), (0x100, LONG, [width]), (0x101, LONG, [height]), (0x102, SHORT, [8] * samples),
            (0x103, SHORT, [compression]), (0x106, SHORT, [photometric]), (0x111, LONG, [self.add(b"abc")]),
            (0x115, SHORT, [samples]), (0x116, LONG, [height]), (0x117, LONG, [3]), *more]

    def jpeg(self, data, more=()):
        return [(0x103, SHORT, [6]), (0x201, LONG, [self.add(data)]), (0x202, LONG, [len(data)]), *more]


def oriented(orientation):
    """The APP1 segment of a JPEG with this orientation."""
    exif = b"Exif\0\0" + bytes(Structure(">").chain([(0x112, SHORT, [orientation])]).data)
    return b"\xff\xe1" + struct.pack(">H", 2 + len(exif)) + exif


def jpeg(width, height, orientation=0, segments=b"", sof=0xC0):
    """The head of a JPEG."""
    if orientation:
        segments = oriented(orientation) + segments
    components = b"\1\x22\0\2\x11\1\3\x11\1"
    frame = struct.pack(">BHBHHB", sof, 17, 8, height, width, 3) + components
    return b"\xff\xd8" + segments + b"\xff" + frame + b"\xff\xda"


def directories(preview=jpeg):
    """TIFF pictures and RAW files by name. `preview` makes a JPEG of a width, a height, and an orientation."""
    found = {}
    for name, order, big in (("le", "<", False), ("be", ">", False), ("big", "<", True), ("big-be", ">", True)):
        tiff = Structure(order, big=big)
        inner = tiff.directory(tiff.page(20, 10, subfile=1))
        more = [(0x112, SHORT, [6]), (0x14A, LONG, [inner]), (0x152, SHORT, [1]), (0x8773, UNDEFINED, b"profile")]
        tiff.chain(tiff.page(40, 20, more, samples=4)).chain(tiff.page(10, 5, subfile=1))
        found["tiff-" + name] = bytes(tiff.data)
    camera = [(0x112, SHORT, [8])]
    nef = Structure(">")
    inner = [
        nef.directory(nef.jpeg(preview(400, 300))),
        nef.directory(nef.page(410, 310, photometric=32803, compression=34713)),
        nef.directory(nef.jpeg(preview(200, 150, 3)))]
    nef.chain(nef.page(16, 12, [*camera, (0x10F, 2, b"NIKON CORPORATION\0"), (0x14A, LONG, inner)], subfile=1))
    found["nef"] = bytes(nef.data)
    cr2 = Structure(prefix=b"CR\2\0\0\0\0\0")
    data = preview(400, 300)
    cr2.chain([*camera, (0x103, SHORT, [6]), (0x111, LONG, [cr2.add(data)]), (0x117, LONG, [len(data)])])
    cr2.chain(cr2.jpeg(preview(16, 12)))
    found["cr2"] = bytes(cr2.data)
    dng = Structure()
    inner = dng.directory(dng.jpeg(preview(400, 300), [(0x106, SHORT, [6])]))
    found["dng"] = bytes(dng.chain(dng.page(40, 30, [(0x14A, LONG, [inner]), (0xC612, 1, [1, 4, 0, 0])])).data)
    rw2 = Structure(magic=0x55)
    found["rw2"] = bytes(rw2.chain([*camera, (0x2E, UNDEFINED, preview(400, 300, 6))]).data)
    found["orf"] = olympus(preview)
    found["pef"] = pentax(preview)
    start = 100
    data = preview(400, 300, 8)
    found["raf"] = b"FUJIFILMCCD-RAW 0201".ljust(84, b"\0") + struct.pack(">II", start, len(data)) + b"\0" * 8 + data
    return found


def olympus(preview):
    raw = Structure(magic=0x4F52)
    notes = Structure()
    # The maker's notes have twelve bytes before the first directory, and count from their own beginning.
    notes.data = bytearray(b"OLYMPUS\0II\3\0" + b"\0" * 18)
    data = preview(400, 300)
    start = notes.add(data)
    settings = notes.directory([(0x100, LONG, [1]), (0x101, LONG, [start]), (0x102, LONG, [len(data)])])
    notes.data[12:30] = struct.pack("<HHHIII", 1, 0x2020, 13, 1, settings, 0)
    exif = raw.directory([(0x927C, UNDEFINED, bytes(notes.data))])
    return bytes(raw.chain(raw.page(410, 310, [(0x10F, 2, b"OLYMPUS\0"), (0x8769, LONG, [exif])])).data)


def pentax(preview):
    raw = Structure(">")
    data = preview(400, 300)
    start = raw.add(data)
    notes = b"AOC\0MM" + struct.pack(">HHHIIHHIII", 2, 3, 4, 1, len(data), 4, 4, 1, start, 0)
    exif = raw.directory([(0x927C, UNDEFINED, notes)])
    more = [(0x10F, 2, b"PENTAX\0"), (0x8769, LONG, [exif])]
    return bytes(raw.chain(raw.page(410, 310, more, photometric=32803, compression=65535)).data)


def multi_pictures():
    """JPEGs with an index of two large thumbnails."""
    found = {}
    for name, order in (("le", "<"), ("be", ">")):
        found[name] = multi_picture(jpeg(400, 300), [jpeg(200, 150), jpeg(100, 75, 3)], order)
    return found


def multi_picture(whole, previews, order="<"):
    """A JPEG file with two previews after the picture, and their index (Multi-Picture Format)."""
    # The index has a fixed length, so that the places are known before. They count from it, 10 bytes into the file.
    length = 8 + 48 + 2 + 12 + 4 + 4
    entries, place = struct.pack(order + "IIIHH", 0x20030000, 0, 0, 0, 0), len(whole) - 2 + length
    for kind, image in enumerate(previews, 0x10001):
        entries += struct.pack(order + "IIIHH", kind, len(image), place, 0, 0)
        place += len(image)
    index = Structure(order).chain([(0xB002, UNDEFINED, entries)])
    payload = b"MPF\0" + bytes(index.data).ljust(length, b"\0")
    segment = b"\xff\xe2" + struct.pack(">H", 2 + len(payload)) + payload
    return whole[:2] + segment + whole[2:] + b"".join(previews)
