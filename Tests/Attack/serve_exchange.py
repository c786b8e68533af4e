"""Does what a case says, on a connection."""

import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass

from serve_answers import AnswerError, answers_in
from serve_cases import head
from serve_requests import UNSOUND, WHOLE, requests_in
from serve_server import HEALTH_PATIENCE, PATIENCE, SHORT_PATIENCE


@dataclass
class Transcript:
    """What happened on a connection."""

    sent: bytes = b""
    received: bytes = b""
    end: str = "open"  # or closed, by the server
    is_late: bool = False  # something was waited for in vain
    is_cut: bool = False  # the server has closed it on its own
    probe: str | None = None  # what was wrong with an answer to a further request


class Conversation:
    """A connection on which a client sends and receives at the same time."""

    def __init__(self, address, is_deaf):
        self.transcript = Transcript()
        self.sent = bytearray()
        self.socket = socket.socket()
        if is_deaf:
            # The system takes little of an answer that nobody reads.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)

    def step(self, seconds, data=b""):
        """Waits until something can be received or sent. Returns how many bytes of the data were sent."""
        events = (select.POLLIN if self.is_open else 0) | (select.POLLOUT if data else 0)
        poll = select.poll()
        poll.register(self.socket, events)
        for _, event in poll.poll(max(seconds, 0) * 1000):
            if event & (select.POLLIN | select.POLLHUP | select.POLLERR) and self.is_open:
                self._receive()
            if event & select.POLLOUT and self.is_open:
                with suppress(BlockingIOError):
                    try:
                        return self.socket.send(data[: 1 << 18])
                    except (BrokenPipeError, ConnectionResetError):
                        self._receive()
        return 0

    @property
    def is_open(self):
        return self.transcript.end == "open"

    def _receive(self):
        try:
            piece = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionError:
            piece = b""
        self.transcript.received += piece
        if not piece:
            self.transcript.end = "closed"

    def send(self, data):
        deadline, at = time.monotonic() + PATIENCE, 0
        while at < len(data) and self.is_open:
            if time.monotonic() > deadline:
                self.transcript.is_late = True
                return
            at += self.step(deadline - time.monotonic(), memoryview(data)[at:])
        self.sent += data[:at]
        self.transcript.sent = bytes(self.sent)

    def until(self, condition, seconds):
        """Whether the condition became true before the end of the connection and of the time."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if not self.is_open or left <= 0:
                return False
            self.step(left)
        return True

    @property
    def methods(self):
        whole, begun, _ = requests_in(self.transcript.sent)
        return [request.method for request in [*whole, begun] if request]

    @property
    def answers(self):
        """The final ones so far; None if the bytes are no answers."""
        try:
            return [answer for answer in answers_in(self.transcript.received, self.methods)[0] if answer.status >= 200]
        except AnswerError:
            return None

    def has_answers(self, count):
        """Whether so many have come, or what is none."""
        answers = self.answers
        return answers is None or len(answers) >= count


def carried_out(case, address):
    """Does what a case says. Returns its transcript."""
    talk = Conversation(address, any(step[0] == "deaf" for step in case.steps))
    try:
        for word, value in case.steps:
            match word:
                case "send":
                    talk.send(value)
                case "wait":
                    talk.until(lambda: False, value)
                case "answer":
                    talk.until(lambda: talk.has_answers(1), value)
                case "continue":
                    talk.until(lambda: talk.transcript.received, SHORT_PATIENCE)
                    if value and talk.answers:
                        break
                case "half-close":
                    with suppress(OSError):
                        talk.socket.shutdown(socket.SHUT_WR)
                    talk.transcript.is_late |= not talk.until(lambda: not talk.is_open, PATIENCE) and talk.is_open
                case "deaf":
                    # Bytes that were not read do not count as an event, but the end of the connection does.
                    ended = select.poll()
                    ended.register(talk.socket, 0)
                    talk.transcript.is_late |= not ended.poll(PATIENCE * 1000)
                case "reset":
                    talk.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if not case.leaves:
            _finish(talk)
    finally:
        talk.socket.close()
    return talk.transcript


def _finish(talk):
    """Waits for what must come, and tries whether the connection serves on."""
    whole, _, state = requests_in(talk.transcript.sent)
    count = len(whole) + (state == UNSOUND)
    talk.until(lambda: talk.has_answers(count), PATIENCE)
    answers = talk.answers
    if answers is None or len(answers) < count:
        talk.transcript.is_late = talk.is_open
        return
    is_last = any(answer.ends for answer in answers)
    if state == WHOLE and not is_last and talk.is_open:
        _probe(talk, count)
        return
    if len(answers) > len(whole):
        talk.until(lambda: False, 0.1)
    talk.transcript.is_cut = not talk.is_open
    if talk.is_open and not any(answer.ends for answer in talk.answers or ()):
        talk.socket.shutdown(socket.SHUT_WR)
    talk.transcript.is_late = not talk.until(lambda: not talk.is_open, PATIENCE) and talk.is_open


def _probe(talk, count):
    """A further request on the connection."""
    before = len(talk.transcript.received)
    with suppress(OSError):
        talk.socket.send(head("GET", "/health"))
    talk.until(lambda: len(talk.transcript.received) > before and talk.has_answers(count + 1), HEALTH_PATIENCE)
    rest = talk.transcript.received[before:]
    talk.transcript.received = talk.transcript.received[:before]
    if not rest.startswith(b"HTTP/1.1 200 OK\r\n") or b'"uptime":' not in rest:
        talk.transcript.probe = f"{talk.transcript.end}: {rest[:80]!r}"
