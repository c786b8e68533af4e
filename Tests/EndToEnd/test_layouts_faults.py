"""The cache of desktops when something is in the way: kills, disks without room, other users, odd names and links."""

import hashlib
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from PIL import Image

import program
from conftest import photo
from test_layouts import entry, files_of
from waiting import eventually

THUMBJOB = program.DEFAULT.absolute()
NOBODY = 65534
COUNT = 12
TEXTS = {"Thumb::URI", "Thumb::MTime", "Thumb::Size", "Thumb::Mimetype", "Software"}
NO_SPACE = "No space left on device"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")


def can_be_nobody():
    try:
        # Others may have no access to the folders above the program.
        words = [THUMBJOB, "--version"]
        return subprocess.run(words, user=NOBODY, group=NOBODY, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


needs_nobody = pytest.mark.skipif(not can_be_nobody(), reason="thumbjob cannot be run as another user here")


def can_trace():
    try:
        return subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Desk:
    """Photos of a user, and the cache for them."""

    def __init__(self, folder):
        self.folder, self.photos, self.home = folder, folder / "photos", folder / "home"
        self.cache = self.home / "thumbnails"
        for each in (folder, self.photos, self.home):
            each.mkdir(exist_ok=True)
            each.chmod(0o755)

    def fill(self, picture, count=COUNT):
        for index in range(count):
            os.link(picture, self.photos / f"{index:02}.jpg")
        return self

    def change(self, seconds):
        """Gives the photos another time: entries that do not have it are out of date."""
        for path in files_of(self.photos):
            os.utime(path, (seconds, seconds))

    def start(self, *arguments, before=(), user=None, cwd=None):
        """- parameter before: the words of a program that starts thumbjob."""
        runtime = self.folder / f"runtime-{user}"
        environment = program.environment(runtime, XDG_CACHE_HOME=str(self.home), HOME=str(self.folder))
        if user is not None:
            runtime.mkdir(exist_ok=True)
            os.chown(runtime, user, user)
        rights = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        sources = arguments or [self.photos]
        return subprocess.Popen(
            [*before, THUMBJOB, "--layout", "freedesktop", "--status", "off", *sources], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, cwd=cwd, **rights)

    def run(self, *arguments, status=0, **options):
        """The lines that a run prints, one of which may be of progress."""
        with self.start(*arguments, **options) as process:
            output, errors = (text.decode(errors="replace") for text in process.communicate(timeout=60))
        assert process.returncode == status, errors
        assert output == ""
        return errors.splitlines()

    def entries(self):
        """The places of the entries, with the times that they tell. Each must be whole, with all texts, and private."""
        found = {}
        for path in sorted(map(os.fsdecode, files_of(self.cache))):
            if path in map(str, self.remains()):
                continue
            with Image.open(path) as picture:
                picture.verify()  # the checksums of all parts
            with Image.open(path) as picture:
                picture.load()
                assert picture.format == "PNG" and picture.text.keys() >= TEXTS, path
                assert Path(path).name == hashlib.md5(picture.text["Thumb::URI"].encode()).hexdigest() + ".png"
                found[os.path.relpath(path, self.cache)] = int(picture.text["Thumb::MTime"])
            assert os.stat(path).st_mode & 0o777 == 0o600, path
        return found

    def remains(self):
        """What runs keep in the cache until they end."""
        return [*self.cache.glob(".thumbjob/run-*"), *self.cache.glob("*/.thumbjob-*")]


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "photo.jpg"
    photo(path, 30)
    return path


@pytest.fixture
def desk(picture):
    # Other users may enter it, and `tmp_path` they may not. It is beside the picture, which gets more names.
    folder = Path(tempfile.mkdtemp(prefix="thumbjob-desk-"))
    (folder / "original").mkdir()
    shutil.copy2(picture, folder / "original/photo.jpg")
    yield Desk(folder)
    for point in mounted_below(folder):
        subprocess.run(["umount", "--lazy", point], check=True)
    shutil.rmtree(folder)


@pytest.fixture
def full_desk(desk):
    return desk.fill(desk.folder / "original/photo.jpg")


def mounted_below(folder):
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)


def mount(options, folder):
    """Mounts a small file system in memory, or changes it."""
    words = ["mount", "-t", "tmpfs", "-o", options, "none", folder]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")


def tree(folder):
    """Everything in a folder, to see that it has not changed."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        status = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        found[path] = (status.st_mode, status.st_uid, status.st_mtime_ns, path.read_bytes() if is_file else None)
    return found


# Kills


def test_runs_that_are_killed_at_any_moment_leave_whole_entries_and_the_next_run_makes_the_rest(full_desk):
    desk, seed = full_desk, random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, most = random.Random(seed), 2 * COUNT
    for _ in range(5):
        wanted = min(most, len(files_of(desk.cache)) + chance.randrange(5))
        with desk.start() as process:
            eventually(
                f"{wanted} entries, or the end",
                lambda wanted=wanted, process=process: (
                    len(files_of(desk.cache)) >= wanted or process.poll() is not None))
            process.kill()
        assert len(desk.entries()) >= wanted
    desk.run()
    assert len(desk.entries()) == most
    assert desk.remains() == []
    for path in files_of(desk.photos)[::5]:
        entry(desk.cache, "large", path)


@pytest.mark.skipif(not can_trace(), reason="strace is missing, or may not trace here")
@pytest.mark.parametrize("call, is_replaced, is_elsewhere", [
    ("write", True, False),  # the bytes of an entry
    ("utimensat", False, False),  # it is whole, but has no name
    ("linkat", False, False),  # a place that had no entry
    ("renameat", True, False),  # a place that had one
    # There it has a name beside its place.
    pytest.param("renameat", True, True, marks=needs_root),
])
def test_a_run_that_is_killed_while_it_writes_leaves_old_and_new_entries(full_desk, call, is_replaced, is_elsewhere):
    desk = full_desk
    desk.change(1e9)
    if is_elsewhere:
        (desk.cache / "normal").mkdir(parents=True)
        mount("size=4M", desk.cache / "normal")
    if is_replaced:
        desk.run()
        assert set(desk.entries().values()) == {10**9}
    desk.change(1.1e9)
    # The third time: the first photo has its two entries then.
    killed = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when=3"]
    with desk.start("--max", "1", desk.photos, before=killed) as process:
        process.communicate(timeout=60)
    assert process.returncode == -9
    assert [path.parent.name for path in desk.remains()] == [".thumbjob"] + ["normal"] * is_elsewhere
    times = list(desk.entries().values())
    assert times.count(1_100_000_000) == 2 and times.count(10**9) == (2 * COUNT - 2) * is_replaced
    desk.run()
    assert list(desk.entries().values()) == [1_100_000_000] * 2 * COUNT
    assert desk.remains() == []


# Disks


@needs_root
@pytest.mark.parametrize("room, lines", [
    ("nr_inodes=2", [f"cannot be used as the output folder: {NO_SPACE}"]),
    ("nr_inodes=5", [f".thumbjob/settings-normal+png: cannot be written: {NO_SPACE}"]),
    ("nr_inodes=16", [f".png: cannot be written: {NO_SPACE}", f"no more can be written: {NO_SPACE}"]),
    ("size=100k", [f".png: cannot be written: {NO_SPACE}", f"no more can be written: {NO_SPACE}"]),
])
def test_a_disk_without_room_ends_the_run_and_leaves_whole_entries(full_desk, room, lines):
    desk = full_desk
    mount(room, desk.home)
    said = [line for line in desk.run(status=74) if NO_SPACE in line]
    assert len(said) == len(lines) and all(part in line for part, line in zip(lines, said, strict=True)), said
    assert len(desk.entries()) < 2 * COUNT
    assert desk.remains() == []
    mount("remount,size=4M,nr_inodes=1000", desk.home)
    desk.run()
    assert len(desk.entries()) == 2 * COUNT


@needs_root
def test_on_a_disk_without_room_older_entries_stay(full_desk):
    desk = full_desk
    mount("size=2M", desk.home)
    desk.change(1e9)
    desk.run()
    other = desk.home / "other"
    other.write_bytes(bytes(shutil.disk_usage(desk.home).free))
    before, _ = desk.entries(), desk.change(1.1e9)
    assert "make room and run the same command again" in desk.run(status=74)[-1]
    assert desk.entries() == before
    other.unlink()
    desk.run()
    assert desk.entries() == dict.fromkeys(before, 1_100_000_000)


# Caches that take no files


def mounted_read_only(desk):
    mount("size=1M", desk.home)
    desk.cache.mkdir()
    mount("remount,ro", desk.home)


def without_right_to_write(desk):
    desk.cache.mkdir(mode=0o500)
    os.chown(desk.cache, NOBODY, NOBODY)


def of_root(desk):
    desk.cache.mkdir(mode=0o700)


def below_a_folder_of_root(desk):
    desk.home.chmod(0o700)


@needs_root
@needs_nobody
@pytest.mark.parametrize("prepare, user, reason", [
    (mounted_read_only, None, "Read-only file system"),
    (without_right_to_write, NOBODY, "Permission denied"),
    (of_root, NOBODY, "Permission denied"),
    (below_a_folder_of_root, NOBODY, "Permission denied"),
])
def test_a_cache_that_takes_no_files_is_named_in_one_line_and_stays_as_it_was(full_desk, prepare, user, reason):
    desk = full_desk
    prepare(desk)
    before = tree(desk.home)
    line, = desk.run(status=73, user=user)
    assert line.startswith(f"thumbjob: {desk.cache}: cannot be used as the output folder: {reason}; ")
    assert tree(desk.home) == before


@needs_nobody
def test_a_size_that_takes_no_files_is_named_with_each_photo(full_desk):
    desk = full_desk
    os.chown(desk.home, NOBODY, NOBODY)
    (desk.cache / "large").mkdir(parents=True, mode=0o700)
    os.chown(desk.cache, NOBODY, NOBODY)
    lines = desk.run(status=1, user=NOBODY)
    assert sum("large/" in line and line.endswith("cannot be written: Permission denied") for line in lines) == COUNT
    assert all(place.startswith("normal/") for place in desk.entries())


# Other users


@needs_nobody
def test_root_does_not_fill_the_cache_of_a_user(full_desk):
    desk = full_desk
    os.chown(desk.home, NOBODY, NOBODY)
    desk.run(desk.photos / "00.jpg", user=NOBODY)
    lines = desk.run(status=73)
    assert len(lines) == 1 and f"belongs to user {NOBODY}" in lines[0], lines
    desk.run(user=NOBODY)
    assert {os.stat(path).st_uid for path in files_of(desk.cache)} == {NOBODY}


@needs_nobody
def test_an_entry_of_another_user_is_replaced(full_desk):
    desk = full_desk
    os.chown(desk.home, NOBODY, NOBODY)
    desk.run(user=NOBODY)
    for path in files_of(desk.cache):
        os.chown(path, 0, 0)
    # The folder is the user's, and so is what is in it. A file manager that was started with sudo leaves such files.
    desk.run(user=NOBODY)
    assert {os.stat(path).st_uid for path in files_of(desk.cache)} == {NOBODY}


def test_only_their_user_can_read_the_names_of_photos(full_desk):
    desk = full_desk
    desk.cache.mkdir(mode=0o755)
    desk.run()
    found = [*desk.cache.iterdir(), *files_of(desk.cache)]
    assert {oct(os.stat(path).st_mode & 0o077) for path in found} == {"0o0"}


# Names


NAMES = [
    b"a b  c.jpg", "ü/ß.jpg".encode(), "u\u0308.jpg".encode(), b"100%.jpg", b"%2e%2e%2f.jpg", b"a#b?c&d;e.jpg",
    b"new\nline.jpg", b"x\n  thumbnail::is-valid: FALSE.jpg", b"latin-\xe4\xf6.jpg", b"surrogate-\xed\xa0\x80.jpg",
    b"-s.jpg", b"--force.jpg", b"..jpg", b"...jpg", b".../a.jpg", b"a../b.jpg", b" .jpg", b"~/a.jpg", b"$HOME/`a`.jpg",
    b"file:/a.jpg", b"https:/a.jpg", b"C:\\a.jpg", b"a" * 251 + b".jpg", b"\xfc" * 251 + b".jpg",
    "ü".encode() * 125 + b"x.jpg",
    # All bytes that a name can have.
    bytes(byte for byte in range(1, 128) if byte != ord("/")) + b".jpg", bytes(range(128, 256)) + b".jpg",
]


def test_desktops_find_the_entries_of_hostile_names(desk):
    top, original = os.fsencode(desk.photos), desk.folder / "original/photo.jpg"
    Image.new("RGB", (300, 200), "teal").save(original)
    for name in NAMES:
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.link(original, path)
    before = tree(desk.photos)
    desk.run("--hidden", desk.photos)
    assert len(desk.entries()) == 2 * len(NAMES)
    found = {entry(desk.cache, "large", os.path.join(top, name)).name for name in NAMES}
    assert found == {path.name for path in (desk.cache / "large").iterdir()}
    assert tree(desk.photos) == before
    # As arguments, which may look like options and addresses.
    words = [name for name in NAMES if b":/" not in name]
    lines = desk.run("--hidden", "--", *words, cwd=top)
    assert lines == [f"{len(words)} up to date"]


def test_a_path_that_leads_elsewhere_than_it_reads_is_refused(desk):
    (desk.photos / "real/deep").mkdir(parents=True)
    (desk.photos / "link").symlink_to("real/deep")
    original = desk.folder / "original/photo.jpg"
    os.link(original, desk.photos / "real/a.jpg")
    # Another photo of the same time, which would get the entry.
    shutil.copy2(original, desk.photos / "a.jpg")
    desk.run(desk.photos / "link/../a.jpg", status=64)
    assert not desk.cache.exists()


# Links in the cache


def name_of(path):
    return hashlib.md5(path.as_uri().encode()).hexdigest() + ".png"


@pytest.mark.parametrize("place, target, status", [
    ("normal/{name}", "outside/file", 1),
    ("normal/{name}", "outside/none", 1),
    ("normal/{name}", "/dev/null", 1),
    (".thumbjob", "outside", 73),
    ("fail", "outside/none", 1),
    ("normal", "outside/none", 1),
])
def test_links_to_files_and_links_that_lead_nowhere_are_not_followed(desk, place, target, status):
    outside, picture, broken = desk.folder / "outside", desk.photos / "a.jpg", desk.photos / "b.jpg"
    outside.mkdir()
    (outside / "file").write_text("precious")
    os.link(desk.folder / "original/photo.jpg", picture)
    broken.write_bytes(picture.read_bytes()[:300])
    link = desk.cache / place.format(name=name_of(picture))
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(desk.folder / target)
    before = tree(outside)
    desk.run(status=status)
    assert tree(outside) == before
    assert link.is_symlink() or link.stat().st_mode & 0o777 == 0o600
    assert Path("/dev/null").is_char_device()
