"""A server that is attacked, and what it holds."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import memory
import program
import runs
from serve_answers import AnswerError
from waiting import HangError, eventually

KEY = b"key of the attack"
# What the servers may do. Two of them run: one for anyone, and one with a key and a cache.
MOST_BYTES, MOST_PIXELS, BUDGET, HOLD = 1 << 20, 16_000_000, 192 << 20, 60
LIMITS = ("--max", "2", "--memory", str(BUDGET), "--limit-bytes", str(MOST_BYTES), "--limit-pixels", str(MOST_PIXELS),
          "--hold", f"{HOLD}s", "--spool-size", "16M", "--pressure-source", "off")
# How long to wait for an answer, for one that does not need a picture, and for one that need not come.
PATIENCE, HEALTH_PATIENCE, SHORT_PATIENCE = HOLD + 10, 20, 2
# How many files a server may have open at the end, beyond those at its start: pipes of helper processes.
MORE_FILES = 16
# How much more memory a server may hold at the end than at its start: caches, and what the allocator keeps.
MORE_MEMORY = 48 << 20


class Server:
    def __init__(self, thumbjob, folder, is_locked):
        self.folder, self.spool = folder, folder / "spool"
        self.spool.mkdir(parents=True)
        more = {"THUMBJOB_KEY": KEY.decode()} if is_locked else {}
        environment = program.environment(folder / "runtime", TMPDIR=str(folder), **more)
        command = [thumbjob, "serve", "127.0.0.1:0", *LIMITS, "--spool", self.spool, "--json", "--connections", "300",
                   *(("--cache", "4M") if is_locked else ())]
        with open(folder / "stdout", "wb") as stdout, open(folder / "stderr", "wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment)
        try:
            self.address = ("127.0.0.1", eventually("the address is printed", self._port))
        except BaseException:
            self.kill()
            raise
        self.files, self.resident = memory.open_files(self.process.pid), memory.resident(self.process.pid)
        self.most_memory = 0

    @property
    def stderr(self):
        return (self.folder / "stderr").read_text(errors="replace")

    def _port(self):
        if self.process.poll() is not None:
            sys.exit(f"thumbjob serve ended at once:\n{self.stderr}")
        found = re.search(r"previews at http://127\.0\.0\.1:(\d+)\n", self.stderr)
        return found and int(found[1])

    def ask(self, path):
        """An answer of the status endpoint."""
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.folder / "runtime" / f"{self.process.pid}.sock"))
        connection.request("GET", path)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def health(self):
        """The seconds that /health takes."""
        start = time.monotonic()
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 200:
            raise AnswerError(f"/health answers {answer.status}")
        return time.monotonic() - start

    def rest(self):
        """What is left when all clients are gone. Returns what is wrong."""
        with suppress(HangError):
            eventually("nothing is left", lambda: not self._left(), 30)
        problems = self._left()
        try:
            self.health()
        except (OSError, ValueError, http.client.HTTPException) as error:
            problems.append(f"it is not healthy: {error!r}")
        self.most_memory = memory.status_field(self.process.pid, "VmHWM") << 10
        now = memory.resident(self.process.pid)
        for held, bound in ((self.most_memory, BUDGET + runs.TOLERANCE), (now, MORE_MEMORY)):
            if held > self.resident + bound:
                more = held - self.resident
                problems.append(f"it held {more >> 20} MiB more than at the start, and not at most {bound >> 20}")
        return problems

    def _left(self):
        if self.process.poll() is not None:
            return [f"it has ended with {self.process.returncode}: {self.stderr[-500:]}"]
        operations = self.ask("/operations?state=waiting,running")["operations"]
        links = []
        for link in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(OSError):  # it is closed meanwhile
                links.append(os.readlink(link))
        spooled = [link for link in links if link.startswith(str(self.spool))] + list(self.spool.iterdir())
        count = memory.open_files(self.process.pid)
        problems = []
        if operations:
            problems.append(f"operations are left: {operations[:3]}")
        if spooled:
            problems.append(f"pictures are left: {spooled[:3]}")
        if count > self.files + MORE_FILES:
            problems.append(f"{count} files are open, and were {self.files} at the start")
        return problems

    def end(self):
        """Ends it. Returns what is wrong."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(HOLD + 10)
        except subprocess.TimeoutExpired:
            self.kill()
            return ["TERM did not end it"]
        problems = [] if status == 143 else [f"TERM ended it with {status}, and should with 143: {self.stderr[-500:]}"]
        for line in (self.folder / "stdout").read_bytes().splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                problems.append(f"it printed a line that is no JSON: {line[:80]!r}")
                continue
            if event.get("status") == 500 or KEY in line:
                problems.append(f"it logged {line[:200]!r}")
        return problems[:20]

    def kill(self):
        self.process.kill()
        self.process.wait()
