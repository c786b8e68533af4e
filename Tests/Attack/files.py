"""Good JPEG files of many kinds, encoded by libjpeg's own `cjpeg`."""

import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "PictureFiles"))

import jpegs

SAMPLINGS = (
    "1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x3", "2x2,2x1", "2x2,1x2,2x1", "1x1,2x2,2x2",
    "1x1,2x1,1x2", "2x2,2x2,1x1", "3x2,1x2,1x1", "2x1,1x2,1x1",
)
RESTARTS = ("1B", "7B", "1", "3", "100B", "65535B")
# The first scan of a coefficient leaves out fewer bits than this.
_MOST_SHIFT = 3


@dataclass(frozen=True)
class GoodFile:
    name: str
    picture: str
    kind: str  # its class in the table
    options: tuple[str, ...]
    data: bytes
    suffix: str = "jpg"
    twin: str | None = None  # the name of a file with the same pixels

    @property
    def file_name(self):
        return f"{self.name}.{self.suffix}"


def sampling_of(options):
    """The sampling factors of three components; `cjpeg -sample` takes those that are left out as 1x1."""
    text = options[options.index("-sample") + 1] if "-sample" in options else "1x1"
    given = [tuple(int(factor) for factor in pair.split("x")) for pair in text.split(",")]
    return given + [(1, 1)] * (3 - len(given))


def _groups(generator, sampling):
    """The components in random groups, none of which has more than ten blocks in its MCU (B.2.3)."""
    components = list(range(len(sampling)))
    generator.shuffle(components)
    groups = []
    for component in components:
        blocks = sampling[component][0] * sampling[component][1]
        fitting = [group for group in groups if sum(sampling[c][0] * sampling[c][1] for c in group) + blocks <= 10]
        if fitting and generator.random() < 0.7:
            generator.choice(fitting).append(component)
        else:
            groups.append([component])
    return [sorted(group) for group in groups]


def _bands(generator):
    """The AC coefficients, cut into bands."""
    cuts = sorted(generator.sample(range(2, 64), generator.randrange(4)))
    return list(zip([1, *cuts], [cut - 1 for cut in [*cuts, 64]], strict=True))


def progressive_script(generator, sampling):
    """A random legal script of progressive scans (ITU-T T.81, G.1.1.1), which ends with every bit known.

    A component's first DC scan comes before its AC scans, and each band is refined bit by bit. Otherwise the order of
    the scans is free.
    """
    shift = generator.randrange(_MOST_SHIFT)
    scans = [(group, 0, 0, 0, shift) for group in _groups(generator, sampling)]
    # Each chain is a list of scans in the order that they must have.
    chains = [[(group, 0, 0, low, low - 1) for low in range(shift, 0, -1) for group in _groups(generator, sampling)]]
    for component in range(len(sampling)):
        for start, end in _bands(generator):
            shift = generator.randrange(_MOST_SHIFT)
            refinements = [([component], start, end, low, low - 1) for low in range(shift, 0, -1)]
            chains.append([([component], start, end, 0, shift), *refinements])
    while chains := [chain for chain in chains if chain]:
        scans.append(generator.choice(chains).pop(0))
    return "".join(
        f"{','.join(map(str, group))}: {start}-{end}, {high}, {low};\n" for group, start, end, high, low in scans)


def sequential_script(generator, sampling):
    """A random script of sequential scans, of which each has some of the components."""
    return "".join(f"{','.join(map(str, group))};\n" for group in _groups(generator, sampling))


def encode(picture, options, script=None):
    with tempfile.NamedTemporaryFile("w", suffix=".scans") as file:
        if script:
            file.write(script)
            file.flush()
            options = [*options, "-scans", file.name]
        return jpegs.encoded(picture.pnm, *options)


# Kind, picture and options. Progressive and scripted files are below.
_USUAL = (
    ("baseline", "photo", "-quality 85 -sample 2x2"),
    ("baseline", "photo-tall", "-quality 90 -sample 2x1"),
    ("baseline", "photo-wide", "-quality 75 -sample 1x1"),
    ("baseline", "photo-long", "-quality 80 -sample 2x2"),
    ("baseline", "photo-odd", "-quality 95 -sample 2x2 -optimize"),
    ("baseline", "photo-tiny", "-quality 60 -sample 2x2"),
    ("baseline", "photo-grey", "-quality 85"),
    ("baseline", "gradient", "-quality 80 -sample 2x2 -optimize"),
    ("baseline", "flat", "-quality 80 -sample 2x2"),
    ("baseline", "middle-grey", "-quality 80 -sample 2x2"),
    ("baseline", "flat-grey", "-quality 85 -optimize"),
    ("baseline", "checkers", "-quality 70 -sample 2x2"),
    ("baseline", "text", "-quality 92 -optimize"),
    ("baseline", "noise", "-quality 98 -sample 1x1"),
    ("baseline", "photo", "-quality 3 -sample 2x2"),
    ("baseline", "photo", "-quality 88 -rgb"),
    ("progressive", "photo", "-quality 85 -sample 2x2"),
    ("progressive", "photo-tall", "-quality 90 -sample 1x1"),
    ("progressive", "photo-wide", "-quality 75 -sample 2x1"),
    ("progressive", "photo-long", "-quality 80 -sample 2x2"),
    ("progressive", "photo-odd", "-quality 60 -sample 2x2"),
    ("progressive", "photo-grey", "-quality 85"),
    ("progressive", "flat", "-quality 80 -sample 2x2"),
    ("progressive", "checkers", "-quality 70 -sample 2x2"),
    ("progressive", "text", "-quality 92"),
    ("progressive", "noise", "-quality 90 -sample 2x2"),
    ("arithmetic", "photo", "-quality 85 -sample 2x2"),
    ("arithmetic", "photo-tall", "-quality 80 -sample 1x1 -progressive"),
    ("arithmetic", "photo-grey", "-quality 90"),
    ("arithmetic", "photo-wide", "-quality 75 -sample 2x1 -restart 2"),
    ("arithmetic", "gradient", "-quality 80 -sample 2x2"),
    ("arithmetic", "flat", "-quality 80 -sample 2x2 -progressive"),
    ("arithmetic", "checkers", "-quality 70"),
    ("arithmetic", "middle-grey", "-quality 80 -sample 2x2 -restart 3"),
    ("arithmetic", "middle-grey", "-quality 80 -progressive"),
    ("arithmetic", "text", "-quality 92"),
)


def _described():
    """All files: kind, picture, options, and the function that makes a script."""
    for kind, picture, options in _USUAL:
        more = {"progressive": ["-progressive"], "arithmetic": ["-arithmetic"]}.get(kind, [])
        yield kind, picture, [*options.split(), *more], None
    modes = (["-progressive"], [])
    for index, sampling in enumerate(SAMPLINGS):
        for other, picture in enumerate(("photo", "photo-odd")):
            yield "samplings", picture, ["-quality", "85", "-sample", sampling, *modes[(index + other) % 2]], None
    for index, interval in enumerate(RESTARTS):
        for other, picture in enumerate(("photo", "photo-grey")):
            options = ["-quality", "85", "-sample", "2x2", "-restart", interval, *modes[(index + other) % 2]]
            yield "restarts", picture, options, None
    for sampling in SAMPLINGS[:4]:
        yield "sequential scans", "photo", ["-quality", "85", "-sample", sampling], sequential_script


def encoded(kind, picture, options, script=None, number=0):
    words = [kind, picture.name, *(option.strip("-") for option in options)]
    name = "-".join(words).replace(" ", "-").replace(",", "-")
    if script:
        name += f"-{number}"
        # Scripts name components, of which a grey picture has one.
        sampling = [(1, 1)] if picture.is_grey else sampling_of(options)
        script = script(random.Random(name), sampling)
    return GoodFile(name, picture.name, kind, tuple(options), encode(picture, options, script))


def usual_files(drawn):
    """Files that mutations start from, and that must be made."""
    return [
        encoded(kind, drawn[picture], options, script, number)
        for number, (kind, picture, options, script) in enumerate(_described())
    ]


def scripted_files(drawn, seed, count):
    """Progressive files with random legal scripts. They must be made, too."""
    files = []
    for number in range(count):
        generator = random.Random(f"{seed} script {number}")
        picture = drawn[generator.choice(("photo", "photo-odd", "photo-grey", "photo-wide", "photo-tiny", "text"))]
        options = ["-quality", str(generator.choice((40, 75, 90)))]
        if not picture.is_grey:
            options += ["-sample", generator.choice(SAMPLINGS[:12])]
        if generator.random() < 0.2:
            options += ["-restart", generator.choice(RESTARTS[:4])]
        if generator.random() < 0.15:
            options += ["-arithmetic"]
        files.append(encoded("scan scripts", picture, options, progressive_script, f"{seed}-{number}"))
    return files
