"""pillow_folder.py SOURCE OUT THREADS: thumbnails of a folder by Pillow in so many threads, as its users do."""

import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

from pillow_thumbnail import make


def main() -> None:
    source, out = Path(sys.argv[1]), Path(sys.argv[2])

    def thumbnail(picture: Path) -> str | None:
        try:
            make(picture, out / f"{picture.name}.jpg", 256, 80, 2)
        except (OSError, ValueError, SyntaxError) as error:
            return f"{picture}: {error}"
        return None

    with ThreadPool(int(sys.argv[3])) as pool:
        for failure in pool.imap_unordered(thumbnail, sorted(file for file in source.rglob("*") if file.is_file())):
            if failure:
                print(failure, file=sys.stderr)


if __name__ == "__main__":
    main()
