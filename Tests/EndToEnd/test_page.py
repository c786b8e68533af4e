"""The page of a running job in a browser, used as by a user."""

import re
from pathlib import Path

import pytest

from browser import Browser
from job import SLOW, eventually

SCREENSHOTS = Path(".build/screenshots")
# Slow enough that operations wait long.
SLOWLY = ("--max", "1", "--backlog", "8", "--size", "500", *SLOW)
LOOKS = [(width, scheme) for width in (400, 1600) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.driver.quit()


def visit(browser, job, width=1600, scheme="light"):
    browser.look(width, scheme)
    browser.driver.get("about:blank")
    (browser.complaints(), list(browser.requests()))  # discard those of earlier tests
    browser.driver.get(job.link)
    eventually("the page shows the run", lambda: browser.text("#state") == "running")
    eventually("the page lists the waiting operations", lambda: len(browser.texts("#waiting .facts")) == 8)


@pytest.fixture
def job(start, browser, pictures, broken_picture):
    """A running job with a broken source among the first, and the browser on its page."""
    job = start(broken_picture, pictures, *SLOWLY)
    visit(browser, job)
    yield job
    assert browser.complaints() == []
    browser.driver.get("about:blank")


def test_running_and_waiting_operations_are_listed_with_the_reason(browser, job):
    eventually("an operation runs", lambda: len(browser.texts("#running .name")) == 1)
    assert all(re.search(r"/IMG_\d{4}\.jpg$", name) for name in browser.texts("#running .name, #waiting .name"))
    for why in browser.texts("#waiting .facts"):
        assert re.match(r"the only place is taken · [\d.]+ (s|min)", why)
    eventually("a stage", lambda: re.match(r"[a-z ]+ · [\d.]+ s · [\d.]+ [KM]iB", browser.text("#running .facts")))
    assert browser.text("#queue-now") == "1 of 1 run · 8 of 8 wait"


def test_a_failure_is_shown_with_its_reason(browser, job, broken_picture):
    eventually("the failure is listed", lambda: browser.text("#failures .name") == str(broken_picture))
    assert browser.text("#failures .why").startswith("not an image")
    eventually("it is counted", lambda: "1" in browser.texts("#counters dd.bad"))


def test_numbers_pictures_and_lists_update_by_themselves(browser, job):
    browser.run("window.untouched = true")
    done, running = int(browser.text("#done")), browser.text("#running .name")
    eventually("more sources have ended", lambda: int(browser.text("#done")) > done)
    eventually("another operation runs", lambda: browser.text("#running .name") not in ("", running))
    eventually("thumbnails are shown", lambda: browser.run(
        "return [...document.querySelectorAll('#thumbnails img')].some((image) => image.naturalWidth > 0)"))
    assert browser.run("return window.untouched")
    asked = [address.removeprefix(job.url) for address in browser.requests()]
    # The page receives one stream of events instead of asking for the status.
    assert asked.count("/events") == 1
    assert "/status" not in asked


@pytest.mark.parametrize("chart", ["#queue-chart", "#memory-chart"])
def test_charts_are_drawn_and_grow(browser, job, chart):
    def points():
        return browser.run(
            "return [...document.querySelectorAll(`${arguments[0]} polygon, ${arguments[0]} polyline`)]"
            ".map((line) => line.getAttribute('points').trim().split(/\\s+/))", chart)
    eventually("the lines have some points", lambda: len(points()) >= 2 and all(len(line) >= 2 for line in points()))
    before = points()
    assert all(re.fullmatch(r"-?[\d.]+,-?[\d.]+", point) for line in before for point in line)
    eventually("the lines grow", lambda: all(len(line) > len(old) for line, old in zip(points(), before, strict=False)))
    assert browser.run("return document.querySelector(`${arguments[0]} svg`).getAttribute('aria-label')", chart)


def test_a_waiting_operation_is_cancelled_by_its_button_and_the_job_continues(browser, job):
    last = "#waiting li:last-child "
    operation, name = browser.run(f"const item = document.querySelector('{last}');"
                                  "return [item.dataset.id, item.querySelector('.name').textContent]")
    browser.press(f"#waiting li[data-id='{operation}'] button")
    eventually("it is no longer listed as waiting", lambda: name not in browser.texts("#waiting .name"))
    ended = job.ask("GET", f"/operations/{operation}").json()
    assert (ended["source"], ended["state"]) == (name, "cancelled")
    made = job.counters()["made"]
    eventually("another source is made", lambda: job.counters()["made"] > made)
    eventually("it is counted", lambda: browser.texts("#counters dd")[4] == "1")
    assert job.counters()["cancelled"] == 1
    assert browser.text("#state") == "running"


def test_pause_and_resume_need_no_mouse(browser, job):
    for _ in range(3):
        browser.key("TAB")
        if browser.run("return document.activeElement.id") == "pause":
            break
    # The link that skips to the operations comes first, then the buttons for the whole job.
    assert browser.run("return document.activeElement.id") == "pause"
    assert browser.run("return document.activeElement.matches(':focus-visible')")
    browser.key("ENTER")
    eventually("it is paused", lambda: job.status()["state"] == "paused")
    eventually("the button resumes", lambda: browser.text("#pause") == "Resume")
    assert browser.text("#state").startswith("paused")
    browser.key("ENTER")
    eventually("it runs again", lambda: job.status()["state"] == "running")
    eventually("the button pauses", lambda: browser.text("#pause") == "Pause")


def test_cancelling_all_takes_two_presses_and_ends_the_job(browser, job):
    browser.press("#cancel-all")
    assert browser.text("#cancel-all") == "Really cancel all?"
    eventually("the button has reset itself", lambda: browser.text("#cancel-all") == "Cancel all", 8)
    assert job.status()["state"] == "running" and job.counters()["cancelled"] == 0
    browser.press("#cancel-all")
    assert browser.complaints() == []
    browser.press("#cancel-all.armed")
    assert job.exit_status() == 75
    eventually("the page says so", lambda: browser.text("#state") == "ended")
    assert browser.run("return document.querySelector('#pause').disabled")
    browser.driver.get("about:blank")
    browser.complaints()  # discard the error that the job does not answer any more


def test_a_job_that_ends_by_itself_is_shown_as_ended(browser, start, odd_pictures):
    job = start(odd_pictures, *SLOWLY)
    visit(browser, job)
    eventually("the job has ended", lambda: browser.text("#state") == "ended", 60)
    assert browser.text("#notice") == "The job has ended."
    assert browser.text("#done") == "12"


def test_the_page_sends_requests_only_to_the_job_and_hides_the_token(browser, job):
    eventually("thumbnails are shown", lambda: browser.texts("#thumbnails img"))
    addresses = list(browser.requests())
    assert len(addresses) > 4
    assert [address for address in addresses if not address.startswith(job.url + "/")] == []
    assert [address for address in addresses if job.token in address.partition("#")[0]] == []
    assert browser.driver.current_url == job.url + "/"


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_nothing_is_wider_than_the_window(browser, start, odd_pictures, pictures, width, scheme):
    job = start(odd_pictures, pictures, *SLOWLY)
    visit(browser, job, width, scheme)
    eventually("the failure is listed", lambda: browser.text("#failures .name"))
    assert any("<b>marks<b>" in name for name in browser.texts("#waiting .name"))
    wide, shown = browser.run("const { scrollWidth, clientWidth } = document.documentElement;"
                              "return [scrollWidth, clientWidth]")
    assert wide <= shown == width
    assert browser.run("return document.querySelectorAll('li b, li i').length") == 0
    assert browser.complaints() == []


def test_the_end_of_a_long_path_is_visible_on_a_narrow_screen(browser, job):
    browser.look(400, "light")
    hidden = browser.run("""return [...document.querySelectorAll("#waiting .name")].filter((name) => {
      const [text, file] = [document.createRange(), name.lastElementChild ?? name];
      text.selectNodeContents(file);
      // The browser shows three dots if a fraction of a pixel is missing.
      return text.getBoundingClientRect().width > file.getBoundingClientRect().width + 0.01;
    }).length""")
    assert hidden == 0
    assert [name for name in browser.texts("#waiting .file") if not re.fullmatch(r"IMG_\d{4}\.jpg", name)] == []


def test_new_waiting_operations_are_listed_at_once(browser, start, pictures):
    job = start(pictures, "--max", "2", "--size", "320", *SLOW)
    visit(browser, job)
    browser.run("""window.fewest = 99;
      const count = () => document.querySelectorAll("#waiting .facts").length;
      setInterval(() => { window.fewest = Math.min(window.fewest, count()); }, 20);""")
    made = job.counters()["made"]
    eventually("many more sources are made", lambda: job.counters()["made"] >= made + 15)
    # Eight wait at any time; one or two may be missing while they move to the other list.
    assert browser.run("return window.fewest") >= 6


def test_the_page_follows_the_color_scheme_and_leaves_screenshots(browser, start, pictures, broken_picture):
    job = start(broken_picture, pictures, "--max", "2", "--size", "320", *SLOW)
    visit(browser, job)
    # Fill the page for the screenshots.
    eventually("a row of thumbnails is shown", lambda: len(browser.texts("#thumbnails img")) >= 12)
    eventually("the chart has a curve", lambda: len(browser.run(
        "return document.querySelector('#queue-chart polyline').getAttribute('points').split(' ')")) > 8)
    for width, scheme in LOOKS:
        browser.look(width, scheme)
        background = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", background))) > 384) == (scheme == "light")
        browser.picture(SCREENSHOTS / f"{width}-{scheme}.png")
    assert browser.complaints() == []
    browser.driver.get("about:blank")
