"""The cases of the attack on the server, and the parts of which their makers compose them.

A case is what a client does on one connection.
"""

import base64
import hashlib
import hmac
import json
import random
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import damage
import files
import mutations
import odd
import others
import pictures
from serve_server import KEY, MOST_BYTES


@dataclass(frozen=True)
class Box:
    """The size of a preview, as docs/serve.md has it."""

    mode: str = "whole"  # whole, fit, fill, exact or strip
    width: int | None = None
    height: int | None = None
    enlarges: bool = False

    def allows(self, size, picture):
        """Whether a preview of a picture may have this size. The size of the picture is None if nobody knows it."""
        if picture is None:
            return self._allows(size)
        return all(abs(side - right) <= slack for side, right, slack in zip(size, *self._right(*picture), strict=True))

    def _allows(self, size):
        if self.enlarges and self.mode in ("fill", "exact"):
            return size == (self.width, self.height)
        return self.enlarges or all(
            side <= most for side, most in zip(size, (self.width, self.height), strict=True) if most)

    def _right(self, width, height):
        """The size, and how much each side may differ: where it is rounded."""
        wide, high = self.width or width, self.height or height
        if self.mode == "exact" or (self.mode == "fill" and (self.enlarges or (width >= wide and height >= high))):
            return (wide, high), (0, 0)
        if self.mode == "fill":
            scale = min(width / wide, height / high)
            return (max(wide * scale, 1), max(high * scale, 1)), (1, 1)
        if self.mode == "fit":
            scale = min(side / of for side, of in ((self.width, width), (self.height, height)) if side)
            scale = scale if self.enlarges else min(scale, 1)
            return (max(width * scale, 1), max(height * scale, 1)), (1, 1)
        return (min(wide, width), min(high, height)), (0, 0)


@dataclass(frozen=True)
class Wanted:
    statuses: tuple[int, ...] = ()  # any that is documented if empty
    box: Box | None = None
    picture: tuple[int, int] | None = None
    type: str | None = None


ANY = Wanted()
HEALTHY = Wanted((200,))


@dataclass(frozen=True)
class Case:
    kind: str
    number: int
    how: str
    steps: tuple  # of a word, and bytes, seconds, or whether to heed an answer
    wanted: tuple[Wanted, ...] = ()  # for each request, in their order
    is_locked: bool = False  # for the server with the key

    @property
    def leaves(self):
        return any(step[0] in ("half-close", "leave", "reset", "deaf") for step in self.steps)


@dataclass(frozen=True)
class Picture:
    """A picture that a client sends."""

    name: str
    data: bytes
    size: tuple[int, int] | None = None
    is_impossible: bool = False


class Pictures:
    """The pictures that clients send, in classes."""

    def __init__(self, seed, count, is_sample):
        self.is_sample = is_sample  # without what takes long
        drawn = pictures.all_pictures()
        jpegs, more = files.usual_files(drawn), others.good_files()
        sizes = {name: (picture.width, picture.height) for name, picture in drawn.items()}
        self.good = [Picture(file.file_name, file.data, sizes[file.picture]) for file in jpegs]
        for file in more:
            is_drawn = file.picture in ("photo", "posterized", "bits", "alpha", "lossy")
            size = (others.WIDTH, others.HEIGHT) if is_drawn else None
            self.good.append(Picture(file.file_name, file.data, size))
        self.small = [picture for picture in self.good if len(picture.data) < 20_000 and picture.size]
        self.jpegs = [Picture(each.name, each.data) for each in mutations.mutants(jpegs, seed, count)]
        self.others = [Picture(each.name, each.data) for each in damage.mutants(more, seed, count)]
        self.odd = [Picture(file.name, file.data, is_impossible=file.is_impossible)
                    for file in ([] if is_sample else odd.odd_files()) if len(file.data) < MOST_BYTES]

    @property
    def count(self):
        return sum(map(len, (self.good, self.jpegs, self.others, self.odd)))


@dataclass(frozen=True)
class Kind:
    name: str
    weight: float
    make: object


class Kinds(list):
    """A list of kinds. A decorator puts a function into it."""

    def kind(self, name, weight):
        def register(make):
            self.append(Kind(name, weight, make))
            return make

        return register


# How often each one is spoken.
DIALECTS = ("imaginary", "imaginary", "imagor")


class Maker:
    """Makes the parts of one case, at random."""

    def __init__(self, seed, number, pictures):
        self.random = random.Random(f"{seed} request {number}")
        self.pictures = pictures
        self.is_locked = self.random.random() < 0.3

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)

    def side(self):
        return self.pick(1, 2, 5, 16, 31, 64, 100, 128, 200, 256, 333, 512)

    def sides(self):
        return self.side(), self.side()

    # Requests that are right.

    def preview(self, picture, dialect=None):
        """A target, further fields, and what is right for this picture."""
        dialect = dialect or self.pick(*DIALECTS)
        target, box, suffix = self.imaginary() if dialect == "imaginary" else self.imagor()
        fields = []
        if dialect == "imagor":
            target, fields = self.sealed(target)
        elif self.is_locked and self.chance(0.5):
            fields.append((b"API-Key", KEY))
        else:
            target = self.opened(target)
        return target, fields, Wanted((200,), box, picture.size, suffix)

    def opened(self, target):
        """A target with parameters, and with the key if the server has one."""
        return f"{target}&key={quote(KEY)}" if self.is_locked else target

    def sealed(self, path):
        if not self.is_locked:
            return f"/unsafe/{path}", []
        if self.chance(0.3):
            return f"/unsafe/{path}", [(b"API-Key", KEY)]
        return f"/{signature(path, self.pick('sha1', 'sha256'))}/{path}", []

    def format(self):
        return self.random.choices(("jpeg", "png", "webp", "avif"), (8, 4, 4, 1))[0]

    def operation(self):
        """An operation of imaginary, its parameters and its box."""
        name = self.pick("fit", "resize", "thumbnail", "crop", "smartcrop", "enlarge", "convert")
        width, height = self.sides()
        needs_both, crops = name in ("fit", "enlarge"), name in ("crop", "smartcrop")
        if not needs_both and self.chance(0.4):
            width, height = self.pick((width, None), (None, height))
        sides = {side: number for side, number in (("width", width), ("height", height)) if number}
        box = Box("fit", width, height)
        if name == "enlarge":
            box = Box("fill", width, height, True)
        elif name == "convert":
            return name, {"type": self.format()}, Box()
        elif name == "resize" and self.chance(0.4):
            crops = True
            sides["nocrop"] = "false"
        if crops:
            box = Box("fill" if width and height else "strip", width, height)
        if name in ("resize", "thumbnail") and not crops and width and height and self.chance(0.2):
            return name, {**sides, "force": "true"}, Box("exact", width, height, True)
        return name, sides, box

    def imaginary(self):
        name, values, box = self.operation()
        if self.chance(0.7):
            values["type"] = values.get("type") or self.format()
        more = {"quality": self.random.randrange(1, 101), "stripmeta": self.pick("true", "false"), "interlace": "true",
                "background": "255,0,7", "norotation": "true", "gravity": self.pick("north", "smart", "centre")}
        values |= {each: value for each, value in more.items() if self.chance(0.2)}
        if self.chance(0.6):
            return f"/{name}?{urlencode(values)}", box, values.get("type")
        steps = [{"operation": name, "params": {
            each: int(value) if str(value).isdigit() and self.chance(0.5) else str(value)
            for each, value in values.items()}}]
        if self.chance(0.5):
            steps.insert(0, {"operation": "autorotate"})
        return f"/pipeline?{urlencode({'operations': json.dumps(steps)})}", box, values.get("type")

    def imagor(self):
        mode = self.pick("", "", "fit-in/", "stretch/")
        width, height = self.sides()
        suffix, filters = None, []
        if self.chance(0.7):
            suffix = self.format()
            filters.append(f"format({suffix})")
        if self.chance(0.3):
            filters.append(f"quality({self.random.randrange(1, 101)})")
        words = [f"{width}x{height}"]
        if mode == "stretch/":
            box = Box("exact", width, height, True)
        elif not mode and self.chance(0.3):
            # One side. A long picture would be too large in a large box.
            side = min(self.side(), 100)
            words, box = self.pick(
                ([f"{side}x"], Box("fit", side, None, True)), ([f"0x{side}"], Box("fit", None, side, True)))
        else:
            enlarges = not mode
            if self.chance(0.3):
                filters.append("no_upscale()")
                enlarges = False
            box = Box("fit" if mode else "fill", width, height, enlarges)
            if self.chance(0.3):
                words.append(self.pick("smart", "left/top", "right", "center/bottom", "middle"))
        if filters:
            words.append("filters:" + ":".join(filters))
        return mode + "/".join(words) + self.pick("/", "/", "/a/name.jpg"), box, suffix

    # Requests as bytes.

    def framed(self, body, dialect="imaginary"):
        """Fields and bytes of a body in one of the forms in which it may come."""
        how = self.random.choices(("length", "chunks", "form", "form in chunks"), (5, 3, 2, 1))[0]
        fields = []
        if "form" in how:
            fields, body = self.form(body, "file" if dialect == "imaginary" else self.pick("image", "file", "x"))
        if "chunks" in how:
            return [*fields, (b"Transfer-Encoding", b"chunked")], self.chunks(body)
        return [*fields, (b"Content-Length", b"%d" % len(body))], body

    def chunks(self, body):
        found, at = [], 0
        while at < len(body):
            size = self.pick(1, 7, 100, 4096, 20_000, 70_000) if len(found) < 40 else len(body)
            piece = body[at : at + size]
            found.append((self.pick(b"%x", b"%X", b"000%x") % len(piece)) + b"\r\n" + piece + b"\r\n")
            at += size
        return b"".join(found) + b"0\r\n\r\n"

    def form(self, body, name):
        boundary = self.pick(b"B", b"----WebKitFormBoundaryAbC0123456789", b"'()+_,-./:=?" + b"x" * 50)
        other = b"--%b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nnone\r\n" % boundary
        head = b'Content-Disposition: form-data; name="%b"; filename="a.jpg"\r\n' % name.encode()
        head += self.pick(b"", b"Content-Type: image/jpeg\r\n")
        parts = [b"--%b\r\n%b\r\n%b\r\n" % (boundary, head, body)]
        if self.chance(0.3):
            parts.insert(self.pick(0, 1), other)
        kind = b'multipart/form-data; boundary="%b"' % boundary
        return [(b"Content-Type", kind)], b"".join(parts) + b"--%b--\r\n" % boundary

    def request(self, picture):
        """The target, fields and body of a right request, and what is right for it."""
        dialect = self.pick(*DIALECTS)
        target, fields, wanted = self.preview(picture, dialect)
        more, body = self.framed(picture.data, dialect)
        return target, [*fields, *more], body, wanted

    def post(self, picture):
        """The bytes of a right request, and what is right for it."""
        target, fields, body, wanted = self.request(picture)
        return head("POST", target, [*fields, *self.identity()]) + body, wanted

    def identity(self):
        return [(b"X-Request-ID", b"id-%d" % self.random.randrange(10**6))] if self.chance(0.3) else []

    def small(self):
        return self.random.choice(self.pictures.small)

    def scrambled(self, data, words, most=3):
        """Some bytes changed, removed, doubled or inserted."""
        for _ in range(self.random.randrange(1, most + 1)):
            at, count = self.random.randrange(len(data) + 1), self.pick(1, 1, 2, 8, 40)
            new = self.pick(
                data[at : at + count] * 2, b"", self.random.choice(words), self.random.randbytes(1),
                bytes(byte ^ 1 << self.random.randrange(8) for byte in data[at : at + 1]))
            data = data[:at] + new + data[at + self.pick(0, count, len(new)) :]
        return data


def signature(path, digest="sha1", key=KEY):
    return base64.urlsafe_b64encode(hmac.digest(key, path.encode(), getattr(hashlib, digest))).decode()


def head(method, target, fields=(), version=b"HTTP/1.1"):
    lines = b"".join(b"%b: %b\r\n" % field for field in ((b"Host", b"a"), *fields))
    return b"%b %b %b\r\n%b\r\n" % (method.encode(), target.encode(), version, lines)


def listed(text):
    """The words of a text."""
    return text.split()


def sent(*data):
    return tuple(("send", each) for each in data)


def posted(target, fields, body):
    return sent(head("POST", target, fields) + body)
