"""faults.py: lets each system call of a job fail once, changes the files while it runs, and checks what thumbjob does.

The rules: no crash, no hang, a documented exit status that fits, a message with the cause, no half thumbnail, nothing
left behind, sources untouched; and the next run makes everything. A call that is interrupted or transfers less than it
was asked to, and a clock that jumps, change nothing. Exits with status 1 if a run breaks a rule, or if the document
says otherwise.
"""

import argparse
import os
import queue
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import changes
import judge
import places
import plan
import preload
import program
import scenes
import table
import workplace

# How long a run may take. Undisturbed it takes a fraction of a second.
LIMIT = 30
# How many runs take place at a time. A run mostly waits for its threads to start.
AT_ONCE = 2 + (os.cpu_count() or 1)
# The job that changes are tried with.
CHANGED_SCENE = "new"
# Calls that are made at another number, or not at all, in some runs: by threads that look from time to time.
_IRREGULAR = (places.OF_KERNEL, "the clock", "the time since the machine started", "sockets and events")


@dataclass
class Report:
    fault: object  # or the change
    row: table.Row
    problems: list
    is_reached: bool

    def __str__(self):
        return f"{self.fault}\n" + "\n".join(f"    {problem}" for problem in self.problems)


class Faults:
    def __init__(self, work, thumbjob, library, limit=LIMIT):
        self._places = queue.SimpleQueue()
        for number in range(AT_ONCE):
            # Names of equal length, so that paths in the settings have the same length, too.
            self._places.put(workplace.Workplace(work / f"{number:03}", thumbjob, library, limit))

    def _with_place(self, body):
        place = self._places.get()
        try:
            return body(place)
        finally:
            self._places.put(place)

    def reference(self, scene):
        """The undisturbed run, and one after it."""
        def body(place):
            place.prepare(scene)
            before = place.files()
            result = place.run(scene)
            return judge.Reference(before, result, place.run(scene))
        reference = self._with_place(body)
        if not reference.result.log.calls:
            raise RuntimeError("the library that disturbs calls was not loaded")
        if reference.result.status != scene.status:
            result = reference.result
            raise RuntimeError(f"the undisturbed run of {scene.name} ends with {result.status}: {result.errors}")
        return reference

    def try_fault(self, scene, reference, fault):
        def body(place):
            # Other threads may have made a call in another order, so that the fault was not reached: then once more.
            for _ in range(3):
                place.prepare(scene)
                result = place.run(scene, fault.rules)
                if result.log.disturbed:
                    break
            problems = judge.problems(scene, reference, fault, result)
            left = [*judge.leftovers(result.tree), *result.rest]
            if not result.is_late and (left or not judge.is_complete(reference, result)):
                problems += judge.problems_of_next(reference, fault, place.run(scene))
            is_reached = bool(result.log.disturbed)
            # How many threads Dispatch starts depends on how busy the machine is.
            is_certain = fault.place not in _IRREGULAR and fault.call != "pthread_create"
            if not is_reached and is_certain:
                problems.append("the fault was not reached in three runs")
            row = table.row(
                fault.place, fault.call, fault.kind, judge.ending(reference, fault, result),
                judge.shown_status(reference, result), judge.left_in_words(left))
            return Report(fault, row, problems, is_reached)
        return self._with_place(body)

    def try_change(self, scene, reference, change):
        def body(place):
            changed = changes.changed_reference(place, scene, change)
            place.prepare(scene)
            result = place.run(scene, [change.rule], change)
            after = place.run(scene)
            problems = changes.problems(change, reference, changed, result, after)
            row = table.Row(
                "a photo" if change.is_of_source else "the folder .thumbjob" if "/" in change.path else
                "the output folder", change.what, "", changes.ending(change, reference, result, after),
                str(result.status), judge.left_in_words(judge.leftovers(result.tree)))
            return Report(change, row, problems, bool(result.log.disturbed))
        return self._with_place(body)


def tried(faults, chosen, is_sample):
    """Tries the faults and changes of the chosen scenes. Yields a report for each."""
    already = set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for scene in chosen:
                reference = faults.reference(scene)
                log = reference.result.log
                all_of_scene = plan.faults_of(scene, log)
                picked = plan.sample(all_of_scene, already) if is_sample else all_of_scene
                jobs = [(faults.try_fault, fault) for fault in picked]
                if scene.name == CHANGED_SCENE:
                    jobs += [(faults.try_change, change) for change in changes.changes_of(scene, log, is_sample)]
                yield from pool.map(_tried, [(*job, scene, reference) for job in jobs])
        finally:
            pool.shutdown(cancel_futures=True)


def _tried(job):
    body, what, scene, reference = job
    return body(scene, reference, what)


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbjob", type=Path, default=program.DEFAULT,
                        help="the program to disturb (default: $THUMBJOB, or the debug build)")
    parser.add_argument("--compiler", default="cc", help="the C compiler (default: cc)")
    parser.add_argument("--sample", action="store_true", help="try one fault of each kind only")
    parser.add_argument("--scene", action="append", choices=[scene.name for scene in scenes.SCENES],
                        help="only this job; repeatable")
    parser.add_argument("--write", type=Path, help="write the tables into this document")
    parser.add_argument("--check", type=Path, help="fail if this document says otherwise")
    parser.add_argument("--verbose", action="store_true", help="print each fault with how its run ended")
    return parser.parse_args(arguments)


def stop(*_):
    sys.exit("stopped")


def main(arguments):
    options = parsed(arguments)
    thumbjob = options.thumbjob.absolute()
    if not thumbjob.exists():
        sys.exit(f"{thumbjob} does not exist; build it, or name another with --thumbjob")
    signal.signal(signal.SIGTERM, stop)
    chosen = [scene for scene in scenes.SCENES if not options.scene or scene.name in options.scene]
    start = time.monotonic()
    reports = []
    with tempfile.TemporaryDirectory(prefix="thumbjob-faults-") as work:
        library = preload.build(options.compiler, Path(work))
        for report in tried(Faults(Path(work), thumbjob, library), chosen, options.sample):
            reports.append(report)
            if options.verbose:
                print(f"{report.row.status}\t{report.row.ending}\t{report.fault}", flush=True)
            if report.problems:
                print(report, flush=True)
    rows = [report.row for report in reports if isinstance(report.fault, plan.Fault) and report.is_reached]
    changed = [report.row for report in reports if isinstance(report.fault, changes.Change) and report.is_reached]
    found = sum(bool(report.problems) for report in reports)
    if options.write:
        document = options.write.read_text()
        options.write.write_text(table.quoted(document, table.text(chosen, rows, changed)))
    if options.check:
        false = table.differences(options.check.read_text(), rows, changed)
        print("".join(f"{line}\n" for line in false), end="")
        found += len(false)
    print(f"{len(reports)} faults; findings: {found or 'none'}, after {time.monotonic() - start:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
