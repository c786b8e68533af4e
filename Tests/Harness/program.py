"""The program that the harnesses run, and what it must not inherit from whoever starts them."""

import os
import signal
from pathlib import Path

# The program: $THUMBJOB, or the debug build.
DEFAULT = Path(os.environ.get("THUMBJOB", ".build/debug/thumbjob"))


def environment(runtime, **variables):
    """An environment with these variables, and without those that would change what a job does.

    - parameter runtime: the folder of the sockets. It should have none of other jobs.
    """
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_PRESSURE_", "THUMBJOB_"))}
    return {**inherited, "THUMBJOB_RUNTIME_DIR": str(runtime), **variables}


def heed_signals():
    """Undoes that signals are ignored, as they are under nohup and in the background of a script."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
