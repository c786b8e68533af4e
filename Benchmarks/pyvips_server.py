"""pyvips_server.py PORT: a preview server as users of pyvips write it, in few lines.

`POST /fit?width=&height=` answers with a JPEG of quality 80, and `GET /health` with `ok`. A thread for each client
receives its picture, and as many previews are made at once as there are processors. libvips runs with the options of
bench.py, which are the fastest.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pyvips

places = threading.Semaphore(len(os.sched_getaffinity(0)))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Sends head and body together.
    wbufsize = -1

    def do_GET(self):
        self.answer("text/plain", b"ok")

    def do_POST(self):
        query = parse_qs(urlsplit(self.path).query)
        picture = self.rfile.read(int(self.headers["Content-Length"]))
        with places:
            image = pyvips.Image.thumbnail_buffer(
                picture, int(query["width"][0]), height=int(query["height"][0]), size="down")
            preview = image.jpegsave_buffer(Q=80, keep="icc")
        self.answer("image/jpeg", preview)

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


pyvips.cache_set_max(0)  # no image is used twice
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
