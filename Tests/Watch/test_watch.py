"""Tests that watch.py finds faults: with folders that do not agree, and with a program that does not watch."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from mirror import differences, wait_until_equal

HERE = Path(__file__).parent

# It says that it is ready, and then does nothing.
IDLE = """#!/usr/bin/env python3
import os, signal, socket, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
time.sleep(600)
"""


class MirrorTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.photos, self.thumbnails = Path(folder.name) / "photos", Path(folder.name) / "thumbs"
        for top in (self.photos, self.thumbnails):
            self.make(top / "a.jpg")
            self.make(top / "album/b.jpg")

    def make(self, path: Path, modified=1_700_000_000):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        os.utime(path, (modified, modified))

    def test_folders_that_agree_have_no_differences(self):
        self.make(self.thumbnails / ".thumbjob/settings")
        self.assertEqual(differences(self.photos, self.thumbnails), [])

    def test_every_kind_of_difference_is_found(self):
        self.make(self.photos / "new.jpg")
        self.make(self.thumbnails / "old.jpg")
        self.make(self.photos / "a.jpg", modified=1_700_000_001)
        lines = ["new.jpg: has no thumbnail", "old.jpg: its photo is gone", "a.jpg: of another version of its photo"]
        self.assertEqual(differences(self.photos, self.thumbnails), lines)

    def test_a_wait_ends(self):
        self.make(self.photos / "new.jpg")
        seconds, left = wait_until_equal(self.photos, self.thumbnails, 0.05)
        self.assertGreater(seconds, 0.05)
        self.assertEqual(len(left), 1)


class ProgramTests(unittest.TestCase):
    def test_a_program_that_does_not_follow_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "thumbjob"
            program.write_text(IDLE)
            program.chmod(0o755)
            command = [sys.executable, HERE / "watch.py", "--program", program, "--count", "20", "--events", "100"]
            command += ["--settled", "0.2"]
            run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 1, run.stderr)
        faults = [line for line in run.stdout.splitlines() if line.startswith("FAULT ")]
        self.assertIn("FAULT 20 files copied in: 20 differences, such as 0.jpg: has no thumbnail", faults)
        self.assertIn("FAULT the kernel's queue did not overflow", faults)


if __name__ == "__main__":
    unittest.main()
