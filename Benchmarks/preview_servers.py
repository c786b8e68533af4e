"""The preview servers that serve_load.py measures: how they start and end, and how a client asks them.

thumbor does not answer a picture with its preview. So it is asked in two ways. `thumbor, uploads` comes nearest: `POST
/image` stores the picture in a file, `GET /unsafe/fit-in/…` makes its preview, and `DELETE` removes the file. These are
three requests on one connection; the time to the preview ends before the third. `thumbor, files` is only the `GET`:
thumbor then reads the picture from its folder, and no body.
"""

import argparse
import asyncio
import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).absolute().parent
PROCESSORS = len(os.sched_getaffinity(0))
QUALITY = 80
HEALTH_PATIENCE = 10  # seconds until a server's health counts as not answered

THUMBOR = """
SECURITY_KEY = "key"
ALLOW_UNSAFE_URL = True
QUALITY = {quality}
PROGRESSIVE_JPEG = False
RESPECT_ORIENTATION = True
UPLOAD_ENABLED = True
UPLOAD_DELETE_ALLOWED = True
UPLOAD_PHOTO_STORAGE = "thumbor.storages.file_storage"
STORAGE = "thumbor.storages.{storage}"
FILE_STORAGE_ROOT_PATH = "{folder}/storage"
LOADER = "thumbor.loaders.file_loader"
FILE_LOADER_ROOT_PATH = "{pictures}"
"""


# Clients


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0  # since the client began to connect
    is_followed: bool = False  # whether the server sent more after its last answer


class Connection:
    """A connection to a server on this machine, for one request after the other."""

    def __init__(self, port: int):
        self._port = port
        self._start = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket()
        self._buffer = bytearray()

    async def __aenter__(self) -> "Connection":
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await self._loop.sock_connect(self._socket, ("127.0.0.1", self._port))
        except BaseException:
            self._socket.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._socket.close()

    async def request(self, method: str, path: str, *body: bytes | memoryview, last: bool = False) -> Answer:
        """Sends a request while reading, because a server may answer before it has the whole body. After the last
        request, reads to the end of the connection."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        if body:
            head += f"Content-Type: image/jpeg\r\nContent-Length: {sum(map(len, body))}\r\n"
        head += "Connection: close\r\n\r\n" if last else "\r\n"
        sending = asyncio.create_task(self._send(head.encode(), *body))
        try:
            answer = await self._receive()
            answer.seconds = time.monotonic() - self._start
            if last and sending.done():
                answer.is_followed = await self._has_more()
            return answer
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _send(self, *pieces: bytes | memoryview) -> None:
        # A server that closes the connection may have answered before.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for piece in pieces:
                await self._loop.sock_sendall(self._socket, piece)

    async def _receive(self) -> Answer:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            await self._read()
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        del self._buffer[:end + 4]
        length = int(headers.get("content-length", "0"))
        while len(self._buffer) < length:
            await self._read()
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return Answer(int(first.split()[1]), headers, body)

    async def _read(self) -> None:
        received = await self._loop.sock_recv(self._socket, 1 << 18)
        if not received:
            raise ConnectionAbortedError("closed without an answer")
        self._buffer += received

    async def _has_more(self) -> bool:
        try:
            async with asyncio.timeout(1):
                return bool(self._buffer) or bool(await self._loop.sock_recv(self._socket, 1))
        except (OSError, TimeoutError):
            return False


def is_healthy(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HEALTH_PATIENCE)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


# Servers


@dataclass(frozen=True)
class Server:
    """A server that answers a posted picture with its preview, as thumbjob does."""

    name: str
    # Port, and a folder for the server's files, to command.
    command: Callable[[int, Path], list[str]]
    environment: dict[str, str] = field(default_factory=dict)
    health: str = "/health"
    receives: bool = True  # pictures

    async def ask(self, port: int, name: str, body: tuple[bytes | memoryview, ...], side: int) -> Answer:
        """A preview of a picture, given by its name and by the pieces of its body, that fits into a square."""
        async with Connection(port) as connection:
            path = f"/fit?width={side}&height={side}&type=jpeg&quality={QUALITY}"
            return await connection.request("POST", path, *body, last=True)


class ThumborUploads(Server):
    async def ask(self, port: int, name: str, body: tuple[bytes | memoryview, ...], side: int) -> Answer:
        async with Connection(port) as connection:
            stored = await connection.request("POST", "/image", *body)
            if stored.status != 201:
                return stored
            identifier = stored.headers["location"].split("/")[2]
            preview = await connection.request("GET", f"/unsafe/fit-in/{side}x{side}/{identifier}")
            await connection.request("DELETE", f"/image/{identifier}", last=True)
            return preview


class ThumborFiles(Server):
    async def ask(self, port: int, name: str, body: tuple[bytes | memoryview, ...], side: int) -> Answer:
        async with Connection(port) as connection:
            return await connection.request("GET", f"/unsafe/fit-in/{side}x{side}/{name}", last=True)


def thumbor(program: str, pictures: Path, storage: str) -> Callable[[int, Path], list[str]]:
    def build(port: int, folder: Path) -> list[str]:
        configuration = folder / "thumbor.conf"
        configuration.write_text(
            THUMBOR.format(quality=QUALITY, storage=storage, folder=folder, pictures=pictures.absolute()))
        return [
            program, "--conf", str(configuration), "--ip", "127.0.0.1", "--port", str(port),
            "--processes", str(PROCESSORS), "--log-level", "error"]
    return build


def servers(options: argparse.Namespace) -> list[Server]:
    """Those whose programs are there, thumbjob first."""
    thumbjob = str(options.thumbjob.absolute())
    found = [
        Server("thumbjob", lambda port, _: [thumbjob, "serve", f"127.0.0.1:{port}", "--status", "off", "--quiet"])]
    if options.naive:
        naive = str(options.naive.absolute())
        found.append(Server("naive server", lambda port, _: [naive, "--port", str(port)]))
    else:
        print("The naive server is left out: --naive names its program.", file=sys.stderr)
    found.append(Server(
        "pyvips server", lambda port, _: [sys.executable, str(HERE / "pyvips_server.py"), str(port)],
        environment={"VIPS_CONCURRENCY": "1"}))
    if program := shutil.which(options.thumbor):
        found += [
            ThumborUploads(
                "thumbor, uploads", thumbor(program, options.pictures, "file_storage"), health="/healthcheck"),
            ThumborFiles(
                "thumbor, files", thumbor(program, options.pictures, "no_storage"), health="/healthcheck",
                receives=False)]
    else:
        print(f"thumbor is left out: there is no program {options.thumbor}.", file=sys.stderr)
    return found


# Processes


@dataclass
class Running:
    port: int
    process: subprocess.Popen  # of the server, or of the script that limits its memory
    server: int  # process number
    said: str = ""  # once it has ended


@contextlib.contextmanager
def running(server: Server, mebibytes: int | None = None) -> Iterator[Running]:
    """Starts a server, in a memory group if there is a limit, and ends it."""
    with tempfile.TemporaryDirectory(prefix="serve-load-") as work:
        port = free_port()
        limit = [str(HERE / "with-memory-limit.sh"), str(mebibytes)] if mebibytes else []
        log = Path(work, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*limit, *server.command(port, Path(work))], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                # A session of its own, so that its processes can be ended together.
                start_new_session=True, env={**os.environ, "TMPDIR": work, **server.environment})
        started = Running(port, process, process.pid)
        try:
            deadline = time.monotonic() + 60
            while not is_healthy(port, server.health):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"serve_load.py: {server.name} does not start: {log.read_text()[-500:].strip()}")
                time.sleep(0.05)
            if mebibytes:
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
                started.server = int(children.split()[0])
            yield started
        finally:
            end(started)
            started.said = log.read_text()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def end(started: Running) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(started.server, signal.SIGTERM)
    try:
        started.process.wait(15)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.kill(started.server, signal.SIGKILL)
        started.process.wait()
    # thumbor leaves its processes behind.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.process.pid, signal.SIGKILL)
