"""serve_attack.py: attacks `thumbjob serve` with mutated pictures and requests, on many connections at once.

The rules: a request of HTTP/1.1 gets exactly one answer, with a documented status that is not 500, and the connection
serves on unless the answer says that it ends. Errors are JSON. Nothing of a request gets into the header of its answer
but a valid X-Request-ID. A preview is whole, and has the size that was asked for. At the end the servers are healthy,
hold nothing, and end as documented. Exits with status 1 if a rule is broken. The same seed makes the same requests;
--keep stores those that break a rule, and --replay sends one of them again.
"""

import argparse
import base64
import http.client
import json
import random
import re
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import program
import serve_dialects
import serve_http
from attack import stop
from serve_cases import Box, Case, Maker, Pictures, Wanted
from serve_exchange import Transcript, carried_out
from serve_requests import WHOLE, requests_in
from serve_server import Server
from serve_verdicts import documented_statuses, judged

KINDS = [*serve_dialects.KINDS, *serve_http.KINDS]
# How many findings of a class and a label are printed; --keep has all.
MOST_OF_CLASS, MOST_PROBLEMS = 3, 20


def case_of(seed, number, pictures):
    """The case of a number, which is the same for the same seed and pictures."""
    chooser = random.Random(f"{seed} kind {number}")
    while True:
        chosen = chooser.choices(KINDS, [each.weight for each in KINDS])[0]
        make = Maker(seed, number, pictures)
        if made := chosen.make(make):
            how, steps, wanted = made
            pairs = tuple((*step, None)[:2] for step in steps)
            return Case(chosen.name, number, how, pairs, wanted, make.is_locked)


@dataclass
class Finding:
    case: Case
    label: str
    detail: str
    transcript: Transcript

    @property
    def name(self):
        return re.sub(r"[^a-z0-9]+", "-", f"{self.case.kind}-{self.case.number}".lower()) + ".json"

    def __str__(self):
        lines = f"{self.label}: {self.name} ({self.case.how})", self.detail
        return "\n    ".join("".join(each if each.isprintable() else "?" for each in line) for line in lines)

    def file(self):
        steps = [(word, base64.b64encode(value).decode() if word == "send" else value)
                 for word, value in self.case.steps]
        talk = {"request": self.transcript.sent, "answer": self.transcript.received}
        return json.dumps({
            "finding": self.label, "detail": self.detail, **asdict(self.case), "steps": steps,
            **{name: data[:2000].decode("latin-1") for name, data in talk.items()}}, indent=1)


def read_case(path):
    """The case of a file that was kept."""
    told = json.loads(path.read_text())
    steps = tuple((word, base64.b64decode(value) if word == "send" else value) for word, value in told["steps"])
    wanted = tuple(
        Wanted(tuple(each["statuses"]), each["box"] and Box(**each["box"]), each["picture"] and tuple(each["picture"]),
               each["type"])
        for each in told["wanted"])
    return Case(told["kind"], told["number"], told["how"], steps, wanted, told["is_locked"])


@dataclass
class Attack:
    servers: list[Server]
    statuses: set[int] = field(default_factory=documented_statuses)
    counts: defaultdict = field(default_factory=lambda: defaultdict(Counter))  # by class
    findings: list[Finding] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # of the servers
    healths: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def try_case(self, case):
        try:
            transcript = carried_out(case, self.servers[case.is_locked].address)
        except OSError as error:
            with self.lock:
                self.problems.append(f"{case.kind} {case.number}: {error!r}")
            return
        problems = judged(case, transcript, self.statuses)
        whole, _, state = requests_in(transcript.sent)
        seen = [int(status) for status in re.findall(rb"HTTP/1\.1 ([2-5]\d\d) [ -~]*\r\n", transcript.received)]
        with self.lock:
            counts = self.counts[case.kind]
            counts["requests"] += max(len(whole) + (state != WHOLE), 1)
            counts.update(seen or ["none"])
            counts["findings"] += bool(problems)
            self.findings += [Finding(case, *problem, transcript) for problem in problems]

    def watch(self, done):
        """Asks for health all the time."""
        while not done.wait(0.2):
            for server in self.servers:
                try:
                    self.healths.append(server.health())
                except (OSError, ValueError, http.client.HTTPException) as error:
                    self.problems.append(f"/health: {error!r}")

    def run(self, case_at, count, connections):
        """Tries so many cases, each of which is made when its turn comes."""
        done = threading.Event()
        watcher = threading.Thread(target=self.watch, args=(done,))
        watcher.start()
        try:
            with ThreadPoolExecutor(connections) as pool:
                for _ in pool.map(lambda number: self.try_case(case_at(number)), range(count)):
                    pass
        finally:
            done.set()
            watcher.join()
        for name, server in zip(("open", "locked"), self.servers, strict=True):
            self.problems += [f"the {name} server: {problem}" for problem in [*server.rest(), *server.end()]]


def table(counts):
    rows = [["class", "requests", "statuses", "findings"], ["---", "---:", "---", "---:"]]
    for name, figures in [*counts.items(), ("**all**", sum(counts.values(), Counter()))]:
        statuses = sorted(each for each in figures if isinstance(each, int)) + ["none"] * ("none" in figures)
        told = ", ".join(f"{status}: {figures[status]}" for status in statuses)
        rows.append([name, str(figures["requests"]), told, str(figures["findings"] or "none")])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"| {line} |" for line in lines)


def shown(findings):
    """The lines to print: some findings of each class and label."""
    seen, lines = Counter(), []
    for finding in sorted(findings, key=lambda each: (each.label, each.case.kind, each.case.number)):
        key = finding.label, finding.case.kind
        seen[key] += 1
        if seen[key] <= MOST_OF_CLASS:
            lines.append(str(finding))
    more = ((count - MOST_OF_CLASS, *key) for key, count in seen.items())
    return lines + [f"{count} more: {label}, {name}" for count, label, name in more if count > 0]


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbjob", type=Path, default=program.DEFAULT,
                        help="the program to attack (default: $THUMBJOB, or the debug build)")
    parser.add_argument("--seed", default="1", help="any text; another one makes other requests (default: 1)")
    parser.add_argument("--requests", type=int, default=10_000, help="connections with requests (default: 10000)")
    parser.add_argument("--connections", type=int, default=48, help="connections at once (default: 48)")
    parser.add_argument("--keep", type=Path, help="a folder for the requests that break a rule")
    parser.add_argument("--replay", type=Path, help="only send the request of a kept file again")
    return parser.parse_args(arguments)


def attacked(options, case_at, count, connections):
    """Runs the servers, and the cases on them."""
    signal.signal(signal.SIGTERM, stop)
    with tempfile.TemporaryDirectory(prefix="thumbjob-attack-") as work:
        servers = []
        try:
            for name in ("open", "locked"):
                servers.append(Server(options.thumbjob.absolute(), Path(work) / name, name == "locked"))
            attack = Attack(servers)
            attack.run(case_at, count, connections)
        finally:
            for server in servers:
                server.kill()
    return attack


def keep(folder, attack):
    folder.mkdir(parents=True, exist_ok=True)
    for finding in attack.findings:
        (folder / finding.name).write_text(finding.file())
    (folder / "findings.txt").write_text("\n".join([*attack.problems, *map(str, attack.findings)]) + "\n")


def main(arguments):
    options = parsed(arguments)
    if not options.thumbjob.exists():
        sys.exit(f"{options.thumbjob} does not exist; build it, or name another with --thumbjob")
    start = time.monotonic()
    if options.replay:
        attack = attacked(options, lambda _: read_case(options.replay), 1, 1)
    else:
        # So many that each format gets damage of each class.
        found = Pictures(options.seed, options.requests // 500 + 5, is_sample=options.requests < 2000)
        print(f"{found.count} pictures after {time.monotonic() - start:.0f} s", flush=True)
        attack = attacked(
            options, lambda number: case_of(options.seed, number, found), options.requests, options.connections)
    print(table(attack.counts))
    for line in [*attack.problems[:MOST_PROBLEMS], *shown(attack.findings)]:
        print(line)
    held = " and ".join(str(server.most_memory >> 20) for server in attack.servers)
    print(f"/health took at most {max(attack.healths, default=0):.2f} s; the servers held at most {held} MiB")
    if options.keep and not options.replay:
        keep(options.keep, attack)
    count = len(attack.findings) + len(attack.problems)
    print(f"findings: {count or 'none'}, after {time.monotonic() - start:.0f} s")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
