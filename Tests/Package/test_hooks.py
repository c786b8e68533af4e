"""A queue beside swift-service-lifecycle, swift-log, swift-metrics and swift-distributed-tracing."""

import os
import subprocess
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "Hooks"
SCRATCH = Path(".build-hooks").absolute()
EXPECTED = """\
log debug good: succeeded logged -
log error bad: failed: Refusal() logged user
log notice late: cancelled while waiting, by the user logged -
metrics succeeded 2
metrics failed 1
metrics cancelled 1
metrics waited 4
metrics ran 3
metrics waiting 0.0
metrics running 0.0
span inner of load in load 0 errors
span inner of step in step 0 errors
span load in request 1 errors
span request in - 0 errors
span sleep in request 0 errors
span step in request 0 errors
service succeeded
service later: the queue is closed and accepts no more operations
service with a limit: cancelled while running, by shutdown
group fails: true
group left 0
"""


class HookTests(unittest.TestCase):
    def test_each_shows_the_operations_of_a_queue(self):
        build = [os.environ.get("SWIFT", "swift"), "build", "--package-path", PACKAGE, "--scratch-path", SCRATCH]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("THUMBJOB_")}
        done = subprocess.run(build, env=environment, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        run = subprocess.run([SCRATCH / "debug" / "hooks"], text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(run.stdout + run.stderr, EXPECTED)


if __name__ == "__main__":
    unittest.main()
