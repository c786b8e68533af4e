"""A running `thumbjob watch`, with the socket on which it tells a service manager its state."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path


class Watched:
    def __init__(self, program: str, work: Path, *options: str):
        self.photos, self.thumbnails, self.log = work / "photos", work / "thumbs", work / "log"
        self.photos.mkdir(exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(work / "notify"))
        self.socket.settimeout(60)
        environment = dict(os.environ, NOTIFY_SOCKET=str(work / "notify"))
        command = [program, "watch", str(self.photos), "--out", str(self.thumbnails), *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=log)
        while self.socket.recv(4096) != b"READY=1":
            pass

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
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])

    @property
    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop_for(self, work):
        """Holds the process while `work` runs, so that the kernel's queue of events overflows."""
        self.process.send_signal(signal.SIGSTOP)
        while Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)
        work()
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> int:
        """Ends it as systemd does; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.socket.close()
        return status
