"""How each program makes thumbnails in one thread: in a box, upright, never enlarged, without metadata.

THUMBJOB and PILLOW_PYTHON in the environment name other programs: see thumbnailers.py. libvips takes as many threads as
VIPS_CONCURRENCY says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thumbnailers import HERE, PYTHON, THUMBJOB

ENDINGS = {"jpeg": "jpg", "webp": "webp", "avif": "avif", "png": "png"}
OURS = "thumbjob"


@dataclass(frozen=True)
class Call:
    """Thumbnails that a program is asked for."""

    pictures: list[Path]
    out: Path
    box: int
    format: str
    options: str
    quality: int


@dataclass(frozen=True)
class Program:
    name: str
    # By format, from fast to those with the smallest files; and its usual options. What takes seconds is left out.
    options: dict[str, tuple[str, ...]]
    usual: dict[str, str]
    commands: Callable[[Call], list[list[str]]]
    best: int = 100  # the highest quality
    input: str = "jpg"  # the ending of the pictures that it gets; only encoders get others
    needs: str = ""  # the command, if it is not the name


def numbered(pattern: str, *numbers: int) -> tuple[str, ...]:
    return tuple(pattern.format(number) for number in numbers)


def thumbjob(call: Call) -> list[list[str]]:
    return [[
        str(THUMBJOB), *map(str, call.pictures), "-o", str(call.out), "-s", str(call.box), "-q", str(call.quality),
        "--format", call.format, "--name", "%s", *call.options.split(), "--max", "1", "--quiet", "--progress", "none",
        "--status", "off"]]


def vipsthumbnail(call: Call) -> list[list[str]]:
    wanted = vips_options(call, "strip=true")
    return [[
        "vipsthumbnail", "--vips-cache-max=0", *map(str, call.pictures), "-s",
        f"{call.box}x{call.box}>", "-o", f"{call.out}/%s.{ENDINGS[call.format]}[{wanted}]"]]


def vips_options(call: Call, *more: str) -> str:
    kept = {"jpeg": ("subsample_mode=on",), "avif": ("subsample_mode=on", "bitdepth=8")}.get(call.format, ())
    quality = () if call.format == "png" else (f"Q={call.quality}",)
    return ",".join(part for part in (*quality, *kept, *more, call.options) if part)


def pyvips(call: Call) -> list[list[str]]:
    return library(call, "pyvips", vips_options(call))


def pillow(call: Call) -> list[list[str]]:
    options = call.options if call.format == "png" else f"quality={call.quality},{call.options}"
    return library(call, "Pillow", f"{options},max_threads=1" if call.format == "avif" else options)


def library(call: Call, name: str, options: str) -> list[list[str]]:
    return [[
        PYTHON, str(HERE / "library_thumbnails.py"), name, str(call.box), str(call.out), ENDINGS[call.format], options,
        *map(str, call.pictures)]]


def cwebp(call: Call) -> list[list[str]]:
    return [[
        "cwebp", "-quiet", *call.options.split(), "-q", str(call.quality), str(picture), "-o",
        str(call.out / f"{picture.stem}.webp")] for picture in call.pictures]


def avifenc(call: Call) -> list[list[str]]:
    level = str(63 - call.quality)
    # With libaom, as thumbjob calls it: one number for all, and for likeness.
    aom = ["--min", "0", "--max", "63", "-a", "end-usage=q", "-a", f"cq-level={level}", "-a", "tune=ssim"]
    quantizer = aom if "aom" in call.options else ["--min", level, "--max", level]
    return [[
        "avifenc", "-j", "1", "--cicp", "1/13/6", *call.options.split(), *quantizer, str(picture),
        str(call.out / f"{picture.stem}.avif")] for picture in call.pictures]


VIPS_PNG = (
    "compression=1,filter=sub", "compression=1,filter=all", "compression=3,filter=all", "compression=4,filter=all",
    "compression=6,filter=all", "compression=9,filter=all")
EFFORTS = numbered("effort={}", *range(10))
PROGRAMS = (
    Program(
        "vipsthumbnail",
        {"jpeg": ("", "optimize_coding=true"), "webp": EFFORTS[:7], "avif": EFFORTS[2:6], "png": VIPS_PNG},
        {"jpeg": "", "webp": "effort=4", "avif": "effort=4", "png": "compression=6,filter=none"}, vipsthumbnail),
    Program(
        "pyvips",
        {"jpeg": ("", "optimize_coding=1"), "webp": EFFORTS[:7], "avif": EFFORTS[2:6], "png": VIPS_PNG},
        {"jpeg": "", "webp": "effort=4", "avif": "effort=4", "png": "compression=6,filter=none"}, pyvips,
        needs=PYTHON),
    Program(
        "Pillow",
        {"jpeg": ("subsampling=2", "subsampling=2,optimize=1"), "webp": numbered("method={}", *range(7)),
         "avif": numbered("speed={}", 8, 7, 6, 5), "png": numbered("compress_level={}", 1, 2, 3, 4, 6, 9)},
        {"jpeg": "subsampling=2", "webp": "method=4", "avif": "speed=6", "png": "compress_level=6"}, pillow,
        needs=PYTHON),
    Program("cwebp", {"webp": numbered("-m {}", *range(7))}, {"webp": "-m 4"}, cwebp, input="ppm"),
    Program(
        "avifenc, libaom", {"avif": numbered("-c aom -s {}", 8, 7, 6, 5)}, {"avif": "-c aom -s 6"},
        avifenc, 63, "y4m", "avifenc"),
    Program(
        "avifenc, SVT-AV1", {"avif": numbered("-c svt -s {}", 10, 8, 6, 5)}, {"avif": "-c svt -s 6"},
        avifenc, 63, "y4m", "avifenc"),
)
BY_NAME = {program.name: program for program in (Program(OURS, {}, {}, thumbjob, needs=str(THUMBJOB)), *PROGRAMS)}


def fast_png(program: str) -> str:
    """Options with which its PNG files are made fast."""
    return {OURS: "--effort 1", "Pillow": "compress_level=1"}.get(program, "compression=1,filter=sub")
