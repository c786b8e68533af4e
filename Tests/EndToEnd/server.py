"""A running `thumbjob serve`, started and used as by its clients."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import requests

import program
from job import THUMBJOB, UnixSession
from waiting import eventually


class Server:
    """A server of previews on a port of its own, with its private status socket."""

    def __init__(self, folder, *arguments, address="127.0.0.1:0", launcher=(), **variables):
        self.folder = Path(folder)
        environment = program.environment(self.folder / "runtime", TMPDIR=str(self.folder), **variables)
        with open(self.folder / "stdout", "wb") as stdout, open(self.folder / "stderr", "wb") as stderr:
            self.process = subprocess.Popen(
                [*launcher, THUMBJOB, "serve", *([address] if address else []), *arguments],
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment, pass_fds=())
        self.url = eventually("the address is printed", self._printed_address)
        self.status_session = UnixSession(self.folder / "runtime" / f"{self.process.pid}.sock")

    def _printed_address(self):
        assert self.process.poll() is None, f"thumbjob ended at once:\n{self.stderr}"
        found = re.search(r"previews at (http://\S+|unix:\S+)\n", self.stderr)
        return found and found[1]

    @property
    def stderr(self):
        return (self.folder / "stderr").read_text()

    @property
    def stdout(self):
        return (self.folder / "stdout").read_text()

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def post(self, target, body, timeout=60, **options):
        return requests.post(self.url + target, data=body, timeout=timeout, **options)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=45)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def exchange(self, request):
        """Sends bytes on a connection of their own, and returns all that comes back until the server closes it."""
        with self.connect() as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return read_all(connection)

    def status(self):
        return self.status_session.get("http://localhost/status").json()

    def operations(self, states="waiting,running"):
        return self.status_session.get(f"http://localhost/operations?state={states}").json()["operations"]

    def steer(self, command):
        answer = self.status_session.post(f"http://localhost/{command}")
        assert answer.ok, answer.text

    def signal(self, number):
        os.kill(self.process.pid, number)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGINT)
                try:
                    self.process.wait(10)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()


def read_all(connection):
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def read_head(connection):
    """The head of an answer, with whatever came of its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            break
        received += piece
    return received


def status_code(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None
