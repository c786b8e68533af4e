"""simulated_disk.py: a file system that is as slow as a disk: a spinning one, one of flash, or one over the network.

    simulated_disk.py MOUNT PHOTOS COUNT [--kind spinning] [--order SEED] [--sorted]

Below MOUNT there are COUNT photos: the files of PHOTOS in turn, in folders of a hundred. Each has a place of its own on
the disk, and the number of its inode grows with that place, as file systems number files that were written one after
the other. Names and places have nothing to do with each other. Reading is all that is simulated: names and inodes cost
nothing.

- spinning: one head. A request that does not continue the one before waits for the head and for half a turn of the
  plates. Of the requests that wait, the one that is next ahead of the head is served, as kernel and disk do.
- flash: requests wait 80 µs each, any number at once.
- network: requests wait 10 ms each, any number at once; all share the throughput.

When it is unmounted, it prints what was done as JSON: requests, seeks, bytes, the seconds that the disk was busy, and
the files in the order in which they were first read.

Needs FUSE 3 and the right to mount.
"""

import argparse
import errno
import json
import os
import random
import stat
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import mfusepy

PER_FOLDER = 100
INODES = 100_000  # the inode of the first file


@dataclass(frozen=True)
class Model:
    """The times of a disk, in seconds, and its throughput in bytes a second."""

    throughput: float
    latency: float = 0
    heads: bool = False
    shortest_seek: float = 0.001
    longest_seek: float = 0.014
    half_turn: float = 0.0042  # of 7,200 turns a minute


MODELS = {
    "spinning": Model(throughput=150e6, heads=True),
    "flash": Model(throughput=500e6, latency=0.00008),
    "network": Model(throughput=110e6, latency=0.010),
}


@dataclass
class Counters:
    requests: int = 0
    seeks: int = 0
    bytes: int = 0
    seconds: float = 0  # that the disk was busy
    files: list[str] = field(default_factory=list)  # in the order in which they were first read


class Disk:
    """Makes its callers wait as the disk would. From any thread."""

    def __init__(self, model):
        self.model = model
        self.size = 1 << 40  # over which the longest seek goes
        self.changed = threading.Condition()
        self.waiting = []  # places of requests; guarded by changed
        self.is_busy = False
        self.head = 0
        self.free_at = 0.0  # when the wire is free
        self.counters = Counters()

    def read(self, place, size):
        if self.model.heads:
            self.read_by_head(place, size)
        else:
            self.read_by_wire(size)

    def read_by_head(self, place, size):
        request = (place, threading.get_ident())
        with self.changed:
            self.waiting.append(request)
            self.changed.wait_for(lambda: not self.is_busy and self.next() == request)
            self.waiting.remove(request)
            self.is_busy = True
            cost = self.seek(place - self.head) + size / self.model.throughput
            self.counters.seeks += place != self.head
            self.count(size, cost)
        begin = time.monotonic()
        time.sleep(max(0, cost - (time.monotonic() - begin)))
        with self.changed:
            self.head = place + size
            self.is_busy = False
            self.changed.notify_all()

    def next(self):
        """The request that is next ahead of the head; else the first one of all."""
        return min(self.waiting, key=lambda request: (request[0] < self.head, request[0]))

    def seek(self, distance):
        if distance == 0:
            return 0
        model = self.model
        seek = model.shortest_seek + (model.longest_seek - model.shortest_seek) * (abs(distance) / self.size) ** 0.5
        full = seek + model.half_turn
        # A short way ahead is passed while the plates turn.
        return min(full, distance / model.throughput) if distance > 0 else full

    def read_by_wire(self, size):
        with self.changed:
            now = time.monotonic()
            self.free_at = max(now, self.free_at) + size / self.model.throughput
            end = max(self.free_at, now + self.model.latency)
            self.count(size, size / self.model.throughput)
        time.sleep(max(0, end - time.monotonic()))

    def count(self, size, seconds):
        self.counters.requests += 1
        self.counters.bytes += size
        self.counters.seconds += seconds


@dataclass(frozen=True)
class Photo:
    backing: Path
    size: int
    place: int
    inode: int


class Photos(mfusepy.Operations):
    """A tree of photos on a disk. Nothing of it changes after the start."""

    use_ns = True

    def __init__(self, disk, photos, count, seed, is_sorted):
        self.disk = disk
        self.now = time.time_ns()
        names = [f"{index // PER_FOLDER:04}/{index:06}{photos[index % len(photos)].suffix}" for index in range(count)]
        order = list(range(count))
        random.Random(seed).shuffle(order)
        # Small gaps are between them, as in folders that have other files, too.
        place, self.photos = 0, {}
        for number, index in enumerate(order):
            backing = photos[index % len(photos)]
            size = backing.stat().st_size
            self.photos[names[index]] = Photo(backing, size, place, INODES + number)
            place += size + (size >> 4)
        # However few they are, the photos fill a third of the disk, as a large archive does.
        disk.size = 3 * place
        self.folders = {}
        for name in names:
            self.folders.setdefault(name.split("/")[0], []).append(name.split("/")[1])
        for name, folder in self.folders.items():
            random.Random(seed + 1).shuffle(folder)
            if is_sorted:
                folder.sort(key=lambda photo, name=name: self.photos[f"{name}/{photo}"].place)
        self.open_files = {}
        self.read_files = set()
        self.guard = threading.Lock()

    def init_with_config(self, info, config):
        if config is not None:
            config.use_ino = 1

    def getattr(self, path, fh=None):
        name = path[1:]
        times = {"st_mtime": self.now, "st_ctime": self.now, "st_atime": self.now, "st_uid": 0, "st_gid": 0}
        if not name or name in self.folders:
            inode = 1 if not name else 2 + list(self.folders).index(name)
            return times | {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, "st_ino": inode}
        photo = self.photo(name)
        return times | {
            "st_mode": stat.S_IFREG | 0o444, "st_nlink": 1, "st_size": photo.size, "st_ino": photo.inode,
            "st_blocks": -(-photo.size // 512)}

    def photo(self, name):
        if name not in self.photos:
            raise mfusepy.FuseOSError(errno.ENOENT)
        return self.photos[name]

    def readdir(self, path, fh):
        name = path[1:]
        inner = self.folders if not name else self.folders[name]
        return [".", "..", *((entry, self.getattr(f"{path.rstrip('/')}/{entry}"), 0) for entry in inner)]

    def open(self, path, flags):
        return os.open(self.photo(path[1:]).backing, os.O_RDONLY)

    def release(self, path, fh):
        os.close(fh)

    def read(self, path, size, offset, fh):
        name = path[1:]
        photo = self.photos[name]
        size = max(0, min(size, photo.size - offset))
        with self.guard:
            if name not in self.read_files:
                self.read_files.add(name)
                self.disk.counters.files.append(name)
        self.disk.read(photo.place + offset, size)
        return os.pread(fh, size, offset)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mount", type=Path)
    parser.add_argument("photos", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=MODELS, default="spinning")
    parser.add_argument("--order", type=int, default=1, metavar="SEED", help="of the places, and of names in a folder")
    parser.add_argument("--sorted", action="store_true", help="folders list their photos in the order of their places")
    return parser.parse_args()


def main():
    given = arguments()
    photos = sorted(path.resolve() for path in given.photos.iterdir() if path.is_file())
    disk = Disk(MODELS[given.kind])
    mfusepy.FUSE(
        Photos(disk, photos, given.count, given.order, given.sorted), str(given.mount), foreground=True,
        nothreads=False, ro=True, kernel_cache=True,
        fsname="simulated-disk")
    print(json.dumps(vars(disk.counters)))


if __name__ == "__main__":
    main()
