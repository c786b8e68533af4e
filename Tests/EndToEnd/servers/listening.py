"""A server on a loopback port that the system chooses. It handles each connection on a thread, and counts them."""

import contextlib
import socket
import struct
import threading
from collections import Counter

# So little that the bytes a server could send are nearly those that the client has read.
SEND_BUFFER = 16 << 10


def loopback_listener(address="127.0.0.1"):
    listener = socket.socket(socket.AF_INET)
    listener.bind((address, 0))
    listener.listen(1024)
    return listener


def listener_on_all_of_loopback():
    """Listens on 127.0.0.0/8, and on no other interface."""
    listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
    listener.bind(("0.0.0.0", 0))
    listener.listen(1024)
    return listener


@contextlib.contextmanager
def refused_port():
    """A port that refuses connections: it is bound, so that nobody else gets it, but no one listens."""
    with socket.socket(socket.AF_INET) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def has_left(connection):
    """Whether the client has closed its side. Bytes that are not read yet hide this."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def reset(connection):
    """Closes the connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Server:
    """Subclasses implement `handle(connection)`, which may raise OSError. The connection is closed after it."""

    def __init__(self, listener=None):
        self.listener = listener or loopback_listener()
        self.port = self.listener.getsockname()[1]
        self.closing = threading.Event()
        # Guards all that is counted.
        self.changed = threading.Condition()
        self.connections = set()
        self.accepted = 0
        # How many connections each of the server's own addresses has accepted.
        self.accepted_at = Counter()
        self.most_connections = 0
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def handle(self, connection):
        raise NotImplementedError

    def wait(self, condition, seconds=30):
        """Waits until the condition is true of what is counted; returns whether it is."""
        with self.changed:
            return self.changed.wait_for(condition, seconds)

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # closed
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            with self.changed:
                self.accepted += 1
                self.accepted_at[connection.getsockname()[0]] += 1
                # A client closes a connection before it opens the next one, but this thread may see it later.
                open_ones = sum(not has_left(other) for other in self.connections)
                self.connections.add(connection)
                self.most_connections = max(self.most_connections, open_ones + 1)
                self.changed.notify_all()
            thread = threading.Thread(target=self._serve, args=(connection,))
            self.threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with contextlib.suppress(OSError):
            self.handle(connection)
        with self.changed:
            self.connections.discard(connection)
            self.changed.notify_all()
        connection.close()

    def close(self):
        self.closing.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.threads[0].join()
        with self.changed:
            for connection in self.connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
