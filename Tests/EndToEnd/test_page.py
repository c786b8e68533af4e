"""The page of a running job in a browser, used as by a user."""

import os
import re
import signal
from pathlib import Path

import pytest

from browser import Browser
from job import SLOW, HeldJob
from waiting import eventually

SCREENSHOTS = Path(".build/screenshots")
# Slow enough that operations wait long.
SLOWLY = ("--max", "1", "--backlog", "8", "--size", "500", *SLOW)
LOOKS = [(width, scheme) for width in (400, 1600) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.driver.quit()


def open_page(browser, job, width=1600, scheme="light", address=None):
    browser.look(width, scheme)
    browser.driver.get("about:blank")
    (browser.complaints(), list(browser.requests()))  # discard those of earlier tests
    browser.driver.get(address or job.link)
    eventually("the page shows the run", lambda: browser.text("#state") == "running")


def visit(browser, job, *look, **options):
    """Opens the page of a job with many sources."""
    open_page(browser, job, *look, **options)
    eventually("the page lists the waiting operations", lambda: len(browser.texts("#waiting .facts")) == 8)


@pytest.fixture
def job(start, browser, pictures, broken_picture):
    """A running job with a broken source among the first, and the browser on its page."""
    job = start(broken_picture, pictures, *SLOWLY)
    visit(browser, job)
    yield job
    assert browser.complaints() == []
    browser.driver.get("about:blank")


def leave(browser):
    """Leaves the page, and discards the errors of requests that were not answered."""
    browser.driver.get("about:blank")
    browser.complaints()


def test_running_and_waiting_operations_are_listed_with_the_reason(browser, job):
    eventually("an operation runs", lambda: len(browser.texts("#running .name")) == 1)
    assert all(re.search(r"/IMG_\d{4}\.jpg$", name) for name in browser.texts("#running .name, #waiting .name"))
    for why in browser.texts("#waiting .facts"):
        assert re.match(r"the only place is taken · [\d.]+ (s|min)", why)
    eventually("a stage", lambda: re.match(r"[a-z ]+ · [\d.]+ s · [\d.]+ [KM]iB", browser.text("#running .facts")))
    assert browser.text("#queue-now") == "1 of 1 run · 8 of 8 wait"


def show_edges(browser, running, waiting, **counters):
    """Shows operations that depend on others instead of those of the job, whose news the page then ignores."""
    browser.run("""
      Object.assign(handlers, { counters() {}, operation() {} });
      const [running, waiting, counters] = arguments;
      const operation = (state, known) => ({ description: `contact sheet sheet.pdf, page ${known.id}`, state,
        age_seconds: 2, waited_seconds: 2, ran_seconds: 0, reserved_bytes: 0, ...known });
      const status = { ...lastStatus, running: running.map((known) => operation("running", known)),
        waiting: waiting.map((known) => operation("waiting", known)) };
      status.counters = { ...status.counters, running: running.length, waiting: waiting.length, ...counters };
      lastStatus = status;
      showRun(status);
      showLists(status);""", running, waiting, counters)


def waits_for(ids, count=None):
    return {"waits_for": ids, "waits_for_count": count or len(ids), "why_it_waits": "waits for others"}


def edges(browser, operation):
    """The text about an operation, and the operations that its links lead to."""
    return browser.run("""
      const facts = document.querySelector(`#operation-${arguments[0]} .facts`);
      return [facts.textContent, [...facts.querySelectorAll("a")].map((link) => link.dataset.to)]""", operation)


THUMBNAILS = [{"id": 41, "source": "a/41.jpg", "needed_by": 1}, {"id": 42, "source": "a/42.jpg", "needed_by": 2}]


def test_an_operation_shows_what_it_waits_for_and_its_numbers_lead_there(browser, job):
    job.command("POST", "/pause")
    show_edges(browser, THUMBNAILS[:1], [
        THUMBNAILS[1], {"id": 43, **waits_for([41, 42])}, {"id": 44, **waits_for([42])},
        {"id": 45, **waits_for([7, 42, 8, 9], 20)}, {"id": 46, "why_it_waits": "waits for a block"},
    ], waiting_for_dependencies=3, cancelled_for_dependencies=2)
    assert edges(browser, 43) == ["#43 · waits for #41 and #42 · 2.0 s", ["41", "42"]]
    assert edges(browser, 44) == ["#44 · waits for #42 · 2.0 s", ["42"]]
    # Only the numbers of listed operations are links.
    assert edges(browser, 45) == ["#45 · waits for #7, #42, #8 and 17 more · 2.0 s", ["42"]]
    assert edges(browser, 46) == ["waits for a block · 2.0 s", []]
    assert edges(browser, 42)[0].startswith("#42 · needed by 2 · ")
    assert browser.text("#operation-43 .name") == "contact sheet sheet.pdf, page 43"
    assert browser.run("return document.querySelector('#operation-43 button').getAttribute('aria-label')") == (
        "Cancel contact sheet sheet.pdf, page 43")
    assert browser.text("#queue-now").endswith(" of 8 wait, 3 for others")
    assert browser.texts("#counters dt")[-1:] + browser.texts("#counters dd.bad")[-1:] == [
        "Cancelled for a dependency", "2"]
    # A link works with the keyboard, and without an entry in the history.
    address, entries = browser.run("return [location.href, history.length]")
    browser.run("document.querySelector('#operation-43 a[data-to=\"41\"]').focus()")
    browser.key("ENTER")
    assert browser.run("return document.activeElement.id") == "operation-41"
    assert browser.run("return [location.href, history.length]") == [address, entries]
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_link_keeps_the_focus_when_another_dependency_ends(browser, job):
    job.command("POST", "/pause")
    show_edges(browser, THUMBNAILS, [{"id": 43, **waits_for([41, 42])}])
    browser.run("document.querySelector('#operation-43 a[data-to=\"42\"]').focus()")
    show_edges(browser, THUMBNAILS[1:], [{"id": 43, **waits_for([42])}])
    assert edges(browser, 43) == ["#43 · waits for #42 · 2.0 s", ["42"]]
    assert browser.run("return document.activeElement.dataset.to") == "42"
    show_edges(browser, [], [{"id": 43, "why_it_waits": "the only place is taken"}])
    assert edges(browser, 43) == ["the only place is taken · 2.0 s", []]


def test_a_job_without_dependencies_shows_none(browser, job):
    assert browser.texts("#operations a") == [] and "others" not in browser.text("#queue-now")
    assert "#" not in "".join(browser.texts("#waiting .facts, #running .facts"))
    assert browser.texts("#counters dt")[-1] == "Read / s, mean"


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_dependencies_fit_and_can_be_read(browser, job, width, scheme):
    browser.look(width, scheme)
    job.command("POST", "/pause")
    show_edges(browser, [{"id": 1000041, "source": "a.jpg", "needed_by": 1000}],
               [{"id": 1000043, **waits_for([1000041, 1000042, 1000044], 2000)}], waiting_for_dependencies=1000)
    wide, shown = browser.run("const { scrollWidth, clientWidth } = document.documentElement;"
                              "return [scrollWidth, clientWidth]")
    assert wide <= shown == width
    name, facts = browser.run("""return [...document.querySelectorAll("#waiting .name, #waiting .facts")]
      .map((element) => element.scrollWidth <= element.clientWidth)""")
    assert name and facts
    # The contrast of a link with its card, by the formula of WCAG.
    contrast = browser.run("""
      const light = (element, name) => getComputedStyle(element)[name].match(/[\\d.]+/g).slice(0, 3)
        .map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
      const link = document.querySelector("#waiting a");
      const [one, other] = [light(link, "color"), light(link.closest(".card"), "backgroundColor")];
      return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);""")
    assert contrast >= 4.5
    browser.picture(SCREENSHOTS / f"dependencies-{width}-{scheme}.png")


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
    assert [address for address in asked if address.startswith("/events")] == ["/events?thumbnails=24"]
    assert "/status" not in asked


@pytest.mark.parametrize("chart, lines", [("#queue-chart", 2), ("#memory-chart", 2), ("#rate-chart", 1)])
def test_charts_are_drawn_and_grow(browser, job, chart, lines):
    def points():
        return browser.run(
            "return [...document.querySelectorAll(`${arguments[0]} polygon, ${arguments[0]} polyline`)]"
            ".map((line) => line.getAttribute('points').trim().split(/\\s+/))", chart)
    eventually("the lines have some points",
               lambda: len(points()) >= lines and all(len(line) >= 2 for line in points()))
    before = points()
    assert all(re.fullmatch(r"-?[\d.]+,-?[\d.]+", point) for line in before for point in line)
    eventually("the lines grow", lambda: all(len(line) > len(old) for line, old in zip(points(), before, strict=False)))
    assert browser.run("return document.querySelector(`${arguments[0]} svg`).getAttribute('aria-label')", chart)


@pytest.mark.parametrize("budget, is_drawn", [("8G", False), ("64M", True)])
def test_the_memory_chart_uses_its_height_and_shows_the_budget(browser, start, pictures, budget, is_drawn):
    job = start(pictures, *SLOWLY, "--memory", budget)
    visit(browser, job)
    eventually("memory is held", lambda: browser.texts("#memory-chart svg"))
    eventually("the budget is a line or a label", lambda: is_drawn == bool(browser.texts("#memory-chart .bound")))
    label = "↑ budget 8 GiB"
    assert (label in browser.texts("#memory-chart text")) != is_drawn
    top, bottom, highest = browser.run("""
      const ys = (name, of) => [...document.querySelectorAll("#memory-chart " + name)].flatMap(of);
      const lines = ys(".axis", (line) => [Number(line.getAttribute("y1"))]);
      const points = ys(".first, .second, polyline.bound", (line) =>
        [...(line.getAttribute("points") || "").matchAll(/,([\\d.]+)/g)].map((match) => Number(match[1])));
      return [Math.min(...lines), Math.max(...lines), Math.min(...points)]""")
    assert (bottom - highest) / (bottom - top) > 0.6
    assert highest >= top - 0.1
    assert browser.complaints() == []


def test_the_rate_agrees_with_the_thumbnails_made(browser, start, pictures):
    job = start(pictures, "--max", "2", "--backlog", "8", "--size", "320", *SLOW)
    visit(browser, job)
    eventually("thumbnails are made", lambda: job.counters()["thumbnails"] >= 12)
    thumbnails, seconds = browser.run(
        "const last = samples.at(-1); return [last.thumbnails, last.at]")
    fastest = browser.run("return Math.max(...samples.map(({ rate }) => rate))")
    assert thumbnails / seconds * 0.8 <= fastest < 100
    assert re.fullmatch(r"[\d.]+ thumbnails a second, in the last 5 s", browser.text("#rate-now"))
    eventually("the history has them too", lambda: job.ask("GET", "/history").json()["thumbnails"][-1] >= thumbnails)


def test_a_waiting_operation_is_cancelled_by_its_button_and_the_job_continues(browser, job):
    # Paused, so that it does not begin by itself before the button is pressed.
    browser.press("#pause")
    eventually("it is paused", lambda: browser.text("#state") == "paused")
    last = "#waiting li:last-child "
    operation, name = browser.run(f"const item = document.querySelector('{last}');"
                                  "return [item.dataset.id, item.querySelector('.name').textContent]")
    browser.press(f"#waiting li[data-id='{operation}'] button")
    eventually("it is no longer listed as waiting", lambda: name not in browser.texts("#waiting .name"))
    ended = job.ask("GET", f"/operations/{operation}").json()
    assert (ended["source"], ended["state"]) == (name, "cancelled")
    browser.press("#pause")
    made = job.counters()["made"]
    eventually("another source is made", lambda: job.counters()["made"] > made)
    eventually("it is counted", lambda: browser.texts("#counters dd")[4] == "1")
    assert job.counters()["cancelled"] == 1
    eventually("it runs again", lambda: browser.text("#state") == "running")


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
    assert browser.text("#state") == "paused"
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
    assert browser.text("#outcome strong").startswith("stopped by a user through the status endpoint: ")
    assert browser.run("return document.querySelector('#outcome').dataset.kind") == "warn"
    leave(browser)  # the job does not answer any more


def visible(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).checkVisibility()", selector)


def test_a_job_that_ends_by_itself_is_shown_with_its_outcome(browser, start, odd_pictures):
    job = start(*SLOWLY, kind=HeldJob)
    open_page(browser, job)
    assert not visible(browser, "#outcome") and visible(browser, "#pause")
    job.give(*odd_pictures.iterdir())
    job.end_list()
    eventually("the job has ended", lambda: browser.text("#state") == "ended", 60)
    assert browser.text("#outcome strong") == "1 failed, 11 made"
    assert re.fullmatch(r"22 thumbnails, [\d.]+ MB · in .+ s · [\d.]+ a second · exit status 1",
                        browser.text("#outcome p"))
    assert browser.text("#done") == "12" and browser.text("#eta") == ""
    assert browser.driver.title == "1 failed, 11 made · thumbjob"
    shown = {name: visible(browser, name) for name in ("#outcome", "#failures", "#thumbnails")}
    hidden = {name: visible(browser, name)
              for name in ("#notice", "#pause", "#cancel-all", "#max", "#running", "#waiting")}
    assert all(shown.values()) and not any(hidden.values()), (shown, hidden)
    # The page is at rest: it does not try to connect again, and its thumbnails still open.
    assert job.exit_status() == 1
    (browser.complaints(), list(browser.requests()))  # a request of the last second may have failed
    browser.press("#thumbnails button")
    eventually("a thumbnail is open", lambda: visible(browser, "#viewer-picture"))
    browser.key("ESCAPE")
    browser.run("return new Promise((resolve) => setTimeout(resolve, 3000))")
    assert list(browser.requests()) == [] and browser.complaints() == []
    assert browser.text("#state") == "ended"


def test_a_killed_job_is_shown_as_not_answering_and_not_as_ended(browser, start, pictures):
    job = start(pictures, *SLOWLY)
    visit(browser, job)
    job.process.kill()
    eventually("the page says so", lambda: browser.text("#state") == "no answer")
    assert re.fullmatch(
        r"No answer from the job since \d\d:\d\d:\d\d: it may have been killed\. This page keeps trying\.",
        browser.text("#notice"))
    assert visible(browser, "#notice") and not visible(browser, "#outcome")
    assert browser.text("#eta") == ""
    assert browser.run("return ['pause', 'cancel-all', 'max'].every((id) => document.getElementById(id).disabled)")
    leave(browser)


def test_the_page_starts_afresh_when_another_job_answers_at_its_address(browser, start, pictures):
    killed = start(pictures, *SLOWLY)
    visit(browser, killed)
    browser.run("window.untouched = true")
    killed.process.kill()
    eventually("the page says so", lambda: browser.text("#state") == "no answer")
    other = start(pictures, *SLOWLY, folder=killed.folder, port=killed.port)
    eventually("the other job is shown", lambda: f"process {other.process.pid} " in browser.text("#about"))
    eventually("nothing is left of the killed one", lambda: browser.run("return window.untouched") is None)
    eventually("it runs", lambda: browser.text("#state") == "running")
    leave(browser)


def test_a_stopped_process_is_noticed(browser, job):
    job.process.send_signal(signal.SIGSTOP)
    eventually("the page says so", lambda: browser.text("#notice").startswith("No news from the job since "))
    job.process.send_signal(signal.SIGCONT)
    eventually("the notice goes", lambda: not visible(browser, "#notice"))
    assert browser.text("#state") == "running"


def test_a_pause_by_memory_pressure_is_told_from_a_pause_by_the_user(browser, start, pictures, monkeypatch, tmp_path):
    watched = tmp_path / "pressure"
    os.mkfifo(watched)
    manager = os.open(watched, os.O_RDWR)
    monkeypatch.setenv("MEMORY_PRESSURE_WATCH", str(watched))
    job = start(pictures, *SLOWLY, "--on-pressure", "pause")
    visit(browser, job)
    os.write(manager, b"x")
    eventually("the page says so", lambda: browser.text("#state") == "paused: memory is tight")
    assert browser.text("#pressure").startswith("memory critical: ")
    assert browser.text("#pause") == "Pause"
    browser.press("#pause")
    eventually("both are told", lambda: browser.text("#state") == "paused, memory is tight")
    assert browser.text("#pause") == "Resume"
    eventually("the charts are marked", lambda: browser.run(
        "return document.querySelectorAll('.chart .critical').length") == 3)
    os.close(manager)
    leave(browser)  # pressure drops thumbnails that the page may be about to load


# MARK: Thumbnails


def opened(browser):
    """The place in the list of the thumbnail that is open; -1 if none is."""
    return browser.run("""const { open } = document.querySelector("#viewer");
      const images = [...document.querySelectorAll("#thumbnails img")];
      return open ? images.findIndex(({ src }) => src === document.querySelector("#viewer-picture").src) : -1""")


def test_each_thumbnail_shows_its_size_and_opens_large_with_the_keyboard(browser, job):
    eventually("four thumbnails are shown", lambda: len(browser.texts("#thumbnails button")) >= 4)
    browser.key("TAB")
    browser.run("document.querySelector('#thumbnails li:nth-child(2) button').focus()")
    # From now on the list waits.
    sizes = {f"{entry['width']} × {entry['height']} {entry['bytes'] / 1000:.{int(entry['bytes'] < 99950)}f} kB"
             for entry in job.ask("GET", "/thumbnails").json()["thumbnails"]}
    assert set(browser.texts("#thumbnails .facts")) <= sizes
    name = browser.run("return document.activeElement.title")
    size = browser.text("#thumbnails li:nth-child(2) .facts")
    browser.key("ENTER")
    eventually("it is open", lambda: opened(browser) == 1)
    assert browser.text("#viewer-name") == name
    assert browser.text("#viewer-facts").replace("pixels · ", "").startswith(size + " · operation ")
    assert browser.run("return document.querySelector('#viewer-picture').getBoundingClientRect().width") >= 700
    for key, place in [("ARROW_RIGHT", 2), ("ARROW_RIGHT", 3), ("ARROW_LEFT", 2), ("ARROW_LEFT", 1), ("ARROW_LEFT", 0),
                       ("ARROW_LEFT", 0)]:
        browser.key(key)
        eventually(f"{key} leads to {place}", lambda place=place: opened(browser) == place)
    eventually("the page says why the list stays",
               lambda: browser.text("#thumbnails-now") == "the list waits while you look")
    browser.key("ESCAPE")
    eventually("it is closed", lambda: not visible(browser, "#viewer"))
    # The event of closing follows the closing.
    eventually("the focus is on the one that was shown last", lambda: browser.run(
        "return document.activeElement === document.querySelector('#thumbnails button')"))


def test_an_open_thumbnail_is_closed_with_the_mouse(browser, job):
    eventually("thumbnails are shown", lambda: browser.texts("#thumbnails button"))
    browser.press("#thumbnails button")
    eventually("it is open", lambda: visible(browser, "#viewer"))
    browser.press("#close")
    assert not visible(browser, "#viewer")
    assert browser.run("return document.activeElement.matches('#thumbnails button')")


# MARK: The control of max


def test_max_is_changed_by_buttons_and_by_typing(browser, job):
    browser.press("#more")
    eventually("two run", lambda: job.status()["limits"]["max"] == 2)
    eventually("the page shows it", lambda: browser.text("#queue-now").startswith("2 of 2 run"))
    browser.press("#fewer")
    browser.press("#fewer")  # not below 1
    eventually("one runs", lambda: job.status()["limits"]["max"] == 1)
    browser.type("#max", "3", "ENTER")
    eventually("three run", lambda: job.status()["limits"]["max"] == 3)
    # A change by another client is shown too, unless the value is edited.
    browser.run("document.activeElement.blur()")
    job.command("PATCH", "/limits", json={"max": 4})
    eventually("the page shows it", lambda: browser.run("return document.getElementById('max').value") == "4")
    assert not visible(browser, "#limit-problem")


def test_a_max_out_of_bounds_is_refused_with_the_reason(browser, job):
    for text in ("5000", "0", "2.5", ""):
        browser.type("#max", text, "TAB")
        eventually("the reason is shown", lambda: browser.text("#limit-problem")
                   == "max must be a whole number from 1 to 1024")
        assert visible(browser, "#limit-problem")
        browser.type("#max", "2", "TAB")
        eventually("it is gone", lambda: not visible(browser, "#limit-problem"))
    assert job.status()["limits"]["max"] == 2
    browser.complaints()  # discard the refusals


def test_without_the_token_the_page_is_read_only_until_it_is_entered(browser, start, pictures):
    job = start(pictures, *SLOWLY)
    visit(browser, job, address=job.url + "/")
    assert browser.run("return document.getElementById('max').readOnly")
    hidden = {name: visible(browser, name) for name in ("#pause", "#cancel-all", "#more", "#fewer", "#waiting button")}
    assert not any(hidden.values()), hidden
    browser.press("#unlock")
    browser.type("#token", "f" * 32, "ENTER")
    browser.press("#more")
    eventually("a wrong token is refused", lambda: browser.text("#limit-problem") == "The token is wrong.")
    assert not visible(browser, "#more")
    browser.complaints()  # discard the refusal
    browser.type("#token", job.token, "ENTER")
    browser.press("#more")
    eventually("two run", lambda: job.status()["limits"]["max"] == 2)
    assert visible(browser, "#pause") and not visible(browser, "#unlock")
    assert browser.complaints() == []


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
    assert any("<b>marks<b>" in name for name in browser.texts(".name"))
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
