"""Tests of the soak itself: it is content with a program that keeps the rules, and finds each that is broken.

    python3 -m unittest discover -s Tests/Soak
"""

import contextlib
import io
import json
import random
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import chart
import checks
import disturb
import samples
import soak
from process import Ledger, Listings
from samples import Sample, Track
from sources import folder_problems

HERE = Path(__file__).parent
SKIPPED = {"full disk": "a test needs none", "group": "a test needs none"}


def soaked(*lies, seconds=5, patience=120, kinds=("plain", "kill", "door"), weights=None):
    """Runs the soak with a fake program that tells these lies, until something is wrong or the time is over.

    Returns exit status, output, and the texts of the kept files.
    """
    with tempfile.TemporaryDirectory(prefix="soak-test-") as name:
        folder = Path(name)
        programs = []
        for program, words in (("thumbjob", ",".join(lies) or "none"), ("make_images", "")):
            programs.append(folder / program)
            programs[-1].write_text(f'#!/bin/sh\nexec {sys.executable} {HERE}/fake_{program}.py {words} "$@"\n')
            programs[-1].chmod(0o755)
        with (
            contextlib.redirect_stdout(io.StringIO()) as printed, mock.patch("soak.skips", lambda: SKIPPED),
            mock.patch("soak.sources_of_chain", lambda _: 60), mock.patch("chains.Chains.KINDS", kinds),
            mock.patch("disturb.LONGEST_PAUSE", 0.05), mock.patch("disturb.WEIGHTS", weights or disturb.WEIGHTS),
            mock.patch("longrun.LEAST_BETWEEN_RESTS", 1),
            mock.patch("endpoint.most_clients", lambda: 10), mock.patch("setting.MOST_VIOLATIONS", 1),
            mock.patch("samples.FEWEST_SOURCES", 100), mock.patch("samples.INTERVAL", 0.05),
        ):
            status = soak.main([
                "--thumbjob", str(programs[0]), "--make-images", str(programs[1]), "--minutes", str(seconds / 60),
                "--patience", str(patience), "--keep", str(folder / "kept")])
        kept = {str(path.relative_to(folder / "kept")): path.read_text() for path in (folder / "kept").rglob("*.*")}
    return status, printed.getvalue(), kept


class Lies(unittest.TestCase):
    def found(self, lie, expected, **options):
        status, printed, kept = soaked(lie, seconds=60, **options)
        self.assertEqual(status, 1)
        self.assertIn(expected, printed)
        # Everything that helps to find the cause is kept.
        problems = [text for name, text in kept.items() if name.endswith("problems.txt")]
        self.assertIn("seed 1", problems[0])
        self.assertTrue([name for name in kept if name.endswith("actions.txt")])

    def test_a_program_without_faults_passes(self):
        status, printed, kept = soaked()
        self.assertEqual((status, printed.count("violations:")), (0, 1), printed)
        self.assertIn("SKIPPED [1] soak.py full disk: a test needs none", printed)
        figures = json.loads(kept["soak.json"])
        self.assertEqual(figures["violations"], [])
        self.assertTrue(figures["processes"][0]["samples"])
        ElementTree.fromstring(kept["soak.svg"])

    def test_a_leak_of_descriptors_is_found(self):
        with mock.patch("longrun.CLOSING_SECONDS", 1):
            self.found("leaks-files", "open files, and had")

    def test_a_leak_of_threads_is_found(self):
        self.found("leaks-threads", "threads")

    def test_a_leak_of_memory_is_found(self):
        self.found("leaks-memory", "bytes of memory, more than")

    def test_counts_that_do_not_add_up_are_found(self):
        self.found("miscounts", "the summary's counts add up to")

    def test_a_source_without_a_word_is_found(self):
        self.found("forgets-one", "it told of")

    def test_a_left_temporary_file_is_found(self):
        self.found("leaves-a-file", "it left the file")

    def test_a_left_socket_is_found(self):
        self.found("leaves-a-socket", "it left the sockets")

    def test_a_damaged_thumbnail_is_found(self):
        self.found("damages", "differs from that of an undisturbed run")

    # On a busy machine, something else may be the first that does not happen in time.

    def test_a_hang_is_found(self):
        self.found("never-ends", "within 5 s", patience=5, kinds=("plain",))

    def test_a_listing_that_does_not_come_is_found(self):
        self.found("does-not-list", "within 5 s", patience=5, weights={"list": 1})

    def test_more_running_than_allowed_are_found(self):
        self.found("lists-too-many", "the limit was never more than")

    def test_work_in_a_paused_job_is_found(self):
        self.found("goes-on-when-paused", "the paused job went on", weights={"pause_and_resume": 1})

    def test_a_crash_is_found(self):
        self.found("crashes", "it ended without a summary, with SIGSEGV")

    def test_a_wrong_exit_status_is_found(self):
        self.found("exits-with-0", "the exit status is 0 and should be one of")


SUMMARY = {
    "event": "summary", "found": 4, "made": 2, "up_to_date": 1, "failed": 0, "cancelled": 1, "passed_over": 0,
    "not_read": 0, "own_thumbnails": 0, "duplicates": 0, "missing": 0, "walk_problems": 0, "max": 2, "backlog": 8,
    "peak_running": 2, "peak_waiting": 8, "budget_bytes": 0, "peak_memory_bytes": 1, "work_remains": True,
    "exit_status": 75}


class Rules(unittest.TestCase):
    def problems(self, status, sent, given=4, **changes):
        ledger = Ledger()
        ledger.outcomes.update(made=2, cancelled=1)
        ledger.summary = {**SUMMARY, **changes}
        return checks.problems(checks.End(status, sent, ledger, given, highest_max=2, highest_backlog=8))

    def test_what_was_done_decides_about_the_exit_status(self):
        self.assertEqual(self.problems(75, {"SIGUSR2": 1}), [])
        self.assertEqual(self.problems(75, {"DELETE /operations": 1}), [])
        self.assertIn("nothing stopped", self.problems(75, {})[0])
        self.assertIn("should be one of [143]", self.problems(75, {"SIGTERM": 1})[0])
        self.assertEqual(self.problems(143, {"SIGTERM": 1}, exit_status=143), [])

    def test_every_source_is_accounted_for(self):
        self.assertIn("was given 3", self.problems(75, {"SIGUSR2": 1}, given=3)[0])
        self.assertIn("says that no work remains", self.problems(0, {}, 5, work_remains=False, exit_status=0)[0])
        self.assertIn("it told of 2 sources made", "".join(self.problems(75, {"SIGUSR2": 1}, made=1, up_to_date=2)))

    def test_limits_hold(self):
        self.assertIn("peak_running 3", self.problems(75, {"SIGUSR2": 1}, peak_running=3)[0])
        self.assertIn("60 MiB", self.problems(75, {"SIGUSR2": 1}, peak_memory_bytes=70 << 20)[0])

    def test_only_a_killed_process_may_lack_a_summary(self):
        for status, sent, is_right in ((-9, {"SIGKILL": 1}, True), (-9, {}, False), (143, {"SIGTERM": 2}, True),
                                       (143, {"SIGTERM": 1}, False), (0, {}, False)):
            self.assertEqual(checks.problems(checks.End(status, sent, Ledger())) == [], is_right, (status, sent))


class Growth(unittest.TestCase):
    def track(self, mebibytes):
        track = Track("a", 1)
        track.samples = [Sample(second, value << 20, 20, 10) for second, value in enumerate(mebibytes)]
        return track

    def test_growth_after_the_second_quarter_is_found(self):
        margin = samples.RSS_MARGIN >> 20
        flat = random.Random(1).choices(range(50, 50 + margin), k=400)
        self.assertEqual(samples.growth_problems(self.track(flat), 10_000), [])
        self.assertEqual(samples.growth_problems(self.track([200] * 100 + flat), 10_000), [])
        grown = [50 + second // 8 for second in range(400)]
        self.assertIn("grew", samples.growth_problems(self.track(grown), 10_000)[0])
        self.assertEqual(samples.growth_problems(self.track(grown), 10), [], "so few sources say nothing")

    def test_the_chart_keeps_the_peaks_of_many_samples(self):
        track = self.track([50] * 5000 + [400] + [50] * 5000)
        drawing = chart.chart("a <title>", [track], 10_001)
        texts = [text.text for text in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("a <title>", texts)
        self.assertIn("500", texts)  # the scale
        self.assertLess(len(drawing), 200_000)


class Reading(unittest.TestCase):
    LISTING = (
        "thumbjob: 1 of 2 running", "  #13 thumbnail a/b.jpg → 7x7: running, resizing 89 %, 0.2 s, holds up to 1 MiB",
        "thumbjob: 2 of 8 waiting: all 2 places are taken", "  #14 thumbnail a/c.jpg → 7x7: waiting 0.5 s",
        "  … and 1 more", "thumbjob: 4 of 64 MiB of memory reserved · pressure normal (psi)",
        "thumbjob: 28 found · 12 made · 0 up to date · 0 failed · 0 cancelled",
        "thumbjob: 0.5 s so far · at most 2 running, 8 waiting")

    def problems(self, lines, highest_max=2):
        listings = Listings()
        listings.highest_max = highest_max
        for line in lines:
            listings.receive(line)
        return listings.problems, listings.count

    def test_a_listing_is_understood(self):
        self.assertEqual(self.problems(self.LISTING * 2), ([], 2))

    def test_a_listing_that_contradicts_itself_is_found(self):
        lines = list(self.LISTING)
        self.assertIn("says 1 running and lists 0", self.problems([lines[0], *lines[2:]])[0][0])
        self.assertIn("unknown line", self.problems([lines[0], "  #13 thumbnail", *lines[2:]])[0][0])
        lines[6] = "thumbjob: 2 found · 12 made · 0 up to date · 0 failed · 0 cancelled"
        self.assertIn("more sources than it found", self.problems(lines)[0][0])
        self.assertIn("never more than 1", self.problems(["thumbjob: 2 of 2 running"], highest_max=1)[0][0])

    def test_what_is_in_a_folder_of_thumbnails_is_checked(self):
        with tempfile.TemporaryDirectory() as name:
            thumbs = Path(name)
            (thumbs / ".thumbjob/run-1").mkdir(parents=True)
            (thumbs / ".thumbjob/settings").touch()
            self.assertIn("it left the folder .thumbjob/run-1", folder_problems(thumbs, {}, True))
            self.assertEqual(folder_problems(thumbs, {}, False, may_have_rest=True), [])
            (thumbs / ".thumbjob/run-1").rmdir()
            self.assertEqual(folder_problems(thumbs, {}, True), [])
            self.assertEqual(folder_problems(thumbs, {"a.jpg": {"digest"}}, False), [])
            self.assertIn("missing: a.jpg", folder_problems(thumbs, {"a.jpg": {"digest"}}, True)[0])
            (thumbs / "a.jpg").touch()
            self.assertIn("differs", folder_problems(thumbs, {"a.jpg": {"digest"}}, True)[0])
            self.assertIn("it left the file a.jpg", folder_problems(thumbs, {}, True))


if __name__ == "__main__":
    unittest.main()
