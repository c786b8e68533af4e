"""A headless Chromium, with methods for what these tests do."""

import base64
import json
import os
import shutil

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from waiting import eventually


class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
        # The sandbox does not work for root, and this browser visits only the job's page.
        for option in ("headless=new", "hide-scrollbars", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                       "no-proxy-server", "disable-background-networking", "disable-component-update"):
            options.add_argument("--" + option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver") or "/usr/bin/chromedriver"
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.set_page_load_timeout(30)

    def look(self, width, scheme, height=1000, density=1):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": density, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def texts(self, selector):
        """The texts of all matching elements at one moment."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def press(self, selector):
        """Clicks an element; finds it again if the page replaces it meanwhile."""
        def pressed():
            found = self.driver.find_elements(By.CSS_SELECTOR, selector)
            try:
                return found and (found[0].click() or True)
            except StaleElementReferenceException:
                return False
        eventually(f"{selector} can be pressed", pressed)

    def type(self, selector, text, key):
        """Replaces the text of a field, and presses a key."""
        field = self.driver.find_element(By.CSS_SELECTOR, selector)
        # Not clear(), which leaves the field.
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL, Keys.BACKSPACE, text, getattr(Keys, key))

    def key(self, key):
        webdriver.ActionChains(self.driver).send_keys(getattr(Keys, key)).perform()

    def touch(self, *places):
        """Puts a finger down at the first place (x, y), moves it to the others, and lifts it."""
        for kind, points in (("touchStart", places[:1]), ("touchMove", places[1:])):
            for x, y in points:
                self._touch(kind, [{"x": x, "y": y}])
        self._touch("touchEnd", [])

    def _touch(self, kind, points):
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def picture(self, path):
        """Saves a picture of the whole page, including the part below the window."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """The errors and warnings on the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses requested since the last call, without blob: and data:, which stay inside the browser."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                address = message["params"].get("request", message["params"])["url"]
                if not address.startswith(("blob:", "data:")):
                    yield address
