"""The status endpoint of a job: a client that asks, and clients that do no good."""

import http.client
import json
import random
import resource
import socket
import struct
import threading
import time
from contextlib import suppress

import process

TOKEN = "the-token-of-the-soak"
_TIMEOUT = 20
# A line of the metrics: a comment, or a name with labels and a value.
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


class AnswerError(Exception):
    """An answer that no route may give."""


class Address:
    """Where an endpoint listens."""

    def __init__(self, path=None, host=None, port=None):
        self.path, self.host, self.port = path, host, port

    def connect(self, seconds=_TIMEOUT, receive_buffer=None):
        client = socket.socket(self.family)
        try:
            client.settimeout(seconds)
            if receive_buffer:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            client.connect(str(self.path) if self.path else (self.host, self.port))
        except BaseException:
            client.close()
            raise
        return client

    @property
    def family(self):
        if self.path:
            return socket.AF_UNIX
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    def __str__(self):
        host = f"[{self.host}]" if self.host and ":" in self.host else self.host
        return f"unix:{self.path}" if self.path else f"{host}:{self.port}"


class Endpoint:
    """Asks one job. A job that is about to end, or has ended, gives no answer; then the result is nil."""

    def __init__(self, job, address, patience):
        self.job, self.address, self.patience = job, address, patience

    def ask(self, method, path, body=None, allowed=(200,)):
        """Asks until there is an answer or the process has ended. Returns its value, or its text if it is no JSON."""
        end = time.monotonic() + self.patience
        while True:
            try:
                status, text = self._try(method, path, body)
                break
            except (OSError, http.client.HTTPException) as error:
                if not self.job.is_running:
                    return None
                if time.monotonic() > end:
                    what = f"not within {self.patience:.0f} s: an answer to {method} {path}: {error!r}"
                    raise process.HangError(what) from None
                time.sleep(0.05)
        if status not in allowed:
            raise AnswerError(f"{method} {path} {body or ''}: {status} {text[:200]}")
        return json.loads(text) if text[:1] in "{[" else text

    def _try(self, method, path, body):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = self.address.connect()
        headers = {"Authorization": f"Bearer {TOKEN}", "Connection": "close"}
        try:
            data = None if body is None else json.dumps(body)
            if data:
                headers["Content-Type"] = "application/json"
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def command(self, method, path, body=None, allowed=(200, 202)):
        self.job.log.add(f"{method} {path} {'' if body is None else json.dumps(body)}".rstrip())
        self.job.sent[f"{method} /{path.split('/')[1]}"] += 1
        return self.ask(method, path, body, allowed)


def most_clients():
    """Fewer if this process, and so the job, may open few files."""
    return max(8, min(200, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 160) // 4))


class Crowd:
    """Clients of one kind, on a thread of their own, until they are told to leave."""

    KINDS = ("byte a second", "never reads", "half-closed", "garbage", "silent", "resets", "listens", "floods")
    _HEAD = b"GET /status HTTP/1.1\r\nHost: localhost\r\n"

    def __init__(self, kind, address, count, generator):
        self.kind, self.address, self.count = kind, address, count
        self._random = random.Random(generator.random())
        self._leave = threading.Event()
        self._clients = []
        self._thread = threading.Thread(target=self._run, name=f"crowd: {kind}", daemon=True)
        self._thread.start()

    def _run(self):
        try:
            for _ in range(self.count):
                if self._leave.is_set():
                    break
                with suppress(OSError):
                    # A stopped process accepts nobody.
                    self._clients.append(self.address.connect(
                        seconds=2, receive_buffer=4096 if self.kind in ("never reads", "floods") else None))
                    self._begin(self._clients[-1])
            while not self._leave.wait(1):
                for client in self._clients:
                    with suppress(OSError):
                        self._go_on(client)
        finally:
            for client in self._clients:
                with suppress(OSError):
                    if self.kind == "resets":
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                    client.close()

    def _begin(self, client):
        client.setblocking(False)
        match self.kind:
            case "byte a second":
                client.send(self._HEAD + b"X-Slow: ")
            case "never reads":
                client.send((self._HEAD + b"\r\n").replace(b"/status", b"/events"))
            case "half-closed":
                client.send(self._HEAD + self._random.choice((b"", b"\r\n")))
                client.shutdown(socket.SHUT_WR)
            case "garbage":
                client.send(self._random.randbytes(self._random.randrange(1, 20_000)))
            case "resets" | "listens":
                path = self._random.choice((b"/events", b"/history", b"/metrics", b"/thumbnails", b"/openapi.json"))
                client.send((self._HEAD + b"\r\n").replace(b"/status", b"/events" if self.kind == "listens" else path))
            case "floods":
                client.send((self._HEAD + b"\r\n") * 200)

    def _go_on(self, client):
        match self.kind:
            case "byte a second":
                client.send(b"a")
            case "listens" | "garbage":
                while client.recv(65536):
                    pass
            case "floods":
                client.send((self._HEAD + b"\r\n") * 20)

    def leave(self):
        self._leave.set()
        self._thread.join()


class Listener:
    """Reads the events of a job on a thread of its own, and checks that each is one."""

    def __init__(self, address):
        self.problems = []
        self.events = 0
        self.last = None
        self._socket = None
        self._leaves = False
        self._thread = threading.Thread(target=self._run, args=(address,), name="listener", daemon=True)
        self._thread.start()

    def _run(self, address):
        connection = http.client.HTTPConnection("localhost")
        try:
            self._socket = connection.sock = address.connect()
            connection.sock.settimeout(1)
            connection.request("GET", "/events", headers={"Authorization": f"Bearer {TOKEN}"})
            # From here on the answer has the socket's file.
            answer = connection.getresponse()
            if answer.status == 200:
                self._read(answer)
        except (OSError, http.client.HTTPException):
            pass  # the job has ended, was killed or stopped, or the listener was told to leave
        finally:
            connection.close()

    def _read(self, answer):
        name = None
        for line in answer:
            if self._leaves:
                return
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                self.events += 1
                try:
                    data = json.loads(line[6:])
                except ValueError:
                    self.problems.append(f"an event of /events is no JSON: {line[:80]!r}")
                    return
                if name == "counters":
                    self.last = data

    def leave(self):
        self._leaves = True
        if self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()


def metrics_problem(text):
    """What is wrong with the text of /metrics; nil if nothing is."""
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        name, _, value = line.rpartition(" ")
        try:
            float(value)
        except ValueError:
            return f"a line of /metrics has no number: {line[:80]!r}"
        if not name.startswith(("thumbjob_", "process_")):
            return f"a line of /metrics has a foreign name: {line[:80]!r}"
    return None


def status_problems(status, highest_max, highest_backlog):
    """What is wrong with the answer to GET /status."""
    counters, problems = status["counters"], []
    ended = sum(counters[name] for name in ("made", "up_to_date", "failed", "cancelled", "passed_over"))
    # A source that has just ended may still be counted among those that run.
    if ended > counters["found"]:
        problems.append(f"/status counts more sources than it found: {counters}")
    if counters["running"] > highest_max or counters["peak_running"] > highest_max:
        problems.append(f"/status has more running than {highest_max}, the highest limit: {counters}")
    if counters["waiting"] > highest_backlog:
        problems.append(f"/status has more waiting than {highest_backlog}, the highest limit: {counters}")
    return problems
