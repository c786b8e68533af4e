"""What a browser shows of a picture: its pixels over white, in sRGB and upright, or why it refuses it.

Animations stand still at their first frame.
"""

import base64
import os
import shutil
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

CHROMIUM = os.environ.get("CHROMIUM", "chromium")
DRIVER = os.environ.get("CHROMEDRIVER", "chromedriver")
OPTIONS = (
    "headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-proxy-server",
    "disable-background-networking", "disable-component-update", "force-color-profile=srgb",
    "blink-settings=imageAnimationPolicy=2")
SECONDS = 60
SHOW = """
const [data, done] = arguments;
const image = new Image();
image.onerror = () => done({refused: "cannot be shown"});
image.onload = async () => {
  try { await image.decode(); } catch (error) { return done({refused: String(error)}); }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const shown = context.getImageData(0, 0, canvas.width, canvas.height).data;
  if (shown.every((value) => value === 0)) return done({refused: "nothing is shown"});
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  done({png: canvas.toDataURL("image/png")});
};
image.src = "data:;base64," + data;
"""


class Browser:
    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which(CHROMIUM) or CHROMIUM
        for option in OPTIONS:
            options.add_argument(f"--{option}")
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which(DRIVER) or DRIVER))
        self.driver.set_script_timeout(SECONDS)
        self.driver.get("about:blank")

    def show(self, picture: Path) -> tuple[bytes | None, str]:
        """The picture as PNG, or none and what the browser says."""
        data = base64.b64encode(picture.read_bytes()).decode()
        try:
            found = self.driver.execute_async_script(SHOW, data)
        except WebDriverException as error:
            return None, str(error.msg)
        if "refused" in found:
            return None, found["refused"]
        return base64.b64decode(found["png"].partition(",")[2]), ""

    def close(self) -> None:
        self.driver.quit()
