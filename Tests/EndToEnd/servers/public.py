"""A public address on this machine, without a network: a network namespace whose loopback interface has it.

As a program, inside the namespace, it sends a listening socket to the test through a unix socket, and then becomes the
program that its further arguments name. That program reaches the test's server at all addresses below, but no other.
"""

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys

PUBLIC = "9.9.9.9"
# Addresses of the namespace that a client which may use only public ones must not connect to.
PRIVATE = ("10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "198.18.0.1")

SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
UNSHARE = ("unshare", "--user", "--map-root-user", "--net")


def is_possible():
    return subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode == 0


@contextlib.contextmanager
def receiver(path):
    """Yields words that run the command after them in the namespace, and a function that returns its listener."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(30)

        def listener():
            connection, _ = server.accept()
            with connection:
                _, (descriptor,), _, _ = socket.recv_fds(connection, 1, 1)
                return socket.socket(fileno=descriptor)

        yield (*UNSHARE, sys.executable, __file__, str(path)), listener


def set_up_loopback():
    with socket.socket() as any_socket:
        for index, address in enumerate((PUBLIC, *PRIVATE)):
            fields = struct.pack("16sH2x4s8x", f"lo:{index}".encode(), socket.AF_INET, socket.inet_aton(address))
            fcntl.ioctl(any_socket, SIOCSIFADDR, fields)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def main(path, *command):
    set_up_loopback()
    # IPv4, too.
    listener = socket.create_server(("::", 8080), family=socket.AF_INET6, backlog=100, dualstack_ipv6=True)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        socket.send_fds(client, [b"."], [listener.fileno()])
    listener.close()
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
