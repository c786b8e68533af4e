"""Cases about pictures, and about what the two dialects say in parameters and paths."""

import json
import re
from dataclasses import replace
from urllib.parse import quote, quote_from_bytes

from serve_cases import Kinds, Picture, Wanted, listed, posted, sent, signature
from serve_server import KEY

KINDS = Kinds()


def _with_picture(make, picture, statuses):
    if make.chance(0.1):
        fields, body = make.framed(picture.data)
        statuses += (200,) if picture.is_impossible else ()  # only its head is read
        return f"info of {picture.name}", posted(make.opened("/info?"), fields, body), (Wanted(statuses),)
    data, wanted = make.post(picture)
    return picture.name, sent(data), (replace(wanted, statuses=statuses),)


@KINDS.kind("good pictures", 12)
def _(make):
    return _with_picture(make, make.random.choice(make.pictures.good), (200,))


@KINDS.kind("damaged JPEG", 12)
def _(make):
    return _with_picture(make, make.random.choice(make.pictures.jpegs), (200, 400, 406, 422))


@KINDS.kind("damaged other formats", 12)
def _(make):
    return _with_picture(make, make.random.choice(make.pictures.others), (200, 400, 406, 422))


@KINDS.kind("unusual pictures", 3)
def _(make):
    if make.pictures.is_sample:
        return None
    picture = make.random.choice(make.pictures.odd)
    return _with_picture(make, picture, (400, 406, 422) if picture.is_impossible else (200, 400, 406, 422))


@KINDS.kind("no pictures", 3)
def _(make):
    body = make.pick(
        b"", b"\0", b"\xff\xd8", b"\xff\xd8\xff", b"%PDF-1.4\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"{}",
        b"PK\3\4" + bytes(60), b"RIFF\xff\xff\xff\xffWEBPVP8 ", b"\0\0\0\x20ftypheic", b"GIF89a", bytes(70_000),
        b"\x89PNG\r\n\x1a\n", make.random.randbytes(make.pick(1, 3, 64, 5000)), b"\r\n" * 50, b"BM" + bytes(52))
    return _with_picture(make, Picture(f"{body[:12]!r} of {len(body)} bytes", body), (400, 406, 422))


# Values that numbers, words and colours are replaced by.
_VALUES = (
    *listed("""0 -1 -0 1.5 1e3 1e308 1e-400 nan inf -inf 0x10 ١٢ 65500 65501 99999999 +7 7;8 true TRUE yes null
    [] {} é 💡 300px orig 16384 2147483648 9223372036854775808 ../.. jpg gif tiff auto image/png 255,255,255
    256,0,0 1,2 1,2,3,4 a,b,c smart foo % %2525 '"<>"""),
    "", "1" * 400, " 7", "7 ", "\0", "\r\nX-A: b", "a" * 3000, "\u202e")
_NAMES = (
    *listed("""width height quality type interlace force stripmeta nocrop gravity background key norotation
    rotate blur sigma aspectratio top areawidth factor colorspace embed text url file operations Width width[]
    sign compression palette"""), "", "\0", "width\r\n")


@KINDS.kind("parameters", 8)
def _(make):
    name, values, _ = make.operation()
    pairs = list(values.items())
    for _ in range(make.pick(1, 1, 2, 3, 10)):
        pair = (make.random.choice(_NAMES), make.random.choice(_VALUES))
        pairs.insert(make.random.randrange(len(pairs) + 1), pair)
        if make.chance(0.3):
            pairs.pop(make.random.randrange(len(pairs)))
    query = make.pick("&", "&", "&", ";", "&&").join(f"{quote(name)}={quote(str(value))}" for name, value in pairs)
    fields, body = make.framed(make.small().data)
    return query[:200], posted(make.opened(f"/{name}?{query[:12_000]}"), fields, body), ()


def _odd_value(make):
    return make.random.choice((
        None, True, False, 0, -1, 300, 1.5, 1e300, 10**30, [], {}, [[]], {"width": 1}, [None] * 50,
        *make.random.sample(_VALUES, 8)))


def _changed(make, node):
    """A JSON value with one of its parts replaced, removed or doubled."""
    if isinstance(node, dict) and node and make.chance(0.8):
        name = make.random.choice(list(node))
        rest = {each: value for each, value in node.items() if each != name or make.chance(0.8)}
        return {**rest, make.pick(name, name, make.random.choice(_NAMES)): _changed(make, node[name])}
    if isinstance(node, list) and node and make.chance(0.8):
        at = make.random.randrange(len(node))
        new = make.pick([], [_changed(make, node[at])], [node[at]] * make.pick(2, 9, 10, 11), [_odd_value(make)])
        return node[:at] + new + node[at + make.pick(0, 1) :]
    return _odd_value(make)


def _operations(make):
    name, values, _ = make.operation()
    steps = [{"operation": name, "params": values}]
    more = ("autorotate", "rotate", "blur", "watermarkImage", "nothing", "Fit", "", "convert", "\0", "fit" * 50)
    for _ in range(make.pick(0, 0, 0, 0, 1, 2, 12)):
        steps.insert(0, {"operation": make.random.choice(more), "params": make.pick({}, {"type": "png"}, None)})
    for _ in range(make.pick(0, 1, 1, 1, 3)):
        steps = _changed(make, steps)
    text = json.dumps(steps, ensure_ascii=make.chance(0.5)).encode()
    words = (
        *rb"""[ ] { } " , : \u0000 \ud800 1e999 NaN // \ "operation":"fit",""".split(), b"\xff", b"\xef\xbb\xbf", b"\0",
        b"1" * 300)
    if make.chance(0.3):
        text = make.scrambled(text, words)
    if make.chance(0.05):
        opening, closing = make.pick((b"[", b"]"), (b'{"a":', b"}"), (b'[{"operation":"fit","params":', b"}]"))
        depth = 2000 // len(opening)
        text = opening * depth + make.pick(b"1", b"", text[:500]) + closing * make.pick(depth, 0)
    return text


@KINDS.kind("operations of a pipeline", 8)
def _(make):
    text = _operations(make)
    target = "/pipeline?operations=" + quote_from_bytes(text, safe=make.pick("", "[]{}:,'()*!"))
    fields, body = make.framed(make.small().data)
    return repr(text[:300]), posted(make.opened(target[:15_000]), fields, body), ()


_WORDS = (
    *listed("""fit-in stretch smart left right top bottom center middle trim trim:50 meta debug params
    full-fit-in adaptive-fit-in adaptive-full-fit-in 10x20:30x40 0.1x0.1:0.9x0.9 5x6 5x6:7x8 -30x-20 0x0 x 30x
    x20 origx10 30xorig 65500x1 65501x1 -x- 1x1x1 ٣x٣ .. . unsafe http://a/b.jpg filters filters: 30x20 30x20
    300x200 FIT-IN b64:YQ"""),
    "", "9" * 30 + "x1", "a" * 300)
_FILTERS = (
    *listed("""format(jpeg) format(gif) format() format format(jpeg format) quality(80) quality(-1) quality(1e2)
    quality(٩) quality() quality(999999999999999999999) blur(5) no_upscale() upscale() upscale(1) stretch()
    background_color(fff) background_color(white) background_color(auto) background_color(,) fill(red)
    rotate(90) watermark(http://a/b(c)/d.png,0,0,0) lossless() autojpg() strip_exif() strip_icc()
    proportion(0.5) () ( ) (( )) : ::: é(é) format(png): format(webp)/filters:quality(5) max_bytes(9)
    format(jpeg)quality(5) label(a/b) page(2) FORMAT(png)"""),
    "\0()", "a" * 200 + "()", "format(" * 300, "quality(80) ")


def _of_path(make, path):
    target, fields = make.sealed(quote(path, safe="/:()," + make.pick("", "!*'~")))
    more, body = make.framed(make.small().data, "imagor")
    return path[:300], posted(target[:15_000], [*fields, *more], body), ()


@KINDS.kind("paths of imagor", 8)
def _(make):
    words = [make.random.choice(_WORDS) for _ in range(make.pick(1, 2, 3, 5))]
    if make.chance(0.3):
        words.append("filters:" + make.random.choice(_FILTERS))
    path = make.pick("/", "/", "//").join(words) + make.pick("", "/", "/a.jpg")
    if make.chance(0.2):
        path = make.scrambled(path.encode(), (b"/", b"x", b"-", b":", b"(", b")", b"%")).decode(errors="replace")
    return _of_path(make, path)


@KINDS.kind("filters", 6)
def _(make):
    filters = [make.random.choice(_FILTERS) for _ in range(make.pick(1, 1, 1, 2, 3, 50))]
    path = f"{make.side()}x{make.side()}/filters:{':'.join(filters)}{make.pick('', '/', '/a.jpg')}"
    return _of_path(make, path)


@KINDS.kind("keys and signatures", 5)
def _(make):
    make.is_locked = make.chance(0.85)  # before the path is sealed
    path, *_ = make.imagor()
    fields, body = make.framed(make.small().data, "imagor")
    right = signature(path)
    other_seals = [signature(path, key=key) for key in (b"other", b"")]
    seal = make.pick(
        right[:-1], right + "=", right.upper(), right.swapcase(), *other_seals, signature("/" + path), "=" * 28, "",
        signature(f"unsafe/{path}"), "A" * len(right), right[: make.random.randrange(28)], "unsafe", f"unsafe/{right}",
        quote(right, safe="").replace("%3D", "%00"), f"{right}/{right}", signature(path, "sha256")[:-1])
    key = make.pick(None, b"", b"other", KEY[:-1], KEY + KEY, KEY + b"\xff")
    target, statuses = f"/{seal}/{path}", (403, 404)
    if make.chance(0.3):
        target = f"/fit?width=9&height=9&key={make.pick('', 'other', quote(KEY)[:-1], '%00', '%ff')}"
        statuses = (400, 401) if make.is_locked else (200, 400)
    elif make.chance(0.3):
        # The signature of another path.
        target = f"/{right}/{make.scrambled(path.encode(), (b'x', b'/', b'1')).hex()}"
    if target.startswith("/unsafe/") and not make.is_locked:
        statuses = (200,)
    key = [(b"API-Key", key)] if key is not None else []
    return target[:200], posted(target, [*key, *fields], body), (Wanted(statuses),)


_ESCAPES = listed(r"""% %% %2 %zz %00 %0d%0aX-A:%20b %0a %ff %c0%af %ed%a0%80 %f5%80%80%80 %2525 %25%32%66
    %u0041 + %2b %26 %3d %3f %23 # ? %E2%80%AE %2e%2e%2f \ %5c | ^ ` { }""")


@KINDS.kind("percent-encoding", 5)
def _(make):
    target, fields, body, wanted = make.request(make.small())
    if make.chance(0.4):
        # The same characters.
        begin = target.index("=") if "?" in target else target.index("/", 1)
        parts = re.findall(r"%..|.", target[begin + 1 :])
        tail = "".join(f"%{ord(each):02x}" if each.isalnum() and make.chance(0.2) else each for each in parts)
        return tail, posted(target[: begin + 1] + tail, fields, body), (wanted,)
    for _ in range(make.pick(1, 1, 3)):
        at = make.random.randrange(1, len(target) + 1)
        target = target[:at] + make.random.choice(_ESCAPES) + target[at:]
    return target[:200], posted(target, fields, body), ()
