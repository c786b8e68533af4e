import io
import tarfile
import tempfile
import unittest
from pathlib import Path

from fetch_suites import place, unpack

PNG = b"\x89PNG\r\n\x1a\n"


class UnpackTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def unpacked(
        self, files: dict[str, bytes], seen: set[str], folders: tuple[str, ...] = ("",),
    ) -> dict[str, bytes]:
        archive = self.folder / "a.tar.gz"
        with tarfile.open(archive, "w:gz") as members:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                members.addfile(member, io.BytesIO(content))
            link = tarfile.TarInfo("a-1/link.png")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            members.addfile(link)
        out = self.folder / "out"
        self.assertEqual(unpack(archive, out, seen, folders), sum(file.is_file() for file in out.rglob("*")))
        return {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}

    def test_only_pictures_and_each_content_once(self) -> None:
        files = {"a-1/b/c.png": PNG + b"1", "a-1/readme": b"text", "a-1/same.png": PNG + b"1", "a-1/d": PNG + b"2"}
        self.assertEqual(self.unpacked(files, set()), {"b/c.png": PNG + b"1", "d": PNG + b"2"})

    def test_long_pictures_are_whole(self) -> None:
        self.assertEqual(self.unpacked({"a-1/c.png": PNG + bytes(100_000)}, set()), {"c.png": PNG + bytes(100_000)})

    def test_only_some_folders(self) -> None:
        files = {"a-1/image/test/a.png": PNG + b"1", "a-1/icons/b.png": PNG + b"2", "a-1/c.png": PNG + b"3"}
        self.assertEqual(list(self.unpacked(files, set(), ("image/test/",))), ["image/test/a.png"])

    def test_paths_stay_in_the_folder(self) -> None:
        for name in ("../../x.png", "/x.png", "a/../../x.png", "a/./b/../x.png"):
            self.assertNotIn("..", place(name).parts)
            self.assertFalse(place(name).is_absolute())


if __name__ == "__main__":
    unittest.main()
