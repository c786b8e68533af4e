"""serve_load.py: `thumbjob serve` beside other preview servers: two tables.

The others are naive-preview-server, which many would write first: the same decoder and encoder without a bounded queue;
pyvips_server.py; and thumbor. Each uses all processors. A client opens a connection for each request, posts a picture
and reads its preview: a JPEG of quality 80 with 4:2:0 that fits into a square. thumbor cannot be asked like this;
preview_servers.py says how it is.

The first table has requests a second, and the time from connecting to the last byte of the preview. All servers get the
same pictures in the same order, and the same number of requests; they take turns, and each round begins with the next
one. Ratios are medians of the ratios within a round. All answers are checked: their status, and whether they show their
picture, in the right size and quality.

For the second table, many clients connect at once, each with a body of 8 to 60 MB: a photograph with zeros after its
end, which decoders do not read. The server with all its processes is in a memory group of 192 MiB, and its temporary
files are on the disk of TMPDIR. Each client sends one request, and should get one answer within five minutes: the
preview, or 503 with Retry-After. Meanwhile another process asks for the server's health ten times a second. The memory
of the group is the most that the kernel counted, with cached files; that of processes is the most of many samples.
A memory group needs root. `thumbor, files` is left out here, because it receives no bodies.

Clients and servers share the processors, so a server with a machine of its own would be faster.

Writes serve.md and serve.json to --out. Exit status 1 if a preview of the first table is wrong, or if thumbjob was
killed in the second or did not answer all.
"""

import argparse
import asyncio
import contextlib
import datetime
import io
import itertools
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import mean, median

from PIL import Image, ImageChops, ImageOps, ImageStat, JpegImagePlugin

import bench
from preview_servers import QUALITY, Answer, Server, is_healthy, running, servers

PATIENCE = 300  # seconds that a client waits
SAMPLING = 0.05  # seconds between two looks at memory
SMALLEST, LARGEST = 8_000_000, 60_000_000  # bodies of the second table, in bytes
SIDE = 256  # of its previews
ZEROS = memoryview(bytes(LARGEST))


def fail(why: str) -> None:
    sys.exit(f"serve_load.py: {why}")


# Pictures


@dataclass(frozen=True)
class Photo:
    name: str
    data: bytes
    pixels: tuple[int, int]  # as displayed
    icon: Image.Image


def icon(image: Image.Image) -> Image.Image:
    return image.convert("RGB").resize((16, 16), Image.Resampling.BOX)


def read_photos(folder: Path) -> list[Photo]:
    photos = []
    for file in sorted(folder.glob("*.jpg")):
        with Image.open(file) as image:
            upright = ImageOps.exif_transpose(image)
            photos.append(Photo(file.name, file.read_bytes(), upright.size, icon(upright)))
    return photos


def tables() -> dict[int, list[int]]:
    """The quantization tables of libjpeg at the quality that all servers are told."""
    with io.BytesIO() as file:
        Image.new("RGB", (16, 16)).save(file, "JPEG", quality=QUALITY)
        return Image.open(file).quantization


TABLES = tables()


def fault(photo: Photo, side: int, answer: Answer) -> str | None:
    """What is wrong with an answer that should have a preview."""
    if answer.is_followed:
        return "bytes after the answer"
    if answer.status != 200:
        return f"status {answer.status}"
    try:
        image = Image.open(io.BytesIO(answer.body), formats=["JPEG"])
        image.load()
    except (OSError, SyntaxError) as error:
        return f"not a whole JPEG: {error}"
    scale = min(1, side / max(photo.pixels))
    if any(abs(length - whole * scale) > 1 for length, whole in zip(image.size, photo.pixels, strict=True)):
        return f"{image.size} pixels of {photo.pixels}"
    if image.quantization != TABLES or JpegImagePlugin.get_sampling(image) != 2:
        return f"not of quality {QUALITY} with 4:2:0"
    if mean(ImageStat.Stat(ImageChops.difference(icon(image), photo.icon)).mean) > 8:
        return "another picture"
    return None


# Throughput


@dataclass(frozen=True)
class Turn:
    seconds: float
    latencies: list[float]  # seconds


# By pixels and clients, and then by server.
Throughput = dict[tuple[int, int], dict[str, list[Turn]]]


async def take_turn(server: Server, port: int, photos: list[Photo], side: int, clients: int, requests: int) -> Turn:
    answers: list[tuple[Photo, Answer]] = []
    remaining = itertools.islice(itertools.cycle(photos), requests)

    async def client() -> None:
        for photo in remaining:
            async with asyncio.timeout(PATIENCE):
                answers.append((photo, await server.ask(port, photo.name, (photo.data,), side)))

    case = f"{server.name}, {side} pixels, {clients} clients"
    start = time.monotonic()
    try:
        await asyncio.gather(*(client() for _ in range(clients)))
    except (OSError, TimeoutError) as error:
        fail(f"{case}: no answer: {error!r}")
    seconds = time.monotonic() - start
    # Most answers for one photograph are equal.
    different = {(photo.name, answer.status, answer.body, answer.is_followed): (photo, answer)
                 for photo, answer in answers}
    for photo, answer in different.values():
        if wrong := fault(photo, side, answer):
            fail(f"{case}, {photo.name}: {wrong}")
    return Turn(seconds, [answer.seconds for _, answer in answers])


def measure_throughput(contenders: list[Server], photos: list[Photo], options: argparse.Namespace) -> Throughput:
    cases = list(itertools.product(options.sizes, options.clients))
    measured: Throughput = {case: {server.name: [] for server in contenders} for case in cases}
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(running(server)).port for server in contenders]
        # Warms up every server.
        for server, port in zip(contenders, ports, strict=True):
            asyncio.run(take_turn(server, port, photos, SIDE, 8, len(photos)))
        for number in range(options.rounds):
            for side, clients in cases:
                for place in range(len(contenders)):
                    index = (place + number) % len(contenders)
                    server = contenders[index]
                    turn = asyncio.run(take_turn(server, ports[index], photos, side, clients, options.requests))
                    measured[side, clients][server.name].append(turn)
                    print(f"{number}: {side} pixels, {clients} clients, {server.name} {turn.seconds:.2f} s",
                          file=sys.stderr)
    return measured


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.{1 if seconds < 0.01 else 0}f} ms"


def throughput_table(measured: Throughput, requests: int) -> str:
    lines = [
        "| pixels | clients | server | requests a second | fewest to most | × thumbjob | p50 | p99 |",
        "| ---: | ---: | --- |" + " ---: |" * 5]
    for (side, clients), turns in measured.items():
        for name, rounds in turns.items():
            rates = [requests / turn.seconds for turn in rounds]
            ratios = [ours.seconds / turn.seconds for turn, ours in zip(rounds, turns["thumbjob"], strict=True)]
            latencies = [seconds for turn in rounds for seconds in turn.latencies]
            lines.append(
                f"| {side} | {clients} | {name} | {median(rates):.1f} | {min(rates):.1f} to {max(rates):.1f} "
                f"| {median(ratios):.2f} | {milliseconds(percentile(latencies, 50))} "
                f"| {milliseconds(percentile(latencies, 99))} |")
    return "\n".join(lines)


# Many large bodies in little memory


@dataclass(frozen=True)
class Load:
    answers: dict[str, int]  # how many of each kind: 200, 503 with Retry-After, none, and what else is wrong
    seconds: float
    health: list[float]  # seconds
    health_failures: int
    group: int  # MiB that the group held, with cached files
    processes: int  # MiB that its processes held
    kills: int  # processes that the kernel killed for want of memory

    @property
    def is_good(self) -> bool:
        return set(self.answers) <= {"200", "503"} and self.kills == 0


class GroupSampler:
    """Looks again and again at the memory group of a process, on a thread of its own."""

    def __init__(self, process: int):
        groups = [line.split(":", 2) for line in Path(f"/proc/{process}/cgroup").read_text().splitlines()]
        legacy = [path for _, controllers, path in groups if "memory" in controllers.split(",")]
        unified = [path for number, _, path in groups if number == "0"]
        if legacy:
            self._folder, self._events, self._held = f"memory{legacy[0]}", "memory.oom_control", "total_rss"
        else:
            self._folder, self._events, self._held = unified[0].lstrip("/"), "memory.events", "anon"
        self.kills = self.held = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> "GroupSampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            is_last = self._ended.wait(SAMPLING)
            # The group goes with its last process.
            with contextlib.suppress(OSError):
                self.held = max(self.held, self._read("memory.stat", self._held))
                self.kills = max(self.kills, self._read(self._events, "oom_kill"))
            if is_last:
                return

    def _read(self, file: str, name: str) -> int:
        text = Path("/sys/fs/cgroup", self._folder, file).read_text()
        fields = dict(line.split(maxsplit=1) for line in text.splitlines())
        return int(fields.get(name, "0"))


def watch_health(port: int, path: str, parent: Pipe) -> None:
    """Asks for a server's health until the parent says so. Runs in a process of its own, since the parent's is busy."""
    seconds, failures = [], 0
    parent.send("ready")
    while not parent.poll(0.1):
        start = time.monotonic()
        if is_healthy(port, path):
            seconds.append(time.monotonic() - start)
        else:
            failures += 1
    parent.send((seconds, failures))


async def send_all(server: Server, port: int, photos: list[Photo], connections: int) -> dict[str, int]:
    """One request of each client, all at once."""
    lengths = [SMALLEST + (LARGEST - SMALLEST) * number // max(1, connections - 1) for number in range(connections)]
    random.Random(1).shuffle(lengths)

    async def client(photo: Photo, length: int) -> tuple[Photo, Answer | None]:
        zeros = ZEROS[:max(0, length - len(photo.data))]
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                return photo, await server.ask(port, photo.name, (photo.data, zeros), SIDE)
        return photo, None

    def kind(photo: Photo, answer: Answer | None) -> str:
        if answer is None:
            return "none"
        if answer.status == 503 and "retry-after" in answer.headers and not answer.is_followed:
            return "503"
        return fault(photo, SIDE, answer) or "200"

    answers = await asyncio.gather(*map(client, itertools.cycle(photos), lengths))
    return dict(Counter(itertools.starmap(kind, answers)))


def measure_load(server: Server, photos: list[Photo], options: argparse.Namespace) -> Load:
    # A forked process would hold the pictures too.
    spawning = multiprocessing.get_context("spawn")
    with running(server, options.mebibytes) as there:
        pipe, other_end = spawning.Pipe()
        watcher = spawning.Process(target=watch_health, args=(there.port, server.health, other_end), daemon=True)
        watcher.start()
        other_end.close()
        pipe.recv()
        with GroupSampler(there.server) as sampler:
            start = time.monotonic()
            answers = asyncio.run(send_all(server, there.port, photos, options.connections))
            seconds = time.monotonic() - start
            pipe.send("end")
            health, failures = pipe.recv()
        watcher.join()
    peak = re.search(r"at most (\d+) of", there.said)
    kills = max(sampler.kills, there.process.returncode == 137)
    return Load(answers, seconds, health, failures, int(peak[1]) if peak else 0, sampler.held >> 20, kills)


def load_table(measured: dict[str, Load]) -> str:
    lines = [
        "| server | 200 | 503 | no answer | other | time | health p50 | p99 | longest | not answered "
        "| memory of the group | of processes | killed |",
        "| --- |" + " ---: |" * 12]
    for name, load in measured.items():
        counts = [load.answers.get(kind, 0) for kind in ("200", "503", "none")]
        counts.append(sum(load.answers.values()) - sum(counts))
        health = [percentile(load.health, percent) for percent in (50, 99, 100)] if load.health else []
        cells = [
            name, *counts, f"{load.seconds:.1f} s", *(map(milliseconds, health) if health else [""] * 3),
            load.health_failures, f"{load.group} MiB", f"{load.processes} MiB", load.kills or "no"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


# Telling


def versions(contenders: list[Server], options: argparse.Namespace) -> list[str]:
    found = [f"pyvips with libvips {version('pyvips-binary')}"]
    if any(server.name.startswith("thumbor") for server in contenders):
        said = subprocess.run([options.thumbor, "--version"], check=True, capture_output=True, text=True).stdout
        found.append(f"thumbor {said.split()[1].removeprefix('v')}")
    return found


def report(title: str, throughput: Throughput, loads: dict[str, Load], options: argparse.Namespace) -> str:
    parts = []
    if throughput:
        parts += [
            throughput_table(throughput, options.requests),
            f"Rounds: {options.rounds}; requests of each server in each turn: {options.requests}; {title}"]
    if loads:
        parts += [
            load_table(loads),
            f"{options.connections} clients at once, bodies of {SMALLEST // 1_000_000} to {LARGEST // 1_000_000} MB, "
            f"{options.mebibytes} MiB of memory; {title}"]
    return "\n\n".join(parts) + "\n"


def as_json(title: str, throughput: Throughput, loads: dict[str, Load]) -> dict:
    return {
        "title": title,
        "throughput": [
            {"pixels": side, "clients": clients, "server": name, "rounds": [asdict(turn) for turn in rounds]}
            for (side, clients), turns in throughput.items() for name, rounds in turns.items()],
        "load": {name: asdict(load) for name, load in loads.items()}}


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description="thumbjob serve beside other preview servers")
    parser.add_argument("--thumbjob", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--naive", type=Path, metavar="PROGRAM", help="naive-preview-server; left out by default")
    parser.add_argument("--thumbor", default="thumbor", metavar="PROGRAM", help="left out if it is not there")
    parser.add_argument("--pictures", type=Path, required=True, metavar="FOLDER", help="photographs, *.jpg")
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks"), help="(default: .build/benchmarks)")
    parser.add_argument("--sizes", type=numbers, default="256,1024,2048", help="in pixels (default: 256,1024,2048)")
    parser.add_argument("--clients", type=numbers, default="1,8,64", help="at once (default: 1,8,64)")
    parser.add_argument("--requests", type=int, default=96, help="of each server in each turn (default: 96)")
    parser.add_argument("--rounds", type=int, default=3, help="0 leaves the first table out (default: 3)")
    parser.add_argument("--connections", type=int, default=400, help="0 leaves the second table out (default: 400)")
    parser.add_argument("--mebibytes", type=int, default=192, help="of memory for the second table (default: 192)")
    options = parser.parse_args()
    photos = read_photos(options.pictures)
    if not photos:
        fail(f"{options.pictures} has no *.jpg")
    if options.connections and os.geteuid() != 0:
        fail("a memory group needs root; --connections 0 leaves it out")
    # Servers are ended then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    contenders = servers(options)
    options.out.mkdir(parents=True, exist_ok=True)

    throughput = measure_throughput(contenders, photos, options) if options.rounds else {}
    loads: dict[str, Load] = {}
    for server in contenders if options.connections else []:
        if server.receives:
            loads[server.name] = measure_load(server, photos, options)
            print(f"{options.connections} clients, {server.name} {loads[server.name].answers}", file=sys.stderr)
    title = "; ".join([datetime.date.today().isoformat(), bench.machine(), *versions(contenders, options)])
    (options.out / "serve.json").write_text(json.dumps(as_json(title, throughput, loads), indent=1) + "\n")
    text = report(title, throughput, loads, options)
    (options.out / "serve.md").write_text(text)
    print(text)
    if loads and not loads["thumbjob"].is_good:
        fail("thumbjob was killed, or has not answered all clients")


if __name__ == "__main__":
    main()
