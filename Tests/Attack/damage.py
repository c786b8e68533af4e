"""The mutants of good files of other formats than JPEG, in classes that fit all of them.

A file that was cut must not be made as another picture without a remark. Mutants of a harmless class are good files,
too.
"""

import random
from dataclasses import dataclass

import layouts
from files import GoodFile
from layouts import COUNT, LENGTH, OFFSET, SIDE
from mutations import Change, Kind, Mutant, _lost, _replaced

# How many files of each class there are for each one of a class of JPEG files: there are seven formats.
MORE = 3
KINDS: list[Kind] = []


@dataclass(frozen=True)
class Target:
    """A good file to mutate, its structure, and the other good files."""

    file: GoodFile
    layout: layouts.Layout
    others: list[GoodFile]

    @property
    def data(self):
        return self.file.data


def kind(name, is_harmless=False, loses_data=False):
    def register(mutate):
        KINDS.append(Kind(name, mutate, is_harmless, loses_data))
        return mutate

    return register


def mutants(files, seed, count):
    """At most `MORE * count` mutants of each class, which are the same for the same seed and files."""
    formats = sorted({file.kind for file in files})
    targets = {name: [Target(file, layouts.layout_of(file.suffix, file.data), files) for file in files
                      if file.kind == name] for name in formats}
    for each in KINDS:
        seen = {file.data for file in files}
        for number in range(MORE * count):
            generator = random.Random(f"{seed} {each.name} {number}")
            for _ in range(10):
                target = generator.choice(targets[formats[number % len(formats)]])
                change = each.mutate(generator, number // len(formats), target)
                if change and change[1] not in seen:
                    how, data = change
                    seen.add(data)
                    name = f"{each.name.replace(', ', '-').replace(' ', '-')}-{number}.{target.file.suffix}"
                    lost = _lost(target.data, data) if each.loses_data else 0
                    yield Mutant(name, each.name, target.file, how, data, each.is_harmless, lost)
                    break


def _maybe_repaired(generator, target, how, data) -> Change:
    """Half of the files have right checksums, so that the damage behind them is seen."""
    repair = target.layout.repaired
    if repair is None or generator.random() < 0.5:
        return how, data
    return f"{how}, checksums repaired", repair(data)


def _place(generator, target):
    """Any byte, or one of the structure."""
    if generator.random() < 0.5:
        return generator.randrange(len(target.data))
    field = generator.choice(target.layout.fields)
    return min(field.at + generator.randrange(field.size), len(target.data) - 1)


@kind("other formats, bits flipped")
def _(generator, _, target):
    data = target.data
    places = sorted(_place(generator, target) for _ in range(generator.choice((1, 1, 1, 2, 8, 40))))
    for at in places:
        data = _replaced(data, at, bytes([data[at] ^ 1 << generator.randrange(8)]))
    return _maybe_repaired(generator, target, f"a bit of each of the bytes {places}", data)


@kind("other formats, bytes changed")
def _(generator, _, target):
    at = _place(generator, target)
    count = min(generator.choice((1, 1, 2, 4, 16, 512)), len(target.data) - at)
    fill = generator.choice((bytes(count), b"\xff" * count, generator.randbytes(count)))
    how = f"{count} bytes at {at} become {fill[:4].hex()}"
    return _maybe_repaired(generator, target, how, _replaced(target.data, at, fill))


@kind("other formats, bytes inserted or removed")
def _(generator, _, target):
    at, count = _place(generator, target), generator.choice((1, 1, 2, 5, 100))
    if generator.random() < 0.5:
        changed = f"{count} bytes inserted at {at}", _replaced(target.data, at, generator.randbytes(count), at)
    else:
        changed = f"{count} bytes removed at {at}", _replaced(target.data, at, b"", at + count)
    return _maybe_repaired(generator, target, *changed)


@kind("other formats, cut at a percent", loses_data=True)
def _(generator, number, target):
    at = len(target.data) * (1 + (number * 7 + generator.randrange(7)) % 99) // 100
    return f"cut at byte {at}", target.data[:at]


@kind("other formats, cut at a field", loses_data=True)
def _(generator, _, target):
    """At a part or a field of the structure, or a byte beside it."""
    places = [place for part in target.layout.parts for place in part] + [each.at for each in target.layout.fields]
    at = min(max(generator.choice(places) + generator.choice((0, 0, -1, 1, 2, 4)), 1), len(target.data) - 1)
    return f"cut at byte {at}", target.data[:at]


@kind("other formats, cut, zeros appended")
def _(generator, number, target):
    """No decoder can tell zeros from samples, or from codes without a checksum."""
    at = len(target.data) * (1 + (number * 7 + generator.randrange(7)) % 99) // 100
    return f"zeros from byte {at} on", target.data[:at].ljust(len(target.data), b"\0")


def _field_value(generator, target, field):
    """A hostile value: nothing, everything, the edges of signs and of the file, or another place in it."""
    old, size, bits = field.read(target.data), len(target.data), 8 * field.size
    edges = (0, 1, (1 << bits) - 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - field.size)
    near = (old + 1, old - 1, old * 2, old // 2, old + 0x10000, size, size - 1, size + 1, size - field.at)
    places = (field.at, target.layout.parts[0][0], generator.choice(target.layout.parts)[0], generator.randrange(size))
    return generator.choice(generator.choice((edges, near, places)))


def _field(generator, target, meanings):
    fields = [each for each in target.layout.fields if each.meaning in meanings]
    if not fields:
        return None
    field = generator.choice(fields)
    value = _field_value(generator, target, field)
    how = f"{field.meaning} at {field.at} of {field.size} bytes becomes {value}"
    return _maybe_repaired(generator, target, how, field.written(target.data, value))


@kind("other formats, length")
def _(generator, _, target):
    return _field(generator, target, (LENGTH,))


@kind("other formats, offset")
def _(generator, _, target):
    return _field(generator, target, (OFFSET,))


@kind("other formats, count")
def _(generator, _, target):
    return _field(generator, target, (COUNT,))


@kind("other formats, width or height")
def _(generator, _, target):
    return _field(generator, target, (SIDE,))


@kind("other formats, other fields")
def _(generator, _, target):
    return _field(generator, target, (layouts.VALUE,))


@kind("other formats, type")
def _(generator, _, target):
    """The type of a part becomes that of another one, or one that nobody knows."""
    fields = [each for each in target.layout.fields if each.meaning == layouts.KIND]
    if not fields:
        return None
    field = generator.choice(fields)
    alike = [each for each in fields if each.size == field.size]
    value = generator.choice((generator.choice(alike).read(target.data), generator.randrange(1 << 8 * field.size)))
    how = f"type at {field.at} becomes {value:X}"
    return _maybe_repaired(generator, target, how, field.written(target.data, value))


@kind("other formats, part removed, doubled or moved")
def _(generator, _, target):
    data = target.data
    (start, end), (to, _) = generator.choice(target.layout.parts), generator.choice(target.layout.parts)
    part = data[start:end]
    action = generator.choice(("removed", "doubled", "moved"))
    if action == "moved":
        rest = _replaced(data, start, b"", end)
        at = to - (end - start if to > start else 0)
        changed = _replaced(rest, at, part, at)
    else:
        changed = _replaced(data, start, b"" if action == "removed" else part * 2, end)
    return _maybe_repaired(generator, target, f"part from {start} to {end} {action}, {to}", changed)


@kind("other formats, spliced")
def _(generator, _, target):
    alike = [file for file in target.others if file.kind == target.file.kind and file is not target.file]
    other = generator.choice(alike if alike and generator.random() < 0.8 else target.others)
    percent = generator.randrange(1, 100)
    at, to = len(target.data) * percent // 100, len(other.data) * percent // 100
    return f"up to byte {at}, then {other.file_name} from byte {to}", target.data[:at] + other.data[to:]


@kind("other formats, parts without meaning", is_harmless=True)
def _(generator, _, target):
    part, places = target.layout.meaningless
    if not places:
        return None
    at = generator.choice(places)
    count = generator.choice((1, 2, 30))
    data = _replaced(target.data, at, part * count, at)
    repair = target.layout.repaired
    return f"{count} parts at {at}", repair(data) if repair else data


@kind("other formats, bytes after the end", is_harmless=True)
def _(generator, _, target):
    if target.file.kind == "HEIC" or target.file.kind == "AVIF":
        return None  # they would be a box
    other = generator.choice(target.others).data
    tail = generator.choice((bytes(64), b"\n", generator.randbytes(3000), other, bytes(70000)))
    return f"{len(tail)} bytes appended", target.data + tail
