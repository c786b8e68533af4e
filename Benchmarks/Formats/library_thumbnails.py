"""library_thumbnails.py pyvips|Pillow BOX OUT ENDING OPTIONS PICTURE...: thumbnails in any format, in one thread.

OPTIONS are those of the encoder: `quality=80,method=4`.
"""

import sys
from pathlib import Path


def with_pyvips(pictures: list[Path], out: Path, box: int, ending: str, options: dict[str, int | str]) -> None:
    import pyvips
    pyvips.cache_set_max(0)  # no image is used twice
    for picture in pictures:
        image = pyvips.Image.thumbnail(str(picture), box, height=box, size="down")
        image.write_to_file(str(out / f"{picture.stem}.{ending}"), keep="none", **options)


def with_pillow(pictures: list[Path], out: Path, box: int, ending: str, options: dict[str, int | str]) -> None:
    from PIL import Image, ImageOps
    for picture in pictures:
        with Image.open(picture) as image:
            # Asks libjpeg for 1/2, 1/4 or 1/8, at least twice what is wanted (`draft`).
            image.thumbnail((box, box), Image.Resampling.LANCZOS, reducing_gap=2)
            ImageOps.exif_transpose(image, in_place=True)
            image.save(out / f"{picture.stem}.{ending}", exif=b"", **options)


def parsed(options: str) -> dict[str, int | str]:
    pairs = (option.split("=") for option in options.split(",") if option)
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


if __name__ == "__main__":
    make = {"pyvips": with_pyvips, "Pillow": with_pillow}[sys.argv[1]]
    make([Path(name) for name in sys.argv[6:]], Path(sys.argv[3]), int(sys.argv[2]), sys.argv[4], parsed(sys.argv[5]))
