"""Tests of the attack itself: its rule can fail, and its files are what they claim to be.

    python3 -m unittest discover -s Tests/Attack
"""

import contextlib
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest import mock

import attack
import damage
import files
import jpeg
import layouts
import mutations
import odd
import oracle
import others
import pictures
import readers
from jpeg import Part
from verdicts import Facts, Finding, judged

FAKE = Path(__file__).with_name("fake_thumbjob.py")


def good_file(options, picture="photo-tiny", script=None):
    return files.encoded("baseline", pictures.picture(picture), options.split(), script)


def a_few_files(_):
    return [good_file("-quality 80 -sample 2x2"), good_file("-progressive -restart 1"), good_file("-arithmetic")]


def a_few_others():
    """Two twins of PNG, and a file of each other format."""
    rows = [bytes(range(x, x + 30)) for x in range(20)]
    frame = others.gifs.frame(0, 0, 10, 20, 8, others.gifs.compressed(b"".join(row[:10] for row in rows), 8))
    found = [
        ("PNG", "png", others.pngs.encoded(rows, 2, 8)), ("PNG", "png", others.pngs.encoded(rows, 2, 8, True)),
        ("GIF", "gif", others.gifs.screen(10, 20, others.PALETTE, 8) + frame + b";"),
        ("WebP", "webp", others.webps.extended(10, 20, *others.webps.pictures_of(
            others.webps.encoded(b"".join(rows), 10, 20, 80)))),
        ("TIFF", "tif", others.tiff_pictures.encoded(rows, 10, 3, 2, compression=others.tiff_pictures.LZW)),
        ("HEIC", "heic", others.heifs.tiled(others.heifs.HEVC, 2, 2)),
        ("AVIF", "avif", others.heifs.tiled(others.heifs.AV1, 2, 2)),
        ("RAW", "nef", others.tiffs.directories()["nef"])]
    return [
        files.GoodFile(f"small-{number}", kind, kind, (), data, suffix, "small-0.png" if number == 1 else None)
        for number, (kind, suffix, data) in enumerate(found)]


def a_few_odd_files():
    data = a_few_others()[0].data
    return [odd.OddFile("odd-0.png", data[:-12], "unusual PNG", odd.FAILED),
            odd.OddFile("odd-1.png", data, "unusual PNG", "small-0.png")]


@cache
def lied_to(*lies):
    """Attacks a fake program that tells these lies, with few files. Returns the exit status and what was printed."""
    with tempfile.TemporaryDirectory(prefix="thumbjob-attack-") as folder:
        program = Path(folder) / "thumbjob"
        program.write_text(f"#!/bin/sh\nexec {sys.executable} {FAKE} {','.join(lies)} \"$@\"\n")
        program.chmod(0o755)
        with (
            contextlib.redirect_stdout(io.StringIO()) as printed,
            mock.patch("files.usual_files", a_few_files), mock.patch("files.scripted_files", lambda *_: []),
            mock.patch("others.good_files", a_few_others), mock.patch("odd.odd_files", a_few_odd_files),
        ):
            status = attack.main(["--thumbjob", str(program), "--per-class", "2", "--sizes", "32"])
    return status, printed.getvalue()


class Lies(unittest.TestCase):
    """Each lie of a program must be found."""

    def found(self, lie, *expected):
        status, printed = lied_to(lie)
        self.assertEqual(status, 1)
        for text in expected:
            self.assertIn(text, printed)

    def test_a_program_that_makes_everything_silently_is_silent_but_wrong(self):
        self.found("makes-all", f"{Finding.SILENT}: cut-at-a-percent-0.jpg at size 32")

    def test_a_program_that_refuses_everything_refuses_good_files(self):
        self.found("refuses-all", f"{Finding.REFUSED}: baseline-photo-tiny-quality-80-sample-2x2.jpg at size 32")

    def test_a_program_that_remarks_on_everything_remarks_on_good_files(self):
        self.found("remarks-on-all", f"{Finding.REMARKED}: baseline-photo-tiny-quality-80-sample-2x2.jpg at size 32")

    def test_another_thumbnail_of_an_equivalent_file_is_found(self):
        self.found("makes-all", f"{Finding.CHANGED}: fill-bytes-0.jpg")

    def test_a_crash_is_found(self):
        self.found("crashes", "it was ended by SIGSEGV")

    def test_a_crash_of_a_decoder_is_found(self):
        self.found("crashes-a-decoder", f"{Finding.CRASHED}: ")

    def test_a_second_line_about_a_file_is_found(self):
        self.found("says-it-twice", "2 lines are about ")

    def test_too_much_memory_is_found(self):
        self.found("takes-memory", "MiB, more than 352")

    def test_another_thumbnail_of_the_same_pixels_is_found(self):
        self.found("makes-all", f"{Finding.CHANGED}: small-1.png")

    def test_a_picture_of_an_impossible_file_is_found(self):
        self.found("makes-all", f"{Finding.MADE}: odd-0.png")
        self.found("refuses-all", f"{Finding.REFUSED}: odd-1.png")

    def test_another_picture_of_a_cut_file_is_found(self):
        self.found("makes-all", f"{Finding.SILENT}: other-formats-cut-at-a-field-")

    def test_a_wrong_exit_status_is_found(self):
        self.found("exits-with-0", "the exit status is 0, and should be 1")

    def test_a_temporary_file_is_found(self):
        self.found("leaves-a-file", "it left the file thumbs/.thumbjob/17/1.tmp")

    def test_a_source_without_a_word_is_found(self):
        self.found("forgets-one", "it told 0 times what became of ")

    def test_a_difference_with_one_operation_at_a_time_is_found(self):
        self.found("differs-with-max-1", "but with --max 1 made")

    def test_an_endless_run_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            sources = Path(folder) / "files"
            sources.mkdir()
            program = Path(folder) / "thumbjob"
            program.write_text("#!/bin/sh\nexec sleep 100\n")
            program.chmod(0o755)
            result = attack.runs.run(program, sources, Path(folder) / "thumbs", 32, 1, seconds=0.2)
        self.assertIn("it did not end within 0 s", result.problems)


class Rule(unittest.TestCase):
    WHOLE = oracle.Opinion({"tiny": []}, None, False)
    BROKEN = oracle.Opinion({"tiny": ["bad Huffman code"]}, None, False)
    CUT = oracle.Opinion({"tiny": []}, None, False, is_arithmetic=True)

    def verdict(self, opinion, outcome="made", warnings=(), error=None, is_same=False, **others):
        told = attack.runs.Outcome(outcome, error, warnings, "digest")
        return judged(Facts(told, opinion, **{"is_good": False, "is_same": is_same, **others}))

    def test_damage_that_does_not_change_the_thumbnail_may_be_silent(self):
        self.assertIsNone(self.verdict(self.BROKEN, is_same=True))
        self.assertEqual(self.verdict(self.BROKEN), Finding.SILENT)

    def test_damage_may_be_refused_or_remarked_on(self):
        self.assertIsNone(self.verdict(self.BROKEN, "failed", error="damaged"))
        self.assertIsNone(self.verdict(self.BROKEN, warnings=("damaged",)))

    def test_a_whole_mutant_is_refused_only_for_damage_that_libjpeg_does_not_see(self):
        self.assertEqual(self.verdict(self.WHOLE, "failed", error="truncated: early"), Finding.REFUSED)
        self.assertIsNone(self.verdict(self.WHOLE, "failed", error="damaged: a block has too many coefficients"))
        self.assertIsNone(self.verdict(self.CUT, "failed", error="truncated: early"))

    def test_missing_arithmetic_data_is_wrong_although_libjpeg_sees_nothing(self):
        self.assertEqual(self.verdict(self.CUT, lost=500), Finding.SILENT)
        self.assertIsNone(self.verdict(self.CUT, lost=5))
        # Arithmetic-coded data of zeros only is left out.
        empty = replace(self.CUT, has_empty_interval=True)
        self.assertIsNone(self.verdict(empty, lost=500))

    def test_a_good_file_with_a_fault_is_a_fault_of_the_attack(self):
        self.assertEqual(self.verdict(self.BROKEN, is_good=True), Finding.FAULTY)


    def test_of_what_nobody_can_read_only_a_cut_is_certain_damage(self):
        unknown = readers.Judgement(None)
        self.assertIsNone(self.verdict(unknown))
        self.assertEqual(self.verdict(unknown, lost=1), Finding.SILENT)
        self.assertIsNone(self.verdict(unknown, lost=1, is_same=True))
        self.assertIsNone(self.verdict(unknown, "failed", error="truncated: early"))
        self.assertIsNone(self.verdict(unknown, is_good=True, is_same=True))

    def test_a_remark_that_only_tells_what_is_not_shown_is_none(self):
        said = ("only the first frame of an animation is shown",)
        self.assertIsNone(self.verdict(self.WHOLE, warnings=said, is_good=True, is_same=True))
        more = (*said, "damaged")
        self.assertEqual(self.verdict(self.WHOLE, warnings=more, is_good=True, is_same=True), Finding.REMARKED)

    def test_a_decoder_that_takes_too_much_memory_has_not_crashed(self):
        for error, expected in (
            ("the decoder needs more memory than 300 KiB", None), ("the decoder crashed: signal 11", Finding.CRASHED),
            ("the decoder made a forbidden system call, and the kernel killed it", Finding.CRASHED),
            ("the decoder was killed (signal 9, Killed), perhaps because memory ran out", Finding.CRASHED),
            ("another process killed the decoder: signal 15, Terminated", Finding.CRASHED),
        ):
            self.assertEqual(self.verdict(readers.Judgement(None), "failed", error=error), expected)


class Oracle(unittest.TestCase):
    def djpeg(self, data, *options):
        return subprocess.run(["djpeg", *options], input=data, capture_output=True, check=False).returncode

    def test_it_agrees_with_djpeg(self):
        generator = random.Random("djpeg")
        results = set()
        for options in ("-quality 90 -sample 2x2", "-progressive", "-arithmetic"):
            data = good_file(options).data
            for _ in range(30):
                at = generator.randrange(200, len(data))
                mutant = data[:at] + generator.randbytes(2) + data[at + 2 :]
                opinion = oracle.ask(mutant)
                for buffer, extra in (("small", ()), ("whole", ("-memsrc",))):
                    expected = 1 if opinion.error else 2 if opinion.warnings[buffer] else 0
                    results.add(expected)
                    self.assertEqual(self.djpeg(mutant, *extra), expected, f"{options}, byte {at}, {opinion}")
        self.assertLessEqual({0, 2}, results)

    def test_only_a_tiny_buffer_shows_every_code_that_does_not_exist(self):
        data = good_file("-quality 85", "photo-grey").data
        at = jpeg.scans_of(jpeg.segments(data))[0].header_end + 500
        seen = set()
        for length in range(2, 40):
            # No code has only ones, so this run has codes that do not exist.
            opinion = oracle.ask(data[:at] + b"\xff\x00" * length + data[at:])
            seen.add(tuple(bool(opinion.warnings[buffer]) for buffer in ("tiny", "whole")))
        self.assertIn((True, False), seen)
        self.assertNotIn((False, True), seen)

    def test_it_misses_scans(self):
        data = good_file("-progressive").data
        last = jpeg.scans_of(jpeg.segments(data))[-1]
        opinion = oracle.ask(data[: last.start] + jpeg.END)
        self.assertFalse(any(opinion.warnings.values()))
        self.assertFalse(opinion.is_whole)

    def test_it_can_be_asked_about_a_part(self):
        data = good_file("-progressive").data
        broken = jpeg.scans_of(jpeg.segments(data))[-1].header_end + 10
        data = data[:broken] + jpeg.END
        self.assertFalse(oracle.ask(data).is_whole)
        self.assertTrue(oracle.ask(data, Part.COARSE).is_whole)
        self.assertTrue(oracle.ask(data, Part.DC).is_whole)

    def test_a_part_ends_with_the_bits_that_are_needed(self):
        # cjpeg's scans: DC, luma 1 to 5 but for two bits, chroma twice, luma 6 to 63, one bit more of luma, and so on.
        # With larger quantization steps, the second bit shows.
        for quality, is_needed in ((90, False), (50, True)):
            data = good_file(f"-progressive -quality {quality}").data
            broken = jpeg.scans_of(jpeg.segments(data))[4].header_end + 10
            data = data[:broken] + b"\xff\x00" * 20 + data[broken:]
            for part in (Part.ALL, Part.COARSE):
                self.assertFalse(oracle.ask(data, part).is_whole, part)
            self.assertEqual(oracle.ask(data, Part.LOWEST).is_whole, not is_needed)
            self.assertTrue(oracle.ask(data, Part.DC).is_whole)


class Stopping(unittest.TestCase):
    def stopped(self, seen_processes, send):
        """Starts an attack, ends it by TERM once it has so many processes, and checks that it leaves nothing."""
        with tempfile.TemporaryDirectory(prefix="thumbjob-attack-test-") as folder:
            program = [sys.executable, Path(__file__).with_name("attack.py"), "--thumbjob", sys.executable]
            process = subprocess.Popen(
                [*program, "--per-class", "2"], env={**os.environ, "TMPDIR": folder}, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                while process.poll() is None and len(oracles(process.pid)) < seen_processes:
                    time.sleep(0.001)
                send(process.pid, signal.SIGTERM)
                _, said = process.communicate(timeout=60)
                self.assertEqual((process.returncode, said), (1, "stopped\n"))
                while members(process.pid):
                    time.sleep(0.001)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_term_ends_it_with_its_processes_and_leaves_nothing(self):
        for seen_processes in range(1, min(os.cpu_count(), 3) + 1):
            # `timeout` and a closed terminal send it to the whole group; `kill` does not.
            for send in (os.killpg, os.kill):
                with self.subTest(seen_processes=seen_processes, send=send.__name__):
                    self.stopped(seen_processes, send)


def oracles(pid):
    """The children of a process that run the oracle."""
    def command(number):
        with contextlib.suppress(OSError):
            return Path(f"/proc/{number}/cmdline").read_bytes()
        return b""

    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [child for child in children if b"oracle.py" in command(child)]


def members(group):
    """The processes of a group."""
    def group_of(number):
        with contextlib.suppress(OSError):
            return os.getpgid(number)
        return None

    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [number for number in numbers if group_of(number) == group]


class Files(unittest.TestCase):
    def test_scan_scripts_are_legal_and_whole(self):
        for number in range(40):
            file = files.encoded(
                "scan scripts", pictures.picture("photo-tiny"), ["-sample", files.SAMPLINGS[number % 12]],
                files.progressive_script, number)
            self.assertTrue(oracle.ask(file.data).is_whole, file.name)

    def test_the_same_seed_makes_the_same_mutants_and_another_does_not(self):
        good = [good_file("-quality 80"), good_file("-quality 80 -restart 1")]
        first, again, other = (list(mutations.mutants(good, seed, 3)) for seed in ("1", "1", "2"))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_every_class_makes_mutants(self):
        good = [good_file("-progressive -restart 1"), good_file("-quality 80 -sample 2x2")]
        made = {mutant.kind for mutant in mutations.mutants(good, "1", 2)}
        self.assertEqual(made, {kind.name for kind in mutations.KINDS})

    def test_a_file_consists_of_its_segments(self):
        for options in ("-quality 80", "-progressive -restart 1", "-arithmetic"):
            data = good_file(options).data
            parts = jpeg.segments(data)
            self.assertEqual(b"".join(data[part.start : part.end] for part in parts), data)
            self.assertTrue(jpeg.holds(Part.ALL, data))


class OtherFiles(unittest.TestCase):
    def test_every_class_makes_mutants_of_every_format(self):
        good = a_few_others()
        found = list(damage.mutants(good, "1", 12))
        self.assertEqual({mutant.kind for mutant in found}, {kind.name for kind in damage.KINDS})
        self.assertEqual({mutant.parent.kind for mutant in found}, {file.kind for file in good})
        self.assertEqual(found, list(damage.mutants(good, "1", 12)))

    def test_the_fields_of_a_structure_are_in_the_file(self):
        for file in a_few_others():
            layout = layouts.layout_of(file.suffix, file.data)
            self.assertGreater(len(layout.fields), 5, file.name)
            for field in layout.fields:
                self.assertLessEqual(field.at + field.size, len(file.data), (file.name, field))
                self.assertEqual(field.written(file.data, field.read(file.data)), file.data)
            if layout.repaired:
                self.assertEqual(layout.repaired(file.data), file.data)

    def test_the_reader_of_png_sees_every_change_and_no_other(self):
        for data in (a_few_others()[0].data, a_few_others()[1].data):
            self.assertTrue(readers.judgement_of("a.png", data).is_whole)
            for at in range(len(data)):
                changed = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
                self.assertIs(readers.judgement_of("a.png", changed).is_whole, False, at)
                self.assertIs(readers.judgement_of("a.png", data[:at]).is_whole, False, at)

    def test_the_reader_of_png_sees_missing_rows_and_filters_that_do_not_exist(self):
        head = others.pngs.header(2, 2, 0, 8)
        for rows, expected in ((bytes(6), True), (bytes(5), False), (bytes(7), False), (b"\5" + bytes(5), False)):
            data = others.pngs.file(head, b"", zlib.compress(rows))
            self.assertIs(readers.judgement_of("a.png", data).is_whole, expected, rows)

    def test_files_have_names_of_their_own(self):
        names = [file.name for file in odd.odd_files()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
