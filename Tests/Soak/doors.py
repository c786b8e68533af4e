"""The doors through which memory pressure reaches a job, and disks that fill up.

Some need rights, and are left out where these are missing.
"""

import base64
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

_CLONE_NEWNS, _MS_REMOUNT, _MS_REC, _MS_PRIVATE, _MNT_DETACH = 0x20000, 0x20, 0x4000, 0x40000, 2
_libc = ctypes.CDLL(None, use_errno=True)


class NoDoor:
    """No pressure but that of the machine."""

    name = "none"

    def __init__(self):
        self.variables = {}  # of the job's environment

    def press(self, generator):
        """Reports pressure. Returns whether the job must notice."""
        return False

    def close(self):
        pass


def _variables(path, written):
    return {"MEMORY_PRESSURE_WATCH": str(path), "MEMORY_PRESSURE_WRITE": base64.b64encode(written).decode()}


class FIFODoor(NoDoor):
    """The service manager's protocol with a FIFO."""

    name = "FIFO"

    def __init__(self, folder):
        self._path = folder / "pressure.fifo"
        self._path.unlink(missing_ok=True)
        os.mkfifo(self._path)
        self._file = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        self.variables = {"MEMORY_PRESSURE_WATCH": str(self._path)}

    def press(self, generator):
        with suppress(BlockingIOError):
            os.write(self._file, b"!")
        return True

    def close(self):
        os.close(self._file)
        self._path.unlink()


class SocketDoor(NoDoor):
    """The service manager's protocol with a socket, which may close."""

    name = "socket"
    _WRITTEN = b"some 200000 2000000\0"

    def __init__(self, folder):
        self._path = folder / "pressure.sock"
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen(16)
        self._clients = []
        self.problem = None
        self.variables = _variables(self._path, self._WRITTEN)
        threading.Thread(target=self._accept, name="pressure socket", daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                client.settimeout(60)
                written = client.recv(64)
                if written not in (self._WRITTEN, b""):
                    self.problem = f"it wrote {written!r} to the socket of the service manager"
                self._clients.append(client)

    def press(self, generator):
        if not self._clients:
            return False
        with suppress(OSError):
            self._clients[-1].send(b"!")
            return True
        return False

    def lose(self):
        """Closes the other side: the signal is lost, and the job continues."""
        for client in self._clients:
            client.close()
        self._clients.clear()

    def close(self):
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.lose()
        self._path.unlink(missing_ok=True)


class StallDoor(NoDoor):
    """The service manager's protocol with the kernel's file of stalls. Nobody can press on purpose here."""

    name = "stall file"

    def __init__(self):
        self.variables = _variables("/proc/pressure/memory", b"some 150000 2000000\0")


class WrongDoor(NoDoor):
    """The service manager's variable names a file that never signals. The job says so and continues."""

    name = "wrong file"

    def __init__(self):
        self.variables = _variables("/etc/passwd", b"x")


class Hog:
    """A process that holds memory for a while. Where memory runs out, the kernel ends it first."""

    _CODE = ("import sys, time\n"
             "try:\n    open('/proc/self/oom_score_adj', 'w').write('1000')\nexcept OSError:\n    pass\n"
             "held = b'1' * int(sys.argv[1])\ntime.sleep(float(sys.argv[2]))\n")

    def __init__(self, prefix, size, seconds):
        self._process = subprocess.Popen(
            [*prefix, sys.executable, "-c", self._CODE, str(size), str(seconds)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        self._process.kill()
        self._process.wait()


class MemoryGroup(NoDoor):
    """A memory cgroup with a limit, in which a hog makes memory tight."""

    def __init__(self, limit):
        """- throws: OSError if no group can be made."""
        super().__init__()
        self.limit = limit
        self.version, folder = _own_memory_group()
        self.name = f"cgroup {self.version}"
        self._folder = folder / f"thumbjob-soak-{os.getpid()}-{time.monotonic_ns()}"
        self._folder.mkdir()
        self._hog = None
        try:
            name = "memory.limit_in_bytes" if self.version == 1 else "memory.max"
            (self._folder / name).write_text(str(limit))
        except OSError:
            self.close()
            raise

    @property
    def prefix(self):
        """The beginning of a command that runs in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', self._folder / "cgroup.procs"]

    def press(self, generator):
        if self._hog:
            self._hog.end()
        # With what the job holds this is a warning, or critical, or more than there is.
        self._hog = Hog(self.prefix, int(self.limit * generator.uniform(0.6, 0.9)), 3)
        return False

    @property
    def kills(self):
        """How many processes of the group the kernel has ended for memory."""
        names = {1: "memory.oom_control", 2: "memory.events"}
        with suppress(OSError):
            for line in (self._folder / names[self.version]).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def close(self):
        if self._hog:
            self._hog.end()
        for _ in range(100):
            with suppress(OSError):
                self._folder.rmdir()
                return
            for pid in (self._folder / "cgroup.procs").read_text().split():
                with suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)


def _own_memory_group():
    """The version and folder of the memory cgroup of this process.

    - throws: OSError if there is none.
    """
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in lines:
        if "memory" in controllers.split(","):
            return 1, Path("/sys/fs/cgroup/memory") / path.lstrip("/")
    for number, _, path in lines:
        if number == "0":
            folder = Path("/sys/fs/cgroup") / path.lstrip("/")
            # A group with processes gives its children no controllers, so the new group is beside this one.
            parent = folder if folder == Path("/sys/fs/cgroup") else folder.parent
            if "memory" in (parent / "cgroup.subtree_control").read_text().split():
                return 2, parent
    raise OSError("no memory cgroup in which others can be made")


def group_problem():
    """Why no memory cgroup can be made; nil if one can."""
    try:
        group = MemoryGroup(256 << 20)
        try:
            joined = subprocess.run([*group.prefix, "true"], stderr=subprocess.DEVNULL, timeout=60, check=False)
            return "no process may join a new memory cgroup" if joined.returncode else None
        finally:
            group.close()
    except OSError as error:
        return f"no memory cgroup can be made: {error.strerror or error}"


def mount_problem():
    """Gives this process a view of its own on the mounted file systems, so that none outlives it.

    Call it before any thread starts. Returns why nothing can be mounted; nil if it can.
    """
    if _libc.unshare(_CLONE_NEWNS) != 0 or _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return f"no file system can be mounted: {os.strerror(ctypes.get_errno())}"
    return None


class SmallDisk:
    """A file system in memory that fills up until it is given room."""

    def __init__(self, folder, size):
        folder.mkdir()
        self._folder = folder
        try:
            self._mount(0, size)
        except OSError:
            folder.rmdir()
            raise

    def _mount(self, flags, size):
        if _libc.mount(b"tmpfs", os.fsencode(self._folder), b"tmpfs", flags, f"size={size}".encode()) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(self._folder))

    def give_room(self, size):
        self._mount(_MS_REMOUNT, size)

    def close(self):
        _libc.umount2(os.fsencode(self._folder), _MNT_DETACH)
        self._folder.rmdir()
