"""The page of a gallery in a browser, opened as a file and used as by a user."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urlsplit

import pytest
from PIL import Image, ImageStat

from browser import Browser
from conftest import photo
from gallery import PAGE, many_pictures, page_files, write_gallery
from job import THUMBJOB
from waiting import eventually

SCREENSHOTS = Path(".build/screenshots")
LOOKS = [(width, scheme) for width in (400, 1600) for scheme in ("light", "dark")]
MANY = 10_000
# The data of so many pictures may have this many bytes.
MOST_BYTES = 4_000_000

# Names that try to break out of addresses, attributes, markup and scripts; the last is not UTF-8.
HOSTILE = [os.fsencode(name) for name in (
    "a b.jpg", "a#b.jpg", "a?b=c&d.jpg", "a%20b.jpg", "a&picture=b.jpg", "c:d.jpg", "back\\slash.jpg",
    "line\nbreak.jpg", "quotes\"'`.jpg", "<img src=x onerror=window.hurt=1>.jpg", "separator\u2028.jpg",
    "right\u202eto left.jpg", "комната ñ.jpg", ", 2x.jpg", "x..jpg")] + [b"caf\xe9 \xff.jpg"]
# Makes `</script>` of a folder and a file.
MARKUP = (b"odd <", b"script><script>window.hurt=1<")


def made_gallery(folder, photos, *sizes, options=()):
    """Makes a gallery with thumbjob; returns the data that it has written."""
    command = [THUMBJOB, photos, "-o", folder / "thumbs", "--html", folder / "gallery", "--progress", "none",
               "--status", "off", *options]
    for size in sizes:
        command += ["-s", size]
    subprocess.run(command, capture_output=True, check=False)
    text = (folder / "gallery/page/data.js").read_text()
    assert text.startswith("window.gallery=") and text.endswith(";\n")
    return json.loads(text.removeprefix("window.gallery=").removesuffix(";\n"))


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Photos in folders, two of them upright and one broken."""
    folder = tmp_path_factory.mktemp("gallery") / "Summer & winter"
    for index in range(24):
        place = folder / ("2024/coast", "2024/hills", "2025", "")[index % 4]
        place.mkdir(parents=True, exist_ok=True)
        photo(place / f"IMG_{index}.jpg", index * 10)
        if index in (5, 9):
            with Image.open(place / f"IMG_{index}.jpg") as picture:
                picture.transpose(Image.Transpose.ROTATE_90).save(place / f"IMG_{index}.jpg")
    (folder / "2025/IMG_100.jpg").write_bytes(b"this was a photo once")
    return folder


@pytest.fixture(scope="session")
def album(photos):
    """The folder of a gallery, and its data."""
    return photos.parent / "gallery", made_gallery(photos.parent, photos, "small=320", "large=1000")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile #1 100%")
    place = Path(os.fsdecode(os.path.join(os.fsencode(folder), b"photos", *MARKUP)))
    place.mkdir(parents=True)
    for index, name in enumerate(HOSTILE):
        photo(place / os.fsdecode(name), index * 15)
    return folder / "gallery", made_gallery(folder, folder / "photos", "small=320", "large=1000")


@pytest.fixture(scope="session")
def many(tmp_path_factory, photos):
    folder = tmp_path_factory.mktemp("many")
    data = made_gallery(folder, photos, "small=320", "large=1000")
    data = many_pictures(data, folder / "thumbs", MANY)
    write_gallery(folder / "gallery", data)
    return folder / "gallery", data


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.driver.quit()


WATCH_SHIFTS = """
  window.shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
    .observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture
def visit(browser):
    """Opens a gallery; afterwards nothing may be on the console, except lines with the `expected` text."""
    texts = []

    def opened(gallery, fragment="", width=1600, scheme="light", expected=None, **look):
        texts.extend([expected] if expected else [])
        browser.look(width, scheme, **look)
        browser.driver.get("about:blank")
        (browser.complaints(), list(browser.requests()))  # discard those of earlier tests
        browser.driver.get((gallery / "index.html").as_uri() + fragment)
        browser.run(WATCH_SHIFTS)
    yield opened
    assert [line for line in browser.complaints() if not any(text in line for text in texts)] == []
    browser.driver.get("about:blank")


def names(browser):
    return browser.run("return [...document.querySelectorAll('.tile')].map((tile) => tile.dataset.name)")


def focused(browser):
    return browser.run("return document.activeElement.dataset.name ?? document.activeElement.id")


def viewed(browser):
    """The name of the picture in the viewer; "" if it is closed."""
    return browser.run("return document.querySelector('#viewer').open "
                       "? document.querySelector('#viewer-name').textContent : ''")


def fragment(browser):
    return urlsplit(browser.driver.current_url).fragment


def all_loaded(browser, selector):
    """Whether all images that match have loaded; the addresses of these."""
    return browser.run("""const images = [...document.querySelectorAll(arguments[0])];
      return images.length > 0 && images.every(({ complete, naturalWidth }) => complete && naturalWidth > 0)
        && images.map(({ currentSrc }) => currentSrc)""", selector)


def middle(browser, selector):
    """The middle of an element in the window."""
    return browser.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2]""", selector)


# MARK: Opening


def test_the_page_consists_of_exactly_its_files():
    assert sorted([*page_files(), "index.html"]) == sorted(path.name for path in PAGE.iterdir())


def test_a_gallery_opens_from_disk_and_loads_only_files_beside_it(browser, album, visit):
    folder, _ = album
    visit(folder)
    assert browser.driver.current_url.startswith("file://")
    assert browser.text("#title") == browser.driver.title == "Summer & winter"
    assert browser.text("#count") == "24 pictures"
    eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    beside = folder.parent.as_uri()
    assert [address for address in browser.requests() if not address.startswith(beside)] == []


def test_pictures_are_in_the_order_of_folders_and_numbers(browser, album, visit):
    visit(album[0], height=4000)
    assert browser.texts("h2 .path") == ["Summer & winter", "2024/coast", "2024/hills", "2025"]
    assert names(browser)[6:12] == ["IMG_0.jpg", "IMG_4.jpg", "IMG_8.jpg", "IMG_12.jpg", "IMG_16.jpg", "IMG_20.jpg"]
    assert browser.run("return [...document.querySelectorAll('#grid li')].map((e) => Number(e.ariaPosInSet))"
                       ) == list(range(1, 26))
    assert names(browser)[-1] == "IMG_100.jpg"


def test_the_pictures_of_a_folder_are_in_the_order_of_their_dates(browser, album, visit, tmp_path):
    folder, data = album
    taken = {"b.jpg": "2024-07-14T18:03:12+02:00", "a.jpg": "2024-07-14T18:03:12", "c.jpg": "2023-12-31T23:59:59-10:00",
             "10.jpg": None, "2.jpg": None, "d.jpg": "2024-07-14T18:03:13+14:00"}
    first = data["pictures"][0]
    thumbnails = [[*size, first["source"]] for size in first["thumbnails"]]
    pictures = [{**first, "source": name, "thumbnails": thumbnails} | ({"taken": date} if date else {})
                for name, date in taken.items()]
    sizes = [{**size, "folder": str(folder.parent / "thumbs" / size["name"])} for size in data["sizes"]]
    write_gallery(tmp_path / "web", {**data, "sizes": sizes, "pictures": pictures, "missing": []})
    visit(tmp_path / "web")
    assert names(browser) == ["c.jpg", "a.jpg", "b.jpg", "d.jpg", "2.jpg", "10.jpg"]
    browser.run("document.querySelector('.tile').click()")
    assert browser.text("#viewer-place") == "1 of 6 · 2023-12-31 23:59"


def test_pictures_keep_their_shapes_and_rows_end_at_the_right_edge(browser, album, visit):
    visit(album[0], height=4000)
    shapes = dict(zip(names(browser), browser.run(
        "return [...document.querySelectorAll('#grid li')].map((e) => e.offsetWidth / e.offsetHeight)"), strict=True))
    for name, shape in shapes.items():
        assert shape == pytest.approx(2 / 3 if name in ("IMG_5.jpg", "IMG_9.jpg") else 3 / 2, rel=0.04), name
    edges = browser.run("""const right = document.querySelector("#grid").getBoundingClientRect().right;
      return [...document.querySelectorAll("section ul")].map((list) =>
        Math.max(...[...list.children].map((item) => item.getBoundingClientRect().right)) - right)""")
    assert max(edges) <= 0.5 and max(edges) > -0.5


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_the_page_fits_the_window_and_follows_the_color_scheme(browser, album, visit, width, scheme):
    visit(album[0], width=width, scheme=scheme)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    background = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) > 384) == (scheme == "light")
    eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    browser.picture(SCREENSHOTS / f"gallery-{width}-{scheme}.png")
    browser.press("#grid a.tile")
    eventually("the picture is loaded", lambda: all_loaded(browser, "#frame img"))
    wide, tall, shown = browser.run("""const box = document.querySelector("#frame").getBoundingClientRect();
      return [box.right, box.bottom, [innerWidth, innerHeight]]""")
    assert wide <= shown[0] and tall <= shown[1]
    browser.picture(SCREENSHOTS / f"gallery-viewer-{width}-{scheme}.png")


def test_without_scripts_the_page_says_what_is_wrong(browser, album, visit):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.get((album[0] / "index.html").as_uri())
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        assert "needs JavaScript" in browser.text("noscript p")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("data, words", [(None, "page/data.js is missing"), ({"version": 2}, "another version")])
def test_missing_and_foreign_data_are_reported(browser, visit, tmp_path, data, words):
    write_gallery(tmp_path / "gallery", data)
    visit(tmp_path / "gallery")
    assert words in browser.text("#notice")
    assert browser.run("return document.querySelector('#notice').checkVisibility()")


def test_an_empty_gallery_says_so(browser, visit, tmp_path):
    write_gallery(tmp_path / "gallery", {"version": 1, "title": "none", "sizes": [], "pictures": []})
    visit(tmp_path / "gallery")
    assert browser.text("#empty p") == "There are no pictures."
    assert browser.text("#count") == "0 pictures"


# MARK: For others


@pytest.fixture(scope="session")
def shared(tmp_path_factory, photos):
    """A gallery for others, after its folder was moved, and the thumbnails and photos with the rest were not."""
    folder = tmp_path_factory.mktemp("shared")
    data = made_gallery(folder, photos, options=["--html-standalone"])
    moved = tmp_path_factory.mktemp("friend") / "holidays"
    shutil.move(folder / "gallery", moved)
    shutil.rmtree(folder)
    return moved, data


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_a_standalone_gallery_shows_all_from_its_folder_wherever_that_is(browser, shared, visit, width, scheme):
    folder, _ = shared
    visit(folder, width=width, scheme=scheme, height=4000)
    assert browser.text("#count") == "24 pictures"
    assert browser.run("return document.documentElement.scrollWidth") <= width
    eventually("the thumbnails are loaded", lambda: len(all_loaded(browser, "#grid img") or ()) == 24)
    assert not browser.run("return document.querySelector('#missing').checkVisibility()")
    browser.picture(SCREENSHOTS / f"gallery-shared-{width}-{scheme}.png")
    browser.press("#grid a.tile")
    (large,) = eventually("the picture is loaded", lambda: all_loaded(browser, "#frame img"))
    assert large.startswith((folder / "page/pictures").as_uri())
    links = browser.run("return [...document.querySelectorAll('#viewer-files a')].map(({ href }) => href)")
    assert [Path(unquote_to_bytes(urlsplit(link).path).decode()).is_file() for link in links] == [True, True]
    assert browser.text("#viewer-files").startswith("thumb ") and "original" in browser.text("#viewer-files")
    assert [address for address in browser.requests() if not address.startswith(folder.as_uri())] == []
    assert b"IMG_100" not in (folder / "page/data.js").read_bytes()


# MARK: Names


def test_hostile_names_are_text_and_their_pictures_load(browser, hostile, visit):
    visit(hostile[0], height=4000)
    assert len(names(browser)) == len(HOSTILE)
    loaded = eventually("all are loaded", lambda: all_loaded(browser, "#grid img"))
    found = sorted(unquote_to_bytes(urlsplit(address).path.rsplit("/", 1)[1]) for address in loaded)
    assert found == sorted(HOSTILE)
    assert browser.run("return window.hurt") is None
    assert browser.run("return document.querySelectorAll('script').length") == len(page_files())
    shown = names(browser)
    assert "<img src=x onerror=window.hurt=1>.jpg" in shown and "line\\u{a}break.jpg" in shown
    assert "right\\u{202e}to left.jpg" in shown and HOSTILE[-1].decode(errors="replace") in shown
    assert browser.text("h2 .path") == os.fsdecode(b"/".join(MARKUP))


def test_pictures_with_hostile_names_open_and_are_found_again_by_their_addresses(browser, hostile, visit):
    visit(hostile[0], height=4000)
    for place, name in enumerate(names(browser)):
        browser.run("document.querySelectorAll('#grid a.tile')[arguments[0]].click()", place)
        assert viewed(browser) == name
        (large,) = eventually("it is loaded", lambda: all_loaded(browser, "#frame img"))
        address = browser.driver.current_url
        browser.driver.get("about:blank")
        browser.driver.get(address)
        assert viewed(browser) == name
        assert eventually("it is loaded", lambda: all_loaded(browser, "#frame img")) == [large]
        links = browser.run("return [...document.querySelectorAll('#viewer-files a')].map(({ href }) => href)")
        for link in links:
            assert Path(os.fsdecode(unquote_to_bytes(urlsplit(link).path))).is_file()
        assert len(links) == 3
        browser.key("ESCAPE")
        eventually("it is closed", lambda: viewed(browser) == "")


def test_an_address_with_plain_characters_works_and_a_wrong_one_is_reported(browser, album, visit):
    visit(album[0], "#picture=2024/coast/IMG_4.jpg")
    assert viewed(browser) == "IMG_4.jpg"
    visit(album[0], "#picture=2024/coast/<b>.jpg")
    assert viewed(browser) == ""
    assert browser.text("#notice") == "There is no picture 2024/coast/<b>.jpg."
    assert fragment(browser) == ""
    visit(album[0], "#picture=%FF")
    assert browser.text("#notice") == "There is no picture %FF."
    # A picture that the rest of the address leaves out.
    visit(album[0], "#folder=2025&picture=2024/coast/IMG_4.jpg")
    assert viewed(browser) == "IMG_4.jpg"
    assert browser.text("#count") == "24 pictures"


# MARK: Placeholders and images


def test_a_thumbhash_is_drawn_as_its_format_says(browser, album, visit):
    visit(album[0])
    # Calculated with another program: the pixels in a corner and in the middle. The second has a clear corner.
    for text, size, corner, centre in (
        ("1QcSHQRnh493V4dIh4eXh1h4kJUI", [23, 32], [64, 78, 113, 255], [140, 110, 89, 255]),
        ("YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw==", [32, 32], [0, 0, 0, 0], [107, 103, 109, 255]),
    ):
        drawn = browser.run("""const canvas = hashCanvas(arguments[0]);
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          const pixel = (x, y) => [...data.slice(4 * (y * width + x)).slice(0, 4)];
          return [[width, height], pixel(0, 0), pixel(width >> 1, height >> 1)]""", text)
        assert drawn == [size, corner, centre]


def test_each_picture_has_a_placeholder_like_its_thumbnail(browser, album, visit):
    folder, data = album
    visit(folder, height=4000)
    means = browser.run("""return Object.fromEntries([...document.querySelectorAll("a.tile")].map((tile) => {
      const canvas = tile.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const sum = [0, 0, 0];
      data.forEach((value, at) => { if (at % 4 < 3) sum[at % 4] += value; });
      return [tile.title, sum.map((value) => value * 4 / data.length)];
    }))""")
    assert len(means) == len(data["pictures"])
    for name, mean in means.items():
        with Image.open(folder / data["sizes"][0]["folder"] / name) as thumbnail:
            assert mean == pytest.approx(ImageStat.Stat(thumbnail.convert("RGB")).mean, abs=12), name


def test_the_browser_loads_the_size_that_fits_the_screen(browser, album, visit):
    for density, size in ((1, "small"), (3, "large")):
        visit(album[0], density=density)
        loaded = eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
        assert {address.split("/thumbs/")[1].split("/")[0] for address in loaded} == {size}
    sizes = browser.run("return [...document.querySelectorAll('#grid img')].map((image) =>"
                        "[parseFloat(image.sizes), image.getBoundingClientRect().width])")
    assert all(shown - 1 <= told <= shown * 1.05 + 1 for told, shown in sizes)
    # On a phone, the viewer needs no more than the screen has.
    visit(album[0], "#picture=IMG_3.jpg", width=300, density=1)
    assert "/small/" in eventually("it is loaded", lambda: all_loaded(browser, "#frame img"))[0]
    browser.look(1600, "light")
    eventually("a wider window gets the large one", lambda: "/large/" in (all_loaded(browser, "#frame img") or [""])[0])


def test_the_browser_takes_the_format_of_the_smallest_files(browser, photos, visit, tmp_path):
    options = ["--format", "jpeg,avif,webp", "--html-standalone"]
    data = made_gallery(tmp_path, photos / "2025", "small=320", "large=1000", options=options)
    assert [size["type"] for size in data["sizes"]] == ["image/jpeg", "image/avif", "image/webp"] * 2
    visit(tmp_path / "gallery")
    loaded = eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    assert loaded and all(address.endswith(".avif") for address in loaded)
    types = browser.run("return [...document.querySelectorAll('#grid picture')].map((picture) => "
                        "[...picture.children].map(({ type, src }) => type ?? src.split('.').at(-1)))")
    assert types == [["image/avif", "image/webp", "jpg"]] * len(types) and types
    browser.press("#grid a.tile")
    assert eventually("the picture is loaded", lambda: all_loaded(browser, "#frame img"))[0].endswith(".avif")
    links = browser.texts("#viewer-files a")
    assert len(links) == 6 and {"avif", "webp", "jpeg"} == {link.split(" ")[1] for link in links}
    copies = [path.suffix for path in (tmp_path / "gallery/page/pictures").rglob("*.*")]
    assert sorted(copies) == sorted([".jpg", ".avif", ".webp"] * (len(copies) // 3)) and copies


def test_cropped_thumbnails_are_not_mixed_with_whole_ones(browser, photos, visit, tmp_path):
    made_gallery(tmp_path, photos / "2024", "square=200x200^", "dense=400x400^", "large=1000")
    visit(tmp_path / "gallery", density=2)
    loaded = eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    assert all("/dense/" in address for address in loaded)
    shapes = browser.run("return [...document.querySelectorAll('#grid li')].map((e) => e.offsetWidth / e.offsetHeight)")
    assert shapes == pytest.approx([1] * len(shapes), rel=0.04)
    browser.press("#grid a.tile")
    assert "/large/" in eventually("the picture is loaded", lambda: all_loaded(browser, "#frame img"))[0]
    assert browser.run("const { offsetWidth, offsetHeight } = document.querySelector('#frame');"
                       "return offsetWidth / offsetHeight") == pytest.approx(1.5, rel=0.01)


def test_missing_pictures_have_marked_places_with_the_reason(browser, album, visit):
    visit(album[0], height=4000)
    (name, why), = browser.run("return [...document.querySelectorAll('.missing')].map((tile) => "
                               "[...tile.children].map((part) => part.textContent))")
    assert name == "IMG_100.jpg" and why.startswith("not an image")
    assert browser.text("#missing") == "1 missing"
    browser.press("#missing")
    assert names(browser) == ["IMG_100.jpg"]
    assert browser.text("#count") == "1 missing"
    browser.driver.back()
    eventually("all are shown again", lambda: len(names(browser)) == 25)


def test_a_thumbnail_that_is_gone_leaves_a_marked_place(browser, visit, photos, tmp_path):
    made_gallery(tmp_path, photos / "2025", "small=320", "large=1000")
    for size in ("small", "large"):
        (tmp_path / "thumbs" / size / "IMG_6.jpg").unlink()
    # The viewer loads neighbours at a time of its own.
    visit(tmp_path / "gallery", expected="ERR_FILE_NOT_FOUND")
    eventually("it is marked", lambda: browser.texts(".failed .name") == ["IMG_6.jpg"])
    browser.press(".failed")
    eventually("the viewer says so", lambda: browser.run(
        "return document.querySelector('#viewer-problem').checkVisibility()"))
    assert "original" in browser.text("#viewer-files a:last-child")
    browser.key("ARROW_RIGHT")
    eventually("the next one is shown", lambda: all_loaded(browser, "#frame img"))
    assert not browser.run("return document.querySelector('#viewer-problem').checkVisibility()")


# MARK: Keyboard, touch, history


def test_the_grid_is_used_with_the_keyboard_alone(browser, album, visit):
    visit(album[0])
    all_names = ["IMG_3.jpg", "IMG_7.jpg", "IMG_11.jpg"]
    browser.key("TAB")
    browser.key("ENTER")  # the link that skips to the pictures
    assert focused(browser) == all_names[0]
    for key, name in (("ARROW_RIGHT", all_names[1]), ("ARROW_RIGHT", all_names[2]), ("ARROW_LEFT", all_names[1]),
                      ("HOME", all_names[0]), ("ARROW_LEFT", all_names[0]), ("ARROW_UP", all_names[0])):
        browser.key(key)
        assert focused(browser) == name
    browser.key("END")
    assert focused(browser) == "IMG_100.jpg"
    # Only one picture is in the order of Tab.
    assert browser.run("return document.querySelectorAll('.tile[tabindex=\"0\"]').length") == 1
    browser.key("ARROW_UP")
    row = focused(browser)
    browser.key("ARROW_DOWN")
    assert focused(browser) != row
    shown = "const box = document.activeElement.getBoundingClientRect(); return [box.top, box.bottom, innerHeight]"
    for key in ("PAGE_UP", "PAGE_UP", "PAGE_DOWN", "HOME"):
        browser.key(key)
        top, bottom, height = browser.run(shown)
        assert 0 <= top < bottom <= height
    browser.key("ENTER")
    assert viewed(browser) == all_names[0]


def test_the_viewer_is_used_with_the_keyboard_and_gives_the_focus_back(browser, album, visit):
    visit(album[0])
    browser.run("document.querySelector('a.tile').focus()")
    browser.key("ENTER")
    assert viewed(browser) == "IMG_3.jpg" and focused(browser) == "close"
    for key, name in (("ARROW_RIGHT", "IMG_7.jpg"), ("END", "IMG_22.jpg"), ("ARROW_RIGHT", "IMG_22.jpg"),
                      ("ARROW_LEFT", "IMG_18.jpg"), ("HOME", "IMG_3.jpg"), ("ARROW_LEFT", "IMG_3.jpg"),
                      ("END", "IMG_22.jpg")):
        browser.key(key)
        assert viewed(browser) == name
    assert browser.text("#viewer-place") == "24 of 24 · 2025"
    eventually("the address follows", lambda: fragment(browser) == "picture=2025/IMG_22.jpg")
    assert browser.run("return document.querySelector('#next').disabled")
    browser.key("ESCAPE")
    eventually("the focus is on the picture that was viewed last", lambda: focused(browser) == "IMG_22.jpg")
    eventually("the address is that of the gallery", lambda: fragment(browser) == "")
    # What the viewer is called, and where its changes are announced.
    assert browser.run("""const viewer = document.querySelector("#viewer");
      return [viewer.ariaModal ?? viewer.tagName, document.getElementById(viewer.getAttribute("aria-labelledby")).id,
        document.querySelector("#viewer-name").closest("[aria-live]") !== null]""") == ["DIALOG", "viewer-name", True]


def test_the_neighbours_of_a_picture_are_loaded_before_they_are_shown(browser, album, visit):
    visit(album[0], "#picture=2024/coast/IMG_8.jpg")
    asked = set()

    def are_asked():
        asked.update(unquote_to_bytes(urlsplit(address).path).decode() for address in browser.requests())
        return all(any(path.endswith(f"large/2024/coast/IMG_{number}.jpg") for path in asked) for number in (4, 12))
    eventually("the ones before and after it are loaded", are_asked)


def test_fingers_open_swipe_and_close(browser, album, visit):
    visit(album[0], width=400, height=800)
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        browser.touch(middle(browser, "a.tile"))
        eventually("a tap opens", lambda: viewed(browser) == "IMG_3.jpg")
        browser.touch((300, 400), (260, 402), (180, 405), (120, 405))
        eventually("a swipe to the left shows the next", lambda: viewed(browser) == "IMG_7.jpg")
        browser.touch((120, 400), (160, 402), (240, 405), (300, 405))
        eventually("a swipe to the right shows the one before", lambda: viewed(browser) == "IMG_3.jpg")
        browser.touch((200, 300), (200, 310), (202, 400), (202, 500))
        eventually("a swipe down closes", lambda: viewed(browser) == "")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_the_back_button_closes_the_viewer_and_undoes_the_choice_of_a_folder(browser, album, visit):
    visit(album[0])
    browser.press("#folders a[data-key='2024']")
    assert set(browser.texts("h2 .path")) == {"2024/coast", "2024/hills"}
    browser.press("a.tile")
    browser.key("ARROW_RIGHT")
    assert viewed(browser) == "IMG_4.jpg"
    browser.driver.back()
    eventually("it is closed", lambda: viewed(browser) == "")
    assert fragment(browser) == "folder=2024"
    browser.driver.forward()
    eventually("it is open again", lambda: viewed(browser) != "")
    browser.driver.back()
    eventually("it is closed", lambda: viewed(browser) == "")
    browser.driver.back()
    eventually("all are shown", lambda: browser.text("#count") == "24 pictures")
    assert fragment(browser) == ""


def test_pictures_appear_at_once_for_people_who_want_less_motion(browser, album, visit):
    visit(album[0])
    duration = "return getComputedStyle(document.querySelector('#grid img.loaded')).transitionDuration"
    eventually("the thumbnails are loaded", lambda: browser.run("return document.querySelector('#grid img.loaded')"))
    assert browser.run(duration) == "0.18s"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    assert browser.run(duration) == "0s"


# MARK: Search and folders


def test_a_search_finds_all_words_without_accents_and_capitals(browser, hostile, visit):
    visit(hostile[0])
    for text, found in (("комната N", ["комната ñ.jpg"]), ("SLASH script", ["back\\slash.jpg"]),
                        ("<img", ["<img src=x onerror=window.hurt=1>.jpg"])):
        browser.type("#search", text, "TAB")
        eventually(f"{text} is found", lambda found=found: names(browser) == found)
    assert browser.text("#count") == f"1 of {len(HOSTILE)} pictures"
    eventually("the address follows", lambda: fragment(browser) == "search=" + quote("<img"))
    browser.driver.refresh()
    assert len(names(browser)) == 1
    assert browser.run("return document.querySelector('#search').value") == "<img"
    browser.type("#search", "no such name", "TAB")
    eventually("nothing is found", lambda: browser.text("#empty p") == "No picture fits." and names(browser) == [])
    browser.press("#show-all")
    eventually("all are shown", lambda: len(names(browser)) > 1)
    # The arrow leads from the field to what was found.
    browser.type("#search", "slash", "ARROW_DOWN")
    assert focused(browser) == "back\\slash.jpg"


def test_a_search_finds_letters_that_others_type_in_another_way(browser, visit, album, tmp_path):
    _, data = album
    first = data["pictures"][0]
    # The thumbnails are not there, but their names are.
    found = {"Große Straße.jpg": "grosse STRASSE", "Grosse Strasse.jpg": "große straße", "Ærø.jpg": "aero",
             "Łódź.jpg": "lodz", "Đorđe.jpg": "dorde", "Þór.jpg": "thor", "Cœur.jpg": "coeur",
             "Diyarbak\u0131r.jpg": "DIYARBAKIR",
             "ﬁn.jpg": "fin"}
    pictures = [{**first, "source": name} for name in found]
    write_gallery(tmp_path / "gallery", {**data, "pictures": pictures, "missing": []})
    visit(tmp_path / "gallery", expected="ERR_FILE_NOT_FOUND")
    for name, text in found.items():
        browser.type("#search", text, "TAB")
        eventually(f"{text} finds {name}", lambda name=name: name in names(browser) and len(names(browser)) < 3)


def test_folders_are_chosen_from_the_list_the_headings_and_the_menu(browser, album, visit):
    visit(album[0])
    listed = browser.run("return [...document.querySelectorAll('#folders a')].map((e) => "
                         "[e.textContent, e.dataset.count, e.style.getPropertyValue('--depth')])")
    assert listed == [["All folders", "24", "0"], ["2024", "12", "0"], ["coast", "6", "1"], ["hills", "6", "1"],
                      ["2025", "6", "0"]]
    browser.press("#folders a[data-key='2024/hills']")
    assert browser.texts("h2 .path") == ["2024/hills"]
    assert browser.text("#folders [aria-current]") == "hills"
    assert browser.text("#count") == "6 of 24 pictures"
    browser.press("h2 a")
    assert browser.text("#count") == "12 of 24 pictures"
    browser.look(400, "light")
    browser.run("""const menu = document.querySelector("#folder");
      menu.value = "2025";
      menu.dispatchEvent(new Event("change"));""")
    assert browser.texts("h2 .path") == ["2025"]
    assert fragment(browser) == "folder=2025"
    assert browser.run("return document.querySelector('#folder').checkVisibility()")
    assert not browser.run("return document.querySelector('#folders').checkVisibility()")


# MARK: Ten thousand pictures

COUNTS = """return { elements: document.querySelectorAll("*").length, images: document.images.length,
  tiles: document.querySelectorAll(".tile").length, canvases: document.querySelectorAll("canvas").length }"""


def assert_few(counts):
    assert counts["tiles"] > 10
    assert counts["images"] < 120 and counts["canvases"] < 120 and counts["elements"] < 900, counts


def frames(browser):
    """Lets the page draw twice."""
    browser.driver.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def test_of_ten_thousand_pictures_only_those_near_the_window_have_elements(browser, many, visit, capsys):
    folder, data = many
    assert (folder / "page/data.js").stat().st_size < MOST_BYTES
    start = time.monotonic()
    visit(folder)
    seconds = [time.monotonic() - start]
    assert browser.text("#count") == "10\u202f000 pictures"
    assert_few(browser.run(COUNTS))
    eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    start = time.monotonic()
    for part in range(1, 21):
        browser.run("scrollTo(0, document.documentElement.scrollHeight * arguments[0] / 20)", part)
        frames(browser)
        assert_few(browser.run(COUNTS))
        # The window is full of pictures.
        middle_of_window = "document.elementFromPoint(innerWidth / 2, innerHeight / 2)"
        assert browser.run(f"return {middle_of_window}.closest('#grid section') !== null")
    seconds.append(time.monotonic() - start)
    assert names(browser)[-1] == f"IMG_{MANY - 1:05}.jpg"
    eventually("the thumbnails at the end are loaded", lambda: all_loaded(browser, "#grid img"))
    start = time.monotonic()
    browser.run("scrollTo(0, 0)")
    frames(browser)
    seconds.append(time.monotonic() - start)
    assert names(browser)[0] == data["pictures"][0]["source"].rsplit("/", 1)[1]
    with capsys.disabled():
        print(f"\n10,000 pictures: opened in {seconds[0]:.2f} s; 20 leaps to the end {seconds[1]:.2f} s")


def test_nothing_moves_while_pictures_load_and_the_page_scrolls(browser, many, visit):
    visit(many[0])
    for part in range(1, 11):
        browser.run("scrollBy(0, 700 * arguments[0])", part)
        frames(browser)
        eventually("the thumbnails are loaded", lambda: all_loaded(browser, "#grid img"))
    assert browser.run("return shifts.reduce((sum, value) => sum + value, 0)") < 0.001


def test_the_keyboard_reaches_the_end_of_ten_thousand_pictures(browser, many, visit):
    visit(many[0])
    browser.run("document.querySelector('a.tile').focus()")
    browser.key("END")
    assert focused(browser) == f"IMG_{MANY - 1:05}.jpg"
    # The focus stays while its picture is far away, and comes back with the next key.
    browser.run("scrollTo(0, 0)")
    frames(browser)
    assert focused(browser) == f"IMG_{MANY - 1:05}.jpg"
    assert_few(browser.run(COUNTS))
    browser.key("ARROW_LEFT")
    assert focused(browser) == f"IMG_{MANY - 2:05}.jpg"
    browser.key("ENTER")
    assert viewed(browser) == f"IMG_{MANY - 2:05}.jpg"
    browser.key("HOME")
    browser.key("ESCAPE")
    eventually("the first has the focus", lambda: focused(browser) == "IMG_00000.jpg")
    assert browser.run("return scrollY") < 200


def test_a_search_in_ten_thousand_pictures_shows_what_it_finds(browser, many, visit):
    visit(many[0])
    browser.type("#search", "2003-05 img_0", "TAB")
    eventually("they are found", lambda: browser.texts("h2 .path") == ["2003/2003-05 a walk with friends"])
    assert browser.text("#count") == "100 of 10\u202f000 pictures"
    browser.type("#search", "09999", "TAB")
    eventually("one is found", lambda: names(browser) == ["IMG_09999.jpg"])


def top_picture(browser):
    """The first picture of which a part is in the window."""
    return browser.run("""return [...document.querySelectorAll("#grid .tile")]
      .find((tile) => tile.getBoundingClientRect().bottom > 0)?.dataset.name""")


def is_at_top(browser, name):
    """Whether the picture is in the first row of the window."""
    return browser.run("""const tile = [...document.querySelectorAll("#grid .tile")]
        .find((tile) => tile.dataset.name === arguments[0]);
      const { top, bottom } = tile?.getBoundingClientRect() ?? {};
      return top <= 1 && bottom > -1""", name)


def test_another_width_and_reloading_keep_the_place(browser, many, visit):
    visit(many[0])
    browser.run("scrollTo(0, 100000)")
    frames(browser)
    for width in (700, 1600):
        name = top_picture(browser)
        browser.look(width, "light")
        eventually("the rows have the new width", lambda width=width: browser.run(
            "return innerWidth === arguments[0] && laidWidth === grid.clientWidth", width))
        eventually("it is still at the top", lambda name=name: is_at_top(browser, name))
        assert browser.run("return document.documentElement.scrollWidth") <= width
    name, place = top_picture(browser), browser.run("return scrollY")
    eventually("the place is saved", lambda: browser.run("return history.state?.top") == place)
    browser.driver.refresh()
    eventually("the place is the same", lambda: browser.run("return scrollY") == place)
    eventually("the picture too", lambda: top_picture(browser) == name)
