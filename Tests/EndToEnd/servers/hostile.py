"""Hostile and broken servers: for each, its script, and the essential words of the line that thumbjob must print."""

import functools
import gzip
from collections.abc import Callable
from dataclasses import dataclass

from servers.files import ServedFile
from servers.photos import large_photo, small_photo

QUICK = ("--timeout", "2s")


@dataclass(frozen=True)
class Case:
    server: str
    script: Callable
    # Regular expressions that the line matches.
    words: tuple
    options: tuple = ()
    kind: str = "network"


@functools.cache
def bomb():
    """Ten kilobytes that become ten megabytes."""
    return gzip.compress(bytes(10 << 20))


def raw(data, then="close"):
    """A script that sends these bytes, and then closes, resets or waits."""

    def script(exchange):
        exchange.send(data)
        if then == "wait":
            exchange.wait_until_left()
        if then == "reset":
            exchange.reset()

    return script


def answer(body, status="200 OK", **fields):
    return lambda exchange: exchange.answer(body, status, **fields)


def redirect(target, status="302 Found"):
    return answer(b"", status, Location=target)


def endless(head, part):
    """A script that never stops to send."""

    def script(exchange):
        exchange.send(head)
        while not exchange.server.closing.is_set():
            exchange.send(part)

    return script


def one_byte_a_second(data):
    """A script that is slow on purpose."""

    def script(exchange):
        for byte in data:
            exchange.send(bytes([byte]))
            if exchange.server.closing.wait(1):
                return

    return script


def loop(exchange):
    """Redirects each path to a new one."""
    exchange.answer(b"", "302 Found", Location=f"/photo.jpg?{exchange.server.accepted}{len(exchange.server.requests)}")


def wrong_range(exchange):
    """Breaks off, and then continues somewhere else."""
    file = ServedFile(large_photo(False), tag="a")
    if exchange.number == 1:
        return file.broken_off(exchange, 500_000)
    size = len(file.body)
    exchange.answer(file.body[:1000], "206 Partial Content", Content_Range=f"bytes 0-999/{size}", ETag=file.tag)


def range_without_a_request(exchange):
    body = small_photo()
    exchange.answer(body[100:], "206 Partial Content", Content_Range=f"bytes 100-{len(body) - 1}/{len(body)}")


def too_long(exchange):
    """Sends more than it has promised."""
    body = small_photo()
    exchange.head(Content_Length=len(body) // 2)
    exchange.send(body)


def too_short(exchange):
    body = small_photo()
    exchange.head(Content_Length=2 * len(body))
    exchange.send(body)


OK = b"HTTP/1.1 200 OK\r\n"
UNREADABLE = r"invalid|malformed|not HTTP|[Uu]nsupported|bad"
LIMIT = (r"1 MiB|1\.0 MB|1,048,576|1M", r"limit")
# `--timeout` is of the source, whatever takes the time.
TOO_LONG = (r"2 s|2\.0 seconds|longer",)
# A segment of a JPEG file that is passed over.
COMMENT = b"\xff\xfe\x1f\xfe" + bytes(8188)
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

CASES = [
    # Sizes
    Case("endless picture", endless(OK + b"\r\n\xff\xd8", COMMENT), LIMIT, ("--limit-bytes", "1M")),
    Case("endless chunked picture", endless(CHUNKED + b"2\r\n\xff\xd8\r\n", b"2000\r\n" + COMMENT + b"\r\n"),
         LIMIT, ("--limit-bytes", "1M")),
    Case("endless body that is no picture", endless(OK + b"\r\n", bytes(8192)), (r"not an image",), kind="source"),
    Case("tells a length over the limit", raw(OK + b"Content-Length: 99999999999\r\n\r\n", "wait"), (r"limit",)),
    Case("tells a length over 64 bits",
         raw(OK + b"Content-Length: 99999999999999999999999\r\n\r\n", "wait"), (r".",), QUICK),
    Case("tells twice the length", too_short, (r"ended|short|closed|broke|missing",)),
    Case("tells half the length", too_long, (r"end|truncated|missing",), kind="source"),
    Case("negative length", raw(OK + b"Content-Length: -5\r\n\r\nabc"), (r"[Ll]ength|" + UNREADABLE,)),
    Case("two different lengths",
         raw(OK + b"Content-Length: 100\r\nContent-Length: 3\r\n\r\nabc"), (r"[Ll]ength|" + UNREADABLE,)),
    Case("empty body", answer(b""), (r"empty|no data|nothing|0 bytes",), kind="source"),
    # Encodings
    Case("gzip bomb", answer(bomb(), Content_Encoding="gzip"), (r"Content-Encoding|gzip|encod",)),
    Case("chunk with an invalid size", raw(CHUNKED + b"xyz\r\n"), (UNREADABLE + r"|chunk|broke",)),
    Case("chunk of too many digits", raw(CHUNKED + b"FFFFFFFFFFFFFFFFF\r\n"), (UNREADABLE + r"|chunk|broke",)),
    # Redirects
    Case("redirects in a loop", loop, (r"redirect", r"5|five|too many")),
    Case("redirects to itself", redirect("/photo.jpg"), (r"redirect", r"5|five|too many")),
    Case("redirects to file:///etc/passwd", redirect("file:///etc/passwd"), (r"redirect",)),
    Case("redirects to ftp://", redirect("ftp://127.0.0.1/photo.jpg"), (r"redirect",)),
    Case("redirects to gopher://", redirect("gopher://127.0.0.1/_x"), (r"redirect",)),
    Case("redirects to nothing", redirect(""), (r"302|redirect",)),
    Case("redirects without Location", answer(b"", "302 Found"), (r"302|redirect",)),
    # Heads
    Case("a megabyte of header lines", raw(OK + b"X-A: b\r\n" * 131_072 + b"\r\n"), (r"header",)),
    Case("a header line of a megabyte", raw(OK + b"X-A: " + b"b" * (1 << 20) + b"\r\n\r\n"), (r"header",)),
    Case("endless 100 Continue", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), (r".",), QUICK),
    Case("endless trailer", endless(CHUNKED + b"0\r\n", b"X-A: b\r\n" * 1000), (r".",), QUICK),
    Case("HTTP/0.9", raw(small_photo()), (r"HTTP|" + UNREADABLE,)),
    Case("garbage for a status line", raw(b"HTTP/9.9 banana split\r\n\r\n"), (r"HTTP|" + UNREADABLE,)),
    Case("status 999", answer(b"", "999 Request denied"), (r"999",)),
    Case("status 200 that is 20", raw(b"HTTP/1.1 20 OK\r\n\r\n"), (r".",)),
    Case("terminal escapes in the reason", answer(b"", "404 \x1b[31mGone\x07\x9b2J\rthumbjob: all is well"), (r"404",)),
    # Time
    Case("one byte of the head a second", one_byte_a_second(OK * 10), TOO_LONG, QUICK, kind="timeout"),
    Case("one byte of the body a second",
         lambda exchange: (exchange.head(Content_Length=10_000), one_byte_a_second(small_photo())(exchange)),
         TOO_LONG, QUICK, kind="timeout"),
    Case("silence after the request", lambda exchange: exchange.wait_until_left(), TOO_LONG, QUICK, kind="timeout"),
    Case("silence in the body", lambda exchange: ServedFile(small_photo()).held(exchange, 1000),
         TOO_LONG, QUICK, kind="timeout"),
    Case("429, come back in a day",
         answer(b"", "429 Too Many Requests", Retry_After="86400"), (r"429",), ("--timeout", "5s")),
    Case("503, come back never",
         answer(b"", "503 Service Unavailable", Retry_After="9" * 40), (r"503",), ("--timeout", "15s")),
    # Connections
    Case("closes without an answer", raw(b""), (r"connection (broke|closed)|no answer",)),
    Case("resets without an answer", raw(b"", "reset"), (r"reset|closed|connection",)),
    Case("resets always in the body", lambda exchange: ServedFile(small_photo(), tag="a").broken_off(exchange, 1000),
         (r"reset|broke|closed|connection",)),
    # Ranges
    Case("206 that nobody asked for", range_without_a_request, (r"206|range|another part",)),
    Case("206 with the wrong range", wrong_range, (r"206|range|another part",)),
    Case("416 for the whole", answer(b"", "416 Range Not Satisfiable"), (r"416",)),
    Case("304 that nobody asked for", answer(b"", "304 Not Modified"), (r"304",)),
    Case("204 No Content", answer(b"", "204 No Content"), (r"204|empty|no data|nothing",)),
    # Contents
    Case("a page instead of a picture",
         answer(b"<!doctype html><title>Please log in</title>", Content_Type="text/html"), (r"not an image",),
         kind="source"),
    Case("403 Forbidden", answer(b"", "403 Forbidden"), (r"403",)),
    Case("404 Not Found", answer(b"", "404 Not Found"), (r"404",)),
    Case("500 each time", answer(b"", "500 Internal Server Error"), (r"500",)),
    Case("503 each time", answer(b"", "503 Service Unavailable"), (r"503",)),
]
