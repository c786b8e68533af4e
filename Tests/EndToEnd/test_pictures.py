"""What the built program shows of small pictures that programs disagree about, and of those that lack samples."""

import io
import json
import subprocess

import pytest
from PIL import Image

import heifs
import jxls
import tiff_pictures
from job import THUMBJOB

WHITE, GREY = (255, 255, 255), (100, 100, 100)


def run(folder, *arguments):
    command = [
        THUMBJOB, "images", "-o", "thumbs", "--progress", "none", "--quality", "100", "--subsample", "444", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def cmyk(has_marker):
    picture = Image.new("CMYK", (32, 32), (200, 30, 60, 20))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=95)
    data = file.getvalue()
    start = data.index(b"\xff\xee")
    size = 2 + int.from_bytes(data[start + 2 : start + 4], "big")
    assert data[start + 4 : start + 9] == b"Adobe"
    return data if has_marker else data[:start] + data[start + size :]


def webp(announces_alpha):
    file = io.BytesIO()
    Image.new("RGBA", (32, 32), (10, 240, 20, 40)).save(file, "WEBP", quality=95)
    data = bytearray(file.getvalue())
    assert data[12:16] == b"VP8X"
    if not announces_alpha:
        data[20] &= ~0x10
    return bytes(data)


def saved(mode, ending, **options):
    """A picture with a colour and perhaps alpha in each quarter, as Pillow writes it."""
    picture = Image.new("RGBA", (64, 64))
    for index, color in enumerate(heifs.QUARTERS):
        picture.paste((*color, 255 - 60 * index), (32 * (index % 2), 32 * (index // 2), 32 * (index % 2) + 32, 64))
    file = io.BytesIO()
    (picture.quantize(16) if mode == "P" else picture.convert(mode)).save(file, ending, **options)
    return file.getvalue()


def like_pillow(data):
    """The colours of the quarters, in front of white, as Pillow shows them."""
    picture = Image.open(io.BytesIO(data)).convert("RGBA")
    picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return data, {place: picture.getpixel(place)[:3] for place in FOUR}


def pillow(data):
    """What Pillow shows of a picture in its middle, in front of white."""
    picture = Image.open(io.BytesIO(data))
    picture = picture.convert("RGBA" if "A" in picture.mode else "RGB").convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).getpixel((16, 16))[:3]


TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = heifs.QUARTERS
FOUR = {(16, 16): TOP_LEFT, (48, 16): TOP_RIGHT, (16, 48): BOTTOM_LEFT, (48, 48): BOTTOM_RIGHT}
REVERSED = {(16, 16): BOTTOM_RIGHT, (48, 16): BOTTOM_LEFT, (16, 48): TOP_RIGHT, (48, 48): TOP_LEFT}
# The second picture lies on the first, and the canvas shows where neither is.
OVERLAY = {
    (8, 16): TOP_LEFT, (32, 16): TOP_RIGHT, (8, 48): BOTTOM_LEFT, (32, 48): TOP_LEFT, (64, 48): TOP_RIGHT,
    (32, 72): BOTTOM_LEFT, (64, 72): BOTTOM_RIGHT, (96, 40): GREY, (64, 16): GREY, (8, 72): GREY}
WRITTEN = {
    f"{mode}.{ending}": saved(mode, kind, **options)
    for ending, kind, options, modes in (
        ("bmp", "BMP", {}, ("1", "L", "P", "RGB", "RGBA")),
        ("tga", "TGA", {"rle": True}, ("L", "P", "RGB", "RGBA")), ("ico", "ICO", {"sizes": [(64, 64)]}, ("RGBA",)),
        ("bitmap.ico", "ICO", {"sizes": [(64, 64)], "bitmap_format": "bmp"}, ("RGBA",)),
        ("jp2", "JPEG2000", {}, ("L", "LA", "RGB", "RGBA")), ("j2k", "JPEG2000", {"no_jp2": True}, ("L", "RGB")),
        ("lossy.jp2", "JPEG2000", {"irreversible": True, "quality_mode": "dB", "quality_layers": [50]}, ("RGB",)),
        ("tiles.jp2", "JPEG2000", {"tile_size": (40, 40)}, ("RGB", "RGBA")))
    for mode in modes}
TURNED = {(16, 16): BOTTOM_LEFT, (48, 16): TOP_LEFT, (16, 48): BOTTOM_RIGHT, (48, 48): TOP_RIGHT}


def jxl_colors(name):
    """The colours of the quarters of a JPEG XL file."""
    if name == "turned":
        return TURNED
    alphas = (255, 195, 135, 75) if "alpha" in name or name == "premultiplied" else (255,) * 4
    colors = {}
    for place, quarter, alpha in zip(FOUR, heifs.QUARTERS, alphas, strict=True):
        luma = round(0.299 * quarter[0] + 0.587 * quarter[1] + 0.114 * quarter[2])
        color = (luma,) * 3 if "grey" in name else quarter
        colors[place] = tuple(round((channel * alpha + 255 * (255 - alpha)) / 255) for channel in color)
    return colors


TRANSPARENT = {(16, 16): TOP_LEFT, (16, 48): BOTTOM_LEFT, (48, 16): WHITE, (48, 48): WHITE}
MIDDLE = (16, 16)
SHOWN = {
    "mislabelled.avif": (heifs.single(heifs.AV1_MISLABELLED), FOUR),
    "layer-0.avif": (heifs.single(heifs.AV1_LAYERS, None, heifs.layer(0)), FOUR),
    "layer-1.avif": (heifs.single(heifs.AV1_LAYERS, None, heifs.layer(1)), REVERSED),
    "overlay.heic": (heifs.overlay(heifs.HEVC), OVERLAY), "overlay.avif": (heifs.overlay(heifs.AV1), OVERLAY),
    "sequence.heic": (heifs.sequence(heifs.HEVC, heifs.HEVC_ALPHA), TRANSPARENT),
    "sequence.avif": (heifs.sequence(heifs.AV1, heifs.AV1_ALPHA), TRANSPARENT),
    **{f"cmyk-{marker}.jpg": (cmyk(marker), {MIDDLE: pillow(cmyk(marker))}) for marker in (True, False)},
    **{f"{name}.jxl": (data, jxl_colors(name)) for name, data in jxls.FILES.items()},
    **{name: like_pillow(data) for name, data in WRITTEN.items()},
    **{f"alpha-{flag}.webp": (webp(flag), {MIDDLE: pillow(webp(flag))}) for flag in (True, False)},
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The thumbnails of all pictures, by one run."""
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "images").mkdir()
    for name, (data, _) in SHOWN.items():
        (folder / "images" / name).write_bytes(data)
    return folder / "thumbs", run(folder).stderr


@pytest.mark.parametrize("name", SHOWN)
def test_colours(shown, name):
    folder, errors = shown
    assert f"{name}: " not in errors
    with Image.open(folder / (name if name.endswith(".jpg") else f"{name}.jpg")) as thumbnail:
        for place, color in SHOWN[name][1].items():
            found = thumbnail.convert("RGB").getpixel(place)
            assert max(abs(a - b) for a, b in zip(found, color, strict=True)) < 14, (place, found, color)


def test_a_picture_that_lacks_samples_fails_at_every_level(tmp_path):
    """One process decodes all of them, one after the other."""
    (tmp_path / "images").mkdir()
    for name, data in tiff_pictures.partial().items():
        (tmp_path / "images" / f"{name}.tif").write_bytes(data)
    for level in ("truncated", "error"):
        done = run(tmp_path, "--max", "1", "--fail-on", level, "--force")
        assert done.returncode == 1
        made = {path.name for path in (tmp_path / "thumbs").glob("*.jpg")}
        assert made == {"jpeg.tif.jpg", "jpeg-without-end.tif.jpg", "fax.tif.jpg"}, done.stderr
        assert "jpeg-of-another-size.tif: truncated: strip or tile 0 lacks samples" in done.stderr
        assert "fax-without-rows.tif: truncated: Premature EOL at line 16" in done.stderr
        assert "lzw-without-clear.tif: damaged: a strip uses a code that is not defined" in done.stderr


def test_a_transparent_grey_picture_takes_the_brightness_of_a_coloured_background(tmp_path):
    (tmp_path / "images").mkdir()
    Image.new("LA", (64, 64), (100, 0)).save(tmp_path / "images/grey.png")
    result = run(tmp_path, "--background", "#ff0000")
    assert result.returncode == 0, result.stderr
    shown = Image.open(tmp_path / "thumbs/grey.png.jpg")
    assert (shown.mode, shown.getpixel((32, 32))) == ("L", 76)  # the luma of red


def test_the_peak_of_memory_is_that_of_one_moment(tmp_path):
    picture = Image.linear_gradient("L").resize((4000, 3000)).convert("RGB")
    # The program needs much memory for the first, and its decoder process for the second, one after the other.
    picture.save(tmp_path / "a.jpg", progressive=True)
    picture.save(tmp_path / "b.avif", speed=10)

    def peak(*sources):
        command = [THUMBJOB, *sources, "-o", "thumbs", "--force", "--size", "2000", "--max", "1", "--json"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1])["peak_memory_bytes"]

    assert peak("a.jpg", "b.avif") < peak("a.jpg") + (20 << 20)
