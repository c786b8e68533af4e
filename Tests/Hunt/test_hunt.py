"""Tests of `hunt` itself."""

import os
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import circumstances
import hunt


class FailuresTests(unittest.TestCase):
    def test_each_kind_of_log_names_its_failures_once(self):
        log = "\n".join([
            "✔ Test good() passed after 0.1 seconds.",
            '✘ Test bad(moment:) recorded an issue with 1 argument moment → 2 at A.swift:3:4: Expectation failed',
            "✘ Test bad(moment:) with 4 test cases failed after 1.2 seconds with 1 issue.",
            "✘ Test worse() failed after 1.2 seconds with 1 issue.",
            "✘ Test worse() failed after 1.2 seconds with 1 issue.",
            "FAILED Tests/EndToEnd/test_page.py::test_button - AssertionError",
            "FAILED (failures=1)",
            "FAIL: test_a_break (test_attack.AttackTests.test_a_break)",
            "SUMMARY: ThreadSanitizer: data race A.swift:1:2 in f",
        ])
        self.assertEqual(hunt.failures(log), [
            "bad(moment:)", "worse()", "Tests/EndToEnd/test_page.py::test_button", "test_a_break",
            "ThreadSanitizer: data race A.swift:1:2 in f"])

    def test_the_table_begins_with_what_fails_most_often(self):
        counts = {"seldom": Counter(idle=1), "often": Counter(idle=1, busy=2)}
        self.assertEqual(hunt.table(counts, Counter(idle=3, busy=3), ["idle", "busy"]).splitlines(), [
            "test    idle  busy", "runs    3     3", "often   1     2", "seldom  1"])


class CircumstanceTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def said(self, name: str, script: str) -> str:
        [one] = circumstances.named(name)
        try:
            with circumstances.brought_about(one, self.root) as run:
                log = self.root / "log"
                self.assertEqual(run(["sh", "-c", script], log), 0, log.read_text())
                return log.read_text().strip()
        except circumstances.MissingError as error:
            self.skipTest(str(error))

    def test_an_unknown_circumstance_is_refused_with_those_that_there_are(self):
        with self.assertRaisesRegex(ValueError, "no circumstance noon; there are idle, busy"):
            circumstances.named("idle,noon")

    def test_a_time_zone_reaches_the_tests(self):
        self.assertEqual(self.said("zone", "echo $TZ"), "Asia/Kathmandu")

    def test_a_language_reaches_the_tests_where_it_is_installed(self):
        self.assertEqual(self.said("locale", "echo $LC_ALL"), "tr_TR.UTF-8")

    def test_one_core_is_all_there_is(self):
        self.assertEqual(self.said("one-core", "nproc"), "1")

    def test_busy_processes_run_meanwhile_and_end_afterwards(self):
        children = f"pgrep -P {os.getpid()} -fc '[w]hile os.getppid' || true"
        self.assertEqual(self.said("busy", children), str(circumstances.CORES))
        self.assertEqual(subprocess.check_output(["sh", "-c", children], text=True).strip(), "0")

    def test_a_memory_limit_holds(self):
        script = """python3 -c 'b"1" * (3 << 30)' && echo lived || echo died"""
        self.assertIn("died", self.said("2-gib", script))

    def test_the_odd_user_works_in_a_copy_at_the_same_path(self):
        (self.root / "file").write_text("old")
        said = self.said("odd-user", "id -u; pwd; echo new > file; echo ${HOME-none}")
        self.assertEqual(said.split(), [str(circumstances.ODD_USER), str(self.root), "none"])
        self.assertEqual((self.root / "file").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
