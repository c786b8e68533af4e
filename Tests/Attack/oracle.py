"""What libjpeg says of a file: the oracle to which the verdicts of thumbjob are compared.

    python3 Tests/Attack/oracle.py FILE...      prints libjpeg's warnings and errors
    python3 Tests/Attack/oracle.py --json       reads names of files, and prints each opinion as JSON

libjpeg is called directly, so no compiler is needed and the buffer can have any size. The size matters: libjpeg-turbo
decodes the Huffman codes of a sequential file by a faster routine while its buffer has 512 bytes or more for each block
of an MCU (jdhuff.c, BUFSIZE), and that routine does not warn of every fault. `djpeg` has no buffer that is small enough
to switch it off. Each file is decoded in a child process, because libjpeg's fatal errors must not return.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import jpeg
from jpeg import Part

# Sizes of libjpeg's buffer in bytes: so small that only the careful routine is used; that of libjpeg's own source for
# files; and the whole file, as programs use that have it in memory.
BUFFERS = {"tiny": 511, "small": 4096, "whole": None}
# Enough for every file of the attack, and too little for a header that claims a picture of 65535 × 65535.
MOST_MEMORY = 2 << 30
MOST_SECONDS = 60


@dataclass(frozen=True)
class Opinion:
    """What libjpeg says of a file, for each size of buffer."""

    warnings: dict[str, list[str]]  # the first few
    error: str | None
    lacks_scans: bool  # which libjpeg does not tell
    is_arithmetic: bool = False
    has_empty_interval: bool = False  # no data between two markers where data may be

    @property
    def is_whole(self):
        return self.error is None and not self.lacks_scans and not any(self.warnings.values())

    def __str__(self):
        if self.error:
            return f"error: {self.error}"
        said = [f"{buffer} buffer: {messages[0]}" for buffer, messages in self.warnings.items() if messages]
        return "; ".join(said) or ("no warning, but scans are missing" if self.lacks_scans else "whole")


# The beginning of libjpeg's structs (jpeglib.h), with the ABI of libjpeg 6b that Debian's libjpeg-turbo has.
# jpeg_CreateDecompress() refuses another version and another size.
ABI_VERSION, DECOMPRESS_SIZE = 62, 632

_with_jpeg = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_emits = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)
_formats = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_fills = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_skips = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_long)


class _ErrorManager(ctypes.Structure):
    _fields_ = (
        ("error_exit", _with_jpeg),
        ("emit_message", _emits),
        ("output_message", _with_jpeg),
        ("format_message", _formats),
        ("rest", ctypes.c_byte * 256),
    )


class _SourceManager(ctypes.Structure):
    _fields_ = (
        ("next_input_byte", ctypes.c_void_p),
        ("bytes_in_buffer", ctypes.c_size_t),
        ("init_source", _with_jpeg),
        ("fill_input_buffer", _fills),
        ("skip_input_data", _skips),
        ("resync_to_restart", ctypes.c_void_p),
        ("term_source", _with_jpeg),
    )


class _Decompress(ctypes.Structure):
    _fields_ = (
        ("err", ctypes.POINTER(_ErrorManager)),
        ("mem", ctypes.c_void_p),
        ("progress", ctypes.c_void_p),
        ("client_data", ctypes.c_void_p),
        ("is_decompressor", ctypes.c_int),
        ("global_state", ctypes.c_int),
        ("src", ctypes.POINTER(_SourceManager)),
        ("rest", ctypes.c_byte * (DECOMPRESS_SIZE - 48)),
    )




class _Decoding:
    """One decoding of all coefficients of a file. A fatal error calls `fail`, which must not return."""

    # A broken file may cause millions of warnings.
    MOST_MESSAGES = 3

    def __init__(self, library, data, buffer_size, fail):
        self.library = library
        self.data = (ctypes.c_ubyte * (len(data) + 2)).from_buffer_copy(data + jpeg.END)
        self.size = len(data)
        self.buffer_size = buffer_size or len(data)
        self.position = 0  # of the first byte that libjpeg has not been given
        self.messages = []
        self.fail = fail
        self.errors = _ErrorManager()
        self.jpeg = _Decompress()
        library.jpeg_std_error(ctypes.byref(self.errors))
        self.errors.error_exit = _with_jpeg(lambda _: fail(self._message()))
        self.errors.emit_message = _emits(self._emit)
        self.jpeg.err = ctypes.pointer(self.errors)

    def warnings(self):
        library, reference = self.library, ctypes.byref(self.jpeg)
        library.jpeg_CreateDecompress(reference, ABI_VERSION, ctypes.c_size_t(DECOMPRESS_SIZE))
        source = _SourceManager(
            init_source=_with_jpeg(lambda _: None), fill_input_buffer=_fills(self._fill),
            skip_input_data=_skips(self._skip), term_source=_with_jpeg(lambda _: None),
            resync_to_restart=ctypes.cast(library.jpeg_resync_to_restart, ctypes.c_void_p))
        self.jpeg.src = ctypes.pointer(source)
        self.source = source
        library.jpeg_read_header(reference, 1)
        library.jpeg_read_coefficients(reference)
        library.jpeg_finish_decompress(reference)
        library.jpeg_destroy_decompress(reference)
        return self.messages

    def _message(self):
        text = ctypes.create_string_buffer(200)
        self.errors.format_message(ctypes.byref(self.jpeg), text)
        return text.value.decode(errors="replace")

    def _emit(self, _, level):
        if level < 0 and len(self.messages) < self.MOST_MESSAGES:
            self.messages.append(self._message())

    def _fill(self, _):
        start = self.position
        if start >= self.size:
            if len(self.messages) < self.MOST_MESSAGES:
                self.messages.append("Premature end of JPEG file")
            start, count = self.size, len(jpeg.END)
        else:
            count = min(self.buffer_size, self.size - start)
            self.position += count
        self.source.next_input_byte = ctypes.addressof(self.data) + start
        self.source.bytes_in_buffer = count
        return 1

    def _skip(self, _, count):
        if count <= 0:
            return
        here = min(count, self.source.bytes_in_buffer)
        self.source.next_input_byte = (self.source.next_input_byte or 0) + here
        self.source.bytes_in_buffer -= here
        self.position += count - here


_library = None


def _load():
    global _library  # noqa: PLW0603 — once in each process
    if _library is None:
        _library = ctypes.CDLL("libjpeg.so.62")
        for name in ("jpeg_std_error", "jpeg_read_coefficients"):
            getattr(_library, name).restype = ctypes.c_void_p
    return _library


def _decode_in_child(library, data, pipe):
    """Writes a line of JSON for each buffer to the pipe, and ends the process."""

    def say(value):
        os.write(pipe, json.dumps(value).encode() + b"\n")

    def fail(message):
        say({"error": message})
        os._exit(0)

    try:
        # The time limit must end the process even while libjpeg runs, when Python would not handle a signal.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(MOST_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        for buffer, size in BUFFERS.items():
            say({"buffer": buffer, "warnings": _Decoding(library, data, size, fail).warnings()})
    finally:
        os._exit(0)


def ask(data, part=Part.ALL):
    """The opinion on a file, or on a part of a progressive file. Call it in a process with one thread: it forks."""
    library = _load()
    if part is not Part.ALL:
        try:
            data = jpeg.only(part, data)
        except jpeg.MalformedError as error:
            return Opinion({}, str(error), True)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _decode_in_child(library, data, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = [json.loads(line) for line in pipe if line.endswith(b"\n")]
    _, status = os.waitpid(child, 0)
    error = next((line["error"] for line in said if "error" in line), None)
    warnings = {line["buffer"]: line["warnings"] for line in said if "buffer" in line}
    if error is None and len(warnings) < len(BUFFERS):
        error = f"libjpeg did not finish (wait status {status})"
    is_arithmetic = jpeg.is_arithmetic(data)
    is_empty = is_arithmetic and jpeg.has_empty_interval(data)
    return Opinion(warnings, error, not jpeg.holds(part, data), is_arithmetic, is_empty)


def ask_of(path):
    return ask(Path(path).read_bytes())


def opinions_of(paths):
    """The opinions on files, by name. A process for each processor asks for them.

    However this ends, the processes end too. One of which nothing is known, because a signal interrupted its start, has
    nothing to do: its names come through a pipe, which then ends.
    """
    count = min(os.cpu_count() or 1, len(paths))
    with contextlib.ExitStack() as ends:
        processes = []
        for number in range(count):
            names = "".join(f"{path}\n" for path in paths[number::count])
            said = ends.enter_context(tempfile.TemporaryFile())
            process = subprocess.Popen(
                [sys.executable, __file__, "--json"], stdin=subprocess.PIPE, stdout=said, text=True)
            ends.callback(_end, process)
            processes.append((process, said, names))
        for process, _, names in processes:
            process.stdin.write(names)
            process.stdin.close()
        opinions = {}
        for process, said, _ in processes:
            if process.wait() != 0:
                raise RuntimeError(f"a process of the oracle ended with status {process.returncode}")
            said.seek(0)
            opinions |= {Path(line["path"]).name: Opinion(**line["opinion"]) for line in map(json.loads, said)}
        return opinions


def _end(process):
    process.kill()
    process.wait()


def main(arguments):
    if arguments == ["--json"]:
        # All names first, so that the writer of the pipe does not wait for opinions.
        for path in sys.stdin.read().splitlines():
            print(json.dumps({"path": path, "opinion": asdict(ask_of(path))}), flush=True)
    else:
        for path in arguments:
            print(f"{path}: {ask_of(path)}")


if __name__ == "__main__":
    main(sys.argv[1:])
