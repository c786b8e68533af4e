#!/usr/bin/env python3
"""model.py: changes photos, output folders and ledgers at random, runs thumbjob in every way, and compares what is
there with what should be there.

It prints a line for each broken rule, with the seed and the step, and then the shortest list of steps that it can
find which breaks the rule again, in a file for --replay. The same seed gives the same steps; when a signal comes, the
machine decides.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import disks
import hang
from jobs import JobChooser
from minimise import minimised
from outs import OutChooser
from pool import Reference
from world import World

import program
from files import Chooser
from runs import Program

# The seconds after which a step is stuck: more than all the programs take that it may end because they hang.
_STEP = 400
# More steps than this are not printed, but for the last ones.
_SHOWN = 60
# One step in so many is a job, or a change of an output folder.
_JOBS, _OUTS = 0.16, 0.10


class Steps:
    """Chooses all steps."""

    def __init__(self, seed: int, world: World, focus: int):
        self.random = random.Random(seed)
        self.files = Chooser(world.root, self.random, world.pool.all, world.disks is not None, focus)
        self.outs = OutChooser(self.random, world.disks is not None)
        self.jobs = JobChooser(world.root, self.random, focus, world.bucket is not None)

    def next(self) -> dict:
        dice = self.random.random()
        if dice < _JOBS:
            return self.jobs.choose(lambda count: [self.files.choose(is_watched=True) for _ in range(count)])
        return self.outs.choose() if dice < _JOBS + _OUTS else self.files.choose()


def applied(world: World, step: dict) -> list[str]:
    """Carries out a step. Returns what is wrong afterwards, also if the model itself does not get through."""
    try:
        with hang.bounded(_STEP):
            return world.apply(step)
    except hang.StuckError as error:
        calls = traceback.extract_tb(error.__traceback__)
        where = " > ".join(f"{Path(call.filename).name}:{call.lineno} {call.name}" for call in calls)
        return [f"stuck: {json.dumps(step)}: {error}: {where}"]


@dataclass
class Outcome:
    """How far a list of steps got."""

    index: int  # of the first step after which something is wrong; the length of the list if nothing is
    found: list[str]  # what is wrong
    said: str = ""  # what the last run said


def replay(arguments, may_mount: bool, pool: Reference, steps: list[dict], until=None) -> Outcome:
    """Repeats steps in a new folder."""
    world = World(arguments.program, may_mount, pool, arguments.buckets)
    world.is_told = arguments.verbose and until is None
    try:
        for index, step in enumerate(steps):
            if until and time.monotonic() > until:
                break
            if found := applied(world, step):
                return Outcome(index, found, world.said())
    finally:
        world.close()
    return Outcome(len(steps), [])


def explain(arguments, may_mount, pool, steps, outcome: Outcome):
    """Prints what is wrong, and keeps the steps, and the shortest list of them that shows it."""
    rule = outcome.found[0].split(":")[0]
    arguments.keep.mkdir(parents=True, exist_ok=True)
    path = arguments.keep / f"seed-{arguments.seed}-step-{len(steps)}.json"
    path.write_text(json.dumps(steps, indent=1))
    for line in outcome.found:
        print(f"VIOLATION seed {arguments.seed}, step {len(steps)}: {line}")
    print(f"{outcome.said}\nall {len(steps)} steps: {path}", flush=True)
    # Each try of what hangs would take a minute.
    seconds = 0 if rule in ("hang", "stuck") else arguments.minimise

    def shown(some, until):
        again = replay(arguments, may_mount, pool, some, until)
        return some[: again.index + 1] if any(line.split(":")[0] == rule for line in again.found) else None

    least = minimised(steps, shown, seconds)
    if len(least) == len(steps):
        return
    path = path.with_suffix(".least.json")
    path.write_text(json.dumps(least, indent=1))
    print(f"the {len(least)} of {len(steps)} steps that show it, for --replay: {path}", flush=True)
    for step in least[-_SHOWN:]:
        print(f"  {json.dumps(step)}")


def explore(arguments, may_mount, pool) -> int:
    world = World(arguments.program, may_mount, pool, arguments.buckets)
    steps, done = Steps(arguments.seed, world, arguments.focus), []
    start, violations = time.monotonic(), 0
    try:
        while len(done) < arguments.steps:
            if arguments.seconds and time.monotonic() - start > arguments.seconds:
                break
            step = steps.next()
            done.append(step)
            if found := applied(world, step):
                explain(arguments, may_mount, pool, done, Outcome(len(done) - 1, found, world.said()))
                violations += 1
                break
    finally:
        took = time.monotonic() - start
        figures = ", ".join(f"{count} {name}" for name, count in sorted(world.figures.items()) if name != "steps")
        how = f"{len(done)} steps in {took:.0f} s ({figures}): {violations} violations"
        print(f"seed {arguments.seed}: {how}", flush=True)
        world.close()
    return violations


def main() -> int:
    program.heed_signals()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=program.DEFAULT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seconds", type=float, help="end the steps after this time")
    parser.add_argument("--replay", type=Path, help="repeat the steps of a file")
    parser.add_argument("--keep", type=Path, default=Path(".build/model"), help="the folder for lists of steps")
    parser.add_argument("--minimise", type=float, default=120, help="the seconds for finding a shorter list of steps")
    parser.add_argument("--buckets", action="store_true", help="thumbnails go into buckets, too; needs moto")
    parser.add_argument("--focus", type=int, default=1,
                        help="source folders and disks come and go, and jobs remove, so many times as often")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    obstacle = disks.enter()
    if obstacle:
        print(f"no disks come and go, and none is full: {obstacle}")
    arguments.program = arguments.program.absolute()
    base = Path(os.environ.get("TMPDIR", "/tmp")) / f"thumbjob-model-pool-{os.getpid()}"
    base.mkdir()
    try:
        pool = Reference(Program(arguments.program, base / "run").run, base / "pool")
        if arguments.replay:
            steps = json.loads(arguments.replay.read_text())
            outcome = replay(arguments, not obstacle, pool, steps)
            if outcome.found:
                explain(arguments, not obstacle, pool, steps[: outcome.index + 1], outcome)
            return 1 if outcome.found else 0
        return 1 if explore(arguments, not obstacle, pool) else 0
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
