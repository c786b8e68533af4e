"""Chains of short-lived processes over one folder of sources.

Each process is disturbed and ended in some way, and the last one completes what the others have left.
"""

import shutil
import signal
import time

import checks
import doors
from disturb import BACKLOGS, BUDGETS, MAXIMA, Disturber
from endpoint import Address, Endpoint
from process import HangError
from sources import RECIPES, Album, folder_problems

# Runs that end early, before the one that completes.
_MOST_RUNS = 4
# A job that memory pressure has made give up sources is started again so often.
_MOST_TRIES = 4
# The limit of a memory group. It is the least in which the debug build has room for its baseline, budget and a hog.
_GROUP = 192 << 20
_NO_ROOM, _ROOM = 256 << 10, 512 << 20
# How processes end, with weights. "nothing" lets them go on to the end.
_ENDINGS = {
    "nothing": 2, "USR2": 4, "TERM": 3, "INT": 3, "HUP": 4, "TERM twice": 3, "INT and TERM": 2, "kill -9": 6,
    "POST /cancel": 3, "thumbjob cancel": 2, "HUP, then USR2": 1, "TERM, not read": 2, "USR2, not read": 2,
    "stopped, then TERM": 1,
}
_NO_ENDPOINT = {"POST /cancel": "USR2", "thumbjob cancel": "USR2"}


class Chains:
    KINDS = ("plain", "plain", "kill", "door", "full disk", "group")

    def __init__(self, setting, pictures, count):
        self.setting, self.pictures, self.count = setting, pictures, count
        self.random = setting.generator("chains")
        self._number = 0
        self._kinds = []

    def run(self):
        """Runs chains until the time is over."""
        while not self.setting.is_over:
            if not self._kinds:
                self._kinds = self.random.sample(self.KINDS, len(self.KINDS))
            kind = self._kinds.pop()
            if kind in self.setting.skipped:
                continue
            self._number += 1
            Chain(self, kind, self._number).run()


class Chain:
    def __init__(self, chains, kind, number):
        self.setting, self.kind, self.random = chains.setting, kind, chains.random
        self.pictures = chains.pictures
        self.name = f"chain-{number}"
        self.folder = self.setting.folder / self.name
        self.folder.mkdir()
        count = self.random.randint(chains.count // 2, chains.count)
        self.album = Album(self.folder / "album", self.pictures, count, self.random)
        self.recipe = self.random.choice(RECIPES)
        self.disk = self.group = None
        self._runs = self._deaths = 0
        self._expect()

    def _expect(self):
        self.expected = {
            place: digests for path in self.album.paths
            for place, digests in self.pictures.expected(self.recipe, path, is_suspect=self._deaths > 1).items()}

    def run(self):
        try:
            if self.kind == "full disk":
                self.disk = doors.SmallDisk(self.folder / "thumbs", _NO_ROOM)
            else:
                (self.folder / "thumbs").mkdir()
            self._run_all()
        finally:
            if self.disk:
                self.disk.close()
            shutil.rmtree(self.folder)

    def _run_all(self):
        runs = 1 if self.disk else self.random.randint(1, _MOST_RUNS)
        for _ in range(runs):
            if self.setting.is_over and self._runs:
                break
            if not self._run_one(self._ending()):
                return
        if self.disk:
            self.disk.give_room(_ROOM)
        for _ in range(_MOST_TRIES):
            status = self._run_one("complete")
            if status is None:
                return
            if status != 75:
                break

    def _ending(self):
        if self.disk:
            return "nothing"
        if self.kind == "kill":
            return "kill -9"
        return self.random.choices(list(_ENDINGS), list(_ENDINGS.values()))[0]

    def _run_one(self, ending):
        """Runs a process; returns its exit status, or nil if something is wrong."""
        self._runs += 1
        name = f"{self.name}-run-{self._runs}"
        is_last = ending == "complete"
        door = doors.NoDoor() if is_last else self._door()
        life = Life(self, name, ending, door)
        found = []
        try:
            # Mostly early, because a run over what others have left tells of few sources before it ends by itself.
            found = life.run(1 + int(len(self.album.paths) * self.random.random() ** 3))
            if life.status == -signal.SIGKILL:
                self._deaths += 1
                self._expect()
            if is_last and life.status == 75 and life.job.ledger.pressure["critical"]:
                is_last = False  # the machine itself was short of memory, and the next run completes
            found += folder_problems(
                self.folder / "thumbs", self.expected, is_complete=is_last, may_have_rest=life.may_leave_files)
            if not life.may_leave_files and (left := self.setting.left_sockets(life.job)):
                found.append(f"it left the sockets {left}")
        except HangError as error:
            found.append(str(error))
        finally:
            found += life.close()
            if life.job:
                self.setting.finished(name, life.job, f"{self.kind}: {ending}", found)
        return None if found else life.status

    def _door(self):
        if self.kind == "group":
            self.group = doors.MemoryGroup(_GROUP)
            return self.group
        if self.kind == "door":
            kind = self.random.choice(("FIFO", "socket", "stall", "wrong"))
            if kind == "FIFO":
                return doors.FIFODoor(self.folder)
            if kind == "socket":
                return doors.SocketDoor(self.folder)
            return doors.StallDoor() if kind == "stall" else doors.WrongDoor()
        return doors.NoDoor()


class Life:
    """One process of a chain."""

    def __init__(self, chain, name, ending, door):
        self.chain, self.setting, self.name, self.ending, self.door = chain, chain.setting, name, ending, door
        self.random, self.patience = chain.random, chain.setting.patience
        self.job = self.disturber = None
        self.status = 0
        self.was_stalled = False

    @property
    def may_leave_files(self):
        """Whether it was ended so that it could not clean up."""
        return self.status == -signal.SIGKILL

    def run(self, most_told):
        """Starts the process, disturbs it until it has told of some sources, and ends it. Returns what is wrong.

        - parameter most_told: how many sources.
        """
        self.job = self.setting.launch(
            self.name, self._arguments(), self.chain.folder, self.door, prefix=getattr(self.door, "prefix", ()))
        self._set_limits()
        address = self.setting.socket(self.job)
        ask = Endpoint(self.job, address, self.patience) if address else None
        client = (self.setting.thumbjob, self.setting.environment) if address else None
        self.disturber = Disturber(
            self.job, ask, self.address or address, self.door, self.random, self.patience,
            spares=self.ending == "complete", client=client)
        is_endless = self.ending in ("complete", "nothing")
        self._disturb(None if is_endless else most_told)
        if not is_endless:
            self._end()
        self.disturber.send_away()
        self.status = self.job.wait(self.patience)
        return self._problems()

    def _arguments(self):
        choose = self.random.random
        self.max = self.random.randint(*MAXIMA)
        self.backlog = self.random.randint(*BACKLOGS) if choose() < 0.5 else 4 * self.max
        self.budget = self.random.randint(*BUDGETS)
        words = [*self.chain.recipe.arguments("album", self.chain.folder), "--max", str(self.max), "--progress",
                 self.random.choice(("plain", "none")), "--memory", str(self.budget)]
        if self.backlog != 4 * self.max:
            words += ["--backlog", str(self.backlog)]
        self.address = None
        if choose() < 0.5 and "the status endpoint" not in self.setting.skipped:
            self.address = Address(path=self.chain.folder / "s.sock")
            words += ["--status", str(self.address)]
        for option, share in (("--verbose", 0.3), ("--durable", 0.1), ("--force", 0.05)):
            if choose() < share:
                words.append(option)
        if choose() < 0.2:
            words += ["--retries", "2"]
        if self.ending != "complete" and choose() < 0.5:
            words += ["--on-pressure", self.random.choice(("requeue", "cancel", "pause", "ignore"))]
        return words

    def _set_limits(self):
        self.job.listings.highest_max, self.job.listings.highest_backlog = self.max, self.backlog
        self.job.highest_budget = self.budget

    def _disturb(self, most_told):
        while self.job.is_running and (most_told is None or self.job.told < most_told):
            self.disturber.act()
            time.sleep(self.random.expovariate(6))
            if self.setting.is_over:
                # The process goes on to its end without further disturbance.
                break

    def _end(self):
        job, ending = self.job, self.ending
        if not self.disturber.ask:
            ending = _NO_ENDPOINT.get(ending, ending)
        job.log.add(f"ending: {ending}")
        if ending.endswith("not read"):
            self.was_stalled = True
            job.stdout.flowing.clear()
            job.stderr.flowing.clear()
        match ending:
            case "POST /cancel":
                self.disturber.ask.command("POST", "/cancel", allowed=(202, 409))
            case "thumbjob cancel":
                self.disturber.cancel_with_client()
            case "TERM twice":
                self._send(signal.SIGTERM, signal.SIGTERM)
            case "INT and TERM":
                self._send(signal.SIGINT, signal.SIGTERM)
            case "HUP, then USR2":
                self._send(signal.SIGHUP, signal.SIGUSR2)
            case "stopped, then TERM":
                self._send(signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT)
            case "kill -9":
                self._send(signal.SIGKILL)
            case _:
                self._send(getattr(signal, f"SIG{ending.split(',')[0]}"))

    def _send(self, *numbers):
        for number in numbers:
            self.job.send(number)
            if number != numbers[-1]:
                time.sleep(self.random.choice((0, 0, 0.01, 0.1)))

    def _problems(self):
        job = self.job
        end = checks.End(
            self.status, job.sent, job.ledger, given=len(self.chain.album.paths),
            highest_max=job.listings.highest_max, highest_backlog=job.listings.highest_backlog,
            disk_was_full=self.chain.disk is not None and self.ending != "complete", was_stalled=self.was_stalled,
            killed_for_memory=getattr(self.door, "kills", 0) > 0, faults=job.faults)
        found = checks.problems(end)
        if getattr(self.door, "problem", None):
            found.append(self.door.problem)
        return found

    def close(self):
        """Returns what the disturbances have found."""
        if self.disturber:
            self.disturber.send_away()
        self.door.close()
        return self.disturber.problems if self.disturber else []
