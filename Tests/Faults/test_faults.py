"""Tests of the fault injection itself: each rule can be broken, and the document can be false.

    python3 -m unittest discover -s Tests/Faults
"""

import errno
import json
import os
import re
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import changes
import faults
import joins
import judge
import plan
import preload
import scenes
import table
import workplace
from preload import Call, Rule

HERE = Path(__file__).parent
COMPILER = os.environ.get("COMPILER", "cc")
PHOTOS = {"photos/a.jpg": b"a" * 3000, "photos/b.jpg": b"b" * 3000}
SCENE = scenes.Scene("fake", ("--json",), "a program that lies", PHOTOS)
JOINS = scenes.Scene("fake-joins", (*joins.ARGUMENTS, "--json"), "also of all thumbnails", PHOTOS)


def _replaced(folder):
    (folder / "photos/a.jpg").write_bytes(b"c" * 3000)
    (folder / "thumbs/a.jpg").unlink()


OVER_JOINS = replace(JOINS, name="fake-over", changes=_replaced)


def fault(call, place, kind, number=1):
    found = Call(call, place, "fake", "0", number)
    return plan.Fault("fake", (plan.rule_of(found, kind),), call, kind, plan.places.Names(SCENE, [found]).of(found))


class Lies(unittest.TestCase):
    """Each lie of a program must be found."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="thumbjob-faults-")
        work = Path(cls.folder.name)
        cls.library = preload.build(COMPILER, work)
        cls.program = work / "thumbjob"
        subprocess.run([COMPILER, "-o", cls.program, HERE / "fake_thumbjob.c", HERE / "fake_joins.c"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def problems(self, lie, what, limit=30, scene=SCENE):
        with (
            tempfile.TemporaryDirectory(dir=self.folder.name) as work, mock.patch.object(faults, "AT_ONCE", 1),
            mock.patch.dict(os.environ, {"LIES": lie}),
        ):
            tested = faults.Faults(Path(work), self.program, self.library, limit)
            return tested.try_fault(scene, tested.reference(scene), what).problems

    def found(self, lie, what, expected, scene=SCENE, **others):
        self.assertEqual(self.problems("", what, scene=scene), [])
        problems = self.problems(lie, what, scene=scene, **others)
        self.assertTrue(any(re.search(expected, problem) for problem in problems), problems)

    def test_a_crash_is_found(self):
        self.found("crashes", fault("open", "photos/a.jpg", "EIO"), "ended by signal 11")

    def test_an_endless_run_is_found(self):
        self.found("hangs", fault("write", "thumbs/.thumbjob/run-*/a.jpg.tmp", "EIO"), "did not end in time", limit=3)

    def test_a_temporary_file_is_found(self):
        what = fault("write", "thumbs/.thumbjob/run-*/a.jpg.tmp", "ENOSPC")
        self.found("leaves-a-file", what, "it left thumbs/.thumbjob/run-1/a.jpg.tmp")

    def test_a_half_thumbnail_is_found(self):
        places = ("thumbs/a.jpg", "thumbs/.thumbjob/run-*/a.jpg.tmp")
        rules = [Rule("write", place, "short") for place in places]
        rules += [Rule("write", place, "error", errno.ENOSPC, 2, 2) for place in places]
        what = plan.Fault("fake", tuple(rules), "write", "ENOSPC", "a temporary file")
        self.found("writes-in-place", what, "thumbs/a.jpg is neither the thumbnail")

    def test_a_short_write_is_found(self):
        what = fault("write", "thumbs/.thumbjob/run-*/b.jpg.tmp", "short")
        self.found("expects-all-bytes", what, "it differs from the undisturbed run: other files: thumbs/b.jpg")

    def test_an_interrupted_call_is_found(self):
        self.found("fails-if-interrupted", fault("read", "photos/b.jpg", "EINTR"), "it differs from the undisturbed")

    def test_a_jump_of_the_clock_is_found(self):
        what = plan.Fault("fake", (Rule("clock", "real", "jump", 1 << 30),), "clock", "ahead", "the clock")
        self.found("knows-the-year", what, "it differs from the undisturbed run: exit status 1 instead of 0")

    def test_a_wrong_exit_status_is_found(self):
        what = fault("read", "photos/a.jpg", "EIO")
        self.found("exits-with-0", what, "the exit status is 0, but not everything is made")
        what = fault("mkdir", "thumbs/.thumbjob/run-*", "ENOSPC")
        self.found("exits-with-7", what, "the exit status 7 is not documented")

    def test_a_run_that_does_not_say_why_is_found(self):
        what = fault("read", "photos/a.jpg", "EIO")
        self.found("says-nothing", what, "it says nothing of the fault")
        self.found("names-no-cause", what, "it does not say “Input/output error”")

    def test_a_wrong_sum_is_found(self):
        self.found("miscounts", fault("read", "photos/a.jpg", "EIO"), "the summary does not add up")

    def test_a_changed_source_is_found(self):
        self.found("changes-a-source", fault("read", "photos/a.jpg", "EIO"), "it changed the source photos/a.jpg")

    def test_a_next_run_that_does_not_make_the_rest_is_found(self):
        rules = (Rule("write", "thumbs/a.jpg", "short"), Rule("write", "thumbs/a.jpg", "error", errno.EIO, 2, 2))
        what = plan.Fault("fake", rules, "write", "EIO", "a thumbnail")
        problems = self.problems("writes-in-place,trusts-any-file", what)
        self.assertIn("the next run does not make everything right", problems)

    def test_a_change_that_no_run_notices_is_found(self):
        # The program looks only whether there is a thumbnail.
        def problems(call):
            rule = Rule(call, "photos/a.jpg", "wait")
            change = changes.Change("fake", rule, "is replaced", "photos/a.jpg", changes.replace)
            with tempfile.TemporaryDirectory(dir=self.folder.name) as work, mock.patch.object(faults, "AT_ONCE", 1):
                tested = faults.Faults(Path(work), self.program, self.library)
                return tested.try_change(SCENE, tested.reference(SCENE), change).problems
        self.assertEqual(problems("open"), [])
        self.assertIn("after the next run thumbs/a.jpg is not the thumbnail of its photo", problems("close"))

    def test_a_fault_that_is_not_reached_is_found(self):
        problems = self.problems("", fault("read", "photos/c.jpg", "EIO"))
        self.assertIn("the fault was not reached in three runs", problems)

    def test_a_half_join_is_found(self):
        for folder, path, half in (
            ("manifest", "manifest/m.json", "is not whole: Unterminated string"),
            ("sheet", "sheet/sheet.pdf", "is not whole"), ("web/page", "web/page/data.js", "is not whole: it has"),
        ):
            places = f"{folder}/#*", path
            rules = [Rule("pwrite", place, "short") for place in places]
            rules += [Rule("pwrite", place, "error", errno.ENOSPC, 2, 2) for place in places]
            name = plan.places.Names(JOINS, []).of(Call("pwrite", path, "", ""))
            what = plan.Fault("fake", tuple(rules), "pwrite", "ENOSPC", name)
            self.found("writes-joins-in-place", what, f"{path} {half}", JOINS)

    def test_an_older_join_that_is_gone_is_found(self):
        what = fault("pwrite", "manifest/#*", "EIO")
        self.found("removes-an-older-one", what, "manifest/m.json is gone", OVER_JOINS)

    def test_a_short_write_of_a_join_is_found(self):
        what = fault("pwrite", "sheet/#*", "short")
        self.found("joins-expect-all-bytes", what, "differs from the undisturbed run: other files: sheet", JOINS)

    def test_a_file_system_without_unnamed_files_that_makes_a_difference_is_found(self):
        what = fault("create_unnamed", "web/page", "EOPNOTSUPP")
        self.found("needs-files-without-a-name", what, "it differs from the undisturbed run: exit status", JOINS)

    def test_a_join_of_which_the_disk_has_refused_the_last_bytes_is_found(self):
        always = (Rule("create_unnamed", "*", "error", errno.EOPNOTSUPP, 1, preload.FOREVER),)
        what = fault("close", "manifest/.thumbjob.tmp", "ENOSPC")
        scene = replace(JOINS, name="fake-named", always=always)
        self.found("ignores-a-late-error", what, "the manifest is made, although its last bytes may not be", scene)

    def test_a_temporary_file_of_a_join_is_found(self):
        what = fault("rename", "manifest/.thumbjob.tmp -> manifest/m.json", "EIO")
        self.found("leaves-a-named-file", what, r"it left manifest/\.thumbjob\.tmp", JOINS)

    def test_a_join_that_could_not_be_made_is_named(self):
        what = fault("pwrite", "sheet/#*", "EIO")
        self.found("names-no-join", what, "no line names the contact sheet", JOINS)
        self.found("says-nothing-of-joins", what, "the contact sheet is not mentioned", JOINS)
        self.found("boasts", what, "sheet/sheet.pdf is said to be in place, and is not there", JOINS)
        self.found("exits-as-if-joins-were-made", what, "could not be made, and the exit status is 0", JOINS)
        self.found("takes-no-disk-fault", what, "could not be made, and the exit status is 73", JOINS)

    def test_a_photo_that_failed_is_listed(self):
        what = fault("read", "photos/b.jpg", "EIO")
        self.found("forgets-a-failure", what, "manifest/m.json does not list photos/b.jpg", JOINS)
        self.found("hides-a-failure", what, "has thumbnails of photos/b.jpg, which has failed", JOINS)

    def test_an_older_join_that_is_said_to_be_new_is_found(self):
        what = fault("pwrite", "manifest/#*", "EIO")
        self.found("boasts", what, "manifest/m.json differs at photos/a.jpg", OVER_JOINS)

    def test_a_next_run_that_does_not_make_the_joins_is_found(self):
        what = fault("read", "photos/b.jpg", "EIO")
        problems = self.problems("keeps-what-is-there", what, scene=JOINS)
        self.assertIn("the next run does not make everything right", problems)


class JoinRules(unittest.TestCase):
    """The rules for a run that the program that lies cannot make."""

    FAULT = plan.Fault("fake", (Rule("open", "*", "error", errno.EIO),), "open", "EIO", "a thumbnail")
    SHEET = b"%PDF-1.7\nxref\nstartxref\n9\n%%EOF\n"
    MARKED = b"%PDF-1.7\nmark\nxref\nstartxref\n14\n%%EOF\n"

    def problems(self, event, line="", sheet=None, status=0, **summary):
        """What is wrong with a contact sheet, over an older one."""
        def events(*found):
            return [json.dumps(one) for one in found]
        others = [{"event": kind, "outcome": "made"} for kind in ("manifest", "gallery")]
        joins_of_all = {"sheet/sheet.pdf": self.SHEET}
        expected = workplace.Result(0, events(*others), joins=joins_of_all)
        result = workplace.Result(
            status, events(*others, {"event": "contact-sheet", **event}, {"event": "summary", **summary}), [line],
            joins={"sheet/sheet.pdf": sheet or self.SHEET})
        reference = judge.Reference({"sheet/sheet.pdf": (self.SHEET, 0)}, expected, expected)
        return [line for line in joins.problems(JOINS, reference, self.FAULT, result) if "sheet" in line]

    def test_a_mark_in_place_of_a_thumbnail_is_reported(self):
        warning = "1 thumbnail could not be read, such as that of photos/a.jpg"
        line = f"thumbjob: contact sheet sheet/sheet.pdf: {warning}"
        wrong = ["sheet/sheet.pdf is not that of the undisturbed run"]
        for warnings, said, expected in (([warning], line, []), ([warning], "", wrong), ([], line, wrong)):
            event = {"outcome": "made", "warnings": warnings}
            self.assertEqual(self.problems(event, said, self.MARKED), expected)

    def test_a_sheet_without_photos_that_could_not_be_found_is_not_made(self):
        why = "it would lack photos that could not be read"
        line = f"thumbjob: contact sheet sheet/sheet.pdf: not made, because {why}"
        withheld = {"outcome": "not-made", "error": why}
        for event, said, unread, expected in (
            (withheld, line, 1, []),
            (withheld, "", 1, ["no line says why the contact sheet was not made"]),
            (withheld, line, 0, ["the contact sheet is not made for photos that could not be read, but all could be"]),
            ({"outcome": "made"}, "", 1,
             ["the contact sheet is made, although it lacks photos that could not be read"]),
            ({"outcome": "not-made"}, "", 1, ["the contact sheet is not-made, and the exit status is 1"]),
        ):
            self.assertEqual(self.problems(event, said, status=unread, walk_problems=unread), expected)
        self.assertEqual(
            self.problems(withheld, line, self.MARKED, 1, walk_problems=1),
            ["sheet/sheet.pdf was replaced, but it is not-made"])

    def test_a_failure_names_the_file_that_is_at_fault(self):
        failed = {"outcome": "failed"}
        for file in ("sheet/sheet.pdf", "thumbs"):
            line = f"thumbjob: contact sheet: {file}: cannot be written"
            self.assertEqual(self.problems(failed, line, status=74), [])
        wrong = ["no line names the contact sheet, which could not be made"]
        self.assertEqual(self.problems(failed, "thumbjob: contact sheet: photos: cannot be written", status=74), wrong)
        self.assertEqual(self.problems(failed, "thumbjob: manifest: thumbs: cannot be written", status=74), wrong)

    def test_only_a_file_that_could_not_be_unlinked_may_stay(self):
        expected = workplace.Result(0)
        reference = judge.Reference({}, expected, expected)
        after = workplace.Result(0, rest=["sheet/.thumbjob-1-2.tmp"])
        for call, place, path, count in (
            ("unlink", "sheet/.thumbjob-*.tmp", "sheet/.thumbjob-1-2.tmp", 0),
            ("unlink", "sheet/.thumbjob.tmp", "sheet/.thumbjob-1-2.tmp", 1),
            ("unlink", "sheet/.thumbjob-*.tmp", "sheet/.thumbjob.tmp", 1),
            ("linkat", "sheet/.thumbjob-*.tmp", "sheet/.thumbjob-1-2.tmp", 1),
        ):
            what = plan.Fault("fake", (Rule(call, place, "error", errno.EIO),), call, "EIO", "the contact sheet")
            after.rest = [path]
            self.assertEqual(len(judge.problems_of_next(reference, what, after)), count, (call, place, path))
            what = replace(what, kind="EROFS from then on")
            self.assertEqual(bool(judge.problems_of_next(reference, what, after)), "-" not in path)


class Library(unittest.TestCase):
    def test_a_rule_with_a_mistake_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            library = preload.build(COMPILER, Path(folder))
            for rules in ("read 1 1 eror 5 *", "read 1 error"):
                environment = {**os.environ, "LD_PRELOAD": f"./{library.name}", "FAULTS": rules}
                ended = subprocess.run(
                    ["/bin/true"], cwd=folder, env=environment, stderr=subprocess.DEVNULL, check=False)
                self.assertEqual(ended.returncode, 99, rules)

    def test_places_have_no_varying_parts(self):
        folder = Path("/tmp/job")
        for place, expected in (
            ("/tmp/job/thumbs/.thumbjob/run-1a2b/3.tmp", "thumbs/.thumbjob/run-*/3.tmp"),
            ("/tmp/job", "."), ("/tmp/job/.", "./."),
            ("/tmp/job/web/#4829 (deleted)", "web/#*"),
            ("/tmp/job/web/.thumbjob-17-4829.tmp", "web/.thumbjob-*.tmp"),
            ("/tmp/job/run/4829.sock", "run/*.sock"), ("socket:[12]", "socket:[*]"),
            ("/proc/17/statm", "/proc/*/statm"),
        ):
            self.assertEqual(preload.normal(place, folder), expected)

    def test_a_rule_matches_the_place_that_it_was_made_from(self):
        folder = Path("/tmp/job [1]")
        for place, expected in (
            ("./.", r"/tmp/job \[1\]/."), (".", r"/tmp/job \[1\]"),
            ("socket:[*]", r"socket:\[*\]"), ("/proc/*/statm", "/proc/*/statm"),
            ("photos/a?.jpg", r"/tmp/job \[1\]/photos/a\?.jpg"),
            ("run/*.tmp -> a.jpg", r"/tmp/job \[1\]/run/*.tmp -> /tmp/job \[1\]/a.jpg"),
        ):
            self.assertEqual(Rule("open", place, "error", 5).line(folder), f"open 1 1 error 5 {expected}")


class Document(unittest.TestCase):
    ROW = table.Row("a photo", "open", "EIO", "the photo fails", "1", "nothing")
    CHANGE = table.Row("a photo", "is removed", "", "it is made", "0", "nothing")

    def document(self):
        empty = f"words\n{table.BEGIN}\n{table.END}\nmore\n"
        return table.quoted(empty, table.text([SCENE], [self.ROW], [self.CHANGE]))

    def test_what_is_written_can_be_read(self):
        document = self.document()
        self.assertEqual(table.read(document), ({self.ROW}, {self.CHANGE}))
        self.assertEqual(table.differences(document, [self.ROW], [self.CHANGE]), [])
        self.assertTrue(document.startswith("words\n") and document.endswith("more\n"))

    def test_a_false_document_is_found(self):
        other = table.Row("a photo", "open", "EIO", "nothing changes", "0", "nothing")
        self.assertEqual(len(table.differences(self.document(), [other], [])), 1)
        self.assertEqual(len(table.differences(self.document(), [], [other])), 1)

    def test_what_depends_on_the_machine_is_one_row_unless_it_does_harm(self):
        place = "memory figures of the kernel"
        rows = {
            table.row(place, call, "EIO", ending, "0", "nothing")
            for call in ("open", "read") for ending in ("nothing changes", "a message; everything is made")}
        self.assertEqual(len(rows), 1)
        rows.add(table.row(place, "open", "EIO", "the run stops", "74", "nothing"))
        self.assertEqual(len(rows), 2)

    def test_the_tests_that_it_names_exist(self):
        root = HERE.parent.parent
        named = re.findall(r"`(\w{20,})`", (root / "docs/faults.md").read_text())
        sources = "".join(path.read_text() for path in (root / "Tests").rglob("*.swift"))
        self.assertGreater(len(named), 3)
        self.assertEqual([name for name in named if f"func {name}(" not in sources], [])


class Messages(unittest.TestCase):
    def test_figures_are_no_new_lines(self):
        def run(*lines):
            return workplace.Result(0, errors=list(lines))
        reference = judge.Reference({}, run("6 thumbnails in 0.2 s (9.1 kB)", "1 failed"), run())
        slow = run("6 thumbnails in 1.0 s (15.2 kB, 5.8 a second)", "thumbjob: a.jpg: cannot be read", "1 failed")
        self.assertEqual(judge.new_lines(reference, slow), ["thumbjob: a.jpg: cannot be read"])


class Plan(unittest.TestCase):
    def test_every_call_gets_its_errors_and_a_name(self):
        call = Call("open", "photos/a.jpg", "thumbjob", "1f", 2)
        found = list(plan.faults_of(SCENE, preload.Log([call], [])))
        self.assertEqual([one.kind for one in found], plan.ERRORS["open"].split())
        self.assertEqual(found[0].rules[0], Rule("open", "photos/a.jpg", "error", 5, 2, 2))
        with self.assertRaises(KeyError):
            list(plan.faults_of(SCENE, preload.Log([Call("unknown", "photos/a.jpg", "", "")], [])))
        with self.assertRaises(KeyError):
            list(plan.faults_of(SCENE, preload.Log([Call("open", "elsewhere", "", "")], [])))

    def test_a_call_about_a_decoder_process_is_told_from_others(self):
        names = plan.places.Names(SCENE, [])
        for call, place, expected in (
            ("recv", "socket:[*]", "decoder processes"), ("read", "socket:[*]", "sockets and events"),
            ("prlimit", "process", "decoder processes"),
            ("close", "/memfd:thumbjob-decoder (deleted)", "the memory that a decoder process shares"),
            ("access", "/opt/thumbjob-decoder", "the program of the decoder processes"),
        ):
            self.assertEqual(names.of(Call(call, place, "thumbjob", "1")), expected)

    def test_what_a_file_system_cannot_do_must_make_no_difference(self):
        for call, kind, expected in (
            ("create_unnamed", "EOPNOTSUPP", True), ("create_unnamed", "ENOSPC", False), ("linkat", "EXDEV", True),
            ("rename", "EXDEV", False), ("memfd_create", "EINVAL", True), ("memfd_create", "ENOMEM", False),
        ):
            place = "manifest/.thumbjob.tmp -> manifest/m.json" if call == "rename" else "manifest"
            rule = plan.Fault("fake", (), call, kind, plan.places.Names(JOINS, []).of(Call(call, place, "", "")))
            self.assertEqual(rule.is_invisible, expected)
            self.assertEqual(rule.place, "decoder processes" if call == "memfd_create" else "the manifest")

    def test_a_job_that_is_about_a_few_files_tries_the_first_and_the_last_of_their_calls(self):
        scene = replace(JOINS, focus=("the contact sheet",))
        calls = [Call("pwrite", "sheet/#*", "thumbjob", "1", number) for number in (1, 2, 3)]
        calls += [Call("open", "photos/a.jpg", "thumbjob", "1", number) for number in (1, 2)]
        found = [one for one in plan.faults_of(scene, preload.Log(calls, [])) if one.rules[0].last != preload.FOREVER]
        numbers = {(one.call, one.rules[0].first) for one in found}
        self.assertEqual(numbers, {("pwrite", 1), ("pwrite", 3), ("open", 1)})
        self.assertEqual([one.kind for one in found if one.call == "open"], ["EIO"])

    def test_a_full_disk_stays_full(self):
        calls = [Call("create", f"thumbs/.thumbjob/run-*/{n}.tmp", "thumbjob", "1") for n in (1, 2)]
        lasting = [one for one in plan.faults_of(SCENE, preload.Log(calls, [])) if one.kind == "ENOSPC from then on"]
        self.assertEqual([one.rules[0].first for one in lasting], [1, 2])
        self.assertTrue(all(rule.last == preload.FOREVER for one in lasting for rule in one.rules))

    def test_a_sample_has_each_kind_once(self):
        calls = [Call("open", f"photos/{name}.jpg", "thumbjob", "1") for name in "ab"]
        found = list(plan.sample(plan.faults_of(SCENE, preload.Log(calls, [])), set()))
        self.assertEqual([one.kind for one in found], ["EIO", "EINTR"])


if __name__ == "__main__":
    unittest.main()
