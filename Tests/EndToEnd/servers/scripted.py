"""An HTTP server that follows a script for each path: honest, slow, hostile. Scripts send raw bytes."""

import contextlib
from collections import Counter
from dataclasses import dataclass

from servers.listening import Server, reset

PIECE = 8 << 10


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    # Names in lower case.
    headers: dict

    @classmethod
    def parsed(cls, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        fields = (line.split(":", 1) for line in lines if ":" in line)
        return cls(method, target, {name.strip().lower(): value.strip() for name, value in fields})


class Exchange:
    """A request and the connection on which a script answers it."""

    def __init__(self, server, connection, request, number):
        self.server, self.connection, self.request = server, connection, request
        # How many requests there have been for this path, this one included.
        self.number = number
        # Whether the connection serves another request after this one.
        self.goes_on = False

    def send(self, data):
        """Sends all of it, and counts what the client's side took."""
        data = memoryview(data)
        while data:
            sent = self.connection.send(data[:PIECE])
            data = data[sent:]
            with self.server.changed:
                self.server.sent[self.request.target] += sent
                self.server.changed.notify_all()

    def head(self, status="200 OK", **fields):
        """Sends the head of an answer. A field's name has _ for -."""
        lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items())]
        self.connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def answer(self, body=b"", status="200 OK", **fields):
        """Answers completely, after which the connection may be used again."""
        self.head(status, Content_Length=len(body), **fields)
        self.send(body)
        self.goes_on = True

    def wait_until_left(self):
        """Says nothing until the client closes the connection, or the server is closed."""
        while self.connection.recv(4096):
            pass

    def reset(self):
        reset(self.connection)


class ScriptedServer(Server):
    """Answers a path by its script, a function of an `Exchange`. The script of None answers all other paths."""

    def __init__(self, scripts, listener=None):
        self.scripts = scripts if isinstance(scripts, dict) else {None: scripts}
        self.requests = []
        # The bytes of bodies that were sent, by path.
        self.sent = Counter()
        self.in_flight = 0
        self.most_in_flight = 0
        super().__init__(listener)

    def requests_for(self, target):
        return [request for request in self.requests if request.target == target]

    def handle(self, connection):
        received = b""
        while True:
            while b"\r\n\r\n" not in received:
                part = connection.recv(65536)
                if not part:
                    return
                received += part
            head, received = received.split(b"\r\n\r\n", 1)
            if not self._answer(connection, Request.parsed(head)):
                return

    def _answer(self, connection, request):
        with self.changed:
            self.requests.append(request)
            exchange = Exchange(self, connection, request, len(self.requests_for(request.target)))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self.changed.notify_all()
        try:
            script = self.scripts.get(request.target) or self.scripts.get(None) or not_found
            with contextlib.suppress(OSError):
                script(exchange)
        finally:
            with self.changed:
                self.in_flight -= 1
                self.changed.notify_all()
        return exchange.goes_on


def not_found(exchange):
    exchange.answer(status="404 Not Found")
