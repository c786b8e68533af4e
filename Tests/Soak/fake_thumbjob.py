"""fake_thumbjob.py LIES …: a program that does what the soak asks of thumbjob, and one thing wrong, to test that it is
found.

It makes one thumbnail after the other. The undisturbed runs, which have no status endpoint, are without lies.
"""

import json
import os
import select
import shutil
import signal
import socket
import stat
import sys
import threading
import time
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path

SIGNALS = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
LIES = set() if "off" in sys.argv else set(sys.argv[1].split(","))
WORDS = sys.argv[2:]
RUNTIME = Path(os.environ["THUMBJOB_RUNTIME_DIR"])
RUN_FOLDER = Path(".thumbjob/run-1")
MOST_CLIENTS = 20


def option(name, otherwise=None):
    return WORDS[WORDS.index(name) + 1] if name in WORDS else otherwise


def say(text):
    os.write(2, f"thumbjob: {text}\n".encode())


def write(**event):
    os.write(1, json.dumps(event).encode() + b"\n")


class Job:
    def __init__(self):
        self.outcomes, self.found = Counter(), 0
        self.max, self.backlog = int(option("--max")), int(option("--backlog", 4 * int(option("--max"))))
        self.runs = threading.Event()
        self.runs.set()
        self.is_making = False
        self.stop = None  # the exit status of the first cause
        self.leaks = []
        self.files = threading.Lock()  # held while a thumbnail is written, so that the files go in between
        self.socket = None  # the path
        recipe = WORDS[0] if WORDS[0].endswith(".yml") else None
        self.outputs = [Path("thumbs/small"), Path("thumbs/web")] if recipe else [Path("thumbs")]
        self.settings = recipe or option("--size")
        self.run_folders = [output / RUN_FOLDER for output in self.outputs]
        self.folder = "album" if recipe and "album" in Path(recipe).read_text() else "sources" if recipe else WORDS[0]

    def sources(self):
        if "--files0-from" not in WORDS:
            for path in sorted(path for path in Path(self.folder).rglob("*") if path.is_file()):
                yield str(path), path.relative_to(self.folder)
            return
        rest = b""
        while part := os.read(0, 65536):
            *paths, rest = (rest + part).split(b"\0")
            for path in paths:
                yield path.decode(), Path(path.decode())

    def run(self):
        for folder in self.run_folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / "2.tmp").touch()
        for path, place in self.sources():
            # First, so that a pause never finds it idle when it is about to begin.
            self.is_making = "goes-on-when-paused" not in LIES
            while self.is_making and not self.runs.is_set():
                self.is_making = False
                self.runs.wait()
                self.is_making = True
            if self.stop:
                break
            self.found += 1
            with self.files:
                self.make(path, place)
            self.is_making = False
        if "never-ends" in LIES and self.stop:
            signal.pause()
        self.clean_up()
        return self.end()

    def clean_up(self):
        if "leaves-a-file" not in LIES:
            for folder in self.run_folders:
                shutil.rmtree(folder, ignore_errors=True)

    def close(self):
        if self.socket and "leaves-a-socket" not in LIES:
            self.socket.unlink(missing_ok=True)

    def make(self, path, place):
        source = Path(path)
        places = [output / place for output in self.outputs]
        if "--force" not in WORDS and all(place.exists() for place in places):
            self.outcomes["up_to_date"] += 1
            return
        contents, thumbnails = source.read_bytes(), []
        outcome = "failed" if contents == b"bad" else "made"
        lies_now = self.found % 20 == 19
        for output, place in zip(self.outputs, places, strict=True) if outcome == "made" else []:
            damage = b"damaged" if lies_now and "damages" in LIES else b""
            place.parent.mkdir(parents=True, exist_ok=True)
            unfinished = output / RUN_FOLDER / "1.tmp"
            unfinished.write_bytes(b"%d %s" % (zlib.crc32(contents), self.settings.encode()) + damage)
            unfinished.rename(place)
            thumbnails.append({"path": str(place)})
        if "leaks-files" in LIES and lies_now:
            self.leaks.append(os.open("/dev/null", os.O_RDONLY))
        if "leaks-memory" in LIES:
            self.leaks.append(b"x" * (4 << 20))
        if "leaks-threads" in LIES:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        if lies_now and "crashes" in LIES:
            os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(0.001)
        self.outcomes[outcome] += 1
        if not (lies_now and "forgets-one" in LIES):
            write(event="source", source=path, outcome=outcome, thumbnails=thumbnails)

    def end(self):
        remains = self.stop is not None
        status = self.stop if remains else 1 if self.outcomes["failed"] else 0
        names = ("made", "up_to_date", "failed", "cancelled", "passed_over", "not_read", "own_thumbnails", "duplicates")
        counts = {name: self.outcomes[name] for name in names}
        if "miscounts" in LIES:
            counts["made"] += 1
        write(event="summary", found=self.found, **counts, missing=0, walk_problems=0, max=self.max,
              backlog=self.backlog, peak_running=1, peak_waiting=0, budget_bytes=64 << 20, peak_memory_bytes=1,
              requeued=0, work_remains=remains, exit_status=status)
        return 0 if "exits-with-0" in LIES else status

    def handle(self, number):
        if number == signal.SIGUSR1:
            if "does-not-list" not in LIES:
                running = self.max + 1 if "lists-too-many" in LIES else 1
                operations = "".join(f"\n  #{n} thumbnail a.jpg → 1x1: running" for n in range(running))
                counts = f"{self.found} found · 0 made · 0 up to date · 0 failed · 0 cancelled"
                say(f"{running} of {self.max} running{operations}\nthumbjob: 0 of {self.backlog} waiting\n"
                    f"thumbjob: {counts}\nthumbjob: 1 s so far · at most 1 running, 0 waiting")
            return
        statuses = {signal.SIGTERM: 143, signal.SIGINT: 130}
        if number in statuses and self.stop in statuses.values() and "never-ends" not in LIES:
            with self.files:
                self.clean_up()
                self.close()
                os._exit(self.stop)
        if self.stop is None or number in statuses:
            self.stop = statuses.get(number, 75)
        self.runs.set()

    def answer(self, method, path, body):
        """Returns a status and a value."""
        if (method, path) == ("POST", "/pause"):
            self.runs.clear()
        elif (method, path) == ("POST", "/resume"):
            self.runs.set()
        elif (method, path) == ("POST", "/cancel"):
            self.handle(signal.SIGUSR2)
            return 202, {}
        elif method == "PATCH":
            change = json.loads(body)
            self.max = max(self.max, change.get("max", 0))
            self.backlog = max(self.backlog, change.get("backlog", 0))
        elif path == "/metrics":
            return 200, "thumbjob_sources 1\n"
        counters = {name: self.outcomes[name] for name in ("made", "up_to_date", "failed", "cancelled", "passed_over")}
        others = dict.fromkeys(("waiting", "waiting_for_memory", "peak_running"), 0) | {"running": int(self.is_making)}
        return 200, {"counters": {"found": self.found, **counters, **others}, "running": [], "waiting": [],
                     "pressure": {"level": "normal"}}


class Server:
    """Answers on the private socket. A client that is one too many replaces the oldest."""

    def __init__(self, job):
        RUNTIME.mkdir(exist_ok=True)
        for path in RUNTIME.glob("*.sock"):
            if not Path(f"/proc/{path.stem}").exists():
                path.unlink()
        self.job, self.path = job, RUNTIME / f"{os.getpid()}.sock"
        self.socket = socket.socket(socket.AF_UNIX)
        beside = self.path.with_suffix(".new")
        self.socket.bind(str(beside))
        self.socket.listen(100)
        beside.rename(self.path)
        self.clients = {}  # what each has sent
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            ready, _, _ = select.select([self.socket, *self.clients], [], [])
            for client in ready:
                if client is self.socket:
                    self.clients[self.socket.accept()[0]] = b""
                    if len(self.clients) > MOST_CLIENTS:
                        self.drop(next(iter(self.clients)))
                elif client in self.clients:
                    self.read(client)

    def read(self, client):
        data = b""
        with suppress(OSError):
            data = client.recv(65536)
        self.clients[client] += data
        head, end, body = self.clients[client].partition(b"\r\n\r\n")
        if end and len(body) >= sum(int(line[15:]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"):
            with suppress(OSError, ValueError):
                method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
                status, value = self.job.answer(method, path.split("?")[0], body)
                text = value if isinstance(value, str) else json.dumps(value)
                client.settimeout(1)
                client.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
            self.drop(client)
        elif not data:
            self.drop(client)

    def drop(self, client):
        del self.clients[client]
        client.close()


def watch_pressure():
    path = os.environ.get("MEMORY_PRESSURE_WATCH", "/")
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return
    with open(path, "r+b", buffering=0) as file:
        while file.read(1):
            for level in ("critical", "normal"):
                write(event="pressure", level=level)


def wait_for_signals(job):
    while True:
        job.handle(signal.sigwait(SIGNALS))


def main():
    if WORDS[0] in ("status", "resume", "cancel"):
        if WORDS[0] == "cancel":
            os.kill(int(WORDS[1]), signal.SIGUSR2)
        return 0
    job = Job()
    if option("--status") == "off":
        return job.run()
    job.socket = Server(job).path
    say("status at http://127.0.0.1:1/")
    for body, arguments in ((wait_for_signals, (job,)), (watch_pressure, ())):
        threading.Thread(target=body, args=arguments, daemon=True).start()
    status = job.run()
    job.close()
    return status


status = main()
sys.stdout.flush()
os._exit(status)
