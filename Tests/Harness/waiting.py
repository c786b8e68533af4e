"""Waiting for what must happen."""

import time


class HangError(Exception):
    """Something that must happen did not happen within the limit."""


def eventually(what, condition, seconds=45):
    """Waits until the condition returns a truthy value, and returns it. On a busy machine that may take long.

    - raises HangError: after the seconds. It says `what` was to happen.
    """
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise HangError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.02)
