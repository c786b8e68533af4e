"""The world of the model: the scratch folder, and what each step does there."""

import json
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import buckets
import outs
import pruning
import told
import watching
from case import Case
from disks import Disks
from history import Memory
from marks import Sources
from pool import Reference
from tree import below, snapshot, state

import checks
import files
from runs import JOINS, Program, Result, Spec, finish, path_text

_TOPS = (*files.ROOTS, *files.AWAY, "disks", *outs.OUTS)
# The bytes of the small disk: enough for all thumbnails and a ledger.
_ROOM = 1 << 20
# In every so many runs, the report is read; with a fresh folder, a run beside it.
_REPORT_EVERY, _FRESH_EVERY = 3, 6


class World:
    def __init__(self, program: Path, may_mount: bool, pool: Reference | None = None, has_buckets=False):
        self.base = Path(tempfile.mkdtemp(prefix="thumbjob-model-"))
        self.root = self.base / "w"
        self.root.mkdir()
        self.program = Program(program, self.base / "run")
        self.bucket = buckets.Bucket(self.base / "s3") if has_buckets else None
        if self.bucket:
            self.program.environment.update(self.bucket.variables)
        self.pool = pool or Reference(self.program.run, self.base / "pool")
        self.figures = Counter()
        for name in (*files.ROOTS, *outs.OUTS, "fresh"):
            (self.root / name).mkdir()
        self.memories = {out: Memory() for out in outs.OUTS}
        self.known = Sources()
        self.disks = Disks(self.root, outs.SMALL, _ROOM) if may_mount else None
        self.last = None  # the last result, for a look at it
        self.is_told = False  # whether to print each step, and what a run says

    def close(self):
        self.program.end_all()
        if self.bucket:
            self.bucket.close()
        if self.disks:
            self.disks.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def snapshot(self):
        return snapshot(self.root, _TOPS)

    def said(self) -> str:
        """What the last run said that was judged."""
        if not self.last:
            return ""
        command = " ".join(map(str, self.last.command))
        return f"{command}\nended with {self.last.status}, and said:\n{self.last.errors[-3000:]}"

    def apply(self, step: dict) -> list[str]:
        """Carries out a step. Returns what is wrong afterwards."""
        self.figures["steps"] += 1
        if self.is_told:
            print("STEP", json.dumps(step), flush=True)
        if step["do"] in files.KINDS:
            files.apply(self.root, step, self.pool.all, self.disks)
        elif step["do"] in outs.KINDS:
            outs.apply(self, step)
        else:
            return getattr(self, f"_{step['do']}")(step)
        return []

    def prepare(self, spec: Spec):
        """Join files of another job would be in the way."""
        for _, name in JOINS.values():
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for output in spec.outputs:
            self.memories[output.out].sizes.update(output.size_folders())
            self.memories[output.out].trees.add((spec.root, output.name))

    def _run(self, step):
        spec = Spec.read(step["spec"])
        self.prepare(spec)
        before = self.snapshot()
        result = self.program.run(spec, self.root)
        self.figures["runs"] += 1
        return self._judge(spec, [result], before)

    def _judge(self, spec, results, before) -> list[str]:
        """What is wrong after a run that was not disturbed."""
        self.last = results[-1]
        if self.is_told:
            for result in results:
                print(" ".join(map(str, result.command)), "->", result.status, result.errors)
        found = [problem for result in results for problem in result.problems()]
        is_quiet = all(result.is_quiet for result in results)
        for out in spec.outs:
            memory = self.memories[out]
            for result in results:
                memory.learn(result)
        after = self.snapshot()
        case = self._case(spec, results, before, after)
        if not is_quiet:
            self.figures["unquiet"] += 1
            found += checks.untouched(case) + checks.kept(case)
            self.disturbed(spec, results)
            return found
        self.figures["quiet"] += 1
        if not self._is_ledger_lost(spec, results):
            found += checks.problems(case)
            found += self._joins(case, results)
            if not found and self.figures["quiet"] % _REPORT_EVERY == 0:
                found += self._report(case)
            if not found and (spec.follows or self.figures["quiet"] % _FRESH_EVERY == 0):
                found += self._fresh(case)
        else:
            found += checks.untouched(case) + checks.current(case) + checks.kept(case)
        self._remember(case)
        return found

    def _case(self, spec, results, before, after) -> Case:
        return Case(self.root, spec, results, before, after, self.memories, self.pool, self.known, (files.MOUNT,))

    def _is_ledger_lost(self, spec, results) -> bool:
        """Whether the run has said that it remembers nothing, or not all: justified where the ledger was damaged."""
        is_damaged = any(self.memories[out].is_damaged for out in spec.outs)
        is_full = any("ledger" in result.errors and "disk is full" in result.errors for result in results)
        return is_damaged or (is_full and outs.SMALL in spec.outs)

    def _remember(self, case: checks.Case):
        """What the ledger has now for certain."""
        spec, first = case.spec, self.memories[case.spec.outs[0]]
        is_refused = bool(pruning.refused(case))
        after = case.thumbnails(case.after)
        places = {case.source_of(ours) for path, ours in after.items() if path.startswith(f"{spec.outs[0]}/")}
        for out in spec.outs:
            self.memories[out].kills = 0
            self.memories[out].ever.update(case.sources)
        if first.is_damaged:
            return
        for source in case.sources:
            event = case.events.get(source)
            if (event is None or event["outcome"] == "made") and source in places:
                first.known.add(source)
        is_forced = spec.prune == "force" and not is_refused
        for out in spec.outs if is_forced else ():
            self.memories[out].replaced(self.root, spec.sources, case.mounts, not self.memories[out].is_damaged)
        first.saw(self.root, spec.sources, case.mounts, True, is_forced, len(case.results) > 1)
        if spec.prune and "nothing" not in pruning.extents(case):
            # It forgets what is gone, also where it leaves a thumbnail in a place of another job.
            for out in spec.outs:
                self._forget_gone(self.memories[out], spec)
        for out in spec.outs:
            memory = self.memories[out]
            owners = {case.source_of(ours) for path, ours in after.items() if path.startswith(f"{out}/")}
            if spec.outs == [out]:
                memory.known &= owners

    def disturbed(self, spec, results, is_watch=False):
        """After a run that was stopped, or others beside it, less is certain. A watch forgets what it has seen go."""
        for out in spec.outs:
            memory = self.memories[out]
            for result in results:
                memory.learn(result)
            there = snapshot(self.root, spec.sources)
            memory.ever.update(path for path, found in there.items() if found.kind in ("file", "link"))
            if spec.prune == "force":
                memory.replaced(self.root, spec.sources, (files.MOUNT,), False)
            memory.saw(self.root, spec.sources, (files.MOUNT,), False, spec.prune == "force")
            if is_watch or spec.prune or "--force" in spec.flags:
                self._forget_gone(memory, spec)

    def _forget_gone(self, memory, spec):
        gone = {path for path in memory.known if state(self.root, path, spec.follows) != "there"}
        memory.known -= {path for path in gone if any(below(path, folder) for folder in spec.sources)}

    def _report(self, case) -> list[str]:
        out = case.spec.outs[0]
        result = self.program.report(out, self.root)
        if result.status != 0:
            return [f"report: it ended with {result.status}: {result.errors}"]
        lines = [dict(event, source=os.path.normpath(path_text(event["source"]))) for event in result.events]
        return told.reported(case, lines)

    def _joins(self, case, results) -> list[str]:
        found = []
        for join in case.spec.joins:
            path = self.root / JOINS[join][1]
            if not path.exists():
                found.append(f"joins: there is no {JOINS[join][1]}")
            elif join == "manifest" and not case.spec.follows:
                found += told.listed(case, json.loads(path.read_text(errors="surrogateescape")), ".")
        left = [name for name in os.listdir(self.root) if name.startswith(".thumbjob")]
        return found + [f"leftover: {name}" for name in left]

    def _fresh(self, case) -> list[str]:
        """A run into an empty folder beside it must make the same thumbnails."""
        from dataclasses import replace

        fresh = self.root / "fresh"
        for name in os.listdir(fresh):
            shutil.rmtree(fresh / name)
        outputs = tuple(replace(output, out=f"fresh/{output.out}") for output in case.spec.outputs)
        flags = tuple(flag for flag in case.spec.flags if flag in ("--follow", "--hidden"))
        result = self.program.run(Spec(case.spec.sources, outputs, None, flags, (), 2), self.root)
        self.figures["fresh"] += 1
        return result.problems() + told.like_fresh(case, result, snapshot(self.root, ("fresh",)))

    def _kill(self, step):
        spec, number = Spec.read(step["spec"]), getattr(signal, f"SIG{step['signal']}")
        self.prepare(spec)
        before = self.snapshot()
        result = self.program.killed(spec, self.root, number, step["delay"])
        self.figures["kills"] += 1
        if self.is_told:
            print(result.status, result.errors)
        return self._judge_disturbed(spec, [spec], [result], before, (number,))

    def _judge_disturbed(self, spec, specs, results, before, signalled=()):
        found = [problem for result in results for problem in result.problems(signalled)]
        for one, result in zip(specs, results, strict=True):
            for out in one.outs:
                self.memories[out].kills += 1
            self.disturbed(one, [result])
        after = self.snapshot()
        case = self._case(spec, results, before, after)
        return found + [line for line in checks.untouched(case) if not _is_temporary(line)]

    def _pair(self, step):
        specs = [Spec.read(record) for record in step["specs"]]
        for spec in specs:
            self.prepare(spec)
        before = self.snapshot()
        running = [self.program.start_job(spec, self.root, file=f"job-{index}.yml") for index, spec in enumerate(specs)]
        results = [finish(process) for process in running]
        self.figures["pairs"] += 1
        return self._judge_disturbed(specs[0], specs, results, before)

    def _shards(self, step):
        spec, count = Spec.read(step["spec"]), step["count"]
        self.prepare(spec)
        before = self.snapshot()
        results: list[Result] = []
        running = []
        for index in range(count):
            process = self.program.start_job(spec, self.root, "--shard", f"{index}/{count}", file=f"job-{index}.yml")
            if step["is_together"]:
                running.append(process)
            else:
                results.append(finish(process))
        results += [finish(process) for process in running]
        self.figures["shards"] += 1
        return self._judge(spec, results, before)

    def _busy(self, step):
        """Files change during a run: whatever it makes of them, the next run must see it."""
        spec = Spec.read(step["spec"])
        self.prepare(spec)
        process = self.program.start_job(spec, self.root)
        for change in step["steps"]:
            time.sleep(0.02)
            files.apply(self.root, change, self.pool.all, self.disks)
        result = finish(process)
        self.figures["busy"] += 1
        self.disturbed(spec, [result])
        return result.problems()

    def _bucket(self, step):
        return buckets.run(self, step) if self.bucket else []

    def _watch(self, step):
        return watching.watch(self, step)


def _is_temporary(line: str) -> bool:
    """A process that was killed may leave files, which the next run removes."""
    return ".thumbjob-" in line
