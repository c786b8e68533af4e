"""Thumbnails of tumbler, the service of Xfce: those that it has thumbjob make, and those that both would make."""

import configparser
import hashlib
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

import heifs
import program
from conftest import photo
from servers import cameras
from waiting import eventually

THUMBJOB = program.DEFAULT.absolute()
ENTRY = "packaging/desktop/thumbjob.thumbnailer"
SERVICE = "org.freedesktop.thumbnails.Thumbnailer1"
PLUGINS = "Pixbuf", "Cover", "Ffmpeg", "Gst", "Font", "Poppler", "Odf", "Epub", "Raw"
MISSING = [name for name in ("dbus-run-session", "dbus-monitor", "gdbus", "gio") if not shutil.which(name)]
if not Path("/usr/share/dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service").exists():
    MISSING.append("tumbler")

needs_tumbler = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} missing")


def entries():
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(ENTRY)
    return parser


def content_type(path):
    shown = subprocess.run(["gio", "info", "-a", "standard::content-type", path], capture_output=True, check=True)
    return shown.stdout.decode().rsplit("standard::content-type: ", 1)[1].strip()


class Tumbler:
    """The service on a bus of its own, with our entry and the plugin for JPEG, and a cache of its own."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache" / "thumbnails"
        self.environment = program.environment(
            folder / "runtime", HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"),
            XDG_CONFIG_HOME=str(folder / "config"), XDG_DATA_HOME=str(folder / "data"),
            XDG_DATA_DIRS=str(folder / "share"), GST_PLUGIN_SYSTEM_PATH_1_0=str(folder / "none"),
            G_MESSAGES_DEBUG="tumblerd tumbler-desktop-thumbnailer")
        # The media types, but no thumbnailers of others.
        (folder / "share").mkdir()
        (folder / "share/mime").symlink_to("/usr/share/mime")
        (folder / "config/tumbler").mkdir(parents=True)
        (folder / "config/tumbler/tumbler.rc").write_text(
            "".join(f"[{name}Thumbnailer]\nDisabled=true\n" for name in PLUGINS))
        installed = entries()
        words = installed["Thumbnailer Entry"]["Exec"].split()
        installed["Thumbnailer Entry"]["Exec"] = " ".join([shlex.quote(str(THUMBJOB)), *words[1:]])
        (folder / "data/thumbnailers").mkdir(parents=True)
        with open(folder / "data/thumbnailers/thumbjob.thumbnailer", "w") as file:
            installed.write(file, space_around_delimiters=False)

    def __enter__(self):
        # The bus ends with the input of `cat`, and then everything on it ends.
        with open(self.folder / "log", "wb") as log:
            self.session = subprocess.Popen(
                ["dbus-run-session", "--", "sh", "-c", "echo $DBUS_SESSION_BUS_ADDRESS; exec cat"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=self.environment)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.session.stdout.readline().decode().strip()
        with open(self.folder / "signals", "wb") as signals:
            self.monitor = subprocess.Popen(
                ["dbus-monitor", "--session", f"interface='{SERVICE}'"], stdout=signals, env=self.environment)
        eventually("the monitor sees messages to others", lambda: "NameLost" in self.signals())
        return self

    def __exit__(self, *_):
        self.session.communicate()
        self.monitor.wait(timeout=30)

    def signals(self):
        return (self.folder / "signals").read_text()

    def request(self, path, flavor="large"):
        """Asks for a thumbnail as file managers do. Returns whether there is one then, and where."""
        before = len(self.signals())
        subprocess.run(
            ["gdbus", "call", "--session", "--timeout", "120", "--dest", SERVICE,
             "--object-path", f"/{SERVICE.replace('.', '/')}", "--method", f"{SERVICE}.Queue", f"['{path.as_uri()}']",
             f"['{content_type(path)}']", flavor, "default", "0"],
            check=True, capture_output=True, env=self.environment)
        eventually("the request is finished", lambda: "member=Finished" in self.signals()[before:])
        signals = self.signals()[before:]
        assert ("member=Ready" in signals) != ("member=Error" in signals), signals
        return "member=Ready" in signals, self.place(path, flavor)

    def place(self, path, flavor="large"):
        return self.cache / flavor / (hashlib.md5(path.as_uri().encode()).hexdigest() + ".png")

    def fill(self, *arguments):
        """Lets thumbjob fill the cache."""
        result = subprocess.run(
            [THUMBJOB, "--layout", "freedesktop", *arguments], check=True, capture_output=True, timeout=60,
            env=self.environment)
        return result.stderr.decode()


@pytest.fixture(scope="module")
def tumbler(tmp_path_factory):
    with Tumbler(tmp_path_factory.mktemp("tumbler")) as service:
        yield service
    print((service.folder / "log").read_text(errors="replace"))


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "a.jpg"
    photo(path, 30)
    return path


FILES = {**cameras.RAW, "g.heic": cameras.heic, "h.avif": lambda: heifs.tiled(heifs.AV1, 6, 6)}


@pytest.fixture(autouse=True)
def small_sensors(monkeypatch):
    monkeypatch.setattr(cameras, "SENSOR", 1 << 16)


@pytest.mark.skipif(not shutil.which("gio"), reason="gio is missing")
def test_the_entry_has_the_media_types_that_desktops_give_to_the_files(tmp_path):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data())
    known = entries()["Thumbnailer Entry"]["MimeType"].split(";")
    assert {name: content_type(tmp_path / name) in known for name in FILES} == dict.fromkeys(FILES, True)


@needs_tumbler
@pytest.mark.parametrize("flavor, side", [("normal", 128), ("large", 256)])
@pytest.mark.parametrize("name", ["b.nef", "g.heic", "h.avif"])
def test_tumbler_has_thumbjob_make_thumbnails(tumbler, tmp_path, name, flavor, side):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    is_ready, place = tumbler.request(path, flavor)
    assert is_ready
    shown = subprocess.run(
        ["gio", "info", "-a", "thumbnail::*", path], capture_output=True, check=True, env=tumbler.environment).stdout
    # GIO takes no entry of tumbler for valid: its times have microseconds.
    assert f"thumbnail::path: {place}\n" in shown.decode()
    with Image.open(place) as picture:
        picture.load()
        assert (max(picture.size), picture.text["Thumb::URI"]) == (side, path.as_uri())
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 3


@needs_tumbler
@pytest.mark.parametrize("nanoseconds", [0, 123_456_789])
def test_tumbler_takes_the_entries_of_thumbjob_for_up_to_date(tumbler, picture, tmp_path, nanoseconds):
    path = tmp_path / "a.jpg"
    shutil.copyfile(picture, path)
    os.utime(path, ns=(0, 1_600_000_000 * 10**9 + nanoseconds))
    tumbler.fill(path)
    for flavor in ("normal", "large"):
        before = tumbler.place(path, flavor).stat()
        assert tumbler.request(path, flavor) == (True, tumbler.place(path, flavor))
        after = tumbler.place(path, flavor).stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    # It does make another one once the photo has changed.
    os.utime(path, (0, 1_700_000_000))
    tumbler.request(path)
    assert "Software" not in Image.open(tumbler.place(path)).text


@needs_tumbler
def test_thumbjob_takes_the_entries_of_tumbler_for_up_to_date(tumbler, picture, tmp_path):
    path = tmp_path / "a.jpg"
    shutil.copyfile(picture, path)
    is_ready, place = tumbler.request(path)
    assert is_ready
    before = place.read_bytes()
    assert "1 up to date" in tumbler.fill(path, "--size", "256")
    assert place.read_bytes() == before
