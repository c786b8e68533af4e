"""Sources from the network, from real servers (nginx) and counting ones: the thumbnails, the second run, the bounds."""

import json
import os
import time

import pytest

from network_run import ended_without_a_crash, place, run
from servers.authority import Authority
from servers.files import ServedFile
from servers.listening import listener_on_all_of_loopback
from servers.nginx import NGINX, Nginx
from servers.photos import end_of_dc, large_photo, small_photo, without_comments
from servers.scripted import ScriptedServer
from waiting import eventually

ALBUM = 200
# A time that no file of a test has by chance.
OLD = 1_400_000_000
# What a server may have sent before a client's end of the transfer reaches it.
UNDER_WAY = 1 << 20

needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is missing")


@pytest.fixture
def nginx(tmp_path):
    """Starts nginx with a configuration, and ends it after the test."""
    started = []

    def start(*arguments, **options):
        started.append(Nginx(tmp_path / f"nginx{len(started)}", *arguments, **options))
        return started[-1]

    yield start
    for server in started:
        server.close()


def fill(folder, count):
    folder.mkdir(exist_ok=True)
    for index in range(count):
        path = folder / f"{index}.jpg"
        path.write_bytes(small_photo(index % 5))
        os.utime(path, (OLD + index, OLD + index))


def same_from_a_folder(tmp_path, files, *arguments):
    """The thumbnails of the same photos if they are files: their bytes without comments, by name."""
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    result = run(tmp_path, folder, *arguments, out="of files", private=False)
    assert result.status == 0, result.stderr
    return {name: without_comments(data) for name, data in result.thumbnails.items()}


def counts(result):
    return {name: result.summary[name] for name in ("made", "up_to_date", "failed") if result.summary[name]}


# Real servers


@needs_nginx
def test_an_album_is_made_then_up_to_date_and_only_a_changed_photo_is_made_again(tmp_path, nginx):
    server = nginx()
    fill(server.files / "album", ALBUM)
    urls = [server.url(f"/album/{index}.jpg") for index in range(ALBUM)]

    first = run(tmp_path, sources=urls)
    assert first.status == 0, first.stderr
    assert counts(first) == {"made": ALBUM}
    assert set(first.thumbnails) == {place(url) for url in urls}
    assert {line.status for line in server.served_once_there_are(ALBUM)} == {200}
    whole = same_from_a_folder(tmp_path, {f"{hue}.jpg": small_photo(hue) for hue in range(5)})
    for index in range(ALBUM):
        made = without_comments(first.thumbnails[place(urls[index])])
        assert made == whole[f"{index % 5}.jpg"]

    second = run(tmp_path, sources=urls)
    assert (second.status, counts(second)) == (0, {"up_to_date": ALBUM}), second.stderr
    asked = server.served_once_there_are(ALBUM, since=ALBUM)
    assert len(asked) == ALBUM and {line.status for line in asked} == {304}
    assert sum(line.body_bytes for line in asked) == 0

    # An older file than before, as from a backup, has changed as well.
    (server.files / "album/7.jpg").write_bytes(small_photo(77))
    os.utime(server.files / "album/7.jpg", (OLD - 5, OLD - 5))
    third = run(tmp_path, sources=urls)
    assert (third.status, counts(third)) == (0, {"made": 1, "up_to_date": ALBUM - 1}), third.stderr
    assert third.thumbnails[place(urls[7])] != first.thumbnails[place(urls[7])]
    assert third.thumbnails[place(urls[8])] == first.thumbnails[place(urls[8])]


@needs_nginx
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_and_the_thumbnail_has_the_place_of_the_url_that_was_given(tmp_path, nginx, status):
    server = nginx(f"location = /old.jpg {{ return {status} /album/0.jpg; }}")
    fill(server.files / "album", 1)
    result = run(tmp_path, server.url("/old.jpg"))
    assert result.status == 0, result.stderr
    assert set(result.thumbnails) == {place(server.url("/old.jpg"))}


@needs_nginx
def test_five_redirects_are_followed_and_the_sixth_is_not(tmp_path, nginx):
    server = nginx(
        "location = /1.jpg { return 302 0.jpg; }"
        + "".join(f"location = /{n}.jpg {{ return 307 http://127.0.0.1:{{port}}/{n - 1}.jpg; }}" for n in range(2, 7)))
    fill(server.files, 1)
    five, six = server.url("/5.jpg"), server.url("/6.jpg")
    result = run(tmp_path, five, six)
    assert result.status == 1 and set(result.thumbnails) == {place(five)}, result.stderr
    assert len(result.lines_about(six)) == 1 and "redirect" in result.lines_about(six)[0]


@needs_nginx
def test_each_error_of_a_server_is_one_line_with_its_status_and_all_others_are_made(tmp_path, nginx):
    server = nginx("".join(f"location = /{code} {{ return {code}; }}" for code in (403, 410, 500, 503)))
    (server.files / "0.jpg").write_bytes(small_photo())
    failing = {code: server.url(f"/{code}") for code in (403, 404, 410, 500, 503)}
    result = run(tmp_path, *failing.values(), server.url("/0.jpg"))
    assert result.status == 1 and counts(result) == {"made": 1, "failed": 5}, result.stderr
    for code, url in failing.items():
        assert len(result.lines_about(url)) == 1 and str(code) in result.lines_about(url)[0], result.stderr
        assert result.failures[url]["kind"] == "network"
    asked = [line.path for line in server.served()]
    # What may get better is tried four times in all, everything else once.
    assert {path: asked.count(path) for path in set(asked)} == {
        "/403": 1, "/404": 1, "/410": 1, "/500": 4, "/503": 4, "/0.jpg": 1}


@needs_nginx
def test_a_transfer_continues_where_it_broke_when_nginx_crashes_and_is_started_again(tmp_path, nginx, start):
    server = nginx("location = /slow.jpg { limit_rate_after 1m; limit_rate 20k; }")
    photo = large_photo(False)
    (server.files / "slow.jpg").write_bytes(photo)
    url = server.url("/slow.jpg")
    job = start(url, "--allow-private")
    eventually("a part has arrived", lambda: fraction(job) * len(photo) > 500_000)
    server.kill()
    server.configuration.write_text(server.configuration.read_text().replace("limit_rate 20k", "limit_rate 0"))
    server.start()
    assert job.exit_status() == 0, job.stderr
    rest, = server.served_once_there_are(1)
    assert rest.status == 206 and rest.body_bytes < len(photo) - 500_000
    whole = same_from_a_folder(tmp_path, {"slow.jpg": photo})
    assert without_comments((job.thumbs / place(url)).read_bytes()) == whole["slow.jpg"]


def fraction(job):
    """How much of the source has arrived that a job fetches, from 0 to 1."""
    return max((operation.get("fraction") or 0 for operation in job.status()["running"]), default=0)


@needs_nginx
def test_a_certificate_of_the_given_authority_is_trusted(tmp_path, nginx):
    authority = Authority(tmp_path / "authority")
    server = nginx(tls=authority)
    fill(server.files / "album", 3)
    urls = [server.url(f"/album/{index}.jpg") for index in range(3)]
    result = run(tmp_path, *urls, SSL_CERT_FILE=str(authority.root))
    assert result.status == 0, result.stderr
    assert set(result.thumbnails) == {place(url) for url in urls}
    assert all(line.tls.startswith("TLSv1.") for line in server.served_once_there_are(3))


@needs_nginx
def test_a_certificate_of_an_unknown_authority_is_one_clear_line(tmp_path, nginx):
    server = nginx(tls=Authority(tmp_path / "authority"))
    fill(server.files / "album", 1)
    url = server.url("/album/0.jpg")
    result = run(tmp_path, url)
    assert result.status == 1 and not result.thumbnails
    assert len(result.lines) == 1 and "certificate" in result.lines_about(url)[0], result.stderr
    assert result.failures[url]["kind"] == "network"
    assert server.served() == []


@needs_nginx
def test_a_certificate_for_another_host_is_one_clear_line(tmp_path, nginx):
    authority = Authority(tmp_path / "authority", name="DNS:photos.example")
    server = nginx(tls=authority)
    fill(server.files / "album", 1)
    url = server.url("/album/0.jpg")
    result = run(tmp_path, url, SSL_CERT_FILE=str(authority.root))
    assert result.status == 1 and not result.thumbnails
    assert len(result.lines) == 1 and "certificate" in result.lines_about(url)[0], result.stderr
    assert server.served() == []


@needs_nginx
def test_https_never_leads_to_http(tmp_path, nginx):
    authority = Authority(tmp_path / "authority")
    plain = nginx()
    fill(plain.files / "album", 1)
    secure = nginx(f"location / {{ return 302 {plain.url('/album/0.jpg')}; }}", tls=authority)
    url = secure.url("/0.jpg")
    result = run(tmp_path, url, SSL_CERT_FILE=str(authority.root))
    assert result.status == 1 and "redirect" in result.lines_about(url)[0], result.stderr
    assert plain.served() == []


def test_a_server_that_asks_to_wait_is_asked_again_after_that_time(tmp_path):
    asked = []

    def busy_at_first(exchange):
        asked.append(time.monotonic())
        if exchange.number == 1:
            return exchange.answer(status="429 Too Many Requests", Retry_After="1")
        ServedFile(small_photo())(exchange)

    with ScriptedServer(busy_at_first) as server:
        result = run(tmp_path, server.url("/0.jpg"))
    assert (result.status, counts(result)) == (0, {"made": 1}), result.stderr
    assert len(asked) == 2 and asked[1] - asked[0] >= 1
    assert result.lines == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_recovers_gives_its_photo(tmp_path, status):
    file = ServedFile(small_photo())

    def failing_once(exchange):
        if exchange.number == 1:
            return exchange.answer(status=f"{status} Oh")
        file(exchange)

    with ScriptedServer(failing_once) as server:
        result = run(tmp_path, server.url("/0.jpg"))
        assert (result.status, counts(result)) == (0, {"made": 1}), result.stderr
        assert len(server.requests) == 2


def test_an_entity_tag_alone_tells_that_a_photo_is_up_to_date_and_that_it_has_changed(tmp_path):
    files = {f"/{index}.jpg": ServedFile(small_photo(index), tag=f"tag {index}") for index in range(5)}
    with ScriptedServer(files) as server:
        urls = [server.url(path) for path in files]
        assert counts(run(tmp_path, *urls)) == {"made": 5}
        sent = sum(server.sent.values())
        second = run(tmp_path, *urls)
        assert (second.status, counts(second)) == (0, {"up_to_date": 5}), second.stderr
        print(f"second run with an entity tag alone: {sum(server.sent.values()) - sent} of {sent} bytes of bodies")
        server.scripts["/3.jpg"] = ServedFile(small_photo(33), tag="another")
        assert counts(run(tmp_path, *urls)) == {"made": 1, "up_to_date": 4}


def test_the_body_of_a_photo_that_is_up_to_date_by_its_entity_tag_is_not_read_to_its_end(tmp_path):
    photo = large_photo(False)
    with ScriptedServer(ServedFile(photo, tag="a")) as server:
        url = server.url("/large.jpg")
        assert counts(run(tmp_path, url)) == {"made": 1}
        assert counts(run(tmp_path, url)) == {"up_to_date": 1}
        again = server.sent["/large.jpg"] - len(photo)
    print(f"second run of a large photo with an entity tag alone: {again} of {len(photo)} bytes")
    assert again < UNDER_WAY


def test_without_tag_and_time_a_photo_is_made_again_only_if_its_contents_differ(tmp_path):
    with ScriptedServer({"/0.jpg": ServedFile(small_photo(0)), "/1.jpg": ServedFile(small_photo(1))}) as server:
        urls = [server.url("/0.jpg"), server.url("/1.jpg")]
        assert counts(run(tmp_path, *urls)) == {"made": 2}
        server.scripts["/1.jpg"] = ServedFile(small_photo(11))
        assert counts(run(tmp_path, *urls)) == {"made": 1, "up_to_date": 1}


def test_a_photo_that_changes_during_its_transfer_is_never_a_mixture(tmp_path):
    old, new = ServedFile(large_photo(False), tag="old"), ServedFile(small_photo(3), tag="new")

    def changing(exchange):
        if exchange.number == 1:
            return old.broken_off(exchange, 500_000)
        new(exchange)

    with ScriptedServer(changing) as server:
        result = run(tmp_path, server.url("/a.jpg"))
        assert server.requests[1].headers.get("if-range") == old.tag
        assert result.status == 0, result.stderr
        made = without_comments(result.thumbnails[place(server.url("/a.jpg"))])
    assert made == same_from_a_folder(tmp_path, {"a.jpg": small_photo(3)})["a.jpg"]


# Bounds, as the server counts them


class Crowd:
    """A script that holds each request until one more than allowed is there, or until none can be expected any more."""

    def __init__(self, allowed):
        self.allowed = allowed

    def __call__(self, exchange):
        # The wait is the proof: a further connection would come within this time.
        exchange.server.wait(lambda: exchange.server.most_in_flight > self.allowed, seconds=0.03)
        ServedFile(small_photo())(exchange)


@pytest.mark.parametrize("options, allowed", [(("--per-host", "2"), 2), ((), 4)])
def test_a_host_never_has_more_connections_than_it_may(tmp_path, options, allowed):
    with ScriptedServer(Crowd(allowed)) as server:
        result = run(tmp_path, *options, sources=[server.url(f"/{index}.jpg") for index in range(100)])
        assert (result.status, counts(result)) == (0, {"made": 100}), result.stderr
        assert server.most_connections == allowed
        assert server.most_in_flight == allowed
        print(f"{options}: at most {server.most_connections} at once, {server.accepted} connections for 100 photos")


def test_a_host_with_two_names_and_many_hosts_share_the_bound_of_all_connections(tmp_path):
    with ScriptedServer(Crowd(16), listener_on_all_of_loopback()) as server:
        hosts = [f"127.0.1.{index}" for index in range(1, 11)]
        result = run(
            tmp_path, "--per-host", "4", "--backlog", "100",
            sources=[server.url(f"/{index}.jpg", host) for index in range(10) for host in hosts])
        assert (result.status, counts(result)) == (0, {"made": 100}), result.stderr
        assert 4 < server.most_in_flight <= 16
        assert server.most_connections <= 16
        print(f"10 hosts: at most {server.most_connections} connections at once, {server.most_in_flight} requests")


@pytest.mark.parametrize("extent", ["exact", "sparing", "whole"])
def test_a_progressive_photo_ends_early_unless_all_of_it_is_asked_for(tmp_path, extent):
    photo = large_photo(True)
    with ScriptedServer(ServedFile(photo)) as server:
        url = server.url("/large.jpg")
        result = run(tmp_path, url, "--fetch", extent)
        assert result.status == 0, result.stderr
        sent = server.sent["/large.jpg"]
        assert len(server.requests) == 1
    needed = {"exact": end_of_dc(photo, 0), "sparing": end_of_dc(photo, 1), "whole": len(photo)}[extent]
    print(f"progressive, {extent}: {sent} of {len(photo)} bytes ({100 * sent // len(photo)} %), needed are {needed}")
    assert needed <= sent <= min(needed + UNDER_WAY, len(photo))
    if extent != "sparing":
        whole = same_from_a_folder(tmp_path, {"large.jpg": photo})
        assert without_comments(result.thumbnails[place(url)]) == whole["large.jpg"]


@pytest.mark.parametrize("extent", ["exact", "sparing", "whole"])
def test_a_baseline_photo_is_fetched_whole(tmp_path, extent):
    photo = large_photo(False)
    with ScriptedServer(ServedFile(photo)) as server:
        url = server.url("/large.jpg")
        result = run(tmp_path, url, "--fetch", extent)
        assert result.status == 0, result.stderr
        assert server.sent["/large.jpg"] == len(photo)
    whole = same_from_a_folder(tmp_path, {"large.jpg": photo})
    assert without_comments(result.thumbnails[place(url)]) == whole["large.jpg"]


def test_the_second_run_of_a_photo_that_ended_early_finds_it_up_to_date(tmp_path):
    with ScriptedServer(ServedFile(large_photo(True), tag="a", modified=OLD)) as server:
        url = server.url("/large.jpg")
        assert counts(run(tmp_path, url)) == {"made": 1}
        sent = server.sent["/large.jpg"]
        second = run(tmp_path, url)
        assert counts(second) == {"up_to_date": 1} and server.sent["/large.jpg"] == sent


@pytest.mark.parametrize("modified", [OLD, None])
def test_the_manifest_of_a_later_run_is_the_same_although_nothing_is_fetched(tmp_path, modified):
    manifest = tmp_path / "manifest.json"
    served = {path: ServedFile(photo, tag="a", modified=modified)
              for path, photo in (("/large.jpg", large_photo(True)), ("/small.jpg", small_photo()))}
    with ScriptedServer(served) as server:
        urls = [server.url(path) for path in served]
        fields = ("--manifest", manifest, "--manifest-fields", "modified")
        assert counts(run(tmp_path, *urls, *fields)) == {"made": 2}
        first = json.loads(manifest.read_text())
        assert counts(run(tmp_path, *urls, *fields)) == {"up_to_date": 2}
    assert json.loads(manifest.read_text()) == first
    for source in first["sources"]:
        # Only a part of the first photo was fetched.
        assert "bytes" not in source and source["width"] > 0
        assert source["modified"] == modified if modified else source["modified"] > OLD


def test_a_photo_at_several_sizes_is_fetched_once_and_each_is_that_of_a_file(tmp_path):
    photo, sizes = large_photo(True), ("-s", "small=128", "-s", "large=1200")
    with ScriptedServer(ServedFile(photo)) as server:
        url = server.url("/large.jpg")
        result = run(tmp_path, url, *sizes)
        assert result.status == 0 and len(server.requests) == 1, result.stderr
    of_files = same_from_a_folder(tmp_path, {"large.jpg": photo}, *sizes)
    for size in ("small", "large"):
        made, = (data for path, data in result.thumbnails.items() if path.startswith(size))
        assert without_comments(made) == of_files[f"{size}/large.jpg"]
    assert ended_without_a_crash(result)
