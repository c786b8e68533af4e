"""Hostile clients of a running job: each is refused, and the job continues."""

import contextlib
import resource
import socket
import time

import pytest

from job import SLOW, HeldJob

PICTURES = 20
# More than the connections that the endpoint allows. Fewer if this process, and so the job, may open fewer files.
SLOW_CLIENTS = min(300, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)
# The endpoint waits 10 seconds for a request; the rest is for a busy machine.
SLOW_SECONDS = 25
PROMPT_SECONDS = 5


@pytest.fixture(scope="module")
def job(pictures, start_for_all):
    job = start_for_all("--max", "1", "--size", "500", *SLOW, kind=HeldJob)
    job.give(*(pictures / f"IMG_{index:04}.jpg" for index in range(PICTURES)))
    return job


def changes(job):
    """All requests that change something."""
    return ("POST", "/pause"), ("POST", "/cancel"), ("DELETE", "/operations/1"), ("PATCH", "/limits")


def refused(job, status, headers):
    for method, path in changes(job):
        answer = job.ask(method, path, headers=headers, json={"max": 3} if method == "PATCH" else None)
        assert answer.status_code == status, f"{method} {path}: {answer.text}"
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["detail"]
        assert job.token not in answer.text
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    after = job.status()
    assert (after["state"], after["limits"]["max"], after["counters"]["cancelled"]) == ("running", 1, 0)
    return answer


def test_nothing_changes_without_the_token(job):
    answer = refused(job, 401, {})
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("of", ["Bearer {}0", "Bearer ", "Basic {}", "Bearer x{}", "{}"])
def test_nothing_changes_with_a_wrong_token(job, of):
    refused(job, 401, {"Authorization": of.format(job.token)})


def test_nothing_changes_with_half_the_token(job):
    refused(job, 401, {"Authorization": f"Bearer {job.token[:32]}"})


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_page_of_another_origin_changes_nothing_even_with_the_token(job, origin):
    refused(job, 403, {**job.authorization, "Origin": origin})


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_neither_reads_nor_changes(job, site):
    refused(job, 403, {**job.authorization, "Sec-Fetch-Site": site})
    assert job.ask("GET", "/status", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"])
def test_a_forged_host_is_refused_even_with_the_token(job, host):
    refused(job, 403, {**job.authorization, "Host": host})
    assert job.ask("GET", "/status", headers={"Host": host}).status_code == 403


def test_a_preflight_request_of_another_origin_is_refused(job):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = job.ask("OPTIONS", "/cancel", headers=headers)
    assert answer.status_code in (403, 405)
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def connected(job):
    return socket.create_connection(("127.0.0.1", job.port), timeout=45)


def answer_to(client):
    """Reads until the other side closes or resets the connection."""
    received = b""
    try:
        while part := client.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


@pytest.mark.parametrize("line", [b"X-Long: " + b"a" * 1_000_000, b"X: a\r\n" * 170_000], ids=["one", "many"])
def test_a_megabyte_of_headers_is_refused_and_its_memory_is_released(job, line):
    held = job.status()["memory"]["resident_bytes"]
    with connected(job) as client:
        with contextlib.suppress(ConnectionError):  # the endpoint may close before it has read everything
            client.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\n" + line + b"\r\n\r\n")
        answer = answer_to(client)
    assert not answer or answer.split()[1] in (b"400", b"431"), answer[:200]
    assert job.status()["memory"]["resident_bytes"] - held < 64 << 20


def still_open(clients):
    """Sends a byte with each client, and returns those whose connection is still open."""
    left = []
    for client in clients:
        try:
            client.send(b"a")
            if client.recv(4096) == b"":
                continue
        except BlockingIOError:
            left.append(client)
        except OSError:
            pass
    return left


def test_hundreds_of_slow_clients_are_disconnected_and_delay_no_others(start, pictures):
    # The job cannot end before its list, and so outlasts the clients: its end would disconnect them too.
    job = start("--max", "1", "--size", "500", *SLOW, kind=HeldJob)
    clients = [connected(job) for _ in range(SLOW_CLIENTS)]
    begin = time.monotonic()
    try:
        for client in clients:
            client.send(b"GET /status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            client.setblocking(False)
        job.give(*(pictures / f"IMG_{index:04}.jpg" for index in range(200)))
        left, slowest = clients, 0
        while left:
            asked = time.monotonic()
            assert asked - begin < SLOW_SECONDS, f"{len(left)} slow clients are still connected"
            status = job.status()
            slowest = max(slowest, time.monotonic() - asked)
            assert status["state"] == "running"
            left = still_open(left)
            time.sleep(1)  # one byte a second makes them slow
        assert slowest < PROMPT_SECONDS
        assert job.counters()["made"]
    finally:
        for client in clients:
            client.close()


# The last test, because it ends the job of all tests here.
def test_the_job_has_made_every_thumbnail_in_the_end(job):
    job.command("PATCH", "/limits", json={"max": 2})
    job.end_list()
    assert job.exit_status(120) == 0
    assert len(list(job.thumbs.rglob("*.jpg"))) == 2 * PICTURES
