"""The program that is built without traits: with libjpeg alone, for JPEG alone. It says what it lacks."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from PIL import Image, ImageCms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Harness"))

import program
import waiting

PROGRAM = Path(os.environ.get("THUMBJOB_REDUCED", ".build-jpeg/debug/thumbjob")).absolute()
# What the C and Swift libraries of the system need, besides libjpeg.
_USUAL = re.compile(
    r"linux-vdso|ld-linux|lib(c|m|stdc\+\+|gcc_s|dl|pthread|rt|util)\.so|libswift|libFoundation|lib_Foundation|libdispatch"
    r"|libBlocksRuntime"
)


class ReducedTests(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "images").mkdir()

    def photo(self, name="a.jpg", **options):
        path = self.folder / "images" / name
        Image.linear_gradient("L").resize((1500, 1000)).convert("RGB").save(path, **options)
        return path

    def environment(self):
        return program.environment(self.folder / "runtime")

    def run_it(self, *words):
        return subprocess.run(
            [PROGRAM, *map(str, words)],
            cwd=self.folder,
            env=self.environment(),
            text=True,
            capture_output=True,
            timeout=120,
            check=False,
        )

    def long_job(self, *words, **variables):
        """A job that makes one thumbnail after the other of more photos than it is left time for."""
        first = self.photo("0.jpg")
        for number in range(1, 3000):
            os.link(first, first.with_name(f"{number}.jpg"))
        job = subprocess.Popen(
            [PROGRAM, "images", "--max", "1", "--progress", "none", *words],
            cwd=self.folder,
            env={**self.environment(), **variables},
            text=True,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(job.kill)
        waiting.eventually("a thumbnail", lambda: any((self.folder / "thumbs").rglob("*.jpg")))
        return job

    def read_until(self, text, job):
        """The lines of a job up to one with this text, which must come."""
        lines = [""]
        while text not in lines[-1]:
            lines.append(job.stderr.readline())
            self.assertTrue(lines[-1], lines)
        return "".join(lines)

    def cancel(self, job):
        job.send_signal(signal.SIGUSR2)
        self.assertIn("stopped by USR2", job.communicate(timeout=60)[1])
        self.assertNotEqual(job.returncode, 0)

    def test_it_needs_libjpeg_alone(self):
        helpers = {"thumbjob-decoder": r"^libjpeg\.so\S*$", "thumbjob-encoder": "^$"}
        for name, wanted in {PROGRAM.name: helpers["thumbjob-decoder"], **helpers}.items():
            text = subprocess.run(["ldd", PROGRAM.with_name(name)], text=True, capture_output=True, check=True).stdout
            needed = [line.split()[0] for line in text.splitlines()]
            self.assertRegex(" ".join(library for library in needed if not _USUAL.search(library)), wanted)

    def test_the_version_names_what_is_missing(self):
        shown = self.run_it("--version").stdout
        self.assertRegex(shown, r"^\S+ \(without the traits Formats, Network, Ledger, Endpoint\)\n$")

    def test_a_second_run_finds_all_up_to_date(self):
        self.photo()
        first, second = self.run_it("images"), self.run_it("images", "--json")
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
        self.assertIn("1 thumbnail in", first.stderr)
        self.assertEqual(json.loads(second.stdout.splitlines()[-1])["up_to_date"], 1)
        self.assertNotIn("ledger", first.stderr + second.stderr)

    def test_a_profile_stays_because_colours_are_not_converted(self):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        self.photo(icc_profile=profile)
        self.assertEqual(self.run_it("images").returncode, 0)
        [made] = (self.folder / "thumbs").rglob("a*.jpg")
        with Image.open(made) as thumbnail:
            self.assertEqual(thumbnail.info["icc_profile"], profile)

    def test_a_damaged_profile_is_left_out(self):
        profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
        profile[36:40] = b"none"
        self.photo(icc_profile=bytes(profile))
        self.assertEqual(self.run_it("images").returncode, 0)
        [made] = (self.folder / "thumbs").rglob("a*.jpg")
        with Image.open(made) as thumbnail:
            self.assertNotIn("icc_profile", thumbnail.info)

    def test_other_formats_are_named(self):
        self.photo()
        png = self.photo("b.png")
        named, walked = self.run_it(png), self.run_it("images")
        self.assertEqual(named.returncode, 1)
        self.assertIn(
            "a PNG picture, a format of which no thumbnails are made; this thumbjob is built without", named.stderr
        )
        self.assertEqual(walked.returncode, 0)
        self.assertIn("1 passed over (PNG, not read)", walked.stderr)

    def test_other_formats_of_thumbnails_are_refused(self):
        self.photo()
        run = self.run_it("images", "--format", "webp")
        self.assertEqual(run.returncode, 64)
        self.assertIn("format", run.stderr)

    def test_decoder_processes_work_and_say_what_their_fence_lacks(self):
        self.photo()
        run = self.run_it("images", "--isolate", "always")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 thumbnail in", run.stderr)
        self.assertIn("decoder processes go without a filter of system calls", run.stderr)

    def test_what_is_missing_is_refused_by_name(self):
        self.photo()
        for words, reason in (
            (["images", "--keep", "exif"], r"--keep: .* build it with the trait Formats"),
            (["images", "--isolate", "require"], r"--isolate: .* build it with the trait Formats"),
            (["images", "--verify", "content"], r"--verify: .* build it with the trait Ledger"),
            (["images", "--prune"], r"--prune: .* trait Ledger"),
            (["images", "--manifest", "m.json", "--manifest-fields", "sha256"], r"--manifest-fields: .* trait Ledger"),
            (["watch", "images"], r"thumbjob: this thumbjob is built without .* trait Ledger"),
            (["checksum", "images"], r"thumbjob: this thumbjob .* without ledgers and checksums; .* trait Ledger"),
            (["images", "--status", "127.0.0.1:0"], r"--status: .* trait Endpoint"),
            (["images", "--out", "s3://bucket/folder"], r"--out: .* trait Network"),
            (["report"], r"this thumbjob is built without ledgers"),
            (["status"], r"without the status endpoint; build it with the trait Endpoint"),
            (["pause"], r"without the status endpoint; build it with the trait Endpoint"),
            (["http://127.0.0.1:9/a.jpg"], r"nothing can be fetched: this thumbjob is built without the network"),
        ):
            with self.subTest(words):
                run = self.run_it(*words)
                self.assertNotEqual(run.returncode, 0)
                self.assertRegex(run.stderr.splitlines()[0], reason)

    def test_signals_list_and_cancel_the_operations(self):
        job = self.long_job()
        job.send_signal(signal.SIGUSR1)
        self.read_until("running", job)
        self.cancel(job)

    def test_memory_pressure_is_heeded(self):
        bell = self.folder / "bell"
        os.mkfifo(bell)
        job = self.long_job(
            "-v", "--memory", "64M", "--pressure-source", "systemd", MEMORY_PRESSURE_WATCH=str(bell)
        )
        bell.write_text("!")
        self.assertIn("a budget of 64 MiB", self.read_until("memory critical (systemd", job))
        self.cancel(job)

    def test_compare_runs(self):
        for number in range(8):
            self.photo(f"{number}.jpg")
        run = self.run_it("compare", "images", "--variants", "bounded,gcd-file", "--rounds", "1")
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
