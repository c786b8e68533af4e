"""A running `thumbjob watch`, with the socket on which it tells a service manager its state."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import memory


class EndedError(Exception):
    """It ended before it was ready, with this exit status."""


class Watched:
    def __init__(self, program: str, work: Path, *options: str, out="thumbs", environment=None, stdout=None):
        """- parameter out: the output folder, in the folder `work`."""
        self.photos, self.thumbnails, self.log = work / "photos", work / out, work / "log"
        self.photos.mkdir(exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(work / "notify"))
        self.socket.settimeout(0.2)
        environment = dict(environment or os.environ, NOTIFY_SOCKET=str(work / "notify"))
        command = [program, "watch", str(self.photos), "--out", str(self.thumbnails), *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=log)
        self._wait_until_ready(60)

    def _wait_until_ready(self, seconds: float):
        end = time.monotonic() + seconds
        while True:
            try:
                if self.socket.recv(4096) == b"READY=1":
                    return
            except TimeoutError:
                if self.process.poll() is not None:
                    raise EndedError(self.process.returncode) from None
            if time.monotonic() > end:
                self._hangs(f"it was not ready within {seconds:.0f} s")

    def _hangs(self, what: str):
        """Ends the process, and raises TimeoutError."""
        self.process.kill()
        raise TimeoutError(what)

    def drain(self):
        """Reads what was sent meanwhile, so that the socket is never full."""
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(4096)
        except BlockingIOError:
            pass

    @property
    def memory(self) -> int:
        """Resident memory in KiB."""
        return memory.resident(self.process.pid) >> 10

    @property
    def descriptors(self) -> int:
        return memory.open_files(self.process.pid)

    def stop_for(self, work):
        """Holds the process while `work` runs, so that the kernel's queue of events overflows."""
        self.process.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)
        work()
        self.process.send_signal(signal.SIGCONT)

    def end(self, number=signal.SIGTERM) -> int:
        """Ends it with a signal, as systemd does with TERM; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self._hangs(f"it did not end within 60 s after {signal.Signals(number).name}")
        finally:
            self.socket.close()
