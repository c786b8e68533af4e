"""What is done at random to a job while it runs."""

import signal
import subprocess
import time

import decoders
import endpoint
import process
from endpoint import Crowd, Listener

# The limits that a job is given at random. The largest picture of the soak needs less memory than the least budget.
MAXIMA, BACKLOGS, BUDGETS = (1, 8), (0, 40), (32 << 20, 96 << 20)
# The most seconds that a reader does not read, a process is stopped, or a job is paused.
LONGEST_PAUSE = 1.5
# A report of pressure stops a job for about 20 seconds (docs/memory.md), so more of them would leave no time for work.
SECONDS_BETWEEN_PRESSES = 60

# What is done how often: the names of methods below.
WEIGHTS = {
    "list": 16, "list_often": 2, "stop_and_continue": 5, "pause_and_resume": 5, "limit": 8, "cancel_one": 8, "read": 12,
    "listen": 3, "crowd": 6, "stall_stdout": 3, "stall_stderr": 3, "press": 4, "lose_door": 1, "use_client": 2,
    "kill_decoder": 6}
# Those that take sources away from a job.
_LOSSES = ("cancel_one", "kill_decoder")


class Log:
    """The actions on one process, with their times."""

    def __init__(self, start):
        self._start = start
        self.lines = []

    def add(self, text):
        self.lines.append(f"{time.monotonic() - self._start:9.3f} {text}")


class Disturber:
    """Does something to a job at random.

    - parameter spares: whether every source must be made.
    """

    def __init__(self, job, ask, address, door, generator, patience, spares=False, client=None):
        self.job, self.ask, self.door = job, ask, door
        self.address = address  # the one that clients without good intentions use
        self.random, self.patience = generator, patience
        self.problems = []
        self._client = client  # the program and its environment
        self._crowds, self._listeners = [], []
        self._pressed = time.monotonic() - SECONDS_BETWEEN_PRESSES
        weights = {name: weight for name, weight in WEIGHTS.items() if not (spares and name in _LOSSES)}
        self._actions, self._weights = [getattr(self, name) for name in weights], list(weights.values())

    def act(self):
        try:
            self.random.choices(self._actions, self._weights)[0]()
        except endpoint.AnswerError as error:
            self.problems.append(str(error))
        if self._crowds and self.random.random() < 0.2:
            self._crowds.pop(0).leave()
        if self._listeners and self.random.random() < 0.2:
            self._drop(self._listeners.pop(0))

    def _drop(self, listener):
        listener.leave()
        self.problems += listener.problems

    def send_away(self):
        """All clients leave."""
        while self._crowds:
            self._crowds.pop().leave()
        while self._listeners:
            self._drop(self._listeners.pop())

    def _pause(self):
        """Mostly short, so that there is time to work."""
        time.sleep(min(self.random.expovariate(4), LONGEST_PAUSE))

    # Signals

    def list(self):
        """Asks for a listing, and waits until it is complete."""
        before = self.job.listings.count
        if self.job.send(signal.SIGUSR1):
            process.eventually("the reply to USR1 is complete",
                               lambda: self.job.listings.count > before or not self.job.is_running, self.patience)

    def list_often(self):
        for _ in range(300):
            if not self.job.send(signal.SIGUSR1):
                break
        self.list()

    def stop_and_continue(self):
        """Stops the process as Ctrl-Z does, or as a debugger does, and lets it continue."""
        number = self.random.choice((signal.SIGSTOP, signal.SIGTSTP))
        if self.job.send(number):
            self._pause()
            self.job.send(signal.SIGCONT)

    def kill_decoder(self):
        """Kills a process that decodes, or waits for a picture. At most its picture fails."""
        if decoders.kill_one(self.job.pid, self.random):
            self.job.sent[decoders.KILLED] += 1
            self.job.log.add(decoders.KILLED)

    # Commands

    def pause_and_resume(self):
        """Pauses the job; when what runs has ended, nothing may happen any more until it is resumed."""
        if not self.ask:
            return
        self.ask.command("POST", "/pause")
        try:
            if self.random.random() < 0.5:
                self._check_paused()
            else:
                self._pause()
        finally:
            self.ask.command("POST", "/resume")

    def _check_paused(self):
        process.eventually("nothing works in the paused job", self._is_idle, self.patience)
        before = self._made()
        self._pause()
        after = self._made()
        if None not in (before, after) and before != after:
            self.problems.append(f"the paused job went on: it had made {before}, and has made {after}")

    def _is_idle(self):
        """Whether no operation works, or the job has ended. One that waits for memory does not get it meanwhile."""
        status = self.ask.ask("GET", "/status")
        return not status or status["counters"]["running"] <= status["counters"]["waiting_for_memory"]

    def _made(self):
        """The sources that were made; nil without an answer. A walk goes on, and names those that failed before."""
        status = self.ask.ask("GET", "/status")
        return status and status["counters"]["made"]

    def limit(self):
        change = {}
        if self.random.random() < 0.7:
            change["max"] = self.random.randint(*MAXIMA)
        if self.random.random() < 0.5:
            change["backlog"] = self.random.randint(*BACKLOGS)
        if self.random.random() < 0.5 or not change:
            change["budget_bytes"] = self.random.randint(*BUDGETS)
        self.change_limits(change)

    def change_limits(self, change):
        if not self.ask:
            return
        listings = self.job.listings
        listings.highest_max = max(listings.highest_max, change.get("max", 0))
        listings.highest_backlog = max(listings.highest_backlog, change.get("backlog", 0))
        self.job.highest_budget = max(self.job.highest_budget, change.get("budget_bytes", 0))
        self.ask.command("PATCH", "/limits", change)

    def cancel_one(self):
        if not self.ask:
            return
        status = self.ask.ask("GET", "/status")
        operations = status and status["running"] + status["waiting"]
        if operations:
            number = self.random.choice(operations)["id"]
            # It may have ended since; one that ended long ago is no longer known.
            self.ask.command("DELETE", f"/operations/{number}", allowed=(202, 404, 409))

    def use_client(self):
        """Asks with thumbjob's own commands."""
        if not self._client:
            return
        self._run_client(*self.random.choice((["status"], ["status", "--json"], ["resume"])))

    def cancel_with_client(self):
        # If it is stopped in time, and this is the cause, a request has come over the endpoint.
        self.job.sent["POST /cancel"] += 1
        self._run_client("cancel")

    def _run_client(self, *words):
        thumbjob, environment = self._client
        command = [thumbjob, words[0], str(self.job.pid), *words[1:]]
        self.job.log.add(" ".join(words))
        try:
            result = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, timeout=self.patience, check=False)
        except subprocess.TimeoutExpired:
            raise process.HangError(f"thumbjob {words[0]} did not end within {self.patience:.0f} s") from None
        # On a busy machine five seconds may be too few for the client, which then says so.
        is_late = result.returncode == 69 and "did not answer in time" in result.stderr
        if result.returncode != 0 and not is_late and self.job.is_running:
            # It may have ended just then, and so may its endpoint a moment before.
            time.sleep(0.5)
            if self.job.is_running and not self.job.ledger.summary:
                self.problems.append(f"thumbjob {words[0]}: {result.returncode} {result.stderr.strip()[:200]}")

    # Reading

    def read(self):
        if not self.ask:
            return
        path = self.random.choice((
            "/status", "/operations", "/operations?state=finished,failed&limit=100", "/metrics", "/history",
            "/thumbnails", "/healthz", "/readyz", "/openapi.json", "/"))
        answer = self.ask.ask("GET", path, allowed=(200, 503) if path == "/readyz" else (200,))
        self.job.sent["GET"] += 1
        if answer is None:
            return
        if path == "/status":
            listings = self.job.listings
            self.problems += endpoint.status_problems(answer, listings.highest_max, listings.highest_backlog)
        elif path == "/metrics":
            problem = endpoint.metrics_problem(answer)
            self.problems += [problem] if problem else []

    def listen(self):
        if self.ask and len(self._listeners) < 4:
            self.job.sent["GET /events"] += 1
            self._listeners.append(Listener(self.ask.address))

    def crowd(self):
        if not self.address or len(self._crowds) >= 2:
            return
        kind, count = self.random.choice(Crowd.KINDS), self.random.randint(1, endpoint.most_clients())
        self.job.log.add(f"{count} clients at {self.address}: {kind}")
        self.job.sent["bad clients"] += count
        self._crowds.append(Crowd(kind, self.address, count, self.random))

    # Readers and memory

    def stall_stdout(self):
        self._stall(self.job.stdout)

    def stall_stderr(self):
        """A job must not wait for a reader of its messages. So it still answers over the endpoint meanwhile."""
        self._stall(self.job.stderr)

    def _stall(self, reader):
        self.job.log.add(f"{reader.thread.name} is not read")
        self.job.sent["stalled readers"] += 1
        reader.flowing.clear()
        try:
            if reader is self.job.stderr:
                for _ in range(30):
                    self.job.send(signal.SIGUSR1)
            self._pause()
            if self.ask:
                self.ask.ask("GET", "/status")
        finally:
            reader.flowing.set()

    def press(self):
        now = time.monotonic()
        if now - self._pressed < SECONDS_BETWEEN_PRESSES or self.job.ledger.level != "normal":
            return
        self._pressed = now
        before = sum(self.job.ledger.pressure.values())
        if self.door.name == "none":
            return
        self.job.log.add(f"pressure through the {self.door.name}")
        must_notice = self.door.press(self.random)
        self.job.sent["pressure"] += 1
        if must_notice:
            process.eventually(
                "it reports the memory pressure",
                lambda: sum(self.job.ledger.pressure.values()) > before or not self.job.is_running, self.patience)

    def lose_door(self):
        lose = getattr(self.door, "lose", None)
        if lose and self.random.random() < 0.2:
            self.job.log.add("the other side of the pressure socket closes")
            self.job.sent["lost signals"] += 1
            lose()
