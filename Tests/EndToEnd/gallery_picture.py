"""gallery_picture.py THUMBJOB PHOTOS PICTURE.png: README's picture of a gallery, as `make gallery-picture` makes it."""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from browser import Browser
from job import eventually

# Pixels of the window: wide enough for the list of folders.
WIDTH, HEIGHT = 1200, 418

LOADED = """const images = [...document.querySelectorAll("#grid img")];
  return images.length > 0 && images.every((image) =>
    image.complete && image.naturalWidth > 0 && getComputedStyle(image).opacity === "1")"""


def main():
    thumbjob, photos, picture = (Path(word).absolute() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        web = Path(folder) / "web"
        subprocess.run([thumbjob, photos, "-o", web, "--html", web, "--quiet"], check=True)
        browser = Browser()
        try:
            browser.look(WIDTH, "light", HEIGHT)
            browser.driver.get(f"{(web / 'index.html').as_uri()}#folder=2025")
            eventually("the thumbnails are loaded", lambda: browser.run(LOADED))
            browser.driver.save_screenshot(str(picture))
            # A third of the bytes, and no difference that is seen.
            with Image.open(picture) as whole:
                small = whole.convert("RGB").quantize(256)
            small.save(picture, optimize=True)
        finally:
            browser.driver.quit()


if __name__ == "__main__":
    main()
