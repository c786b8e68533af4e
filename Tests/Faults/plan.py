"""Which faults are tried: every call of an undisturbed run, with the errors that the kernel may return for it."""

import errno
from dataclasses import dataclass

import places
from preload import FOREVER, Rule

# The errors of each call, the most usual first. Interrupted are only calls whose manual pages say so.
ERRORS = {
    "open": "EIO EACCES ENOENT EMFILE ENOMEM EINTR",
    "create": "ENOSPC EIO EACCES EROFS EMFILE EDQUOT EINTR",
    "create_unnamed": "ENOSPC EIO EACCES EROFS EMFILE EDQUOT EOPNOTSUPP EISDIR EINVAL ENOSYS EINTR",
    "fdopendir": "ENOMEM",
    "readdir": "EIO",
    "read": "EIO EINTR short",
    "pread": "EIO EINTR short",
    "write": "ENOSPC EIO EDQUOT EFBIG EINTR short",
    "pwrite": "ENOSPC EIO EDQUOT EFBIG EINTR short",
    "close": "EIO ENOSPC EINTR",
    "fsync": "EIO ENOSPC EDQUOT EINTR",
    "ftruncate": "EIO EINTR",
    "flock": "ENOLCK EOPNOTSUPP EINTR",
    "futimens": "EIO EPERM EROFS",
    "utimensat": "EIO EROFS",
    "fchmod": "EPERM EIO EROFS",
    "chmod": "EPERM EIO",
    "fstat": "EIO ENOMEM",
    "stat": "EIO EACCES ENOENT",
    "statfs": "EIO EINTR",
    "access": "EACCES",
    "mkdir": "ENOSPC EROFS EACCES EDQUOT EIO",
    "unlink": "EIO EROFS EACCES",
    "linkat": "EIO ENOSPC EEXIST EACCES EPERM EXDEV ENOENT EMLINK EDQUOT EROFS EOPNOTSUPP",
    "rename": "EIO ENOSPC EROFS EACCES EDQUOT",
    "getcwd": "ENOENT",
    "realpath": "EACCES EIO ENOENT",
    "readlink": "EACCES",
    "socket": "EMFILE EAFNOSUPPORT",
    "epoll_create": "EMFILE ENOMEM",
    "epoll_ctl": "ENOMEM ENOSPC",
    "epoll_wait": "EINTR",
    "eventfd": "EMFILE",
    "timerfd_create": "EMFILE",
    "timerfd_settime": "",  # fails only for values that are wrong
    "pipe": "EMFILE ENFILE",
    "pipe2": "EMFILE ENFILE",
    "poll": "EINTR ENOMEM",
    "socketpair": "EMFILE ENFILE ENOMEM",
    "posix_spawn": "EAGAIN ENOMEM EACCES ENOENT EMFILE",
    "memfd_create": "EMFILE ENOMEM EINVAL",
    "add_seals": "EINVAL EPERM",
    "prlimit": "EPERM",
    "recv": "ENOMEM EINTR",
    "sendmsg": "ENOMEM ENOBUFS EMFILE EINTR",
    "bind": "EADDRINUSE EACCES EROFS",
    "listen": "EADDRINUSE",
    "shutdown": "ENOTCONN",
    "getsockname": "ENOBUFS",
    "mmap": "ENOMEM",
    "madvise": "EAGAIN",
    "getrlimit": "EFAULT",
    "setrlimit": "EPERM",
    "pthread_create": "EAGAIN",
    "clock": "jump",
}
# What a full or a read-only disk refuses.
_GROWING = ("create", "create_unnamed", "write", "pwrite", "mkdir", "linkat")
_CHANGING = (*_GROWING, "rename", "unlink", "futimens", "utimensat")
# These must change nothing.
_INVISIBLE = ("EINTR", "short")
# What some file systems or kernels cannot do, so that there must be another way.
_UNSUPPORTED = {
    "create_unnamed": ("EOPNOTSUPP", "EISDIR", "EINVAL", "ENOSYS"),
    "memfd_create": ("EINVAL",),
    "linkat": ("ENOENT", "EXDEV", "EPERM", "EOPNOTSUPP"),
}
_NO_FILES = ("socket:", "anon_inode:", "pipe:")
_YEARS = 10 * 365 * 86400
# Clocks that people or the kernel set; the others only go on.
_JUMPS = {"real": (_YEARS, -_YEARS), "boot": (86400,)}


@dataclass(frozen=True)
class Fault:
    scene: str
    rules: tuple[Rule, ...]
    call: str
    kind: str  # an error's name, or what happens otherwise
    place: str  # what the call is about, for people

    @property
    def is_invisible(self):
        """Whether the run must be the same as without it."""
        return self.kind in _INVISIBLE or self.kind in _UNSUPPORTED.get(self.call, ()) or self.call == "clock"

    @property
    def error(self):
        """Its errno; None if no call fails."""
        return getattr(errno, self.kind.split()[0], None)

    def __str__(self):
        return f"{self.scene}: {'; '.join(map(str, self.rules))} ({self.place})"


def rule_of(call, kind):
    """The rule that makes one call fail, or transfer less."""
    if kind == "short":
        return Rule(call.name, call.place, kind, 0, call.number, call.number)
    return Rule(call.name, call.place, "error", getattr(errno, kind), call.number, call.number)


def faults_of(scene, log):
    """All faults of a scene, given the log of its undisturbed run."""
    # Which clocks have jumped for which callers, and which kinds of calls have had all errors.
    names = places.Names(scene, log.calls)
    seen = set()
    last = _last_numbers(log)
    for call in log.calls:
        place = names.of(call)
        if scene.focus and not _is_chosen(scene, call, place, last):
            if place not in places.OF_MACHINE and (call.name, place) not in seen:
                seen.add((call.name, place))
                yield from _first_error(scene, call, place)
            continue
        if call.name == "clock":
            key = call.place, call.site
            for ahead in () if key in seen else _JUMPS.get(call.place, ()):
                rule = Rule(call.name, call.place, "jump", ahead, call.number, call.number)
                yield Fault(scene.name, (rule,), call.name, "back" if ahead < 0 else "ahead", place)
            seen.add(key)
            continue
        if call.name not in ERRORS:
            raise KeyError(f"plan.py has no errors for {call}")
        for kind in _kinds(call, place, seen):
            # Only files transfer less, and only files fail when they are closed.
            if call.place.startswith(_NO_FILES) and (
                    kind == "short" or (call.name == "close" and kind != "EINTR")):
                continue
            yield Fault(scene.name, (rule_of(call, kind),), call.name, kind, place)
    yield from _lasting(scene, log, names)


def _last_numbers(log):
    return {(call.name, call.place): call.number for call in log.calls}


def _is_chosen(scene, call, place, last):
    """Whether a call is in the focus of a scene. Of those about the same file, the first and the last are enough."""
    return place in scene.focus and call.number in (1, last[call.name, call.place])


def _first_error(scene, call, place):
    for kind in ERRORS[call.name].split()[:1]:
        if kind not in _INVISIBLE and kind != "jump" and not call.place.startswith(_NO_FILES):
            yield Fault(scene.name, (rule_of(call, kind),), call.name, kind, place)


def _kinds(call, place, seen):
    """The first error, and those that must change nothing. The first call of a kind gets the other errors, too."""
    kinds = ERRORS[call.name].split()
    is_first = (call.name, place) not in seen
    seen.add((call.name, place))
    if place == places.OF_KERNEL and not is_first:
        return []
    return kinds if is_first else [kind for kind in kinds if kind in (kinds[0], *_INVISIBLE)]


def _is_on_disk(call, folders):
    """Whether a disk with these folders may fail at a call.

    The ledger is left out, as in fault.c: a thread writes it at moments that differ between runs.
    """
    return any(call.place.startswith(f"{folder}/") for folder in folders) and "/.thumbjob/ledger" not in call.place


def _lasting(scene, log, names):
    """Disks that are full, faulty or read-only from some moment on."""
    folders = scene.written
    last = _last_numbers(log)
    for call in log.calls:
        if not _is_on_disk(call, folders) or call.name not in _CHANGING:
            continue
        place = names.of(call)
        if scene.focus and not _is_chosen(scene, call, place, last):
            continue
        for kind, kept in (("ENOSPC", _GROWING), ("EROFS", _CHANGING)):
            if call.name not in kept:
                continue
            rules = tuple(
                Rule(name, f"{folder}/*", "error", getattr(errno, kind), _number(log, call, name, folder) + 1, FOREVER)
                for name in kept for folder in folders)
            yield Fault(scene.name, rules, call.name, f"{kind} from then on", place)


def _number(log, until, name, folder):
    """How many calls of this name there were in a folder before a call."""
    count = 0
    for call in log.calls:
        if call == until:
            break
        count += call.name == name and _is_on_disk(call, [folder])
    return count


def sample(faults, already):
    """One fault of each kind of call, place and error group; `already` has those of earlier scenes."""
    for fault in faults:
        group = "invisible" if fault.is_invisible else "lasting" if fault.kind.endswith("on") else "error"
        key = fault.call, fault.place, group
        if key not in already:
            already.add(key)
            yield fault
