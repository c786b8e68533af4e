"""Tests of the built program on a network file system: nfs.c pretends that the folders are on one.

    python3 -m unittest discover -s Tests/Faults
"""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import photos

HERE = Path(__file__).parent
COMPILER = os.environ.get("COMPILER", "cc")
THUMBJOB = Path(os.environ.get("THUMBJOB", ".build/debug/thumbjob")).absolute()


class NetworkFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory(prefix="thumbjob-nfs-")
        cls.library = Path(cls.built.name) / "nfs.so"
        subprocess.run(
            [COMPILER, "-O1", "-shared", "-fPIC", "-o", cls.library, HERE / "nfs.c", "-ldl"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.built.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thumbjob-nfs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "photos").mkdir()
        (self.folder / "photos/a.jpg").write_bytes(photos.baseline())

    def run_job(self, *arguments, **variables):
        """The lines of standard error of a run that ends well."""
        environment = {
            **os.environ, "THUMBJOB_RUNTIME_DIR": str(self.folder / "run"), "LD_PRELOAD": str(self.library),
            "NFS_LOG": str(self.folder / "log"), **variables}
        ended = subprocess.run(
            [THUMBJOB, "photos", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True,
            check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue((self.folder / "thumbs/a.jpg").stat().st_size > 0)
        return ended.stderr.splitlines()

    def left(self):
        """What is in the folder `.thumbjob`, without what is kept there."""
        names = {path.name for path in (self.folder / "thumbs/.thumbjob").iterdir()}
        return sorted(names - {"ledger", "settings", "tree"})

    def test_a_run_leaves_no_folder(self):
        self.run_job("--manifest", "manifest.json", "--html", "web")
        self.assertEqual(self.left(), [])

    def test_folders_of_earlier_runs_are_removed(self):
        folder = self.folder / "thumbs/.thumbjob"
        for name, files in {"run-a": ["lock", "1.tmp"], "run-b": [".nfs000000000000000100000001"], "run-c": []}.items():
            (folder / name).mkdir(parents=True)
            for file in files:
                (folder / name / file).touch()
        self.run_job()
        self.assertEqual(self.left(), [])

    def test_a_folder_whose_files_are_still_open_costs_a_later_run_little(self):
        folder = self.folder / "thumbs/.thumbjob/run-a"
        folder.mkdir(parents=True)
        (folder / ".nfs000000000000000100000001").touch()
        self.run_job(NFS_BUSY="1")
        self.assertEqual(self.left(), ["run-a"])
        self.assertLess((self.folder / "log").read_text().splitlines().count("run-a"), 4)
        self.run_job()
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
