"""A running thumbjob, started as a user starts it and asked as a user asks it."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import requests
import urllib3

THUMBJOB = Path(os.environ.get("THUMBJOB", ".build/debug/thumbjob")).absolute()


# Enlarging takes a while in any build: long enough that a job can be watched at its work.
SLOW = ("--size", "large=4000<")


def eventually(what, condition, seconds=45):
    """Waits until the condition is truthy and returns what it gave; on a busy machine that may be long."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Job:
    def __init__(self, folder, *arguments):
        self.folder = Path(folder)
        self.thumbs = self.folder / "thumbs"
        command = [THUMBJOB, *arguments, "-o", self.thumbs, "--progress", "none", "--status", "127.0.0.1:0"]
        # The private socket goes where no other run of this user has one.
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        environment.pop("THUMBJOB_TOKEN", None)
        with open(self.folder / "stdout", "wb") as stdout, open(self.folder / "stderr", "wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment)
        self.link = eventually("the link to the page is printed", self._printed_link)
        self.url, self.token = self.link.split("/#token=")
        self.authorization = {"Authorization": f"Bearer {self.token}"}

    def _printed_link(self):
        assert self.process.poll() is None, f"thumbjob has ended at once:\n{self.stderr}"
        found = re.search(r"status at (http://127\.0\.0\.1:\d+/#token=\w+)\n", self.stderr)
        return found and found[1]

    @property
    def stdout(self):
        return (self.folder / "stdout").read_text()

    @property
    def stderr(self):
        return (self.folder / "stderr").read_text()

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    @property
    def socket_path(self):
        return self.folder / "thumbjob" / f"{self.process.pid}.sock"

    @property
    def is_running(self):
        return self.process.poll() is None

    def ask(self, method, path, timeout=45, **options):
        """A request with nothing added to it: no token, no connection kept."""
        return requests.request(method, self.url + path, timeout=timeout, **options)

    def command(self, method, path, **options):
        """A request with the token, which must be granted."""
        answer = self.ask(method, path, headers=self.authorization, **options)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def status(self):
        return self.ask("GET", "/status").json()

    def counters(self):
        return self.status()["counters"]

    def exit_status(self, seconds=60):
        return self.process.wait(seconds)

    def end(self):
        """Whatever became of it, leaves nothing running."""
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(45)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def settled(counters):
    """How many sources are done with, one way or another."""
    return sum(counters[name] for name in ("made", "up_to_date", "passed_over", "failed", "cancelled"))


class UnixSession(requests.Session):
    """Asks over a unix socket: http://localhost/PATH."""

    def __init__(self, path):
        super().__init__()

        class Connection(urllib3.connection.HTTPConnection):
            def connect(self):
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(10)
                self.sock.connect(str(path))

        class Pool(urllib3.connectionpool.HTTPConnectionPool):
            ConnectionCls = Connection

        class Adapter(requests.adapters.HTTPAdapter):
            pool = Pool("localhost")

            def get_connection_with_tls_context(self, *_, **__):
                return self.pool

        self.trust_env = False  # a proxy knows nothing of this socket
        self.mount("http://", Adapter())
