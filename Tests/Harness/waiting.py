"""Waits for conditions."""

import time


class LateError(AssertionError):
    """Something that must happen did not happen within the limit."""


def until(condition, seconds, interval=0.02):
    """Waits until the condition returns a truthy value, and returns it; after the given time the last value."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(interval)
    return value


def eventually(what, condition, seconds=45, interval=0.02):
    """Waits until the condition returns a truthy value, and returns it. On a busy machine that may take long.

    - throws: LateError after the given time.
    """
    value = until(condition, seconds, interval)
    if not value:
        raise LateError(f"not within {seconds:g} s: {what}")
    return value
