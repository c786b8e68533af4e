"""Disks of the model: small file systems in memory, in a mount namespace of its own that ends with the process."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

_BIND, _REC, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
# Tells the process that it is the one in the namespace.
_INSIDE = "THUMBJOB_MODEL_INSIDE"

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> str | None:
    """Runs the program again in a mount namespace of its own; returns, there, why nothing can be mounted, or None."""
    if _INSIDE not in os.environ:
        os.environ[_INSIDE] = "1"
        for options in (("-m",), ("-Urm",)):
            probe = ["unshare", *options, "sh", "-c", "mount -t tmpfs none /mnt"]
            try:
                if subprocess.run(probe, check=False, stderr=subprocess.DEVNULL).returncode == 0:
                    os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
            except FileNotFoundError:
                break
        os.environ[_INSIDE] = "no mount namespace"
    inside = os.environ[_INSIDE]
    return None if inside == "1" else inside


def _mount(source, target, kind, flags, data=""):
    arguments = [os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode()]
    if _libc.mount(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))


class Disks:
    """Two disks that come and go at one mount point, and a small one for an output folder."""

    def __init__(self, root: Path, small: str, room: int):
        """- parameter room: the bytes of the small one."""
        self.root, self._small = root, root / small
        self._held = []
        for number in (1, 2):
            self._new(root / f"disks/{number}", 1 << 20)
        self._new(self._small, room)

    def _new(self, folder: Path, room: int):
        folder.mkdir(parents=True, exist_ok=True)
        _mount("none", folder, "tmpfs", 0, f"size={room}")
        self._held.append(folder)

    def put(self, number: int, at: str):
        """Mounts a disk. Another one that is there is unmounted first."""
        point = self.root / at
        if not point.is_dir() or point.is_symlink():
            return
        if os.path.ismount(point):
            self.take(at)
        _mount(self.root / f"disks/{number}", point, "", _BIND)

    def take(self, at: str):
        """Unmounts what is mounted at a folder."""
        point = self.root / at
        if os.path.ismount(point) and _libc.umount2(os.fsencode(point), _DETACH) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(point))

    def close(self):
        """Unmounts everything below the scratch folder."""
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            points = [line.split()[1] for line in file]
        for point in sorted((point for point in points if point.startswith(f"{self.root}/")), reverse=True):
            _libc.umount2(os.fsencode(point.encode().decode("unicode_escape")), _DETACH)
