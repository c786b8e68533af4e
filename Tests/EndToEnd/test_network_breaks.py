"""Transfers that break anywhere, from servers whose file changes meanwhile: each thumbnail is that of one version.

`BREAKS=1 pytest -s Tests/EndToEnd/test_network_breaks.py` breaks the answers of each kind of server at each of
their bytes: hundreds of thousands of transfers. With `BREAKS=4`, each byte has a quarter of the kinds, in turn.
"""

import functools
import io
import itertools
import os
import random
from collections import Counter

from network_run import ended_without_a_crash, place, run
from servers.breaking import FRAMINGS, NEW, OLD, RESTS, BreakingServer, Case, Version, whole
from servers.listening import listener_on_all_of_loopback
from servers.photos import picture, without_comments

SAMPLE = 4


def photo(hue, grain):
    file = io.BytesIO()
    picture(96, 64, hue, grain).save(file, "JPEG", quality=60)
    return file.getvalue()


def padded(jpeg, length):
    """The same picture with a comment, so that its file has this length."""
    room = length - len(jpeg) - 4
    return jpeg[:2] + b"\xff\xfe" + (room + 2).to_bytes(2) + bytes(room) + jpeg[2:]


@functools.cache
def versions():
    """The first version, and two others: one as long as the first, and one longer."""
    one, other = photo(20, 25), photo(150, 10)
    assert len(other) + 4 <= len(one)
    return (Version(one, "one", OLD), Version(padded(other, len(one)), "two", NEW),
            Version(padded(other, len(one) + 300), "two", NEW))


def all_kinds():
    first, *others = versions()
    for framing, rest, second in itertools.product(FRAMINGS, RESTS, others):
        # Under the first tag, and without a time in the first answer, nothing tells a part of the same length apart.
        is_same = len(second.body) == len(first.body)
        if rest == "a part of another version under the first tag" and framing == "tag" and is_same:
            continue
        yield Case(framing, rest, first, second)


def cases():
    kinds = list(all_kinds())
    chance = random.Random(1)
    step = int(os.environ.get("BREAKS", "0"))
    for number, kind in enumerate(kinds):
        length = len(whole(kind.first, kind.framing))
        if step:
            places = range(number % step, length + 1, step)
        else:
            places = sorted({0, length, *(chance.randrange(length + 1) for _ in range(SAMPLE - 2))})
        for at in places:
            yield Case(kind.framing, kind.rest, kind.first, kind.second, at, resets=bool((at + len(kind.rest)) % 2))


def references(tmp_path):
    folder = tmp_path / "versions"
    folder.mkdir()
    for index, version in enumerate(versions()):
        (folder / f"{index}.jpg").write_bytes(version.body)
    result = run(tmp_path, folder, "-s", "48", out="of files", private=False)
    made = {without_comments(data) for data in result.thumbnails.values()}
    assert result.status == 0 and len(made) == 2, "the versions differ, and those of one picture do not"
    return made


def test_a_transfer_that_breaks_anywhere_gives_the_thumbnail_of_one_version(tmp_path):
    right = references(tmp_path)
    everything = list(cases())
    outcomes = Counter()
    for start in range(0, len(everything), 20_000):
        batch = everything[start : start + 20_000]
        with BreakingServer(batch, listener_on_all_of_loopback()) as server:
            urls = [server.case_url(index) for index in range(len(batch))]
            result = run(
                tmp_path, "-s", "48", "--max", "4", "--backlog", "300", "--per-host", "64", sources=urls, seconds=3600,
                out=f"thumbs {start}")
        assert ended_without_a_crash(result), result.stderr[-2000:]
        for case, url in zip(batch, urls, strict=True):
            made = result.thumbnails.get(place(url).removesuffix(".dng") + (".dng.jpg" if "dng" in url else ""))
            is_whole = case.at == len(whole(case.first, case.framing))
            if made is None:
                # Only what ends with the connection can break off unnoticed, and is then no whole picture.
                assert url in result.failures, f"{case.framing}, {case.rest}, byte {case.at}: nothing"
                assert case.framing == "until the end" and not is_whole, (
                    f"{case.framing}, {case.rest}, byte {case.at}: {result.failures[url]}")
                outcomes["failed"] += 1
                continue
            assert without_comments(made) in right, f"{case.framing}, {case.rest}, byte {case.at}: a wrong thumbnail"
            outcomes["made"] += 1
    print(f"{len(everything)} transfers: {outcomes['made']} right thumbnails, {outcomes['failed']} failed")
    assert outcomes["made"] > 0.8 * len(everything)
