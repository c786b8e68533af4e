#!/usr/bin/env python3
"""compare_pictures.py PAGE PICTURE [PAGE PICTURE]...

Makes a picture of the legend and the charts of each page that `thumbjob compare` has written, compare.html, for
README.
Needs Chromium with its driver, and selenium.
"""

import base64
import os
import shutil
import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# The width at which three charts are beside each other, in CSS pixels, and the space around them.
WIDTH = 1100
MARGIN = 10
# Pixels of the picture for each CSS pixel, so that it is sharp on dense screens.
SCALE = 2

AREA = """
const boxes = [".legend", ".charts"].map((selector) => document.querySelector(selector).getBoundingClientRect());
const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
return {x: left - arguments[0], y: top - arguments[0],
        width: right - left + 2 * arguments[0], height: bottom - top + 2 * arguments[0]};
"""


def started_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    # The sandbox does not work for root, and this browser opens only pages that thumbjob has written.
    for option in ("headless=new", "hide-scrollbars", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument("--" + option)
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver") or "/usr/bin/chromedriver"
    return webdriver.Chrome(options=options, service=Service(driver))


def picture(browser, page):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": 1000, "deviceScaleFactor": SCALE, "mobile": False})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "light"}]})
    browser.get(Path(page).absolute().as_uri())
    area = browser.execute_script(AREA, MARGIN)
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {
        "format": "png", "captureBeyondViewport": True, "clip": {**area, "scale": 1}})
    return base64.b64decode(shot["data"])


def main():
    pairs = list(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    if not pairs or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    browser = started_browser()
    try:
        for page, place in pairs:
            Path(place).write_bytes(picture(browser, page))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
