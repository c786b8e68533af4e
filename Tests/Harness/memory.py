"""What a process holds, as the system tells it. Of a process that is gone it tells 0."""

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid):
    """The resident memory, in bytes."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def open_files(pid):
    return _entries(f"/proc/{pid}/fd")


def threads(pid):
    return _entries(f"/proc/{pid}/task")


def status_field(pid, name, base=10):
    """A number from /proc/PID/status."""
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1], base)
    except OSError:
        pass
    return 0


def _entries(folder):
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0
