"""Files of slow disks: read one after the other, in the order of their places, and before their operations."""

import array
import contextlib
import fcntl
import itertools
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import program
from servers.photos import large_photo, small_photo
from waiting import eventually

THUMBJOB = program.DEFAULT.absolute()
DISK = Path(__file__).parents[2] / "Benchmarks" / "simulated_disk.py"
COUNT = 200


def run(folder, *arguments, status=0):
    result = subprocess.run(
        [THUMBJOB, *map(str, arguments), "--isolate", "never"], check=False, capture_output=True, text=True,
        timeout=120, env=program.environment(folder / "runtime"))
    assert result.returncode == status, result.stderr
    return result.stderr


def place(path):
    """The first byte of a file on its disk; the number of the file where the file system does not tell."""
    request = array.array("B", struct.pack("=QQLLLL", 0, 2**64 - 1, 0, 0, 1, 0).ljust(88, b"\0"))
    with path.open("rb") as file:
        try:
            fcntl.ioctl(file, 0xC020660B, request)
        except OSError:
            return os.fstat(file.fileno()).st_ino
    return struct.unpack_from("=Q", request, 40)[0]


def thumbnails(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.jpg")}


def started(trace, kind):
    """The names of the sources on which operations of a kind have started, in that order."""
    begun = [event for event in json.loads(trace.read_text()) if event.get("ph") == "b"]
    titles = {event["id"]: event["name"] for event in begun if event["name"].startswith(f"{kind} ")}
    started = [titles.get(event["id"]) for event in begun if event["name"] == "starting"]
    return [title.split("/")[-1].split(" ")[0] for title in started if title]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Photos whose places on the disk have nothing to do with the order in which their folder lists them."""
    folder = tmp_path_factory.mktemp("disk") / "photos"
    folder.mkdir()
    names = [f"{index:03}.jpg" for index in range(COUNT)]
    random.Random(1).shuffle(names)
    for name in names:
        (folder / name).write_bytes(small_photo())
    os.sync()  # before, files may have no places
    return folder


def test_files_are_read_in_the_order_of_their_places(photos, tmp_path):
    trace = tmp_path / "trace.json"
    run(tmp_path, photos, "-o", tmp_path / "thumbs", "--readers", "1", "--max", "1", "--backlog", "1", "--trace", trace)
    read = started(trace, "read")
    assert len(read) == COUNT
    assert started(trace, "thumbnail") == read
    places = [place(photos / name) for name in read]
    back = sum(second < first for first, second in itertools.pairwise(places))
    # During the walk, only the photos found so far are in order. In the order of the names, half of all steps would
    # lead back.
    assert back < COUNT / 5, places


def test_the_thumbnails_are_the_same_with_and_without_readers(photos, tmp_path):
    for readers in ("0", "1", "3"):
        run(tmp_path, photos, "-o", tmp_path / readers, "--readers", readers)
    assert len(thumbnails(tmp_path / "0")) == COUNT
    assert thumbnails(tmp_path / "0") == thumbnails(tmp_path / "1") == thumbnails(tmp_path / "3")


def test_what_is_up_to_date_is_not_read(photos, tmp_path):
    run(tmp_path, photos, "-o", tmp_path / "thumbs", "--readers", "1")
    trace = tmp_path / "trace.json"
    run(tmp_path, photos, "-o", tmp_path / "thumbs", "--readers", "1", "--trace", trace)
    assert started(trace, "read") == []


def test_sources_that_cannot_be_read_are_told_once(photos, tmp_path):
    (tmp_path / "few").mkdir()
    shutil.copy(photos / "000.jpg", tmp_path / "few" / "good.jpg")
    (tmp_path / "few" / "cut.jpg").write_bytes((photos / "000.jpg").read_bytes()[:300])
    (tmp_path / "few" / "empty.jpg").touch()
    (tmp_path / "few" / "text.txt").write_text("no picture")
    errors = run(tmp_path, tmp_path / "few", "-o", tmp_path / "thumbs", "--readers", "2", status=1)
    assert errors.count("cut.jpg") == 1 and errors.count("empty.jpg") == 1
    assert "1 thumbnail" in errors


def test_other_numbers_of_readers_are_refused(tmp_path):
    errors = run(tmp_path, tmp_path, "--readers", "65", status=64)
    assert "readers" in errors and "auto" in errors


# A disk that is as slow as a spinning one


@contextlib.contextmanager
def disk(folder, count, kind="spinning"):
    """Mounts a slow disk with photos, and passes a function that unmounts it and gives its counters."""
    mount = folder / "disk"
    mount.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, DISK, mount, folder / "backing", str(count), "--kind", kind], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def unmount():
        subprocess.run(["fusermount3", "-u", mount], check=True, capture_output=True)
        return json.loads(process.communicate(timeout=20)[0])

    try:
        eventually("the disk is there", lambda: os.path.ismount(mount) or process.poll() is not None)
        yield mount, unmount
    finally:
        if os.path.ismount(mount):
            subprocess.run(["fusermount3", "-u", "-z", mount], check=True, capture_output=True)
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def slow(tmp_path):
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("needs the right to use /dev/fuse")
    (tmp_path / "backing").mkdir()
    (tmp_path / "backing" / "a.jpg").write_bytes(large_photo(False))
    return tmp_path


def test_one_reader_moves_the_head_of_a_disk_a_little_more_than_once_for_each_photo(slow):
    seeks = {}
    for readers in ("0", "1"):
        with disk(slow, 24) as (mount, unmount):
            run(slow, mount, "-o", slow / readers, "--readers", readers, "--max", "2")
            counters = unmount()
        assert len(counters["files"]) == 24
        seeks[readers] = counters["seeks"]
        print(readers, counters["seeks"], counters["requests"], counters["seconds"])
    assert thumbnails(slow / "0") == thumbnails(slow / "1")
    print(seeks)
    assert seeks["1"] <= 24 * 1.5
    assert seeks["0"] >= 24 * 3


def test_a_run_that_waits_for_its_disk_says_so_and_ends_at_once(slow):
    with disk(slow, 60, "network") as (mount, _):
        process = subprocess.Popen(
            [THUMBJOB, mount, "-o", slow / "thumbs", "--readers", "2", "--isolate", "never"], stderr=subprocess.PIPE,
            text=True, env=program.environment(slow / "runtime"))
        try:
            eventually("a thumbnail is made", lambda: thumbnails(slow / "thumbs"))
            process.send_signal(signal.SIGUSR1)
            process.send_signal(signal.SIGUSR2)
            begin = time.monotonic()
            errors = process.communicate(timeout=30)[1]
            assert time.monotonic() - begin < 10
        finally:
            process.kill()
        assert process.returncode == 75
        assert "of 2 reading ahead" in errors and "read " in errors and "held back" in errors, errors
