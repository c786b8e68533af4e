"""peer.py pyvips|pillow SOURCE OUT: thumbnails of a folder of JPEGs in two threads, as their users do.

Both libraries release the interpreter's lock while they decode, resize and encode, and two processes take longer to
start. The largest photographs come first, so that both threads end at the same time.
"""

import sys
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path


def with_pyvips(out: Path, photo: Path) -> None:
    import pyvips
    pyvips.cache_set_max(0)  # no image is used twice
    pyvips.Image.thumbnail(str(photo), 256, height=256).jpegsave(str(out / photo.name), Q=80, keep="icc")


def with_pillow(out: Path, photo: Path) -> None:
    from PIL import Image, ImageOps
    with Image.open(photo) as image:
        # Asks libjpeg for 1/2, 1/4 or 1/8, at least twice what is wanted (`draft`).
        image.thumbnail((256, 256), Image.Resampling.LANCZOS, reducing_gap=2)
        ImageOps.exif_transpose(image, in_place=True)
        image.save(out / photo.name, quality=80, icc_profile=image.info.get("icc_profile"))


def main() -> None:
    make = {"pyvips": with_pyvips, "pillow": with_pillow}[sys.argv[1]]
    photos = sorted(Path(sys.argv[2]).rglob("*.jpg"), key=lambda photo: -photo.stat().st_size)
    with ThreadPool(2) as pool:
        for _ in pool.imap_unordered(partial(make, Path(sys.argv[3])), photos):
            pass


if __name__ == "__main__":
    main()
