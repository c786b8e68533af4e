"""Thumbnails in WebP, AVIF and PNG beside JPEG: what other programs read, and what several runs leave."""

import json
import os
import shutil
import signal
import subprocess
import time
from urllib.parse import unquote

import pytest
from PIL import Image, ImageCms, ImageDraw

from job import THUMBJOB
from waiting import eventually

FORMATS = {"jpeg": "", "webp": ".webp", "avif": ".avif", "png": ".png"}
ALL = ",".join(FORMATS)


def run(folder, *arguments, status=0):
    output = [] if "-o" in arguments else ["-o", "thumbs"]
    command = [THUMBJOB, *arguments, *output, "--progress", "none", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"{done.returncode}: {done.stdout[-2000:]} {done.stderr}"
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else done


def scene(size=(640, 480), mode="RGB"):
    """A picture with gradients, edges and text."""
    picture = Image.linear_gradient("L").resize(size).convert("RGB")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((size[0] // 8, size[1] // 8, size[0] // 2, size[1] // 2), fill=(200, 60, 40))
    draw.ellipse((size[0] // 2, size[1] // 3, size[0] * 7 // 8, size[1] * 7 // 8), fill=(40, 90, 190))
    draw.text((20, 20), "thumbjob", fill="white")
    return picture.convert(mode)


def opened(folder, name):
    picture = Image.open(folder / "thumbs" / name)
    picture.load()
    return picture


def files(folder):
    """The thumbnails by name, with their bytes and times."""
    thumbs = folder / "thumbs"
    return {
        str(path.relative_to(thumbs)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(thumbs.rglob("*")) if path.is_file() and ".thumbjob" not in path.parts}


@pytest.fixture
def photos(tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    scene().save(images / "a.jpg", quality=95)
    scene((300, 500)).save(images / "b.png")
    scene((90, 60)).save(images / "small.webp", lossless=True)
    return tmp_path


@pytest.mark.parametrize("orientation", [1, 6, 8, 3])
def test_other_programs_show_the_same_in_every_format(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    scene().save(tmp_path / "a.jpg", quality=95, exif=exif.tobytes())
    run(tmp_path, "a.jpg", "--format", ALL, "-q", "95", "--subsample", "444")
    jpeg = opened(tmp_path, "a.jpg").convert("RGB")
    assert jpeg.size == ((256, 192) if orientation in (1, 3) else (192, 256))
    for format, ending in FORMATS.items():
        picture = opened(tmp_path, f"a.jpg{ending}")
        assert picture.format.lower() == format and picture.size == jpeg.size and picture.mode == "RGB"
        pixels = zip(picture.get_flattened_data(), jpeg.get_flattened_data(), strict=True)
        assert sum(abs(a - b) for one, other in pixels for a, b in zip(one, other, strict=True)) / (3 * 256 * 192) < 3


def colored(tmp_path, kind):
    """Saves flat patches of a colour in several colour spaces."""
    color = (180, 90, 60)
    if kind == "cmyk":
        Image.new("CMYK", (400, 300), (60, 150, 180, 20)).save(tmp_path / "a.jpg", quality=100)
    elif kind == "grey":
        Image.new("L", (400, 300), 130).save(tmp_path / "a.jpg", quality=100)
    else:
        Image.new("RGB", (400, 300), color).save(tmp_path / "a.jpg", quality=100)


@pytest.mark.parametrize("kind", ["srgb", "grey", "cmyk"])
def test_colours_are_within_a_step_of_those_of_jpeg(tmp_path, kind):
    colored(tmp_path, kind)
    run(tmp_path, "a.jpg", "--format", ALL, "-q", "95")
    wanted = opened(tmp_path, "a.jpg").convert("RGB").getpixel((100, 80))
    for ending in FORMATS.values():
        made = opened(tmp_path, f"a.jpg{ending}").convert("RGB").getpixel((100, 80))
        # WebP has 219 steps of luma, and half of the chroma.
        step = 3 if ending == ".webp" else 2
        assert near(made, wanted, step), (ending, made, wanted)


def transparent(size=(400, 300)):
    """Opaque on the left, transparent in the middle, half transparent on the right."""
    picture = Image.new("RGBA", size, (200, 60, 40, 255))
    third = size[0] // 3
    picture.paste((10, 20, 30, 0), (third, 0, 2 * third, size[1]))
    picture.paste((40, 200, 90, 128), (2 * third, 0, size[0], size[1]))
    return picture


def near(made, wanted, step=4):
    return all(abs(a - b) <= step for a, b in zip(made, wanted, strict=True))


@pytest.mark.parametrize("options", [(), ("--linear",), ("--lossless", "--format", "webp,png")])
def test_transparent_pictures_stay_transparent_where_the_format_can_be(tmp_path, options):
    transparent().save(tmp_path / "a.png")
    formats = ["webp", "png"] if "--lossless" in options else list(FORMATS)
    run(tmp_path, "a.png", "-q", "95", "-s", "120", "--format", ",".join(formats), *options)
    for format in formats:
        ending = ".jpg" if format == "jpeg" else "" if format == "png" else f".{format}"
        picture = opened(tmp_path, f"a.png{ending}")
        left, middle, right = (picture.getpixel((x, 45)) for x in (18, 60, 102))
        if format == "jpeg":
            assert near(left, (200, 60, 40)) and near(middle, (255, 255, 255)) and near(right, (147, 227, 172))
        else:
            assert picture.mode == "RGBA"
            assert near(left, (200, 60, 40, 255)) and middle[3] == 0 and near(right, (40, 200, 90, 128))


def test_a_background_is_used_in_every_format(tmp_path):
    transparent().save(tmp_path / "a.png")
    run(tmp_path, "a.png", "-q", "95", "-s", "120", "--format", ALL, "--background", "#0000ff")
    for name in ["a.png", "a.png.jpg", "a.png.webp", "a.png.avif"]:
        picture = opened(tmp_path, name)
        assert picture.mode == "RGB" and near(picture.getpixel((60, 45)), (0, 0, 255), 8), name


@pytest.mark.parametrize("kind", ["png", "avif"])
def test_what_is_invisible_does_not_show_at_edges(tmp_path, kind):
    """The filter makes edges brighter by up to an eighth, as in opaque pictures, but never greener."""
    picture = Image.new("RGBA", (401, 301), (0, 255, 0, 0))
    picture.paste((220, 30, 160, 255), (101, 77, 301, 203))
    picture.save(tmp_path / f"a.{kind}", **({} if kind == "png" else {"quality": 100, "subsampling": "4:4:4"}))
    run(tmp_path, f"a.{kind}", "-q", "100", "-s", "201", "--format", "webp,avif,png")
    for format in ["webp", "avif", "png"]:
        made = opened(tmp_path, f"a.{kind}" if format == kind else f"a.{kind}.{format}")
        visible = [pixel for pixel in made.get_flattened_data() if pixel[3] > 200]
        assert len(visible) > 5000 and all(pixel[1] < 60 < 160 < pixel[0] for pixel in visible), format


def test_sizes_of_a_small_picture_each_have_their_own_file(tmp_path):
    """The sizes give pictures of the same pixels, but not of the same part."""
    picture = Image.new("RGB", (80, 40), "white")
    ImageDraw.Draw(picture).rectangle((60, 5, 78, 38), fill="black")
    picture.save(tmp_path / "a.png")
    sizes = ["a=100x100^", "b=150x150^attention", "c=200x200^"]
    run(tmp_path, "a.png", *[word for size in sizes for word in ("-s", size)], "--format", "jpeg,webp")
    for name in sizes:
        run(tmp_path, "a.png", "-s", name, "-s", "other=10", "--format", "jpeg,webp", "-o", f"only-{name[0]}")
        for ending in [".jpg", ".webp"]:
            made = (tmp_path / f"thumbs/{name[0]}/a.png{ending}").read_bytes()
            alone = opened(tmp_path, f"../only-{name[0]}/{name[0]}/a.png{ending}")
            assert Image.open(tmp_path / f"thumbs/{name[0]}/a.png{ending}").tobytes() == alone.tobytes() and made


def test_a_grey_profile_is_not_put_into_webp(tmp_path):
    run_profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("L", (100, 80), 90).save(tmp_path / "a.jpg", icc_profile=run_profile)
    run(tmp_path, "a.jpg", "--keep", "icc", "--format", "webp,jpeg")
    assert "icc_profile" not in opened(tmp_path, "a.jpg.webp").info


def test_metadata_is_kept_in_every_container(tmp_path):
    exif = Image.Exif()
    exif[0x013B], exif[0x8298], exif[0x0112] = "A. Person", "someone", 6
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    scene().save(tmp_path / "a.jpg", quality=90, exif=exif.tobytes(), icc_profile=profile)
    run(tmp_path, "a.jpg", "--format", ALL, "--keep", "exif,icc")
    for ending in FORMATS.values():
        picture = opened(tmp_path, f"a.jpg{ending}")
        assert picture.info["icc_profile"] == profile
        kept = picture.getexif()
        assert kept[0x013B] == "A. Person" and kept[0x8298] == "someone" and kept.get(0x0112, 1) == 1, ending
        assert picture.size == (192, 256)


def test_each_format_is_up_to_date_by_itself(photos):
    summary = run(photos, "images", "--format", ALL)
    assert summary["made"] == 3 and summary["thumbnails"] == 12
    names = {
        "a.jpg", "a.jpg.webp", "a.jpg.avif", "a.jpg.png", "b.png", "b.png.jpg", "b.png.webp", "b.png.avif",
        "small.webp", "small.webp.jpg", "small.webp.avif", "small.webp.png"}
    first = files(photos)
    assert set(first) == names
    assert run(photos, "images", "--format", ALL)["up_to_date"] == 3
    (photos / "thumbs/a.jpg.avif").unlink()
    summary = run(photos, "images", "--format", ALL)
    assert (summary["made"], summary["up_to_date"]) == (1, 2) and files(photos) == first
    # A copy of a thumbnail is no source.
    shutil.copytree(photos / "thumbs", photos / "images/copies", ignore=shutil.ignore_patterns(".thumbjob"))
    assert run(photos, "images", "--format", ALL)["up_to_date"] == 3


def test_thumbnails_are_the_same_whatever_the_number_of_operations(photos):
    options = ["--format", ALL, "-s", "64", "-s", "200"]
    run(photos, "images", "--max", "1", *options)
    first = files(photos)
    shutil.rmtree(photos / "thumbs")
    run(photos, "images", "--max", "8", *options)
    assert files(photos) == first


def test_another_format_leaves_the_former_thumbnails_until_they_are_pruned(photos):
    run(photos, "images")
    jpegs = files(photos)
    run(photos, "images", "--format", "webp")
    both = files(photos)
    assert {name: both[name] for name in jpegs} == jpegs and len(both) == 2 * len(jpegs)
    summary = run(photos, "images", "--format", "webp", "--prune")
    assert set(files(photos)) == {"a.jpg.webp", "b.png.webp", "small.webp"} and summary["removed"] == 3


def test_prune_removes_all_formats_of_a_photo_that_is_gone(photos):
    run(photos, "images", "--format", ALL, "-s", "64", "-s", "128")
    (photos / "images/b.png").unlink()
    assert run(photos, "images", "--format", ALL, "-s", "64", "-s", "128", "--prune")["removed"] == 8
    assert not [name for name in files(photos) if "b.png" in name] and len(files(photos)) == 16


def test_renamed_photos_keep_their_thumbnails(photos):
    run(photos, "images", "--format", ALL)
    before = {name.replace("a.jpg", "z.jpg"): data for name, data in files(photos).items() if name.startswith("a.jpg")}
    (photos / "images/a.jpg").rename(photos / "images/z.jpg")
    summary = run(photos, "images", "--format", ALL)
    assert summary["moved"] == 1 and summary["made"] == 0
    after = files(photos)
    assert {name for name in after if name.startswith(("a.", "z."))} == set(before)
    for name, (data, _) in before.items():
        assert len(after[name][0]) == len(data)
        opened(photos, name)


def test_foreign_files_in_the_places_of_thumbnails_stay(photos):
    (photos / "thumbs").mkdir()
    scene((50, 50)).save(photos / "thumbs/a.jpg.webp")
    original = (photos / "thumbs/a.jpg.webp").read_bytes()
    summary = run(photos, "images", "--format", ALL, status=1)
    assert summary["failed"] == 1 and (photos / "thumbs/a.jpg.webp").read_bytes() == original
    assert run(photos, "images", "--format", ALL, "--force", status=1)["failed"] == 1


def test_killed_runs_leave_whole_files_only(photos):
    for number in range(6):
        scene((900, 700)).save(photos / f"images/more-{number}.jpg")
    command = [THUMBJOB, "images", "-o", "thumbs", "--progress", "none", "--format", ALL, "-s", "500", "-s", "100"]
    for attempt in range(6):
        process = subprocess.Popen(
            command, cwd=photos, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(0.05 + 0.05 * attempt)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name in files(photos):
            if not os.path.basename(name).startswith(".thumbjob-"):
                opened(photos, name)
    run(photos, "images", "--format", ALL, "-s", "500", "-s", "100", "--retry-failed")
    assert len(files(photos)) == 9 * 4 * 2
    assert run(photos, "images", "--format", ALL, "-s", "500", "-s", "100")["up_to_date"] == 9


def test_a_watch_keeps_every_format_up_to_date(photos):
    command = [THUMBJOB, "watch", "images", "-o", "thumbs", "--format", ALL]
    environment = {**os.environ, "THUMBJOB_RUNTIME_DIR": str(photos / "sockets")}
    process = subprocess.Popen(
        command, cwd=photos, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has(name, count):
        return lambda: len([file for file in files(photos) if file.startswith(name)]) == count

    try:
        eventually("all thumbnails are made", lambda: len(files(photos)) == 12)
        scene((200, 100)).save(photos / "images/new.jpg")
        eventually("those of a new photo are made", has("new.jpg", 4))
        (photos / "images/b.png").unlink()
        eventually("those of a photo that is gone are removed", has("b.png", 0))
        assert set(files(photos)) == {
            f"{name}{ending}" for name in ("a.jpg", "new.jpg") for ending in FORMATS.values()
        } | {"small.webp", "small.webp.jpg", "small.webp.avif", "small.webp.png"}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def test_the_manifest_names_the_types(photos):
    run(photos, "images", "--format", "avif,jpeg", "--manifest", "m.json")
    manifest = json.loads((photos / "m.json").read_text())
    first = next(source for source in manifest["sources"] if source["source"].endswith("a.jpg"))
    assert [(t["path"].rsplit("/", 1)[-1], t["type"]) for t in first["thumbnails"]] == [
        ("a.jpg.avif", "image/avif"), ("a.jpg", "image/jpeg")]


def source_sets(folder, name):
    manifest = json.loads((folder / "site/photos.json").read_text())
    (source,) = (source for source in manifest["sources"] if source["source"].endswith(name))
    return source["srcset"]


def test_the_preset_for_the_web_makes_each_width_once_and_the_manifest_has_what_a_page_needs(tmp_path):
    images = tmp_path / "images/über & out"
    images.mkdir(parents=True)
    scene((1600, 1200)).save(images / "a.jpg", quality=90)
    scene((500, 400)).save(images / "sm\"all, 2.png")
    options = ["images", "--preset", "web", "-o", "site/img", "--manifest", "site/photos.json"]
    options += ["--manifest-fields", "srcset"]
    run(tmp_path, *options)
    found = (tmp_path / "site/img").rglob("*")
    made = sorted(path.name for path in found if path.is_file() and ".thumbjob" not in path.parts)
    widths = {"a-jpg": (320, 640, 1280), "sm\"all, 2-png": (320, 500)}
    assert made == sorted(
        f"{name}-{width}.{ending}"
        for name, each in widths.items() for width in each for ending in ("avif", "webp", "jpg"))

    for name, file in (("a-jpg", "a.jpg"), ("sm\"all, 2-png", "2.png")):
        sets = source_sets(tmp_path, file)
        assert [each["type"] for each in sets] == ["image/avif", "image/webp", "image/jpeg"]
        for each in sets:
            pairs = [entry.split(" ") for entry in each["srcset"].split(", ")]
            assert [width for _, width in pairs] == [f"{width}w" for width in widths[name]]
            assert each["src"] == pairs[-1][0] and each["width"] == widths[name][-1]
            for address, width in pairs:
                assert not set(address) & set("\"'<>& ,")
                picture = Image.open(tmp_path / "site" / unquote(address))
                assert picture.width == int(width[:-1]) and Image.MIME[picture.format] == each["type"]
        assert each["height"] == picture.height
    # Small progressive files would be larger than baseline ones.
    folder = tmp_path / "site/img/über & out"
    assert [bool(Image.open(folder / f"a-jpg-{width}.jpg").info.get("progressive")) for width in (320, 640, 1280)] == [
        False, True, True]
    before = (tmp_path / "site/photos.json").read_bytes()
    assert run(tmp_path, *options)["up_to_date"] == 2 and (tmp_path / "site/photos.json").read_bytes() == before


def test_the_preset_for_the_web_makes_both_of_two_photos_with_one_name(tmp_path):
    (tmp_path / "images").mkdir()
    for name in ["a.jpg", "a.png"]:
        scene((400, 300)).save(tmp_path / "images" / name)
    assert run(tmp_path, "images", "--preset", "web")["made"] == 2
    assert len(files(tmp_path)) == 2 * 2 * 3


def test_a_report_shows_thumbnails_of_every_format(photos):
    run(photos, "images", "--format", "webp")
    command = [THUMBJOB, "report", "thumbs", "--html", "page"]
    subprocess.run(command, cwd=photos, check=True, capture_output=True, timeout=60)
    text = (photos / "page/page/data.js").read_text()
    data = json.loads(text.removeprefix("window.gallery=").removesuffix(";\n"))
    assert sorted(picture["thumbnails"][0][:2] for picture in data["pictures"]) == [[90, 60], [154, 256], [256, 192]]


def test_a_source_set_has_no_cropped_pictures_and_no_width_twice(tmp_path):
    scene((1000, 600)).save(tmp_path / "a.jpg")
    (tmp_path / "site").mkdir()
    sizes = ["square=100x100^", "small=200", "same=200x", "large=800"]
    run(tmp_path, "a.jpg", *(word for size in sizes for word in ("-s", size)), "--format", "jpeg,webp",
        "--manifest", "site/photos.json", "--manifest-fields", "srcset")
    for each in source_sets(tmp_path, "a.jpg"):
        assert [entry.split(" ")[1] for entry in each["srcset"].split(", ")] == ["200w", "800w"]


@pytest.mark.parametrize("arguments, words", [
    (("--preset", "web", "--prune"), "'%d/%s-%e-%w'"),
    (("--format", "gif"), "“gif” is not one of jpeg, webp, avif, png"),
    (("--format", "jpeg", "--lossless"), "JPEG cannot be lossless"),
    (("--effort", "3"), "it has no effect on JPEG"),
    (("--format", "webp", "--name", "%s.jpg"), "the names end in .jpg"),
    (("--format", "webp", "--contact-sheet", "s.pdf"), "add jpeg to"),
])
def test_settings_that_contradict_each_other_are_refused(photos, arguments, words):
    done = run(photos, "images", *arguments, status=64)
    assert words in done.stderr, done.stderr


def test_a_name_says_the_format(photos):
    run(photos, "images", "--name", "%s-small.webp")
    assert set(files(photos)) == {"a-small.webp", "b-small.webp", "small-small.webp"}
    assert opened(photos, "a-small.webp").format == "WEBP"


def test_a_side_that_a_format_does_not_allow_is_refused_by_name(tmp_path):
    Image.new("L", (17_000, 10), 100).save(tmp_path / "wide.png")
    summary = run(tmp_path, "wide.png", "-s", "17000", "--format", "webp", status=1)
    assert summary["failed"] == 1
    run(tmp_path, "wide.png", "-s", "17000", "--format", "png,avif")
    assert opened(tmp_path, "wide.png").size == opened(tmp_path, "wide.png.avif").size == (17_000, 10)
