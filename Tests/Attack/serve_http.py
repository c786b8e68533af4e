"""Cases about HTTP itself: methods, fields, bodies, pieces, and limits."""

import others
from serve_cases import HEALTHY, Kinds, Wanted, head, listed, posted, sent
from serve_server import MOST_BYTES, MOST_PIXELS, PATIENCE

KINDS = Kinds()

_METHODS = (
    *listed("GET HEAD PUT DELETE OPTIONS TRACE PATCH POST CONNECT post BREW G PROPFIND M-SEARCH SOURCE PRI"), "P" * 300)
_TARGETS = (
    *listed("""/ /health /info /form // * /? /fit /fit/ /FIT?width=1&height=1 /health/ /health?x=y /unsafe
    /unsafe/ /unsafe// //unsafe/8x8/ /../fit /fit/../health http://a/health http://b/
    https://a/fit?width=8&height=8 http:// http:///health http://a:99999/ a:80 /fit?width /fit?=8 /metrics
    /status /index.html /.env /%2e%2e/%2e%2e/etc/passwd /fit?width=8&height=8&url=http://127.0.0.1:1/
    /fit?width=8&height=8&file=/etc/passwd /unsafe/8x8/http://127.0.0.1:1/a"""),
    "", "/" + "x" * 5000, "/fit?" + "&" * 70, "/fit?" + "width=8&" * 70)
_VERSIONS = (
    *[b"HTTP/1.1"] * 20, *[b"HTTP/1.0"] * 3, *b"HTTP/2.0 HTTP/0.9 HTTP/1.2 http/1.1 HTTP/1".split(), b"HTTP/1.1 ")


@KINDS.kind("methods and targets", 6)
def _(make):
    target, fields, _ = make.preview(picture := make.small())
    method, target = make.random.choice(_METHODS), make.pick(target, make.random.choice(_TARGETS))
    body = picture.data if method not in ("GET", "HEAD") or make.chance(0.2) else b""
    more = [(b"Content-Length", b"%d" % len(body))] if body or make.chance(0.3) else []
    data = head(method, target, [*fields, *more], make.random.choice(_VERSIONS))
    return f"{method} {target}"[:200], sent(data + body), ()


_LINES = (
    *rb"""X-Request-ID: ok-1
X-Request-ID:
X-Request-ID: a b
X-Request-ID: "
X-Request-ID: <script>
X-Request-ID: %0d%0a
x-request-id: low
Host: b
Host: a
Host:
Host: a, b
Origin: http://other.example
Origin: null
Sec-Fetch-Site: cross-site
Sec-Fetch-Site: same-origin
API-Key: x
API-Key:
Accept: image/webp
Accept: */*;q=x,,,;
Content-Type: multipart/form-data
Content-Type: multipart/form-data; boundary=
Content-Type: multipart/mixed; boundary=x
Content-Type: image/jpeg; charset=utf-8
Connection: close
Connection: keep-alive
Connection: Upgrade
Connection: close, Upgrade
Connection: X-Request-ID
Upgrade: websocket
HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA
Transfer-Encoding: identity
Transfer-Encoding: gzip, chunked
Transfer-Encoding: chunked, chunked
Transfer-Encoding : chunked
Transfer-Encoding: xchunked
TE: trailers
Content-Encoding: gzip
Content-Length: 5
Content-Length:
Expect: 100-continue
Expect: 100-CONTINUE
Expect: other
Range: bytes=0-1
If-None-Match: *
Authorization: Bearer x
X-Forwarded-For: 1.2.3.4
Trailer: Content-Length
Keep-Alive: timeout=0
Proxy-Connection: close
X-HTTP-Method-Override: DELETE
Content-Disposition: attachment
A
:
: a
A b: c
 A: b
	A: b
(A): b""".splitlines(),
    b"Connection: Upgrade\r\nUpgrade: h2c", b"X-Request-ID: " + b"i" * 128, b"X-Request-ID: " + b"i" * 129,
    b"X-Request-ID: \xc3\xa9", b"X-Request-ID: a\rX-A: b", b"X-Request-ID: a\nX-A: b", b"X-Request-ID: a\0b",
    b"Host: \xff", b"Sec-Fetch-Site: \xff", b"Content-Type: \xff", b"Accept: " + b"image/png," * 500,
    b"Content-Type: multipart/form-data; boundary=" + b"b" * 71, b"Cookie: " + b"c" * 3000, b"A: b\r\n c", b"A:\tb",
    b"A: \x01", b"A: \x7f", b"A\0: b", b"\xff: a", b"A: b\rC: d", b"A: b\nC: d", b"A: " + b"a" * 9000,
    b"A" * 9000 + b": a")


@KINDS.kind("fields", 9)
def _(make):
    target, fields, body, _ = make.request(make.small())
    host = [(b"Host", b"a")] * make.pick(1, 1, 1, 1, 0)
    lines = [b"%b: %b" % field for field in [*host, *fields]]
    chosen = [make.random.choice(_LINES) for _ in range(make.pick(1, 1, 2, 3))]
    chosen *= make.random.choices((1, 2, 60), (20, 2, 1))[0]
    for line in chosen:
        lines.insert(make.random.randrange(len(lines) + 1), line)
    data = b"POST " + target.encode() + b" HTTP/1.1\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body
    return repr(b", ".join(chosen))[:200], sent(data), ()


@KINDS.kind("chunks", 6)
def _(make):
    target, fields, wanted = make.preview(picture := make.small(), "imaginary")
    body = picture.data
    size, half = len(body), len(body) // 2
    first, end = b"%x\r\n%b\r\n" % (size, body), b"0\r\n\r\n"
    right = (
        first + end, first + b"000\r\n\r\n", first + b"0\r\nX-A: b\r\nX-C: d\r\n\r\n", make.chunks(body),
        b"%x;a=b\r\n%b\r\n" % (size, body) + end, b"%x;a=\"b\"\r\n%b\r\n" % (size, body) + end,
        b"%x\r\n%b\r\n%x\r\n%b\r\n" % (half, body[:half], size - half, body[half:]) + end)
    wrong = (
        first[:-2] + end, first, first + end[:-2], first.replace(b"\r\n", b"\n") + b"0\n\n", b"-" + first + end,
        b"0x" + first + end, b" " + first + end, b"%x \r\n%b\r\n" % (size, body) + end, b"f" * 16 + b"\r\n" + body,
        b"1" + b"0" * 16 + b"\r\n" + body, b"\r\n" + body, b"z\r\n" + body, b"1\r\n" * 9000,
        b"%x\r\n%b\r\n" % (size + 1, body) + end, b"%x\r\n%b\r\n" % (size - 1, body) + end,
        b"%x;%b\r\n%b\r\n" % (size, b"x" * 20_000, body) + end, first + b"0\r\n" + b"X: y\r\n" * 3000 + b"\r\n",
        first + b"0\r\nContent-Length: 5\r\n\r\n", first + b"0\r\n: \r\n\r\n",
        make.scrambled(make.chunks(body), (b"\r\n", end, b"ffff\r\n"), 2))
    is_right = make.chance(0.4)
    data = make.random.choice(right if is_right else wrong)
    fields = [*fields, (b"Transfer-Encoding", b"chunked"), *make.identity()]
    return repr(data[-40:]), posted(target, fields, data), (wanted,) if is_right else ()


@KINDS.kind("forms", 7)
def _(make):
    target, fields, _ = make.preview(picture := make.small())
    more, body = make.form(picture.data, make.pick("file", "file", "image", "other", ""))
    words = (
        *b"-- --B --B-- \" name= filename*=utf-8''a".split(), b"\r\n", b"\r\n--B\r\n", b"; ", b"\0", b"\n", b"x" * 9000,
        b'Content-Disposition: form-data; name="file"; filename="b"\r\n\r\n', b"Content-Transfer-Encoding: base64\r\n")
    at = body.index(picture.data)
    before, after = body[:at], body[at + len(picture.data) :]
    way = make.random.randrange(6)
    if way < 3:
        before = make.scrambled(before, words) if way != 1 else before
        after = make.scrambled(after, words) if way != 0 else after
    elif way == 3:
        before = make.pick(b"preamble\r\n", b"\r\n", b"x" * 100_000 + b"\r\n", b"--B\r\n" * 500) + before
    elif way == 4:
        after = make.pick(b"", after[:-4], after[:-2], after + b"epilogue" * 999, after * 2)
    else:
        name, value = more[0]
        more = [(name, make.scrambled(value, (b'"', b";", b"boundary=", b" ", b"B")).translate(None, b"\r\n\0"))]
    body = before + picture.data + after
    how = f"{more[0][1][:60]!r} {before[:80]!r} … {after[:40]!r}"
    fields += [*more, (b"Content-Length", b"%d" % len(body)), *make.identity()]
    return how, posted(target, fields, body), ()


@KINDS.kind("lengths", 5)
def _(make):
    target, fields, _ = make.preview(picture := make.small())
    size = len(picture.data)
    numbers = [b"%d" % number for number in (size - 1, size + 1, size // 2, size * 2, 0, -1)]
    forms = b"+%d|%d |0%d|0x%d|%d.0|%d;x|%d\r\nTransfer-Encoding: chunked".split(b"|")
    pairs = b"%d, %d|%d,%d|%d\r\nContent-Length: %d".split(b"|")
    value = make.pick(
        *numbers, *(form % size for form in forms), *(pair % (size, size + make.pick(0, 1)) for pair in pairs), b"",
        b"1e3", b"9" * 25, b"18446744073709551616", b"9223372036854775807", b"chunked", b"\xd9\xa3")
    return repr(value), posted(target, [*fields, (b"Content-Length", value)], picture.data), ()


@KINDS.kind("Expect", 4)
def _(make):
    target, fields, body, wanted = make.request(make.random.choice(make.pictures.good))
    if make.chance(0.3):
        target, status = make.pick(("/nothing", 404), (make.opened("/rotate?rotate=90"), 501))
        wanted = Wanted((status,))
    first = head("POST", target, [*fields, (b"Expect", make.pick(b"100-continue", b"100-Continue"))])
    # A client that heeds the answer sends no body after an error. Others send it anyway, at once or after a while.
    steps = make.pick((("continue", True),), (("continue", False),), (), (("wait", 0.05),))
    more = (head("GET", "/health"),) if make.chance(0.2) else ()
    return f"{target[:150]} {steps}", (*sent(first), *steps, *sent(body, *more)), (wanted,)


@KINDS.kind("pipelining", 4)
def _(make):
    choices = (
        lambda: (head("GET", "/health", make.identity()), HEALTHY), lambda: (head("HEAD", "/health"), HEALTHY),
        lambda: (head(make.pick("GET", "HEAD"), "/nothing"), Wanted((404,))),
        *[lambda: make.post(make.random.choice(make.pictures.good))] * 2)
    requests = [make.random.choice(choices)() for _ in range(make.pick(2, 3, 6))]
    data, wanted = zip(*requests, strict=True)
    return f"{len(data)} requests", sent(b"".join(data)) if make.chance(0.6) else sent(*data), wanted


@KINDS.kind("last requests", 3)
def _(make):
    # What comes after them must not be answered.
    after = head("GET", "/health")
    if make.chance(0.2):
        return "CONNECT", sent(head("CONNECT", "a:80") + after), (Wanted((400, 404, 405)),)
    target, fields, wanted = make.preview(picture := make.small())
    field = make.pick(
        (b"Upgrade", b"h2c\r\nConnection: Upgrade"), (b"Upgrade", b"websocket"), (b"Connection", b"close"),
        (b"Expect", b"other"), None)
    if field == (b"Expect", b"other"):
        wanted = Wanted((417,))
    fields += [(b"Content-Length", b"%d" % len(picture.data)), *([field] if field else ())]
    data = head("POST", target, fields, b"HTTP/1.1" if field else b"HTTP/1.0") + picture.data
    return f"{field or 'HTTP/1.0'}", sent(data + after), (wanted,)


@KINDS.kind("clients that leave", 6)
def _(make):
    data, _ = make.post(make.random.choice(make.pictures.good))
    at = len(data) if make.chance(0.4) else make.random.randrange(1, len(data))
    pause = make.pick(0, 0, 0.001, 0.01, 0.1)
    how = make.pick("half-close", "leave", "reset")
    return f"{how} after {at} of {len(data)} bytes and {pause} s", (*sent(data[:at]), ("wait", pause), (how,)), ()


@KINDS.kind("requests in pieces", 3)
def _(make):
    data, wanted = make.post(make.small())
    places = sorted(make.random.randrange(len(data)) for _ in range(make.pick(1, 2, 5, 30)))
    pieces = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    steps = [step for piece in pieces for step in (("send", piece), ("wait", make.pick(0, 0.001, 0.01)))]
    return f"cut at {places[:9]}", tuple(steps), (wanted,)


@KINDS.kind("clients that stall", 0.3)
def _(make):
    if make.pictures.is_sample:
        return None
    if make.chance(0.2):
        noise = next(picture for picture in make.pictures.good if picture.name.startswith("baseline-noise"))
        target, fields = make.sealed("999x999/filters:format(png)/")
        request = head("POST", target, [*fields, (b"Content-Length", b"%d" % len(noise.data))]) + noise.data
        return "reads nothing", (*sent(request * 6), ("deaf",)), ()
    data, _ = make.post(make.small())
    end = data.index(b"\r\n\r\n") + 4
    at = make.pick(make.random.randrange(1, end), make.random.randrange(end, len(data) - 9))
    if make.chance(0.3):
        trickle = [step for byte in data[at : at + 8] for step in (("send", bytes([byte])), ("wait", 1))]
        return f"slowly after byte {at}", (*sent(data[:at]), *trickle, ("answer", PATIENCE)), (Wanted((408,)),)
    return f"silent after byte {at}", (*sent(data[:at]), ("answer", PATIENCE)), (Wanted((408,)),)


@KINDS.kind("limits", 3)
def _(make):
    picture = make.small()
    target, fields, _ = make.preview(picture, "imaginary")
    way = make.random.randrange(6)
    if way == 0:
        length = make.pick(MOST_BYTES + 1, 1 << 40, 10**30)
        more, steps = make.pick(([], ()), ([(b"Expect", b"100-continue")], (("continue", True),)))
        begin = sent(head("POST", target, [*fields, (b"Content-Length", b"%d" % length), *more]))
        return f"length {length}", (*begin, *steps, ("answer", 5), ("half-close",)), (
            Wanted((413,) if length < 1 << 63 else (400, 413)),)
    if way == 1:
        body = make.chunks(picture.data + bytes(MOST_BYTES))
        fields.append((b"Transfer-Encoding", b"chunked"))
        return "too many bytes in chunks", posted(target, fields, body), (Wanted((413,)),)
    if way == 2:
        body = picture.data + bytes(MOST_BYTES - len(picture.data) + make.pick(0, 1))
        fields.append((b"Content-Length", b"%d" % len(body)))
        return f"{len(body)} bytes", posted(target, fields, body), (
            Wanted((413,) if len(body) > MOST_BYTES else (200, 400)),)
    if way == 3:
        sides = make.pick((60_000, 60_000), (MOST_PIXELS, 2), (4001, 4001))
        more, body = make.framed(others.pngs.file(others.pngs.header(*sides, 0, 1), b"", bytes(make.pick(9, 100_000))))
        return f"{sides} pixels", posted(target, [*fields, *more], body), (Wanted((400, 422)),)
    if way == 4:
        sizes = ("65500x65500/", "65500x/", "x65500/", "fit-in/65500x65500/filters:upscale()/")
        target, fields = make.sealed(make.random.choice(sizes))
        more, body = make.framed(picture.data, "imagor")
        return target, posted(target, [*fields, *more], body), (Wanted((200, 400, 422)),)
    part = b'--B\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    body = part % (b"note", bytes(make.pick(1, 2) << 20)) + part % (b"file", picture.data) + b"--B--"
    fields += [(b"Content-Type", b"multipart/form-data; boundary=B"), (b"Transfer-Encoding", b"chunked")]
    return f"a form with {len(body)} bytes", posted(target, fields, make.chunks(body)), (Wanted((413,)),)


@KINDS.kind("long heads", 1)
def _(make):
    if make.chance(0.5):
        count = make.pick(50, 61, 65, 400)
        fields = [(b"X-%d" % number, b"y" * make.pick(1, 50)) for number in range(count)]
        return f"{count} fields", sent(head("GET", "/health", fields)), ()
    size = make.pick(15_000, 16_000, 16_384, 17_000, 40_000)
    long_field, long_target = head("GET", "/health", [(b"X", b"x" * size)]), head("GET", "/health?" + "x" * size)
    return f"a head of {size} bytes", sent(make.pick(long_field, long_target, b"\r\n" * size)), ()


@KINDS.kind("bytes of the head changed", 10)
def _(make):
    data, _ = make.post(make.small())
    if make.chance(0.2):
        data = head("GET", make.pick("/health", "/", "/nothing"), make.identity())
    end = data.index(b"\r\n\r\n") + 4
    lines = b"Content-Length: 1|Host: b|Transfer-Encoding: chunked|Expect: 100-continue|Connection: close".split(b"|")
    words = (
        *b": , % HTTP/1.1 chunked".split(), *(line + b"\r\n" for line in lines), b"\r\n", b"\r\n\r\n", b"\r", b"\n",
        b" ", b"\0", b"\xff", b"\t", b"x" * 999, head("GET", "/health"))
    first = make.scrambled(data[:end], words)
    return repr(first[:200]), sent(first + data[end:]), ()
