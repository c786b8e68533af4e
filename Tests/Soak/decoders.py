"""The decoder processes of a thumbjob process."""

import os
import signal

# What thumbjob holds open for each: a socket, a pipe, and the file with its size.
FILES = 3
# In the words of `Process.sent`.
KILLED = "killed decoders"
# The kernel cuts names to 15 bytes.
_NAME = "thumbjob-decode"


def of(pid):
    """The numbers of the decoder processes of a process."""
    return [number for number in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _is_decoder(number, pid)]


def _is_decoder(number, parent):
    try:
        with open(f"/proc/{number}/stat") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return False
    return name == _NAME and int(rest.split()[1]) == parent


def kill_one(pid, generator):
    """Kills a decoder process of a process, if there is one. Returns whether it did."""
    numbers = of(pid)
    if not numbers:
        return False
    number = generator.choice(numbers)
    try:
        handle = os.pidfd_open(number)
    except OSError:
        return False
    try:
        # The process may have ended before, and another one have its number.
        if not _is_decoder(number, pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
