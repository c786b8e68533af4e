"""activate.py PROGRAM ARGUMENT...: starts a program as systemd does for a socket, which is descriptor 3 and listens."""

import os
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1], sys.argv[1:])
