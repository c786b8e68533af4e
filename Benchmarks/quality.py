"""quality.py FOLDER: are thumbjob's thumbnails as good as vipsthumbnail's?

Each thumbnail is compared with what it should be: all of the photograph decoded, turned and brought to sRGB, then
resized with Lanczos-3, at the size that the thumbnail has (by Pillow). Both programs write at quality 95, so that the
resizing is what is compared and not the encoder: without subsampling, and as thumbnails usually are, with chroma at
half of luma's samples, of which less has to be decoded.

SSIM is that of Wang et al. (2004) with a Gaussian window of sigma 1.5, as scikit-image computes it: once as the mean
of red, green and blue, which sees what happens to colour and is the stricter, and once over luma, as it is mostly
quoted. PSNR is over red, green and blue.

Exit status 1 when thumbjob's mean SSIM, of either kind, is lower than vipsthumbnail's, when that of one photograph
falls more than the allowance below vipsthumbnail's, or when thumbjob made no thumbnail of one; 2 when nothing can be
compared.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import NoReturn

import numpy
from PIL import Image, ImageCms, ImageOps
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

ALLOWANCE = 0.003  # of SSIM, for one photograph
THUMBJOB = Path(os.environ.get("THUMBJOB", Path(__file__).parent.parent / ".build/release/thumbjob")).absolute()
SRGB = ImageCms.createProfile("sRGB")

Image.MAX_IMAGE_PIXELS = None  # the photographs are the user's own


class LeftOut(Exception):
    """Why a photograph is not compared."""


@dataclass(frozen=True)
class Score:
    ssim: float  # mean of red, green and blue
    luma_ssim: float
    psnr: float  # dB


@dataclass(frozen=True)
class Row:
    photo: str
    source: str
    size: str
    thumbjob: Score
    vipsthumbnail: Score

    @property
    def lead(self) -> float:
        return self.thumbjob.ssim - self.vipsthumbnail.ssim

    @property
    def luma_lead(self) -> float:
        return self.thumbjob.luma_ssim - self.vipsthumbnail.luma_ssim


def main() -> int:
    parser = argparse.ArgumentParser(description="Are thumbjob's thumbnails as good as vipsthumbnail's?")
    parser.add_argument("folder", type=Path, help="a folder of JPEGs; those in its folders are not looked at")
    parser.add_argument("--size", type=int, default=256, help="the box of the thumbnails (default: 256)")
    parser.add_argument("--subsampling", choices=["444", "420"], default="444", help="of both (default: 444)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    options = parser.parse_args()
    photos = sorted(path for path in options.folder.glob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not photos:
        fail(f"{options.folder} has no JPEG photographs")
    if not THUMBJOB.exists():
        fail(f"{THUMBJOB} is not there; run `make build`, or say in THUMBJOB where it is")
    if not shutil.which("vipsthumbnail"):
        fail("vipsthumbnail is not there; run `make bench-deps` (Debian: libvips-tools)")

    rows, left_out, missing = [], {}, []
    with tempfile.TemporaryDirectory() as work:
        ours, theirs = Path(work, "thumbjob"), Path(work, "vipsthumbnail")
        make_thumbjob(photos, ours, options.size, options.subsampling)
        make_vipsthumbnail(photos, theirs, options.size, options.subsampling)
        for photo in photos:
            if not (ours / photo.name).exists():
                missing.append(photo.name)
                continue
            try:
                rows.append(compare(photo, ours / photo.name, theirs / f"{photo.stem}.jpg"))
            except LeftOut as why:
                left_out[photo.name] = str(why)
    if not rows:
        fail(f"none of the {len(photos)} photographs could be compared")

    faults = [f"{name}: thumbjob made no thumbnail" for name in missing] + judge(rows)
    print(table(rows))
    for name, why in left_out.items():
        print(f"left out: {name}: {why}")
    for fault in faults:
        print(f"FAILED: {fault}")
    if options.json:
        figures = {
            "size": options.size, "subsampling": options.subsampling, "rows": [asdict(row) for row in rows],
            "left_out": left_out, "faults": faults}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if faults else 0


def fail(why: str) -> NoReturn:
    print(f"quality.py: {why}", file=sys.stderr)
    sys.exit(2)


def make_thumbjob(photos: list[Path], out: Path, size: int, subsampling: str) -> None:
    command = [THUMBJOB, *photos, "-o", out, "-s", str(size), "-q", "95", "--subsample", subsampling]
    subprocess.run([*command, "--quiet", "--progress", "none", "--status", "off"], check=False)


def make_vipsthumbnail(photos: list[Path], out: Path, size: int, subsampling: str) -> None:
    out.mkdir()
    written = f"{out.absolute()}/%s.jpg[Q=95,subsample_mode={'on' if subsampling == '420' else 'off'}]"
    # Without --export-profile: 8.14 takes untagged photographs for something other than sRGB then. So thumbnails keep
    # their profile here, and `pixels` heeds it. Its standard error warns of every odd EXIF block.
    subprocess.run(["vipsthumbnail", *photos, "-s", str(size), "-o", written], check=False, stderr=subprocess.DEVNULL)


def compare(photo: Path, ours: Path, theirs: Path) -> Row:
    if not theirs.exists():
        raise LeftOut("vipsthumbnail made no thumbnail")
    mine, peer = pixels(ours), pixels(theirs)
    if mine.shape != peer.shape:
        raise LeftOut(f"thumbjob's is {shape(mine)}, vipsthumbnail's {shape(peer)}")
    should_be = pixels(photo, (mine.shape[1], mine.shape[0]))
    with Image.open(photo) as image:
        source = f"{image.width} × {image.height}{' progressive' if image.info.get('progressive') else ''}"
    return Row(photo.name, source, shape(mine), score(should_be, mine), score(should_be, peer))


def pixels(path: Path, size: tuple[int, int] | None = None) -> numpy.ndarray:
    """Height × width × 3 of sRGB, upright; resized with Lanczos-3 where a size is given."""
    with Image.open(path) as image:
        if image.mode not in ("L", "RGB"):
            raise LeftOut(f"{path.name} is {image.mode}, for which there is no reference")
        upright = ImageOps.exif_transpose(image)
        profile = image.info.get("icc_profile")
    if profile:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        intent = ImageCms.Intent.RELATIVE_COLORIMETRIC
        upright = ImageCms.profileToProfile(upright, given, SRGB, renderingIntent=intent, outputMode="RGB")
    picture = upright.convert("RGB")
    if size:
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    return numpy.asarray(picture)


def shape(picture: numpy.ndarray) -> str:
    return f"{picture.shape[1]} × {picture.shape[0]}"


def score(should_be: numpy.ndarray, picture: numpy.ndarray) -> Score:
    window = {"data_range": 255, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    luma = [array @ (0.299, 0.587, 0.114) for array in (should_be, picture)]  # ITU-R BT.601, as in JPEG
    with numpy.errstate(divide="ignore"):  # of two that are the same it is infinite
        psnr = peak_signal_noise_ratio(should_be, picture, data_range=255)
    return Score(
        float(structural_similarity(should_be, picture, channel_axis=2, **window)),
        float(structural_similarity(*luma, **window)), min(float(psnr), 99))


def judge(rows: list[Row]) -> list[str]:
    faults = []
    for kind, lead in (("SSIM", lambda row: row.lead), ("luma SSIM", lambda row: row.luma_lead)):
        faults += [
            f"{row.photo}: {kind} is {-lead(row):.4f} below vipsthumbnail's, more than {ALLOWANCE}"
            for row in rows if lead(row) < -ALLOWANCE]
        mean = fmean(lead(row) for row in rows)
        if mean < 0:
            faults.append(f"thumbjob's mean {kind} is {-mean:.5f} below vipsthumbnail's")
    return faults


def table(rows: list[Row]) -> str:
    """Markdown, the worst for thumbjob first."""
    lines = [
        "| photograph | source | thumbnail | SSIM | vipsthumbnail's | lead | luma SSIM | vipsthumbnail's | lead "
        "| PSNR, dB | vipsthumbnail's |", "|" + " --- |" * 11]
    for row in sorted(rows, key=lambda row: row.lead):
        lines.append(line(row.photo, row.source, row.size, row.thumbjob, row.vipsthumbnail))
    means = (mean([row.thumbjob for row in rows]), mean([row.vipsthumbnail for row in rows]))
    return "\n".join([*lines, line(f"**mean of {len(rows)}**", "", "", *means)])


def mean(scores: list[Score]) -> Score:
    return Score(*(fmean(getattr(score, field.name) for score in scores) for field in fields(Score)))


def line(photo: str, source: str, size: str, ours: Score, theirs: Score) -> str:
    return (
        f"| {photo} | {source} | {size} | {ours.ssim:.4f} | {theirs.ssim:.4f} | {ours.ssim - theirs.ssim:+.4f} "
        f"| {ours.luma_ssim:.4f} | {theirs.luma_ssim:.4f} | {ours.luma_ssim - theirs.luma_ssim:+.4f} "
        f"| {ours.psnr:.2f} | {theirs.psnr:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
