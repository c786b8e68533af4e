"""Sources in buckets of S3, and thumbnails that go there: listings, signatures, what is up to date."""

import itertools
import os
import signal
import subprocess
import time

import pytest

from job import THUMBJOB
from network_run import environment, run
from servers import cameras
from servers.photos import large_photo, small_photo, without_comments
from servers.s3 import KEY, S3, SECRET
from servers.scripted import ScriptedServer
from waiting import eventually

MANY = 5000
PHOTOS = 150
# Every character that an URL, XML or a signature could misread. moto itself knows no key with a newline.
ODD_KEYS = [
    "dir/a b+c/é%41&=.jpg", "dir/~y_-!'()*$@,;:.jpg", "dir/<&\">.jpg", "dir/?q=1#x.jpg", "dir//double.jpg",
    "dir/../up.jpg", "dir/./here.jpg", "dir/日本.jpg", "dir/%2F.jpg",
]
LISTING = "list-type=2"


@pytest.fixture
def s3(tmp_path):
    """Starts an S3 whose buckets have photos under the given keys."""
    started = []
    numbers = itertools.count()

    def start(buckets, **settings):
        folder = tmp_path / "photos of s3"
        folder.mkdir(exist_ok=True)

        def file(content):
            path = folder / str(next(numbers))
            path.write_bytes(content)
            return str(path)

        given = {
            bucket: [[key, file(content)] for key, content in objects.items()] for bucket, objects in buckets.items()}
        started.append(S3(tmp_path / f"s3 {len(started)}", given, **settings))
        return started[-1]

    yield start
    for server in started:
        server.close()


def album(count, prefix="album/"):
    return {f"{prefix}{index:04}.jpg": small_photo(index % 5) for index in range(count)}


def counts(result):
    return {name: result.summary[name] for name in ("made", "up_to_date", "failed") if result.summary[name]}


def asked(server, *texts, since=0):
    """The requests with these texts, such as "GET /bucket/key"."""
    lines = [f"{request['method']} {request['target']}" for request in server.requests()[since:]]
    return [line for line in lines if all(text in line for text in texts)]


def objects(server, bucket):
    """The contents and the metadata of all objects of a bucket, by key."""
    client = server.client
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
    found = {key: client.get_object(Bucket=bucket, Key=key) for key in keys}
    return {key: (answer["Body"].read(), answer["Metadata"], answer["ContentType"]) for key, answer in found.items()}


def folder_of(tmp_path, count):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, content in album(count, "").items():
        (folder / name).write_bytes(content)
    return folder


# Sources


def test_thousands_of_keys_are_listed_and_only_what_is_new_is_fetched(tmp_path, s3):
    texts = {f"album/{index:04}.txt": b"text" for index in range(MANY - PHOTOS)}
    server = s3({"photos": {**album(PHOTOS), **texts}})

    first = run(tmp_path, "s3://photos/album", "--include", "*.jpg", **server.variables)
    assert (first.status, counts(first)) == (0, {"made": PHOTOS}), first.stderr
    assert set(first.thumbnails) == {f"{index:04}.jpg" for index in range(PHOTOS)}
    # One object for the key itself, and then a thousand keys a page.
    assert len(asked(server, LISTING)) == 1 + MANY // 1000
    assert len(asked(server, "GET /photos/album/")) == PHOTOS
    assert all("authorization" in request for request in server.requests())

    folder = tmp_path / "files"
    folder.mkdir()
    for hue in range(5):
        (folder / f"{hue}.jpg").write_bytes(small_photo(hue))
    local = run(tmp_path, folder, out="of files", private=False).thumbnails
    for index in range(PHOTOS):
        made = without_comments(first.thumbnails[f"{index:04}.jpg"])
        assert made == without_comments(local[f"{index % 5}.jpg"])

    server.client.put_object(Bucket="photos", Key="album/0007.jpg", Body=small_photo(77))
    since = len(server.requests())
    second = run(tmp_path, "s3://photos/album", "--include", "*.jpg", **server.variables)
    assert (second.status, counts(second)) == (0, {"made": 1, "up_to_date": PHOTOS - 1}), second.stderr
    assert asked(server, "GET /photos/album/", since=since) == ["GET /photos/album/0007.jpg"]


def test_of_a_raw_object_only_the_parts_that_are_needed_are_fetched(tmp_path, s3):
    data = cameras.nef()
    server = s3({"photos": {"a.nef": data}})
    result = run(tmp_path, "s3://photos/a.nef", **server.variables)
    assert (result.status, counts(result)) == (0, {"made": 1}), result.stderr
    assert result.summary["bytes_fetched"] < len(data) / 4
    (tmp_path / "a.nef").write_bytes(data)
    local = run(tmp_path, tmp_path / "a.nef", out="of files", private=False).thumbnails
    assert {name: without_comments(made) for name, made in result.thumbnails.items()} == {
        name: without_comments(made) for name, made in local.items()}
    second = run(tmp_path, "s3://photos/a.nef", **server.variables)
    assert (second.status, counts(second)) == (0, {"up_to_date": 1}), second.stderr


def test_every_key_is_asked_for_and_signed_as_it_is(tmp_path, s3):
    server = s3({"photos": {**dict.fromkeys(ODD_KEYS, small_photo()), "dir/": b"", "dir/.hidden/a.jpg": small_photo()}})
    result = run(tmp_path, "s3://photos/dir/", **server.variables)
    assert (result.status, counts(result)) == (0, {"made": len(ODD_KEYS)}), result.stderr
    assert result.summary["hidden"] == 1
    assert {"a b+c/é%41&=.jpg", "%2E%2E/up.jpg", "%2E/here.jpg", "%2F.jpg"} <= set(result.thumbnails)
    sources = {event["source"] for event in result.events if event.get("outcome") == "made"}
    assert sources == {f"s3://photos/{key}" for key in ODD_KEYS}


def test_a_key_is_that_of_an_object_or_of_a_folder(tmp_path, s3):
    server = s3({"photos": dict.fromkeys(["a.jpg", "a.jpg2", "dir/b.jpg", "dir2/c.jpg"], small_photo())})
    assert set(run(tmp_path, "s3://photos/a.jpg", out="1", **server.variables).thumbnails) == {"a.jpg"}
    assert set(run(tmp_path, "s3://photos/dir", out="2", **server.variables).thumbnails) == {"b.jpg"}
    both = run(tmp_path, "s3://photos/dir", "s3://photos/dir2/", out="3", **server.variables)
    assert set(both.thumbnails) == {"dir/b.jpg", "dir2/c.jpg"}
    for name in ("di", "di/"):
        missing = run(tmp_path, f"s3://photos/{name}", out="4", **server.variables)
        assert missing.status == 66
        assert missing.lines_about(f"s3://photos/{name}"), missing.stderr
    again = ["s3://photos/dir", "s3://photos/dir/", "s3://photos/dir/b.jpg"]
    for index, arguments in enumerate((again, again[::-1])):
        twice = run(tmp_path, *arguments, out=f"twice {index}", **server.variables)
        assert counts(twice) == {"made": 1}, twice.stderr
    excluded = run(tmp_path, "s3://photos", "--exclude", "dir*", out="6", **server.variables)
    assert counts(excluded) == {"made": 2}, excluded.stderr
    assert "matched nothing" not in excluded.stderr


def test_other_commands_take_no_objects(tmp_path, s3):
    listing = tmp_path / "list"
    listing.write_bytes(b"s3://photos/dir/\0s3://photos/a.jpg\0")
    result = subprocess.run(
        [THUMBJOB, "split", "--files0-from", listing, "--into", tmp_path / "lists", "--parts", "2"],
        capture_output=True, text=True, check=False)
    assert "Fatal" not in result.stderr
    assert result.stderr.count("only files are read here") == 2, result.stderr


def test_a_file_that_is_no_picture_is_not_fetched_whole(tmp_path, s3):
    server = s3({"photos": {"film.mov": bytes(5 << 20), "a.jpg": small_photo()}})
    result = run(tmp_path, "s3://photos", **server.variables)
    assert (result.status, counts(result)) == (0, {"made": 1}), result.stderr
    assert result.summary["passed_over"] == 1
    assert result.summary["bytes_fetched"] < 1 << 20


def test_objects_in_a_list_are_asked_for_only_if_they_have_changed(tmp_path, s3):
    server = s3({"photos": album(20)})
    urls = [f"s3://photos/{key}" for key in album(20)]
    first = run(tmp_path, sources=urls, **server.variables)
    assert (first.status, counts(first)) == (0, {"made": 20}), first.stderr
    assert set(first.thumbnails) == {f"photos/{key}" for key in album(20)}
    second = run(tmp_path, sources=urls, **server.variables)
    assert counts(second) == {"up_to_date": 20}, second.stderr
    conditional = [request for request in server.requests() if "if_modified_since" in request]
    assert [request["status"] for request in conditional] == [304] * 20
    assert not asked(server, LISTING)


def test_a_full_backlog_stops_the_listing(tmp_path, s3):
    server = s3({"photos": album(2500)})
    server.hold("GET /photos/album/0")
    job = subprocess.Popen(
        [THUMBJOB, "s3://photos/album/", "--allow-private", "--max", "1", "--backlog", "2", "-o", tmp_path / "thumbs",
         "--quiet"],
        env=environment(tmp_path, **server.variables), stderr=subprocess.PIPE)
    try:
        eventually("the first page is listed", lambda: asked(server, LISTING))
        time.sleep(1)  # nothing more is to happen, and no event tells that
        assert len(asked(server, LISTING)) == 1
        job.send_signal(signal.SIGUSR2)
        assert job.wait(30) == 75
    finally:
        job.kill()
        job.wait()
        server.let_go()


def test_sources_that_wait_for_space_hold_up_no_thumbnail(tmp_path, s3):
    """They keep their connections, which a redirect has led to the service that also keeps the thumbnails."""
    photos = {f"{index}.jpg": large_photo(False) for index in range(12)}
    server = s3({"photos": photos, "thumbs": {}}, public=["photos"])

    def redirecting(exchange):
        exchange.answer(status="302 Found", Location=f"{server.endpoint}/photos{exchange.request.target}")

    with ScriptedServer(redirecting) as first, ScriptedServer(redirecting) as second:
        urls = [host.url(f"/{name}") for name in photos for host in (first, second)]
        limit = f"{(len(large_photo(False)) >> 20) + 1}M"
        result = run(
            tmp_path, "--fetch", "whole", "--limit-bytes", limit, "--max", "2", sources=urls, out="s3://thumbs",
            seconds=300, **server.variables)
    assert (result.status, counts(result)) == (0, {"made": 24}), result.stderr


class RepeatingService(ScriptedServer):
    """An S3 whose listings have no end."""

    def __init__(self, token, keys):
        entries = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
        self.numbers = itertools.count()

        def page(exchange):
            if "list-type" not in exchange.request.target:
                return exchange.answer(body=small_photo())
            number = next(self.numbers) if token is None else token
            body = f"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{number}" \
                f"</NextContinuationToken>{entries}</ListBucketResult>"
            exchange.answer(body=body.encode())

        super().__init__(page)


@pytest.mark.parametrize(("token", "keys"), [("same", ["a/1.jpg"]), (None, ["a/1.jpg"]), ("same", [])])
def test_a_listing_that_does_not_go_on_ends(tmp_path, token, keys):
    with RepeatingService(token, keys) as server:
        result = run(
            tmp_path, "s3://photos/a/", AWS_ENDPOINT_URL=server.url(""), AWS_ACCESS_KEY_ID=KEY,
            AWS_SECRET_ACCESS_KEY=SECRET)
    assert result.status == 1
    assert len(result.thumbnails) == len(keys)
    assert "cannot be listed: the server's answer is not valid: the listing does not go on" in result.stderr


# Keys of accounts


def files_of_aws(tmp_path, secret=SECRET, token=""):
    config, credentials = tmp_path / "config", tmp_path / "credentials"
    config.write_text("[profile night]\nregion = eu-west-1\n")
    credentials.write_text(
        f"[night]\naws_access_key_id = {KEY}\naws_secret_access_key = {secret}\n"
        + (f"aws_session_token = {token}\n" if token else ""))
    return {"AWS_CONFIG_FILE": str(config), "AWS_SHARED_CREDENTIALS_FILE": str(credentials), "AWS_PROFILE": "night"}


def test_a_profile_has_the_keys_and_a_session_token(tmp_path, s3):
    server = s3({"photos": album(2)}, tokens={KEY: "a/token+of=it"})
    files = files_of_aws(tmp_path, token="a/token+of=it")
    result = run(tmp_path, "s3://photos/album", AWS_ENDPOINT_URL=server.endpoint, **files)
    assert (result.status, counts(result)) == (0, {"made": 2}), result.stderr
    stale = files_of_aws(tmp_path, token="old")
    failed = run(tmp_path, "s3://photos/album", out="2", AWS_ENDPOINT_URL=server.endpoint, **stale)
    assert failed.status == 1
    assert "the session token is not valid (status 400, InvalidToken)" in failed.stderr


def test_a_public_bucket_needs_no_keys(tmp_path, s3):
    server = s3({"photos": album(2), "private": album(2)}, public=["photos"])
    none = {**server.variables, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    assert counts(run(tmp_path, "s3://photos/album", **none)) == {"made": 2}
    denied = run(tmp_path, "s3://private/album", **none)
    assert denied.status == 1
    assert "the access is denied (status 403, AccessDenied)" in denied.stderr


@pytest.mark.parametrize(("changes", "text"), [
    ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "the signature is wrong, mostly because the secret key is"),
    ({"AWS_ACCESS_KEY_ID": "AKIAUNKNOWN"}, "the access key is not known there"),
    ({"AWS_SECRET_ACCESS_KEY": ""}, "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not"),
    ({"AWS_ACCESS_KEY_ID": "", "AWS_PROFILE": "nobody"}, "there is no profile “nobody”, which AWS_PROFILE names"),
    ({"AWS_ENDPOINT_URL": "localhost:9000"}, "the endpoint must be an http or https URL"),
])
def test_what_is_wrong_with_the_keys_is_said_in_one_line(tmp_path, s3, changes, text):
    server = s3({"photos": album(2)})
    result = run(tmp_path, "s3://photos/album", **{**server.variables, **changes})
    assert result.status == 1
    assert len(result.lines_about("s3://photos/album")) == 1, result.stderr
    assert text in result.lines[0]
    assert SECRET not in result.stderr + result.stdout


def test_an_endpoint_of_the_local_network_must_be_allowed(tmp_path, s3):
    server = s3({"photos": album(2)})
    result = run(tmp_path, "s3://photos/album", private=False, **server.variables)
    assert result.status == 1
    assert "leads to 127.0.0.1, which is not a public address; --allow-private would allow it" in result.stderr
    assert not server.requests()


def test_a_busy_service_is_asked_again(tmp_path, s3):
    busy = [503, "SlowDown"]
    server = s3(
        {"photos": album(3), "thumbs": {}},
        faults={LISTING: [busy], "GET /photos/album/0001.jpg": [busy], "PUT /thumbs/0002.jpg": [busy]})
    result = run(tmp_path, "s3://photos/album/", out="s3://thumbs", **server.variables)
    assert (result.status, counts(result)) == (0, {"made": 3}), result.stderr
    assert set(objects(server, "thumbs")) == {"0000.jpg", "0001.jpg", "0002.jpg"}


# Thumbnails in buckets


def test_thumbnails_of_a_folder_go_to_a_bucket_and_only_changed_ones_again(tmp_path, s3):
    server = s3({"thumbs": {}})
    folder = folder_of(tmp_path, 5)
    first = run(tmp_path, folder, out="s3://thumbs/of/album", **server.variables)
    assert (first.status, counts(first)) == (0, {"made": 5}), first.stderr
    kept = objects(server, "thumbs")
    local = run(tmp_path, folder, private=False).thumbnails
    assert set(kept) == {f"of/album/{name}" for name in local}
    for name, thumbnail in local.items():
        body, metadata, kind = kept[f"of/album/{name}"]
        assert without_comments(body) == without_comments(thumbnail)
        assert kind == "image/jpeg"
        assert set(metadata) == {"thumbjob", "thumbjob-modified", "thumbjob-run"}
    sources = [event for event in first.events if event["event"] == "source"]
    paths = {thumbnail["path"] for event in sources for thumbnail in event["thumbnails"]}
    assert paths == {f"s3://thumbs/{key}" for key in kept}

    (folder / "0003.jpg").write_bytes(small_photo(33))
    since = len(server.requests())
    second = run(tmp_path, folder, out="s3://thumbs/of/album/", **server.variables)
    assert counts(second) == {"made": 1, "up_to_date": 4}, second.stderr
    assert set(asked(server, "PUT", since=since)) == {"PUT /thumbs/of/album/0003.jpg"}
    # Another photo with the time of the old one.
    status = (folder / "0001.jpg").stat()
    (folder / "0001.jpg").write_bytes(small_photo(11))
    os.utime(folder / "0001.jpg", ns=(status.st_atime_ns, status.st_mtime_ns))
    third = run(tmp_path, folder, out="s3://thumbs/of/album", **server.variables)
    assert counts(third) == {"made": 1, "up_to_date": 4}, third.stderr
    other = run(tmp_path, folder, "-s", "64", out="s3://thumbs/of/album", **server.variables)
    assert counts(other) == {"made": 5}, other.stderr
    forced = run(tmp_path, folder, "-s", "64", "--force", out="s3://thumbs/of/album", **server.variables)
    assert counts(forced) == {"made": 5}, forced.stderr


def test_each_format_has_its_type_and_is_up_to_date_by_itself(tmp_path, s3):
    server = s3({"thumbs": {}})
    folder = folder_of(tmp_path, 3)
    formats = ["--format", "avif,webp,jpeg"]
    first = run(tmp_path, folder, *formats, out="s3://thumbs", **server.variables)
    assert first.status == 0 and first.summary["made"] == 3
    kept = objects(server, "thumbs")
    types = {".jpg": "image/jpeg", ".webp": "image/webp", ".avif": "image/avif"}
    assert len(kept) == 9
    assert all(kind == types[os.path.splitext(key)[1]] for key, (_, _, kind) in kept.items())
    assert run(tmp_path, folder, *formats, out="s3://thumbs", **server.variables).summary["up_to_date"] == 3
    only = run(tmp_path, folder, "--format", "webp", out="s3://thumbs", **server.variables)
    assert only.summary["up_to_date"] == 3 and objects(server, "thumbs") == kept


def test_from_bucket_to_bucket_nothing_is_fetched_twice_and_no_thumbnail_is_a_source(tmp_path, s3):
    server = s3({"photos": album(10)})
    first = run(tmp_path, "s3://photos", "-s", "64", "-s", "128", out="s3://photos/thumbs", **server.variables)
    assert (first.status, counts(first)) == (0, {"made": 10}), first.stderr
    keys = set(objects(server, "photos"))
    assert keys == set(album(10)) | {f"thumbs/{size}x{size}/{key}" for size in (64, 128) for key in album(10)}
    assert max(request["at_once"] for request in server.requests()) <= 4, "more than --per-host"
    since = len(server.requests())
    second = run(tmp_path, "s3://photos", "-s", "64", "-s", "128", out="s3://photos/thumbs", **server.variables)
    assert counts(second) == {"up_to_date": 10}, second.stderr
    assert not asked(server, "GET /photos/", since=since)
    inside = run(tmp_path, "s3://photos/thumbs/64x64", out="s3://photos/thumbs", **server.variables)
    assert inside.status == 73
    assert "is the output folder or in it" in inside.stderr


def test_an_object_that_is_no_thumbnail_is_never_replaced(tmp_path, s3):
    server = s3({"thumbs": {"0001.jpg": b"original"}})
    folder = folder_of(tmp_path, 3)
    for force in ([], ["--force"]):
        result = run(tmp_path, folder, *force, out="s3://thumbs", **server.variables)
        assert result.status == 1
        assert "s3://thumbs/0001.jpg: exists and is not a thumbnail of thumbjob" in result.stderr
    assert objects(server, "thumbs")["0001.jpg"][0] == b"original"


def test_two_objects_that_want_one_place_do_not_replace_each_other(tmp_path, s3):
    photo = small_photo()
    server = s3({"photos": {"a/scan.png": photo, "a/scan.png.jpg": photo}, "thumbs": {}})
    for force in ([], [], ["--force"]):
        result = run(tmp_path, "s3://photos/a", *force, out="s3://thumbs", **server.variables)
        assert result.status == 1
        assert result.summary["failed"] == 1
        assert "another source has the place of its thumbnail" in result.stderr
        assert set(objects(server, "thumbs")) == {"scan.png.jpg"}


def test_a_dry_run_keeps_nothing(tmp_path, s3):
    server = s3({"photos": album(3), "thumbs": {}})
    result = run(tmp_path, "s3://photos/album", "--dry-run", out="s3://thumbs", **server.variables)
    assert result.status == 0, result.stderr
    assert "would make the thumbnails of 3 pictures" in result.stderr
    local = run(tmp_path, folder_of(tmp_path, 3), "--dry-run", out="s3://thumbs", **server.variables)
    assert local.status == 0, local.stderr
    assert not asked(server, "PUT") and not asked(server, "GET /photos/")


def test_a_bucket_that_takes_nothing_ends_the_job_with_one_line(tmp_path, s3):
    server = s3({"other": {}})
    result = run(tmp_path, folder_of(tmp_path, 30), "--max", "2", out="s3://thumbs", **server.variables)
    assert result.status == 74
    assert len(result.lines) == 1, result.stderr
    assert "there is no such bucket (status 404, NoSuchBucket)" in result.lines[0]
    assert "mend that and run the same command again" in result.stderr


def test_a_wrong_key_ends_the_job_with_the_reason_although_head_has_none(tmp_path, s3):
    server = s3({"thumbs": {}})
    result = run(
        tmp_path, folder_of(tmp_path, 30), "--max", "2", out="s3://thumbs",
        **{**server.variables, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert result.status == 74
    assert len(result.lines) == 1, result.stderr
    assert "the signature is wrong, mostly because the secret key is" in result.lines[0]


def test_a_service_without_conditions_keeps_thumbnails_all_the_same(tmp_path, s3):
    server = s3({"photos": album(3), "thumbs": {}}, faults={"if-none-match": [[501, "NotImplemented"]] * 3})
    result = run(tmp_path, "s3://photos/album", out="s3://thumbs", **server.variables)
    assert (result.status, counts(result)) == (0, {"made": 3}), result.stderr
    assert len(objects(server, "thumbs")) == 3


@pytest.mark.parametrize(("options", "key"), [
    (["--prune"], "--prune"), (["--manifest", "m.json"], "--manifest"), (["--verify", "content"], "--verify")])
def test_what_needs_a_folder_is_refused(tmp_path, options, key):
    result = run(tmp_path, folder_of(tmp_path, 1), *options, out="s3://thumbs")
    assert result.status == 64
    assert result.stderr.startswith(f"thumbjob: {key}: ")


def test_other_urls_are_no_outputs(tmp_path):
    for out in ("s3://", "s3://a b/x"):
        result = run(tmp_path, folder_of(tmp_path, 1) if out == "s3://" else tmp_path / "in", out=out)
        assert result.status == 64
        assert "is no place for thumbnails; name a folder, or s3://bucket/folder" in result.stderr


def runs_in(folder):
    """The working folders of runs, below the folder that TMPDIR names."""
    return list(folder.glob("thumbjob-*/run-*"))


def held_upload(tmp_path, server, jobs, text="PUT "):
    """A job that is in the middle of keeping a thumbnail, by a request with this text."""
    server.hold(text)
    job = subprocess.Popen(
        [THUMBJOB, folder_of(tmp_path, 6), "--allow-private", "--max", "2", "-o", "s3://thumbs", "--json"],
        env=environment(tmp_path, **{**server.variables, "TMPDIR": str(tmp_path / "work")}), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    jobs.append(job)
    eventually("two thumbnails are on their way", lambda: len(server.held()) == 2)
    return job


@pytest.fixture
def jobs():
    """The jobs that a test has started, which are killed after it."""
    started = []
    yield started
    for job in started:
        job.kill()
        job.wait()


def test_a_cancelled_job_leaves_no_part_of_a_thumbnail(tmp_path, s3, jobs):
    server = s3({"thumbs": {}})
    (tmp_path / "work").mkdir()
    job = held_upload(tmp_path, server, jobs)
    start = time.monotonic()
    job.send_signal(signal.SIGUSR2)
    job.communicate(timeout=20)
    seconds = time.monotonic() - start
    print(f"USR2 while thumbnails are kept: {seconds * 1000:.0f} ms")
    assert seconds < 5, "the limits for a stalled request are longer"
    assert job.returncode == 75
    assert not runs_in(tmp_path / "work")
    server.let_go()
    result = run(tmp_path, tmp_path / "in", out="s3://thumbs", **server.variables)
    assert result.status == 0, result.stderr
    assert len(objects(server, "thumbs")) == 6


def test_an_object_that_appears_meanwhile_is_not_replaced(tmp_path, s3, jobs):
    server = s3({"thumbs": {}})
    (tmp_path / "work").mkdir()
    job = held_upload(tmp_path, server, jobs, "if-none-match")
    key = server.held()[0].split()[1].removeprefix("/thumbs/")
    server.client.put_object(Bucket="thumbs", Key=key, Body=b"original")
    server.let_go()
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 1
    assert f"s3://thumbs/{key}: exists and is not a thumbnail of thumbjob".encode() in errors
    assert objects(server, "thumbs")[key][0] == b"original"
    assert len(objects(server, "thumbs")) == 6


def test_after_a_kill_the_next_run_makes_the_rest_and_removes_what_was_left(tmp_path, s3, jobs):
    server = s3({"thumbs": {}})
    (tmp_path / "work").mkdir()
    job = held_upload(tmp_path, server, jobs)
    job.kill()
    job.communicate()
    assert runs_in(tmp_path / "work")
    server.let_go()
    variables = {**server.variables, "TMPDIR": str(tmp_path / "work")}
    result = run(tmp_path, tmp_path / "in", out="s3://thumbs", **variables)
    assert result.status == 0, result.stderr
    assert not runs_in(tmp_path / "work")
    local = run(tmp_path, tmp_path / "in", private=False).thumbnails
    kept = {key: without_comments(body) for key, (body, _, _) in objects(server, "thumbs").items()}
    assert kept == {key: without_comments(body) for key, body in local.items()}
