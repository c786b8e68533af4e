"""Tests of the built program in folders with properties of their own, and on a network file system.

nfs.c pretends that the folders are on one.

    python3 -m unittest discover -s Tests/Faults
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))

import photos
import program

HERE = Path(__file__).parent
COMPILER = os.environ.get("COMPILER", "cc")
THUMBJOB = program.DEFAULT.absolute()


# What acl(5) calls the tags of an entry, and the version of a list.
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, VERSION = 0x01, 0x02, 0x04, 0x10, 0x20, 2
NOBODY, NO_ID = 65534, 0xFFFFFFFF


def access_list(others):
    """A list that lets the user `nobody` read and write."""
    entries = (USER_OBJ, 7, NO_ID), (USER, 6, NOBODY), (GROUP_OBJ, 5, NO_ID), (MASK, 7, NO_ID), (OTHER, others, NO_ID)
    return struct.pack("<I", VERSION) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class Folders(unittest.TestCase):
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

    def run_job(self, *arguments, nfs=True, **variables):
        """The lines of standard error of a run that ends well."""
        environment = {
            **program.environment(self.folder / "run"), "NFS_LOG": str(self.folder / "log"),
            **variables}
        if nfs:
            environment["LD_PRELOAD"] = str(self.library)
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
        self.run_job("--size", "256", "--manifest", "manifest.json", "--html", "web")
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

    def made(self, folder, nfs):
        """The statuses of a file that was made, of the thumbnail when it was made, and of that which replaced it."""
        (folder / "by hand").touch()
        statuses = [(folder / "by hand").stat()]
        for arguments in ((), ("--force",)):
            self.run_job(*arguments, nfs=nfs)
            statuses.append((folder / "a.jpg").stat())
            self.assertEqual(self.left(), [])
            self.assertEqual(sorted(path.name for path in folder.iterdir()), [".thumbjob", "a.jpg", "by hand"])
        self.assertNotEqual(statuses[1].st_ino, statuses[2].st_ino)
        return statuses

    @unittest.skipUnless(os.geteuid() == 0, "needs the right to give files away")
    def test_thumbnails_have_the_group_of_their_folder(self):
        for nfs in (False, True):
            with self.subTest(nfs=nfs), tempfile.TemporaryDirectory(dir=self.folder) as name:
                folder = Path(name)
                # The run's folder was there before.
                (folder / ".thumbjob").mkdir()
                os.chown(folder, -1, 4711)
                folder.chmod(0o2775)
                (self.folder / "thumbs").unlink(missing_ok=True)
                (self.folder / "thumbs").symlink_to(name)
                self.assertEqual({status.st_gid for status in self.made(folder, nfs)}, {4711})

    def test_thumbnails_have_the_access_list_of_their_folder(self):
        for nfs in (False, True):
            with self.subTest(nfs=nfs), tempfile.TemporaryDirectory(dir=self.folder) as name:
                folder = Path(name)
                (folder / ".thumbjob").mkdir()
                try:
                    os.setxattr(folder, "system.posix_acl_default", access_list(others=0))
                except OSError as error:
                    self.skipTest(f"the file system has no access lists: {error}")
                (self.folder / "thumbs").unlink(missing_ok=True)
                (self.folder / "thumbs").symlink_to(name)
                self.assertEqual({status.st_mode & 0o777 for status in self.made(folder, nfs)}, {0o660})
                lists = {os.getxattr(folder / file, "system.posix_acl_access") for file in ("by hand", "a.jpg")}
                self.assertEqual(len(lists), 1)


if __name__ == "__main__":
    unittest.main()
