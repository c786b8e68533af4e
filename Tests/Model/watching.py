"""A step of the model in which a watch runs while files change."""

import contextlib
import json
import signal
import sys
import time
from pathlib import Path

import hang
import outs
from case import Case

import checks
import files
from runs import HUNG, Result, Spec

sys.path.append(str(Path(__file__).resolve().parent.parent / "Watch"))
from watched import EndedError, Watched

# The seconds within which a watch must have followed all changes.
_SETTLED = 8
_OPTIONS = ("--json", "--status", "off", "--pressure-source", "off", "--memory", "64M")


class _Watch(Watched):
    """One that tells where it hangs."""

    def _hangs(self, what: str):
        where = hang.places(self.process.pid)
        try:
            super()._hangs(what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; {where}") from None


def watch(world, step) -> list[str]:
    """Lets a watch follow storms of changes, and ends it. Returns what is wrong."""
    if not (world.root / "photos").is_dir():
        return []
    spec = Spec.read(step["spec"])
    world.prepare(spec)
    notify, log = world.root / "notify", world.root / "log"
    notify.unlink(missing_ok=True)
    try:
        return _followed(world, spec, step)
    except TimeoutError as error:
        result = Result([], HUNG, f"{error}\nit had said {log.read_text(errors='replace')[-3000:]}")
        world.disturbed(spec, [result], is_watch=True)
        return result.problems()
    except EndedError as error:
        # Such as on a full disk.
        result = Result([], error.args[0], log.read_text(errors="replace"))
        world.disturbed(spec, [result], is_watch=True)
        return result.problems()
    finally:
        notify.unlink(missing_ok=True)


def _followed(world, spec, step) -> list[str]:
    before = world.snapshot()
    options = spec.arguments(world.root)[3:]
    with (world.base / "events").open("w") as events:
        watched = _Watch(str(world.program.path), world.root, *options, *_OPTIONS, out=spec.outputs[0].out,
                         environment=world.program.environment, stdout=events)
    with _ended(watched.process):
        world.figures["watches"] += 1
        found = _stormed(world, spec, step["storms"], watched, before)
        number = getattr(signal, f"SIG{step['end']}")
        status = watched.end(number)
    result = _result(world, watched, status)
    world.disturbed(spec, [result], is_watch=True)
    if found:
        return [*found, f"watch: it had said {result.errors[-500:]}"]
    if step["end"] == "HUP" and status not in (0, 1, 75):
        return [f"watch: it ended with {status} after HUP: {result.errors[-300:]}"]
    return result.problems(() if step["end"] == "HUP" else (number,))


@contextlib.contextmanager
def _ended(process):
    """Leaves no process behind, whatever happens."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _stormed(world, spec, storms, watched, before) -> list[str]:
    first = frozenset(before)
    for storm in storms:
        for change in storm:
            world.figures["steps"] += 1
            files.apply(world.root, change, world.pool.all, world.disks)
        before = _with_sources(world, before)
        found = _settled(world, spec, watched, before, first)
        watched.drain()
        if found:
            return found
    return []


def _result(world, watched, status) -> Result:
    lines = [line for line in (world.base / "events").read_text().splitlines() if line.startswith("{")]
    if status == -signal.SIGKILL and lines and not lines[-1].endswith("}"):
        lines.pop()
    errors = watched.log.read_text(errors="replace")
    return Result(watched.process.args, status, errors, [json.loads(line) for line in lines], str(world.root))


def _with_sources(world, before):
    """The state before a run, with the sources as they are now."""
    now = world.snapshot()
    kept = {path: there for path, there in before.items() if path.split("/")[0] in outs.OUTS}
    return kept | {path: there for path, there in now.items() if path.split("/")[0] not in outs.OUTS}


def _settled(world, spec, watched, before, first) -> list[str]:
    """Waits until the thumbnails are those of the photos. Returns what is still wrong after a while."""
    end = time.monotonic() + _SETTLED
    while True:
        result = Result([], 0, watched.log.read_text(errors="replace"), _events(world), str(world.root))
        for out in spec.outs:
            world.memories[out].learn(result)
        try:
            after = world.snapshot()
            case = Case(world.root, spec, [result], before, after, world.memories, world.pool, world.known,
                        (files.MOUNT,), True, first)
            found = checks.untouched(case) + checks.current(case) + checks.kept(case)
        except FileNotFoundError as error:
            found = [f"watch: {error}"]
        if not found or time.monotonic() > end or watched.process.poll() is not None:
            return found
        time.sleep(0.05)


def _events(world):
    """The events so far; of each source only the last one counts."""
    found = []
    for line in (world.base / "events").read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found
