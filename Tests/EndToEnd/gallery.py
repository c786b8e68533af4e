"""Makes galleries of data that no run gives: the page, and the list of pictures in page/data.js (docs/gallery.md)."""

import json
import os
import re
import shutil
from pathlib import Path

PAGE = Path("Sources/Gallery/Page").absolute()


def write_gallery(folder, data):
    """Writes the page and its data; returns the address of the gallery."""
    page = folder / "page"
    page.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(PAGE / "index.html", folder / "index.html")
    for name in page_files():
        shutil.copyfile(PAGE / name, page / name)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    (page / "data.js").write_text(f"window.gallery={text};\n")
    return (folder / "index.html").as_uri()


def page_files():
    """The names of the files that index.html loads, except for the data."""
    loaded = re.findall(r'(?:href|src)="page/([^"]+)"', (PAGE / "index.html").read_text())
    return [name for name in loaded if name != "data.js"]


def many_pictures(data, thumbs, count, folders=100):
    """The data of a few pictures, repeated in many folders; the thumbnails are links to the few."""
    pictures = []
    made = set()
    for index in range(count):
        first = data["pictures"][index * 7919 % len(data["pictures"])]
        number = index * folders // count
        year, month = 2000 + number // 12, number % 12 + 1
        name = f"{year}/{year}-{month:02} a walk with friends/IMG_{index:05}.jpg"
        for size in data["sizes"]:
            place = thumbs / size["name"] / name
            if place.parent not in made:
                place.parent.mkdir(parents=True)
                made.add(place.parent)
            os.link(thumbs / size["name"] / first["source"], place)
        pictures.append({**first, "source": name})
    return {**data, "pictures": pictures, "missing": []}
