"""Finds a short list of steps that still shows a fault: delta debugging."""

import time


def minimised(steps: list, shown, seconds: float) -> list:
    """Leaves out steps as long as the rest shows the fault.

    - parameter shown: is given some of the steps in their order, and the time at which it must give up. It returns
      those up to the one that shows the fault, or None.
    - parameter seconds: after which the shortest list so far is taken.
    """
    end = time.monotonic() + seconds
    parts = 2
    while len(steps) > 1 and time.monotonic() < end:
        size = max(1, len(steps) // parts)
        # The first steps matter least.
        for start in range(0, len(steps), size):
            rest = steps[:start] + steps[start + size :]
            if rest and time.monotonic() < end and (less := shown(rest, end)):
                steps, parts = less, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(steps), parts * 2)
    return steps
