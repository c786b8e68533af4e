"""`thumbjob status` against a server that answers with arbitrary bytes."""

import copy
import json
import socket
import subprocess
import threading

import pytest

from job import SLOW, THUMBJOB
from waiting import eventually


@pytest.fixture(scope="module")
def true_status(start_for_all, pictures):
    job = start_for_all(pictures, "--max", "1", *SLOW)
    return eventually("an operation runs", lambda: (status := job.status())["running"] and status)


def asked(tmp_path, answer):
    """The result of `thumbjob status` if the answer is these bytes."""
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        result = subprocess.run(
            [THUMBJOB, "status", f"unix:{path}"],
            check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        thread.join()
    return result


def answer(status, head="HTTP/1.1 200 OK"):
    body = json.dumps(status).encode()
    return f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def changed(status, path, value):
    status = copy.deepcopy(status)
    place = status
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return status


@pytest.mark.parametrize("value", [1e300, -1e300, 1e19, -5])
@pytest.mark.parametrize("path", [("elapsed_seconds",), ("eta_seconds",), ("rates", "sources_per_second"),
                                  ("running", 0, "fraction"), ("running", 0, "ran_seconds")])
def test_extreme_numbers_do_not_break_the_client(tmp_path, true_status, path, value):
    assert asked(tmp_path, answer(changed(true_status, path, value))).returncode == 0


def test_counters_that_would_overflow_are_refused(tmp_path, true_status):
    status = changed(changed(true_status, ("counters", "made"), 2**63 - 1), ("counters", "failed"), 2**63 - 1)
    status = changed(status, ("counters", "waiting"), -(2**63))
    assert asked(tmp_path, answer(status)).returncode == 69


@pytest.mark.parametrize("head", ["HTTP/1.1 200 OK\r\nContent-Length: -5", "HTTP/1.1 200", "nonsense", ""])
def test_an_invalid_answer_is_an_error_of_one_line(tmp_path, true_status, head):
    result = asked(tmp_path, head.encode() + b"\r\n\r\n" + b"{}")
    assert result.returncode == 69 and result.stderr.count(b"\n") == 1


def test_control_characters_of_an_answer_do_not_reach_the_terminal(tmp_path, true_status):
    status = changed(true_status, ("sources",), ["a\x1b[31m\nthumbjob: all is well\u202e"])
    output = asked(tmp_path, answer(status)).stdout.decode()
    assert "\x1b" not in output and "\u202e" not in output and "\nthumbjob" not in output
