"""Joins HEIF files of one picture each to one HEIF file whose picture is a grid of them, as phones write it.

heif-enc of Debian's stable releases does not write grids. Boxes and items are those of ISO/IEC 14496-12 and 23008-12;
the grid is described in 23008-12, 6.6.2.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TILE_ITEMS = (b"hvc1", b"av01")
CONFIGURATIONS = (b"hvcC", b"av1C")
# Properties of a tile that are true for the whole grid, too.
SHARED = (b"colr", b"pixi")


@dataclass(frozen=True)
class Tile:
    brand: bytes
    kind: bytes
    properties: tuple[bytes, ...]  # whole boxes: configuration, size, colour
    data: bytes


def join(tiles: list[Path], columns: int, size: tuple[int, int], target: Path) -> None:
    """The tiles are in rows from the top; what reaches beyond the size at the right and at the bottom is cropped."""
    target.write_bytes(grid([read_tile(path.read_bytes()) for path in tiles], columns, size))


def read_tile(file: bytes) -> Tile:
    """The primary item of a file that heif-enc has written: with one extent, and with offsets into the file."""
    top = dict(boxes(file))
    meta = dict(boxes(top[b"meta"][4:]))
    item = int.from_bytes(meta[b"pitm"][4:6])
    kinds = {int.from_bytes(entry[4:6]): entry[8:12] for _, entry in boxes(meta[b"iinf"][6:])}
    parts = dict(boxes(meta[b"iprp"]))
    properties = [box(kind, content) for kind, content in boxes(parts[b"ipco"])]
    wanted = (*CONFIGURATIONS, *SHARED, b"ispe")
    own = [properties[index - 1] for index in associated(parts[b"ipma"], item)]
    start, length = extent(meta[b"iloc"], item)
    return Tile(
        top[b"ftyp"][:4], kinds[item], tuple(entry for entry in own if entry[4:8] in wanted),
        file[start:start + length])


def boxes(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(content):
        length = int.from_bytes(content[at:at + 4])
        if length < 8 or at + length > len(content):
            raise ValueError("a box that does not end where it should")
        yield content[at + 4:at + 8], content[at + 8:at + length]
        at += length


def associated(ipma: bytes, item: int) -> list[int]:
    """The indices of an item's properties, from 1."""
    if ipma[0] != 0 or ipma[3] & 1:
        raise ValueError("an ipma box with wide fields")
    at = 8
    for _ in range(int.from_bytes(ipma[4:8])):
        owner, count = int.from_bytes(ipma[at:at + 2]), ipma[at + 2]
        if owner == item:
            return [index & 0x7F for index in ipma[at + 3:at + 3 + count]]
        at += 3 + count
    raise ValueError("the primary item has no properties")


def extent(iloc: bytes, item: int) -> tuple[int, int]:
    version = iloc[0]
    offset_size, length_size, base_size = iloc[4] >> 4, iloc[4] & 15, iloc[5] >> 4
    if version > 1 or (version == 1 and iloc[5] & 15):
        raise ValueError("an iloc box of another kind")
    at = 8
    for _ in range(int.from_bytes(iloc[6:8])):
        owner = int.from_bytes(iloc[at:at + 2])
        at += 4 + 2 * version  # with the construction method in version 1
        base = int.from_bytes(iloc[at:at + base_size])
        count = int.from_bytes(iloc[at + base_size:at + base_size + 2])
        at += base_size + 2
        if owner == item:
            if count != 1:
                raise ValueError("an item in several pieces")
            offset = int.from_bytes(iloc[at:at + offset_size])
            return base + offset, int.from_bytes(iloc[at + offset_size:at + offset_size + length_size])
        at += count * (offset_size + length_size)
    raise ValueError("the primary item is nowhere")


def grid(tiles: list[Tile], columns: int, size: tuple[int, int]) -> bytes:
    rows, rest = divmod(len(tiles), columns)
    if rest or any(tile.kind != tiles[0].kind for tile in tiles) or tiles[0].kind not in TILE_ITEMS:
        raise ValueError("tiles that make no grid")
    # Grid first, as item 1, with its eight bytes of description; then the tiles.
    description = bytes([0, 0, rows - 1, columns - 1]) + size[0].to_bytes(2) + size[1].to_bytes(2)
    data = [description, *(tile.data for tile in tiles)]
    whole = [box(b"ispe", bytes(4) + size[0].to_bytes(4) + size[1].to_bytes(4))]
    whole += [entry for entry in tiles[0].properties if entry[4:8] in SHARED]
    owned = [whole, *(list(tile.properties) for tile in tiles)]
    ftyp = box(b"ftyp", tiles[0].brand + bytes(4) + b"mif1" + tiles[0].brand)
    # The length of `meta` does not depend on the offsets in it, which are known only once it has been made.
    start = len(ftyp) + len(metadata(tiles, data, owned, 0)) + 8
    return ftyp + metadata(tiles, data, owned, start) + box(b"mdat", b"".join(data))


def metadata(tiles: list[Tile], data: list[bytes], owned: list[list[bytes]], start: int) -> bytes:
    kinds = [b"grid", *(tile.kind for tile in tiles)]
    entries = b"".join(
        # Version 2; the tiles are hidden (flag 1), because they are not to be shown on their own.
        box(b"infe", bytes([2, 0, 0, number > 1]) + number.to_bytes(2) + bytes(2) + kind + bytes(1))
        for number, kind in enumerate(kinds, 1))
    places = b""
    for number, content in enumerate(data, 1):
        places += number.to_bytes(2) + bytes(2) + (1).to_bytes(2) + start.to_bytes(4) + len(content).to_bytes(4)
        start += len(content)
    distinct = list(dict.fromkeys(entry for entries in owned for entry in entries))
    links = b""
    for number, entries_of in enumerate(owned, 1):
        links += number.to_bytes(2) + bytes([len(entries_of)])
        # The first bit says that a reader must understand the property: the decoder's configuration.
        links += bytes(distinct.index(e) + 1 | (0x80 if e[4:8] in CONFIGURATIONS else 0) for e in entries_of)
    references = b"".join(number.to_bytes(2) for number in (1, len(tiles), *range(2, len(tiles) + 2)))
    count = len(kinds)
    return box(
        b"meta", bytes(4)
        + box(b"hdlr", bytes(8) + b"pict" + bytes(13))
        + box(b"pitm", bytes(4) + (1).to_bytes(2))
        + box(b"iloc", bytes(4) + b"\x44\x00" + count.to_bytes(2) + places)
        + box(b"iinf", bytes(4) + count.to_bytes(2) + entries)
        + box(b"iref", bytes(4) + box(b"dimg", references))
        + box(b"iprp", box(b"ipco", b"".join(distinct)) + box(b"ipma", bytes(4) + count.to_bytes(4) + links)))


def box(kind: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4) + kind + content
