"""The page of a comparison in a browser. It is a file, which no job serves."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from browser import Browser
from job import THUMBJOB

PICTURES = Path(".build/screenshots")


@pytest.fixture(scope="module")
def page(tmp_path_factory, odd_pictures):
    folder = tmp_path_factory.mktemp("comparison")
    command = [THUMBJOB, "compare", odd_pictures, "--rounds", "2", "--out", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "compare.html"


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.driver.quit()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1180])
def test_no_part_of_the_page_is_wider_than_the_window(page, browser, width, scheme):
    browser.look(width, scheme)
    browser.driver.get(page.as_uri())
    browser.picture(PICTURES / f"compare-{width}-{scheme}.png")
    assert browser.run("return document.documentElement.scrollWidth") == width
    clipped = "return [...document.querySelectorAll('th, td')].filter((e) => e.scrollWidth > e.clientWidth).length"
    assert browser.run(clipped) == 0
    assert browser.texts("thead th") == ["bounded", "gcd-file", "serial"] * 3
    assert browser.complaints() == []


def test_the_pictures_for_readme_show_legend_and_charts(page, tmp_path):
    place = tmp_path / "compare.png"
    subprocess.run([sys.executable, "Benchmarks/compare_pictures.py", page, place], check=True)
    with Image.open(place) as picture:
        # Three charts beside each other, at two pixels for each of the page's.
        assert picture.width > 2000 and 400 < picture.height < 900
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 20
