"""A running thumbjob, started and used as by a user."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import requests
import urllib3

import program
from waiting import eventually

THUMBJOB = program.DEFAULT.absolute()

# Enlarging takes long in any build, so that a test can watch the job work.
SLOW = ("--size", "large=4000<")


class Job:
    def __init__(self, folder, *arguments, port=0, stdin=subprocess.DEVNULL):
        self.folder = Path(folder)
        self.thumbs = self.folder / "thumbs"
        command = [THUMBJOB, *arguments, "-o", self.thumbs, "--progress", "none", "--status",
                   f"127.0.0.1:{port}"]
        # A runtime folder without sockets of other jobs.
        environment = {**os.environ, "THUMBJOB_RUNTIME_DIR": str(self.folder / "thumbjob")}
        environment.pop("THUMBJOB_TOKEN", None)
        with open(self.folder / "stdout", "wb") as stdout, open(self.folder / "stderr", "wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment)
        self.link = eventually("the link to the page is printed", self._printed_link)
        self.url, self.token = self.link.split("/#token=")
        self.authorization = {"Authorization": f"Bearer {self.token}"}

    def _printed_link(self):
        assert self.process.poll() is None, f"thumbjob ended at once:\n{self.stderr}"
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
        """Sends a request without the token, on its own connection."""
        return requests.request(method, self.url + path, timeout=timeout, **options)

    def command(self, method, path, **options):
        """Sends a request with the token, which must succeed."""
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
        """Ends the process if it still runs."""
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(45)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class HeldJob(Job):
    """A job whose list of sources comes from a pipe, so that it does not end before the list does."""

    def __init__(self, folder, *arguments, **options):
        super().__init__(folder, "--files0-from", "-", *arguments, stdin=subprocess.PIPE, **options)

    def give(self, *sources):
        """Appends sources to the list; a few hundred at a time fit into the pipe."""
        self.process.stdin.write(b"".join(os.fsencode(source) + b"\0" for source in sources))
        self.process.stdin.flush()

    def end_list(self):
        self.process.stdin.close()

    def end(self):
        super().end()
        self.end_list()


def ended(counters):
    """The number of sources that have ended, with any outcome."""
    return sum(counters[name] for name in ("made", "up_to_date", "passed_over", "failed", "cancelled"))


class UnixSession(requests.Session):
    """Sends requests for http://localhost/PATH over a unix socket."""

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

        self.trust_env = False  # ignore proxies, which cannot reach this socket
        self.mount("http://", Adapter())
