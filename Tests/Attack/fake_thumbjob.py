"""fake_thumbjob.py LIES FOLDER -o OUT …: a program that tells lies about its thumbnails, to test that they are found.

It refuses every second file and makes the others.
"""

import json
import os
import signal
import sys
import zlib
from pathlib import Path

lies, folder, out = sys.argv[1].split(","), Path(sys.argv[2]), Path(sys.argv[4])
is_alone = sys.argv[sys.argv.index("--max") + 1] == "1"
if "crashes" in lies:
    os.kill(os.getpid(), signal.SIGSEGV)


def thumbnail(source):
    """Bytes with the structure of a JPEG file, which are others for each source."""
    body = zlib.crc32(source.read_bytes()).to_bytes(4)
    if "differs-with-max-1" in lies and is_alone:
        body = body[::-1]
    return b"\xff\xd8\xff\xe5\x00\x06" + body + b"\xff\xd9"


out.mkdir()
counts = {"made": 0, "failed": 0}
for number, source in enumerate(sorted(folder.iterdir())):
    if "forgets-one" in lies and number == 3:
        continue
    event = {"event": "source", "source": f"{folder}/{source.name}", "outcome": "failed", "error": "it is bad"}
    if "makes-all" in lies or "remarks-on-all" in lies or (number % 2 and "refuses-all" not in lies):
        place = out / source.name
        place.write_bytes(thumbnail(source))
        event = {**event, "outcome": "made", "error": None, "thumbnails": [{"path": str(place)}]}
        if "remarks-on-all" in lies:
            event["warnings"] = ["it is odd"]
    counts[event["outcome"]] += 1
    if event["outcome"] == "failed":
        if "crashes-a-decoder" in lies:
            event["error"] = "the decoder crashed: signal 11, Segmentation fault"
        for _ in range(2 if "says-it-twice" in lies else 1):
            print(f"thumbjob: {event['source']}: {event['error']}", file=sys.stderr)
    print(json.dumps(event))
if "takes-memory" in lies:
    taken = b"a" * (500 << 20)
if "leaves-a-file" in lies:
    left = out / ".thumbjob/17"
    left.mkdir(parents=True)
    (left / "1.tmp").touch()
status = 1 if counts["failed"] else 0
print(json.dumps({"event": "summary", **counts, "exit_status": status, "baseline_bytes": 0}))
sys.exit(0 if "exits-with-0" in lies else status)
