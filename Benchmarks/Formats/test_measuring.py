import os
import sys
import unittest

import measuring

HOLD = "held = bytearray({0} << 20); held[::4096] = b'x' * len(held[::4096])"


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


class MeasuringTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        measuring.become_subreaper()

    def test_memory_of_a_process_that_ends_at_once(self) -> None:
        run = measuring.run(python(HOLD.format(100)), 30)
        self.assertEqual(run.status, 0)
        self.assertGreater(run.memory, 100 << 20)
        self.assertLess(run.memory, 130 << 20)

    def test_memory_of_a_child_that_a_thread_has_started_is_added(self) -> None:
        child = f"import time; {HOLD.format(60)}; time.sleep(0.2)"
        parent = f"import subprocess, threading; {HOLD.format(50)}; " \
            f"threading.Thread(target=lambda: subprocess.run({python(child)!r})).start()"
        run = measuring.run(python(parent), 30)
        self.assertEqual(run.said, "")
        self.assertGreater(run.memory, 110 << 20)

    def test_what_the_caller_holds_does_not_count(self) -> None:
        held = bytearray(200 << 20)
        held[::4096] = b"x" * len(held[::4096])
        run = measuring.run(["sleep", "0.1"], 30)
        self.assertGreater(run.memory, 0)
        self.assertLess(run.memory, 50 << 20)

    def test_processor_time_of_a_child_that_outlives_the_command(self) -> None:
        # It closes its output when it has burnt its time, and stays.
        burn = "import os, time\nwhile time.process_time() < 0.3: pass\nos.close(1)\ntime.sleep(60)"
        code = f"import subprocess; subprocess.Popen({python(burn)!r}, stdout=subprocess.PIPE).stdout.read()"
        run = measuring.run(python(code), 30)
        self.assertEqual((run.status, run.said), (0, ""))
        self.assertGreater(run.cpu_seconds, 0.3)
        self.assertEqual(measuring.children(os.getpid()), [])

    def test_a_command_that_does_not_end_is_ended(self) -> None:
        run = measuring.run(["sleep", "60"], 0.2)
        self.assertTrue(run.timed_out)
        self.assertLess(run.seconds, 10)
        self.assertEqual(run.status, -9)

    def test_output_apart_from_messages(self) -> None:
        run = measuring.run(["sh", "-c", "echo one; echo two >&2; exit 3"], 30, keep_output=True)
        self.assertEqual((run.status, run.out, run.said), (3, "one\n", "two\n"))


if __name__ == "__main__":
    unittest.main()
