"""A run of thumbjob with sources from the network, from its start to its end, and what came out of it."""

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from job import THUMBJOB

PROXIES = {f"{scheme}_proxy" for scheme in ("http", "https", "all", "no")}


def environment(folder, **changes):
    """The environment of a run: no proxy, and a folder for its socket where no other job is."""
    inherited = {name: value for name, value in os.environ.items() if name.lower() not in PROXIES}
    inherited.pop("SSL_CERT_FILE", None)
    inherited.pop("CURL_CA_BUNDLE", None)
    return {**inherited, "THUMBJOB_RUNTIME_DIR": str(folder / "thumbjob"), **changes}


@dataclass(frozen=True)
class Result:
    status: int
    stdout: str
    stderr: str
    seconds: float
    out: Path
    # The bytes of all thumbnails after the run, by their paths below the output folder.
    thumbnails: dict

    @property
    def events(self):
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def summary(self):
        return self.events[-1]

    @property
    def failures(self):
        """The events of the sources that failed, by name."""
        return {event["source"]: event for event in self.events if event.get("outcome") == "failed"}

    @property
    def lines(self):
        """The lines about sources, in the order in which they were printed."""
        return [line for line in self.stderr.splitlines() if line.startswith("thumbjob: ")]

    def lines_about(self, url):
        return [line for line in self.lines if line.startswith(f"thumbjob: {url}: ")]


def thumbnails(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.jpg"))}


def other_files(folder):
    """All files of an output folder that are no thumbnails."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".jpg"}


def run(folder, *arguments, out="thumbs", sources=None, prefix=(), private=True, seconds=60, **changes):
    """Runs it to its end. `sources` is a list for standard input; `out` may be in a bucket; `changes` are variables
    of its environment."""
    if sources is not None:
        arguments = ("--files0-from", "-", *arguments)
    output = out if out.startswith("s3://") else folder / out
    command = [
        *prefix, THUMBJOB, *arguments, *(["--allow-private"] if private else []), "-o", output, "--json",
        "--progress", "none"]
    start = time.monotonic()
    result = subprocess.run(
        command, check=False, capture_output=True, timeout=seconds, env=environment(folder, **changes),
        input=b"".join(os.fsencode(source) + b"\0" for source in sources or ()))
    seconds_taken = time.monotonic() - start
    return Result(
        result.returncode, result.stdout.decode(), result.stderr.decode(), seconds_taken, folder / out,
        thumbnails(folder / out))


def place(url):
    """The path of a URL's thumbnail below the output folder, for a URL with a port and without a query."""
    host, path = url.split("://", 1)[1].split("/", 1)
    return f"{host.replace(':', '_')}/{path}"


def ended_without_a_crash(result):
    """A crash of Swift is a signal, or a line of the runtime."""
    return result.status in (0, 1, 64, 66, 75) and "Fatal error" not in result.stderr
