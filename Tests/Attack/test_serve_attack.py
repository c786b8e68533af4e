"""Tests of the attack on the server: it reads requests and answers as HTTP has them, and each rule can fail.

    python3 -m unittest discover -s Tests/Attack
"""

import json
import socket
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import jpeg
from serve_answers import AnswerError, answers_in, picture_in
from serve_attack import KINDS, Finding, case_of, read_case
from serve_cases import ANY, Box, Case, Pictures, Wanted, head, sent
from serve_exchange import Transcript, carried_out
from serve_requests import INCOMPLETE, UNSOUND, WHOLE, requests_in
from serve_verdicts import documented_statuses, judged
from test_attack import a_few_others, good_file

GET = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /fit HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
CLOSE, ALLOW = b"Connection: close\r\n", b"Allow: POST\r\n"
STATUSES = {200, 400, 404, 405, 408, 417, 503}


@cache
def pictures():
    return Pictures("1", 1, is_sample=True)


def answer(status=200, body=b"{}", kind=b"application/json", more=b""):
    return b"HTTP/1.1 %d Some Words\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b\r\n" % (
        status, kind, len(body), more) + body


def error(status, **other):
    return json.dumps({"message": "it is wrong", "status": status, **other}).encode()


class Requests(unittest.TestCase):
    def test_requests_end_where_http_has_it(self):
        for data, count, state in (
            (b"", 0, WHOLE), (GET, 1, WHOLE), (GET + GET, 2, WHOLE), (b"\r\n" + GET, 1, WHOLE),
            (GET[:-1], 0, INCOMPLETE), (GET + b"GE", 1, INCOMPLETE),
            (POST + b"Content-Length: 3\r\n\r\nabc" + GET, 2, WHOLE),
            (POST + b"Content-Length: 4\r\n\r\nabc", 0, INCOMPLETE),
            (CHUNKED + b"3\r\nabc\r\n0\r\n\r\n" + GET, 2, WHOLE),
            (CHUNKED + b'3;a="b"\r\nabc\r\n0\r\nA: b\r\n\r\n', 1, WHOLE),
            (CHUNKED + b"3\r\nabc\r\n0\r\n", 0, INCOMPLETE),
            (CHUNKED + b"3\r\nab", 0, INCOMPLETE), (GET.replace(b"1.1", b"1.0") + GET, 1, WHOLE),
            (POST + b"Connection: x, Close\r\n\r\n" + GET, 1, WHOLE),
            (POST + b"Upgrade: h2c\r\n\r\n" + GET, 1, WHOLE), (head("CONNECT", "a:80") + GET, 1, WHOLE),
        ):
            whole, _, found = requests_in(data)
            self.assertEqual((len(whole), found), (count, state), data)

    def test_what_http_forbids_is_unsound(self):
        for data in (
            GET.replace(b"\r\n", b"\n") + b"\r\n\r\n", GET.replace(b"GET", b"get"), GET.replace(b"/h", b"h"),
            GET.replace(b"1.1", b"2.0"), GET.replace(b": a", b" : a"), GET.replace(b": a", b": a\0"),
            POST + b"A: b\r\n c\r\n\r\n", POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            POST + b"Content-Length: +3\r\n\r\nabc",
            POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            POST + b"Transfer-Encoding: gzip\r\n\r\n", POST + b"A: b\r\n" * 70 + b"\r\n",
            POST + b"A: " + b"b" * 20_000 + b"\r\n\r\n",
            CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n", CHUNKED + b"0x3\r\nabc\r\n",
            CHUNKED + b"3 \r\nabc\r\n0\r\n\r\n", CHUNKED + b"0\r\nContent-Length: 3\r\n\r\n",
        ):
            self.assertEqual(requests_in(data)[2], UNSOUND, data[:200])

    def test_a_request_knows_what_it_says(self):
        last = requests_in(POST + b"Expect: 100-Continue\r\n\r\n")[0][0]
        self.assertTrue(last.is_last and last.is_awaited and last.names_host)
        self.assertIsNone(requests_in(b"GET / HTTP/1.0\r\nExpect: other\r\n\r\n")[0][0].expectation)
        self.assertFalse(requests_in(b"GET / HTTP/1.1\r\n\r\n")[0][0].names_host)


class Answers(unittest.TestCase):
    def test_answers_are_read_in_their_order(self):
        data = b"HTTP/1.1 100 Continue\r\n\r\n" + answer() + answer(404, error(404))
        found, rest = answers_in(data + b"HTTP", [b"POST", b"GET"])
        self.assertEqual(([each.status for each in found], rest), ([100, 200, 404], 4))

    def test_an_answer_to_head_has_no_body(self):
        head = answer().removesuffix(b"{}")
        self.assertEqual(answers_in(head + answer(), [b"HEAD", b"GET"])[1], 0)

    def test_what_an_answer_may_not_have_is_found(self):
        for data in (
            b"HTTP/1.1 200\r\n\r\n", b"HTTP/1.1 600 A\r\n\r\n", b"junk\r\n\r\n", b"junk", answer(more=b"X-A: b\r\n"),
            answer(more=b"Content-Length: 2\r\n"), answer(more=b"Retry-After: b\r\n"), answer(kind=b"text/html"),
            answer(more=b"X-Request-ID: \xff\r\n"), answer(more=b"Image-Width: 0\r\n"), b"HTTP/1.1 204 No\r\n\r\n",
        ):
            with self.assertRaises(AnswerError, msg=data):
                answers_in(data, [b"GET"])

    def test_the_size_of_a_picture_is_read(self):
        formats = ("png", "webp", "avif")
        found = {file.suffix: picture_in(file.data) for file in a_few_others() if file.suffix in formats}
        found["jpg"] = picture_in(jpeg.without_comments(good_file("-quality 80").data))
        self.assertEqual({suffix: size for suffix, (_, size) in found.items() if suffix != "avif"}, {
            "png": (10, 20), "webp": (10, 20), "jpg": (61, 45)})
        self.assertEqual({suffix: name for suffix, (name, _) in found.items()}, {
            "png": "png", "webp": "webp", "avif": "avif", "jpg": "jpeg"})

    def test_a_damaged_picture_is_found(self):
        for data in (b"", b"abc", good_file("-quality 80").data[:-2], *(file.data[:-3] for file in a_few_others()[:4])):
            with self.assertRaises(AnswerError, msg=data[:20]):
                picture_in(data)


class Sizes(unittest.TestCase):
    def test_a_box_allows_its_sizes_only(self):
        wide = (300, 200)
        for box, picture, right, wrong in (
            (Box(), wide, (300, 200), (300, 199)), (Box("fit", 150, 150), wide, (150, 100), (150, 150)),
            (Box("fit", 900, 900), wide, (300, 200), (900, 600)),
            (Box("fit", 900, None, True), wide, (900, 600), (300, 200)),
            (Box("fill", 100, 100), wide, (100, 100), (100, 99)), (Box("fill", 400, 400), wide, (200, 200), (400, 400)),
            (Box("fill", 400, 400, True), wide, (400, 400), (200, 200)),
            (Box("strip", 50, None), wide, (50, 200), (50, 33)),
            (Box("exact", 7, 900, True), wide, (7, 900), (7, 200)), (Box("fit", 150, 150), None, (150, 1), (151, 1)),
            (Box("fill", 400, 400, True), None, (400, 400), (200, 200)),
            (Box("strip", 50, None), None, (50, 999), (51, 999)),
            (Box("fit", 5, 5), (6600, 90), (5, 1), (5, 5)),
        ):
            self.assertTrue(box.allows(right, picture), (box, right))
            self.assertFalse(box.allows(wrong, picture), (box, wrong))


class Rules(unittest.TestCase):
    """Each lie of a server must be found."""

    def labels(self, request, received, wanted=ANY, **more):
        case = Case("a kind", 1, "by hand", sent(request), (wanted,))
        return {label for label, _ in judged(case, Transcript(request, received, **more), STATUSES)}

    def test_right_answers_have_no_findings(self):
        named = GET.replace(b"Host", b"X-Request-ID: me\r\nHost")
        for request, received in (
            (GET, answer()), (GET + GET, answer() * 2), (GET, answer(404, error(404))),
            (GET + b"junk\r\n\r\n", answer() + b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n" + CLOSE + b"\r\n"),
            (named, answer(more=b"X-Request-ID: me\r\n")),
            (named.replace(b": me", b": a b"), answer(more=b"X-Request-ID: 7\r\n")),
            (GET, answer(503, error(503), more=b"Retry-After: 5\r\n")), (CHUNKED + b"3\r\nab", b""),
            (CHUNKED + b"zz\r\n", answer(400, error(400), more=CLOSE)), (GET, answer(405, error(405), more=ALLOW)),
            (POST + b"Expect: other\r\n\r\n", answer(417, error(417), more=CLOSE)),
            (POST + b"Upgrade: h2c\r\n\r\n" + GET, answer(more=CLOSE)),
            (CHUNKED.replace(b"POST", b"GET"), answer()),
        ):
            self.assertEqual(self.labels(request, received), set(), (request, received))

    def test_wrong_answers_are_found(self):
        awaited = POST + b"Content-Length: 0\r\n\r\n"
        untold, unmet = "does not say that the connection ends", "417 is for other expectations than 100-continue"
        cut = error(400, message="the picture has not come whole")
        for label, request, received in (
            ("no answer", GET, b""), ("no answer", GET + GET, answer()), ("no answer", CHUNKED + b"zz\r\n", b""),
            ("too many answers", GET, answer() * 2),
            ("an answer is cut", GET, answer()[:-1]), ("no answer of HTTP", GET, answer(more=b"Set-Cookie: a\r\n")),
            ("status 500", GET, answer(500, error(500))),
            ("status 418 is not documented", GET, answer(418, error(418))),
            ("200 for what is no whole request", GET[:-2], answer()), ("the body is wrong", GET, answer(404, b"no")),
            ("an error without message and status", GET, answer(404, error(400))),
            ("an error without message and status", GET, answer(404, error(404, more=1))),
            ("a message that is no printable line", GET, answer(404, error(404, message="a\nb"))),
            ("a message that is no printable line", GET, answer(404, error(404, message="a\u202eb"))),
            ("the decoder crashed", GET, answer(400, error(400, message="the decoder crashed: signal 11"))),
            ("503 without Retry-After", GET, answer(503, error(503))),
            ("X-Request-ID", GET, answer(more=b"X-Request-ID: 7\r\n")),
            ("X-Request-ID", GET.replace(b"Host", b"X-Request-ID: a b\r\nHost"), answer(more=b"X-Request-ID: a\r\n")),
            ("X-Request-ID", GET.replace(b"Host", b"X-Request-ID: me\r\nHost"), answer()),
            ("100 without Expect", awaited, b"HTTP/1.1 100 Continue\r\n\r\n" + answer()),
            ("no 400 without one Host field", b"GET / HTTP/1.1\r\n\r\n", answer()),
            ("405 without the right Allow", GET, answer(405, error(405))),
            ("405 without the right Allow", POST + b"\r\n", answer(405, error(405), more=ALLOW)),
            (unmet, GET, answer(417, error(417))), (unmet, POST + b"Expect: other\r\n\r\n", answer(404, error(404))),
            (untold, GET.replace(b"1.1", b"1.0"), answer()), (untold, POST + b"Upgrade: h2c\r\n\r\n", answer()),
            (untold, head("CONNECT", "a:80"), answer(404, error(404))), (untold, CHUNKED + b"zz\r\n", answer(400, cut)),
            (untold, CHUNKED + b"3\r\nab", answer(408, error(408))),
            ("too many answers", POST + b"Upgrade: h2c\r\n\r\n" + GET, answer(more=CLOSE) * 2),
            ("the body is wrong", GET, answer(body=b"\xff\xd8", kind=b"image/jpeg")),
        ):
            self.assertIn(label, self.labels(request, received), (request, received))

    def test_wrong_previews_are_found(self):
        body = jpeg.without_comments(good_file("-quality 80").data)
        sides = b"Image-Width: 61\r\nImage-Height: 45\r\n"
        right = Wanted((200,), Box("fit", 61, 61), (610, 450), "jpeg")
        self.assertEqual(self.labels(POST + b"\r\n", answer(body=body, kind=b"image/jpeg", more=sides), right), set())
        for label, kind, more, wanted in (
            ("another type", b"image/png", sides, right), ("another type", b"image/jpeg", sides, Wanted(type="png")),
            ("the size differs from Image-Width and Image-Height", b"image/jpeg", b"", right),
            ("another size", b"image/jpeg", sides, Wanted(box=Box("fit", 50, 50), picture=(610, 450))),
            ("another status than 400", b"image/jpeg", sides, Wanted((400,))),
        ):
            self.assertIn(label, self.labels(POST + b"\r\n", answer(body=body, kind=kind, more=more), wanted))

    def test_wrong_ends_are_found(self):
        self.assertIn("hangs", self.labels(GET, b"", is_late=True))
        self.assertIn("does not serve on", self.labels(GET, answer(), probe="closed"))
        self.assertIn("does not say that the connection ends", self.labels(GET, answer(), is_cut=True))

    def test_documented_statuses_are_read(self):
        known = {200, 400, 401, 403, 404, 405, 406, 408, 411, 413, 417, 422, 501, 503}
        self.assertLessEqual(known, documented_statuses())


class Exchanges(unittest.TestCase):
    def labels(self, request, *replies):
        """What is found on a connection to a server that sends these replies and closes it."""
        def serve():
            with listener.accept()[0] as connection:
                for reply in replies:
                    connection.recv(1 << 16)
                    connection.sendall(reply)

        case = Case("a kind", 1, "by hand", sent(request))
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
            pool.submit(serve)
            return {label for label, _ in judged(case, carried_out(case, listener.getsockname()), STATUSES)}

    def test_a_connection_serves_on_or_says_that_it_ends(self):
        healthy = answer(body=b'{"uptime":1}').replace(b"Some Words", b"OK")
        self.assertEqual(self.labels(GET, answer(), healthy), set())
        self.assertEqual(self.labels(GET, answer(more=CLOSE)), set())
        self.assertEqual(self.labels(GET, answer(), answer(404, error(404))), {"does not serve on"})
        self.assertTrue(self.labels(GET, answer()) & {"does not serve on", "does not say that the connection ends"})
        self.assertEqual(self.labels(GET), {"no answer"})


class Cases(unittest.TestCase):
    def test_every_class_makes_cases(self):
        made = {case_of("1", number, pictures()).kind for number in range(1500)}
        self.assertEqual(made, {kind.name for kind in KINDS} - {"unusual pictures", "clients that stall"})

    def test_the_same_seed_makes_the_same_cases_and_another_does_not(self):
        first, again, other = ([case_of(seed, number, pictures()) for number in range(50)] for seed in "112")
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_right_requests_are_whole(self):
        for number in range(100):
            case = case_of("1", number, pictures())
            data = b"".join(step[1] for step in case.steps if step[0] == "send")
            if case.kind in ("good pictures", "requests in pieces", "pipelining"):
                whole, _, state = requests_in(data)
                self.assertEqual((state, len(whole) >= len(case.wanted)), (WHOLE, True), case.how)

    def test_a_kept_case_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(100):
                case = case_of("1", number, pictures())
                finding = Finding(case, "a label", "a detail", Transcript(b"\xff", b"\xfe"))
                path = Path(folder) / finding.name
                path.write_text(finding.file())
                self.assertEqual(read_case(path), case)


if __name__ == "__main__":
    unittest.main()
