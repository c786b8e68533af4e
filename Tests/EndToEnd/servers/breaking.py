"""Servers that break off their first answer somewhere. Then they answer well, badly, or with another version."""

import re
from collections import Counter
from dataclasses import dataclass
from email.utils import formatdate

from servers.listening import Server, reset
from servers.scripted import Request

OLD, NEW = 1_400_000_000, 1_500_000_000


@dataclass(frozen=True)
class Version:
    body: bytes
    tag: str
    time: int


@dataclass(frozen=True)
class Case:
    """`framing` is of the first answer, `rest` what the server does after it."""
    framing: str
    rest: str
    first: Version
    second: Version
    at: int = 0
    resets: bool = False


def head(status, length=None, version=None, tag=True, time=True, extra=()):
    lines = [f"HTTP/1.1 {status}", *extra]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    if version and tag:
        lines.append(f'ETag: "{version.tag}"')
    if version and time:
        lines.append(f"Last-Modified: {formatdate(version.time, usegmt=True)}")
    return "\r\n".join([*lines, "", ""]).encode()


def whole(version, framing="tag and time"):
    """All bytes of an answer with the whole file."""
    body, length = version.body, len(version.body)
    if framing == "chunks":
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:700], body[700:]))
        return head("200 OK", None, version, extra=["Transfer-Encoding: chunked"]) + chunks + b"0\r\n\r\n"
    if framing == "part":
        return part(version, 0, length)
    told = None if framing == "until the end" else length
    return head("200 OK", told, version, tag=framing != "time", time=framing != "tag") + body


def part(version, start, end, **options):
    place = f"Content-Range: bytes {start}-{end - 1}/{len(version.body)}"
    return head("206 Partial Content", end - start, options.pop("of", version), extra=[place], **options) \
        + version.body[start:end]


FRAMINGS = ("tag and time", "tag", "time", "chunks", "until the end", "part")


def asked(request):
    """The first byte that is asked for, and the byte after the last one; (0, None) for all."""
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    return (int(found[1]), int(found[2]) + 1 if found[2] else None) if found else (0, None)


def honest(version, request):
    start, end = asked(request)
    length = len(version.body)
    known = request.headers.get("if-range") in (None, f'"{version.tag}"', formatdate(version.time, usegmt=True))
    if not (start or end) or not known:
        return whole(version)
    if start >= length:
        return head("416 Range Not Satisfiable", 0, extra=[f"Content-Range: bytes */{length}"])
    return part(version, start, min(end or length, length))


def careless(version, request, **options):
    """A part of the version that the server has now, whatever was asked for with `If-Range`."""
    start, _ = asked(request)
    if not 0 < start < len(version.body):
        return whole(version)
    return part(version, start, len(version.body), **options)


# What the server sends after the first answer, by the number of the request.
RESTS = {
    "the same": lambda case, request, number: honest(case.first, request),
    "another version": lambda case, request, number: honest(case.second, request),
    "the same, without ranges": lambda case, request, number: whole(case.first),
    "another version, without ranges": lambda case, request, number: whole(case.second),
    "a part of another version": lambda case, request, number: careless(case.second, request),
    "a part of another version, without its tag":
        lambda case, request, number: careless(case.second, request, tag=False),
    "a part of another version, without anything":
        lambda case, request, number: careless(case.second, request, tag=False, time=False),
    "a part of another version under the first tag": lambda case, request, number: careless(
        case.second, request, of=Version(b"", case.first.tag, case.second.time)),
    "no such part": lambda case, request, number: whole(case.second) if asked(request) == (0, None) else head(
        "416 Range Not Satisfiable", 0, extra=[f"Content-Range: bytes */{asked(request)[0]}"]),
    "a fault, then another version":
        lambda case, request, number: head("503 Busy", 0) if number == 2 else honest(case.second, request),
    "half of the rest, then another version":
        lambda case, request, number: half(honest(case.first, request)) if number == 2
        else careless(case.second, request),
    "half a header, then the same":
        lambda case, request, number: honest(case.second, request)[:60] if number == 2
        else honest(case.first, request),
}


def half(answer):
    start = answer.index(b"\r\n\r\n") + 4
    return answer[: start + (len(answer) - start) // 2]


class BreakingServer(Server):
    """Each case has a host of its own, so that the failures of one do not count for another."""

    def __init__(self, cases, listener):
        self.cases = cases
        self.asked = Counter()
        super().__init__(listener)

    def case_url(self, index):
        # Most of the name of a camera's file is not needed, so its first bytes are asked for.
        ending = "dng" if self.cases[index].framing == "part" else "jpg"
        host = f"127.{1 + index // 62_500}.{index // 250 % 250}.{1 + index % 250}"
        return self.url(f"/{index}.{ending}", host)

    def handle(self, connection):
        received = b""
        while b"\r\n\r\n" not in received:
            data = connection.recv(65536)
            if not data:
                return
            received += data
        request = Request.parsed(received.split(b"\r\n\r\n")[0])
        index = int(re.search(r"\d+", request.target)[0])
        with self.changed:
            self.asked[index] += 1
            number = self.asked[index]
        case = self.cases[index]
        if number == 1:
            connection.sendall(whole(case.first, case.framing)[: case.at])
            if case.resets:
                reset(connection)
        else:
            connection.sendall(RESTS[case.rest](case, request, number))
