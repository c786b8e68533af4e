"""soak.py: runs thumbjob for a long time at full load, and disturbs it at random.

One process lives as long as the soak and is given sources all the time; beside it, chains of short-lived processes are
ended in every way and started again over the same output. Signals, cancellations, pauses, changes of limits, memory
pressure through every door, slow clients and readers that do not read disturb all of them. The accounts must add up,
every thumbnail must be that of an undisturbed run, memory, open files and threads must stay flat, and no temporary file
may be left. Exits with status 1 if anything is wrong.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import doors
import program
from chains import Chains
from chart import chart
from longrun import LongRun
from setting import Setting
from sources import Pictures, SourcesError

_MEBIBYTE = 1 << 20


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbjob", type=Path, default=program.DEFAULT,
                        help="the program to run (default: $THUMBJOB, or the debug build)")
    parser.add_argument("--make-images", type=Path, default=".build/debug/make-images",
                        help="the program that makes the sources (default: %(default)s)")
    parser.add_argument("--seed", default="1", help="any text; another one disturbs otherwise (default: 1)")
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--keep", type=Path, default=".build/soak",
                        help="a folder for samples, chart, and the logs of runs that went wrong (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=300,
                        help="seconds after which what must happen counts as hung (default: 300)")
    return parser.parse_args(arguments)


def stop(*_):
    sys.exit("stopped")


def shown(count):
    return f"{count:,}".replace(",", " ")


class Minutes:
    """Prints a line every minute, on a thread of its own."""

    def __init__(self, setting):
        self._setting = setting
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="minutes", daemon=True)
        self._thread.start()

    def _run(self):
        minute = 0
        while not self._has_ended.wait(self._setting.start + (minute + 1) * 60 - time.monotonic()):
            minute += 1
            print(f"minute {minute}: {self._line()}", flush=True)

    def _line(self):
        setting, totals = self._setting, self._setting.totals
        running = list(setting.running.values())
        made = totals.made + sum(job.ledger.outcomes["made"] for job in running)
        sent = sum(totals.sent.values()) + sum(sum(job.sent.values()) for job in running)
        parts = [f"{shown(totals.runs)} runs", f"{shown(made)} sources made", f"{shown(sent)} disturbances"]
        for track in setting.sampler.tracks:
            if track.is_long and track.samples:
                last = track.samples[-1]
                parts.append(f"the long-lived process has {last.rss / _MEBIBYTE:.0f} MiB, {last.files} files, "
                             f"{last.threads} threads")
        return " · ".join([*parts, f"violations: {len(setting.violations) or 'none'}"])

    def end(self):
        self._has_ended.set()
        self._thread.join()


def table(setting):
    """The figures, a line each."""
    totals, tracks = setting.totals, setting.sampler.tracks
    signals = {name: count for name, count in totals.sent.items() if name.startswith("SIG")}
    others = {name: count for name, count in totals.sent.items() if name not in signals}

    def listed(counts):
        return ", ".join(f"{name} {shown(count)}" for name, count in sorted(counts.items())) or "none"

    def peak(what, unit=1):
        by_kind = [(track.is_long, track.peak(what)) for track in tracks]
        long = max((value for is_long, value in by_kind if is_long), default=0)
        short = max((value for is_long, value in by_kind if not is_long), default=0)
        return f"{long / unit:.0f} of the long-lived process, {short / unit:.0f} of the others"

    return [
        ("minutes", f"{(time.monotonic() - setting.start) / 60:.1f}"), ("seed", setting.seed),
        ("runs", shown(totals.runs)), ("how they ended", listed(totals.endings)),
        ("sources made", shown(totals.made)), ("found up to date", shown(totals.up_to_date)),
        ("cancelled", shown(totals.cancelled)), ("requeued for memory", shown(totals.requeued)),
        ("signals", listed(signals)), ("requests and disturbances", listed(others)),
        ("changes of memory pressure", listed(totals.pressure)),
        ("peak memory, MiB", peak("rss", _MEBIBYTE)), ("peak open files", peak("files")),
        ("peak threads", peak("threads")), ("violations", str(len(setting.violations) or "none")),
    ]


def keep(setting, rows):
    """Stores figures, samples and chart."""
    setting.keep.mkdir(parents=True, exist_ok=True)
    processes = [
        {"name": track.name, "pid": track.pid, "long_lived": track.is_long,
         **{kind: [[each.seconds, each.rss, each.files, each.threads] for each in samples]
            for kind, samples in (("samples", track.samples), ("rests", track.rests))}}
        for track in setting.sampler.tracks]
    figures = {"figures": dict(rows), "violations": setting.violations, "skipped": setting.skipped,
               "columns": ["seconds", "rss_bytes", "files", "threads"], "processes": processes}
    (setting.keep / "soak.json").write_text(json.dumps(figures) + "\n")
    duration = time.monotonic() - setting.start
    title = f"thumbjob under disturbance for {duration / 60:.1f} minutes, seed {setting.seed}"
    (setting.keep / "soak.svg").write_text(chart(title, setting.sampler.tracks, duration))


def run(options, folder, skipped):
    """Runs the soak in a folder. Returns the exit status."""
    setting = Setting(options, folder)
    setting.skipped |= skipped
    try:
        pictures = Pictures(options.make_images.absolute(), folder)
        pictures.learn(setting.thumbjob, setting.environment)
        for what, reason in setting.skipped.items():
            # A line that scripts/parts.sh counts.
            print(f"SKIPPED [1] soak.py {what}: {reason}", flush=True)
        setting.begin()
        minutes = Minutes(setting)
        long_run = LongRun(setting, pictures)
        try:
            Chains(setting, pictures, sources_of_chain(options.minutes)).run()
        except BaseException:
            setting.stop()
            raise
        finally:
            long_run.thread.join()
            minutes.end()
        rows = table(setting)
        keep(setting, rows)
        for name, value in rows:
            print(f"{name + ':':28}{value}")
        print(f"samples and chart: {options.keep / 'soak.json'}, {options.keep / 'soak.svg'}")
        return 1 if setting.violations else 0
    except SourcesError as error:
        print(error)
        return 1
    finally:
        setting.close()


def sources_of_chain(minutes):
    """How many sources a chain has at most: in a short soak few, so that it has several chains."""
    return round(min(3000, 150 + 50 * minutes))


def skips():
    """What this user or machine does not permit. Call it before any thread starts."""
    problems = {"full disk": doors.mount_problem(), "group": doors.group_problem()}
    return {what: reason for what, reason in problems.items() if reason}


def main(arguments):
    options = parsed(arguments)
    for path in (options.thumbjob, options.make_images):
        if not path.exists():
            sys.exit(f"{path} does not exist; build it, or name another one")
    program.heed_signals()
    skipped = skips()
    shutil.rmtree(options.keep, ignore_errors=True)
    options.keep = options.keep.absolute()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        before = signal.signal(signal.SIGTERM, stop)
        try:
            return run(options, Path(folder), skipped)
        finally:
            signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
