"""The structure of a JPEG file: marker segments, scans, and whether the scans hold a whole picture.

The names are those of ITU-T T.81, Annex B.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

SOI, EOI, SOS, DQT, DHT, DRI, COM = 0xD8, 0xD9, 0xDA, 0xDB, 0xC4, 0xDD, 0xFE
APP0, APP15 = 0xE0, 0xEF
RST0, RST7 = 0xD0, 0xD7
STANDALONE = frozenset((0x01, SOI, EOI, *range(RST0, RST7 + 1)))
SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
PROGRESSIVE = frozenset((0xC2, 0xCA))
ARITHMETIC = frozenset(range(0xC9, 0xD0)) - {0xCC}
END = bytes((0xFF, EOI))

# In entropy-coded data, FF is followed by 00 or by a restart marker. Anything else ends the data.
_END_OF_DATA = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_RESTART = re.compile(rb"\xff[\xd0-\xd7]")


class MalformedError(ValueError):
    """The bytes do not have the structure of a JPEG file."""


@dataclass(frozen=True)
class Segment:
    """A marker, what belongs to it, and for SOS the entropy-coded data that follows."""

    marker: int
    start: int  # of the marker's FF
    body: int  # of the bytes after marker and length
    header_end: int
    end: int  # differs from header_end for SOS only

    @property
    def is_table(self):
        return self.marker in (DQT, DHT, DRI)


@dataclass(frozen=True)
class Component:
    identifier: int
    h: int
    v: int


@dataclass(frozen=True)
class Frame:
    marker: int
    height: int
    width: int
    components: tuple[Component, ...]


@dataclass(frozen=True)
class Scan:
    components: tuple[int, ...]  # their identifiers
    spectral: range  # Ss to Se
    high: int  # Ah
    low: int  # Al


def segments(data, tolerant=False):
    """All segments from SOI to the first EOI.

    Raises MalformedError if there is no EOI, or garbage between segments. If tolerant, it returns those before that.
    """
    found = []
    try:
        for part in _walk(data):
            found.append(part)
    except MalformedError:
        if not tolerant or not found:
            raise
    return found


def _walk(data):
    if data[:2] != bytes((0xFF, SOI)):
        raise MalformedError("no SOI")
    part = Segment(SOI, 0, 2, 2, 2)
    yield part
    while part.marker != EOI:
        start = at = part.end
        while data[at : at + 1] == b"\xff":
            at += 1
        if at == start or at >= len(data):
            raise MalformedError(f"no marker at byte {start}")
        marker = data[at]
        at += 1
        if marker in STANDALONE:
            part = Segment(marker, start, at, at, at)
            yield part
            continue
        header_end = at + int.from_bytes(data[at : at + 2])
        if header_end < at + 2 or header_end > len(data):
            raise MalformedError(f"no whole segment at byte {start}")
        end = _end_of_data(data, header_end) if marker == SOS else header_end
        part = Segment(marker, start, at + 2, header_end, end)
        yield part


def _end_of_data(data, start):
    """Where the marker after a scan's data begins."""
    found = _END_OF_DATA.search(data, start)
    if found is None:
        raise MalformedError("no marker after a scan")
    end = found.start()
    while end > start and data[end - 1] == 0xFF:
        end -= 1  # a fill byte of the marker
    return end


def scans_of(parts):
    """The segments that are scans."""
    return [part for part in parts if part.marker == SOS]


def frame_of(data, parts):
    part = next((part for part in parts if part.marker in SOF), None)
    if part is None:
        raise MalformedError("no frame header")
    body = data[part.body : part.header_end]
    if len(body) < 6 or len(body) != 6 + 3 * body[5]:
        raise MalformedError("a frame header of the wrong length")
    components = tuple(Component(body[i], body[i + 1] >> 4, body[i + 1] & 15) for i in range(6, len(body), 3))
    return Frame(part.marker, int.from_bytes(body[1:3]), int.from_bytes(body[3:5]), components)


def scan_header(data, part):
    body = data[part.body : part.header_end]
    if not body or len(body) != 4 + 2 * body[0]:
        raise MalformedError("a scan header of the wrong length")
    start, end, approximation = body[-3:]
    return Scan(tuple(body[1:-3:2]), range(start, end + 1), approximation >> 4, approximation & 15)


def restarts(data, scan):
    """The places of a scan's restart markers."""
    return [found.start() for found in _RESTART.finditer(data, scan.header_end, scan.end)]


def has_empty_interval(data):
    """Whether a scan, or what is between two of its restart markers, has no data at all."""
    for scan in scans_of(segments(data, tolerant=True)):
        places = restarts(data, scan)
        starts, ends = [scan.header_end, *(at + 2 for at in places)], [*places, scan.end]
        if any(start == end for start, end in zip(starts, ends, strict=True)):
            return True
    return False


# The AC coefficients of which a thumbnail at scale 1/4 is made, in zigzag order.
LOWEST_AC = (1, 2, 4)
# The largest error of such a coefficient that does not show (Sources/Thumbnails/Blocks/CoefficientProgress.swift).
INVISIBLE_ERROR = 24


class Part(StrEnum):
    """What a thumbnail may need of a progressive file."""

    ALL = "all scans"
    COARSE = "all scans but those of the last bit of AC coefficients"
    LOWEST = "the scans of DC coefficients, and of AC coefficients until an error of the lowest three does not show"
    DC = "the scans of DC coefficients"

    def includes(self, scan, known):
        if self is Part.ALL or scan.spectral.start == 0:
            return True
        if self is Part.COARSE:
            return scan.high != 1
        return not all(known.suffices(self, component, index) for component in scan.components for index in LOWEST_AC)


class KnownBits:
    """The bits of each component's coefficients that are known after some segments of a file."""

    def __init__(self):
        self.unknown = {}  # the number of last bits, by component
        self.is_progressive = False
        self._tables = {}
        self._selectors = {}  # of quantization tables, by component

    def read(self, data, segment):
        body = data[segment.body : segment.header_end]
        if segment.marker == DQT:
            while body:
                size = 2 if body[0] >> 4 else 1
                values = body[1 : 1 + 64 * size]
                self._tables[body[0] & 15] = [int.from_bytes(values[i : i + size]) for i in range(0, len(values), size)]
                body = body[1 + 64 * size :]
        elif segment.marker in SOF:
            frame = frame_of(data, [segment])
            self.is_progressive = frame.marker in PROGRESSIVE
            self.unknown = {component.identifier: [64] * 64 for component in frame.components}
            self._selectors = {body[at]: body[at + 2] for at in range(6, len(body), 3)}
        elif segment.marker == SOS:
            scan = scan_header(data, segment)
            for component in scan.components:
                for index in scan.spectral if self.is_progressive else range(64):
                    if component in self.unknown and index < 64:
                        self.unknown[component][index] = scan.low if self.is_progressive else 0

    def suffices(self, part, component, index):
        """Whether a coefficient is known as well as a part needs it."""
        bits = self.unknown.get(component, [64] * 64)[index]
        if part is Part.ALL or index == 0:
            return bits == 0
        if part is Part.COARSE:
            return bits <= 1
        if part is Part.DC or index not in LOWEST_AC:
            return True
        steps = self._tables.get(self._selectors.get(component), [])
        return bits <= 1 or (bits < 64 and index < len(steps) and (2**bits - 1) * steps[index] <= INVISIBLE_ERROR)


def only(part, data):
    """The file without the scans that do not belong to a part. It ends where the structure is broken."""
    kept = bytearray()
    known = KnownBits()
    for segment in segments(data, tolerant=True):
        if segment.marker == EOI:
            break
        if segment.marker != SOS or part.includes(scan_header(data, segment), known):
            kept += data[segment.start : segment.end]
        known.read(data, segment)
    return bytes(kept) + END


def holds(part, data):
    """Whether the scans deliver every bit that belongs to a part, of every component.

    libjpeg does not warn of missing scans. What the scans contain is not looked at.
    """
    known = KnownBits()
    try:
        for segment in segments(data):
            known.read(data, segment)
    except MalformedError:
        return False
    return bool(known.unknown) and all(
        known.suffices(part, component, index) for component in known.unknown for index in range(64))


def is_progressive(data):
    try:
        return frame_of(data, segments(data)).marker in PROGRESSIVE
    except MalformedError:
        return False


def is_arithmetic(data):
    try:
        return frame_of(data, segments(data)).marker in ARITHMETIC
    except MalformedError:
        return False


def without_comments(data):
    """The file without its COM segments. Raises MalformedError unless it is a JPEG file to its last byte."""
    parts = segments(data)
    if parts[-1].end != len(data):
        raise MalformedError("bytes after the EOI marker")
    return b"".join(data[part.start : part.end] for part in parts if part.marker != COM)
