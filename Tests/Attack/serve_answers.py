"""The answers in the bytes of a connection, and the previews in them."""

import re
import struct
from dataclasses import dataclass

import jpeg
import others
import readers
from serve_requests import TOKEN

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9]) [ -~]*\r\n")
_ANSWER_FIELD = re.compile(rb"(" + TOKEN + rb"): ([ -~]*)\r\n")
# All that the header of an answer may have. X-Request-ID has a rule of its own.
_HEADER = {
    b"content-type": rb"application/json|image/(jpeg|png|webp|avif)", b"content-length": rb"[0-9]+",
    b"x-content-type-options": rb"nosniff", b"image-width": rb"[1-9][0-9]*", b"image-height": rb"[1-9][0-9]*",
    b"retry-after": rb"[1-9][0-9]*", b"connection": rb"close|keep-alive", b"allow": rb"POST|GET, HEAD",
    b"x-request-id": rb"[!#-~]{1,128}"}


class AnswerError(ValueError):
    """What is wrong with the bytes of an answer."""


@dataclass(frozen=True)
class Answer:
    status: int
    fields: dict
    body: bytes = b""

    @property
    def ends(self):
        """Whether the connection ends with it."""
        return self.fields.get(b"connection") == b"close"


def answers_in(data, methods):
    """The whole answers at the beginning of these bytes, and how many bytes follow.

    Raises AnswerError for what is no answer.
    """
    found, at, methods = [], 0, list(methods)
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        if end < 0:
            if not b"HTTP/1.1 ".startswith(data[at : at + 9]):
                raise AnswerError(f"no answer begins with {data[at : at + 20]!r}")
            break
        answer, at_body = _head(data[at : end + 2]), end + 4
        size = 0
        if answer.status >= 200:
            method = methods.pop(0) if methods else b""
            if b"content-length" not in answer.fields:
                raise AnswerError("the answer has no length")
            size = 0 if method == b"HEAD" else int(answer.fields[b"content-length"])
        if at_body + size > len(data):
            break
        found.append(Answer(answer.status, answer.fields, data[at_body : at_body + size]))
        at = at_body + size
    return found, len(data) - at


def _head(lines):
    first = _STATUS_LINE.match(lines)
    if not first:
        raise AnswerError(f"no answer begins with {lines[:20]!r}")
    fields, at = {}, first.end()
    while at < len(lines):
        line = _ANSWER_FIELD.match(lines, at)
        if not line:
            raise AnswerError(f"no field of an answer begins with {lines[at : at + 20]!r}")
        name = line[1].lower()
        if name in fields or not re.fullmatch(_HEADER.get(name, rb"(?!)"), line[2]):
            raise AnswerError(f"an answer may not have {line[0]!r}")
        fields[name] = line[2]
        at = line.end()
    return Answer(int(first[1]), fields)


def picture_in(data):
    """The type and the size of a picture that is whole to its last byte, as far as its structure tells."""
    try:
        if data[:2] == b"\xff\xd8":
            jpeg.without_comments(data)
            frame = jpeg.frame_of(data, jpeg.segments(data))
            return "jpeg", (frame.width, frame.height)
        if data[:4] == b"\x89PNG" and readers.judgement_of("a.png", data).is_whole is not False:
            return "png", struct.unpack(">2I", data[16:24])
        if data[:4] == b"RIFF" and struct.unpack("<I", data[4:8])[0] + 8 == len(data):
            return "webp", _webp_size(others.webps.chunks(data)[0])
        if data[4:12] == b"ftypavif":
            return "avif", _avif_size(data)
    except (jpeg.MalformedError, struct.error, IndexError) as error:
        raise AnswerError(f"the preview is damaged: {error}") from error
    raise AnswerError(f"the preview is no whole picture, and begins with {data[:12]!r}")


def _webp_size(chunk):
    kind, body = chunk[:4], chunk[8:]
    if kind == b"VP8X":
        return tuple(int.from_bytes(body[at : at + 3], "little") + 1 for at in (4, 7))
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return tuple(side & 0x3FFF for side in struct.unpack("<2H", body[6:10]))


def _avif_size(data):
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if size < 8 or at + size > len(data):
            raise AnswerError("the preview has a box that does not end")
        at += size
    place = data.index(b"ispe") if b"ispe" in data else len(data)
    return struct.unpack(">2I", data[place + 8 : place + 16])
