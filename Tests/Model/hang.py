"""Processes that do not end: where they hang, and how the model goes on all the same."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

# The seconds for a process to answer USR1, and for a killed one to be gone.
_ANSWER, _GONE = 2, 10
# The seconds for a debugger, if there is one.
_DEBUGGER = 60


class StuckError(Exception):
    """A step of the model itself did not end."""


@contextlib.contextmanager
def bounded(seconds: float):
    """Ends what is done inside with StuckError after a time, also while it waits for the system."""

    def stop(number, frame):
        raise StuckError(f"it did not end within {seconds:g} s")

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def finish(process: subprocess.Popen, seconds: float) -> tuple[bytes, bytes, str | None]:
    """Waits for the end of a process, and ends it after a time.

    Returns its output, its errors, and where it was if it had to be ended.
    """
    with contextlib.suppress(subprocess.TimeoutExpired):
        return *_streams(process, seconds), None
    where = f"it did not end within {seconds:.0f} s"
    if process.poll() is None:
        where += f"; {places(process.pid)}"
        # Prints what it works on, and all counts, to its errors.
        process.send_signal(signal.SIGUSR1)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_ANSWER)
        process.kill()
    else:
        where += ", and it is gone: another process has its streams"
    try:
        return *_streams(process, _GONE), where
    except subprocess.TimeoutExpired as error:
        return error.stdout or b"", error.stderr or b"", f"{where}; killed, it is not gone after {_GONE} s"


def _streams(process, seconds) -> tuple[bytes, bytes]:
    out, errors = process.communicate(timeout=seconds)
    return out or b"", errors or b""


def places(pid: int) -> str:
    """Where the threads of a process are: their names, system calls, functions of the kernel and of the program."""
    lines = []
    for thread in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda path: int(path.name)):
        words = [_read(thread / name) for name in ("comm", "wchan", "syscall")]
        lines.append(f"thread {thread.name} {words[0]}: in {words[1]}, call {words[2].split(' ')[0]}")
        lines += [f"    {line}" for line in _read(thread / "stack").splitlines()]
    for child in _read(Path(f"/proc/{pid}/task/{pid}/children")).split():
        lines.append(f"child {child} {_read(Path(f'/proc/{child}/comm'))}: in {_read(Path(f'/proc/{child}/wchan'))}")
    if shutil.which("gdb"):
        command = ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all backtrace 14"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            text = subprocess.run(command, capture_output=True, timeout=_DEBUGGER, check=False).stdout
            lines += [line for line in os.fsdecode(text).splitlines() if line.startswith(("Thread ", "#"))]
    return "it is here:\n" + "\n".join(lines)


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
