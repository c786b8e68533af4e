"""peer.py pyvips|pillow SOURCE OUT: thumbnails of a folder of JPEGs in two processes, as their users do."""

import sys
from functools import partial
from multiprocessing import Pool
from pathlib import Path


def with_pyvips(out: Path, photo: Path) -> None:
    import pyvips
    pyvips.Image.thumbnail(str(photo), 256, height=256).jpegsave(str(out / photo.name), Q=80)


def with_pillow(out: Path, photo: Path) -> None:
    from PIL import Image
    with Image.open(photo) as image:
        # Asks libjpeg for 1/2, 1/4 or 1/8, at least twice what is wanted (`draft`).
        image.thumbnail((256, 256), Image.Resampling.LANCZOS, reducing_gap=2)
        image.save(out / photo.name, quality=80)


def main() -> None:
    make = {"pyvips": with_pyvips, "pillow": with_pillow}[sys.argv[1]]
    photos = sorted(Path(sys.argv[2]).rglob("*.jpg"))
    with Pool(2) as pool:
        for _ in pool.imap_unordered(partial(make, Path(sys.argv[3])), photos):
            pass


if __name__ == "__main__":
    main()
