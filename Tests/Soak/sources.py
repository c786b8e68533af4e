"""The sources of the soak, and the thumbnails that an undisturbed run makes of them."""

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "Harness"))
sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import pngs
from trees import WORKING

# A file may have so many names on every usual file system (ext4: 65,000). Further names get a copy of the file.
MOST_LINKS = 60_000
# The number in the name of the link that the undisturbed runs read.
FIRST = 0
# Width, height and colour type of the pictures that decoder processes decode.
_PNGS = ((160, 120, 0), (120, 160, 2), (200, 150, 6), (640, 480, 2))
# More than making or reading a few dozen pictures takes on any machine.
_SECONDS = 600


class SourcesError(Exception):
    """The sources of the soak cannot be made."""


@dataclass(frozen=True)
class Recipe:
    """A set of options that decide about the bytes of thumbnails."""

    name: str
    options: tuple[str, ...] = ()
    job_file: str | None = None  # its text; it names the outputs itself

    def arguments(self, source, folder):
        """The arguments for the thumbnails of a source in `thumbs`. Writes the job file into the folder."""
        if self.job_file is None:
            return [source, "-o", "thumbs", *self.options]
        path = folder / f"{self.name}.yml"
        path.write_text(f"sources: {source}\n{self.job_file}")
        return [path.name, *self.options]


RECIPES = (
    Recipe("one-size", ("--size", "128")),
    Recipe("two-sizes", ("--size", "96x96^", "--size", "large=320", "--quality", "70")),
    Recipe("two-outputs", job_file=(
        "outputs:\n  - out: thumbs/small\n    size: 100\n    quality: 60\n"
        "  - out: thumbs/web\n    size: 240x160^\n    progressive: yes\n    keep: exif\n")),
)


def relative(picture, number, suffix=""):
    """The path of a link: a hundred folders, so that neither the walk nor a folder gets too large."""
    return f"{number % 100:02}/{picture}-{number:07}{suffix}"


@dataclass
class Picture:
    """A file with distinct contents."""

    name: str
    path: Path
    # By the name of a recipe.
    outcome: dict[str, str] = field(default_factory=dict)
    places: dict[str, dict[str, str]] = field(default_factory=dict)  # digests of its thumbnails by place
    # The same if decoder processes decode everything. The samples of libjpeg differ a little from ours.
    fenced_places: dict[str, dict[str, str]] = field(default_factory=dict)
    links: int = 0
    copies: int = 0

    def link(self, folder, number):
        """Makes another name of the file below a folder, and returns it."""
        name = relative(self.name, number, self.path.suffix)
        target = folder / name
        if self.links >= MOST_LINKS:
            self._copy()
        try:
            os.link(self.path, target)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(self.path, target)
        self.links += 1
        return name

    def _copy(self):
        self.copies += 1
        copy = self.path.with_name(f"{self.copies}-{self.path.name}")
        copy.write_bytes(self.path.read_bytes())
        status = self.path.stat()
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
        self.path, self.links = copy, 0


def _made(command, folder):
    """The files that a program has made in a folder."""
    result = subprocess.run([*command, folder], capture_output=True, text=True, timeout=_SECONDS, check=False)
    if result.returncode != 0:
        raise SourcesError(f"{command[0]} failed: {result.stderr.strip()}")
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


class Pictures:
    """The distinct files, and what an undisturbed run makes of each."""

    def __init__(self, make_images, folder):
        self.folder = folder
        self.all = []
        prefixes = ("a", "b")
        with ThreadPoolExecutor() as pool:
            made = pool.map(_made, [[make_images], [make_images, "--broken"]], [folder / prefix for prefix in prefixes])
            for prefix, files in zip(prefixes, made, strict=True):
                self.all += [Picture(f"{prefix}{index:02}", path) for index, path in enumerate(files)]
        for index, (width, height, color_type) in enumerate(_PNGS):
            path = folder / f"{index}.png"
            path.write_bytes(pngs.noise(width, height, color_type, random.Random(index)))
            self.all.append(Picture(f"c{index:02}", path))
        self.named = {picture.name: picture for picture in self.all}
        self.good = []  # those that every recipe makes
        self.small = []  # the smallest quarter of them, which are made soonest

    def learn(self, thumbjob, environment):
        """Runs each recipe undisturbed, and remembers outcomes and thumbnails."""
        for recipe in RECIPES:
            for picture in self.all:
                picture.link(self.folder / recipe.name / "sources", FIRST)
        with ThreadPoolExecutor() as pool:
            for _ in pool.map(lambda recipe: self._learn(recipe, thumbjob, environment), RECIPES):
                pass
        names = [recipe.name for recipe in RECIPES]
        self.good = [picture for picture in self.all if all(picture.places.get(name) for name in names)]
        if not self.good:
            raise SourcesError("no picture is made")
        by_size = sorted(self.good, key=lambda picture: picture.path.stat().st_size)
        self.small = by_size[: max(1, len(by_size) // 4)]

    def _learn(self, recipe, thumbjob, environment):
        folder = self.folder / recipe.name
        command = [thumbjob, *recipe.arguments("sources", folder), "--max", "1", "--json", "--quiet",
                   "--status", "off", "--progress", "none", "--memory", "64M", "--pressure-source", "off"]
        for isolation in ("always", "auto"):
            result = subprocess.run([*command, "--force", "--isolate", isolation], cwd=folder, env=environment,
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS,
                                    check=False)
            if result.returncode not in (0, 1):
                raise SourcesError(f"the undisturbed run {recipe.name} failed: {result.stderr.strip()}")
            self._remember(recipe, folder, result.stdout, isolation)

    def _remember(self, recipe, folder, output, isolation):
        for line in output.splitlines():
            event = json.loads(line)
            if event["event"] != "source":
                continue
            picture = self.picture(event["source"])
            picture.outcome[recipe.name] = event["outcome"]
            places = picture.places if isolation == "auto" else picture.fenced_places
            places[recipe.name] = {
                str(Path(thumbnail["path"]).relative_to("thumbs")): digest(folder / thumbnail["path"])
                for thumbnail in event.get("thumbnails", ())}

    def picture(self, path):
        return self.named[os.path.basename(path).split("-")[0]]

    def expected(self, recipe, path, is_suspect=False):
        """The digests that the thumbnails of a source may have, by their places below `thumbs`.

        - parameter path: that of the source below the folder that is mirrored.
        - parameter is_suspect: whether two runs may have died while the source was under way. It is then decoded in a
          decoder process.
        """
        picture = self.picture(path)
        stem = path.removesuffix(picture.path.suffix)
        first = relative(picture.name, FIRST)
        fenced = picture.fenced_places[recipe.name] if is_suspect else {}
        return {place.replace(first, stem): {digest, fenced.get(place, digest)}
                for place, digest in picture.places[recipe.name].items()}


class Album:
    """A folder with many names of the pictures."""

    def __init__(self, folder, pictures, count, generator):
        self.folder = folder
        # A tenth of the sources are bad, at random places.
        bad = [picture for picture in pictures.all if picture not in pictures.good]
        self.paths = [
            generator.choice(bad if bad and generator.random() < 0.1 else pictures.good).link(folder, number)
            for number in range(1, count + 1)]


# The beginning of a thumbnail, and the part of its mark that names the source: it differs for each name of a picture.
_NAMED = re.compile(rb"^(.{24}thumbjob [0-9a-f]{16}=[0-9a-f]{16}) [0-9a-f]{16}", re.DOTALL)


def digest(path):
    """A hash of a thumbnail, but for the name of its source."""
    return hashlib.sha256(_NAMED.sub(rb"\1", path.read_bytes(), count=1)).hexdigest()


def folder_problems(thumbs, expected, is_complete, may_have_rest=False):
    """What is wrong with a folder of thumbnails: damaged or missing ones, and files that should not be there.

    - parameter expected: the digests that each thumbnail may have, by its place.
    - parameter may_have_rest: whether a killed run may have left temporary files.
    """
    problems, found = defaultdict(list), 0
    for top, folders, files in os.walk(thumbs):
        in_working_folder = WORKING in Path(top).parts
        if may_have_rest and in_working_folder:
            folders[:] = []
        for name in files:
            path = Path(top, name)
            place = str(path.relative_to(thumbs))
            if in_working_folder:
                is_kept = Path(top).name == WORKING and name.startswith(("tree", "settings", "ledger"))
                if not is_kept and not may_have_rest:
                    problems["it left the file"].append(place)
            elif place not in expected:
                if not (may_have_rest and name.startswith(".thumbjob-")):
                    problems["it left the file"].append(place)
            else:
                found += 1
                if digest(path) not in expected[place]:
                    problems["a thumbnail differs from that of an undisturbed run:"].append(place)
        if in_working_folder and Path(top).name.startswith("run-") and not may_have_rest:
            problems["it left the folder"].append(str(Path(top).relative_to(thumbs)))
    if is_complete and found < len(expected):
        missing = [place for place in expected if not (thumbs / place).exists()]
        problems["a thumbnail is missing:"] += missing
    return [f"{what} {places[0]}" + (f", and {len(places) - 1} more" if len(places) > 1 else "")
            for what, places in problems.items() if places]
