"""seeds.py FOLDER: writes the first inputs of the fuzz targets, in a folder for each. The same in every run."""

import random
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Attack"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import bitmaps
import files
import heifs
import jp2s
import jxls
import mutations
import pictures
import rasters
import tiff_pictures
import tiffs
import webps

# The JPEG targets. Small pictures keep an input short, so that the fuzzer tries many.
JPEG_TARGETS = ("thumbnail", "blocks", "decoder", "sheet")
WIDTH, HEIGHT = 41, 35
SEED, MUTANTS = 1, 8


def small_pictures():
    drawn = pictures.all_pictures()
    return {name: cropped(picture) for name, picture in drawn.items()}


def cropped(picture):
    """The upper left corner."""
    channels = 1 if picture.is_grey else 3
    width, height = min(WIDTH, picture.width), min(HEIGHT, picture.height)
    row = picture.width * channels
    rows = b"".join(picture.rows[y * row : y * row + width * channels] for y in range(height))
    return pictures.Picture(picture.name, width, height, picture.is_grey, rows)


def jpegs():
    drawn = small_pictures()
    good = files.usual_files(drawn) + files.scripted_files(drawn, SEED, MUTANTS)
    found = {file.name: file.data for file in good}
    found.update((mutant.name, mutant.data) for mutant in mutations.mutants(good, SEED, MUTANTS))
    exif, profile = exif_block("II"), matrix_profile()
    first = good[0].data
    app1 = b"\xff\xe1" + struct.pack(">H", 8 + len(exif)) + b"Exif\0\0" + exif
    app2 = b"\xff\xe2" + struct.pack(">H", 16 + len(profile)) + b"ICC_PROFILE\0\1\1" + profile
    found["with-metadata"] = first[:2] + app1 + app2 + first[2:]
    return found


def exif_block(order):
    """A TIFF structure with an orientation, a text, and an Exif directory with a pixel count."""
    mark = "<" if order == "II" else ">"
    text = b"Someone\0"
    first, inner = 8, 8 + 2 + 3 * 12 + 4
    after = inner + 2 + 12 + 4
    entries = [
        struct.pack(mark + "HHIHH", 0x0112, 3, 1, 6, 0), struct.pack(mark + "HHII", 0x013B, 2, len(text), after),
        struct.pack(mark + "HHII", 0x8769, 4, 1, inner),
    ]
    exif = struct.pack(mark + "H", 1) + struct.pack(mark + "HHII", 0xA002, 4, 1, 4000) + struct.pack(mark + "I", 0)
    head = order.encode() + struct.pack(mark + "HI", 42, first)
    return head + struct.pack(mark + "H", 3) + b"".join(entries) + struct.pack(mark + "I", 0) + exif + text


def icc(space, kind, tags):
    """A profile of version 2 with these tags (ICC.1:2010, 7.2 and 7.3)."""
    table, data = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, value in tags:
        table += name + struct.pack(">II", start + len(data), len(value))
        data += value + b"\0" * (-len(value) % 4)
    pcs = b"XYZ " if kind == b"mntr" else b"Lab "
    head = struct.pack(">I4sI4s4s4s", start + len(data), b"lcms", 0x02400000, kind, space, pcs)
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28 + struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + data


def xyz(x, y, z):
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(value * 65536) for value in (x, y, z)))


def gamma(value):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(value * 256)) + b"\0\0"


def matrix_profile():
    white = (b"wtpt", xyz(0.9642, 1, 0.8249))
    primaries = [(b"rXYZ", xyz(0.6, 0.3, 0.02)), (b"gXYZ", xyz(0.2, 0.6, 0.1)), (b"bXYZ", xyz(0.15, 0.06, 0.7))]
    return icc(b"RGB ", b"mntr", [white, *primaries, *((name, gamma(1.8)) for name in (b"rTRC", b"gTRC", b"bTRC"))])


def ink_profile():
    """Four inks, by a table of two points for each (`lut8Type`, ICC.1:2010, 10.9)."""
    generator = random.Random("inks")
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    ramp = bytes(range(256))
    table = b"mft1\0\0\0\0" + bytes([4, 3, 2, 0]) + identity + ramp * 4 + generator.randbytes(2**4 * 3) + ramp * 3
    return icc(b"CMYK", b"prtr", [(b"A2B0", table)])


def profiles():
    """The length of each chooses the kind of colours, with the last two bytes."""
    grey = icc(b"GRAY", b"mntr", [(b"wtpt", xyz(0.9642, 1, 0.8249)), (b"kTRC", gamma(2.2))])
    kinds = {"grey": (grey, 0), "rgb": (matrix_profile(), 1), "cmyk": (ink_profile(), 2)}
    return {name: profile + struct.pack(">H", kind) for name, (profile, kind) in kinds.items()}


# The last two bytes of an input for tiles.c: 64 × 64 pixels, with 4:2:0; four of them that lie on each other, of which
# the first layer is shown; and the same with alpha, which colours are multiplied by.
SUBSAMPLED = 0x00C0
OVERLAY = 0x8600
TRANSPARENT = 0xC700


def coded_pictures():
    """The inputs of the targets of HEIF and WebP."""
    small = bytes(range(192))
    webp = {
        "lossy": webps.encoded(small, 8, 8, 80), "lossless": webps.encoded(small, 8, 8),
        "alpha": webps.encoded(small + small[:64], 8, 8, 80)}
    for name in ("lossy", "alpha"):
        frame = webps.frame(2, 2, 8, 8, *webps.pictures_of(webp[name]))
        webp[f"moving-{name}"] = webps.extended(20, 20, webps.ANIMATION, frame, frame, is_animated=True)
    found = {"webp-header": webp, "decode-webp": {name: data + bytes(2) for name, data in webp.items()}, "heif": {}}
    for target, coded, alpha, slices in (
        ("decode-hevc", heifs.HEVC, heifs.HEVC_ALPHA, heifs.HEVC_SLICES),
        ("decode-av1", heifs.AV1, heifs.AV1_ALPHA, None),
    ):
        found["heif"] |= {
            f"{target}-single": heifs.single(coded, alpha), f"{target}-grid": heifs.tiled(coded, 2, 2),
            f"{target}-overlay": heifs.overlay(coded), f"{target}-sequence": heifs.sequence(coded, alpha),
            f"{target}-layer": heifs.single(coded, None, heifs.layer(0))}
        found[target] = {
            name: struct.pack(">H", len(each.configuration)) + each.configuration + each.data
            + struct.pack(">H", choice)
            for name, each, choice in (
                ("colors", coded, SUBSAMPLED), ("alpha", alpha, SUBSAMPLED), ("slices", slices, SUBSAMPLED),
                ("overlay", coded, OVERLAY), ("transparent", coded, TRANSPARENT))
            if each}
    layers = heifs.AV1_LAYERS
    found["decode-av1"]["layers"] = (
        struct.pack(">H", len(layers.configuration)) + layers.configuration + layers.data + struct.pack(">H", OVERLAY))
    return found


def other_headers():
    """Files of the formats that have one target for all their headers."""
    width = 12
    indices = [bytes((x * y) % 16 for x in range(width)) for y in range(9)]
    colors = [bytes((x * 7 + y) % 256 for x in range(3 * width)) for y in range(9)]
    alphas = [bytes((x * 5 + y) % 256 for x in range(4 * width)) for y in range(9)]
    palette = bytes(range(48))
    found = {
        "icon": bitmaps.icon(colors, width), "psd": bitmaps.psd(colors, width, 3),
        "psd-raw": bitmaps.psd(colors, width, 3, is_packed=False)}
    for kind, write_file in (("bmp", bitmaps.bmp), ("tga", bitmaps.tga)):
        for name, rows, channels, table in (("i", indices, 1, palette), ("c", colors, 3, b""), ("a", alphas, 4, b"")):
            found[f"{kind}-{name}"] = write_file(rows, width, channels, table)
        found[f"{kind}-runs"] = write_file(indices, width, 1, palette, has_runs=True)
    return found | {f"jxl-{name}": data for name, data in jxls.FILES.items()} | {
        f"jp2-{name}": data for name, data in jp2s.FILES.items()}


def described_rows():
    """Descriptions of rows, as formats.c reads them, with rows behind."""
    generator = random.Random(SEED)
    return {f"{number}": generator.randbytes(generator.choice((200, 900))) for number in range(24)}


def texts():
    """The inputs that are kept as files, one folder for each target, and the job files of the project."""
    here = Path(__file__).resolve().parent
    for folder in sorted((here / "seeds").iterdir()):
        yield folder.name, {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    yield "job-file", {file.name: file.read_bytes() for file in sorted((here.parent.parent / "jobs").glob("*.yml"))}


def write(folder, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs.items():
        (folder / name).write_bytes(data)


def main(folder):
    pictures_of_targets = jpegs()
    for target in JPEG_TARGETS:
        write(folder / target, pictures_of_targets)
    write(folder / "exif", {order: exif_block(order) for order in ("II", "MM")})
    write(folder / "profile", profiles())
    write(folder / "directories", tiffs.directories())
    write(folder / "decode-tiff", tiffs.directories() | tiff_pictures.partial())
    write(folder / "multi-picture", tiffs.multi_pictures())
    write(folder / "other-headers", other_headers())
    write(folder / "decode-jp2", {name: data[data.index(b"\xff\x4f\xff\x51") :] for name, data in jp2s.FILES.items()})
    for target in ("decode-raster", "decode-psd"):
        write(folder / target, described_rows())
    for target, inputs in [*rasters.inputs().items(), *coded_pictures().items(), *texts()]:
        write(folder / target, inputs)
    # A row of 40 samples in each of 32 strips: what lzw.c makes a file of.
    coded = tiff_pictures.lzw(bytes(range(0, 200, 5)))
    write(folder / "lzw", {f"predictor-{choice}": bytes([39, 31, 0, choice]) + coded * 32 for choice in (0, 1)})
    for decoder in [*folder.glob("decode-*"), folder / "decoder"]:
        twice = "jpeg" if decoder.name == "decoder" else decoder.name.removeprefix("decode-")
        shutil.copytree(decoder, folder / f"fills-{twice}", dirs_exist_ok=True)
    shutil.copytree(folder / "decode-webp", folder / "lossless", dirs_exist_ok=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
