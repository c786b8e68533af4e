"""fake_make_images.py [--broken] FOLDER: makes a few files that fake_thumbjob.py takes for good or bad pictures."""

import sys
from pathlib import Path

folder = Path(sys.argv[-1])
folder.mkdir(parents=True)
for number in range(3):
    (folder / f"{number}.jpg").write_bytes(b"bad" if "--broken" in sys.argv and number else b"picture %d" % number)
