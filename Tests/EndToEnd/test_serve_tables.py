"""The two dialects of `thumbjob serve` as tables: requests that clients of imaginary and imagor may send, and answers.

The pictures have the size of the one in imaginary's own tests, 1920 × 1080. Where a row differs from the other server,
its table quotes the sentence of docs/serve.md that tells so.
"""

import io
import json
import tempfile
from contextlib import contextmanager
from urllib.parse import quote

import pytest
import requests
from PIL import Image

from server import Server
from test_serve import checked, in_format

SIZE = (1920, 1080)
KEY = "MY_SECURE_KEY"


@contextmanager
def server(*arguments, **variables):
    with tempfile.TemporaryDirectory(prefix="thumbjob-test-") as folder:
        started = Server(folder, "--limit-pixels", "8M", *arguments, **variables)
        try:
            yield started
        finally:
            started.end()


@pytest.fixture(scope="module")
def open_server():
    with server() as started:
        yield started


@pytest.fixture(scope="module")
def locked_server():
    with server(THUMBJOB_KEY=KEY) as started:
        yield started


@pytest.fixture(scope="module")
def picture():
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize(SIZE).convert("RGB").save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def pipeline(*steps):
    """The request of a pipeline. Each step is an operation and its parameters."""
    return asked([{"operation": name, "params": params} for name, params in steps])


def asked(value):
    return f"POST /pipeline?operations={quote(value if isinstance(value, str) else json.dumps(value))}"


def check(server, request, status, size, kind, body, **headers):
    """Sends a request, and compares the answer with its row. The type `json` has no size."""
    method, target = request.split(" ", 1)
    answer = requests.request(method, server.url + target, data=body, headers=headers, timeout=60)
    assert answer.status_code == status, answer.text[:200]
    if kind == "json":
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json()
    elif status == 200:
        checked(answer, kind, size)
    else:
        assert set(answer.json()) == {"message", "status"}
        assert answer.json()["status"] == status
        assert "Image-Width" not in answer.headers


# MARK: imaginary

IGNORING = [{"operation": "flip", "ignore_failure": True}, {"operation": "fit", "params": {"width": 96, "height": 96}}]
# Request, status, size and type.
IMAGINARY = [
    # Routes and methods.
    ("GET /", 200, None, "json"),
    ("GET /health", 200, None, "json"),
    ("GET /nothing", 404, None, None),
    ("POST /nothing", 404, None, None),
    ("POST /info", 200, None, "json"),
    ("GET /crop?width=300", 405, None, None),
    ("GET /info", 405, None, None),
    ("GET /pipeline", 405, None, None),
    ("PUT /crop?width=300", 405, None, None),
    ("DELETE /fit?width=300&height=300", 405, None, None),
    ("PATCH /health", 405, None, None),
    # "Nothing is fetched."
    ("GET /resize?width=200&height=200&url=http://127.0.0.1/large.jpg", 405, None, None),
    ("GET /resize?width=200&height=200&file=large.jpg", 405, None, None),
    ("POST /resize?width=192&file=other.jpg", 200, (192, 108), "jpeg"),
    ("POST /resize?width=192&url=http://127.0.0.1/other.jpg", 200, (192, 108), "jpeg"),
    # /crop
    ("POST /crop?width=300", 200, (300, 1080), "jpeg"),
    ("POST /crop?height=300", 200, (1920, 300), "jpeg"),
    ("POST /crop?width=300&height=260", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=north", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=south", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=east", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=west", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=centre", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&gravity=smart", 200, (300, 260), "jpeg"),
    ("POST /crop?width=300&height=260&quality=95", 200, (300, 260), "jpeg"),
    ("POST /crop?width=3000", 200, SIZE, "jpeg"),
    # "What is smaller than its box is cropped to the box's shape."
    ("POST /crop?width=3000&height=2000", 200, (1620, 1080), "jpeg"),
    ("POST /crop", 400, None, None),
    ("POST /crop?width=0", 400, None, None),
    ("POST /crop?width=&height=", 400, None, None),
    # /smartcrop
    ("POST /smartcrop?width=300&height=260", 200, (300, 260), "jpeg"),
    ("POST /smartcrop?width=300", 200, (300, 1080), "jpeg"),
    ("POST /smartcrop?height=300", 200, (1920, 300), "jpeg"),
    ("POST /smartcrop", 400, None, None),
    # /resize
    ("POST /resize?width=320", 200, (320, 180), "jpeg"),
    ("POST /resize?height=270", 200, (480, 270), "jpeg"),
    ("POST /resize?width=300&nocrop=false", 200, (300, 1080), "jpeg"),
    ("POST /resize?width=320&nocrop=true", 200, (320, 180), "jpeg"),
    ("POST /resize?width=300&height=200&nocrop=false", 200, (300, 200), "jpeg"),
    ("POST /resize?width=300&height=200&force=true", 200, (300, 200), "jpeg"),
    # "/resize with both sides fits into the box, and does not pad it."
    ("POST /resize?width=320&height=300", 200, (320, 180), "jpeg"),
    ("POST /resize", 400, None, None),
    ("POST /resize?type=png", 400, None, None),
    # /thumbnail
    ("POST /thumbnail?width=96", 200, (96, 54), "jpeg"),
    ("POST /thumbnail?height=54", 200, (96, 54), "jpeg"),
    ("POST /thumbnail?width=96&height=96", 200, (96, 54), "jpeg"),
    ("POST /thumbnail", 400, None, None),
    # /fit
    ("POST /fit?width=300&height=300", 200, (300, 169), "jpeg"),
    ("POST /fit?width=640&height=90", 200, (160, 90), "jpeg"),
    ("POST /fit?width=4000&height=4000", 200, SIZE, "jpeg"),
    ("POST /fit?width=300", 400, None, None),
    ("POST /fit?height=300", 400, None, None),
    ("POST /fit?width=300&height=0", 400, None, None),
    # /enlarge
    ("POST /enlarge?width=300&height=200", 200, (300, 200), "jpeg"),
    ("POST /enlarge?width=2400&height=1350", 200, (2400, 1350), "jpeg"),
    ("POST /enlarge?width=2000&height=2000", 200, (2000, 2000), "jpeg"),
    ("POST /enlarge?width=300", 400, None, None),
    # /convert and types.
    ("POST /convert?type=png", 200, SIZE, "png"),
    ("POST /convert?type=jpeg", 200, SIZE, "jpeg"),
    ("POST /convert?type=webp", 200, SIZE, "webp"),
    ("POST /convert", 400, None, None),
    ("POST /convert?type=", 200, SIZE, "jpeg"),  # there, an empty type is none
    ("POST /convert?type=nothing", 400, None, None),
    ("POST /fit?width=96&height=96&type=png", 200, (96, 54), "png"),
    ("POST /fit?width=96&height=96&type=webp", 200, (96, 54), "webp"),
    ("POST /fit?width=96&height=96&type=avif", 200, (96, 54), "avif"),
    ("POST /fit?width=96&height=96&type=JPEG", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&type=", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&type=nothing", 400, None, None),
    # Numbers, words and colours.
    ("POST /fit?width=0096&height=96", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96.02&height=96", 200, (96, 54), "jpeg"),
    ("POST /fit?width=95.9&height=96", 200, (96, 54), "jpeg"),
    ("POST /fit?width=9.6e1&height=96", 200, (96, 54), "jpeg"),
    ("POST /fit?width=a&height=96", 400, None, None),
    ("POST /fit?width=96px&height=96", 400, None, None),
    ("POST /fit?width=1e300&height=96", 400, None, None),
    ("POST /fit?width=96&height=96&quality=0", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&quality=100", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&quality=a", 400, None, None),
    ("POST /fit?width=96&height=96&stripmeta=true&norotation=1&interlace=T", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&stripmeta=yes", 400, None, None),
    ("POST /fit?width=96&height=96&interlace=2", 400, None, None),
    ("POST /fit?width=96&height=96&background=255,10,20", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&background=255,%2010,%2020", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&unknown=x&noprofile=true&compression=6", 200, (96, 54), "jpeg"),
    ("POST /fit?width=96&height=96&rotate=0&flip=false&blur=", 200, (96, 54), "jpeg"),
    ("POST /fit?width=-96&height=96", 400, None, None),  # there, a negative number is its amount
    ("POST /crop?width=96&height=96&gravity=foo", 400, None, None),  # there, an unknown gravity is the centre
    ("POST /fit?width=96&height=96&background=0,280,200", 400, None, None),  # there, a wrong colour is black or 255
    ("POST /fit?width=96&height=96&colorspace=srgb", 501, None, None),  # there, the colour space is sRGB anyway
    ("POST /fit?width=96&height=96&width=48", 200, (48, 27), "jpeg"),  # there, the first of two values counts
    # "Operations and filters that turn, blur or write on them get 501 instead of being left out."
    ("POST /extract?top=100&left=100&areawidth=200&areaheight=120", 501, None, None),
    ("POST /rotate?rotate=180", 501, None, None),
    ("POST /flip", 501, None, None),
    ("POST /flop", 501, None, None),
    ("POST /zoom?factor=2", 501, None, None),
    ("POST /blur?sigma=15.0&minampl=0.2", 501, None, None),
    ("POST /watermark?text=Hello", 501, None, None),
    ("POST /watermarkimage?image=http://127.0.0.1/", 501, None, None),
    ("POST /fit?width=96&height=96&rotate=90", 501, None, None),
    ("POST /resize?width=400&height=300&colorspace=bw", 501, None, None),
    ("POST /fit?width=96&height=96&sigma=2", 501, None, None),
    # "A picture is always turned as its EXIF orientation says."
    ("POST /autorotate", 200, SIZE, "jpeg"),
    ("POST /autorotate?quality=90", 200, SIZE, "jpeg"),
    # /pipeline
    (pipeline(("crop", {"width": 300, "height": 260}), ("convert", {"type": "webp"})), 200, (300, 260), "webp"),
    (pipeline(("convert", {"type": "png"}), ("fit", {"width": 96, "height": 96})), 200, (96, 54), "png"),
    (pipeline(("fit", {"width": 96, "height": "96"})), 200, (96, 54), "jpeg"),
    (pipeline(("fit", {"width": "96", "height": "96.4", "quality": "80"})), 200, (96, 54), "jpeg"),
    (pipeline(("fit", {"width": 96.0, "height": 96, "stripmeta": True})), 200, (96, 54), "jpeg"),
    (pipeline(("fit", {"width": 96, "height": 96, "stripmeta": "true"})), 200, (96, 54), "jpeg"),
    (pipeline(("smartcrop", {"width": 96, "height": 96, "type": "jpeg"})), 200, (96, 96), "jpeg"),
    (pipeline(("resize", {"width": 320})), 200, (320, 180), "jpeg"),
    (pipeline(("thumbnail", {"height": "54"})), 200, (96, 54), "jpeg"),
    (pipeline(("enlarge", {"width": 2000, "height": 1000})), 200, (2000, 1000), "jpeg"),
    (asked([{"operation": "autorotate"}]), 200, SIZE, "jpeg"),
    (asked([{"operation": "autorotate"}, {"operation": "crop", "params": {"width": 300}}]), 200, (300, 1080), "jpeg"),
    (pipeline(("fit", {"width": "a", "height": 96})), 400, None, None),
    (pipeline(("fit", {"width": True, "height": 96})), 400, None, None),
    (pipeline(("fit", {"width": None, "height": 96})), 400, None, None),
    (pipeline(("fit", {"width": [96], "height": 96})), 400, None, None),
    (pipeline(("fit", {"width": 96, "height": 96, "stripmeta": 1})), 400, None, None),
    (pipeline(("fit", {"width": 96, "height": 96, "type": 7})), 400, None, None),
    (pipeline(("fit", {"width": 96})), 400, None, None),
    (pipeline(("nothing", {})), 400, None, None),
    (pipeline(("info", {})), 400, None, None),
    (pipeline(("convert", {})), 400, None, None),
    (pipeline(*[("autorotate", {})] * 10), 200, SIZE, "jpeg"),
    (pipeline(*[("autorotate", {})] * 11), 400, None, None),
    (asked([]), 400, None, None),
    (asked([{}]), 400, None, None),
    (asked({"operation": "fit"}), 400, None, None),
    (asked("["), 400, None, None),
    (asked(""), 400, None, None),
    ("POST /pipeline", 400, None, None),
    (asked([{"operation": "fit", "params": []}]), 400, None, None),
    (pipeline(("rotate", {"rotate": 90})), 501, None, None),
    (pipeline(("watermarkImage", {"image": "http://127.0.0.1/"})), 501, None, None),
    # "up to ten of these, of which one changes the size"
    (pipeline(("crop", {"width": 300}), ("fit", {"width": 96, "height": 96})), 501, None, None),
    (asked(IGNORING), 501, None, None),  # there, a failure may be ignored
]


@pytest.mark.parametrize("request_line, status, size, kind", IMAGINARY)
def test_imaginarys_requests(open_server, picture, request_line, status, size, kind):
    check(open_server, request_line, status, size, kind, picture)


# The Accept field of a request with `type=auto`, and the type of the preview.
ACCEPTED = [
    ("", "jpeg"),
    ("*/*", "jpeg"),
    ("image/webp,*/*", "webp"),
    ("image/png,*/*", "png"),
    ("image/webp;q=0.8,image/jpeg", "webp"),
    ("image/jpeg,image/webp", "jpeg"),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,image/apng,*/*;q=0.8", "webp"),
]


@pytest.mark.parametrize("accept, kind", ACCEPTED)
def test_the_type_follows_what_is_accepted(open_server, picture, accept, kind):
    check(open_server, "POST /crop?width=300&type=auto", 200, (300, 1080), kind, picture, Accept=accept)


# The format of a picture, what /info calls it, and the type of its preview if none is asked for. "PNG for PNG and GIF,
# WebP and AVIF for themselves, and JPEG for all others."
FORMATS = [
    ("JPEG", "jpeg", "jpeg"),
    ("PNG", "png", "png"),
    ("GIF", "gif", "png"),
    ("WEBP", "webp", "webp"),
    ("AVIF", "avif", "avif"),
    ("TIFF", "tiff", "jpeg"),
    ("BMP", "bmp", "jpeg"),
]


@pytest.mark.parametrize("source, name, kind", FORMATS)
def test_a_picture_has_its_type(open_server, picture, source, name, kind):
    body = in_format(picture, source)
    check(open_server, "POST /fit?width=96&height=96", 200, (96, 54), kind, body)
    check(open_server, "POST /unsafe/fit-in/96x96/", 200, (96, 54), kind, body)
    told = requests.post(f"{open_server.url}/info", data=body, timeout=60).json()
    assert told == {"width": SIZE[0], "height": SIZE[1], "type": name, "orientation": 1}


# MARK: imagor

# Path, status, size and type.
IMAGOR = [
    # Sizes.
    ("/unsafe/300x200/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200", 200, (300, 200), "jpeg"),
    ("/unsafe/320x/", 200, (320, 180), "jpeg"),
    ("/unsafe/320x0/", 200, (320, 180), "jpeg"),
    ("/unsafe/x270/", 200, (480, 270), "jpeg"),
    ("/unsafe/0x270/", 200, (480, 270), "jpeg"),
    ("/unsafe/2400x/", 200, (2400, 1350), "jpeg"),
    ("/unsafe/2400x1350/", 200, (2400, 1350), "jpeg"),
    ("/unsafe/0x0/", 200, SIZE, "jpeg"),
    ("/unsafe/x/", 200, SIZE, "jpeg"),
    ("/unsafe/", 200, SIZE, "jpeg"),
    ("/unsafe/949x1000/", 200, (949, 1000), "jpeg"),
    ("/unsafe/1000x1000/", 200, (1000, 1000), "jpeg"),
    ("/unsafe/0300x0200/", 200, (300, 200), "jpeg"),
    ("/unsafe/99999x99999/", 400, None, None),
    # More pixels than --limit-pixels.
    ("/unsafe/10000x10000/", 422, None, None),
    # fit-in and stretch.
    ("/unsafe/fit-in/300x300/", 200, (300, 169), "jpeg"),
    ("/unsafe/fit-in/320x0/", 200, (320, 180), "jpeg"),
    ("/unsafe/fit-in/320x/", 200, (320, 180), "jpeg"),
    ("/unsafe/fit-in/0x270/", 200, (480, 270), "jpeg"),
    ("/unsafe/fit-in/x270/", 200, (480, 270), "jpeg"),
    ("/unsafe/fit-in/0x0/", 200, SIZE, "jpeg"),
    ("/unsafe/fit-in/4000x4000/", 200, SIZE, "jpeg"),
    ("/unsafe/fit-in/2400x2400/filters:upscale()/", 200, (2400, 1350), "jpeg"),
    ("/unsafe/fit-in/4000x4000/filters:no_upscale()/", 200, SIZE, "jpeg"),
    ("/unsafe/stretch/300x300/", 200, (300, 300), "jpeg"),
    ("/unsafe/stretch/2400x100/", 200, (2400, 100), "jpeg"),
    ("/unsafe/300x300/filters:stretch()/", 200, (300, 300), "jpeg"),
    ("/unsafe/2400x/filters:no_upscale()/", 200, SIZE, "jpeg"),
    ("/unsafe/2400x1350/filters:no_upscale()/", 200, SIZE, "jpeg"),
    # "What is smaller than its box is cropped to the box's shape."
    ("/unsafe/2000x2000/filters:no_upscale()/", 200, (1080, 1080), "jpeg"),
    # The part that is shown.
    ("/unsafe/300x200/smart/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/left/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/right/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/top/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/bottom/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/left/top/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/center/middle/", 200, (300, 200), "jpeg"),
    ("/unsafe/300x200/right/bottom/smart/", 200, (300, 200), "jpeg"),
    ("/unsafe/fit-in/320x320/left/top/", 200, (320, 180), "jpeg"),
    # Filters.
    ("/unsafe/96x54/filters:format(jpeg)/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:format(jpg)/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:format(png)/", 200, (96, 54), "png"),
    ("/unsafe/96x54/filters:format(webp)/", 200, (96, 54), "webp"),
    ("/unsafe/96x54/filters:format(avif)/", 200, (96, 54), "avif"),
    ("/unsafe/96x54/filters:format(png):format(webp)/", 200, (96, 54), "webp"),
    ("/unsafe/96x54/filters:autojpg()/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:quality(40)/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:quality(0)/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:quality(40):format(webp):background_color(ffffff)/", 200, (96, 54), "webp"),
    ("/unsafe/96x54/filters:format(webp):lossless()/", 200, (96, 54), "webp"),
    ("/unsafe/96x54/filters:strip_exif():strip_icc():strip_metadata()/", 200, (96, 54), "jpeg"),
    ("/unsafe/fit-in/96x96/filters:format(png):no_upscale()/", 200, (96, 54), "png"),
    ("/unsafe/filters:format(png)/", 200, SIZE, "png"),
    ("/unsafe/filters%3Aformat%28png%29/", 200, SIZE, "png"),
    ("/unsafe/96x54/filters:format(png)", 200, (96, 54), "png"),
    ("/unsafe/96x54/filters:/", 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/filters:quality(101)/", 400, None, None),
    ("/unsafe/96x54/filters:quality(40/", 400, None, None),
    ("/unsafe/96x54/filters:quality)40(/", 400, None, None),
    # "For GIF files it asks for GIF, and gets PNG."
    ("/unsafe/96x54/filters:format(gif):no_upscale()/", 200, (96, 54), "png"),
    ("/unsafe/96x54/filters:format(nothing)/", 406, None, None),  # there, an unknown format is left out
    ("/unsafe/96x54/filters:quality(high)/", 400, None, None),  # there, a quality that is no number is left out
    ("/unsafe/96x54/filters:some_filter()/", 501, None, None),  # there, an unknown filter is left out
    # "Operations and filters that turn, blur or write on them get 501 instead of being left out."
    ("/unsafe/96x54/filters:blur(5)/", 501, None, None),
    ("/unsafe/96x54/filters:grayscale()/", 501, None, None),
    ("/unsafe/96x54/filters:rotate(90):format(png)/", 501, None, None),
    ("/unsafe/96x54/filters:watermark(http://127.0.0.1/beach.jpg,100,100,50)/", 501, None, None),
    ("/unsafe/filters:watermark(a/filters:label(b):watermark(c/filters:d(e))/f.jpg,0,0,0)/img", 501, None, None),
    ("/unsafe/96x54/filters:label(%E5%93%88%E5%93%88,1,2,3):brightness(-50)/img", 501, None, None),
    ("/unsafe/96x54/filters:fill(red)/", 501, None, None),
    ("/unsafe/96x54/filters:focal(10x20:30x40)/", 501, None, None),
    ("/unsafe/-300x200/", 501, None, None),
    ("/unsafe/300x-200/", 501, None, None),
    ("/unsafe/fit-in/-300x-200/left/top/smart/", 501, None, None),
    ("/unsafe/trim/300x200/", 501, None, None),
    ("/unsafe/trim:bottom-right:100/300x200/", 501, None, None),
    ("/unsafe/meta/300x200/", 501, None, None),
    ("/unsafe/10x11:12x13/300x200/", 501, None, None),
    ("/unsafe/0.2x0.15:0.45x0.67/300x200/", 501, None, None),
    ("/unsafe/fit-in/300x200/5x6/", 501, None, None),
    ("/unsafe/fit-in/0x0/5x6:7x8/", 501, None, None),
    ("/unsafe/adaptive-fit-in/300x200/", 501, None, None),
    ("/unsafe/full-fit-in/300x200/", 501, None, None),
    ("/unsafe/adaptive-full-fit-in/300x200/", 501, None, None),
    # "Nothing is fetched: … names in paths are refused or ignored."
    ("/unsafe/300x200/photo.jpg", 200, (300, 200), "jpeg"),
    ("/unsafe/photo.jpg", 200, SIZE, "jpeg"),
    ("/unsafe/300x200/Google%20Photos/IMG_20180519_191530.jpg", 200, (300, 200), "jpeg"),
    ("/unsafe/https://foobar/en/latest/_images/man_before_sharpen.png", 200, SIZE, "jpeg"),
    ("/unsafe/https:%2F%2Ffoobar%2Fen%2Fman.png%3Ffoo=bar", 200, SIZE, "jpeg"),
    ("/unsafe/300x200/filters:format(png)/http://127.0.0.1/photo%281%29.jpg", 200, (300, 200), "png"),
    ("/unsafe/300x200/b64:bXkgaW1hZ2UgKHNwZWNpYWwpPy5qcGc", 200, (300, 200), "jpeg"),
    ("/unsafe/photo%2Cversion2.jpg", 200, SIZE, "jpeg"),
    ("/unsafe/smart%2Fimg", 200, SIZE, "jpeg"),
    ("/unsafe/trim%2Fimg", 501, None, None),  # there, the name is one word
    ("/unsafe/meta%2Fimg", 501, None, None),  # there, the name is one word
    # Without a key, paths begin with unsafe.
    ("//unsafe/300x200/", 200, (300, 200), "jpeg"),
    ("/300x200/photo.jpg", 404, None, None),
    ("/fit-in/300x200/", 404, None, None),
    ("/949x1000/img.jpg", 404, None, None),
    ("/1920x1080/img.jpg", 404, None, None),
    ("/unsafe", 404, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/a.jpg", 403, None, None),
]


@pytest.mark.parametrize("path, status, size, kind", IMAGOR)
def test_imagors_paths(open_server, picture, path, status, size, kind):
    check(open_server, f"POST {path}", status, size, kind, picture)


# Paths that libthumbor 2.0.2 has signed with the key, some of which were changed afterwards; and those of imaginary.
SIGNED = [
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/a.jpg", 200, (300, 200), "jpeg"),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM%3D/300x200/a.jpg", 200, (300, 200), "jpeg"),
    ("/j1GJMcfl0-V3EeJ4sbQfugi42ws=/fit-in/300x200/filters:format(webp):quality(80)/b.jpg", 200, (300, 169), "webp"),
    ("/gUI-aF_B01J_9cn8_qOD5nLHAZk=/300x0/b.jpg", 200, (300, 169), "jpeg"),
    ("/yyLIAS4aV7JhCtrHbgt_ALQsuQY=/300x200/my%20photo.jpg", 200, (300, 200), "jpeg"),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x201/a.jpg", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/b.jpg", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbN=/300x200/a.jpg", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM/300x200/a.jpg", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/unsafe/300x200/a.jpg", 403, None, None),
    ("/unsafe/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/a.jpg", 403, None, None),
    ("/unsafe/300x200/a.jpg", 403, None, None),
    ("/300x200/a.jpg", 404, None, None),
    ("/fit?width=96&height=96", 401, None, None),
    ("/fit?width=96&height=96&key=", 401, None, None),
    ("/fit?width=96&height=96&key=MY_SECURE_KE", 401, None, None),
    ("/fit?width=96&height=96&key=my_secure_key", 401, None, None),
    ("/fit?width=96&height=96&key=MY_SECURE_KEY", 200, (96, 54), "jpeg"),
    ("/info?key=MY_SECURE_KEY", 200, None, "json"),
    ("/rotate?rotate=90", 401, None, None),
]


@pytest.mark.parametrize("path, status, size, kind", SIGNED)
def test_signed_paths_and_keys(locked_server, picture, path, status, size, kind):
    check(locked_server, f"POST {path}", status, size, kind, picture)


@pytest.mark.parametrize("path, key, status, size, kind", [
    ("/fit?width=96&height=96", KEY, 200, (96, 54), "jpeg"),
    ("/fit?width=96&height=96&key=other", KEY, 200, (96, 54), "jpeg"),
    ("/fit?width=96&height=96&key=MY_SECURE_KEY", "other", 401, None, None),
    ("/unsafe/96x54/", KEY, 200, (96, 54), "jpeg"),
    ("/unsafe/96x54/", "other", 403, None, None),
    ("/8ccK02rCJZ82R2B9TSGB7kfszbM=/300x200/a.jpg", "other", 200, (300, 200), "jpeg"),
])
def test_keys_in_a_field(locked_server, picture, path, key, status, size, kind):
    check(locked_server, f"POST {path}", status, size, kind, picture, **{"API-Key": key})
