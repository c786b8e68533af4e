"""Files of which most is not needed: the same thumbnails as from a folder, from a small part of the bytes."""

import re
import struct

import pytest

from network_run import ended_without_a_crash, place, run
from servers import cameras
from servers.cameras import LONG, Structure, heifs
from servers.files import ServedFile
from servers.nginx import NGINX, Nginx
from servers.photos import small_photo, without_comments
from servers.scripted import ScriptedServer

needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is missing")
# The first part of a file, and the widening of a few others.
BESIDES = 400_000


class PartsOfFile(ServedFile):
    """Also sends parts with a beginning and an end, as nginx does."""

    def __call__(self, exchange):
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", exchange.request.headers.get("range", ""))
        if not asked or not self.ranges or exchange.request.headers.get("if-range", self.tag) != self.tag:
            self.fields["Accept_Ranges"] = "bytes" if self.ranges else "none"
            return super().__call__(exchange)
        start, last = int(asked[1]), min(int(asked[2]), len(self.body) - 1)
        if start > last:
            return exchange.answer(status="416 Range Not Satisfiable")
        return exchange.answer(
            self.body[start : last + 1], "206 Partial Content",
            Content_Range=f"bytes {start}-{last}/{len(self.body)}", **self.fields)


@pytest.fixture
def nginx(tmp_path):
    with Nginx(tmp_path / "nginx") as server:
        yield server


def from_a_folder(tmp_path, files, *arguments):
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    result = run(tmp_path, folder, *arguments, out="of files", private=False)
    assert result.status == 0, result.stderr
    return {name: without_comments(data) for name, data in result.thumbnails.items()}


def compared(tmp_path, server, files, *arguments):
    """Fetches files from nginx, and compares their thumbnails with those of the same files in a folder."""
    for name, data in files.items():
        (server.files / name).write_bytes(data)
    result = run(tmp_path, *(server.url(f"/{name}") for name in files), *arguments)
    assert result.status == 0, result.stderr
    expected = from_a_folder(tmp_path, files, *arguments)
    host = place(server.url("/"))
    assert {name.replace(host, ""): without_comments(data) for name, data in result.thumbnails.items()} == expected
    assert len(expected) >= len(files)
    return result


@needs_nginx
@pytest.mark.parametrize("name", cameras.RAW)
def test_of_a_raw_file_only_headers_and_the_preview_are_fetched(tmp_path, nginx, name):
    data = cameras.RAW[name]()
    result = compared(tmp_path, nginx, {name: data})
    fetched = result.summary["bytes_fetched"]
    print(f"{name}: {fetched} of {len(data)} bytes ({100 * fetched / len(data):.1f} %)")
    assert fetched < len(cameras.full()) + BESIDES < len(data) / 4
    requests = nginx.served_once_there_are(1)
    assert {line.status for line in requests} == {206} and len(requests) <= 8
    # No answer was broken off, so all came over one connection.
    assert len({line.connection for line in requests}) == 1
    assert sum(line.body_bytes for line in requests) == fetched


@needs_nginx
@pytest.mark.parametrize("arguments", [
    ("-s", "64"), ("-s", "small=64", "-s", "large=1000"), ("--keep", "exif,icc,gps"), ("--previews", "prefer"),
    ("--linear",), ("--fetch", "sparing")])
def test_raw_files_give_the_same_with_all_options(tmp_path, nginx, arguments):
    files = {name: make() for name, make in cameras.RAW.items()}
    result = compared(tmp_path, nginx, files, *arguments)
    assert result.summary["bytes_fetched"] < sum(map(len, files.values())) / 4
    second = run(tmp_path, *(nginx.url(f"/{name}") for name in files), *arguments)
    assert second.summary["up_to_date"] == len(files) and second.summary["bytes_fetched"] == 0


@needs_nginx
@pytest.mark.parametrize("arguments", [("-s", "24"), ("-s", "256"), ("-s", "256", "--keep", "exif,icc")])
@pytest.mark.parametrize("name", ["a.heic", "a.avif", "without_an_ending"])
def test_of_heic_and_avif_only_the_item_that_is_decoded_is_fetched(tmp_path, nginx, name, arguments):
    data = cameras.heic(heifs.AV1 if name == "a.avif" else heifs.HEVC)
    if "." in name:
        fetched = compared(tmp_path, nginx, {name: data}, *arguments).summary["bytes_fetched"]
    else:
        (nginx.files / name).write_bytes(data)
        result = run(tmp_path, nginx.url(f"/{name}"), *arguments)
        expected, = from_a_folder(tmp_path, {"a.heic": data}, *arguments).values()
        assert [without_comments(made) for made in result.thumbnails.values()] == [expected]
        fetched = result.summary["bytes_fetched"]
    print(f"{name} {arguments}: {fetched} of {len(data)} bytes ({100 * fetched / len(data):.1f} %)")
    assert fetched < BESIDES + 200_000


@needs_nginx
@pytest.mark.parametrize("size, is_small", [(256, True), (1024, False)])
def test_a_thumbnail_in_the_file_is_fetched_alone_if_it_is_large_enough(tmp_path, nginx, size, is_small):
    data = cameras.phone_photo()
    fetched = compared(tmp_path, nginx, {"a.avif": data}, "-s", str(size)).summary["bytes_fetched"]
    print(f"AVIF at {size}: {fetched} of {len(data)} bytes ({100 * fetched / len(data):.1f} %)")
    # To find out that it is too small, its beginning is read; a part of the file then comes twice.
    assert fetched < len(data) / 4 if is_small else fetched < 1.05 * len(data)


@needs_nginx
@pytest.mark.parametrize("extent", ["exact", "whole"])
@pytest.mark.parametrize("progressive", [False, True])
def test_of_a_jpeg_file_with_previews_the_same_one_is_used_as_from_a_folder(tmp_path, nginx, progressive, extent):
    data = cameras.with_previews(progressive)
    files = {"a.jpg": data, "without.jpg": cameras.jpeg(2400, 1600, progressive)}
    result = compared(tmp_path, nginx, files, "-s", "256", "--previews", "prefer", "--fetch", extent)
    fetched = result.summary["bytes_fetched"]
    print(f"JPEG, progressive {progressive}, {extent}: {fetched} of {sum(map(len, files.values()))} bytes")
    # The preview makes another thumbnail than the picture itself.
    folder = run(tmp_path, tmp_path / "files", "-s", "256", out="of pictures", private=False)
    assert without_comments(folder.thumbnails["a.jpg"]) not in map(without_comments, result.thumbnails.values())
    if extent == "exact":
        assert fetched < len(data) / 4 + len(files["without.jpg"])


@needs_nginx
@pytest.mark.parametrize("arguments", [("--fetch", "whole"), ("--fail-on", "warning")])
def test_all_is_fetched_if_all_is_asked_for(tmp_path, nginx, arguments):
    files = {"a.nef": cameras.nef(), "b.heic": cameras.heic()}
    result = compared(tmp_path, nginx, files, *arguments)
    assert result.summary["bytes_fetched"] == sum(map(len, files.values()))


@needs_nginx
def test_verify_content_changes_nothing(tmp_path, nginx):
    files = {"a.nef": cameras.nef()}
    result = compared(tmp_path, nginx, files, "--verify", "content")
    assert result.summary["bytes_fetched"] < len(files["a.nef"]) / 4


@needs_nginx
def test_a_raw_name_with_something_else_in_it_is_made_as_well(tmp_path, nginx):
    (nginx.files / "photo.nef").write_bytes(small_photo())
    (nginx.files / "empty.nef").write_bytes(b"")
    (nginx.files / "text.heic").write_bytes(b"text " * 100_000)
    photo, *others = (nginx.url(f"/{name}") for name in ("photo.nef", "empty.nef", "text.heic", "missing.dng"))
    result = run(tmp_path, photo, *others)
    assert result.status == 1 and result.summary["made"] == 1 and result.summary["failed"] == 3, result.stderr
    assert all(len(result.lines_about(url)) == 1 for url in others)
    assert len(nginx.served_once_there_are(1)) <= 6
    # The first bytes tell that it is no picture.
    text, = (line for line in nginx.served() if line.path == "/text.heic")
    assert text.body_bytes == 64 << 10


@pytest.mark.parametrize("ranges, tag", [(False, "a"), (True, None)])
def test_a_server_that_does_not_send_parts_sends_all(tmp_path, ranges, tag):
    data = cameras.nef()
    with ScriptedServer(PartsOfFile(data, tag=tag, ranges=ranges)) as server:
        url = server.url("/a.nef")
        result = run(tmp_path, url)
        assert result.status == 0, result.stderr
    made, = result.thumbnails.values()
    assert without_comments(made) == from_a_folder(tmp_path, {"a.nef": data})["a.nef.jpg"]
    assert result.summary["bytes_fetched"] >= len(data)


@pytest.mark.parametrize("name, whole, preview", [
    ("a.dng", cameras.dng, cameras.medium),
    ("a.jpg", lambda: cameras.with_previews(False), lambda: cameras.jpeg(720, 540))])
def test_a_damaged_preview_has_the_rest_of_the_file_fetched(tmp_path, name, whole, preview):
    sound, start = whole(), preview()
    # It ends early.
    data = sound.replace(start, (start[: len(start) // 8] + b"\xff\xd9").ljust(len(start), b"\0"))
    assert data != sound
    arguments = ("-s", "256", "--previews", "prefer")
    with ScriptedServer(PartsOfFile(data, tag="a")) as server:
        result = run(tmp_path, server.url(f"/{name}"), *arguments)
        assert result.status == 0, result.stderr
    made, = result.thumbnails.values()
    damaged, = from_a_folder(tmp_path, {name: data}, *arguments).values()
    assert without_comments(made) == damaged
    assert damaged not in from_a_folder(tmp_path, {name: sound}, *arguments, "--force").values()
    assert result.summary["bytes_fetched"] >= len(data) / 2


def test_a_file_that_changes_between_its_parts_is_never_a_mixture(tmp_path):
    old, new = cameras.nef(), cameras.dng()
    first, then = PartsOfFile(old, tag="old"), PartsOfFile(new, tag="new")
    with ScriptedServer(lambda exchange: (first if exchange.number <= 2 else then)(exchange)) as server:
        result = run(tmp_path, server.url("/a.nef"))
        assert result.status == 0, result.stderr
    made, = result.thumbnails.values()
    assert without_comments(made) == from_a_folder(tmp_path, {"a.nef": new})["a.nef.jpg"]


# Hostile files


def chain_without_end():
    """Directories far from each other, the last of which leads to the first."""
    file = Structure()
    for _ in range(40):
        file.chain([(0x10F, 2, b"NIKON\0"), (0x14A, LONG, [file.add(cameras.noise(150_000))]), (0xC612, 1, [1] * 4)])
    file.data[file.link : file.link + 4] = file.data[4:8]
    return bytes(file.data)


def outside():
    """A preview and directories behind the end of the file."""
    file = Structure()
    inner = [file.directory([(0x201, LONG, [0xFFFFFF00]), (0x202, LONG, [0xFFFFFFF0])]), 0xFFFFFFF0]
    file.chain([(0x10F, 2, b"NIKON\0"), (0x14A, LONG, inner), (0xC612, 1, [1] * 4)])
    return bytes(file.data) + cameras.noise(3 << 20)


def backwards():
    """A preview that is said to begin in the header."""
    file = Structure()
    file.chain([(0x201, LONG, [2]), (0x202, LONG, [0x7FFFFFFF]), (0x10F, 2, b"NIKON\0"), (0xC612, 1, [1] * 4)])
    return bytes(file.data) + cameras.noise(3 << 20)


def tiny_parts():
    """A HEIC picture in thousands of parts of one byte, far from each other."""
    file = heifs.File()
    primary = file.picture(heifs.HEVC, heifs.colors())
    data = file.bytes(primary)
    location = data.index(b"iloc")
    count = 20_000
    extents = b"".join(struct.pack(">2I", 400_000 + 300 * index, 1) for index in range(count))
    old = struct.unpack(">I", data[location - 4 : location])[0]
    entry = struct.pack(">4H", 1, 0, 0, count) + extents
    box = heifs.full_box(b"iloc", struct.pack(">2BH", 0x44, 0, 1) + entry, 1)
    meta = data.index(b"meta")
    size = struct.unpack(">I", data[meta - 4 : meta])[0] + len(box) - old
    data = data[: meta - 4] + struct.pack(">I", size) + data[meta : location - 4] + box + data[location - 4 + old :]
    return data + cameras.noise(7 << 20)


@needs_nginx
@pytest.mark.parametrize("make, name", [
    (chain_without_end, "chain.nef"), (outside, "outside.nef"), (backwards, "backwards.dng"),
    (tiny_parts, "tiny.heic")])
def test_a_hostile_file_costs_few_requests_and_fails_as_from_a_folder(tmp_path, nginx, make, name):
    data = make()
    (nginx.files / name).write_bytes(data)
    (tmp_path / name).write_bytes(data)
    result = run(tmp_path, nginx.url(f"/{name}"))
    local = run(tmp_path, tmp_path / name, out="of files", private=False)
    assert ended_without_a_crash(result) and result.status == local.status == 1
    lines = [line for line in result.lines + local.lines if name in line]
    reasons = [line.split(": ", 2)[2] for line in lines]
    assert len(reasons) == 2 and reasons[0] == reasons[1], (result.stderr, local.stderr)
    requests = nginx.served_once_there_are(1)
    print(f"{name}: {len(requests)} requests, {result.summary['bytes_fetched']} of {len(data)} bytes")
    assert len(requests) <= 20
    assert sum(line.body_bytes for line in requests) <= len(data) + BESIDES
