"""The mutants of good files, in classes. Each class makes one mutant of a random generator, a number and a good file.

Mutants of a harmless class are good files too: what they change means nothing (ITU-T T.81, B.1.1.2, B.2.4).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import jpeg
from files import GoodFile
from jpeg import END

# What the mutation has done, and the bytes; or None if it does not apply to the file.
Change = tuple[str, bytes] | None


@dataclass(frozen=True)
class Target:
    """A good file to mutate, its structure, and the other good files."""

    file: GoodFile
    parts: list[jpeg.Segment]
    others: list[GoodFile]

    @property
    def data(self):
        return self.file.data

    @property
    def scans(self):
        return jpeg.scans_of(self.parts)

    @property
    def header_end(self):
        return self.scans[0].header_end


@dataclass(frozen=True)
class Kind:
    name: str
    mutate: Callable[[random.Random, int, Target], Change]
    is_harmless: bool
    loses_data: bool


@dataclass(frozen=True)
class Mutant:
    name: str
    kind: str
    parent: GoodFile
    how: str
    data: bytes
    is_good: bool
    lost: int  # bytes of picture data that are missing, as far as that is certain


KINDS: list[Kind] = []


def kind(name, is_harmless=False, loses_data=False):
    def register(mutate):
        KINDS.append(Kind(name, mutate, is_harmless, loses_data))
        return mutate

    return register


def mutants(files, seed, count):
    """At most `count` mutants of each class, which are the same for the same seed and files."""
    targets = [Target(file, jpeg.segments(file.data), files) for file in files]
    for each in KINDS:
        seen = {file.data for file in files}
        for number in range(count):
            generator = random.Random(f"{seed} {each.name} {number}")
            # A mutation does not apply to every file, or may have no effect.
            for _ in range(10):
                target = generator.choice(targets)
                change = each.mutate(generator, number, target)
                if change and change[1] not in seen:
                    how, data = change
                    seen.add(data)
                    name = f"{each.name.replace(', ', '-').replace(' ', '-')}-{number}"
                    lost = _lost(target.data, data) if each.loses_data else 0
                    yield Mutant(name, each.name, target.file, how, data, each.is_harmless, lost)
                    break


def _lost(data, rest):
    """How many bytes are missing in one place, or are replaced there."""
    before = _common(data, rest)
    after = _common(data[before:][::-1], rest[before:][::-1])
    return len(data) - before - after


def _common(first, second):
    """The length of the common beginning."""
    shorter = min(len(first), len(second))
    return next((index for index in range(shorter) if first[index] != second[index]), shorter)


def _place(generator, target):
    """A byte after SOI, mostly of entropy-coded data."""
    if generator.random() < 0.2:
        return generator.randrange(2, target.header_end)
    scan = generator.choice(target.scans)
    return generator.randrange(scan.header_end, scan.end) if scan.end > scan.header_end else scan.start


def _replaced(data, start, new, end=None):
    """The data with `new` in place of the bytes from `start` to `end`, by default as many as are new."""
    return data[:start] + new + data[start + len(new) if end is None else end :]


# Single places.


@kind("bit flipped")
def _(generator, _, target):
    at = _place(generator, target)
    bit = generator.randrange(8)
    return f"bit {bit} of byte {at}", _replaced(target.data, at, bytes([target.data[at] ^ 1 << bit]))


@kind("bits flipped")
def _(generator, _, target):
    data = target.data
    places = sorted(_place(generator, target) for _ in range(generator.choice((2, 3, 8, 40))))
    for at in places:
        data = _replaced(data, at, bytes([data[at] ^ 1 << generator.randrange(8)]))
    return f"a bit of each of the bytes {places}", data


@kind("byte changed")
def _(generator, _, target):
    at, value = _place(generator, target), generator.choice((0, 0xFF, 0xFE, generator.randrange(256)))
    return f"byte {at} becomes {value:02X}", _replaced(target.data, at, bytes([value]))


@kind("bytes inserted")
def _(generator, _, target):
    at, count = _place(generator, target), generator.choice((1, 1, 2, 5, 100))
    return f"{count} bytes inserted at {at}", _replaced(target.data, at, generator.randbytes(count), at)


@kind("bytes removed")
def _(generator, _, target):
    at, count = _place(generator, target), generator.choice((1, 1, 2, 5, 100))
    return f"{count} bytes removed at {at}", _replaced(target.data, at, b"", at + count)


# Runs, as a faulty disk or transfer leaves them.


def _run(generator, target, fill):
    at = _place(generator, target)
    count = min(generator.choice((2, 4, 16, 64, 512, 4096)), len(target.data) - 2 - at)
    return f"{count} bytes from {at} on", _replaced(target.data, at, fill(max(count, 0)))


@kind("run of zeros")
def _(generator, _, target):
    return _run(generator, target, bytes)


@kind("run of FF")
def _(generator, _, target):
    return _run(generator, target, lambda count: b"\xff" * count)


@kind("run of random bytes")
def _(generator, _, target):
    return _run(generator, target, generator.randbytes)


@kind("lost block of the disk")
def _(generator, _, target):
    """Zeros in place of whole blocks of 512 or 4096 bytes, so not at the end."""
    size = generator.choice((512, 4096))
    first = generator.randrange(max(len(target.data) // size, 1))
    last = min(first + generator.choice((1, 1, 2, 8)), len(target.data) // size)
    zeros = bytes((last - first) * size)
    return f"zeros from {first * size} to {last * size}", _replaced(target.data, first * size, zeros)


# Cuts.


def _percent(number, target):
    """Every percent in turn; also the place in bytes."""
    percent = 1 + number % 99
    return percent, max(len(target.data) * percent // 100, 2)


@kind("cut at a percent", loses_data=True)
def _(_, number, target):
    percent, at = _percent(number, target)
    return f"cut at {percent} %, byte {at}", target.data[:at]


@kind("cut at a percent, EOI appended", loses_data=True)
def _(_, number, target):
    percent, at = _percent(number, target)
    return f"cut at {percent} %, byte {at}, then EOI", target.data[:at] + END


def _at_marker(generator, target):
    """A cut at any marker, restart markers too, or a byte beside it."""
    places = [part.start for part in target.parts[1:]]
    places += [at for scan in target.scans for at in jpeg.restarts(target.data, scan)]
    return max(generator.choice(places) + generator.choice((0, 0, 0, -2, -1, 1, 2, 4)), 2)


@kind("cut at a marker", loses_data=True)
def _(generator, _, target):
    at = _at_marker(generator, target)
    return f"cut at byte {at}", target.data[:at]


@kind("cut at a marker, EOI appended", loses_data=True)
def _(generator, _, target):
    at = _at_marker(generator, target)
    return f"cut at byte {at}, then EOI", target.data[:at] + END


@kind("cut near the end, EOI appended", loses_data=True)
def _(generator, _, target):
    at = len(target.data) - 2 - generator.choice((1, 2, 3, 4, 6, 8, 12, 16, 24, 50, 200))
    return f"cut at byte {at}, then EOI", target.data[: max(at, 2)] + END


@kind("cut, padded with zeros", loses_data=True)
def _(_, number, target):
    percent, at = _percent(number, target)
    return f"zeros from {percent} %, byte {at}, to the end", target.data[:at].ljust(len(target.data), b"\0")


@kind("cut, padded with zeros and EOI", loses_data=True)
def _(_, number, target):
    percent, at = _percent(number, target)
    return f"zeros from {percent} %, byte {at}, then EOI", target.data[:at].ljust(len(target.data) - 2, b"\0") + END


@kind("cut, padded with a few zeros and EOI", loses_data=True)
def _(generator, number, target):
    """Zeros are short codes, so a few of them may complete the picture exactly."""
    percent, at = _percent(number, target)
    count = generator.choice((1, 2, 5, 20, 100, 400))
    return f"{count} zeros after {percent} %, byte {at}, then EOI", target.data[:at] + bytes(count) + END


@kind("cut, padded with FF", loses_data=True)
def _(_, number, target):
    percent, at = _percent(number, target)
    return f"FF from {percent} %, byte {at}, to the end", target.data[:at].ljust(len(target.data), b"\xff")


@kind("cut, padded with random bytes and EOI", loses_data=True)
def _(generator, number, target):
    percent, at = _percent(number, target)
    rest = generator.randbytes(max(len(target.data) - 2 - at, 0))
    return f"random bytes from {percent} %, byte {at}, then EOI", target.data[:at] + rest + END


@kind("EOI missing")
def _(_, __, target):
    return "without EOI", target.data[:-2]


@kind("spliced")
def _(generator, number, target):
    """The first part of one file and the last part of another, as when a card's blocks are mixed up."""
    alike = [file for file in target.others if file.kind == target.file.kind and file is not target.file]
    other = generator.choice(alike if alike and generator.random() < 0.6 else target.others)
    percent, at = _percent(number, target)
    to = len(other.data) * percent // 100
    return f"up to byte {at}, then {other.name} from byte {to}", target.data[:at] + other.data[to:]


# Segments and scans.


def _part(generator, target, is_wanted):
    found = [part for part in target.parts if is_wanted(part)]
    return generator.choice(found) if found else None


def _is_header(part):
    return part.marker not in (jpeg.SOI, jpeg.EOI, jpeg.SOS)


@kind("segment removed")
def _(generator, _, target):
    part = _part(generator, target, _is_header)
    return f"segment {part.marker:02X} at {part.start} removed", _replaced(target.data, part.start, b"", part.end)


@kind("segment moved")
def _(generator, _, target):
    part, to = _part(generator, target, _is_header), generator.choice(target.parts[1:])
    rest = _replaced(target.data, part.start, b"", part.end)
    at = to.start - (part.end - part.start if to.start > part.start else 0)
    return (
        f"segment {part.marker:02X} from {part.start} to {to.start}",
        _replaced(rest, at, target.data[part.start : part.end], at),
    )


@kind("scan removed", loses_data=True)
def _(generator, _, target):
    scan = generator.choice(target.scans)
    return f"scan at {scan.start} removed", _replaced(target.data, scan.start, b"", scan.end)


@kind("last scans removed", loses_data=True)
def _(generator, _, target):
    scan = generator.choice(target.scans)
    return f"scans from {scan.start} on removed", target.data[: scan.start] + END


@kind("scan doubled")
def _(generator, _, target):
    scan = generator.choice(target.scans)
    again = target.data[scan.start : scan.end]
    return f"scan at {scan.start} doubled", _replaced(target.data, scan.end, again, scan.end)


@kind("scans swapped")
def _(generator, _, target):
    if len(target.scans) < 2:
        return None
    first, second = sorted(generator.sample(target.scans, 2), key=lambda scan: scan.start)
    data = target.data
    changed = (
        data[: first.start] + data[second.start : second.end] + data[first.end : second.start]
        + data[first.start : first.end] + data[second.end :])
    return f"scans at {first.start} and {second.start} swapped", changed


@kind("scan without data", loses_data=True)
def _(generator, _, target):
    scan = generator.choice(target.scans)
    return f"scan at {scan.start} without data", _replaced(target.data, scan.header_end, b"", scan.end)


@kind("scan cut", loses_data=True)
def _(generator, _, target):
    """The end of a scan's data is missing; the next marker follows."""
    scan = generator.choice(target.scans)
    at = generator.randrange(scan.header_end, scan.end) if scan.end > scan.header_end else scan.start
    return f"bytes from {at} to {scan.end} removed", _replaced(target.data, at, b"", scan.end)


# Fields of headers.


def _field(generator, target, is_wanted):
    part = _part(generator, target, is_wanted)
    if part is None or part.body == part.header_end:
        return None
    at = generator.randrange(part.body, part.header_end)
    old = target.data[at]
    value = generator.choice((0, 1, 0xFF, old + 1 & 255, old - 1 & 255, old ^ 1 << generator.randrange(8)))
    return f"byte {at} of segment {part.marker:02X} becomes {value:02X}", _replaced(target.data, at, bytes([value]))


@kind("field of the frame header")
def _(generator, _, target):
    return _field(generator, target, lambda part: part.marker in jpeg.SOF)


@kind("field of a scan header")
def _(generator, _, target):
    return _field(generator, target, lambda part: part.marker == jpeg.SOS)


@kind("field of a Huffman table")
def _(generator, _, target):
    return _field(generator, target, lambda part: part.marker == jpeg.DHT)


@kind("field of a quantization table")
def _(generator, _, target):
    return _field(generator, target, lambda part: part.marker == jpeg.DQT)


@kind("restart interval")
def _(generator, _, target):
    """Another interval, or one where there was none."""
    value = generator.choice((0, 1, 2, 7, 100, 65535)).to_bytes(2)
    part = _part(generator, target, lambda part: part.marker == jpeg.DRI)
    if part:
        return f"interval {value.hex()}", _replaced(target.data, part.body, value)
    segment = bytes((0xFF, jpeg.DRI, 0, 4)) + value
    at = generator.choice(target.scans).start
    return f"interval {value.hex()} at {at}", _replaced(target.data, at, segment, at)


@kind("length of a segment")
def _(generator, _, target):
    part = _part(generator, target, lambda part: part.marker not in jpeg.STANDALONE)
    length = part.header_end - part.body + 2 + generator.choice((-2, -1, 1, 2, 100))
    at = part.body - 2
    return f"length {length} of segment {part.marker:02X}", _replaced(target.data, at, (length & 0xFFFF).to_bytes(2))


@kind("other process")
def _(generator, _, target):
    """The frame header claims another process: baseline becomes progressive or arithmetic, and so on."""
    part = _part(generator, target, lambda part: part.marker in jpeg.SOF)
    marker = generator.choice(sorted(jpeg.SOF - {part.marker}))
    return f"SOF marker {part.marker:02X} becomes {marker:02X}", _replaced(target.data, part.start + 1, bytes([marker]))


# Markers within entropy-coded data.


@kind("restart marker")
def _(generator, _, target):
    """One is removed, doubled, or gets another number."""
    places = [at for scan in target.scans for at in jpeg.restarts(target.data, scan)]
    if not places:
        return None
    at = generator.choice(places)
    old = target.data[at : at + 2]
    number = old[1] + generator.randrange(1, 8)
    new = generator.choice((b"", old * 2, bytes((0xFF, jpeg.RST0 + number % 8))))
    return f"restart marker at {at} becomes {new.hex()}", _replaced(target.data, at, new, at + 2)


@kind("restart interval lost", loses_data=True)
def _(generator, _, target):
    """The data between two restart markers is missing, with or without one of them."""
    scan = generator.choice(target.scans)
    places = jpeg.restarts(target.data, scan)
    if len(places) < 2:
        return None
    index = generator.randrange(len(places) - 1)
    start = places[index] + generator.choice((0, 2))
    return f"bytes from {start} to {places[index + 1]} removed", _replaced(target.data, start, b"", places[index + 1])


@kind("marker within data")
def _(generator, _, target):
    scan = generator.choice(target.scans)
    at = generator.randrange(scan.header_end, scan.end) if scan.end > scan.header_end else scan.end
    marker = generator.choice((jpeg.RST0, jpeg.RST7, jpeg.EOI, jpeg.SOI, jpeg.SOS, jpeg.COM, 0x01, 0xBF, 0xFF))
    return f"marker {marker:02X} inserted at {at}", _replaced(target.data, at, bytes((0xFF, marker)), at)


# Harmless changes.


@kind("bytes after the end", is_harmless=True)
def _(generator, _, target):
    other = generator.choice(target.others).data
    tail = generator.choice((b"\0" * 64, b"\n", generator.randbytes(3000), b"\xff", b"\xff\xd8", other, b"\0" * 70000))
    return f"{len(tail)} bytes after EOI", target.data + tail


@kind("fill bytes", is_harmless=True)
def _(generator, _, target):
    places = {part.start for part in target.parts[1:] if generator.random() < 0.5}
    places |= {at for scan in target.scans for at in jpeg.restarts(target.data, scan) if generator.random() < 0.3}
    data = target.data
    for at in sorted(places, reverse=True):
        data = _replaced(data, at, b"\xff" * generator.choice((1, 2, 7)), at)
    return f"FF before the markers at {sorted(places)[:9]}…", data


@kind("segments without meaning", is_harmless=True)
def _(generator, _, target):
    data, places = target.data, []
    for part in reversed(target.parts[2:]):
        if generator.random() < 0.4:
            body = generator.randbytes(generator.choice((0, 1, 30, 1000, 65533)))
            marker = generator.choice((jpeg.COM, 0xE5, jpeg.APP15))
            segment = bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2) + body
            data = _replaced(data, part.start, segment, part.start)
            places.append(part.start)
    return f"segments inserted at {places[::-1]}", data


@kind("tables given twice", is_harmless=True)
def _(generator, _, target):
    part = _part(generator, target, lambda part: part.is_table)
    if part is None:
        return None
    again = target.data[part.start : part.end]
    return f"segment {part.marker:02X} at {part.start} twice", _replaced(target.data, part.end, again, part.end)
