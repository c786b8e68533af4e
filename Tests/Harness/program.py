"""thumbjob as every harness starts it: which program, in which environment, and how it is ended."""

import os
import subprocess
from pathlib import Path

# The program that is tested.
PATH = Path(os.environ.get("THUMBJOB", ".build/debug/thumbjob"))


def environment(runtime, **changes):
    """The environment of a run, with a runtime folder of its own, in which no sockets of other jobs are.

    Variables by which the caller's environment would steer thumbjob are left out.
    """
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("MEMORY_PRESSURE_", "THUMBJOB_"))}
    return {**inherited, "THUMBJOB_RUNTIME_DIR": str(runtime), **changes}


def start(command, environment, folder=None, stdin=subprocess.DEVNULL, **streams):
    """Starts a command. A stream that is not given is a pipe; standard input is empty."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=stdin, **streams)


def run(command, environment, folder=None, seconds=60, text=True, **options):
    """Runs a command to its end, without standard input unless `input` is given.

    - throws: TimeoutExpired, and ends the command, if it takes longer than `seconds`.
    """
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, env=environment, timeout=seconds, text=text, capture_output=True, check=False, **options)


def end(process):
    """Kills a process if it still runs, and waits until it is gone."""
    if process.poll() is None:
        process.kill()
    process.wait()
