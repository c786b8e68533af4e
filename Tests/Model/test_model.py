"""Tests that the model finds faults: each of its checks is given a wrong state that it must name."""

import os
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import told
from case import Case
from hang import StuckError, bounded
from history import Memory, leftovers
from marks import Sources, key, thumbnail
from minimise import minimised
from tree import Entry, snapshot, state, walk

import checks
from runs import Output, Result, Spec, finish

_PIXELS = b"\xff\xdb the thumbnail of "


def marked(source: str, pixels: bytes) -> bytes:
    mark = b"thumbjob " + b"0" * 16 + b"=" + b"1" * 16 + b" " + key(source).encode()
    jfif = b"\xff\xd8\xff\xe0\x00\x10" + b"JFIF\0".ljust(14, b"\0")
    return jfif + b"\xff\xfe" + (2 + len(mark)).to_bytes(2, "big") + mark + pixels


class Pool:
    """Contents 1 to 8 are sound photos, `broken` fails, and `text` is no image."""

    all = (b"1",)

    def number(self, data):
        return None if data.startswith(b"\xff\xd8") else data

    def of(self, spec):
        return self

    def outcome(self, number, is_named):
        return {b"broken": "failed", b"text": "passed-over"}.get(number, "made")

    def pixels(self, number, output, size):
        return {thumbnail(marked("", _PIXELS + number)).pixels} if isinstance(number, bytes) else set()


class CheckTests(unittest.TestCase):
    """A small world: two photos with thumbnails, a broken photo, and a file of others in the output folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.spec = Spec(("photos",), (Output("t"),))
        self.memory = Memory(known={"photos/a.jpg", "photos/b.jpg"}, ever={"photos/a.jpg", "photos/b.jpg"},
                             trees={("photos", None)}, sizes={""})
        for name, data in (("a.jpg", b"1"), ("b.jpg", b"2"), ("c.jpg", b"broken"), ("d.txt", b"text")):
            self.put(f"photos/{name}", data)
        self.put("t/a.jpg", marked("photos/a.jpg", _PIXELS + b"1"))
        self.put("t/b.jpg", marked("photos/b.jpg", _PIXELS + b"2"))
        self.put("t/note.txt", b"of others")
        self.before = self.now()
        failed = {"outcome": "failed", "kind": "source", "error": "e"}
        self.events = [{"event": "source", "source": "photos/c.jpg", **failed},
                       {"event": "source", "source": "photos/d.txt", "outcome": "passed-over"}]
        self.errors = ""
        self.known = Sources(["photos/a.jpg", "photos/b.jpg", "photos/disk/e.jpg"])

    def put(self, path, data):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)
        os.utime(self.root / path, (1_700_000_000, 1_700_000_000))

    def now(self):
        found = snapshot(self.root, ("photos", "t", "other"))
        # The times of folders are not part of these tests.
        return {path: replace(there, modified=0) if there.kind == "folder" else there for path, there in found.items()}

    def summary(self, **other):
        counts = {"made": 0, "up_to_date": 2, "failed": 1, "cancelled": 0, "duplicates": 0, "not_read": 0,
                  "own_thumbnails": 0, "passed_over": 1}
        more = {"event": "summary", "found": 4, "hidden": 0, "links_not_followed": 0, "special_files": 0,
                "walk_problems": 0, "missing": 0}
        return {**more, **counts, **other}

    def case(self, **other):
        result = Result([], 1, self.errors, [*self.events, self.summary()])
        memories = {"t": self.memory, "other": Memory()}
        return Case(self.root, self.spec, [result], self.before, self.now(), memories, Pool(), self.known, **other)

    def assert_found(self, rule, what="", **other):
        found = checks.problems(self.case(**other))
        self.assertTrue(any(line.startswith(f"{rule}:") and what in line for line in found), found)

    def test_a_right_state_breaks_no_rule(self):
        self.assertEqual(checks.problems(self.case()), [])

    def test_a_changed_source_is_found(self):
        self.put("photos/a.jpg", b"3")
        self.assert_found("others", "photos/a.jpg")

    def test_a_changed_mode_and_a_changed_time_of_a_source_are_found(self):
        (self.root / "photos/a.jpg").chmod(0o600)
        os.utime(self.root / "photos/b.jpg", (1, 1))
        self.assert_found("others", "'photos/a.jpg' has changed: mode")
        self.assert_found("others", "'photos/b.jpg' has changed: modified")

    def test_a_removed_file_of_others_and_a_new_one_are_found(self):
        (self.root / "t/note.txt").unlink()
        self.put("t/rest.tmp", b"half")
        self.assert_found("others", "'t/note.txt' is gone")
        self.assert_found("others", "'t/rest.tmp' is new")

    def test_a_missing_thumbnail_is_found(self):
        (self.root / "t/a.jpg").unlink()
        self.assert_found("missing", "photos/a.jpg")
        self.assert_found("kept", "gone without --prune")

    def test_a_thumbnail_may_move_with_its_photo(self):
        (self.root / "photos/a.jpg").rename(self.root / "photos/e.jpg")
        (self.root / "t/a.jpg").unlink()
        self.assert_found("kept", "gone without --prune")
        self.put("t/e.jpg", marked("photos/e.jpg", _PIXELS + b"1"))
        found = checks.problems(self.case())
        self.assertFalse(any(line.startswith("kept:") for line in found), found)

    def test_a_thumbnail_of_other_contents_is_found(self):
        self.put("t/a.jpg", marked("photos/a.jpg", _PIXELS + b"2"))
        self.assert_found("stale", "as it is now")

    def test_a_thumbnail_of_another_time_is_found(self):
        os.utime(self.root / "t/a.jpg", (1, 1))
        self.assert_found("stale", "time")

    def test_a_mark_that_names_another_source_is_found(self):
        self.put("t/a.jpg", marked("photos/b.jpg", _PIXELS + b"1"))
        self.assert_found("mark", "t/a.jpg")

    def test_a_broken_photo_that_is_not_named_is_found(self):
        self.events = []
        self.assert_found("named", "photos/c.jpg")

    def test_a_sound_photo_that_fails_is_found(self):
        self.events.append({"event": "source", "source": "photos/a.jpg", "outcome": "failed", "kind": "source",
                            "error": "odd"})
        self.assert_found("refused", "photos/a.jpg")

    def test_a_place_that_nobody_has_is_found(self):
        (self.root / "photos/b.jpg").unlink()
        self.before = self.now()
        self.put("photos/x/b.jpg", b"2")
        self.spec = Spec(("photos/x",), (Output("t"),))
        self.events = [{"event": "source", "source": "photos/x/b.jpg", "outcome": "failed", "kind": "collision",
                        "error": "another source has the place"}]
        self.assert_found("refused", "photos/x/b.jpg")

    def test_a_thumbnail_that_another_source_has_taken_is_found(self):
        self.put("t/b.jpg", marked("other/b.jpg", _PIXELS + b"3"))
        self.spec = Spec(("other",), (Output("t"),))
        self.put("other/b.jpg", b"3")
        self.assert_found("kept", "that of 'other/b.jpg' now")

    def test_a_wrong_count_is_found(self):
        self.put("photos/.hidden", b"text")
        self.before = self.now()
        self.assert_found("summary", "hidden")

    def test_a_left_file_is_found(self):
        self.put("t/.thumbjob/run-1-2/lock", b"")
        self.put("t/.thumbjob/ledger", b"")
        self.assertEqual(leftovers(self.root / "t"), [".thumbjob/run-1-2", ".thumbjob/run-1-2/lock"])
        self.assert_found("leftover", "run-1-2")

    def test_an_orphan_is_found(self):
        self.spec = replace(self.spec, prune="yes")
        (self.root / "photos/a.jpg").unlink()
        self.before = self.now()
        self.assert_found("orphan", "t/a.jpg")

    def test_a_thumbnail_that_was_removed_though_its_photo_is_there_is_found(self):
        self.spec = replace(self.spec, prune="force")
        (self.root / "t/a.jpg").unlink()
        self.assert_found("kept", "'photos/a.jpg' is there")

    def test_a_thumbnail_that_was_removed_though_its_folder_is_empty_is_found(self):
        self.spec = replace(self.spec, prune="all")
        self.put("photos/disk/e.jpg", b"4")
        self.put("t/disk/e.jpg", marked("photos/disk/e.jpg", _PIXELS + b"4"))
        (self.root / "photos/disk/e.jpg").unlink()
        self.before = self.now()
        (self.root / "t/disk/e.jpg").unlink()
        self.assert_found("kept", "out of reach")

    def test_a_thumbnail_that_was_removed_though_its_disk_is_away_is_found(self):
        self.spec = replace(self.spec, prune="all")
        (self.root / "photos/disk").mkdir()
        self.put("photos/disk/note.txt", b"text")
        self.memory.disks = {"photos/disk": {(1, 1)}}
        self.put("t/disk/e.jpg", marked("photos/disk/e.jpg", _PIXELS + b"4"))
        self.before = self.now()
        (self.root / "t/disk/e.jpg").unlink()
        self.assert_found("kept", "another folder or disk", mounts=("photos/disk",))

    def test_thumbnails_that_were_removed_though_no_photo_is_there_are_found(self):
        self.spec = replace(self.spec, prune="all")
        for name in ("a", "b"):
            (self.root / f"photos/{name}.jpg").unlink()
        self.before = self.now()
        (self.root / "t/a.jpg").unlink()
        self.assert_found("kept", "none of the photos")

    def test_a_removal_outside_the_sources_and_one_that_was_refused_are_found(self):
        self.spec = Spec(("photos/x",), (Output("t"),), "all")
        (self.root / "photos/a.jpg").unlink()
        self.put("photos/x/y.txt", b"text")
        self.before = self.now()
        (self.root / "t/a.jpg").unlink()
        self.assert_found("kept", "in no source of the run")
        self.spec = Spec(("photos",), (Output("t"),), "yes")
        reason = "1 of 1 photos of photos are gone"
        self.errors = f"thumbjob: --prune: nothing removed, because {reason}; --prune=all removes their thumbnails"
        self.assert_found("kept", "although the run refused")

    def test_a_removal_of_what_is_in_the_way_is_right(self):
        (self.root / "photos/a.jpg").unlink()
        self.put("photos/a.jpg/b.jpg", b"3")
        self.before = self.now()
        (self.root / "t/a.jpg").unlink()
        self.put("t/a.jpg/b.jpg", marked("photos/a.jpg/b.jpg", _PIXELS + b"3"))
        self.assertEqual(checks.kept(self.case()), [])

    def test_refusals_without_a_reason_are_found(self):
        self.spec = replace(self.spec, prune="yes")
        for reason in ("photos is empty; perhaps", "photos is another folder or disk than in earlier runs",
                       "none of the 2 photos that the ledger has of photos was found; perhaps",
                       "ledger t: it is damaged",
                       "1 of 2 photos of photos are gone", "the run did not reach all sources"):
            self.errors = f"thumbjob: --prune: nothing removed, because {reason}"
            self.assert_found("refusal", reason)

    def test_a_thumbnail_in_another_output_folder_that_changes_is_found(self):
        self.put("other/a.jpg", marked("photos/a.jpg", b"1"))
        self.before = self.now()
        (self.root / "other/a.jpg").unlink()
        self.assert_found("kept", "in no output")

    def test_wrong_reports_are_found(self):
        lines = [{"source": "photos/a.jpg", "outcome": "failed"}, {"source": "photos/c.jpg", "outcome": "made"}]
        found = told.reported(self.case(), lines)
        self.assertEqual([line.split(" is ")[0].split(" has ")[0] for line in found],
                         [f"report: 'photos/{name}.jpg'" for name in "abc"])

    def test_wrong_manifests_are_found(self):
        there = {"source": "photos/a.jpg", "thumbnails": [{"path": "t/b.jpg"}], "thumbhash": "", "width": 1}
        sources = [there, {"source": "photos/x.jpg"}, {"source": "photos/c.jpg"}, {"source": "photos/d.txt"}]
        found = told.listed(self.case(), {"sources": sources}, ".")
        self.assertEqual(len(found), 5, found)

    def test_a_difference_from_a_fresh_run_is_found(self):
        event = {"event": "source", "source": "photos/a.jpg", "outcome": "made",
                 "thumbnails": [{"path": "fresh/t/a.jpg"}, {"path": "fresh/t/x.jpg"}]}
        entry = Entry("file", 0, 0, marked("photos/a.jpg", b"other"))
        files = {"fresh/t/a.jpg": entry, "fresh/t/x.jpg": entry}
        found = told.like_fresh(self.case(), Result([], 0, "", [event]), files)
        self.assertEqual(len(found), 2, found)

    def test_wrong_ends_of_a_process_are_found(self):
        self.assertTrue(Result([], -11, "").problems())
        self.assertTrue(Result([], 0, "Fatal error: x").problems())
        self.assertEqual(Result([], -9, "").problems((9,)), [])
        wrong = ((1, {"found": 5}), (1, {"made": 1, "up_to_date": 1}), (0, {}), (1, {"failed": 0, "found": 3}))
        for status, other in wrong:
            self.assertTrue(Result([], status, "", [*self.events, self.summary(**other)]).problems(), other)


class TreeTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "photos/empty").mkdir(parents=True)
        (self.root / "photos/a.jpg").write_bytes(b"1")
        (self.root / "photos/link.jpg").symlink_to("a.jpg")
        (self.root / "photos/nowhere").symlink_to("gone")
        (self.root / "photos/.hidden").mkdir()
        (self.root / "photos/.hidden/b.jpg").write_bytes(b"1")

    def test_what_is_gone_follows_the_rules(self):
        wanted = {"a.jpg": "there", "b.jpg": "gone", "a.jpg/c.jpg": "gone", "empty": "gone", "empty/a.jpg": "empty",
                  "empty/x/a.jpg": "empty", "nowhere": "link", "nowhere/a.jpg": "link", "link.jpg": "gone"}
        self.assertEqual({path: state(self.root, f"photos/{path}") for path in wanted}, wanted)
        self.assertEqual(state(self.root, "photos/link.jpg", followed=True), "there")

    def test_a_walk_finds_what_a_run_finds(self):
        walked = walk(snapshot(self.root, ("photos",)), "photos")
        self.assertEqual((walked.files, walked.hidden, walked.links), (["photos/a.jpg"], 1, 2))

    def test_places_are_those_of_the_documents(self):
        self.assertEqual(Output("t").places("d/a.png"), ["d/a.png.jpg"])
        self.assertEqual(Output("t", ("16", "small=12^", "8x8!")).size_folders(), ["16x16", "small", "8x8-exact"])
        self.assertEqual(Output("t", name="%d/%s-%e").places("a.jpg"), ["a-jpg.jpg"])


class HangTests(unittest.TestCase):
    def test_a_program_that_hangs_is_ended_and_it_is_told_where(self):
        process = subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = finish(process, 0.1)
        self.assertIsNotNone(process.returncode)
        self.assertRegex(result.problems()[0], "^hang: it did not end within 0 s; .*\nthread [0-9]+ sleep: in ")

    def test_a_step_of_the_model_that_hangs_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder, "pipe")
            os.mkfifo(pipe)
            with self.assertRaises(StuckError), bounded(0.1):
                pipe.read_bytes()


class MinimiseTests(unittest.TestCase):
    def test_only_the_steps_that_show_the_fault_are_left(self):
        found = minimised(list(range(100)), lambda some, until: some if {3, 50, 98} <= set(some) else None, 60)
        self.assertEqual(found, [3, 50, 98])

    def test_steps_after_the_one_that_shows_the_fault_are_left_out(self):
        found = minimised([1, 2, 3, 4], lambda some, until: some[: some.index(2) + 1] if 2 in some else None, 60)
        self.assertEqual(found, [2])

    def test_it_ends_in_time(self):
        self.assertEqual(minimised([1, 2, 3], lambda some, until: some, 0), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
