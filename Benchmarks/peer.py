"""peer.py pyvips|pillow SIZES SOURCE OUT: thumbnails of a folder of JPEGs in two threads, as their users do.

SIZES is a list of box sides with commas between them, the largest first. pyvips makes each smaller thumbnail from the
largest one, and Pillow from the one before: this is faster than from the photograph. If there are several sizes, OUT
gets a folder for each; if there is one, OUT gets the thumbnails.

Both libraries release the interpreter's lock while they decode, resize and encode, and two processes take longer to
start. The largest photographs come first, so that both threads end at the same time.
"""

import sys
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path


def with_pyvips(sizes: list[int], outs: list[Path], photo: Path) -> None:
    import pyvips
    pyvips.cache_set_max(0)  # no image is used twice
    first = pyvips.Image.thumbnail(str(photo), sizes[0], height=sizes[0], size="down")
    if len(sizes) > 1:
        first = first.copy_memory()
    for size, out in zip(sizes, outs, strict=True):
        image = first if size == sizes[0] else first.thumbnail_image(size, height=size, size="down")
        image.jpegsave(str(out / photo.name), Q=80, keep="icc")


def with_pillow(sizes: list[int], outs: list[Path], photo: Path) -> None:
    from PIL import Image, ImageOps
    with Image.open(photo) as image:
        for size, out in zip(sizes, outs, strict=True):
            # Asks libjpeg for 1/2, 1/4 or 1/8, at least twice what is wanted (`draft`).
            image.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=2)
            if size == sizes[0]:
                ImageOps.exif_transpose(image, in_place=True)
            image.save(out / photo.name, quality=80, icc_profile=image.info.get("icc_profile"))


def main() -> None:
    make = {"pyvips": with_pyvips, "pillow": with_pillow}[sys.argv[1]]
    sizes = [int(size) for size in sys.argv[2].split(",")]
    out = Path(sys.argv[4])
    outs = [out] if len(sizes) == 1 else [out / str(size) for size in sizes]
    for folder in outs:
        folder.mkdir(exist_ok=True)
    photos = sorted(Path(sys.argv[3]).rglob("*.jpg"), key=lambda photo: -photo.stat().st_size)
    with ThreadPool(2) as pool:
        for _ in pool.imap_unordered(partial(make, sizes, outs), photos):
            pass


if __name__ == "__main__":
    main()
