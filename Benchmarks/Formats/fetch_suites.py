"""fetch_suites.py FOLDER: lays out pictures that the authors of other programs test with, below FOLDER/SUITE.

They are in Debian's source packages of the release that this system has, and in source distributions on PyPI. Only
files that kinds.py takes for pictures are unpacked, under their own names, and each content only once. A suite that is
there is kept. Neither the system nor its lists of packages are changed, and root is not needed. Needs apt-get with a
mirror of Debian, Debian's keys, and pip. What cannot be fetched is said and left out; exit status 1 when nothing could
be.
"""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from kinds import HEAD, kind

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Source distributions on PyPI, and their versions: Pillow comes before all others, so that a picture is named after it.
SDISTS = {
    "pillow": "13.0.0", "pillow-heif": "1.8.1", "thumbor": "7.8.0", "wand": "0.7.2", "hachoir": "3.4.0"}
LARGEST = 64 << 20  # bytes of one picture; none is larger
# Debian's source packages, those first after which a picture in several should be named: libspng has all of PngSuite,
# libpng most of it and others; giflib, libwebp and tiff what their authors test with; vips, exiv2 and exiftool RAW
# files; libheif, kimageformats and gd HEIF and AVIF files; goexif photographs of many cameras. Firefox (650 MB) and
# what not every mirror has come last.
PACKAGES = (
    "libspng", "libpng1.6", "giflib", "libwebp", "tiff", "libheif", "vips", "exiv2", "libimage-exiftool-perl",
    "kimageformats", "libgd2", "gdk-pixbuf", "graphicsmagick", "imagemagick", "gegl", "libopenraw", "libraw", "gexiv2",
    "dav1d", "libde265", "freeimage", "leptonlib", "php8.2", "golang-1.19", "golang-golang-x-image", "qt6-base",
    "qt6-imageformats", "wxwidgets3.2", "webkit2gtk", "libmetadata-extractor-java", "golang-github-rwcarlsen-goexif",
    "tracker-miners", "openimageio", "firefox-esr", "libavif")
# Only these folders of packages that have thousands of other pictures.
FOLDERS = {
    "firefox-esr": ("image/test/", "third_party/rust/mp4parse/"), "qt6-base": ("tests/",), "webkit2gtk": ("Tools/",)}


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit("usage: fetch_suites.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seen = {digest(file.read_bytes()) for file in folder.rglob("*") if file.is_file()}
    with tempfile.TemporaryDirectory(dir=folder) as work:
        sources = Debian(Path(work, "apt"))
        for suite in (*SDISTS, *PACKAGES):
            if (folder / suite).is_dir():
                continue
            archives = from_pypi(Path(work), suite, SDISTS[suite]) if suite in SDISTS else sources.fetch(suite)
            if not archives:
                print(f"fetch_suites.py: {suite} could not be fetched", file=sys.stderr)
                continue
            part = Path(work, "part")
            part.mkdir()
            count = sum(unpack(archive, part, seen, FOLDERS.get(suite, ("",))) for archive in archives)
            part.rename(folder / suite)
            for archive in archives:
                archive.unlink()
            print(f"{suite}: {count} pictures", file=sys.stderr)
    return 0 if any(file.is_dir() for file in folder.iterdir()) else 1


class Debian:
    """apt-get with lists and configuration of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.ready: bool | None = None

    def fetch(self, package: str) -> list[Path]:
        """The archives of a source package: the authors' and Debian's. Empty if it is not there."""
        if self.ready is None:
            self.ready = self.set_up()
        target = self.folder / package
        target.mkdir()
        command = ["apt-get", "source", "--download-only", "-qq", "--only-source", package]
        if not self.ready or not self.run(command, target):
            return []
        return sorted(file for file in target.iterdir() if re.search(r"\.tar\.\w+$", file.name))

    def set_up(self) -> bool:
        for part in ("lists/partial", "archives/partial"):
            (self.folder / part).mkdir(parents=True)
        release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.MULTILINE)
        targets = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True, check=False).stdout
        # The mirrors are the system's own.
        mirrors = sorted({line for line in targets.splitlines() if line.endswith("/debian/")})
        suite = release[1] if release else "stable"
        lines = [f"deb-src [signed-by={KEYS}] {mirror} {suite} main" for mirror in mirrors]
        (self.folder / "sources.list").write_text("\n".join(lines) + "\n")
        (self.folder / "apt.conf").write_text(
            f'Dir::Etc::SourceList "{self.folder.absolute()}/sources.list";\n'
            'Dir::Etc::SourceParts "/dev/null";\n'
            f'Dir::State::Lists "{self.folder.absolute()}/lists";\n'
            f'Dir::Cache::Archives "{self.folder.absolute()}/archives";\n'
            'Dir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\nAPT::Sandbox::User "";\nDebug::NoLocking "true";\n')
        if not mirrors:
            print("fetch_suites.py: apt-get has no mirror of Debian on this machine", file=sys.stderr)
            return False
        return self.run(["apt-get", "update", "-qq"], self.folder)

    def run(self, command: list[str], folder: Path) -> bool:
        environment = {**os.environ, "APT_CONFIG": f"{self.folder.absolute()}/apt.conf"}
        return subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            check=False).returncode == 0


def from_pypi(work: Path, name: str, version: str) -> list[Path]:
    command = [
        sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", name,
        "-d", str(work / name), f"{name}=={version}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return sorted((work / name).glob("*.tar.gz")) if done.returncode == 0 else []


def unpack(archive: Path, folder: Path, seen: set[str], folders: tuple[str, ...] = ("",)) -> int:
    """Writes the pictures in some folders of an archive below a folder, but none whose content was seen; how many."""
    count = 0
    with tarfile.open(archive) as members:
        for member in members:
            if not str(place(member.name)).startswith(folders):
                continue
            content = picture(members, member)
            if content is None or digest(content) in seen:
                continue
            seen.add(digest(content))
            target = folder / place(member.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            count += 1
    return count


def picture(members: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    if not member.isfile() or member.size > LARGEST:
        return None
    file = members.extractfile(member)
    head = file.read(HEAD) if file else b""
    return head + file.read() if file and kind(head, member.name) else None


def place(name: str) -> PurePosixPath:
    """The path in an archive without its first folder, which names the version, and without what leads out."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", ".")]
    return PurePosixPath(*parts[1:] if len(parts) > 1 else parts)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
