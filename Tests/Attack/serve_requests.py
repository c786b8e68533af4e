"""The requests of HTTP/1.1 in the bytes of a connection, as RFC 9112 has them."""

import re
from dataclasses import dataclass

# The longest head that the servers take, and the most fields in it.
HEAD_BYTES, HEAD_FIELDS = 16 << 10, 64

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
# Before a request, both are allowed (2.2), and in its first line several spaces (3).
_LINE_BREAKS = re.compile(rb"(?:\r?\n)*")
_REQUEST_LINE = re.compile(rb"(" + TOKEN + rb") +([!-~]+) +HTTP/1\.([01])\r\n")
_FIELD = re.compile(rb"(" + TOKEN + rb"):[ \t]*([\t -~\x80-\xff]*?)[ \t]*\r\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})((?:;" + TOKEN + rb"(?:=(?:" + TOKEN + rb'|"[^"\\\x00-\x1f\x7f]*"))?)*)\r\n')
# What may not come after the chunks (RFC 9110, 6.5.1).
_FRAMING = (b"content-length", b"transfer-encoding", b"host", b"trailer")
# Others are legal, too, but the parser of the server refuses them.
_METHODS = set(b"GET HEAD POST PUT DELETE OPTIONS TRACE PATCH CONNECT PROPFIND M-SEARCH SOURCE".split())
WHOLE, INCOMPLETE, UNSOUND = "whole", "incomplete", "unsound"


@dataclass(frozen=True)
class Request:
    method: bytes
    target: bytes
    minor: int
    fields: tuple = ()

    def values(self, name):
        return [value for each, value in self.fields if each.lower() == name]

    def has(self, name):
        return bool(self.values(name))

    @property
    def options(self):
        return {word.strip().lower() for value in self.values(b"connection") for word in value.split(b",")}

    @property
    def has_right_target(self):
        """Whether the target has one of the four forms (3.2)."""
        target, method = self.target, self.method
        if method == b"CONNECT":
            return bool(re.fullmatch(rb"[^/]+:[0-9]+", target))
        return target[:1] == b"/" or b"://" in target or (target, method) == (b"*", b"OPTIONS")

    @property
    def has_sound_head(self):
        return self.has_right_target and len(self.fields) <= HEAD_FIELDS

    @property
    def needs_no_body(self):
        """Whether its answer may come before a body that it has nevertheless."""
        return self.has_sound_head and self.method in (b"GET", b"HEAD")

    @property
    def names_host(self):
        """Whether there is the one Host field that HTTP/1.1 wants (3.2)."""
        return self.minor == 0 or len(self.values(b"host")) == 1

    @property
    def has_codings(self):
        """Whether a coding that no server has to know comes before the chunks (6.1)."""
        codings = b",".join(self.values(b"transfer-encoding")).lower().split(b",")
        return len(codings) > 1 and codings[-1].strip() == b"chunked"

    @property
    def expectation(self):
        """None if there is none; HTTP/1.0 has none."""
        return b", ".join(self.values(b"expect")).lower() if self.minor and self.has(b"expect") else None

    @property
    def is_awaited(self):
        return self.expectation == b"100-continue"

    @property
    def is_last(self):
        """Whether the connection ends with it.

        So it is with HTTP/1.0, where the body may come or not, and where another protocol would follow.
        """
        return (
            self.minor == 0 or b"close" in self.options or self.has(b"expect") or self.has(b"upgrade")
            or self.method == b"CONNECT")


def requests_in(data):
    """The requests that are in these bytes to their ends, the one that has begun, and what is after the whole ones."""
    found, at = [], 0
    while at < len(data):
        at = _LINE_BREAKS.match(data, at).end()
        begun, end, state = _request(data, at)
        if state != WHOLE:
            return found, begun, state if data[at:] else WHOLE
        found.append(begun)
        at = end
        if begun.is_last:
            break
    return found, None, WHOLE


def _request(data, at):
    """A request, its end, and its state."""
    end = data.find(b"\r\n\r\n", at)
    if end < 0:
        return None, at, INCOMPLETE if len(data) - at < HEAD_BYTES else UNSOUND
    lines = data[at : end + 2]
    first = _REQUEST_LINE.match(lines)
    if not first or first[1] not in _METHODS or len(lines) > HEAD_BYTES:
        return None, at, UNSOUND
    fields, place = [], first.end()
    while place < len(lines):
        line = _FIELD.match(lines, place)
        if not line:
            return None, at, UNSOUND
        fields.append((line[1], line[2]))
        place = line.end()
    request = Request(first[1], first[2], int(first[3]), tuple(fields))
    if not request.has_sound_head:
        return request, at, UNSOUND
    end, state = _body_end(data, end + 4, request)
    return request, end, state


def _body_end(data, at, request):
    lengths, codings = request.values(b"content-length"), request.values(b"transfer-encoding")
    if codings:
        is_sound = request.minor == 1 and not lengths and [value.lower() for value in codings] == [b"chunked"]
        return _chunks_end(data, at) if is_sound else (at, UNSOUND)
    if not lengths:
        return at, WHOLE
    if len(lengths) > 1 or not re.fullmatch(rb"[0-9]{1,18}", lengths[0]):
        return at, UNSOUND
    end = at + int(lengths[0])
    return (end, WHOLE) if end <= len(data) else (at, INCOMPLETE)


def _chunks_end(data, at):
    while True:
        line_end = data.find(b"\r\n", at)
        line = _CHUNK.match(data, at)
        if not line:
            return at, INCOMPLETE if line_end < 0 and len(data) - at < 100 else UNSOUND
        at, size = line.end(), int(line[1], 16)
        if size == 0:
            break
        if at + size + 2 > len(data):
            is_cut = data[at + size :] in (b"", b"\r")
            return at, INCOMPLETE if is_cut else UNSOUND
        if data[at + size : at + size + 2] != b"\r\n":
            return at, UNSOUND
        at += size + 2
    count, start = 0, at
    while data[at : at + 2] != b"\r\n":
        trailer, count = _FIELD.match(data, at), count + 1
        if not trailer:
            return at, INCOMPLETE if data.find(b"\r\n", at) < 0 else UNSOUND
        if trailer[1].lower() in _FRAMING or count > HEAD_FIELDS or at - start > HEAD_BYTES:
            return at, UNSOUND
        at = trailer.end()
    return at + 2, WHOLE
