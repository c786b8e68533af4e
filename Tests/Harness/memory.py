"""What a process holds, as the kernel tells it: memory, open files, threads and children."""

import os
from dataclasses import dataclass

_PAGE = os.sysconf("SC_PAGESIZE")


@dataclass(frozen=True)
class State:
    name: str  # cut to 15 bytes by the kernel
    letter: str  # such as T if the process is stopped
    parent: int


def resident(pid):
    """The resident memory in bytes.

    - throws: OSError if the process is gone.
    """
    with open(f"/proc/{pid}/statm") as file:
        # That of a process that has just ended is empty.
        return int((file.read().split() or (0, 0))[1]) * _PAGE


def files(pid):
    """What the open files lead to. Those that are closed meanwhile are empty texts.

    - throws: OSError if the process is gone.
    """
    return [_target(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]


def file_count(pid):
    """The number of open files.

    - throws: OSError if the process is gone.
    """
    return len(os.listdir(f"/proc/{pid}/fd"))


def _target(link):
    try:
        return os.readlink(link)
    except OSError:
        return ""


def threads(pid):
    """The numbers of the threads, in order.

    - throws: OSError if the process is gone.
    """
    return sorted(map(int, os.listdir(f"/proc/{pid}/task")))


def status_field(pid, name, base=10):
    """A number from /proc/PID/status; 0 if the process is gone."""
    for line in text(f"/proc/{pid}/status").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1], base)
    return 0


def state(pid):
    """The state of a process, or None if it is gone."""
    # A name may have spaces and brackets.
    name, _, rest = text(f"/proc/{pid}/stat").partition("(")[2].rpartition(")")
    fields = rest.split()
    return State(name, fields[0], int(fields[1])) if fields else None


def children(pid):
    """The numbers of the processes that the first thread of a process has started."""
    return [int(word) for word in text(f"/proc/{pid}/task/{pid}/children").split()]


def everyone():
    """The numbers of all processes."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def text(path):
    """The contents of a file of the kernel, or an empty text if there are none."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
