"""`thumbjob serve`: what its clients send and get, who waits, who leaves, and how it ends."""

import http.client
import io
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
import requests
from PIL import Image

import memory
from conftest import photo
from job import THUMBJOB
from server import Server, read_all, read_head, status_code
from test_metrics import check_metrics
from waiting import eventually

FIT = "/fit?width=256&height=256&type=jpeg"


@pytest.fixture
def serve():
    servers = []
    with tempfile.TemporaryDirectory(prefix="thumbjob-test-") as parent:

        def start(*arguments, **options):
            folder = Path(parent) / str(len(servers))
            folder.mkdir()
            servers.append(Server(folder, *arguments, **options))
            return servers[-1]

        yield start
        for server in servers:
            server.end()


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """A JPEG photograph of 1500 × 1000 pixels."""
    path = tmp_path_factory.mktemp("serve") / "photo.jpg"
    photo(path, 30)
    return path.read_bytes()


def in_format(picture, name, **options):
    buffer = io.BytesIO()
    Image.open(io.BytesIO(picture)).save(buffer, name, **options)
    return buffer.getvalue()


def noise_as_png(side):
    noise = Image.merge("RGB", [Image.effect_noise((side, side), 100) for _ in range(3)])
    buffer = io.BytesIO()
    noise.save(buffer, "PNG", compress_level=0)
    return buffer.getvalue()


def nextcloud(width, height, kind="jpeg", operation="fit", rotates=True):
    """The target that Nextcloud's provider asks for. Numbers come as integers and as text."""
    params = {"width": width, "height": str(height), "stripmeta": "true", "type": kind, "norotation": "true",
              "quality": "80"}
    operations = ([{"operation": "autorotate"}] if rotates else []) + [{"operation": operation, "params": params}]
    return f"/pipeline?operations={quote(json.dumps(operations))}&key="


def checked(answer, kind, size):
    """The picture of an answer, which must be of this format and size, and say so."""
    assert answer.status_code == 200, answer.text
    made = Image.open(io.BytesIO(answer.content))
    made.load()
    assert (answer.headers["Content-Type"], made.format.lower(), made.size) == (f"image/{kind}", kind, size)
    assert (int(answer.headers["Image-Width"]), int(answer.headers["Image-Height"])) == size
    return made


# MARK: Dialects


@pytest.mark.parametrize("source", ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP"])
def test_nextclouds_requests_get_previews(serve, picture, source):
    server = serve()
    body = in_format(picture, source)
    for side in (32, 256, 1024):
        checked(server.post(nextcloud(side, side), body), "jpeg", (side, round(side * 2 / 3)))
    checked(server.post(nextcloud(200, 100, "png", "smartcrop"), body), "png", (200, 100))
    checked(server.post(nextcloud(200, 100, "webp", rotates=False), body), "webp", (150, 100))


def test_a_preview_shows_the_picture_turned_as_it_says(serve, picture):
    server = serve()
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = in_format(picture, "JPEG", exif=exif)
    upright = checked(server.post(FIT, rotated(picture)), "jpeg", (171, 256))
    made = checked(server.post(FIT, turned), "jpeg", (171, 256))
    difference = [abs(a - b) for a, b in zip(upright.convert("L").tobytes(), made.convert("L").tobytes(), strict=True)]
    assert sum(difference) / len(difference) < 2


def rotated(picture):
    buffer = io.BytesIO()
    Image.open(io.BytesIO(picture)).transpose(Image.Transpose.ROTATE_270).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def test_imagors_paths_get_previews(serve, picture):
    server = serve()
    target = "/unsafe/fit-in/300x300/filters:format(png):no_upscale()/"
    checked(server.post(target, picture), "png", (300, 200))
    # As OpenCloud sends it: a form in chunks, with an id.
    form, kind = requests.models.RequestEncodingMixin._encode_files({"image": ("a.jpg", picture)}, {})
    chunks = (form[start:start + 10_000] for start in range(0, len(form), 10_000))
    answer = server.post(
        "/unsafe/300x300/smart/filters:format(jpeg)/", chunks, headers={"Content-Type": kind, "X-Request-ID": "abc-1"})
    checked(answer, "jpeg", (300, 300))
    assert answer.headers["X-Request-ID"] == "abc-1"
    checked(server.post("/unsafe/2000x/", picture), "jpeg", (2000, 1333))


@pytest.mark.parametrize("method, target, body, status", [
    ("GET", "/", None, 200), ("GET", "/health", None, 200), ("HEAD", "/health", None, 200),
    ("GET", "/nothing", None, 404),
    ("GET", FIT, None, 405), ("GET", "/crop?width=1&url=http://127.0.0.1/", None, 405), ("PUT", FIT, b"x", 405),
    ("POST", "/fit?width=1", b"x", 400), ("POST", FIT, b"", 400), ("POST", FIT, b"not a picture", 406),
    ("POST", FIT, b"%PDF-1.4 ", 406), ("POST", FIT, b"\xff\xd8\xff\xe0 and no more", 400),
    ("POST", "/rotate?rotate=90", b"x", 501), ("POST", "/unsafe/8x8/filters:blur(1)/", b"x", 501),
])
def test_a_wrong_request_gets_its_status_as_json(serve, method, target, body, status):
    server = serve()
    answer = requests.request(method, server.url + target, data=body, timeout=45)
    assert answer.status_code == status
    if status >= 400:
        assert set(answer.json()) == {"message", "status"}
        assert answer.json()["status"] == status


def test_pages_of_other_sites_are_refused(serve, picture):
    server = serve()
    for headers in ({"Origin": "http://other.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert server.post(FIT, picture, headers=headers).status_code == 403
    assert server.post(FIT, picture, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_previews_are_kept_and_made_once(serve, picture):
    server = serve("--cache", "16M")
    server.steer("pause")
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(server.post, FIT, picture) for _ in range(8)]
        eventually("all wait for one", lambda: server.status()["counters"]["waiting"] == 1 and not [
            operation for operation in server.operations("running") if operation["description"].startswith("picture")])
        server.steer("resume")
        assert len({answer.result().content for answer in answers}) == 1
    server.steer("pause")
    assert server.post(FIT, picture).status_code == 200
    assert server.status()["counters"]["waiting"] == 0


def test_what_exceeds_a_limit_is_refused_before_it_is_read(serve, picture):
    server = serve("--limit-bytes", "8M", "--limit-pixels", "1M")
    for head, status in (
        (b"Content-Length: 50000000\r\nExpect: 100-continue\r\n\r\n", 413),
        # The beginning of the picture tells its size. The rest never comes.
        (b"Content-Length: 5000000\r\n\r\n" + picture[:70_000].ljust(70_000, b"\0"), 422),
    ):
        with server.connect() as connection:
            connection.sendall(f"POST {FIT} HTTP/1.1\r\nHost: a\r\n".encode() + head)
            assert status_code(read_head(connection)) == status


def test_a_body_is_asked_for_by_100_continue(serve, picture):
    server = serve()
    with server.connect() as connection:
        head = f"POST {FIT} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(picture)}\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head.encode())
        assert status_code(read_head(connection)) == 100
        connection.sendall(picture)
        assert status_code(read_head(connection)) == 200


def test_a_connection_serves_one_request_after_the_other(serve, picture):
    server = serve()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=45)
    for target, body, status in ((FIT, picture, 200), ("/fit?width=1", picture, 400), (FIT, picture, 200)):
        connection.request("POST", target, body)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status


def test_metrics_count_requests_by_dialect_status_and_reason(serve, picture):
    server = serve()
    server.post(FIT, picture)
    server.post(FIT, b"no picture")
    server.post("/unsafe/100x100/filters:blur(2)/", picture)
    text = server.status_session.get("http://localhost/metrics").text
    assert [line for line in text.splitlines() if line.startswith("thumbjob_requests_total")] == [
        'thumbjob_requests_total{dialect="imaginary",status="200",reason="none"} 1',
        'thumbjob_requests_total{dialect="imaginary",status="406",reason="picture"} 1',
        'thumbjob_requests_total{dialect="imagor",status="501",reason="request"} 1',
    ]
    assert "thumbjob_spool_bytes 0" in text.splitlines()
    assert "thumbjob_unread_bytes 0" in text.splitlines()
    check_metrics(text.encode())


def test_keys_are_needed_and_not_logged(serve, picture):
    server = serve("--json", THUMBJOB_KEY="a secret")
    assert server.post(FIT, picture).status_code == 401
    assert server.post(FIT + "&key=a+secret", picture).status_code == 200
    assert server.post(FIT, picture, headers={"API-Key": "a secret"}).status_code == 200
    assert server.post("/unsafe/8x8/", picture).status_code == 403
    lines = eventually("all is logged", lambda: (found := server.stdout.splitlines()) and len(found) == 4 and found)
    events = [json.loads(line) for line in lines]
    assert [event["status"] for event in events] == [401, 200, 200, 403]
    assert "secret" not in server.stdout + server.stderr


@pytest.mark.parametrize("request_lines", [
    b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    b"Content-Length: -1\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: 0x10\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcdefgh\r\n0\r\n\r\n",
    b"Transfer-Encoding: gzip\r\n\r\n", b"Transfer-Encoding: chunked, gzip\r\n\r\n",
    b"Expect: 200-ok\r\nContent-Length: 0\r\n\r\n",
    b"Host: other\r\nContent-Length: 0\r\n\r\n", b"A: " + b"x" * 20_000 + b"\r\n\r\n", b"Content-Length: 10\r\n\r\nabc",
    b"Content-Type: multipart/form-data\r\nContent-Length: 3\r\n\r\nabc", b"A : b\r\nContent-Length: 0\r\n\r\n",
])
def test_odd_framing_gets_an_error_and_no_second_answer(serve, request_lines):
    server = serve()
    answer = server.exchange(f"POST {FIT} HTTP/1.1\r\nHost: a\r\n".encode() + request_lines)
    assert answer == b"" or 400 <= status_code(answer) < 600
    assert answer.count(b"HTTP/1.1 ") <= 1
    assert requests.get(server.url + "/health", timeout=45).ok


# MARK: Waiting and leaving


def request_bytes(picture, length=None, target=FIT):
    head = f"POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: {length or len(picture)}\r\n\r\n"
    return head.encode() + picture


def waiting_request(server, picture):
    """A connection whose request waits, because the queue is paused."""
    connection = server.connect()
    connection.sendall(request_bytes(picture))
    return connection


def test_a_client_that_leaves_takes_its_operation_along(serve, picture):
    server = serve()
    server.steer("pause")
    connections = [waiting_request(server, picture) for _ in range(3)]
    eventually("all wait", lambda: len(server.operations("waiting")) == 3)
    for connection in connections[:2]:
        connection.close()
    eventually("one is left", lambda: len(server.operations("waiting")) == 1)
    server.steer("resume")
    assert status_code(read_head(connections[2])) == 200
    connections[2].close()
    assert server.status()["counters"]["left"] == 2


def test_a_client_that_leaves_while_it_sends_is_forgotten(serve, picture):
    server = serve()
    with server.connect() as connection:
        connection.sendall(request_bytes(picture, 5_000_000))
        eventually("the picture is coming", lambda: server.operations("running"))
    eventually("nothing is left", lambda: not server.operations())
    assert not [file for file in server.folder.iterdir() if file.name not in ("stdout", "stderr", "runtime")]


def test_who_waits_too_long_may_come_again(serve, picture):
    server = serve("--hold", "1s")
    server.steer("pause")
    answer = server.post(FIT, picture)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert not server.operations()
    server.steer("resume")
    assert server.post(FIT, picture).status_code == 200


def test_who_waits_too_long_with_a_picture_unsent_gets_the_answer(serve, picture):
    """The spool is full, so that the server reads no more of the pictures. Their clients send all before they read."""
    server = serve("--spool-size", "12M", "--hold", "2s")
    server.steer("pause")
    body = picture + bytes(8_000_000)

    def post(_):
        with server.connect() as connection:
            connection.sendall(request_bytes(body))
            return status_code(read_head(connection))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(post, range(6))) == [503] * 6
    eventually("nothing is left", lambda: not server.operations())


def test_signals_list_and_cancel(serve, picture):
    server = serve("--backlog", "2", "--max", "1")
    server.steer("pause")
    connections = [waiting_request(server, picture) for _ in range(5)]
    eventually("the backlog is full", lambda: server.status()["counters"]["waiting"] >= 2)
    server.signal(signal.SIGUSR1)
    eventually("the list is printed", lambda: "of memory reserved" in server.stderr)
    assert server.stderr.count("preview of imaginary request") == 2
    server.signal(signal.SIGUSR2)
    for connection in connections:
        head = read_head(connection)
        assert status_code(head) == 503 and b"Retry-After: 5" in head
        connection.close()
    server.steer("resume")
    assert server.post(FIT, picture).status_code == 200


def test_the_end_answers_who_is_there(serve, picture):
    server = serve()
    server.steer("pause")
    connections = [waiting_request(server, picture) for _ in range(3)]
    eventually("all wait", lambda: len(server.operations("waiting")) == 3)
    server.signal(signal.SIGTERM)

    def is_refused():
        try:
            server.connect().close()
        except OSError:
            return True
        return False

    eventually("no more clients are accepted", is_refused)
    server.steer("resume")
    for connection in connections:
        assert status_code(read_all(connection)) == 200
        connection.close()
    assert server.process.wait(45) == 143


def test_a_slow_client_is_turned_away(serve, picture):
    server = serve()
    with server.connect() as connection:
        connection.sendall(request_bytes(picture[:100], 5_000_000))
        assert status_code(read_head(connection)) in (408, None)
    eventually("nothing is left", lambda: not server.operations())


# MARK: Crowds


def test_a_crowd_is_answered_and_memory_is_bounded(serve, picture):
    server = serve("--max", "2", "--memory", "64M", "--backlog", "4")
    # A large picture that begins with a header, so that its bytes are many.
    body = picture + b"\0" * 4_000_000
    health = []
    done = threading.Event()

    def watch():
        while not done.wait(0.05):
            answer = requests.get(server.url + "/health", timeout=45)
            health.append(answer.elapsed.total_seconds())

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda _: server.post(FIT, body), range(120)))
    done.set()
    watcher.join()
    assert [answer.status_code for answer in answers] == [200] * 120
    assert len({answer.content for answer in answers}) == 1
    assert memory.status_field(server.process.pid, "VmHWM") < 200_000  # kB
    assert server.status()["counters"]["peak_running"] <= 2
    assert health


def test_previews_that_memory_pressure_cancels_are_made_again(serve, picture, tmp_path):
    watched = tmp_path / "pressure"
    os.mkfifo(watched)
    manager = os.open(watched, os.O_RDWR)
    server = serve("--max", "2", MEMORY_PRESSURE_WATCH=str(watched))
    with ThreadPoolExecutor(12) as pool:
        answers = [pool.submit(server.post, "/fit?width=800&height=800&type=avif", picture) for _ in range(12)]
        eventually("two run", lambda: server.status()["counters"]["running"] == 2)
        os.write(manager, b"x")
        eventually("the queue is paused", lambda: server.status().get("paused_by") == ["pressure"])
        assert [answer.result().status_code for answer in answers] == [200] * 12
    os.close(manager)
    assert "critical" in server.stderr
    assert server.status()["pressure"]["criticals"] == 1


def test_previews_that_nobody_reads_pause_the_queue(serve):
    server = serve("--max", "1", "--memory", "64M")
    # Noise hardly gets smaller: each preview has 8 MB, of which the system takes a part.
    body = noise_as_png(1600)
    head = f"POST /fit?width=1600&height=1600&type=png HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n"
    clients = [server.connect() for _ in range(8)]
    for client in clients:
        client.sendall(head.encode() + body)
    eventually("the queue is paused", lambda: server.status().get("paused_by") == ["output"])
    for client in clients:
        with client:
            assert status_code(read_all(client)) == 200
    eventually("it goes on", lambda: server.status()["state"] == "running")


def test_a_socket_of_the_service_manager_is_used(serve, picture):
    launcher = Path(__file__).with_name("servers") / "activate.py"
    server = serve(address=None, launcher=("python3", launcher))
    checked(server.post(FIT, picture), "jpeg", (256, 171))


def test_a_socket_for_datagrams_is_refused(tmp_path):
    launcher = Path(__file__).with_name("servers") / "activate.py"
    command = ["python3", launcher, "--datagrams", THUMBJOB, "serve"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    result = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=60)
    assert result.returncode == 69
    assert result.stderr.splitlines() == [
        "thumbjob: LISTEN_FDS: the socket of the service manager takes no connections; in a unit, ListenStream= names "
        "one that does"]


def test_a_unix_socket_is_private_and_goes(serve, picture, tmp_path):
    path = Path(tempfile.mkdtemp(prefix="thumbjob-test-")) / "s"
    server = serve(address=f"unix:{path}")
    assert path.stat().st_mode & 0o777 == 0o600
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(request_bytes(picture))
        assert status_code(read_head(connection)) == 200
    server.end()
    assert not path.exists()
    path.parent.rmdir()


def test_a_job_file_is_read_again(serve, picture, tmp_path):
    file = tmp_path / "serve.yml"
    file.write_text("listen: 127.0.0.1:0\nmax: 1\n")
    server = serve(address=str(file))
    assert server.status()["limits"]["max"] == 1
    file.write_text("listen: 127.0.0.1:0\nmax: 3\nbacklog: 7\n")
    server.signal(signal.SIGHUP)
    eventually("the limits change", lambda: server.status()["limits"]["max"] == 3)
    assert server.status()["limits"]["backlog"] == 7
    file.write_text("max: many\n")
    server.signal(signal.SIGHUP)
    eventually("the mistake is named", lambda: "nothing is changed" in server.stderr)
    assert server.status()["limits"]["max"] == 3
