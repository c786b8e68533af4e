"""What must hold when a process has ended."""

import signal
from dataclasses import dataclass, field

# The fields of the summary that say what became of the sources; together they are those found.
_OUTCOMES = ("made", "up_to_date", "failed", "cancelled", "passed_over", "not_read", "own_thumbnails", "duplicates")
# Up-to-date sources have no event.
_TOLD = tuple(name for name in _OUTCOMES if name != "up_to_date")
# What stops a job before all is done, in the words of `Process.sent`.
_STOPS = ("SIGUSR2", "SIGHUP", "SIGINT", "SIGTERM", "POST /cancel")
_CANCELS = ("DELETE /operations",)
_SIGNALS = {"SIGINT": 128 + signal.SIGINT, "SIGTERM": 128 + signal.SIGTERM}
# docs/memory.md: the peak is the budget plus a baseline of at most 60 MiB.
BASELINE = 60 << 20
# The files of a job without clients and operations, with room for a walk, and its clients' at two endpoints
# (docs/threat-model.md); and those of each operation.
OTHER_FILES, FILES_OF_OPERATION = 36 + 2 * 128, 7
# The threads besides those of operations. When the limit of operations rises, a job starts as many threads as it may
# need for a moment, to see whether it can; hence twice as many.
OTHER_THREADS, THREADS_OF_OPERATION = 2 * 12, 2
# The default budget, and more operations at once than the soak asks for.
DEFAULT_BUDGET = 1 << 30
MOST_MAX = 8


@dataclass
class End:
    """How a process has ended, and what may have caused it."""

    status: int
    sent: dict[str, int]
    ledger: object
    given: int | None = None  # how many sources it was given
    is_list: bool = False
    highest_max: int = 0
    highest_backlog: int = 0
    disk_was_full: bool = False
    was_stalled: bool = False  # a reader did not read while the process ended
    killed_for_memory: bool = False
    faults: list[str] = field(default_factory=list)

    def was_sent(self, *names):
        return any(self.sent.get(name) for name in names)


def problems(end):
    found = [f"it printed: {line}" for line in end.faults] + list(end.ledger.problems)
    summary = end.ledger.summary
    if summary is None:
        return found + _without_summary(end)
    found += _counts(end, summary)
    found += _limits(end, summary)
    found += _status(end, summary)
    return found


def _without_summary(end):
    allowed = set()
    if end.was_sent("SIGKILL") or end.killed_for_memory:
        allowed.add(-signal.SIGKILL)
    # The second INT or TERM ends a process at once.
    if sum(end.sent.get(name, 0) for name in _SIGNALS) > 1:
        allowed |= {status for name, status in _SIGNALS.items() if end.was_sent(name)}
    if end.disk_was_full:
        allowed.add(74)
    if end.was_stalled:
        allowed |= {74} | {status for name, status in _SIGNALS.items() if end.was_sent(name)}
    if end.status in allowed:
        return []
    how = signal.Signals(-end.status).name if end.status < 0 else f"exit status {end.status}"
    return [f"it ended without a summary, with {how}"]


def _counts(end, summary):
    found, total = [], summary["found"]
    counted = {name: summary[name] for name in _OUTCOMES}
    if sum(counted.values()) != total:
        found.append(f"the summary's counts add up to {sum(counted.values())}, and it found {total}: {counted}")
    for name in _TOLD:
        if end.ledger.outcomes[name] != summary[name] and not end.was_stalled:
            found.append(f"it told of {end.ledger.outcomes[name]} sources {name}, and the summary says {summary[name]}")
    if end.given is None:
        return found
    if total > end.given:
        found.append(f"it found {total} sources, and was given {end.given}")
    if not summary["work_remains"] and total != end.given:
        found.append(f"it says that no work remains, found {total} sources, and was given {end.given}")
    not_reached = summary.get("not_reached")
    if not_reached is not None and not end.is_list and total + not_reached != end.given:
        found.append(f"it found {total} sources and reached {not_reached} not, of {end.given}")
    return found


def _limits(end, summary):
    found = []
    for name, value, limit in (
        ("max", summary["max"], end.highest_max), ("backlog", summary["backlog"], end.highest_backlog),
        ("peak_running", summary["peak_running"], end.highest_max),
        ("peak_waiting", summary["peak_waiting"], end.highest_backlog),
    ):
        if limit and value > limit:
            found.append(f"the summary says {name} {value}, and the limit was never more than {limit}")
    most = summary["budget_bytes"] + BASELINE
    if summary["peak_memory_bytes"] > most:
        found.append(
            f"it held {summary['peak_memory_bytes'] >> 20} MiB, more than the budget and 60 MiB, {most >> 20} MiB")
    return found


def _status(end, summary):
    found = []
    remains = summary["work_remains"]
    full = end.disk_was_full and end.ledger.disk_faults > 0
    may_stop = end.was_sent(*_STOPS) or full or end.was_stalled
    by_pressure = end.ledger.pressure["critical"] > 0
    if remains and not (may_stop or end.was_sent(*_CANCELS) or by_pressure):
        found.append("it says that work remains, and nothing stopped or cancelled it")
    if end.ledger.disk_faults:
        allowed = {74}
    elif remains:
        allowed = {75}
    elif summary["missing"]:
        allowed = {66}
    else:
        allowed = {1 if summary["failed"] or summary["walk_problems"] else 0}
    signals = {status for name, status in _SIGNALS.items() if end.was_sent(name)}
    # A signal may arrive after the last source. Without one, or if it has stopped the job, it decides alone.
    if signals:
        others = full or by_pressure or end.was_sent(*_CANCELS, "SIGHUP", "SIGUSR2", "POST /cancel")
        allowed = signals if remains and not others else allowed | signals
    if end.was_stalled:
        allowed |= {74}
    if end.was_sent("SIGKILL") or end.killed_for_memory:
        allowed |= {-signal.SIGKILL}
    if end.status not in allowed:
        names = ", ".join(f"{name} {count}" for name, count in sorted(end.sent.items())) or "nothing"
        found.append(f"the exit status is {end.status} and should be one of {sorted(allowed)}; sent: {names}")
    elif end.status >= 0 and summary["exit_status"] != end.status and not end.was_stalled and not signals:
        found.append(f"the exit status is {end.status}, and the summary says {summary['exit_status']}")
    return found
