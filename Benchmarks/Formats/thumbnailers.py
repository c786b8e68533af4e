"""How each program makes one thumbnail of one picture: in a box, upright, over white, never enlarged.

ImageMagick is `magick` or, of version 6, Debian's own name for its `convert`. THUMBJOB and PILLOW_PYTHON in the
environment name another thumbjob than the release build, and the Python that has Pillow and pillow-heif.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).absolute().parent
THUMBJOB = Path(os.environ.get("THUMBJOB", HERE.parent.parent / ".build/release/thumbjob")).absolute()
PYTHON = os.environ.get("PILLOW_PYTHON", sys.executable)
MAGICK = next((name for name in ("magick", "convert-im6.q16", "convert") if shutil.which(name)), "convert")
BOX = 256  # pixels along each side, if nothing else is asked for


@dataclass(frozen=True)
class Quality:
    number: int
    subsampled: bool  # chroma at half of luma's samples


# As thumbnails are usually written; so that what is compared is the decoding and resizing, not the encoding; and so
# that also noise keeps its look.
USUAL, FINE, FINEST = Quality(80, True), Quality(95, False), Quality(100, False)


@dataclass(frozen=True)
class Thumbnailer:
    name: str
    # Picture, empty folder for the thumbnail, quality, and the side of the box.
    command: Callable[[Path, Path, Quality, int], list[str]]
    version: Callable[[], str]
    environment: dict[str, str] = field(default_factory=dict)


def thumbjob(picture: Path, out: Path, quality: Quality, box: int) -> list[str]:
    return [
        str(THUMBJOB), str(picture), "-o", str(out), "-s", str(box), "-q", str(quality.number), "--subsample",
        "420" if quality.subsampled else "444", "--max", "1", "--force", "--json", "--progress", "none",
        "--status", "off"]


def vipsthumbnail(picture: Path, out: Path, quality: Quality, box: int) -> list[str]:
    # Without the cache, which is for those who use a picture twice. Thumbnails keep their profile: 8.14 takes pictures
    # without one for something other than sRGB when told to convert them.
    subsampling = "on" if quality.subsampled else "off"
    return [
        "vipsthumbnail", "--vips-cache-max=0", str(picture), "-s", f"{box}x{box}>", "-o",
        f"{out}/%s.jpg[Q={quality.number},subsample_mode={subsampling},background=255]"]


def pillow(picture: Path, out: Path, quality: Quality, box: int) -> list[str]:
    return [
        PYTHON, str(HERE / "pillow_thumbnail.py"), str(picture), str(out / "thumbnail.jpg"), str(box),
        str(quality.number), "2" if quality.subsampled else "0"]


def imagemagick(picture: Path, out: Path, quality: Quality, box: int) -> list[str]:
    # [0] is the first frame or page; the size lets libjpeg decode at a fraction.
    return [
        MAGICK, "-define", f"jpeg:size={2 * box}x{2 * box}", f"{picture}[0]", "-auto-orient", "-thumbnail",
        f"{box}x{box}>", "-background", "white", "-flatten", "-quality", str(quality.number), "-sampling-factor",
        "2x2" if quality.subsampled else "1x1", str(out / "thumbnail.jpg")]


def said(command: list[str], pattern: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout)
    return found[0] if found else "?"


PILLOW_VERSION = "import PIL, pillow_heif; print(PIL.__version__, 'with pillow-heif', pillow_heif.__version__)"

THUMBNAILERS = (
    Thumbnailer("thumbjob", thumbjob, lambda: said([str(THUMBJOB), "--version"], r"\d.*")),
    Thumbnailer(
        "vipsthumbnail", vipsthumbnail, lambda: said(["vipsthumbnail", "--vips-version"], r"\d[\d.]*"),
        # One thread for computing; the others would compete with the other programs of a job.
        environment={"VIPS_CONCURRENCY": "1"}),
    Thumbnailer("Pillow", pillow, lambda: said([PYTHON, "-c", PILLOW_VERSION], r".*")),
    Thumbnailer(
        "ImageMagick", imagemagick, lambda: said([MAGICK, "-version"], r"\d[\d.-]*"),
        environment={"OMP_NUM_THREADS": "1"}),
)


def named(names: str) -> list[Thumbnailer]:
    """Those of a list with commas between, in the order of THUMBNAILERS."""
    wanted = names.split(",")
    known = [thumbnailer.name for thumbnailer in THUMBNAILERS]
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"there is no thumbnailer {', '.join(unknown)}; there are {', '.join(known)}")
    return [thumbnailer for thumbnailer in THUMBNAILERS if thumbnailer.name in wanted]


def missing(thumbnailers: list[Thumbnailer]) -> list[str]:
    """What has to be installed or built before they can run, a line each."""
    needed = {"thumbjob": str(THUMBJOB), "vipsthumbnail": "vipsthumbnail", "Pillow": PYTHON, "ImageMagick": MAGICK}
    lines = [
        f"{thumbnailer.name} is not there: {needed[thumbnailer.name]}" for thumbnailer in thumbnailers
        if not shutil.which(needed[thumbnailer.name])]
    if any(thumbnailer.name == "Pillow" for thumbnailer in thumbnailers) and subprocess.run(
            [PYTHON, "-c", "import PIL, pillow_heif"], capture_output=True, check=False).returncode != 0:
        lines.append(f"{PYTHON} has no Pillow or no pillow-heif: see Benchmarks/requirements.txt")
    return lines


def thumbnail_in(out: Path) -> Path | None:
    """The thumbnail that a program has written into its folder, in which thumbjob has a folder of its own, too.

    thumbjob's ends as the picture's name does, if that is one of JPEG's endings.
    """
    return next(
        (file for file in sorted(out.rglob("*"))
         if file.suffix.lower() in (".jpg", ".jpeg", ".jpe") and ".thumbjob" not in file.parts), None)
