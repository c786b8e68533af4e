"""Makes galleries as `--html` does: the page, and the list of pictures in page/data.js (docs/gallery.md)."""

import base64
import json
import os
import re
import shutil
from math import cos, pi
from operator import mul
from pathlib import Path

from PIL import Image

PAGE = Path("Sources/Gallery/Page").absolute()
HASH_SIDE = 20  # pixels of the longer side of the picture that a hash is made of


def write_gallery(folder, data):
    """Writes the page and its data; returns the address of the gallery."""
    page = folder / "page"
    page.mkdir(parents=True)
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


def path_value(path):
    """A path in JSON, as in docs/json.md."""
    name = os.fsencode(path)
    try:
        return name.decode()
    except UnicodeDecodeError:
        return {"text": name.decode(errors="replace"), "bytes": base64.b64encode(name).decode()}


def relative(path, folder):
    return path_value(os.path.relpath(path, folder))


def gallery_data(folder, photos, thumbs, sizes, reasons=None):
    """The data for the thumbnails of a job with several sizes. Sources without any are missing, for these reasons."""
    pictures, missing = [], []
    for source in sorted(path for path in photos.rglob("*") if path.is_file()):
        name = source.relative_to(photos)
        made = [thumbs / size / name for size in sizes]
        if not any(path.exists() for path in made):
            reason = (reasons or {}).get(str(name), "not an image")
            missing.append({"source": path_value(name), "reason": reason})
            continue
        with Image.open(source) as photo:
            width, height = photo.size
        pictures.append({"source": path_value(name), "width": width, "height": height, "thumbhash": hash_of(made[0]),
                         "thumbnails": [list(size_of(path)) if path.exists() else None for path in made]})
    return {"version": 1, "title": path_value(photos.name), "made": "2026-11-22T10:00:00Z",
            "sizes": [{"name": size, "folder": relative(thumbs / size, folder)} for size in sizes],
            "originals": relative(photos, folder), "pictures": pictures, "missing": missing}


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


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def hash_of(path):
    """The ThumbHash of a picture without opacity, in base64 (https://evanw.github.io/thumbhash/)."""
    with Image.open(path) as picture:
        small = picture.convert("RGB")
        small.thumbnail((HASH_SIDE, HASH_SIDE))
    width, height = small.size
    pixels = [(r / 255, g / 255, b / 255) for r, g, b in small.get_flattened_data()]
    is_landscape = width > height
    across, down = (max(1, round(7 * side / max(width, height))) for side in (width, height))

    def cosines(side):
        return [[cos(pi / side * (at + 0.5) * term) for at in range(side)] for term in range(7)]

    in_rows, in_columns = cosines(width), cosines(height)

    def channel(values, columns, rows):
        """The mean, the greatest of the other terms, and these, each from 0 to 15."""
        lines = [values[start:start + width] for start in range(0, len(values), width)]
        terms = []
        for row in range(rows):
            weighted = [sum(line[x] * weight for line, weight in zip(lines, in_columns[row], strict=True))
                        for x in range(width)]
            terms += [sum(map(mul, weighted, in_rows[column])) / len(values)
                      for column in range(columns) if column * rows < columns * (rows - row)]
        mean, *others = terms
        most = max(map(abs, others))
        return mean, most, [round(7.5 + 7.5 * term / most) if most else 0 for term in others]

    l_mean, l_most, l_terms = channel([(r + g + b) / 3 for r, g, b in pixels], max(3, across), max(3, down))
    p_mean, p_most, p_terms = channel([(r + g) / 2 - b for r, g, b in pixels], 3, 3)
    q_mean, q_most, q_terms = channel([r - g for r, g, _ in pixels], 3, 3)
    head = (round(63 * l_mean) | round(31.5 + 31.5 * p_mean) << 6 | round(31.5 + 31.5 * q_mean) << 12
            | round(31 * l_most) << 18)
    more = ((down if is_landscape else across) | round(63 * p_most) << 3 | round(63 * q_most) << 9
            | is_landscape << 15)
    terms = [*l_terms, *p_terms, *q_terms]
    halves = [low | high << 4 for low, high in zip(terms[::2], [*terms[1::2], 0], strict=False)]
    return base64.b64encode(head.to_bytes(3, "little") + more.to_bytes(2, "little") + bytes(halves)).decode()
