"""Fixtures of all these tests: sources, and jobs that are ended after the test."""

import os
import shutil
import tempfile
from pathlib import Path

import hypothesis.configuration
import pytest
from PIL import Image, ImageDraw

import program
from job import THUMBJOB, Job

# Requests of the tests and of the browser's driver to this machine must not go through a proxy.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
# Whoever runs the tests may have keys of S3.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
program.heed_signals()
hypothesis.configuration.set_hypothesis_home_dir(".build/hypothesis")

# More than any job makes before its test ends it.
MANY = 2000
LONG_NAME = "a name that is long enough to push everything else off a narrow screen " + "and has <b>marks<b>.jpg"


def photo(path, hue):
    """Saves a picture that resembles a photo: sky, sun and hills."""
    width, height = 1500, 1000
    picture = Image.linear_gradient("L").resize((width, height))
    picture = Image.merge("HSV", [Image.new("L", picture.size, hue), Image.new("L", picture.size, 110), picture])
    picture = picture.convert("RGB")
    ImageDraw.Draw(picture).ellipse([900, 140, 1180, 420], fill=(255, 240, 200))
    ImageDraw.Draw(picture).polygon([(0, 1000), (520, 420), (980, 1000)], fill=(40, 50 + hue // 2, 60))
    picture.save(path, quality=85)


def album(folder, count):
    """Makes a folder of a few pictures, each under many names."""
    folder.mkdir()
    for index in range(count):
        path = folder / f"IMG_{index:04}.jpg"
        if index < 12:
            photo(path, index * 21)
        else:
            os.link(folder / f"IMG_{index % 12:04}.jpg", path)
    return folder


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    return album(tmp_path_factory.mktemp("sources") / "pictures", MANY)


@pytest.fixture(scope="session")
def broken_picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("sources") / "IMG_0900 broken.jpg"
    path.write_bytes(b"this was a photo once")
    return path


@pytest.fixture(scope="session")
def odd_pictures(tmp_path_factory, pictures, broken_picture):
    """Good pictures and a broken one, with names that try to break the page."""
    folder = tmp_path_factory.mktemp("sources") / "odd"
    folder.mkdir()
    for index in range(11):
        shutil.copyfile(pictures / f"IMG_{index:04}.jpg", folder / f"{index} {LONG_NAME}")
    shutil.copyfile(broken_picture, folder / f"{'broken' * 20} <i>{LONG_NAME}")
    return folder


def started_jobs():
    assert THUMBJOB.exists(), f"{THUMBJOB} does not exist; build it, or set THUMBJOB to its path"
    jobs, folders = [], []

    def start(*arguments, kind=Job, folder=None, **options):
        if folder is None:
            # A short path, because the path of a unix socket has at most 107 bytes.
            folder = Path(tempfile.mkdtemp(prefix="thumbjob-test-"))
            folders.append(folder)
        jobs.append(kind(folder, *arguments, **options))
        return jobs[-1]

    yield start
    for job in jobs:
        job.end()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def start():
    """Starts jobs that are ended after the test, in a new folder or in that of another job."""
    yield from started_jobs()


@pytest.fixture(scope="module")
def start_for_all():
    """Starts jobs that are ended after the last test of the file."""
    yield from started_jobs()
