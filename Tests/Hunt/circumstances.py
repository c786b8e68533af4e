"""The circumstances in which the tests are run: what is different from an idle machine."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

CORES = os.cpu_count() or 1
# The folders of control groups with a limit of memory, of either version, and the file that has the limit.
_GROUPS = ((Path("/sys/fs/cgroup"), "memory.max"), (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"))
# A user that no system has, with neither a name nor a home.
ODD_USER = 61234


class MissingError(Exception):
    """This machine cannot bring the circumstance about."""


@dataclass(frozen=True)
class Circumstance:
    name: str
    what: str
    # Busy processes beside the tests.
    load: int = 0
    # Words before the command.
    wrapper: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    # The most memory of all processes of the tests together, in bytes.
    memory: int | None = None
    is_odd_user: bool = False


ALL = [
    Circumstance("idle", "nothing else runs"),
    Circumstance("busy", "as many busy processes as there are cores", load=CORES),
    Circumstance("load-16", "sixteen busy processes", load=16),
    Circumstance("one-core", "all on one core", wrapper=("taskset", "-c", str(min(os.sched_getaffinity(0))))),
    Circumstance("2-gib", "a memory limit of 2 GiB", memory=2 << 30),
    Circumstance("odd-user", f"user {ODD_USER}, without name and home", is_odd_user=True),
    Circumstance("locale", "another language", environment={
        "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}),
    Circumstance("zone", "a time zone with a quarter of an hour", environment={"TZ": "Asia/Kathmandu"}),
]


def named(names: str) -> list[Circumstance]:
    """- raises ValueError: for a name that there is not."""
    by_name = {one.name: one for one in ALL}
    wanted = names.split(",")
    if unknown := [name for name in wanted if name not in by_name]:
        raise ValueError(f"no circumstance {', '.join(unknown)}; there are {', '.join(by_name)}")
    return [by_name[name] for name in wanted]


@contextlib.contextmanager
def brought_about(one: Circumstance, root: Path):
    """Yields a function that runs a command in the circumstance, with its output in a file, and returns its status."""
    if one.environment.get("LC_ALL", "C") not in _locales():
        raise MissingError(f"no locale {one.environment['LC_ALL']}")
    with contextlib.ExitStack() as stack:
        for _ in range(one.load):
            stack.enter_context(_busy())
        before = list(one.wrapper)
        if one.memory:
            before += stack.enter_context(_within_memory(one.memory))
        if one.is_odd_user:
            before += stack.enter_context(_as_odd_user(root))

        def run(command: list[str], log: Path) -> int:
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [*before, *command], cwd=root, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                    env={**os.environ, **one.environment}, start_new_session=True)
                try:
                    return process.wait()
                finally:
                    # Also what it has left behind, which would run on in other circumstances.
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

        yield run


def _locales() -> set[str]:
    """The names of all locales, as they are written in variables."""
    found = subprocess.run(["locale", "-a"], check=False, capture_output=True, text=True).stdout.split()
    return {"C", *found, *(name.replace(".utf8", ".UTF-8") for name in found)}


@contextlib.contextmanager
def _busy():
    # It ends with this program, whatever ends that.
    script = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _within_memory(limit: int):
    """Yields the words that have a command enter a control group with this limit."""
    # Where each controller has a folder of its own, the first of the two is no group.
    found = [(folder, file) for folder, file in _GROUPS if (folder / "cgroup.procs").exists()]
    if not found:
        raise MissingError("no control groups")
    folder, file = found[0]
    group = folder / f"hunt-{os.getpid()}"
    try:
        group.mkdir(exist_ok=True)
        (group / file).write_text(str(limit))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise MissingError(f"no control group with a memory limit: {error}") from error
    try:
        yield ("sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group))
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


@contextlib.contextmanager
def _as_odd_user(root: Path):
    """A copy of the project that the user owns, at the same path in a name space of its own: builds know their path."""
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        raise MissingError("only root becomes another user")
    with tempfile.TemporaryDirectory(prefix="hunt-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        copy = Path(folder, "project")
        subprocess.run(["cp", "-a", "--reflink=auto", root, copy], check=True)
        subprocess.run(["chown", "-R", f"{ODD_USER}:{ODD_USER}", copy], check=True)
        script = (f'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec setpriv --reuid={ODD_USER} --regid={ODD_USER}'
                  ' --clear-groups env -u HOME -u USER -u LOGNAME "$@"')
        yield ("unshare", "--mount", "sh", "-c", script, "sh", str(copy), str(root))
