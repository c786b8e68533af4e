"""HEIC and AVIF files of small coded pictures, written without a library (ISO/IEC 23008-12)."""

import base64
import struct
from dataclasses import dataclass, field

SIDE = 64
# The colours of the quarters of HEVC and AV1: top left, top right, bottom left, bottom right.
QUARTERS = (200, 40, 40), (40, 180, 60), (50, 60, 210), (128, 128, 128)


@dataclass(frozen=True)
class Coded:
    """A coded picture of 64 × 64 pixels, as in Tests/PicturesTests/TestHEIF.swift: made by x265 or libaom."""

    kind: str
    data: bytes
    configuration: bytes  # the contents of the box `hvcC` or `av1C`

    @property
    def property(self):
        return box(b"av1C" if self.kind == "av01" else b"hvcC", self.configuration)


def _coded(kind, data, configuration):
    return Coded(kind, base64.b64decode(data), base64.b64decode(configuration))


HEVC = _coded(
    "hvc1", "AAAAOigBrwY4Wvz9N/h4f//+kzHof6GfmwlfyTaf/yHP//zAqrGY+b7/G/Yo0f/6jCPLUGp2wnx5Hdfa91w=",
    "AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmu"
    "bgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQA==")
# The same in four slices, with sample adaptive offset.
HEVC_SLICES = _coded(
    "hvc1",
    "AAAAJCgBrwngOSNXf//Pax//KGeh+8Vu1ZxQL+jXbftPo/9cyOr/gAAAACQoASjwnjkjV3//z2sf/yhnofvFbtWcUC/o1237T6P/XMjq/4AAAAAk"
    "KAEw8J45I1d//98sPkfrYb/+wS7VnFAv8eQrf95DSvqxur/gAAAAJCgBOPCeOSNXf//fLD5H62G//sEu1ZxQL/HkK3/eQ0r6sbq/4A==",
    "AQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm"
    "4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBCQ==")
HEVC_ALPHA = _coded(
    "hvc1", "AAAAGCgBrgxwdQXlv/BzUU2X/qXwj6Nq/4g5jA==",
    "AQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACZCAQEECAAAAwCf+AAAAwAAHsCCBBZbqSSmubAg"
    "AAADACAAAAMAISIAAQAHRAHBcrAiQA==")
AV1 = _coded(
    "av01", "EgAKCRgVf/2CBAQNCDIsEYAAAEC0VVUXZhJVkYbt0rJPe5Pfv99Bn7ibsmuVg7+G4M4JTXsBknfyyAw=", "gQAMAA==")
# 4:2:2, although its configuration says 4:4:4.
AV1_MISLABELLED = _coded(
    "av01", "EgAKCVgVf/+SAhoNIDIqEoAAAEAAtFVVuk/CtsPY/GC7j8V3Jscds++vAkNl4n/b2GMLu6WtWbI/", "gUAAAA==")
# Two layers: the colours of AV1, and the same in the opposite order.
AV1_LAYERS = _coded(
    "av01", "EgAKDQAAAAKv/79/MgIaDQg2ACsQAKYAAAJAAAC0g+ok5FNANp0MzSQSTbHTh0FvNf1RwdB8sDhAQSGppfoSNggrMAPAgAAAepgA"
    "AAkAAAIAtGBnKWmnEOxwID3QaHo4MHMY250vWmng/4ZQ8A==", "gQAMAA==")
AV1_ALPHA = _coded("av01", "EgAKBhgVf/2FQDIQEYAAAQC0ci2ixk/zvL3nMA==", "gQAcAA==")


def box(kind, contents):
    return struct.pack(">I", 8 + len(contents)) + kind + contents


def full_box(kind, contents, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags) + contents)


def size(width, height):
    return full_box(b"ispe", struct.pack(">2I", width, height))


def colors(primaries=1, transfer=13, matrix=5, is_full_range=True):
    return box(b"colr", b"nclx" + struct.pack(">3HB", primaries, transfer, matrix, 0x80 * is_full_range))


def layer(number):
    """Selects the layer that is shown."""
    return box(b"lsel", struct.pack(">H", number))


ALPHA = full_box(b"auxC", b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")


@dataclass
class Item:
    kind: str
    data: bytes
    properties: list[bytes] = field(default_factory=list)
    is_in_item_data: bool = False  # in the box `idat`


class File:
    """A file that grows. Items are numbered from 1."""

    def __init__(self, brand="heic"):
        self.brand = brand
        self.items = []
        self.references = []

    def add(self, item):
        self.items.append(item)
        return len(self.items)

    def picture(self, coded, *properties):
        return self.add(Item(coded.kind, coded.data, [size(SIDE, SIDE), coded.property, *properties]))

    def grid(self, coded, rows, columns, *properties, width=None, height=None):
        """A picture of tiles, all of which are the same coded picture."""
        tiles = [self.picture(coded) for _ in range(rows * columns)]
        width, height = width or columns * SIDE, height or rows * SIDE
        data = struct.pack(">4B2H", 0, 0, rows - 1, columns - 1, width, height)
        number = self.add(Item("grid", data, [size(width, height), *properties], True))
        self.refer("dimg", number, tiles)
        return number

    def refer(self, kind, source, to):
        self.references.append((kind, source, to))

    def bytes(self, primary=1):
        start = box(b"ftyp", self.brand.encode() + bytes(4) + b"mif1" + self.brand.encode())
        # The offsets of the data depend on the size of what precedes it, but that does not depend on them.
        head = len(start) + len(self._meta(primary, 0)) + 8
        data = b"".join(item.data for item in self.items if not item.is_in_item_data)
        return start + self._meta(primary, head) + box(b"mdat", data)

    def _meta(self, primary, place):
        properties, associations, locations, entries, item_data = [], b"", b"", b"", b""
        for number, item in enumerate(self.items, 1):
            indices = []
            for each in item.properties:
                if each not in properties:
                    properties.append(each)
                indices.append(properties.index(each) + 1 | 0x80)
            associations += struct.pack(">HB", number, len(indices)) + bytes(indices)
            entries += full_box(b"infe", struct.pack(">2H", number, 0) + item.kind.encode() + b"\0", 2)
            at = len(item_data) if item.is_in_item_data else place
            locations += struct.pack(">4H2I", number, item.is_in_item_data, 0, 1, at, len(item.data))
            if item.is_in_item_data:
                item_data += item.data
            else:
                place += len(item.data)
        boxes = full_box(b"hdlr", bytes(4) + b"pict" + bytes(13)) + full_box(b"pitm", struct.pack(">H", primary))
        boxes += full_box(b"iloc", struct.pack(">2BH", 0x44, 0, len(self.items)) + locations, 1)
        boxes += full_box(b"iinf", struct.pack(">H", len(self.items)) + entries)
        if self.references:
            boxes += full_box(b"iref", b"".join(
                box(kind.encode(), struct.pack(f">2H{len(to)}H", source, len(to), *to))
                for kind, source, to in self.references))
        table = full_box(b"ipma", struct.pack(">I", len(self.items)) + associations)
        boxes += box(b"iprp", box(b"ipco", b"".join(properties)) + table)
        if item_data:
            boxes += box(b"idat", item_data)
        return full_box(b"meta", boxes)


def single(coded, alpha=None, *properties):
    """A file of one picture, with alpha or not."""
    file = File("avif" if coded.kind == "av01" else "heic")
    primary = file.picture(coded, colors(), *properties)
    if alpha:
        file.refer("auxl", file.picture(alpha, ALPHA), [primary])
    return file.bytes(primary)


def tiled(coded, rows, columns, *properties, **sides):
    """A file of a grid."""
    file = File("avif" if coded.kind == "av01" else "heic")
    return file.bytes(file.grid(coded, rows, columns, colors(), *properties, **sides))


def overlay(coded):
    """A file of two pictures on a canvas, the second on the first."""
    file = File("avif" if coded.kind == "av01" else "heic")
    parts = [file.picture(coded) for _ in range(2)]
    data = struct.pack(">2B4H2H4h", 0, 0, 25700, 25700, 25700, 0, 112, 80, -16, 0, 16, 32)
    number = file.add(Item("iovl", data, [size(112, 80), colors()], True))
    file.refer("dimg", number, parts)
    return file.bytes(number)


def _track(number, handler, coded, place, *boxes, auxiliary_of=None):
    entry = bytes(24) + struct.pack(">2H", SIDE, SIDE) + bytes(50) + coded.property + b"".join(boxes)
    table = full_box(b"stsd", struct.pack(">I", 1) + box(coded.kind.encode(), entry))
    table += full_box(b"stsz", struct.pack(">2I", len(coded.data), 1)) + full_box(b"stco", struct.pack(">2I", 1, place))
    media = full_box(b"hdlr", bytes(4) + handler + bytes(13)) + box(b"minf", box(b"stbl", table))
    references = box(b"tref", box(b"auxl", struct.pack(">I", auxiliary_of))) if auxiliary_of else b""
    return box(b"trak", full_box(b"tkhd", bytes(8) + struct.pack(">I", number)) + references + box(b"mdia", media))


def sequence(coded, alpha):
    """A file without a still: a track of one picture, and one of its alpha."""
    start = box(b"ftyp", (b"avis" if coded.kind == "av01" else b"hevc") + bytes(4) + b"msf1")
    name = full_box(b"auxi", b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")

    def movie(place):
        return box(b"moov", _track(1, b"pict", coded, place) + _track(
            2, b"auxv", alpha, place + len(coded.data), name, auxiliary_of=1))

    return start + movie(len(start) + len(movie(0)) + 8) + box(b"mdat", coded.data + alpha.data)
