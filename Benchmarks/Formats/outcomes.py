"""What became of one picture in each program: made, refused, passed over, crashed, or not done in time."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from thumbnailers import FINEST, Thumbnailer, thumbnail_in

MADE, REFUSED, PASSED_OVER, CRASHED, LATE = "made", "refused", "passed over", "crashed", "not done in time"
# Bytes of address space for the other programs: files that are made to, make some take all there is.
PEERS_MEMORY = 8 << 30
PEERS_FILE = 1 << 30
# A run goes on after these, but the helper that decodes should never do so, whatever the file.
HELPER_FAULTS = (
    "the decoder crashed", "the decoder made a forbidden system call", "the decoder ended with exit status",
    "the decoder sent ")
SAID = 300  # characters of a message that are kept


@dataclass(frozen=True)
class Outcome:
    kind: str
    said: str = ""
    thumbnail: Path | None = None


def outcome(program: Thumbnailer, picture: Path, work: Path, limit: float, box: int) -> Outcome:
    """Makes a thumbnail of one picture in a box, in a new folder below `work`."""
    # vipsthumbnail takes a relative path for one in the folder of the picture.
    out = Path(tempfile.mkdtemp(dir=work)).absolute()
    # Names of files are commands to some programs, such as `a.png[0]` or `text:a`; the suffix stays, because some go
    # by it.
    link = out / ("picture" + "".join(letter for letter in picture.suffix if letter.isalnum() or letter == "."))
    os.link(picture, link)
    target = out / "thumbnails"
    target.mkdir()
    command = program.command(link, target, FINEST, box)
    ours = program.name == "thumbjob"
    if not ours:
        command = ["prlimit", f"--as={PEERS_MEMORY}", f"--fsize={PEERS_FILE}", *command]
    status, printed, said = run(command, limit, {**os.environ, **program.environment})
    if status is None:
        return Outcome(LATE)
    if ours:
        return of_thumbjob(status, printed, said, thumbnail_in(target))
    return of_peer(status, said, thumbnail_in(target))


def run(command: list[str], limit: float, environment: dict[str, str]) -> tuple[int | None, str, str]:
    """Exit status, none if it had to be ended; standard output; standard error."""
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True)
    try:
        printed, said = process.communicate(timeout=limit)
        return process.returncode, printed, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""


def of_thumbjob(status: int, printed: str, said: str, thumbnail: Path | None) -> Outcome:
    if status < 0:
        return Outcome(CRASHED, f"signal {-status}: {said[-SAID:]}")
    event = next((event for event in events(printed) if event.get("event") == "source"), None)
    if event is None:
        return Outcome(CRASHED, f"exit status {status} and no word of the picture: {said[-SAID:]}")
    match event["outcome"]:
        case "made" if thumbnail:
            return Outcome(MADE, "; ".join(map(str, event.get("warnings", []))), thumbnail)
        case "passed-over" | "not-read" | "own-thumbnail":
            return Outcome(PASSED_OVER, event.get("type", event["outcome"]))
        case "failed":
            why = event.get("error", "")
            return Outcome(CRASHED if any(fault in why for fault in HELPER_FAULTS) else REFUSED, why)
        case other:
            return Outcome(CRASHED, f"said {other}, without a thumbnail")


def events(printed: str) -> list[dict]:
    found = []
    for line in printed.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"not JSON: {line[:SAID]}", file=sys.stderr)
    return found


def of_peer(status: int, said: str, thumbnail: Path | None) -> Outcome:
    lines = said.strip().splitlines() or [""]
    # The last line of a Python program's message says what happened; the first line of other programs'.
    line = (lines[-1] if "Traceback" in said else lines[0])[:SAID]
    # Through prlimit, a shell's status of a signal stays as it is: negative.
    if status < 0:
        return Outcome(CRASHED, f"signal {-status}: {line}")
    if status == 0 and thumbnail and thumbnail.stat().st_size > 0:
        return Outcome(MADE, line, thumbnail)
    return Outcome(REFUSED, line)
