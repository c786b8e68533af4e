"""Thumbnails where other programs look for them: the cache of desktops, NAS, and one at a time."""

import configparser
import hashlib
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

import program
from conftest import photo
from waiting import eventually

THUMBJOB = program.DEFAULT.absolute()
NAMES = [b"a b%c.jpg", b"x;y[1]#?&=+.jpg", "ü/ß.jpg".encode(), b"new\nline.jpg", b"latin-\xe9.jpg", b"(a)'!$,~@:.jpg"]


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    photo(folder / "a.jpg", 30)
    for name in NAMES:
        path = os.path.join(os.fsencode(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy2(folder / "a.jpg", path)
    return folder


@pytest.fixture
def run(tmp_path):
    def run(*arguments, status=0):
        environment = program.environment(tmp_path / "runtime", XDG_CACHE_HOME=str(tmp_path / "cache"))
        result = subprocess.run(
            [THUMBJOB, *arguments], check=False, capture_output=True, env=environment, timeout=60)
        assert result.returncode == status, result.stderr.decode()
        return result.stderr.decode()

    return run


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache" / "thumbnails"


def files_of(folder):
    return [
        os.path.join(where, name) for where, _, names in os.walk(os.fsencode(folder)) for name in sorted(names)
        if b"/.thumbjob" not in where]


def entry(cache, size, path):
    """The entry of a photo, as the programs of a desktop find it."""
    # GIO is the witness for the name and for whether the entry is of the photo as it is.
    shown = subprocess.run(
        ["gio", "info", "-a", "thumbnail::*", path], capture_output=True, check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache.parent)}).stdout.decode("utf-8", "replace")
    facts = dict(line.strip().split(": ", 1) for line in shown.splitlines() if "thumbnail::" in line)
    assert facts.get("thumbnail::is-valid") == "TRUE", shown
    name = Path(facts["thumbnail::path"]).name
    return cache / size / name


def test_desktops_find_the_thumbnails_of_all_names(run, photos, cache):
    run(photos, "--layout", "freedesktop")
    found = files_of(photos)
    assert len(found) == 1 + len(NAMES)
    for path in found:
        for size, side in (("normal", 128), ("large", 256)):
            thumbnail = entry(cache, size, path)
            picture = Image.open(thumbnail)
            assert picture.size == (side, round(side * 1000 / 1500))
            assert thumbnail.name == hashlib.md5(picture.text["Thumb::URI"].encode()).hexdigest() + ".png"
            assert int(picture.text["Thumb::MTime"]) == int(os.stat(path).st_mtime)
            assert int(picture.text["Thumb::Size"]) == os.stat(path).st_size
            assert (picture.text["Thumb::Mimetype"], picture.text["Software"]) == ("image/jpeg", "thumbjob")
            assert thumbnail.stat().st_mode & 0o777 == 0o600
            assert thumbnail.parent.stat().st_mode & 0o777 == 0o700
    assert "7 up to date" in run(photos, "--layout", "freedesktop")


def test_a_photo_with_another_time_gets_another_entry(run, photos, cache):
    run(photos, "--layout", "freedesktop")
    os.utime(photos / "a.jpg", (1e9, 1e9))
    assert "2 thumbnails of 1 picture" in run(photos, "--layout", "freedesktop")
    assert Image.open(entry(cache, "large", photos / "a.jpg")).text["Thumb::MTime"] == "1000000000"


def test_entries_of_other_programs_are_kept_while_they_are_valid(run, photos, cache):
    photo = photos / "a.jpg"
    uri = photo.as_uri()
    place = cache / "large" / (hashlib.md5(uri.encode()).hexdigest() + ".png")
    place.parent.mkdir(parents=True)
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Thumb::URI", uri, zip=True)
    texts.add_text("Thumb::MTime", str(int(photo.stat().st_mtime)))
    Image.new("RGB", (256, 171), "red").save(place, pnginfo=texts)
    before = place.read_bytes()
    assert "1 up to date" in run(photo, "--layout", "freedesktop", "--size", "256")
    assert place.read_bytes() == before
    os.utime(photo, (1e9, 1e9))
    assert "1 thumbnail " in run(photo, "--layout", "freedesktop", "--size", "256")
    assert Image.open(place).text["Software"] == "thumbjob"


def test_what_cannot_be_read_has_a_fail_entry(run, photos, cache):
    (photos / "broken.jpg").write_bytes((photos / "a.jpg").read_bytes()[:300])
    run(photos, "--layout", "freedesktop", status=1)
    [failed] = (cache / "fail" / "thumbjob").iterdir()
    assert Image.open(failed).text["Thumb::URI"] == (photos / "broken.jpg").as_uri()


def test_entries_of_photos_that_are_gone_are_removed_in_all_sizes(run, photos, cache):
    run(photos, "--layout", "freedesktop", "--size", "512")
    run(photos, "--layout", "freedesktop")
    (photos / "a.jpg").unlink()
    run(photos, "--layout", "freedesktop", "--prune")
    assert {size: len(list((cache / size).iterdir())) for size in ("normal", "large", "x-large")} == {
        "normal": len(NAMES), "large": len(NAMES), "x-large": len(NAMES)}


@pytest.mark.parametrize("arguments, reason", [
    (["--size", "300"], "none of the sizes of desktops"),
    (["--format", "jpeg"], "PNG files only"),
    # Under names of other kinds, a photo could be taken for the thumbnail of another program.
    (["--name", "%d/%s-small"], "names the thumbnails"),
    (["--preset", "web"], "names the thumbnails"),
])
def test_what_desktops_would_not_find_is_refused(run, photos, arguments, reason):
    assert reason in run(photos, "--layout", "freedesktop", *arguments, status=64)


def test_a_nas_finds_the_thumbnails_beside_the_photos(run, photos):
    photo = photos / "ü" / "ß.jpg"
    other = photos / "@eaDir" / "a.jpg" / "SYNOPHOTO_THUMB_M.jpg"
    other.parent.mkdir(parents=True)
    Image.new("RGB", (320, 213), "red").save(other)
    before = other.read_bytes()
    run(photos, "--layout", "eadir")
    folder = photo.parent / "@eaDir" / photo.name
    assert {path.name: max(Image.open(path).size) for path in folder.iterdir()} == {
        "SYNOPHOTO_THUMB_SM.jpg": 240, "SYNOPHOTO_THUMB_M.jpg": 320, "SYNOPHOTO_THUMB_XL.jpg": 1280}
    # Of a photo with a thumbnail of the NAS, the others are made.
    assert len(list(other.parent.iterdir())) == 3
    assert other.read_bytes() == before
    assert "7 up to date" in run(photos, "--layout", "eadir")


def test_desktops_of_several_users_share_thumbnails_beside_the_photos(run, photos):
    run(photos, "--layout", "shared")
    for path in map(os.fsdecode, files_of(photos)):
        if "/.sh_thumbnails/" in path:
            continue
        for size, side in (("normal", 128), ("large", 256)):
            thumbnail = place_of_xfce(path, size)
            picture = Image.open(thumbnail)
            assert max(picture.size) == side and "Thumb::URI" not in picture.text
            assert int(picture.text["Thumb::MTime"]) == int(os.stat(path).st_mtime)
            assert thumbnail.stat().st_mode & 0o777 == 0o644
    assert "7 up to date" in run(photos, "--layout", "shared")
    # They go along with their photos.
    moved = photos.parent / "moved"
    photos.rename(moved)
    assert "7 up to date" in run(moved, "--layout", "shared")
    (moved / "a.jpg").unlink()
    run(moved, "--layout", "shared", "--prune")
    assert len(list((moved / ".sh_thumbnails" / "large").iterdir())) == len(NAMES) - 1


@pytest.mark.parametrize("layout, folder, count", [("eadir", "@eaDir", 3), ("shared", ".sh_thumbnails", 2)])
def test_a_watch_keeps_thumbnails_beside_the_photos_up_to_date(tmp_path, layout, folder, count):
    top = tmp_path / "photos"
    (top / "a").mkdir(parents=True)
    photo(top / "a" / "one.jpg", 30)
    process = subprocess.Popen(
        [THUMBJOB, "watch", top, "--layout", layout, "--status", "off"], stderr=subprocess.PIPE, text=True,
        env=program.environment(tmp_path / "runtime"))

    def are(expected, number):
        found = [path for path in top.rglob("*") if folder in path.parts and path.is_file()]
        return len(found) == number and all(expected in path.parts for path in found)

    try:
        eventually("the photo has thumbnails", lambda: are("a", count))
        # They go along with their photo.
        (top / "a").rename(top / "b")
        photo(top / "b" / "two.jpg", 60)
        eventually("the new photo has thumbnails, too", lambda: are("b", 2 * count))
        (top / "b" / "two.jpg").unlink()
        eventually("those of the photo that is gone are removed", lambda: are("b", count))
        process.terminate()
        errors = process.communicate(timeout=30)[1]
    finally:
        process.kill()
        process.communicate()
    # Those that went along were not made again.
    assert process.returncode == 143 and f"{2 * count} thumbnails of 2 pictures" in errors, errors


XFCE = """
import os, sys, gi
gi.require_version("Libxfce4util", "1.0")
from gi.repository import Gio, Libxfce4util
path, size = sys.argv[1:]
uri = Gio.File.new_for_path(os.fsencode(path)).get_uri()
sys.stdout.buffer.write(os.fsencode(Libxfce4util.create_shared_thumbnail_path(uri, size)))
"""


def place_of_xfce(path, size):
    """Where Xfce's library looks for a shared thumbnail of a photo."""
    found = subprocess.run(["/usr/bin/python3", "-c", XFCE, path, size], capture_output=True, check=True).stdout
    return Path(os.fsdecode(found))


def test_file_managers_get_one_thumbnail(run, photos, tmp_path):
    entry = configparser.ConfigParser(interpolation=None)
    entry.read("packaging/desktop/thumbjob.thumbnailer")
    words = shlex.split(entry["Thumbnailer Entry"]["Exec"])
    assert words[0] == "/usr/bin/thumbjob"
    output = tmp_path / "made-by-the-caller"
    output.touch()
    values = {"%i": photos / "a.jpg", "%o": output, "%s": "128"}
    run(*(values.get(word, word) for word in words[1:]))
    picture = Image.open(output)
    assert (picture.format, picture.size) == ("PNG", (128, 85))
    assert "not an image" in run("thumbnail", __file__, tmp_path / "none.png", status=1)
    assert "No such file" in run("thumbnail", tmp_path / "none.jpg", tmp_path / "none.png", status=66)
    assert not (tmp_path / "none.png").exists()
    before = (photos / "a.jpg").read_bytes()
    (photos / "link.jpg").symlink_to("a.jpg")
    assert "is the picture itself" in run("thumbnail", photos / "link.jpg", photos / "a.jpg", status=64)
    assert (photos / "a.jpg").read_bytes() == before
